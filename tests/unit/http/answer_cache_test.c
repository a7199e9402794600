/* Kept answers: what comes back, to whom, how much of it, and what the replies that share one may
 * rely on. */
#include "server/http/answer_cache.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(answer_cache, .timeout = 60);

static char tag[40];
static struct answer_key key_of(unsigned number, bool gzip)
{
    snprintf(tag, sizeof(tag), "\"%022u\"", number);
    return (struct answer_key){tag, gzip};
}

static void let_go(struct reply *reply)
{
    if (reply->fixed_release != NULL)
        reply->fixed_release(reply->fixed_owner);
    buf_free(&reply->body);
    *reply = (struct reply){0};
}

/* Puts `size` bytes that tell of the number; whether the reply shares them now. */
static bool put(struct answer_cache *cache, unsigned number, size_t size)
{
    struct answer_key key = key_of(number, false);
    struct reply reply = {.encoded = true};
    for (size_t i = 0; i < size; i++)
        buf_add_char(&reply.body, (char)('a' + number % 26));
    answer_cache_put(cache, &key, &reply, number % 2 == 0 ? "note" : NULL);
    bool shares = reply.fixed != NULL;
    cr_assert_eq(shares ? reply.fixed_length : reply.body.length, size, "the body is there");
    let_go(&reply);
    return shares;
}

static bool find(struct answer_cache *cache, unsigned number, bool gzip, struct reply *reply)
{
    const char *note;
    struct answer_key key = key_of(number, gzip);
    bool found = answer_cache_find(cache, &key, reply, &note);
    cr_assert(!found || reply->fixed[0] == 'a' + number % 26, "its own bytes");
    cr_assert(!found || (note != NULL) == (number % 2 == 0), "its own note");
    return found;
}

Test(answer_cache, keeps_what_is_asked_for_twice)
{
    struct answer_cache *cache = answer_cache_new(1 << 20);
    struct reply reply = {0};
    cr_expect_not(find(cache, 1, false, &reply));
    cr_expect_not(put(cache, 1, 1000), "the first time it is not kept");
    cr_expect_not(find(cache, 1, false, &reply));
    cr_expect_eq(answer_cache_bytes(cache), 0);
    cr_expect(put(cache, 1, 1000));
    cr_assert(find(cache, 1, false, &reply));
    cr_expect(reply.fixed_length == 1000 && reply.encoded && !reply.gzip);
    let_go(&reply);
    cr_expect_not(find(cache, 1, true, &reply), "the compressed one is another answer");
    cr_expect_not(find(cache, 2, false, &reply));
    answer_cache_free(cache);
}

Test(answer_cache, never_holds_more_than_it_may)
{
    struct answer_cache *cache = answer_cache_new(1 << 20);
    struct reply first = {0};
    put(cache, 0, 5000);
    cr_assert(put(cache, 0, 5000) && find(cache, 0, false, &first));
    for (unsigned number = 1; number < 3000; number++) {
        put(cache, number, 1000 + number % 9000);
        put(cache, number, 1000 + number % 9000);
        cr_assert_leq(answer_cache_bytes(cache), (size_t)1 << 20);
    }
    cr_expect_gt(answer_cache_bytes(cache), (size_t)1 << 19, "and uses most of that");
    for (size_t i = 0; i < first.fixed_length; i++)
        cr_assert_eq(first.fixed[i], 'a', "what was thrown out meanwhile stays for its reply");
    let_go(&first);
    put(cache, 9999, 100000);
    cr_expect_not(put(cache, 9999, 100000), "no single one takes much of it");
    answer_cache_free(cache);
}

Test(answer_cache, none_is_an_empty_one)
{
    struct reply reply = {0};
    cr_assert_null(answer_cache_new(0));
    cr_expect_not(find(NULL, 1, false, &reply));
    put(NULL, 1, 10);
    cr_expect_not(put(NULL, 1, 10));
    cr_expect_eq(answer_cache_bytes(NULL), 0);
    answer_cache_free(NULL);
}
