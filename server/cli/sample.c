/* The labelled sample inventory: what the market of 2023-24 looked like, so that a fresh server
 * shows something true and says that it is a sample. Loaded once per provider; taken out again by
 * RACKRATE_SAMPLE=0. */
#include "server/cli/cli.h"

#include "db/provider.h"
#include "server/base/asset.h"
#include "server/base/decimal.h"
#include "server/base/log.h"
#include "server/base/timestamp.h"
#include "server/sync/write.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_FILE "static/sample.json"

static const struct asset *find_sample(void)
{
    for (const struct asset *asset = asset_table; asset->path != NULL; asset++) {
        if (strcmp(asset->path, SAMPLE_FILE) == 0)
            return asset;
    }
    return NULL;
}

/* Whether the provider's inventory is the sample's or empty: the only states the sample may
 * replace. A provider that uploaded keeps what it uploaded. */
static bool is_ours(struct db_connection *connection, const struct provider *provider,
                    struct arena *arena, size_t *ret_samples)
{
    struct inventory_delta delta;
    *ret_samples = 0;
    if (db_inventory_since(connection, provider, -1, arena, &delta) != DB_OK)
        return false;
    for (size_t i = 0; i < delta.offer_count; i++) {
        if (delta.offers[i].source_kind != SOURCE_SAMPLE)
            return false;
        (*ret_samples)++;
    }
    return true;
}

/* Replaces the inventory by these bytes ({"offers": […]}), labelled. */
static bool replace(struct node *node, struct db_connection *connection, const char *slug,
                    const char *bytes, struct arena *arena)
{
    const struct decode_options options = {
        .format = FORMAT_JSON,
        .provider_slug = slug,
        .source_kind = SOURCE_SAMPLE,
        .as_of_us = TIMESTAMP_UNKNOWN,
    };
    struct upload upload;
    struct decode_error error;
    if (upload_decode(&options, bytes, strlen(bytes), arena, &upload, &error) != DECODE_OK ||
        upload.errors.count > 0) {
        log_error("the sample inventory is broken", "provider=%s message=\"%s\"", slug,
                  upload.errors.count > 0 ? upload.errors.items[0].message : error.message);
        return false;
    }
    const struct write_request write = {
        .provider_slug = slug,
        .mode = CHANGE_REPLACE,
        .upload = &upload,
        .skip_publish = true,
        .confirm_removals = true,
        .record =
            {
                .kind = "sample",
                .format = "json",
                .actor = "sample",
                .rows_read = upload.rows_read,
                .confirmed_at_us = TIMESTAMP_UNKNOWN,
            },
    };
    struct write_result result;
    enum write_outcome outcome = write_inventory(node, connection, &write, arena, &result);
    buf_free(&result.body);
    return outcome == WRITE_DONE;
}

/* The provider, added if it is missing. */
static bool ensure_provider(struct db_connection *connection, const json_t *entry, const char *slug,
                            struct arena *arena, struct provider *provider)
{
    enum db_status status = db_provider_find(connection, slug, arena, provider);
    if (status == DB_OK)
        return true;
    *provider = (struct provider){
        .slug = slug,
        .name = json_string_value(json_object_get(entry, "name")),
        .kind = PROVIDER_GPU_CLOUD,
        .freshness_hours = PROVIDER_FRESHNESS_HOURS_DEFAULT,
        .trust = {.sla_percent_milli = UNKNOWN,
                  .burn_in = UNKNOWN,
                  .monitoring = UNKNOWN,
                  .on_site = UNKNOWN},
        .confirmed_at_us = TIMESTAMP_UNKNOWN,
    };
    const char *kind = json_string_value(json_object_get(entry, "kind"));
    return status == DB_NONE && kind != NULL && provider_kind_parse(kind, &provider->kind) &&
           db_provider_add(connection, provider, "sample") == DB_OK;
}

static bool apply_one(struct node *node, struct db_connection *connection, const json_t *entry,
                      bool wanted)
{
    struct arena arena = {0};
    struct provider provider;
    const char *slug = json_string_value(json_object_get(entry, "slug"));
    bool good = true, exists = db_provider_find(connection, slug, &arena, &provider) == DB_OK;
    size_t samples = 0;
    bool ours = !exists || is_ours(connection, &provider, &arena, &samples);
    /* Loaded once: a provider that is there and has no sample offers was emptied, or filled, on
     * purpose. */
    if (wanted && !exists) {
        char *text =
            json_dumps(json_object_get(entry, "inventory"), JSON_COMPACT | JSON_REAL_PRECISION(15));
        good = text != NULL && ensure_provider(connection, entry, slug, &arena, &provider) &&
               replace(node, connection, slug, text, &arena);
        free(text);
    } else if (!wanted && ours && samples > 0) {
        good = replace(node, connection, slug, "{\"offers\":[]}", &arena);
    }
    arena_free(&arena);
    return good;
}

bool cli_sample_apply(const struct settings *settings, const char *url)
{
    const struct asset *asset = find_sample();
    json_error_t error;
    json_t *root = asset == NULL ? NULL
                                 : json_loadb((const char *)asset->start, asset_size(asset),
                                              JSON_REJECT_DUPLICATES, &error);
    char *reason = NULL;
    struct db_connection *connection = root == NULL ? NULL : db_connect(url, &reason);
    bool good = connection != NULL;
    if (good) {
        struct node *node = node_new(url);
        size_t index;
        json_t *entry;
        json_array_foreach(json_object_get(root, "providers"), index, entry) good =
            good && apply_one(node, connection, entry, settings->sample);
        node_free(node);
        db_disconnect(connection);
    }
    if (!good)
        fprintf(stderr, "rackrate: the sample inventory could not be applied%s%s\n",
                reason == NULL ? "" : ": ", reason == NULL ? "" : reason);
    free(reason);
    json_decref(root);
    return good;
}
