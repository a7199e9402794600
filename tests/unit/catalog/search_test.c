/* Search against the oracle: random queries over random markets, every page of each. */
#include "server/base/crypto.h"
#include "tests/support/search_oracle.h"

#include <criterion/criterion.h>

TestSuite(search, .timeout = 300);

Test(search, random_queries_agree_with_the_oracle)
{
    cr_assert(crypt_init());
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct market market;
        struct catalog *catalog = catalog_new();
        market_make(&market, seed, 8, 30 * seed);
        cr_assert(market_load(catalog, &market));
        for (int i = 0; i < 300; i++) {
            struct query_parameter parameters[MARKET_PARAMETERS_MAX];
            size_t count = market_random_query(&market, parameters);
            if (!oracle_agrees(catalog, &market, parameters, count, MARKET_NOW_US))
                break;
        }
        catalog_free(catalog);
        market_free(&market);
    }
}
