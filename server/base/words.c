/* utf8proc folds; what is no letter, mark or digit parts words. */
#include "server/base/words.h"

#include "server/base/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static bool belongs_to_word(utf8proc_int32_t codepoint)
{
    switch (utf8proc_category(codepoint)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return false;
    }
}

char *words_fold(const char *text, size_t *ret_count)
{
    utf8proc_uint8_t *folded = NULL;
    const utf8proc_option_t options = UTF8PROC_NULLTERM | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                                      UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK | UTF8PROC_IGNORE;
    utf8proc_ssize_t rest = utf8proc_map((const utf8proc_uint8_t *)text, 0, &folded, options);
    char *words = xcalloc(rest < 0 ? 2 : (size_t)rest + 2, 1);
    size_t count = 0, length = 0;
    bool inside = false;
    for (const utf8proc_uint8_t *at = folded; rest > 0;) {
        utf8proc_int32_t codepoint;
        utf8proc_ssize_t used = utf8proc_iterate(at, rest, &codepoint);
        if (used <= 0)
            break;
        if (belongs_to_word(codepoint)) {
            count += !inside;
            memcpy(words + length, at, (size_t)used);
            length += (size_t)used;
            inside = true;
        } else if (inside) {
            words[length++] = '\0';
            inside = false;
        }
        at += used;
        rest -= used;
    }
    free(folded);
    if (ret_count != NULL)
        *ret_count = count;
    return words;
}

const char *words_next(const char *word)
{
    return word + strlen(word) + 1;
}
