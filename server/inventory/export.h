/* Offers out again, in formats that other tools read: the mirror of decoding. What a format cannot
 * hold is left out and said here; what it holds comes back the same when it is read again. Pure;
 * any thread. */
#ifndef RACKRATE_INVENTORY_EXPORT_H
#define RACKRATE_INVENTORY_EXPORT_H

#include "server/base/buf.h"
#include "server/model/offer.h"

/* SkyPilot catalogue CSV: a row per offer with its on-demand and spot price per node. InstanceType
 * is the external_id without its `@place`. Left out: reserved prices, prices with a plan or from
 * more GPUs than the node has, network, availability, extra costs, links, times; an offer with none
 * of the prices it can hold gives no row (and false). With a provider slug, rows end in a column
 * `Provider`, which readers of catalogues pass over; NULL for the catalogue of one provider. */
void export_skypilot_header(struct buf *out, bool with_provider);
bool export_skypilot_offer(struct buf *out, const struct offer *offer, const char *provider_slug);

/* Rackrate CSV: a row per price. Left out: delivery schedule, extra costs. Texts that a spreadsheet
 * would run as a formula get an apostrophe, which reading takes off again. With a provider slug,
 * the column `provider` says whose the offer is. */
void export_csv_header(struct buf *out, bool with_provider);
void export_csv_offer(struct buf *out, const struct offer *offer, const char *provider_slug);

/* NDJSON in the upload shape: everything, with `provider` first where a slug is given. */
void export_ndjson_offer(struct buf *out, const struct offer *offer, const char *provider_slug);

#endif
