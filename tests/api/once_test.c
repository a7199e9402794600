/* An Idempotency-Key on every write: the same request gets the same answer and is done once. */
#include "tests/support/test_api.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_api api;
static char key[64];

static void set_up(void)
{
    test_api_start(&api);
    test_api_provider(&api, "acme", key);
}

static void tear_down(void)
{
    test_api_stop(&api);
}

TestSuite(api_once, .timeout = 120, .init = set_up, .fini = tear_down);

#define JSON "content-type: application/json\nidempotency-key: "

struct call {
    const char *method, *target, *body, *other_body; /* other_body NULL: no body is looked at */
    bool by_provider;
};

static struct loopback_reply send(const struct call *call, const char *name, const char *body)
{
    char headers[120];
    snprintf(headers, sizeof(headers), JSON "%s", name);
    return test_api_call(&api, call->method, call->target, call->by_provider ? key : api.admin_key,
                         headers, body);
}

Test(api_once, every_small_write_is_done_once)
{
    static const struct call calls[] = {
        {"POST", "/v1/admin/providers", "{\"slug\":\"beta\",\"name\":\"Beta\"}",
         "{\"slug\":\"gamma\",\"name\":\"Gamma\"}", false},
        {"PATCH", "/v1/admin/providers/beta", "{\"name\":\"Betty\"}", "{\"name\":\"Bet\"}", false},
        {"POST", "/v1/admin/aliases", "{\"kind\":\"gpu\",\"name\":\"q9\",\"slug\":\"l4\"}",
         "{\"kind\":\"gpu\",\"name\":\"q9\",\"slug\":\"t4\"}", false},
        {"DELETE", "/v1/admin/aliases/gpu/q9", "", NULL, false},
        {"PUT", "/v1/providers/acme/profile", "{\"contact\":\"a\"}", "{\"contact\":\"b\"}", true},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char name[20];
        snprintf(name, sizeof(name), "once-%zu", i);
        struct loopback_reply first = send(&calls[i], name, calls[i].body);
        struct loopback_reply again = send(&calls[i], name, calls[i].body);
        cr_expect(first.status == 200 || first.status == 201, "%s %s is %d: %s", calls[i].method,
                  calls[i].target, first.status, first.body);
        cr_expect(again.status == first.status, "%s again is %d", calls[i].target, again.status);
        cr_expect_str_eq(again.body, first.body);
        char *replayed = test_reply_header(&again, "idempotency-replayed");
        cr_expect_not_null(replayed);
        free(replayed);
        replayed = test_reply_header(&first, "idempotency-replayed");
        cr_expect_null(replayed);
        free(replayed);
        loopback_reply_free(&first);
        loopback_reply_free(&again);
        if (calls[i].other_body == NULL)
            continue;
        struct loopback_reply other = send(&calls[i], name, calls[i].other_body);
        cr_expect(other.status == 422 && strstr(other.body, "idempotency-key-reused") != NULL,
                  "%s with another body is %d", calls[i].target, other.status);
        loopback_reply_free(&other);
    }
    cr_expect(test_api_status(&api, "GET", "/v1/providers/gamma", NULL, NULL, NULL) == 404);
}

Test(api_once, a_key_is_made_once_and_shown_once)
{
    static const struct call call = {"POST", "/v1/admin/keys", "{\"provider\":\"acme\"}",
                                     "{\"admin\":true}", false};
    struct loopback_reply first = send(&call, "k", call.body), again = send(&call, "k", call.body);
    cr_expect(first.status == 201 && again.status == 201);
    json_t *made = json_loads(first.body, 0, NULL), *kept = json_loads(again.body, 0, NULL);
    const char *text = json_string_value(json_object_get(made, "key"));
    cr_assert_not_null(text);
    cr_expect(json_equal(json_object_get(made, "id"), json_object_get(kept, "id")));
    cr_expect(json_is_null(json_object_get(kept, "key")), "no secret is kept");
    int status;
    json_t *list = test_api_json(&api, "GET", "/v1/admin/keys", api.admin_key, NULL, &status);
    cr_expect(json_array_size(json_object_get(list, "data")) == 3, "the operator's, acme's, one");
    cr_expect(test_api_status(&api, "GET", "/v1/providers/acme/uploads", text, NULL, NULL) == 200);
    char target[60];
    snprintf(target, sizeof(target), "/v1/admin/keys/%lld",
             (long long)json_integer_value(json_object_get(made, "id")));
    const struct call revoke = {"DELETE", target, "", NULL, false};
    struct loopback_reply gone = send(&revoke, "r", ""), same = send(&revoke, "r", "");
    cr_expect(gone.status == 200 && same.status == 200);
    cr_expect(test_api_status(&api, "GET", "/v1/providers/acme/uploads", text, NULL, NULL) == 401);
    json_decref(made);
    json_decref(kept);
    json_decref(list);
    loopback_reply_free(&first);
    loopback_reply_free(&again);
    loopback_reply_free(&gone);
    loopback_reply_free(&same);
}

Test(api_once, what_is_refused_is_not_kept)
{
    static const struct call call = {"POST", "/v1/admin/providers",
                                     "{\"slug\":\"acme\",\"name\":\"A\"}",
                                     "{\"slug\":\"delta\",\"name\":\"D\"}", false};
    struct loopback_reply refused = send(&call, "x", call.body);
    cr_expect(refused.status == 409);
    struct loopback_reply taken = send(&call, "x", call.other_body);
    cr_expect(taken.status == 201, "the key is free: %d", taken.status);
    struct loopback_reply bad = send(&call, "a b", call.body);
    cr_expect(bad.status == 400 && strstr(bad.body, "Idempotency-Key") != NULL);
    loopback_reply_free(&refused);
    loopback_reply_free(&taken);
    loopback_reply_free(&bad);
}
