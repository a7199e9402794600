/* Names of GPUs and places that nobody knows, and what operators say they mean. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "db/alias.h"
#include "db/provider.h"
#include "server/api/json_body.h"
#include "server/api/once.h"
#include "server/sync/write.h"

#include <string.h>

/* ---- names that mean nothing ---- */

static void list_unrecognized(struct request *request, struct reply *reply, struct worker *worker,
                              const char *provider_or_null)
{
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct unrecognized_name *names;
    size_t count;
    enum db_status status =
        db_unrecognized_list(connection, provider_or_null, &request->arena, &names, &count);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    whole_list_begin(reply);
    for (size_t i = 0; i < count; i++) {
        buf_add_string(&reply->body, i > 0 ? ",{" : "{");
        buf_add_json_member_string(&reply->body, "kind", alias_kind_name(names[i].kind));
        buf_add_json_member_string(&reply->body, "provider", names[i].provider);
        buf_add_json_member_string(&reply->body, "name", names[i].name);
        buf_add_json_member_int(&reply->body, "offers", names[i].offers);
        buf_add_json_member_string(&reply->body, "nearest",
                                   alias_nearest_target(names[i].kind, names[i].name));
        buf_add_char(&reply->body, '}');
    }
    whole_list_end(reply, count);
}

void unrecognized_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    (void)request_check_parameters(request, reply, allowed);
}

void admin_unrecognized_list(struct request *request, struct reply *reply, struct worker *worker)
{
    list_unrecognized(request, reply, worker, NULL);
}

void provider_unrecognized_list(struct request *request, struct reply *reply, struct worker *worker)
{
    struct db_connection *connection = worker_database(request, reply, worker);
    struct provider provider;
    if (connection == NULL)
        return;
    enum db_status status =
        db_provider_find(connection, request->captures[0], &request->arena, &provider);
    if (status == DB_OK)
        list_unrecognized(request, reply, worker, provider.slug);
    else if (status == DB_NONE)
        reply_not_found(request, reply, "No provider has this slug.");
    else
        reply_database_failed(request, reply, status);
}

/* ---- what operators say they mean ---- */

static void write_name(struct buf *out, const struct operator_name *name)
{
    buf_add_json_member_string(out, "kind", alias_kind_name(name->kind));
    buf_add_json_member_string(out, "provider", name->provider[0] == '\0' ? NULL : name->provider);
    buf_add_json_member_string(out, "name", name->name);
    buf_add_json_member_string(out, "slug", name->slug);
}

void admin_aliases_list(struct request *request, struct reply *reply, struct worker *worker)
{
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct operator_name *names;
    size_t count;
    enum db_status status = db_alias_list(connection, &request->arena, &names, &count);
    if (status != DB_OK) {
        reply_database_failed(request, reply, status);
        return;
    }
    whole_list_begin(reply);
    for (size_t i = 0; i < count; i++) {
        buf_add_string(&reply->body, i > 0 ? ",{" : "{");
        write_name(&reply->body, &names[i]);
        buf_add_char(&reply->body, '}');
    }
    whole_list_end(reply, count);
}

/* Writes it, brings this node up to it, and answers with what it did. */
static void apply(struct request *request, struct reply *reply, struct worker *worker,
                  const struct operator_name *name)
{
    struct app *app = request->app;
    struct alias_effect effect;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL)
        return;
    struct once once;
    if (!once_begin(&once, request, reply, connection))
        return;
    enum db_status status =
        db_alias_change(connection, name, request_actor(request), &request->arena, &effect);
    if (status == DB_NONE) {
        reply_not_found(request, reply, "No operator gave this name.");
    } else if (status == DB_CONFLICT) {
        reply_not_found(request, reply, "No provider has this slug.");
    } else if (status != DB_OK) {
        reply_database_failed(request, reply, status);
    } else {
        buf_add_char(&reply->body, '{');
        write_name(&reply->body, name);
        buf_add_json_member_int(&reply->body, "offers", (int64_t)effect.offers);
        buf_add_json_member_int(&reply->body, "providers", (int64_t)effect.provider_count);
        buf_add_char(&reply->body, '}');
        reply->status = 200;
    }
    if (!once_end(&once, request, reply, NULL))
        return;
    /* Where this fails, the next poll does it. */
    (void)node_reload_names(app->node, connection, false);
    for (size_t i = 0; i < effect.provider_count; i++)
        publish_provider(app->node, connection, &effect.providers[i], &request->arena);
}

/* Refuses a slug that means nothing here, with the nearest one that does. */
static void check_slug(struct json_body *body, enum alias_kind kind, const char *slug)
{
    if (alias_target_is_known(kind, slug))
        return;
    const char *nearest = alias_nearest_target(kind, slug);
    json_body_refuse(body, "slug", "unknown_value",
                     arena_printf(&body->request->arena, "No %s has the slug %.80s.%s%s%s",
                                  alias_kind_name(kind), slug,
                                  nearest == NULL ? "" : " Did you mean ",
                                  nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?"));
}

void admin_aliases_set(struct request *request, struct reply *reply, struct worker *worker)
{
    struct json_body body;
    struct operator_name name = {.provider = ""};
    const char *kind = NULL;
    char key[ALIAS_KEY_SIZE];
    if (!json_body_parse(&body, request, reply))
        return;
    json_body_text(&body, "kind", 20, &kind);
    json_body_text(&body, "provider", PROVIDER_SLUG_MAX, &name.provider);
    json_body_text(&body, "name", ALIAS_NAME_MAX_BYTES, &name.name);
    json_body_text(&body, "slug", 80, &name.slug);
    bool known = kind != NULL && alias_kind_parse(kind, &name.kind);
    if (kind == NULL)
        json_body_refuse(&body, "kind", "missing_field", "kind is required: gpu or place.");
    else if (!known)
        json_body_refuse(&body, "kind", "unknown_value", "kind is gpu or place.");
    if (name.name == NULL)
        json_body_refuse(&body, "name", "missing_field", "name is required.");
    else if (known && !alias_key(name.kind, name.provider, name.name, key))
        json_body_refuse(&body, "name", "malformed", "A name has at least one letter or digit.");
    if (name.slug == NULL)
        json_body_refuse(&body, "slug", "missing_field", "slug is required.");
    else if (known)
        check_slug(&body, name.kind, name.slug);
    if (known && name.kind == ALIAS_GPU && name.provider[0] != '\0')
        json_body_refuse(&body, "provider", "not_allowed",
                         "A GPU's name is everybody's; only places have a provider's own.");
    bool good = json_body_finish(&body);
    json_body_free(&body);
    if (good)
        apply(request, reply, worker, &name);
}

void admin_alias_remove_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"provider", NULL};
    (void)request_check_parameters(request, reply, allowed);
}

void admin_alias_remove(struct request *request, struct reply *reply, struct worker *worker)
{
    const char *provider = request_parameter(request, "provider");
    struct operator_name name = {
        .provider = provider == NULL ? "" : provider,
        .name = request->captures[1],
    };
    char key[ALIAS_KEY_SIZE];
    if (!alias_kind_parse(request->captures[0], &name.kind) ||
        !alias_key(name.kind, name.provider, name.name, key)) {
        reply_not_found(request, reply, "No operator gave this name.");
        return;
    }
    if (name.kind == ALIAS_GPU && provider != NULL) {
        const struct problem_item item = {
            .parameter = "provider",
            .code = "not_allowed",
            .message = "A GPU's name is everybody's; only places have a provider's own.",
        };
        reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
        return;
    }
    apply(request, reply, worker, &name);
}
