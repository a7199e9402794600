/* One upload while it is decoded: the caller's arena for what stays, a scratch arena for the row in
 * hand, the offers so far, and what was resolved already. One thread. */
#ifndef RACKRATE_INVENTORY_DECODING_H
#define RACKRATE_INVENTORY_DECODING_H

#include "server/inventory/inventory.h"
#include "server/inventory/text.h"
#include "server/reference/gpu.h"

#define RESOLVED_SLOTS 256

/* A name resolved before; texts are pointers into the pool. */
struct resolved_gpu {
    const char *raw;
    int64_t vram_hint_gb_milli;
    struct gpu_match match;
};
struct resolved_place {
    const char *region, *zone;
    bool known;
    uint16_t place;
};

struct decoding {
    const struct decode_options *options;
    const char *bytes;
    size_t length;
    struct arena *arena;
    struct arena scratch;
    struct upload *upload;
    struct decode_error *error;
    struct text_pool texts;
    size_t offer_capacity;
    int64_t *rows; /* the row number of each offer, malloc'd */
    size_t row_capacity;
    bool offers_moved;           /* the list outgrew its place and is another one now */
    const _Atomic bool *dropped; /* of a half: nobody wants it any more; NULL of a whole */
    struct decode_half *half;    /* the second half, on its thread; NULL none */
    struct resolved_gpu gpus[RESOLVED_SLOTS];
    struct resolved_place places[RESOLVED_SLOTS];
};

enum decode_status decode_json(struct decoding *decoding);
enum decode_status decode_ndjson(struct decoding *decoding);
enum decode_status decode_csv(struct decoding *decoding);
enum decode_status decode_skypilot(struct decoding *decoding);
enum decode_status decode_gpurentalprices(struct decoding *decoding);

/* Starts and ends one; ending frees all but what lives in the caller's arena. A decoding is large:
 * it is malloc'd. */
struct decoding *decoding_begin(const struct decode_options *options, const char *bytes,
                                size_t length, struct arena *arena, struct upload *upload,
                                struct decode_error *error);
void decoding_end(struct decoding *decoding);

/* Makes room for so many offers at once, so that the list never moves. Pages that are not used cost
 * nothing. */
void decoding_reserve(struct decoding *decoding, size_t offers);

/* Takes a good offer of a row. */
void decoding_add(struct decoding *decoding, int64_t row, const struct offer *offer);

/* Counts a row, reports progress; false (and the error is filled) past UPLOAD_ROWS_MAX rows or
 * UPLOAD_ISSUES_MAX issues: the upload is then refused whole, DECODE_TOO_LARGE. */
bool decoding_count_row(struct decoding *decoding, size_t bytes_consumed);

/* Sorts the offers by external_id and refuses later ones with an id that came before. A `#` in the
 * pattern of their pointer stands for the row's index from 0. */
void decoding_sort(struct decoding *decoding, const char *pointer_pattern);

/* What a name means, remembered. `raw`, `region` and `zone` come from the pool (or are NULL). */
const struct gpu_match *decoding_resolve_gpu(struct decoding *decoding, const char *raw,
                                             int64_t vram_hint_gb_milli);
uint16_t decoding_resolve_place(struct decoding *decoding, const char *region, const char *zone);

/* The text, kept. */
const char *decoding_keep(struct decoding *decoding, const char *text);

/* Fills the error with a printf text. */
void decoding_fail(struct decoding *decoding, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
