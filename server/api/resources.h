/* The functions behind the routes, one group a file. `handle` functions run on an event loop and
 * touch memory only; `prepare` runs there too and leaves reply->status 0 to go on; `execute` runs
 * on a worker and may use its database connection. */
#ifndef RACKRATE_API_RESOURCES_H
#define RACKRATE_API_RESOURCES_H

#include "server/http/http.h"

/* search.c */
extern const char *const search_media_types[];
void offers_search(struct request *request, struct reply *reply);

/* offers.c */
void offer_get_prepare(struct request *request, struct reply *reply);
void offer_get_execute(struct request *request, struct reply *reply, struct worker *worker);
void price_history_prepare(struct request *request, struct reply *reply);
void price_history_execute(struct request *request, struct reply *reply, struct worker *worker);

/* providers.c */
void providers_list(struct request *request, struct reply *reply);
void provider_get(struct request *request, struct reply *reply);
void provider_offer_get(struct request *request, struct reply *reply);
void profile_put_prepare(struct request *request, struct reply *reply);
void profile_put_execute(struct request *request, struct reply *reply, struct worker *worker);

/* inventory.c */
void inventory_get_prepare(struct request *request, struct reply *reply);
void inventory_get_execute(struct request *request, struct reply *reply, struct worker *worker);
void inventory_put_prepare(struct request *request, struct reply *reply);
void offers_post_prepare(struct request *request, struct reply *reply);
void inventory_write_execute(struct request *request, struct reply *reply, struct worker *worker);
void offer_patch_prepare(struct request *request, struct reply *reply);
void offer_delete_prepare(struct request *request, struct reply *reply);
void offer_write_execute(struct request *request, struct reply *reply, struct worker *worker);

/* uploads.c */
void uploads_list_prepare(struct request *request, struct reply *reply);
void uploads_list_execute(struct request *request, struct reply *reply, struct worker *worker);
void upload_get_prepare(struct request *request, struct reply *reply);
void upload_get_execute(struct request *request, struct reply *reply, struct worker *worker);

/* gpus.c, regions.c */
void gpus_list(struct request *request, struct reply *reply);
void gpu_get(struct request *request, struct reply *reply);
void regions_list(struct request *request, struct reply *reply);
void region_get(struct request *request, struct reply *reply);

/* latency.c, latency_write.c */
void latency_get(struct request *request, struct reply *reply);
void latency_post_prepare(struct request *request, struct reply *reply);
void latency_post_execute(struct request *request, struct reply *reply, struct worker *worker);
void latency_list(struct request *request, struct reply *reply);
void latency_remove(struct request *request, struct reply *reply, struct worker *worker);

/* market.c */
void market_summary_prepare(struct request *request, struct reply *reply);
void market_summary_execute(struct request *request, struct reply *reply, struct worker *worker);

/* market_history.c */
void market_history(struct request *request, struct reply *reply);

/* tools_*.c */
void tool_rent_or_buy(struct request *request, struct reply *reply);
void tool_reserve_prepare(struct request *request, struct reply *reply);
void tool_reserve_execute(struct request *request, struct reply *reply, struct worker *worker);
void tool_whole_cost(struct request *request, struct reply *reply);
void tool_placement(struct request *request, struct reply *reply);
void tool_interruptions(struct request *request, struct reply *reply);

/* exports.c */
void export_prepare(struct request *request, struct reply *reply);
void export_execute(struct request *request, struct reply *reply, struct worker *worker);

/* health.c */
void live_get(struct request *request, struct reply *reply);
void ready_get(struct request *request, struct reply *reply);
void metrics_get(struct request *request, struct reply *reply);

/* admin.c */
void admin_providers_prepare(struct request *request, struct reply *reply);
void admin_providers_list(struct request *request, struct reply *reply, struct worker *worker);
void admin_write_prepare(struct request *request, struct reply *reply);
void admin_providers_add(struct request *request, struct reply *reply, struct worker *worker);
void admin_provider_patch(struct request *request, struct reply *reply, struct worker *worker);
void admin_keys_list(struct request *request, struct reply *reply, struct worker *worker);
void admin_keys_add(struct request *request, struct reply *reply, struct worker *worker);
void admin_key_revoke(struct request *request, struct reply *reply, struct worker *worker);

/* names.c */
void unrecognized_prepare(struct request *request, struct reply *reply);
void admin_unrecognized_list(struct request *request, struct reply *reply, struct worker *worker);
void provider_unrecognized_list(struct request *request, struct reply *reply,
                                struct worker *worker);
void admin_aliases_list(struct request *request, struct reply *reply, struct worker *worker);
void admin_aliases_set(struct request *request, struct reply *reply, struct worker *worker);
void admin_alias_remove_prepare(struct request *request, struct reply *reply);
void admin_alias_remove(struct request *request, struct reply *reply, struct worker *worker);

#endif
