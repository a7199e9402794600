/* One pass over the providers; each inventory lives in an arena of its own. */
#include "server/sync/export.h"

#include "db/inventory.h"
#include "db/provider.h"
#include "server/inventory/export.h"

#include <string.h>

static const struct {
    const char *name, *media_type;
} formats[] = {
    [EXPORT_SKYPILOT] = {"skypilot", "text/csv"},
    [EXPORT_CSV] = {"csv", "text/csv"},
    [EXPORT_NDJSON] = {"ndjson", "application/x-ndjson"},
};

bool export_format_parse(const char *name, enum export_format *ret_format)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(name, formats[i].name) == 0) {
            *ret_format = (enum export_format)i;
            return true;
        }
    }
    return false;
}

const char *export_media_type(enum export_format format)
{
    return formats[format].media_type;
}

static void credit(struct export_result *result, const char *attribution)
{
    struct buf *all = &result->attributions;
    if (attribution == NULL || (all->data != NULL && strstr(all->data, attribution) != NULL))
        return;
    if (all->length > 0)
        buf_add_string(all, "; ");
    buf_add_string(all, attribution);
}

static void write_offer(struct export_result *result, const struct export_request *request,
                        const struct offer *offer, const char *slug)
{
    const char *named = request->provider_slug == NULL ? slug : NULL;
    bool written = true;
    if (offer->source_kind == SOURCE_SAMPLE && !request->with_samples)
        return;
    switch (request->format) {
    case EXPORT_SKYPILOT:
        written = export_skypilot_offer(&result->text, offer, named);
        break;
    case EXPORT_CSV:
        export_csv_offer(&result->text, offer, named);
        break;
    case EXPORT_NDJSON:
        export_ndjson_offer(&result->text, offer, named);
        break;
    }
    result->offers += written;
    result->left_out += !written;
    if (written)
        credit(result, offer->attribution);
}

static enum db_status write_provider(struct db_connection *connection,
                                     const struct export_request *request,
                                     const struct provider *provider, struct export_result *result)
{
    struct arena arena = {0};
    struct inventory_delta delta;
    enum db_status status = db_inventory_since(connection, provider, -1, &arena, &delta);
    for (size_t i = 0; status == DB_OK && i < delta.offer_count; i++)
        write_offer(result, request, &delta.offers[i], provider->slug);
    arena_free(&arena);
    return status;
}

enum db_status export_market(struct db_connection *connection, const struct export_request *request,
                             struct export_result *ret_result)
{
    struct arena arena = {0};
    struct provider *providers;
    size_t count;
    bool found = request->provider_slug == NULL;
    *ret_result = (struct export_result){0};
    if (request->format == EXPORT_SKYPILOT)
        export_skypilot_header(&ret_result->text, request->provider_slug == NULL);
    else if (request->format == EXPORT_CSV)
        export_csv_header(&ret_result->text, request->provider_slug == NULL);
    enum db_status status = db_provider_list(connection, &arena, &providers, &count);
    for (size_t i = 0; status == DB_OK && i < count; i++) {
        bool wanted = request->provider_slug == NULL
                          ? !providers[i].suspended
                          : strcmp(providers[i].slug, request->provider_slug) == 0;
        if (!wanted)
            continue;
        found = true;
        status = write_provider(connection, request, &providers[i], ret_result);
    }
    arena_free(&arena);
    return status == DB_OK && !found ? DB_NONE : status;
}
