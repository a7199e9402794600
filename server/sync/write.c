/* The difference is found against memory before the transaction begins; if the provider moved
 * meanwhile, it is found again against the database under the provider's lock, so that what is
 * written is always exact. */
#include "server/sync/write.h"

#include "db/alias.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/offer_names.h"
#include "server/reference/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WRITE_ATTEMPTS 5
#define REMOVAL_GUARD_OFFERS                                                                       \
    1000 /* DESIGN.md: inventories from this size on ask before losing over half */

bool if_match_holds(const char *header, int64_t version, bool exists)
{
    char wanted[32];
    if (strcmp(header, "*") == 0)
        return exists;
    if (!exists)
        return false;
    char digits[32];
    struct buf number = {0};
    buf_add_int(&number, version);
    memcpy(digits, number.data, number.length + 1);
    buf_free(&number);
    size_t length = (size_t)snprintf(wanted, sizeof(wanted), "\"v%s", digits);
    for (const char *at = header; (at = strstr(at, wanted)) != NULL; at++) {
        /* The tag ends here, or with the suffix of a compressed variant. If-Match compares
         * strongly: W/ never matches. */
        bool weak = at >= header + 2 && at[-1] == '/' && at[-2] == 'W';
        const char *end = at + length;
        if (!weak && (*end == '"' || strncmp(end, "-gzip\"", 6) == 0))
            return true;
    }
    return false;
}

static void hash_of(const struct offer *offer, uint8_t hash[static OFFER_HASH_BYTES])
{
    offer_content_hash(offer, gpu_at(offer->gpu)->slug,
                       offer->place == INDEX_NONE ? NULL : place_at(offer->place)->slug, hash);
}

/* One attempt's state. */
struct attempt {
    struct node *node;
    struct db_connection *connection;
    const struct write_request *request;
    struct arena *arena;
    struct write_result *result;
    struct provider provider;
    int64_t base_version;           /* of the provider before the write */
    size_t stored_offers;           /* before the write */
    const struct alias_sets *names; /* operators' names in force under the lock */
};

static enum write_outcome from_status(enum db_status status)
{
    return status == DB_UNAVAILABLE ? WRITE_UNAVAILABLE
           : status == DB_RETRY     ? WRITE_BUSY
                                    : WRITE_FAILED;
}

/* The one stored offer a patch or delete names, the precondition checked. */
static enum write_outcome find_one(struct attempt *attempt, struct offer *ret_offer)
{
    const struct write_request *request = attempt->request;
    enum db_status status = db_inventory_find(attempt->connection, &attempt->provider,
                                              request->external_id, attempt->arena, ret_offer);
    if (status != DB_OK && status != DB_NONE)
        return from_status(status);
    bool exists = status == DB_OK;
    if (request->if_match != NULL &&
        !if_match_holds(request->if_match, exists ? ret_offer->version : 0, exists))
        return exists ? WRITE_PRECONDITION : WRITE_NO_OFFER;
    return exists ? WRITE_DONE : WRITE_NO_OFFER;
}

static enum write_outcome plan_delete(struct attempt *attempt)
{
    struct offer stored;
    enum write_outcome outcome = find_one(attempt, &stored);
    if (outcome != WRITE_DONE)
        return outcome;
    struct change *change = arena_calloc(attempt->arena, 1, sizeof(*change));
    change->kind = CHANGE_REMOVED;
    change->external_id = attempt->request->external_id;
    attempt->result->change_set = (struct change_set){
        .mode = CHANGE_DELETE,
        .base_version = attempt->provider.version,
        .changes = change,
        .change_count = 1,
        .removed = 1,
    };
    return WRITE_DONE;
}

static enum write_outcome plan_patch(struct attempt *attempt)
{
    const struct write_request *request = attempt->request;
    struct offer stored;
    enum write_outcome outcome = find_one(attempt, &stored);
    if (outcome != WRITE_DONE)
        return outcome;
    struct decode_options options = {
        .format = FORMAT_JSON,
        .provider_slug = request->provider_slug,
        .source_kind = SOURCE_PROVIDER_API,
        .as_of_us = TIMESTAMP_UNKNOWN,
        .aliases = attempt->names,
    };
    struct write_result *result = attempt->result;
    if (inventory_patch(&options, &stored, request->patch, request->patch_length, attempt->arena,
                        &result->upload, &result->error) != DECODE_OK)
        return WRITE_MALFORMED;
    if (result->upload.errors.count > 0 || result->upload.offer_count != 1)
        return WRITE_REJECTED;
    struct baseline_entry entry = {.external_id = stored.external_id};
    hash_of(&stored, entry.hash);
    struct baseline baseline = {
        .version = attempt->provider.version,
        .entries = &entry,
        .entry_count = 1,
    };
    inventory_diff(&result->upload, &baseline, CHANGE_UPSERT, attempt->arena, &result->change_set);
    return WRITE_DONE;
}

/* Operators' names may have changed since the upload was decoded: under the lock they stay as they
 * are. *ret_moved says that the upload is another one now. */
static enum db_status catch_up_names(struct attempt *attempt, bool *ret_moved)
{
    const struct write_request *request = attempt->request;
    int64_t version;
    *ret_moved = false;
    attempt->names = request->names;
    enum db_status status = db_reference_version(attempt->connection, &version);
    if (status != DB_OK || (request->names != NULL && request->names->version == version))
        return status;
    struct alias_sets *names = arena_alloc(attempt->arena, sizeof(*names));
    status = db_alias_sets(attempt->connection, attempt->arena, names);
    if (status != DB_OK)
        return status;
    attempt->names = names;
    for (size_t i = 0; request->upload != NULL && i < request->upload->offer_count; i++) {
        if (offer_names_resolve(&request->upload->offers[i], request->provider_slug, request->names,
                                names))
            *ret_moved = true;
    }
    return DB_OK;
}

/* The change set of a whole upload: the guess made before the lock if it still holds, else made
 * anew under it. */
static enum write_outcome plan_upload(struct attempt *attempt, const struct baseline *guess)
{
    const struct write_request *request = attempt->request;
    struct baseline fresh;
    if (guess == NULL || guess->version != attempt->provider.version) {
        enum db_status status =
            db_inventory_baseline(attempt->connection, &attempt->provider, attempt->arena, &fresh);
        if (status != DB_OK)
            return from_status(status);
        inventory_diff(request->upload, &fresh, request->mode, attempt->arena,
                       &attempt->result->change_set);
        guess = &fresh;
    }
    attempt->stored_offers = guess->entry_count;
    bool many = request->mode == CHANGE_REPLACE && attempt->stored_offers >= REMOVAL_GUARD_OFFERS &&
                (size_t)attempt->result->change_set.removed * 2 > attempt->stored_offers;
    return many && !request->confirm_removals && !request->dry_run ? WRITE_MANY_REMOVALS
                                                                   : WRITE_DONE;
}

static enum write_outcome claim(struct attempt *attempt)
{
    const struct idempotency *idempotency = attempt->request->idempotency;
    if (idempotency == NULL)
        return WRITE_DONE;
    switch (db_idempotency_claim(attempt->connection, idempotency->scope, idempotency->key,
                                 idempotency->fingerprint, attempt->arena,
                                 &attempt->result->replay_status, &attempt->result->replay_body)) {
    case DB_OK:
        return WRITE_DONE;
    case DB_NONE:
        return WRITE_REPLAYED;
    case DB_CONFLICT:
        return WRITE_KEY_REUSED;
    case DB_RETRY:
        return WRITE_KEY_BUSY;
    case DB_UNAVAILABLE:
        return WRITE_UNAVAILABLE;
    case DB_FAILED:
        break;
    }
    return WRITE_FAILED;
}

static void render(struct attempt *attempt)
{
    const struct write_request *request = attempt->request;
    struct write_result *result = attempt->result;
    buf_clear(&result->body);
    if (request->render != NULL)
        request->render(request->render_closure, request, &result->change_set, result->upload_id,
                        result->version, &result->body);
}

/* Everything inside the transaction but its end. *ret_status is DB_RETRY when the whole may be
 * tried again. */
static enum write_outcome in_transaction(struct attempt *attempt, const struct baseline *guess,
                                         enum db_status *ret_status)
{
    const struct write_request *request = attempt->request;
    struct write_result *result = attempt->result;
    *ret_status = DB_OK;
    enum write_outcome outcome = claim(attempt);
    if (outcome != WRITE_DONE)
        return outcome;
    enum db_status status = db_inventory_lock(attempt->connection, request->provider_slug,
                                              attempt->arena, &attempt->provider);
    if (status != DB_OK) {
        *ret_status = status;
        return status == DB_NONE ? WRITE_NO_PROVIDER : from_status(status);
    }
    attempt->base_version = attempt->provider.version;
    bool moved = false;
    if (request->mode != CHANGE_DELETE) {
        status = catch_up_names(attempt, &moved);
        if (status != DB_OK) {
            *ret_status = status;
            return from_status(status);
        }
    }
    if (request->mode == CHANGE_DELETE)
        outcome = plan_delete(attempt);
    else if (request->upload == NULL)
        outcome = plan_patch(attempt);
    else
        outcome = plan_upload(attempt, moved ? NULL : guess);
    result->version = attempt->provider.version;
    if (outcome != WRITE_DONE)
        return outcome;
    status = db_inventory_apply(attempt->connection, &attempt->provider, &result->change_set,
                                &request->record, attempt->arena, result->upload_id);
    if (status == DB_OK) {
        result->version = attempt->provider.version;
        render(attempt);
        if (request->idempotency != NULL && !request->dry_run)
            status = db_idempotency_store(attempt->connection, request->idempotency->scope,
                                          request->idempotency->key, 200,
                                          result->body.data == NULL ? "" : result->body.data);
    }
    *ret_status = status;
    return status == DB_OK ? WRITE_DONE : from_status(status);
}

/* A refusal by the catalogue means that a newer state was applied meanwhile, or that the next poll
 * has to mend it. */
void publish_provider(struct node *node, struct db_connection *connection,
                      const struct provider *provider, struct arena *arena)
{
    struct catalog *catalog = node_catalog(node);
    int64_t held = catalog_provider_version(catalog, provider->slug);
    if (held >= provider->version)
        return;
    struct inventory_delta delta = {0};
    if (db_inventory_since(connection, provider, held, arena, &delta) != DB_OK) {
        log_warning("a committed write waits for the next poll to be seen", "provider=%s",
                    provider->slug);
        return;
    }
    struct catalog_update update = {
        .provider = provider,
        .after_version = held,
        .reload = delta.whole,
        .upserts = delta.offers,
        .upsert_count = delta.offer_count,
        .removed = delta.removed_external_ids,
        .removed_count = delta.removed_count,
    };
    (void)catalog_apply(catalog, &update, 1);
}

/* Puts what was committed into this node's catalogue: the change set itself where it follows the
 * version held. */
static void publish(struct attempt *attempt)
{
    struct catalog *catalog = node_catalog(attempt->node);
    const struct change_set *set = &attempt->result->change_set;
    int64_t held = catalog_provider_version(catalog, attempt->provider.slug);
    if (held < 0 || held != attempt->base_version || attempt->provider.version != held + 1) {
        publish_provider(attempt->node, attempt->connection, &attempt->provider, attempt->arena);
        return;
    }
    struct offer *upserts = arena_calloc(attempt->arena, set->change_count, sizeof(*upserts));
    const char **removed = arena_calloc(attempt->arena, set->change_count, sizeof(*removed));
    struct catalog_update update = {
        .provider = &attempt->provider,
        .after_version = held,
        .upserts = upserts,
        .removed = removed,
    };
    for (size_t i = 0; i < set->change_count; i++) {
        if (set->changes[i].kind == CHANGE_REMOVED)
            removed[update.removed_count++] = set->changes[i].external_id;
        else
            upserts[update.upsert_count++] = *set->changes[i].after;
    }
    if (!catalog_apply(catalog, &update, 1))
        publish_provider(attempt->node, attempt->connection, &attempt->provider, attempt->arena);
}

/* Waits a little before another try, longer each time. */
static void back_off(int attempt_number)
{
    struct timespec pause = {.tv_nsec = (attempt_number + 1) * 5000000L};
    nanosleep(&pause, NULL);
}

enum write_outcome write_inventory(struct node *node, struct db_connection *connection,
                                   const struct write_request *request, struct arena *arena,
                                   struct write_result *ret_result)
{
    *ret_result = (struct write_result){0};
    struct attempt attempt = {
        .node = node,
        .connection = connection,
        .request = request,
        .arena = arena,
        .result = ret_result,
    };
    struct baseline guess_storage;
    const struct baseline *guess = NULL;
    if (request->upload != NULL &&
        catalog_baseline(node_catalog(node), request->provider_slug, arena, &guess_storage)) {
        guess = &guess_storage;
        inventory_diff(request->upload, guess, request->mode, arena, &ret_result->change_set);
    }

    enum write_outcome outcome = WRITE_UNAVAILABLE;
    for (int i = 0; i < WRITE_ATTEMPTS; i++) {
        if (db_is_broken(connection) && !db_reconnect(connection)) {
            outcome = WRITE_UNAVAILABLE;
            break;
        }
        enum db_status status = db_begin(connection);
        if (status != DB_OK) {
            outcome = WRITE_UNAVAILABLE;
            /* A connection that died while idle is noticed here: nothing was sent, so one more try
             * is safe. */
            if (status == DB_UNAVAILABLE && i == 0)
                continue;
            break;
        }
        outcome = in_transaction(&attempt, guess, &status);
        bool keep = outcome == WRITE_DONE && !request->dry_run;
        if (keep) {
            status = db_commit(connection);
            if (status == DB_OK)
                break;
            outcome = from_status(status);
        } else {
            db_rollback(connection);
        }
        if (status != DB_RETRY)
            break;
        guess = NULL; /* somebody else is writing: look again under the lock */
        back_off(i);
    }
    if (outcome == WRITE_UNAVAILABLE)
        node_report_database(node, false);
    if (outcome == WRITE_DONE && !request->dry_run) {
        metric_add(METRIC_UPLOADS_APPLIED, 1);
        if (!request->skip_publish)
            publish(&attempt);
    } else if (outcome != WRITE_DONE && outcome != WRITE_REPLAYED) {
        metric_add(METRIC_UPLOADS_REFUSED, 1);
    }
    return outcome;
}
