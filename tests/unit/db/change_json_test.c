/* What is kept of an upload's changes: only the fields that differ, and no more than the bound. */
#include "db/change_json.h"

#include "tests/support/test_offers.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

TestSuite(change_json, .timeout = 20);

Test(change_json, an_update_shows_before_and_after_of_what_differs)
{
    struct arena arena = {0};
    struct buf out = {0};
    struct offer *before = test_full_offer(&arena, "a\"b"),
                 *after = test_full_offer(&arena, "a\"b");
    after->zone = NULL;
    after->availability.gpus_available = 32;
    struct change_set set = test_change_set(&arena, 1, 2);
    test_change(&set, CHANGE_UPDATED, "a\"b", after);
    set.changes[0].before = before;
    set.changes[0].fields = offer_compare_fields(before, after);
    test_change(&set, CHANGE_REMOVED, "c", NULL);
    cr_expect(change_json_write(&out, &set));
    cr_expect_str_eq(
        out.data,
        "[{\"external_id\":\"a\\\"b\",\"kind\":\"updated\",\"fields\":[\"zone\",\"availability\"],"
        "\"before\":{\"zone\":\"iad1\",\"availability\":{\"status\":\"limited\",\"gpus_available\":"
        "64,"
        "\"lead_time_days\":0,\"schedule\":[{\"gpus\":2000,\"days\":120},{\"gpus\":500,\"days\":"
        "180}]}},"
        "\"after\":{\"zone\":null,\"availability\":{\"status\":\"limited\",\"gpus_available\":32,"
        "\"lead_time_days\":0,\"schedule\":[{\"gpus\":2000,\"days\":120},{\"gpus\":500,\"days\":"
        "180}]}}},"
        "{\"external_id\":\"c\",\"kind\":\"removed\",\"fields\":[],\"before\":null,\"after\":null}"
        "]");
    buf_free(&out);
    arena_free(&arena);
}

Test(change_json, every_field_can_be_written)
{
    struct arena arena = {0};
    struct buf out = {0};
    struct change_set set = test_change_set(&arena, 1, 1);
    test_change(&set, CHANGE_UPDATED, "a", test_full_offer(&arena, "a"));
    set.changes[0].before = test_offer(&arena, "a", 1);
    set.changes[0].fields = (UINT32_C(1) << OFFER_FIELD_COUNT) - 1;
    cr_expect(change_json_write(&out, &set));
    json_error_t error;
    json_t *root = json_loads(out.data, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "%s", error.text);
    const json_t *after = json_object_get(json_array_get(root, 0), "after");
    cr_expect(json_object_size(after) == OFFER_FIELD_COUNT);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)after, key, value) cr_expect(!json_is_null(value), "%s", key);
    json_decref(root);
    buf_free(&out);
    arena_free(&arena);
}

Test(change_json, it_stops_at_its_bounds)
{
    struct arena arena = {0};
    struct buf out = {0};
    struct change_set set = test_change_set(&arena, 1, CHANGE_JSON_MAX + 1);
    for (int i = 0; i <= CHANGE_JSON_MAX; i++)
        test_change(&set, CHANGE_REMOVED, arena_printf(&arena, "o%d", i), NULL);
    cr_expect(!change_json_write(&out, &set));
    json_error_t error;
    json_t *root = json_loads(out.data, 0, &error);
    cr_expect(json_array_size(root) == CHANGE_JSON_MAX);
    json_decref(root);
    buf_clear(&out);
    set.change_count = CHANGE_JSON_MAX;
    cr_expect(change_json_write(&out, &set));
    buf_clear(&out);

    char *name = arena_alloc(&arena, 2001);
    memset(name, 'x', 2000);
    name[2000] = '\0';
    for (size_t i = 0; i < set.change_count; i++)
        set.changes[i].external_id = name;
    cr_expect(!change_json_write(&out, &set));
    cr_expect(out.length <= CHANGE_JSON_MAX_BYTES + 1);
    root = json_loads(out.data, 0, &error);
    cr_expect(json_array_size(root) > 100);
    json_decref(root);
    buf_free(&out);
    arena_free(&arena);
}
