/* Which texts may be stored. */
#include "server/inventory/text.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(text, .timeout = 10);

Test(text, what_is_seen_is_clean)
{
    static const char *const clean[] = {"",
                                        "H100 SXM5",
                                        " x ",
                                        "Z\xc3\xbcrich",
                                        "\xe6\x9d\xb1\xe4\xba\xac",
                                        "\xe2\x80\x93",
                                        "\xf0\x9f\x9a\x80"};
    for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
        cr_expect(text_is_clean(clean[i], strlen(clean[i])), "%s", clean[i]);
}

Test(text, controls_invisible_characters_and_blanks_are_not)
{
    static const char *const unclean[] = {" ",
                                          "   ",
                                          "a\tb",
                                          "a\x7f",
                                          "\xc2\x85", /* C1: next line */
                                          "a\xe2\x80\x8b"
                                          "b", /* zero-width space */
                                          "\xe2\x80\xae"
                                          "abc",            /* right-to-left override */
                                          "\xe2\x81\xa6x",  /* isolate */
                                          "\xef\xbb\xbfx"}; /* byte order mark */
    for (size_t i = 0; i < sizeof(unclean) / sizeof(unclean[0]); i++)
        cr_expect(!text_is_clean(unclean[i], strlen(unclean[i])), "number %zu", i);
    cr_expect(!text_is_clean("a\0b", 3));
}
