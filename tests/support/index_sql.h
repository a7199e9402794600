/* The index once more, in SQL that shares nothing with the program: for tests that compare the two.
 * It reads a table or view `index_input` of the prices that count (provider, gpu, billing, term,
 * size_bucket, continent, offer, amount) and a table `index_provider` (slug, resells); it makes
 * functions for what PostgreSQL rounds otherwise. */
#ifndef RACKRATE_TESTS_SUPPORT_INDEX_SQL_H
#define RACKRATE_TESTS_SUPPORT_INDEX_SQL_H

#include "db/db.h"

/* The tables it reads. */
#define INDEX_SQL_TABLES                                                                           \
    "CREATE TABLE index_provider (slug text PRIMARY KEY, resells text);"                           \
    "CREATE TABLE index_input (provider text, gpu text, billing text, term int, size_bucket "      \
    "text, "                                                                                       \
    "continent text, offer text, amount bigint);"

/* The functions it needs. */
#define INDEX_SQL_FUNCTIONS                                                                        \
    "CREATE FUNCTION half_even(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS "      \
    "'SELECT CASE WHEN 2 * (a % b) > b OR (2 * (a % b) = b AND (a / b) % 2 = 1) THEN a / b + 1 "   \
    "ELSE a / b END';"                                                                             \
    "CREATE FUNCTION quartile(v bigint[], q int) RETURNS bigint LANGUAGE sql IMMUTABLE AS "        \
    "'SELECT CASE WHEN (cardinality(v) - 1) * q % 4 = 0 THEN v[(cardinality(v) - 1) * q / 4 + 1] " \
    "ELSE half_even(v[(cardinality(v) - 1) * q / 4 + 1] * (4 - (cardinality(v) - 1) * q % 4) + "   \
    "v[(cardinality(v) - 1) * q / 4 + 2] * ((cardinality(v) - 1) * q % 4), 4) END';"               \
    "CREATE FUNCTION bucket(billing text, term int) RETURNS text LANGUAGE sql IMMUTABLE AS "       \
    "'SELECT CASE WHEN billing <> ''reserved'' THEN ''0'' WHEN term < 3 THEN ''1-2'' "             \
    "WHEN term < 6 THEN ''3-5'' WHEN term < 12 THEN ''6-11'' WHEN term < 24 THEN ''12-23'' "       \
    "WHEN term < 36 THEN ''24-35'' ELSE ''36+'' END';"                                             \
    "CREATE FUNCTION size_bucket(gpus_milli bigint, min_gpus bigint) RETURNS text "                \
    "LANGUAGE sql IMMUTABLE AS "                                                                   \
    "'SELECT CASE WHEN g <= 8 THEN ''1-8'' WHEN g < 64 THEN ''9-63'' WHEN g <= 512 THEN "          \
    "''64-512'' ELSE ''513+'' END FROM (SELECT greatest(gpus_milli / 1000.0, min_gpus) AS g) x';"

/* One row a group: the columns named (a comma list of gpu, billing, bucket, size_bucket,
 * continent), then lowest, p25, median, p75, highest, offers, providers. */
#define INDEX_SQL(columns)                                                                         \
    "WITH RECURSIVE chain AS (SELECT slug, slug AS root, resells FROM index_provider UNION ALL "   \
    "SELECT c.slug, c.resells, p.resells FROM chain c LEFT JOIN index_provider p "                 \
    "ON p.slug = c.resells WHERE c.resells IS NOT NULL), "                                         \
    "origin AS (SELECT slug, root FROM chain WHERE resells IS NULL), "                             \
    "votes AS (SELECT " columns ", provider, root, count(DISTINCT offer) AS offers, "              \
    "quartile(array_agg(amount ORDER BY amount), 2) AS vote FROM "                                 \
    "(SELECT i.*, bucket(billing, term) AS bucket FROM index_input i) i "                          \
    "JOIN origin ON origin.slug = i.provider GROUP BY " columns ", provider, root), "              \
    "counted AS (SELECT v.* FROM (SELECT *, row_number() OVER (PARTITION BY " columns ", root "    \
    "ORDER BY provider <> root, provider COLLATE \"C\") AS place FROM votes) v WHERE place = 1), " \
    "middle AS (SELECT *, quartile(array_agg(vote) OVER (PARTITION BY " columns                    \
    " ORDER BY vote ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), 2) AS m, "          \
    "count(*) OVER (PARTITION BY " columns ") AS n FROM counted), "                                \
    "spread AS (SELECT *, quartile(array_agg(abs(vote - m)) OVER (PARTITION BY " columns           \
    " ORDER BY abs(vote - m) ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), 2) AS d "  \
    "FROM middle), "                                                                               \
    "kept AS (SELECT * FROM spread WHERE n < 5 OR "                                                \
    "0.6745 * abs(vote - m) <= 3.5 * greatest(d, m / 20)) "                                        \
    "SELECT " columns ", min(vote), quartile(array_agg(vote ORDER BY vote), 1), "                  \
    "quartile(array_agg(vote ORDER BY vote), 2), quartile(array_agg(vote ORDER BY vote), 3), "     \
    "max(vote), sum(offers), count(*) FROM kept GROUP BY " columns " ORDER BY " columns

/* How many stored fixings of a day (first revision; of the world, or of the continents) are not
 * what SQL makes of index_input, and the other way round. */
int64_t index_sql_differences(struct db_connection *connection, int32_t day, bool by_continent);

#endif
