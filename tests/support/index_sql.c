/* Holding stored fixings against SQL. */
#include "tests/support/index_sql.h"

#include "server/base/day.h"
#include "tests/support/test_database.h"

#include <stdio.h>

#define BUCKET_OF_MONTHS                                                                           \
    "CASE months_from WHEN 0 THEN '0' WHEN 1 THEN '1-2' WHEN 3 THEN '3-5' WHEN 6 THEN '6-11' "     \
    "WHEN 12 THEN '12-23' WHEN 24 THEN '24-35' ELSE '36+' END AS bucket"

int64_t index_sql_differences(struct db_connection *connection, int32_t day, bool by_continent)
{
    char text[DAY_TEXT_SIZE], sql[9000];
    day_print(day, text);
    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM (SELECT gpu, billing::text, " BUCKET_OF_MONTHS
             ", %s min_microusd, p25_microusd, median_microusd, p75_microusd, max_microusd, "
             "offers::bigint, providers::bigint FROM fixings WHERE day = '%s' AND revision = 1 AND "
             "(continent = '') = %s) f FULL JOIN (%s) w ON row(f.*)::text = row(w.*)::text "
             "WHERE f.gpu IS NULL OR w.gpu IS NULL",
             by_continent ? "continent," : "", text, by_continent ? "false" : "true",
             by_continent ? INDEX_SQL("gpu, billing, bucket, continent")
                          : INDEX_SQL("gpu, billing, bucket"));
    return test_sql_int(connection, sql);
}
