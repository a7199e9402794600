/* THE table: every route, who may call it, how much it takes, how it may be cached, and the
 * functions behind it. 404, 405 with Allow, OPTIONS and HEAD follow from it. */
#include "server/api/app.h"
#include "server/api/resources.h"
#include "server/http/assets.h"

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)
/* As received; what it decodes to has a bound of its own (inventory.h). */
#define UPLOAD_BODY_BYTES (256 * MIB)

/* clang-format off */
const struct route routes[] = {
    /* method      pattern                                             operation             access           body limit         cache             functions */
    {HTTP_GET,    "/v1/offers",                                       "searchOffers",       ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .media_types = search_media_types, .handle = offers_search},
    {HTTP_GET,    "/v1/offers/{id}",                                  "getOffer",           ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .prepare = offer_get_prepare, .execute = offer_get_execute},
    {HTTP_GET,    "/v1/offers/{id}/price-history",                    "getPriceHistory",    ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .prepare = price_history_prepare, .execute = price_history_execute},
    {HTTP_GET,    "/v1/providers",                                    "listProviders",      ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = providers_list},
    {HTTP_GET,    "/v1/providers/{slug}",                             "getProvider",        ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = provider_get},
    {HTTP_GET,    "/v1/providers/{slug}/offers/{external_id}",        "getProviderOffer",   ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = provider_offer_get},
    {HTTP_GET,    "/v1/gpus",                                         "listGpus",           ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = gpus_list},
    {HTTP_GET,    "/v1/gpus/{slug}",                                  "getGpu",             ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = gpu_get},
    {HTTP_GET,    "/v1/regions",                                      "listRegions",        ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = regions_list},
    {HTTP_GET,    "/v1/regions/{slug}",                               "getRegion",          ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = region_get},
    {HTTP_GET,    "/v1/latency",                                      "getLatency",         ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = latency_get},
    {HTTP_GET,    "/v1/latency/measurements",                         "listLatencyMeasurements", ACCESS_PUBLIC, 0,              CACHE_REVALIDATE, .handle = latency_list},
    {HTTP_POST,   "/v1/latency",                                      "addLatency",         ACCESS_ANY_KEY,  512 * KIB,         CACHE_NONE,       .prepare = latency_post_prepare, .execute = latency_post_execute},
    {HTTP_GET,    "/v1/market/history",                               "getMarketHistory",   ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = market_history},
    {HTTP_GET,    "/v1/market/summary",                               "getMarketSummary",   ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .prepare = market_summary_prepare, .execute = market_summary_execute},
    {HTTP_GET,    "/v1/tools/rent-vs-buy",                            "getRentOrBuy",       ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = tool_rent_or_buy},
    {HTTP_GET,    "/v1/tools/reserve-vs-on-demand",                   "getReserveOrOnDemand", ACCESS_PUBLIC, 0,                 CACHE_REVALIDATE, .prepare = tool_reserve_prepare, .execute = tool_reserve_execute},
    {HTTP_GET,    "/v1/tools/whole-cost",                             "getWholeCost",       ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = tool_whole_cost},
    {HTTP_GET,    "/v1/tools/placement",                              "getPlacement",       ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = tool_placement},
    {HTTP_GET,    "/v1/tools/interruptions",                          "getInterruptions",   ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .handle = tool_interruptions},
    {HTTP_GET,    "/v1/export/{format}",                              "exportMarket",       ACCESS_PUBLIC,   0,                 CACHE_REVALIDATE, .prepare = export_prepare, .execute = export_execute},

    {HTTP_GET,    "/v1/providers/{slug}/inventory",                   "getInventory",       ACCESS_PROVIDER, 0,                 CACHE_NONE,       .prepare = inventory_get_prepare, .execute = inventory_get_execute},
    {HTTP_PUT,    "/v1/providers/{slug}/inventory",                   "replaceInventory",   ACCESS_PROVIDER, UPLOAD_BODY_BYTES, CACHE_NONE,       .prepare = inventory_put_prepare, .execute = inventory_write_execute},
    {HTTP_POST,   "/v1/providers/{slug}/offers",                      "upsertOffers",       ACCESS_PROVIDER, UPLOAD_BODY_BYTES, CACHE_NONE,       .prepare = offers_post_prepare, .execute = inventory_write_execute},
    {HTTP_PATCH,  "/v1/providers/{slug}/offers/{external_id}",        "patchOffer",         ACCESS_PROVIDER, 64 * KIB,          CACHE_NONE,       .prepare = offer_patch_prepare, .execute = offer_write_execute},
    {HTTP_DELETE, "/v1/providers/{slug}/offers/{external_id}",        "deleteOffer",        ACCESS_PROVIDER, 0,                 CACHE_NONE,       .prepare = offer_delete_prepare, .execute = offer_write_execute},
    {HTTP_GET,    "/v1/providers/{slug}/uploads",                     "listUploads",        ACCESS_PROVIDER, 0,                 CACHE_NONE,       .prepare = uploads_list_prepare, .execute = uploads_list_execute},
    {HTTP_GET,    "/v1/providers/{slug}/uploads/{id}",                "getUpload",          ACCESS_PROVIDER, 0,                 CACHE_NONE,       .prepare = upload_get_prepare, .execute = upload_get_execute},
    {HTTP_GET,    "/v1/providers/{slug}/unrecognized",                "listUnrecognized",   ACCESS_PROVIDER, 0,                 CACHE_NONE,       .prepare = unrecognized_prepare, .execute = provider_unrecognized_list},
    {HTTP_PUT,    "/v1/providers/{slug}/profile",                     "putProfile",         ACCESS_PROVIDER, 64 * KIB,          CACHE_NONE,       .prepare = profile_put_prepare, .execute = profile_put_execute},

    {HTTP_GET,    "/v1/admin/providers",                              "adminListProviders", ACCESS_ADMIN,    0,                 CACHE_NONE,       .prepare = admin_providers_prepare, .execute = admin_providers_list},
    {HTTP_POST,   "/v1/admin/providers",                              "adminAddProvider",   ACCESS_ADMIN,    64 * KIB,          CACHE_NONE,       .prepare = admin_write_prepare, .execute = admin_providers_add},
    {HTTP_PATCH,  "/v1/admin/providers/{slug}",                       "adminPatchProvider", ACCESS_ADMIN,    64 * KIB,          CACHE_NONE,       .prepare = admin_write_prepare, .execute = admin_provider_patch},
    {HTTP_GET,    "/v1/admin/keys",                                   "adminListKeys",      ACCESS_ADMIN,    0,                 CACHE_NONE,       .prepare = admin_providers_prepare, .execute = admin_keys_list},
    {HTTP_POST,   "/v1/admin/keys",                                   "adminCreateKey",     ACCESS_ADMIN,    64 * KIB,          CACHE_NONE,       .prepare = admin_write_prepare, .execute = admin_keys_add},
    {HTTP_DELETE, "/v1/admin/keys/{id}",                              "adminRevokeKey",     ACCESS_ADMIN,    0,                 CACHE_NONE,       .prepare = admin_providers_prepare, .execute = admin_key_revoke},
    {HTTP_GET,    "/v1/admin/unrecognized",                           "adminListUnrecognized", ACCESS_ADMIN, 0,                 CACHE_NONE,       .prepare = unrecognized_prepare, .execute = admin_unrecognized_list},
    {HTTP_GET,    "/v1/admin/aliases",                                "adminListAliases",   ACCESS_ADMIN,    0,                 CACHE_NONE,       .prepare = admin_providers_prepare, .execute = admin_aliases_list},
    {HTTP_POST,   "/v1/admin/aliases",                                "adminSetAlias",      ACCESS_ADMIN,    64 * KIB,          CACHE_NONE,       .prepare = admin_write_prepare, .execute = admin_aliases_set},
    {HTTP_DELETE, "/v1/admin/aliases/{kind}/{name}",                  "adminRemoveAlias",   ACCESS_ADMIN,    0,                 CACHE_NONE,       .prepare = admin_alias_remove_prepare, .execute = admin_alias_remove},

    {HTTP_DELETE, "/v1/admin/latency/{id}",                           "adminRemoveLatency", ACCESS_ADMIN,    0,                 CACHE_NONE,       .prepare = admin_providers_prepare, .execute = latency_remove},

    {HTTP_GET,    "/livez",                                           "getLive",            ACCESS_PUBLIC,   0,                 CACHE_NONE,       .ops = true, .handle = live_get},
    {HTTP_GET,    "/healthz",                                         "getHealth",          ACCESS_PUBLIC,   0,                 CACHE_NONE,       .ops = true, .handle = live_get},
    {HTTP_GET,    "/readyz",                                          "getReady",           ACCESS_PUBLIC,   0,                 CACHE_NONE,       .ops = true, .handle = ready_get},
    {HTTP_GET,    "/metrics",                                         "getMetrics",         ACCESS_PUBLIC,   0,                 CACHE_NONE,       .ops = true, .handle = metrics_get},
    {HTTP_GET,    "/openapi.json",                                    "getContract",        ACCESS_PUBLIC,   0,                 CACHE_SHORT,      .handle = asset_get},
    {HTTP_GET,    "/docs",                                            "getDocs",            ACCESS_PUBLIC,   0,                 CACHE_SHORT,      .handle = asset_get},
    {HTTP_GET,    "/",                                                "getPage",            ACCESS_PUBLIC,   0,                 CACHE_SHORT,      .handle = asset_get},
    {HTTP_GET,    "/{path*}",                                         NULL,                 ACCESS_PUBLIC,   0,                 CACHE_SHORT,      .handle = asset_get},
    {0},
};
/* clang-format on */
