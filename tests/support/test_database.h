/* A database of its own for each test that wants one, on the server that RACKRATE_TEST_DATABASE_URL
 * names (tests/tools/pg.sh). It is a copy of a migrated template that the first test makes. */
#ifndef RACKRATE_TESTS_SUPPORT_TEST_DATABASE_H
#define RACKRATE_TESTS_SUPPORT_TEST_DATABASE_H

#include "db/db.h"

/* The URL of a new migrated database; valid until test_database_drop. Aborts (which fails the test)
 * where there is no server. */
const char *test_database_new(void);
/* As test_database_new, with nothing in it. */
const char *test_database_new_empty(void);
/* Drops it, even while connections to it are open. */
void test_database_drop(void);

/* A new connection to it; aborts where there is none. */
struct db_connection *test_connect(const char *url);

/* Runs SQL that must succeed; the first value of its last result as text, malloc'd, or NULL. */
char *test_sql(struct db_connection *connection, const char *sql);
/* Runs SQL that gives one integer. */
int64_t test_sql_int(struct db_connection *connection, const char *sql);
/* Runs SQL that must be refused: "" where it was not, else the server's message. In a buffer that
 * the next call overwrites. */
const char *test_sql_refused(struct db_connection *connection, const char *sql);

#endif
