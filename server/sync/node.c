/* Keeping up: poll the small table of versions, fetch what is newer, apply it as one. A version
 * that goes backwards, or another cluster epoch, means the database is an older or another one:
 * everything is loaded again. */
#include "server/sync/node.h"

#include "db/alias.h"
#include "db/inventory.h"
#include "db/latency.h"
#include "db/provider.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/base/timestamp.h"
#include "server/sync/fixing_shelf.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH_SIZE            64
#define RETENTION_INTERVAL_US (INT64_C(3600) * 1000000)

struct held_provider {
    int64_t id;
    int64_t version;
    char slug[PROVIDER_SLUG_MAX + 1];
};

struct node {
    const char *url;
    struct catalog *catalog;
    struct key_cache *keys;
    struct fixing_shelf shelf;

    /* Touched by the catching-up thread only. */
    struct held_provider *held; /* sorted by id */
    size_t held_count;
    int64_t keys_version;
    int64_t names_version; /* of the reference data */
    int64_t latency_version;
    char epoch[EPOCH_SIZE];

    _Atomic bool loaded;
    _Atomic bool database_up;
    _Atomic int64_t polled_at_us; /* monotonic; 0 never */

    pthread_t thread;
    bool running;
    unsigned interval_ms;
    struct retention retention; /* upload_days 0: keep all */
    int64_t cleaned_at_us;      /* monotonic */
    struct fixing_clock clock;
    bool read_only; /* the database was, when last looked at */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stopping;
};

struct node *node_new(const char *url)
{
    struct node *node = xcalloc(1, sizeof(*node));
    node->url = url;
    node->catalog = catalog_new();
    node->keys = key_cache_new();
    node->keys_version = -1;
    fixing_shelf_init(&node->shelf);
    pthread_mutex_init(&node->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&node->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return node;
}

void node_free(struct node *node)
{
    if (node == NULL)
        return;
    node_stop_sync(node);
    catalog_free(node->catalog);
    key_cache_free(node->keys);
    fixing_shelf_free(&node->shelf);
    free(node->held);
    pthread_cond_destroy(&node->wake);
    pthread_mutex_destroy(&node->mutex);
    free(node);
}

struct catalog *node_catalog(struct node *node)
{
    return node->catalog;
}

struct key_cache *node_keys(struct node *node)
{
    return node->keys;
}

struct book *node_fixings(struct node *node)
{
    return fixing_shelf_take(&node->shelf);
}

const char *node_database_url(const struct node *node)
{
    return node->url;
}

bool node_is_loaded(const struct node *node)
{
    return node->loaded;
}

int64_t node_lag_us(const struct node *node)
{
    int64_t at = node->polled_at_us;
    return at == 0 ? INT64_MAX : monotonic_now_us() - at;
}

bool node_database_is_up(const struct node *node)
{
    return node->database_up;
}

void node_report_database(struct node *node, bool up)
{
    bool was = atomic_exchange(&node->database_up, up);
    metric_set(METRIC_DATABASE_UP, up);
    if (was && !up)
        log_warning("the database does not answer; searches go on from memory", NULL);
    else if (!was && up && node->loaded)
        log_info("the database answers again", NULL);
}

static struct held_provider *find_held(struct node *node, int64_t id)
{
    size_t low = 0, high = node->held_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->held[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->held_count && node->held[low].id == id ? &node->held[low] : NULL;
}

static const struct provider_version *find_version(const struct version_table *table, int64_t id)
{
    size_t low = 0, high = table->provider_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->providers[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->provider_count && table->providers[low].id == id ? &table->providers[low]
                                                                         : NULL;
}

/* Whether the database is an older state of what was held, so that nothing held can be trusted. */
static bool went_backwards(struct node *node, const struct version_table *table, const char *epoch)
{
    if (node->loaded && strcmp(node->epoch, epoch) != 0)
        return true;
    if (table->reference_version < node->names_version ||
        table->latency_version < node->latency_version)
        return true;
    for (size_t i = 0; i < node->held_count; i++) {
        const struct provider_version *now = find_version(table, node->held[i].id);
        if (now == NULL || now->version < node->held[i].version)
            return true;
    }
    return false;
}

/* Fetches every provider that is newer than held (or all of them) and publishes it as one. */
static bool load_providers(struct node *node, struct db_connection *connection,
                           const struct version_table *table, bool reload)
{
    bool any = reload;
    for (size_t i = 0; i < table->provider_count && !any; i++) {
        const struct held_provider *held = find_held(node, table->providers[i].id);
        any = held == NULL || held->version < table->providers[i].version;
    }
    if (!any)
        return true;

    struct arena arena = {0};
    struct provider *providers;
    size_t count;
    bool good = db_provider_list(connection, &arena, &providers, &count) == DB_OK;
    struct catalog_update *updates =
        arena_calloc(&arena, (good ? count : 0) + node->held_count, sizeof(*updates));
    size_t update_count = 0;
    struct held_provider *held_now = xcalloc(good ? count : 0, sizeof(*held_now));
    for (size_t i = 0; good && i < count; i++) {
        const struct held_provider *held = find_held(node, providers[i].id);
        held_now[i] =
            (struct held_provider){.id = providers[i].id, .version = providers[i].version};
        strncpy(held_now[i].slug, providers[i].slug, PROVIDER_SLUG_MAX);
        if (!reload && held != NULL && held->version >= providers[i].version)
            continue;
        bool whole = reload || held == NULL;
        struct inventory_delta delta = {0};
        good = db_inventory_since(connection, &providers[i], whole ? -1 : held->version, &arena,
                                  &delta) == DB_OK;
        if (whole)
            metric_add(METRIC_SYNC_RELOADS, 1);
        updates[update_count++] = (struct catalog_update){
            .provider = &providers[i],
            .after_version = whole ? -1 : held->version,
            .reload = delta.whole,
            .force = reload,
            .upserts = delta.offers,
            .upsert_count = delta.offer_count,
            .removed = delta.removed_external_ids,
            .removed_count = delta.removed_count,
        };
    }
    /* After going backwards, a provider held may not exist any more. */
    for (size_t h = 0; good && h < node->held_count; h++) {
        bool exists = false;
        for (size_t i = 0; i < count && !exists; i++)
            exists = strcmp(providers[i].slug, node->held[h].slug) == 0;
        if (exists)
            continue;
        struct provider *gone = arena_calloc(&arena, 1, sizeof(*gone));
        gone->slug = node->held[h].slug;
        updates[update_count++] =
            (struct catalog_update){.provider = gone, .remove_provider = true};
    }
    good = good && (update_count == 0 || catalog_apply(node->catalog, updates, update_count));
    if (good) {
        free(node->held);
        node->held = held_now;
        node->held_count = count;
    } else {
        free(held_now);
    }
    arena_free(&arena);
    return good;
}

static int compare_held(const void *a, const void *b)
{
    int64_t left = ((const struct held_provider *)a)->id,
            right = ((const struct held_provider *)b)->id;
    return (left > right) - (left < right);
}

static bool load_keys(struct node *node, struct db_connection *connection, int64_t version,
                      bool force)
{
    struct arena arena = {0};
    struct api_key *keys;
    size_t count;
    if (db_key_list(connection, NULL, &arena, &keys, &count) != DB_OK) {
        arena_free(&arena);
        return false;
    }
    struct key_entry *entries = arena_calloc(&arena, count, sizeof(*entries));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (keys[i].revoked)
            continue;
        entries[kept] = (struct key_entry){
            .key_id = keys[i].id,
            .provider_slug = keys[i].provider_slug,
            .admin = keys[i].admin,
        };
        memcpy(entries[kept].hash, keys[i].hash, KEY_HASH_BYTES);
        kept++;
    }
    key_cache_replace(node->keys, version, force, entries, kept);
    arena_free(&arena);
    return true;
}

bool node_reload_keys(struct node *node, struct db_connection *connection)
{
    struct version_table table = {0};
    if (db_versions(connection, &table) != DB_OK)
        return false;
    free(table.providers);
    return load_keys(node, connection, table.keys_version, false);
}

bool node_reload_names(struct node *node, struct db_connection *connection, bool force)
{
    struct arena arena = {0};
    struct alias_sets names;
    bool good = db_alias_sets(connection, &arena, &names) == DB_OK &&
                catalog_set_operator_names(node->catalog, &names, force);
    arena_free(&arena);
    return good;
}

bool node_reload_latency(struct node *node, struct db_connection *connection, bool force)
{
    struct arena arena = {0};
    struct latency_measurement *list;
    size_t count;
    int64_t version;
    bool good = db_latency_list(connection, &arena, &list, &count, &version) == DB_OK;
    if (good) {
        struct latency_book *book = latency_book_new(version, list, count);
        good = catalog_set_latency(node->catalog, book, force);
        latency_book_release(book);
    }
    arena_free(&arena);
    return good;
}

static bool catch_up(struct node *node, struct db_connection *connection)
{
    struct version_table table = {0};
    char epoch[EPOCH_SIZE];
    metric_add(METRIC_SYNC_POLLS, 1);
    if (db_cluster_epoch(connection, epoch) != DB_OK || db_versions(connection, &table) != DB_OK)
        return false;
    bool backwards = went_backwards(node, &table, epoch);
    if (backwards)
        log_warning("the database is an older or another one than before; loading everything again",
                    NULL);
    bool good = (!backwards && table.reference_version == node->names_version) ||
                node_reload_names(node, connection, backwards);
    if (good)
        node->names_version = table.reference_version;
    if (good && (backwards || table.latency_version != node->latency_version)) {
        good = node_reload_latency(node, connection, backwards);
        if (good)
            node->latency_version = table.latency_version;
    }
    good = good && load_providers(node, connection, &table, backwards);
    if (good && node->held_count > 1)
        qsort(node->held, node->held_count, sizeof(*node->held), compare_held);
    if (good && (backwards || table.keys_version != node->keys_version)) {
        good = load_keys(node, connection, table.keys_version, backwards);
        if (good)
            node->keys_version = table.keys_version;
    }
    if (good)
        good = fixing_shelf_catch_up(&node->shelf, connection, table.fixings_version, backwards);
    if (good)
        memcpy(node->epoch, epoch, sizeof(epoch));
    free(table.providers);
    return good;
}

bool node_catch_up(struct node *node, struct db_connection *connection)
{
    bool good = catch_up(node, connection);
    if (good)
        node->polled_at_us = monotonic_now_us();
    else
        metric_add(METRIC_SYNC_ERRORS, 1);
    /* Before `loaded`: the first time, the database does not answer again, it answers. */
    node_report_database(node, good);
    if (good)
        node->loaded = true;
    return good;
}

/* Waits for the interval or for node_stop_sync; true when it is time to stop. */
static bool wait_or_stop(struct node *node, unsigned interval_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += interval_ms / 1000;
    until.tv_nsec += (long)(interval_ms % 1000) * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&node->mutex);
    int status = 0;
    while (!node->stopping && status == 0)
        status = pthread_cond_timedwait(&node->wake, &node->mutex, &until);
    bool stop = node->stopping;
    pthread_mutex_unlock(&node->mutex);
    return stop;
}

/* Once an hour, and again every second while there is more than one call removes; every node does
 * it, each finding little left by the others. */
static void clean_up(struct node *node, struct db_connection *connection)
{
    int64_t now_us = monotonic_now_us();
    if (node->retention.upload_days == 0 || now_us - node->cleaned_at_us < RETENTION_INTERVAL_US)
        return;
    node->cleaned_at_us = now_us;
    bool more = false;
    enum db_status status = db_retention(connection, &node->retention, &more);
    if (status == DB_OK && more)
        node->cleaned_at_us = now_us - RETENTION_INTERVAL_US + INT64_C(1000000);
    if (status != DB_OK)
        log_warning("what retention no longer keeps could not be removed", NULL);
}

/* Whether this node does what servers write by themselves. Where the database can only be read, as
 * a replica, other servers do it; the log says so once. */
static bool may_write(struct node *node, const struct db_connection *connection)
{
    bool read_only = db_is_read_only(connection);
    if (read_only && !node->read_only)
        log_info("the database is read-only: this server publishes no fixings and removes nothing; "
                 "one that can write has to",
                 NULL);
    node->read_only = read_only;
    return !read_only;
}

static void *sync_main(void *argument)
{
    struct node *node = argument;
    struct db_connection *connection = NULL;
    do {
        if (connection == NULL) {
            char *error = NULL;
            connection = db_connect(node->url, &error);
            if (connection == NULL)
                log_debug("can't reach the database", "error=\"%s\"",
                          error == NULL ? "unknown" : error);
            free(error);
        }
        if (connection == NULL || !node_catch_up(node, connection)) {
            node_report_database(node, false);
            if (connection != NULL) {
                db_disconnect(connection);
                connection = NULL;
            }
        } else if (node->clock.on && may_write(node, connection)) {
            fixing_clock_tick(&node->clock, node, connection);
            clean_up(node, connection);
        }
    } while (!wait_or_stop(node, node->interval_ms));
    if (connection != NULL)
        db_disconnect(connection);
    return NULL;
}

bool node_start_sync(struct node *node, unsigned interval_ms, const struct retention *retention)
{
    if (retention != NULL)
        node->retention = *retention;
    node->clock.on = retention != NULL;
    /* The first round comes after start-up is over. */
    node->cleaned_at_us = monotonic_now_us() - RETENTION_INTERVAL_US + INT64_C(60) * 1000000;
    node->interval_ms = interval_ms;
    node->stopping = false;
    node->running = pthread_create(&node->thread, NULL, sync_main, node) == 0;
    return node->running;
}

void node_stop_sync(struct node *node)
{
    if (!node->running)
        return;
    pthread_mutex_lock(&node->mutex);
    node->stopping = true;
    pthread_cond_signal(&node->wake);
    pthread_mutex_unlock(&node->mutex);
    pthread_join(node->thread, NULL);
    node->running = false;
}
