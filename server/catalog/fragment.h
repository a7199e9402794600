/* The JSON of an offer, rendered once. A fragment is the offer's own facts:
 *   {"id":"of_…","provider": | ,"external_id":… "observed_at": | "own time" | … ,"price":
 * and an answer puts between and behind the bars what belongs to the provider, the query and the
 * clock. Pure. */
#ifndef RACKRATE_CATALOG_FRAGMENT_H
#define RACKRATE_CATALOG_FRAGMENT_H

#include "server/base/buf.h"
#include "server/catalog/leaves.h"
#include "server/catalog/segment.h"

/* Length of `{"id":"of_…","provider":`. */
#define FRAGMENT_ID_LENGTH (7 + OFFER_ID_TEXT_LENGTH + 13)

/* Where the parts of a rendered fragment are, relative to its start. */
struct fragment_price {
    uint32_t offset;
    uint16_t length;
};
struct fragment {
    uint32_t length;
    uint32_t observed;
    uint8_t observed_length;
    struct leaf_table leaves;
};

/* Memory of all GPUs of a node in thousandths of a GB: vram x count, the count being an exact
 * fraction, half-even. UNKNOWN of unknown. */
int64_t fragment_total_vram_gb_milli(const struct offer *offer);

/* Appends the fragment of an offer; `prices` takes offset and length of each of its prices, in the
 * offer's order. own_us is observed_at, or updated_at where that is unknown. */
struct fragment fragment_render(struct buf *out, const struct offer *offer, struct offer_key key,
                                int64_t own_us, struct fragment_price *prices);

/* What an answer adds to a fragment. */
struct fragment_splice {
    const char *provider_json; /* {"slug":…,"name":…} */
    size_t provider_length;
    const char *confirmed; /* quoted timestamp instead of the row's own, or NULL */
    size_t confirmed_length;
    const char *price_tail; /* what the query and the market say of the price: `,"gpus":…` */
    size_t price_tail_length;
    const struct row_text *text; /* instead of the row's own, or NULL */
    uint32_t latency;            /* a latency_cell; LATENCY_UNKNOWN: none */
    const char *evidence;        /* against its place: a measurement as JSON, or NULL */
    size_t evidence_length;
    bool stale;
};

/* Upper bound of what fragment_write adds for a row. */
size_t fragment_bound(const struct segment *segment, uint32_t row, uint32_t entry,
                      const struct fragment_splice *splice);

/* Writes the answered offer with the price of `entry` at `out` (with room for fragment_bound
 * bytes); gives its end. */
char *fragment_write(char *out, const struct segment *segment, uint32_t row, uint32_t entry,
                     const struct fragment_splice *splice);

#endif
