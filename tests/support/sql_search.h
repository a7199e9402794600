/* Searches of the tables of sql_market.h, written in SQL. */
#ifndef RACKRATE_TESTS_SUPPORT_SQL_SEARCH_H
#define RACKRATE_TESTS_SUPPORT_SQL_SEARCH_H

#include "tests/support/sql_market.h"

/* The rows of a search in order, all pages at once: id, amount, latency in hundredths of a
 * millisecond, total price, price per GB, TFLOP/s and TB/s; amounts in micro-dollars, -1 unknown.
 * The caller clears the result. */
PGresult *sql_search(PGconn *connection, const struct query_parameter *parameters, size_t count);

/* The values of a facet of a search (a name of facets=), its own parameters left out: value (NULL
 * unknown), offers, least and median price in micro-dollars, in the order they are answered. */
PGresult *sql_facet(PGconn *connection, const struct query_parameter *parameters, size_t count,
                    const char *facet);

#endif
