/* Extra names: found by exact key, wherever in the set. */
#include "server/reference/alias.h"

#include <criterion/criterion.h>

TestSuite(alias, .timeout = 10);

Test(alias, finds_each_key_and_nothing_between)
{
    static const struct alias items[] = {
        {"a100x", "a100"}, {"bigcard", "h100-sxm"}, {"c", "l4"}, {"zz", "t4"}};
    for (size_t count = 0; count <= 4; count++) {
        struct alias_set set = {items, count};
        for (size_t i = 0; i < 4; i++) {
            const char *slug = alias_set_find(&set, items[i].key);
            if (i < count)
                cr_expect(slug == items[i].slug, "%s of %zu", items[i].key, count);
            else
                cr_expect(slug == NULL, "%s of %zu", items[i].key, count);
        }
        static const char *const absent[] = {"", "a100", "a100x0", "bigcar", "d", "zzz"};
        for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
            cr_expect(alias_set_find(&set, absent[i]) == NULL, "%s of %zu", absent[i], count);
    }
}

Test(alias, no_set_holds_nothing)
{
    cr_expect(alias_set_find(NULL, "h100") == NULL);
}
