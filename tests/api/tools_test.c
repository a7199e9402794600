/* The calculators over the API: published figures, every form of the questions, bad input, and sums
 * that agree with the offers they are about. */
#include "tests/support/test_api.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;

static void start(void)
{
    test_api_start(&api);
}

static void stop(void)
{
    test_api_stop(&api);
}

TestSuite(tools_api, .init = start, .fini = stop, .timeout = 300);

static json_t *get(const char *target)
{
    int status;
    json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
    cr_assert(status == 200 && answer != NULL, "%s: %d", target, status);
    return answer;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_number(value), "no number %s", key);
    return json_number_value(value);
}

static bool is_null(const json_t *object, const char *key)
{
    cr_assert(json_object_get(object, key) != NULL, "no member %s", key);
    return json_is_null(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    cr_assert(value != NULL, "no text %s", key);
    return value;
}

/* Uploads one offer; its id goes to `id`. */
static void upload(const char *slug, const char *offer, char id[static 64])
{
    char key[64], target[128], body[2048];
    test_api_provider(&api, slug, key);
    snprintf(target, sizeof(target), "/v1/providers/%s/inventory", slug);
    snprintf(body, sizeof(body), "{\"offers\":[%s]}", offer);
    cr_assert(test_api_status(&api, "PUT", target, key, NULL, body) == 200);
    snprintf(target, sizeof(target), "/v1/offers?provider=%s", slug);
    json_t *list = get(target);
    snprintf(id, 64, "%s", text(json_array_get(json_object_get(list, "data"), 0), "id"));
    json_decref(list);
}

static const char *const priced =
    "{\"external_id\":\"m\",\"gpu\":\"H100 "
    "SXM5\",\"gpu_count\":8,\"region\":\"us-east\",\"prices\":["
    "{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3.25},"
    "{\"billing\":\"on_demand\",\"price_per_gpu_hour\":3,\"min_gpus\":64},"
    "{\"billing\":\"spot\",\"price_per_gpu_hour\":1.1},"
    "{\"billing\":\"reserved\",\"term_months\":12,\"price_per_gpu_hour\":2.2,\"upfront_percent\":"
    "20},"
    "{\"billing\":\"reserved\",\"term_months\":36,\"price_per_gpu_hour\":1.65,\"min_gpus\":64}],"
    "\"extra_costs\":{\"egress_per_gb\":0.01,\"billing_increment_seconds\":3600}}";

Test(tools_api, rent_vs_buy_gives_the_published_figures)
{
    json_t *answer = get("/v1/tools/rent-vs-buy");
    cr_expect(number(answer, "total_per_gpu_hour") == 1.627307);
    cr_expect(is_null(answer, "comparison"), "no index here, and none was given");
    cr_expect_str_eq(json_string_value(json_array_get(json_object_get(answer, "unknown"), 0)),
                     "rent_price_per_gpu_hour");
    json_t *figures = json_object_get(json_object_get(answer, "published"), "figures");
    cr_expect(json_array_size(figures) == 6);
    cr_expect(number(json_array_get(figures, 0), "exact_per_gpu_hour") == 0.998858);
    cr_expect(number(json_array_get(figures, 0), "published_per_gpu_hour") == 1);
    cr_expect(number(json_array_get(figures, 5), "published_per_gpu_hour") == 1.7);
    json_t *input = json_object_get(json_object_get(answer, "inputs"), "machine_price_usd");
    cr_expect(number(input, "value") == 280000 && json_is_false(json_object_get(input, "given")));
    cr_expect(strstr(text(input, "source"), "Dell") != NULL);
    json_decref(answer);

    answer = get("/v1/tools/rent-vs-buy?machine=dgx-h100");
    json_t *inputs = json_object_get(answer, "inputs");
    cr_expect(number(json_object_get(inputs, "machine_price_usd"), "value") == 360000);
    cr_expect(number(json_object_get(inputs, "support_usd"), "value") == 100000);
    json_decref(answer);
    answer = get("/v1/tools/rent-vs-buy?machine_price_usd=560000");
    cr_expect(fabs(number(answer, "total_per_gpu_hour") - 1.627307 - 1.390077) < 1e-5);
    json_decref(answer);
}

Test(tools_api, rent_vs_buy_rents_at_the_index)
{
    static const char *const prices[] = {"2.4", "2.5", "2.6"};
    for (int i = 0; i < 3; i++) {
        char slug[24], offer[512], id[64];
        snprintf(slug, sizeof(slug), "rent-%d", i);
        snprintf(offer, sizeof(offer),
                 "{\"external_id\":\"m\",\"gpu\":\"h100-sxm\",\"gpu_count\":8,\"prices\":[{"
                 "\"billing\":\"on_demand\",\"price_per_gpu_hour\":%s},{\"billing\":\"reserved\","
                 "\"term_months\":36,\"price_per_gpu_hour\":1.8}]}",
                 prices[i]);
        upload(slug, offer, id);
    }
    json_t *answer = get("/v1/tools/rent-vs-buy?downtime_percent=0");
    json_t *rent = json_object_get(answer, "rent");
    json_t *comparison = json_object_get(answer, "comparison");
    cr_expect(number(rent, "price_per_gpu_hour") == 2.5 && number(rent, "index_providers") == 3);
    cr_expect_str_eq(text(rent, "source"), "index");
    cr_expect(number(comparison, "overtakes_month") == 29);
    cr_expect(number(comparison, "buying_usd") == 437920 &&
              number(comparison, "renting_usd") == 700800);
    cr_expect_str_eq(text(comparison, "cheaper"), "buying");
    json_t *range = json_object_get(answer, "range");
    cr_expect(number(json_array_get(range, 0), "per_gpu_hour") == 2.5);
    cr_expect(is_null(json_array_get(range, 1), "per_gpu_hour"), "nobody reserves for a year");
    cr_expect(number(json_array_get(range, 2), "per_gpu_hour") == 1.8);
    json_decref(answer);
    answer = get("/v1/tools/rent-vs-buy?utilization=0.25&yearly_price_fall_percent=20");
    comparison = json_object_get(answer, "comparison");
    cr_expect(is_null(comparison, "overtakes_month"));
    cr_expect_str_eq(text(comparison, "cheaper"), "renting");
    cr_expect(number(answer, "total_per_used_gpu_hour") == 6.509228);
    json_decref(answer);
    answer = get("/v1/tools/rent-vs-buy?rent_billing=reserved&rent_term_months=36");
    cr_expect(number(json_object_get(answer, "rent"), "price_per_gpu_hour") == 1.8);
    json_decref(answer);
}

Test(tools_api, reserve_vs_on_demand_by_two_prices)
{
    json_t *answer = get("/v1/tools/reserve-vs-on-demand?reserved_price=2.2&on_demand_price=3.25&"
                         "term_months=12&gpus=8&upfront_percent=20");
    cr_expect_str_eq(text(answer, "cheaper"), "reserved");
    cr_expect(number(answer, "break_even_utilization") == 0.676923);
    cr_expect(number(answer, "break_even_hours_per_month") == 494.153846);
    cr_expect(number(answer, "total_commitment_usd") == 154176);
    cr_expect(number(answer, "due_at_once_usd") == 30835.2);
    cr_expect(number(answer, "hourly_price_per_gpu_hour") == 1.76);
    cr_expect(number(answer, "saving_usd") == 73584);
    cr_expect(number(answer, "break_even_month") == 9);
    json_decref(answer);
}

Test(tools_api, reserve_vs_on_demand_of_an_offer)
{
    char id[64], target[256];
    upload("acme", priced, id);
    snprintf(target, sizeof(target), "/v1/tools/reserve-vs-on-demand?offer=%s", id);
    json_t *answer = get(target);
    json_t *terms = json_object_get(answer, "terms");
    cr_assert(json_array_size(terms) == 5);
    json_t *year = json_array_get(terms, 3), *three = json_array_get(terms, 4);
    cr_expect(number(year, "term_months") == 12 && number(year, "gpus") == 8);
    cr_expect(number(year, "on_demand_price_per_gpu_hour") == 3.25);
    cr_expect_str_eq(text(year, "on_demand_source"), "offer");
    cr_expect(number(year, "discount_percent") == 32.307692);
    cr_expect(number(year, "discount_to_spot_percent") == -100);
    cr_expect(number(year, "total_commitment_usd") == 154176 &&
              number(year, "due_at_once_usd") == 30835.2);
    /* 64 GPUs: the tier from 64 on is what it is compared with. */
    cr_expect(number(three, "gpus") == 64);
    cr_expect(number(three, "on_demand_price_per_gpu_hour") == 3);
    cr_expect(number(three, "break_even_utilization") == 0.55);
    cr_expect(is_null(json_array_get(terms, 0), "break_even_utilization"));
    json_decref(answer);

    snprintf(target, sizeof(target),
             "/v1/tools/reserve-vs-on-demand?offer=%s&gpus=8&term_months=12&hours_per_month=365",
             id);
    answer = get(target);
    terms = json_object_get(answer, "terms");
    cr_expect(json_array_size(terms) == 3, "what takes 8 GPUs, and of terms that of 12 months");
    cr_expect_str_eq(text(json_array_get(terms, 2), "cheaper"), "on_demand");
    json_decref(answer);

    /* An offer without a price on demand is held against the index, or a price given. */
    char bare[64];
    upload("bare",
           "{\"external_id\":\"r\",\"gpu\":\"h100-sxm\",\"gpu_count\":8,\"prices\":[{\"billing\":"
           "\"reserved\",\"term_months\":6,\"price_per_gpu_hour\":2.6}]}",
           bare);
    snprintf(target, sizeof(target), "/v1/tools/reserve-vs-on-demand?offer=%s", bare);
    answer = get(target);
    json_t *term = json_array_get(json_object_get(answer, "terms"), 0);
    cr_expect_str_eq(text(term, "on_demand_source"), "index");
    cr_expect(number(term, "on_demand_price_per_gpu_hour") == 3.125, "acme's vote: its median");
    json_decref(answer);
    snprintf(target, sizeof(target), "/v1/tools/reserve-vs-on-demand?offer=%s&on_demand_price=5.2",
             bare);
    answer = get(target);
    term = json_array_get(json_object_get(answer, "terms"), 0);
    cr_expect_str_eq(text(term, "on_demand_source"), "given");
    cr_expect(number(term, "break_even_utilization") == 0.5);
    json_decref(answer);
}

Test(tools_api, reserve_vs_on_demand_in_a_region)
{
    static const struct {
        const char *region, *on_demand, *reserved;
    } offers[] = {{"us-ashburn", "3", "2"},
                  {"us-new-york", "3.2", "2.1"},
                  {"us-east", "3.4", "2.2"},
                  {"se-stockholm", "9", "8"}};
    for (int i = 0; i < 4; i++) {
        char slug[24], offer[512], id[64];
        snprintf(slug, sizeof(slug), "east-%d", i);
        snprintf(offer, sizeof(offer),
                 "{\"external_id\":\"m\",\"gpu\":\"h200-sxm\",\"gpu_count\":8,\"region\":\"%s\","
                 "\"prices\":[{\"billing\":\"on_demand\",\"price_per_gpu_hour\":%s},{\"billing\":"
                 "\"reserved\",\"term_months\":12,\"price_per_gpu_hour\":%s,\"min_gpus\":64}]}",
                 offers[i].region, offers[i].on_demand, offers[i].reserved);
        upload(slug, offer, id);
    }
    json_t *answer = get("/v1/tools/reserve-vs-on-demand?gpu=h200-sxm&region=us-east&gpus=64");
    json_t *terms = json_object_get(answer, "terms");
    cr_assert(json_array_size(terms) == 2);
    json_t *on_demand = json_array_get(terms, 0), *year = json_array_get(terms, 1);
    cr_expect(number(on_demand, "effective_price_per_gpu_hour") == 3.2 &&
              number(on_demand, "providers") == 3);
    cr_expect(number(year, "effective_price_per_gpu_hour") == 2.1);
    cr_expect(number(year, "break_even_utilization") == 0.65625);
    cr_expect(number(year, "total_commitment_usd") == 2.1 * 730 * 12 * 64);
    json_t *tiers = json_object_get(year, "volume_tiers");
    cr_expect(json_array_size(tiers) == 1);
    cr_expect_str_eq(text(json_array_get(tiers, 0), "cluster_size"), "64-512");
    json_decref(answer);
    answer = get("/v1/tools/reserve-vs-on-demand?gpu=h200-sxm");
    on_demand = json_array_get(json_object_get(answer, "terms"), 0);
    cr_expect(number(on_demand, "providers") == 4);
    json_decref(answer);
    answer = get("/v1/tools/reserve-vs-on-demand?gpu=h200-sxm&region=jp-tokyo");
    cr_expect(json_array_size(json_object_get(answer, "terms")) == 0);
    json_decref(answer);
}

Test(tools_api, whole_cost_of_an_offer)
{
    char id[64], target[256];
    upload("acme", priced, id);
    snprintf(target, sizeof(target),
             "/v1/tools/whole-cost?offer=%s&gpus=12&months=18&hours_per_month=100.5&"
             "egress_gb_per_month=1000&storage_gb=10",
             id);
    json_t *answer = get(target);
    json_t *costs = json_object_get(answer, "costs");
    cr_assert(json_array_size(costs) == 3, "the tiers from 64 GPUs on don't take 12");
    json_t *on_demand = json_array_get(costs, 0), *year = json_array_get(costs, 2);
    cr_expect(number(on_demand, "nodes") == 2);
    cr_expect(number(on_demand, "billed_hours") == 101 * 18, "whole hours");
    cr_expect(number(on_demand, "compute_usd") == 3.25 * 16 * 101 * 18);
    cr_expect(number(on_demand, "increments_usd") == 3.25 * 16 * 0.5 * 18);
    cr_expect(number(on_demand, "egress_usd") == 180 && is_null(on_demand, "storage_usd"));
    cr_expect(number(on_demand, "total_known_usd") == 3.25 * 16 * 101 * 18 + 180);
    cr_expect(number(year, "terms") == 2 && number(year, "billed_hours") == 730 * 24);
    cr_expect(fabs(number(year, "compute_usd") - 2.2 * 16 * 730 * 24) < 1e-6);
    cr_expect(fabs(number(year, "due_at_once_usd") - 2.2 * 16 * 730 * 12 / 5) < 1e-6);
    json_t *unknown = json_object_get(answer, "unknown");
    cr_expect(json_array_size(unknown) == 2);
    cr_expect_str_eq(json_string_value(json_array_get(unknown, 0)), "storage_per_gb_month");
    cr_expect_str_eq(json_string_value(json_array_get(unknown, 1)), "minimum_duration_seconds");
    json_decref(answer);
}

Test(tools_api, interruptions_by_every_rate)
{
    json_t *answer = get("/v1/tools/interruptions?gpus=2048&days=27");
    json_t *estimates = json_object_get(answer, "estimates");
    cr_expect(number(answer, "expected_interruptions") == 18.179507);
    cr_expect(number(json_array_get(estimates, 1), "expected_interruptions") == 26.1875);
    cr_expect(number(json_array_get(estimates, 2), "expected_interruptions") == 29.125);
    json_decref(answer);
    answer = get("/v1/tools/interruptions?gpus=16384&days=54&rate=llama3_unexpected");
    cr_expect(number(answer, "expected_interruptions") == 419);
    json_decref(answer);
    /* Daly's second example: six hours between failures. */
    answer = get("/v1/tools/interruptions?gpus=100&failures_per_100_gpus_month=121.666667");
    json_t *checkpoints = json_object_get(answer, "checkpoints");
    cr_expect(lround(number(checkpoints, "best_interval_minutes")) == 57);
    cr_expect(number(checkpoints, "time_lost_percent") ==
              number(checkpoints, "time_lost_at_best_percent"));
    json_decref(answer);
    answer = get("/v1/tools/interruptions?checkpoint_interval_minutes=600");
    checkpoints = json_object_get(answer, "checkpoints");
    cr_expect(number(checkpoints, "time_lost_percent") >
              number(checkpoints, "time_lost_at_best_percent"));
    json_decref(answer);
}

Test(tools_api, bad_input_is_a_400_that_names_the_parameter)
{
    char id[64];
    upload("acme", priced, id);
    const struct {
        const char *query, *parameter, *code;
    } cases[] = {
        {"rent-vs-buy?utilization=1.000001", "utilization", "out_of_range"},
        {"rent-vs-buy?years=-1", "years", "out_of_range"},
        {"rent-vs-buy?years=0", "years", "out_of_range"},
        {"rent-vs-buy?machine_price_usd=1e5", "machine_price_usd", "not_a_number"},
        {"rent-vs-buy?machine_price_usd=1.0000001", "machine_price_usd", "too_precise"},
        {"rent-vs-buy?machine=dgx", "machine", "unknown_value"},
        {"rent-vs-buy?downtime_percent=100", "downtime_percent", "out_of_range"},
        {"rent-vs-buy?gpu=h1000", "gpu", "unknown_value"},
        {"rent-vs-buy?gpu=h100", "gpu", "ambiguous_value"},
        {"rent-vs-buy?machine_price=1", "machine_price", "unknown_parameter"},
        {"rent-vs-buy?years=2&years=3", "years", "repeated_parameter"},
        {"rent-vs-buy?rent_term_months=12", "rent_term_months", "conflict"},
        {"rent-vs-buy?rent_billing=reserved&rent_term_months=601", "rent_term_months",
         "out_of_range"},
        {"rent-vs-buy?gpus=1000000&gpus_per_machine=1&machine_price_usd=10000000", "gpus",
         "out_of_range"},
        {"reserve-vs-on-demand", "reserved_price", "missing"},
        {"reserve-vs-on-demand?reserved_price=2&on_demand_price=3", "term_months", "missing"},
        {"reserve-vs-on-demand?reserved_price=2&on_demand_price=3&term_months=0", "term_months",
         "out_of_range"},
        {"reserve-vs-on-demand?reserved_price=2&on_demand_price=3&term_months=601", "term_months",
         "out_of_range"},
        {"reserve-vs-on-demand?reserved_price=0&on_demand_price=3&term_months=1", "reserved_price",
         "out_of_range"},
        {"reserve-vs-on-demand?reserved_price=2&on_demand_price=3&term_months=1&hours_per_month="
         "744."
         "001",
         "hours_per_month", "out_of_range"},
        {"reserve-vs-on-demand?offer=of_0&term_months=1", "offer", "not_an_id"},
        {"reserve-vs-on-demand?offer=of_00000000000000000000000000", "offer", "unknown_value"},
        {"reserve-vs-on-demand?gpu=h100-sxm&region=us-eest", "region", "unknown_value"},
        {"reserve-vs-on-demand?gpu=h100-sxm&reserved_price=2", "reserved_price", "conflict"},
        {"reserve-vs-on-demand?region=us-east", "region", "conflict"},
        {"reserve-vs-on-demand?gpu=nothing-like-it", "gpu", "unknown_value"},
        {"whole-cost", "offer", "missing"},
        {"whole-cost?offer=x", "offer", "not_an_id"},
        {"whole-cost?offer=x&months=0", "months", "out_of_range"},
        {"whole-cost?offer=x&hours_per_month=745", "hours_per_month", "out_of_range"},
        {"whole-cost?offer=x&runs_per_month=0", "runs_per_month", "out_of_range"},
        {"whole-cost?offer=x&storage_gb=-1", "storage_gb", "out_of_range"},
        {"interruptions?gpus=-1&days=30", "gpus", "out_of_range"},
        {"interruptions?gpus=abc&days=30", "gpus", "not_a_number"},
        {"interruptions?gpus=10.5", "gpus", "too_precise"},
        {"interruptions?gpus=10&days=0", "days", "out_of_range"},
        {"interruptions?availability_percent=100", "availability_percent", "out_of_range"},
        {"interruptions?rate=llama3", "rate", "unknown_value"},
        {"interruptions?rate=llama3_all&failures_per_100_gpus_month=2",
         "failures_per_100_gpus_month", "conflict"},
        {"interruptions?gpu=10", "gpu", "unknown_parameter"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char target[256];
        int status;
        snprintf(target, sizeof(target), "/v1/tools/%s", cases[i].query);
        json_t *problem = test_api_json(&api, "GET", target, NULL, NULL, &status);
        cr_assert(status == 400 && problem != NULL, "%s: %d", target, status);
        json_t *item = json_array_get(json_object_get(problem, "errors"), 0);
        cr_expect_str_eq(text(item, "parameter"), cases[i].parameter, "%s", target);
        cr_expect_str_eq(text(item, "code"), cases[i].code, "%s", target);
        json_decref(problem);
    }
    /* Several faults are named together. */
    int status;
    json_t *problem = test_api_json(&api, "GET", "/v1/tools/interruptions?gpus=0&days=x&rate=y",
                                    NULL, NULL, &status);
    cr_expect(json_array_size(json_object_get(problem, "errors")) == 3);
    json_decref(problem);
}

Test(tools_api, answers_have_entity_tags)
{
    char id[64], offer_cost[128], offer_terms[128];
    upload("acme", priced, id);
    snprintf(offer_cost, sizeof(offer_cost), "/v1/tools/whole-cost?offer=%s", id);
    snprintf(offer_terms, sizeof(offer_terms), "/v1/tools/reserve-vs-on-demand?offer=%s", id);
    const char *const targets[] = {
        "/v1/tools/rent-vs-buy",
        "/v1/tools/interruptions?gpus=10",
        "/v1/tools/reserve-vs-on-demand?gpu=h100-sxm",
        "/v1/tools/reserve-vs-on-demand?reserved_price=2&on_demand_price=3&term_months=1",
        offer_cost,
        offer_terms,
    };
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        struct loopback_reply first = test_api_call(&api, "GET", targets[i], NULL, NULL, NULL);
        char *etag = test_reply_header(&first, "ETag"), header[160];
        cr_assert(first.status == 200 && etag != NULL, "%s", targets[i]);
        snprintf(header, sizeof(header), "if-none-match: %s", etag);
        struct loopback_reply again = test_api_call(&api, "GET", targets[i], NULL, header, NULL);
        cr_expect(again.status == 304 && again.body_length == 0, "%s: %d", targets[i],
                  again.status);
        free(etag);
        loopback_reply_free(&first);
        loopback_reply_free(&again);
    }
}

/* A value of an input: an end of its range, or something between, as a plain decimal. */
static void random_value(const json_t *input, char out[static 64])
{
    double low = number(input, "minimum"), high = number(input, "maximum");
    double at = random() % 4 == 0   ? low
                : random() % 4 == 0 ? high
                : random() % 2 == 0 ? floor(low + (high - low) * drand48())
                                    : floor(low + (high - low) * pow(drand48(), 12));
    if (at < low || (at == 0 && low > 0))
        at = low;
    int length = snprintf(out, 64, "%.6f", at);
    while (out[length - 1] == '0')
        out[--length] = '\0';
    if (out[length - 1] == '.')
        out[length - 1] = '\0';
}

/* Adds a random choice of the inputs of an answer to a query. */
static void random_query(const json_t *inputs, char *query, size_t size)
{
    const char *name;
    json_t *input;
    json_object_foreach((json_t *)(uintptr_t)inputs, name, input)
    {
        size_t length = strlen(query);
        char value[64];
        const json_t *choices = json_object_get(input, "choices");
        if (random() % 2 == 0)
            continue;
        if (choices == NULL)
            random_value(input, value);
        else
            snprintf(value, sizeof(value), "%s",
                     json_string_value(
                         json_array_get(choices, (size_t)random() % json_array_size(choices))));
        snprintf(query + length, size - length, "&%s=%s", name, value);
    }
}

/* Whatever is asked within the bounds is answered, or refused as more than can be added up, or as
 * two things that exclude each other. */
Test(tools_api, everything_within_the_bounds_is_answered)
{
    char id[64], of_offer[128], cost[128];
    upload("acme", priced, id);
    snprintf(of_offer, sizeof(of_offer), "/v1/tools/reserve-vs-on-demand?offer=%s", id);
    snprintf(cost, sizeof(cost), "/v1/tools/whole-cost?offer=%s", id);
    const char *const bases[] = {
        "/v1/tools/rent-vs-buy?gpu=h100-sxm",
        "/v1/tools/interruptions?",
        "/v1/tools/reserve-vs-on-demand?",
        "/v1/tools/reserve-vs-on-demand?gpu=h100-sxm",
        of_offer,
        cost,
    };
    json_t *example = get("/v1/tools/reserve-vs-on-demand?reserved_price=2&on_demand_price=3&"
                          "term_months=12");
    size_t answered = 0;
    srandom(17);
    srand48(17);
    for (int i = 0; i < 1800; i++) {
        const char *base = bases[i % 6];
        json_t *whole = i % 6 == 2 ? json_incref(example) : get(base);
        char target[4096];
        int status;
        snprintf(target, sizeof(target), "%s", base);
        random_query(json_object_get(whole, "inputs"), target, sizeof(target));
        json_t *answer = test_api_json(&api, "GET", target, NULL, NULL, &status);
        cr_assert(answer != NULL, "%s: no JSON", target);
        json_t *item = json_array_get(json_object_get(answer, "errors"), 0);
        const char *code = json_string_value(json_object_get(item, "code"));
        cr_assert(status == 200 ||
                      (status == 400 && code != NULL &&
                       (strcmp(code, "conflict") == 0 || strcmp(code, "missing") == 0 ||
                        strcmp(code, "out_of_range") == 0)),
                  "%s: %d %s", target, status, code);
        if (code != NULL && strcmp(code, "out_of_range") == 0)
            cr_assert(strstr(text(item, "message"), "trillion") != NULL, "%s: %s", target,
                      text(item, "message"));
        answered += status == 200;
        json_decref(answer);
        json_decref(whole);
    }
    cr_expect(answered > 600, "%zu were answered", answered);
    json_decref(example);
}
