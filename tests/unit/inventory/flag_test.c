/* Doubts against the market and within an offer. */
#include "tests/support/test_upload.h"

#include "server/base/decimal.h"
#include "server/reference/gpu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(flag, .timeout = 20);

static int64_t median_of_two(void *closure, uint16_t gpu, const struct price *price)
{
    (*(int *)closure)++;
    return strcmp(gpu_at(gpu)->slug, "h100-sxm") == 0 && price->billing == BILLING_ON_DEMAND
               ? 2000000
               : UNKNOWN;
}

static uint32_t flags_of(const char *gpu, const char *count, const char *prices,
                         median_lookup *median)
{
    char body[1000];
    int calls = 0;
    struct decode_options options = test_decode_options(FORMAT_NDJSON, "acme");
    struct arena arena = {0};
    struct upload upload;
    struct decode_error error;
    options.median = median;
    options.median_closure = &calls;
    snprintf(body, sizeof(body),
             "{\"external_id\":\"x\",\"gpu\":\"%s\",\"gpu_count\":%s,\"prices\":[%s]}", gpu, count,
             prices);
    cr_assert(upload_decode(&options, body, strlen(body), &arena, &upload, &error) == DECODE_OK);
    cr_assert(upload.offer_count == 1, "%s", body);
    cr_expect(median == NULL || calls > 0 || upload.offers[0].gpu == gpu_unrecognized());
    uint32_t flags = upload.offers[0].flags;
    arena_free(&arena);
    return flags;
}

#define GPU(price)  "{\"billing\":\"on_demand\",\"price_per_gpu_hour\":" price "}"
#define NODE(price) "{\"billing\":\"on_demand\",\"price_per_node_hour\":" price "}"
#define SPOT(price) "{\"billing\":\"spot\",\"price_per_gpu_hour\":" price "}"
#define TERM(m, price)                                                                             \
    "{\"billing\":\"reserved\",\"term_months\":" m ",\"price_per_gpu_hour\":" price "}"

Test(flag, compares_with_the_market_and_within_the_offer)
{
    static const struct {
        const char *gpu, *count, *prices;
        uint32_t flags;
    } cases[] = {
        {"H100 SXM", "8", GPU("2.5"), 0},
        {"H100 SXM", "8", GPU("40.1"), OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN)},
        {"H100 SXM", "8", GPU("40"), 0},
        {"H100 SXM", "8", GPU("1460"), OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN)},
        {"H100 SXM", "8", GPU("0.0999"), OFFER_FLAG(PRICE_FAR_BELOW_MEDIAN)},
        {"H100 SXM", "8", GPU("0.1"), 0},
        {"H100 SXM", "8", NODE("2.2"), OFFER_FLAG(NODE_PRICE_LOOKS_PER_GPU)},
        {"H100 SXM", "8", NODE("17.6"), 0},
        {"H100 SXM", "1", NODE("2.2"), 0},
        {"H100 PCIe", "8", GPU("400"), 0}, /* no median known */
        {"Frobnicator", "8", GPU("400"), 0},
        {"H100 SXM", "8", GPU("2") "," SPOT("2"), OFFER_FLAG(SPOT_NOT_CHEAPER)},
        {"H100 SXM", "8", GPU("2") "," SPOT("1.999999"), 0},
        {"H100 SXM", "8", TERM("12", "2") "," TERM("6", "1.9"), OFFER_FLAG(LONGER_TERM_DEARER)},
        {"H100 SXM", "8", TERM("12", "2") "," TERM("6", "2"), 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t flags = flags_of(cases[i].gpu, cases[i].count, cases[i].prices, median_of_two);
        cr_expect(flags == cases[i].flags, "%s %s: %x", cases[i].gpu, cases[i].prices, flags);
    }
    cr_expect(flags_of("H100 SXM", "8", GPU("1460"), NULL) == 0, "nothing to compare with");
}

/* Without a market, eight prices of a kind are one: the sentinel among them is seen. */
Test(flag, a_large_upload_is_its_own_market)
{
    for (int others = 6; others <= 7; others++) {
        struct buf body = {0};
        struct test_upload test;
        for (int i = 0; i < others; i++)
            buf_printf(&body,
                       "{\"external_id\":\"%d\",\"gpu\":\"H100 SXM\",\"gpu_count\":1,\"prices\":["
                       "{\"billing\":\"spot\",\"price_per_gpu_hour\":1.%d}]}\n",
                       i, i);
        buf_add_string(&body, "{\"external_id\":\"s\",\"gpu\":\"H100 SXM\",\"gpu_count\":1,"
                              "\"prices\":[{\"billing\":\"spot\",\"price_per_gpu_hour\":700}]}\n");
        test_upload_decode(&test, FORMAT_NDJSON, "acme", body.data, body.length);
        const struct offer *sentinel = test_find_offer(&test.upload, "s");
        cr_assert(sentinel != NULL);
        cr_expect(sentinel->flags == (others == 7 ? OFFER_FLAG(PRICE_FAR_ABOVE_MEDIAN) : 0));
        cr_expect(test.upload.offers[0].flags == 0);
        test_upload_free(&test);
        buf_free(&body);
    }
}
