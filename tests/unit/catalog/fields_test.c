/* Chosen fields: what `fields=` answers is the same part of the whole answer, whatever the row, for
 * every field there is. */
#include "server/base/crypto.h"
#include "server/catalog/fields.h"
#include "tests/support/random_market.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

TestSuite(fields, .timeout = 120);

/* The answer to a query, or NULL where it was refused with a message in *ret_message. */
static json_t *ask(struct catalog *catalog, const struct query_parameter *parameters, size_t count,
                   char message[static 300])
{
    struct arena arena = {0};
    struct snapshot *snapshot = catalog_acquire(catalog);
    struct query *query;
    struct query_error *errors;
    struct buf out = {0};
    const char *cursor;
    json_t *answer = NULL;
    *message = '\0';
    if (query_parse(parameters, count, snapshot, &arena, &query, &errors) > 0) {
        snprintf(message, 300, "%s: %s", errors[0].code, errors[0].message);
    } else {
        query_answer(snapshot, query, MARKET_NOW_US, &arena, &out, &cursor);
        json_error_t error;
        answer = json_loadb(out.data, out.length, JSON_REJECT_DUPLICATES, &error);
        cr_assert_not_null(answer, "%s near %.80s", error.text, out.data + error.position - 40);
    }
    buf_free(&out);
    snapshot_release(snapshot);
    arena_free(&arena);
    return answer;
}

/* The value of `a` or `a.b` in a row. */
static json_t *value_of(json_t *row, const char *name)
{
    const char *dot = strchr(name, '.');
    char object[64];
    if (dot == NULL)
        return json_object_get(row, name);
    snprintf(object, sizeof(object), "%.*s", (int)(dot - name), name);
    return json_object_get(json_object_get(row, object), dot + 1);
}

/* Names of a row, with those of its objects, in the order of the text. */
static size_t names_of(json_t *row, char names[][64], size_t most)
{
    size_t count = 0;
    const char *key, *inner;
    json_t *value, *member;
    json_object_foreach(row, key, value)
    {
        cr_assert_lt(count, most);
        snprintf(names[count++], 64, "%s", key);
        /* Evidence is one value: there or not. */
        if (strcmp(key, "location_contradicted_by") == 0)
            continue;
        json_object_foreach(value, inner, member)
        {
            cr_assert_lt(count, most);
            snprintf(names[count++], 64, "%s.%s", key, inner);
        }
    }
    return count;
}

/* What a choice asks for: each name that no chosen object holds already. */
static size_t expected_names(const uint8_t *chosen, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < field_count(); i++) {
        char object[64];
        const char *dot = strchr(field_name(i), '.');
        if (!chosen[i])
            continue;
        if (dot != NULL) {
            snprintf(object, sizeof(object), "%.*s", (int)(dot - field_name(i)), field_name(i));
            if (chosen[field_find(object)])
                continue;
        }
        names[count++] = field_name(i);
    }
    return count;
}

static void check_row(json_t *whole, json_t *part, const char *const *names, size_t count,
                      const char *text)
{
    size_t values = 0;
    const char *key, *inner;
    json_t *value, *member;
    for (size_t i = 0; i < count; i++) {
        json_t *want = value_of(whole, names[i]), *got = value_of(part, names[i]);
        if (want == NULL) {
            cr_assert_null(got, "%s of %s", names[i], text);
            continue;
        }
        cr_assert_not_null(got, "%s is missing of %s", names[i], text);
        cr_assert(json_equal(want, got), "%s of %s", names[i], text);
        values++;
    }
    size_t answered = 0;
    json_object_foreach(part, key, value)
    {
        bool whole_object = false;
        for (size_t i = 0; i < count; i++)
            whole_object |= strcmp(names[i], key) == 0;
        if (whole_object) {
            answered++;
            continue;
        }
        json_object_foreach(value, inner, member)
        {
            (void)inner;
            (void)member;
            answered++;
        }
    }
    cr_assert_eq(answered, values, "only what was asked for: %s", text);
}

static void check_choice(struct catalog *catalog, struct query_parameter *parameters, size_t count,
                         const uint8_t *chosen)
{
    char text[4096] = "", message[300];
    const char *names[FIELDS_MAX];
    /* Asked for backwards: the order of the answer is its own. */
    for (size_t i = field_count(); i-- > 0;) {
        if (chosen[i]) {
            strcat(text, *text == '\0' ? "" : ",");
            strcat(text, field_name(i));
        }
    }
    json_t *whole = ask(catalog, parameters, count, message);
    if (whole == NULL)
        return; /* a random query that is none */
    parameters[count] = (struct query_parameter){"fields", text};
    json_t *part = ask(catalog, parameters, count + 1, message);
    cr_assert_not_null(part, "%s: %s", text, message);
    size_t name_count = expected_names(chosen, names);
    json_t *rows = json_object_get(whole, "data"), *parts = json_object_get(part, "data");
    cr_assert_eq(json_array_size(rows), json_array_size(parts));
    for (size_t i = 0; i < json_array_size(rows); i++)
        check_row(json_array_get(rows, i), json_array_get(parts, i), names, name_count, text);
    cr_assert(
        json_equal(json_object_get(whole, "next_cursor"), json_object_get(part, "next_cursor")),
        "a cursor goes on in any fields");
    json_t *said = json_object_get(json_object_get(part, "query"), "fields");
    cr_assert_eq(json_array_size(said), name_count);
    for (size_t i = 0; i < name_count; i++)
        cr_assert_str_eq(json_string_value(json_array_get(said, i)), names[i]);
    json_decref(whole);
    json_decref(part);
}

Test(fields, any_choice_is_that_part_of_the_answer)
{
    cr_assert(crypt_init());
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct market market;
        struct catalog *catalog = catalog_new();
        market_make(&market, seed, 8, 40 * seed);
        cr_assert(market_load(catalog, &market));
        for (int i = 0; i < 250; i++) {
            struct query_parameter parameters[MARKET_PARAMETERS_MAX + 1];
            uint8_t chosen[FIELDS_MAX] = {0};
            size_t count = market_random_query(&market, parameters);
            uint32_t one_in = 1 + random_below(&market.random, 12);
            for (size_t k = 0; k < field_count(); k++)
                chosen[k] = random_once_in(&market.random, one_in);
            chosen[random_below(&market.random, (uint32_t)field_count())] = 1;
            check_choice(catalog, parameters, count, chosen);
        }
        catalog_free(catalog);
        market_free(&market);
    }
}

Test(fields, each_alone_and_all_that_an_answer_holds)
{
    struct market market;
    struct catalog *catalog = catalog_new();
    struct query_parameter parameters[8] = {
        {"near", "us-ashburn"}, {"limit", "5"}, {"include_stale", "1"}};
    char names[FIELDS_MAX][64], message[300];
    cr_assert(crypt_init());
    market_make(&market, 7, 6, 50);
    cr_assert(market_load(catalog, &market));
    for (size_t i = 0; i < field_count(); i++) {
        uint8_t chosen[FIELDS_MAX] = {0};
        chosen[i] = 1;
        check_choice(catalog, parameters, 3, chosen);
    }
    json_t *answer = ask(catalog, parameters, 3, message);
    size_t count = names_of(json_array_get(json_object_get(answer, "data"), 0), names, FIELDS_MAX);
    for (size_t i = 0, at = 0; i < count; i++, at++) {
        while (at < field_count() && strcmp(field_name(at), names[i]) != 0)
            at++;
        cr_assert_lt(at, field_count(), "%s can be asked for, in the answer's order", names[i]);
    }
    json_decref(answer);
    catalog_free(catalog);
    market_free(&market);
}

Test(fields, what_is_no_field_is_refused_by_name)
{
    struct catalog *catalog = catalog_new();
    char message[300];
    const struct {
        const char *value, *want;
    } cases[] = {
        {"id,gpu.slag", "unknown_value: fields: \"gpu.slag\" is no field of an offer known here; "
                        "did you mean gpu.slug?"},
        {"gpus_count", "unknown_value: fields: \"gpus_count\" is no field of an offer known here; "
                       "did you mean gpu_count?"},
        {"gpu.slug.x", "unknown_value"},
        {"prices.billing", "unknown_value"},
        {"ID", "unknown_value"},
        {"", "empty_value"},
        {"id,,gpu", "empty_value"},
    };
    cr_assert(crypt_init());
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct query_parameter parameter = {"fields", cases[i].value};
        cr_expect_null(ask(catalog, &parameter, 1, message));
        cr_expect(strncmp(message, cases[i].want, strlen(cases[i].want)) == 0, "%s gave %s",
                  cases[i].value, message);
    }
    catalog_free(catalog);
}
