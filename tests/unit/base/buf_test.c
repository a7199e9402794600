/* Buffers, arenas and JSON writing. */
#include "server/base/arena.h"
#include "server/base/buf.h"
#include "server/base/nearest.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

TestSuite(buf, .timeout = 20);

Test(buf, strings_are_json_whatever_they_hold)
{
    static const char *const texts[] = {"",
                                        "plain",
                                        "a\"b\\c",
                                        "line\nfeed\ttab\r",
                                        "\x01\x1f\x7f",
                                        "caf\xc3\xa9 \xe2\x80\xa8 \xf0\x9f\x98\x80",
                                        "</script>"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct buf out = {0};
        buf_add_char(&out, '[');
        buf_add_json_string(&out, texts[i]);
        buf_add_char(&out, ']');
        json_t *list = json_loadb(out.data, out.length, 0, NULL);
        cr_assert(list != NULL, "%s is no JSON", out.data);
        cr_expect_str_eq(json_string_value(json_array_get(list, 0)), texts[i]);
        cr_expect(memchr(out.data, '\n', out.length) == NULL);
        json_decref(list);
        buf_free(&out);
    }
}

Test(buf, members_are_separated_and_unknown_is_null)
{
    struct buf out = {0};
    buf_add_char(&out, '{');
    buf_add_json_member_string(&out, "a", NULL);
    buf_add_json_member_int(&out, "b", -1);
    buf_add_json_member_decimal(&out, "c", 43058, 6);
    buf_add_json_member_decimal(&out, "d", 0, 3);
    buf_add_json_member_tristate(&out, "e", -1);
    buf_add_json_member_tristate(&out, "f", 0);
    buf_add_json_member_bool(&out, "g", true);
    buf_add_char(&out, '}');
    cr_expect_str_eq(
        out.data,
        "{\"a\":null,\"b\":null,\"c\":0.043058,\"d\":0,\"e\":null,\"f\":false,\"g\":true}");
    buf_free(&out);
}

Test(buf, grows_and_is_given_away)
{
    struct buf out = {0};
    for (int i = 0; i < 10000; i++)
        buf_printf(&out, "%d,", i);
    size_t length;
    char *data = buf_detach(&out, &length);
    cr_expect(strlen(data) == length && strncmp(data, "0,1,2,", 6) == 0 && out.data == NULL);
    free(data);
    buf_add_decimal(&out, INT64_MIN, 0);
    cr_expect_str_eq(out.data, "-9223372036854775808");
    buf_free(&out);
}

Test(buf, arenas_keep_what_they_gave)
{
    struct arena arena = {0};
    char *texts[500];
    for (int i = 0; i < 500; i++)
        texts[i] = arena_printf(&arena, "%0*d", i, i);
    for (int i = 1; i < 500; i++)
        cr_expect((int)strlen(texts[i]) == i && atoi(texts[i]) == i);
    void *large = arena_alloc(&arena, 5 << 20);
    cr_expect((uintptr_t)large % 16 == 0);
    memset(large, 1, 5 << 20);
    arena_reset(&arena);
    cr_expect(arena.allocated_bytes >= 5 << 20, "the largest block is kept");
    arena_free(&arena);
    cr_expect(arena.blocks == NULL && arena_strdup(&arena, NULL) == NULL);
    int *zeros = arena_calloc(&arena, 1000, sizeof(*zeros));
    for (int i = 0; i < 1000; i++)
        cr_assert(zeros[i] == 0);
    arena_free(&arena);
}

Test(buf, the_nearest_name_is_near)
{
    static const char *const names[] = {"gpu", "region", "max_price", "min_price", NULL, "billing"};
    cr_expect_str_eq(nearest_name("gpuu", names, 6), "gpu");
    cr_expect_str_eq(nearest_name("maxprice", names, 6), "max_price");
    cr_expect_str_eq(nearest_name("REGION", names, 6), "region");
    cr_expect(nearest_name("nonsense", names, 6) == NULL);
    cr_expect(edit_distance("kitten", "sitting") == 3 && edit_distance("", "abc") == 3);
}
