/* What the reader takes, what it refuses, and that numbers stay as they were written. */
#include "server/inventory/json_reader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(json_reader, .timeout = 20);

static struct json_value *read_text(struct json_reader *reader, struct arena *arena,
                                    const char *text, size_t length)
{
    json_reader_init(reader, text, length, arena);
    struct json_value *value = json_reader_value(reader);
    if (value != NULL && (json_reader_peek(reader), reader->at < reader->end))
        return NULL;
    return value;
}

Test(json_reader, takes_what_the_standard_allows)
{
    static const char *const good[] = {
        "0",
        "-0",
        "1.5e+10",
        "1E-2",
        "\"\"",
        "\"\\u00e9\\n\\/\\\"\"",
        "\"\\ud83d\\ude00\"",
        "[]",
        " [ 1 , [ ] , { } ] ",
        "{\"a\":null,\"b\":true,\"c\":false}",
        "\"\xc3\xa9\"",
        "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct json_reader reader;
        struct arena arena = {0};
        cr_expect(read_text(&reader, &arena, good[i], strlen(good[i])) != NULL, "%s: %s", good[i],
                  reader.error);
        arena_free(&arena);
    }
}

Test(json_reader, refuses_the_rest)
{
    static const char *const bad[] = {
        "",
        "nul",
        "NaN",
        "Infinity",
        "-",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "0x10",
        "'a'",
        "\"a",
        "\"\x01\"",
        "\"\\x41\"",
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\xff\"",
        "\"\xc0\xaf\"",     /* overlong */
        "\"\xed\xa0\x80\"", /* a surrogate */
        "[1,]",
        "[1 2]",
        "{\"a\":1,}",
        "{a:1}",
        "{\"a\" 1}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"\\u0061\":2}",
        "{\"a\":1}}",
        "1 2",
        "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
        "// note\n1",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct json_reader reader;
        struct arena arena = {0};
        cr_expect(read_text(&reader, &arena, bad[i], strlen(bad[i])) == NULL, "%s", bad[i]);
        arena_free(&arena);
    }
}

Test(json_reader, keeps_numbers_as_written)
{
    struct json_reader reader;
    struct arena arena = {0};
    const char *text = "[2.49, 2.4900000000000002, 1e2, 123456789012345678901234567890]";
    static const char *const written[] = {"2.49", "2.4900000000000002", "1e2",
                                          "123456789012345678901234567890"};
    struct json_value *list = read_text(&reader, &arena, text, strlen(text));
    cr_assert(list != NULL && list->length == 4);
    size_t i = 0;
    for (struct json_value *item = list->first; item != NULL; item = item->next)
        cr_expect_str_eq(item->text, written[i++]);
    arena_free(&arena);
}

Test(json_reader, decodes_escapes)
{
    struct json_reader reader;
    struct arena arena = {0};
    const char *text = "\"a\\u00e9\\ud83d\\ude00\\t\\\\\"";
    struct json_value *value = read_text(&reader, &arena, text, strlen(text));
    cr_assert(value != NULL);
    cr_expect_str_eq(value->text, "a\xc3\xa9\xf0\x9f\x98\x80\t\\");
    arena_free(&arena);
}

/* An object of many members would make the search for a name twice quadratic. */
Test(json_reader, bounds_the_members_of_an_object)
{
    struct buf {
        char text[65536];
        size_t length;
    } buf = {.length = 0};
    buf.length += (size_t)snprintf(buf.text, sizeof(buf.text), "{");
    for (int i = 0; i < 300; i++)
        buf.length += (size_t)snprintf(buf.text + buf.length, sizeof(buf.text) - buf.length,
                                       "%s\"m%d\":1", i == 0 ? "" : ",", i);
    buf.length += (size_t)snprintf(buf.text + buf.length, sizeof(buf.text) - buf.length, "}");
    struct json_reader reader;
    struct arena arena = {0};
    cr_expect(read_text(&reader, &arena, buf.text, buf.length) == NULL);
    cr_expect(strstr(reader.error, "256 members") != NULL, "%s", reader.error);
    arena_free(&arena);
}

/* Every way of cutting a document short is seen as such. */
Test(json_reader, tells_cut_short_from_wrong)
{
    const char *text = "{\"a\":[1.25,true,null],\"b\":{\"c\":\"\\u00e9x\"}}";
    for (size_t cut = 1; cut < strlen(text); cut++) {
        struct json_reader reader;
        struct arena arena = {0};
        cr_expect(read_text(&reader, &arena, text, cut) == NULL, "cut at %zu", cut);
        arena_free(&arena);
    }
    struct json_reader reader;
    struct arena arena = {0};
    read_text(&reader, &arena, "{\"a\":12", 7);
    cr_expect(reader.hit_end);
    read_text(&reader, &arena, "{\"a\":?, \"bcdefgh\":12345678}", 26);
    cr_expect(!reader.hit_end);
    arena_free(&arena);
}
