/* A random market in plain tables of a PostgreSQL, for tests that compare the catalogue with SQL.
 * Failures fail the test that calls. */
#ifndef RACKRATE_TESTS_SUPPORT_SQL_MARKET_H
#define RACKRATE_TESTS_SUPPORT_SQL_MARKET_H

#include "tests/support/random_market.h"

#include <libpq-fe.h>

/* Runs a statement whose rows nobody wants. */
void sql_run(PGconn *connection, const char *sql);

/* Connects to an empty database and makes the tables, those of GPUs and places filled. */
PGconn *sql_market_open(const char *url);

/* Puts the market's providers, offers and prices in the place of what was there. */
void sql_market_copy(PGconn *connection, const struct market *market);

#endif
