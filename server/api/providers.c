/* The provider directory, one offer by its provider's own id, and a provider's own profile. */
#include "server/api/app.h"
#include "server/api/resources.h"

#include "db/provider.h"
#include "server/api/json_body.h"
#include "server/api/once.h"
#include "server/base/decimal.h"
#include "server/base/timestamp.h"
#include "server/sync/write.h"

#include <string.h>

/* `summary` is of its offers. */
static void write_facts(struct buf *out, const struct provider *provider,
                        const struct offer_summary *summary)
{
    char updated[TIMESTAMP_TEXT_SIZE];
    if (provider->updated_at_us != TIMESTAMP_UNKNOWN)
        timestamp_print(provider->updated_at_us, updated);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "slug", provider->slug);
    buf_add_json_member_string(out, "name", provider->name);
    buf_add_json_member_string(out, "kind", provider_kind_name(provider->kind));
    buf_add_json_member_string(out, "resells", provider->resells);
    buf_add_json_member_string(out, "website", provider->website);
    buf_add_json_member_string(out, "contact", provider->contact);
    buf_add_json_member_int(out, "freshness_hours", provider->freshness_hours);
    buf_add_json_key(out, "trust");
    buf_add_char(out, '{');
    buf_add_json_member_decimal(out, "sla_percent", provider->trust.sla_percent_milli, 3);
    buf_add_json_member_tristate(out, "burn_in", provider->trust.burn_in);
    buf_add_json_member_tristate(out, "monitoring", provider->trust.monitoring);
    buf_add_json_member_tristate(out, "on_site", provider->trust.on_site);
    buf_add_char(out, '}');
    buf_add_json_member_string(out, "trust_score", NULL);
    buf_add_json_member_bool(out, "suspended", provider->suspended);
    write_summary(out, summary, false);
    buf_add_json_member_string(out, "updated_at",
                               provider->updated_at_us == TIMESTAMP_UNKNOWN ? NULL : updated);
    buf_add_json_member_int(out, "version", provider->version);
    buf_add_char(out, '}');
}

static void write_provider(struct buf *out, struct snapshot *snapshot, size_t index, int64_t now_us)
{
    struct offer_summary summary = snapshot_provider_summary(snapshot, index, now_us);
    write_facts(out, snapshot_provider(snapshot, index), &summary);
}

void providers_list(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {"limit", "cursor", "kind", NULL};
    struct app *app = request->app;
    struct list_page page;
    if (!request_check_parameters(request, reply, allowed) ||
        !list_page_parse(request, reply, "providers", &page))
        return;
    const char *kind_text = request_parameter(request, "kind");
    enum provider_kind kind = PROVIDER_KIND_COUNT;
    if (kind_text != NULL && !provider_kind_parse(kind_text, &kind)) {
        const struct problem_item item = {
            .parameter = "kind",
            .code = "unknown_value",
            .message = "kind is one of hyperscaler, gpu_cloud, marketplace, colocation, reseller.",
        };
        reply_problem(request, reply, 400, "bad-parameter", item.message, &item, 1);
        return;
    }
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    reply->etag = snapshot_etag(request, snapshot, NULL);
    if (!reply_not_modified(request, reply, reply->etag)) {
        size_t total = 0, shown = 0;
        const char *last = NULL, *cursor = NULL;
        buf_add_string(&reply->body, "{\"data\":[");
        for (size_t i = 0; i < snapshot_provider_count(snapshot); i++) {
            const struct provider *provider = snapshot_provider(snapshot, i);
            if (kind_text != NULL && provider->kind != kind)
                continue;
            total++;
            if (page.after != NULL && strcmp(provider->slug, page.after) <= 0)
                continue;
            if (shown == page.limit) {
                if (cursor == NULL)
                    cursor = list_page_cursor(request, "providers", last);
                continue;
            }
            if (shown++ > 0)
                buf_add_char(&reply->body, ',');
            write_provider(&reply->body, snapshot, i, request->received_at_us);
            last = provider->slug;
        }
        list_page_finish(request, reply, &page, total, cursor, snapshot_as_of_us(snapshot));
    }
    snapshot_release(snapshot);
}

/* Index of the provider named by captures[0], or the count of providers and a 404 in the reply. */
static size_t find_provider(struct request *request, struct reply *reply,
                            const struct snapshot *snapshot)
{
    size_t count = snapshot_provider_count(snapshot);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(snapshot_provider(snapshot, i)->slug, request->captures[0]) == 0)
            return i;
    }
    reply_not_found(request, reply, "No provider has this slug; GET /v1/providers lists them.");
    return count;
}

void provider_get(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    struct app *app = request->app;
    if (!request_check_parameters(request, reply, allowed))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    size_t index = find_provider(request, reply, snapshot);
    if (index < snapshot_provider_count(snapshot)) {
        reply->etag = snapshot_etag(request, snapshot, NULL);
        if (!reply_not_modified(request, reply, reply->etag)) {
            write_provider(&reply->body, snapshot, index, request->received_at_us);
            reply->status = 200;
        }
    }
    snapshot_release(snapshot);
}

void provider_offer_get(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    struct app *app = request->app;
    if (!request_check_parameters(request, reply, allowed))
        return;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    int64_t version;
    if (find_provider(request, reply, snapshot) == snapshot_provider_count(snapshot)) {
        snapshot_release(snapshot);
        return;
    }
    if (snapshot_write_offer(snapshot, request->captures[0], request->captures[1],
                             request->received_at_us, &reply->body, &version)) {
        reply->etag = arena_printf(&request->arena, "\"v%lld\"", (long long)version);
        if (!reply_not_modified(request, reply, reply->etag))
            reply->status = 200;
    } else {
        reply_not_found(request, reply, "This provider has no offer with that external_id.");
    }
    snapshot_release(snapshot);
}

void profile_put_prepare(struct request *request, struct reply *reply)
{
    static const char *const allowed[] = {NULL};
    if (request_check_parameters(request, reply, allowed))
        (void)json_body_check_type(request, reply);
}

/* The facts a provider may state about itself; what is left out becomes unknown, since PUT
 * replaces. */
static bool read_profile(struct json_body *body, struct provider *provider)
{
    int64_t freshness = PROVIDER_FRESHNESS_HOURS_DEFAULT, sla = UNKNOWN;
    const char *name = provider->name;
    json_body_text(body, "name", PROVIDER_NAME_MAX_BYTES, &name);
    provider->website = provider->contact = NULL;
    json_body_url(body, "website", &provider->website);
    json_body_text(body, "contact", 200, &provider->contact);
    json_body_nullable_decimal(body, "freshness_hours", 0, 1, 87600, &freshness);
    json_body_decimal(body, "sla_percent", 3, 0, 100000, &sla);
    provider->trust =
        (struct trust_facts){.burn_in = UNKNOWN, .monitoring = UNKNOWN, .on_site = UNKNOWN};
    json_body_tristate(body, "burn_in", &provider->trust.burn_in);
    json_body_tristate(body, "monitoring", &provider->trust.monitoring);
    json_body_tristate(body, "on_site", &provider->trust.on_site);
    provider->name = name;
    provider->freshness_hours = (int32_t)freshness;
    provider->trust.sla_percent_milli = (int32_t)sla;
    return json_body_finish(body);
}

/* The provider as it is stored now, with what its offers come to. */
static void answer_stored(struct request *request, struct reply *reply,
                          const struct provider *provider)
{
    struct app *app = request->app;
    struct snapshot *snapshot = catalog_acquire(node_catalog(app->node));
    size_t index = find_provider(request, reply, snapshot);
    if (index < snapshot_provider_count(snapshot)) {
        struct offer_summary summary =
            snapshot_provider_summary(snapshot, index, request->received_at_us);
        write_facts(&reply->body, provider, &summary);
        reply->status = 200;
    }
    snapshot_release(snapshot);
}

void profile_put_execute(struct request *request, struct reply *reply, struct worker *worker)
{
    struct app *app = request->app;
    struct json_body body;
    struct provider provider;
    struct once once;
    if (!json_body_parse(&body, request, reply))
        return;
    struct db_connection *connection = worker_database(request, reply, worker);
    if (connection == NULL || !once_begin(&once, request, reply, connection)) {
        json_body_free(&body);
        return;
    }
    /* Locked: every column is written back, those that others change at the same time too. */
    enum db_status status =
        db_inventory_lock(connection, request->captures[0], &request->arena, &provider);
    if (status == DB_OK && read_profile(&body, &provider)) {
        status = db_provider_update(connection, &provider, request_actor(request));
        if (status == DB_OK)
            status = db_provider_find(connection, provider.slug, &request->arena, &provider);
        if (status == DB_OK)
            answer_stored(request, reply, &provider);
    }
    json_body_free(&body);
    if (status == DB_NONE)
        reply_not_found(request, reply, "No provider has this slug.");
    else if (status != DB_OK)
        reply_database_failed(request, reply, status);
    if (once_end(&once, request, reply, NULL))
        publish_provider(app->node, connection, &provider, &request->arena);
}
