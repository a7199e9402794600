/* Offers as they were: the row of now, with every change since undone, newest first. A change holds
 * the prices it brought and those it took away; undoing it takes out the former by identity and
 * puts the latter back. */
#include "db/fixing.h"
#include "db/offer_row.h"
#include "server/base/timestamp.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stdlib.h>
#include <string.h>

/* An offer on its way back. */
struct rewind {
    struct past_offer past;
    int64_t own_us; /* of the row of now; TIMESTAMP_UNKNOWN where it is gone */
    bool known;     /* its GPU and the rest */
    struct price *prices;
    size_t price_count, price_capacity;
};

struct rewinding {
    struct arena *arena;
    struct rewind **list;
    size_t count, capacity;
};

static int compare_rewinds(const void *a, const void *b)
{
    const struct rewind *x = *(struct rewind *const *)a, *y = *(struct rewind *const *)b;
    return memcmp(x->past.id, y->past.id, OFFER_ID_BYTES);
}

static struct rewind *add(struct rewinding *all, const uint8_t id[static OFFER_ID_BYTES])
{
    if (all->count == all->capacity) {
        size_t capacity = all->capacity * 2 + 64;
        struct rewind **list = arena_calloc(all->arena, capacity, sizeof(*list));
        if (all->count > 0)
            memcpy(list, all->list, all->count * sizeof(*list));
        all->list = list;
        all->capacity = capacity;
    }
    struct rewind *rewind = arena_calloc(all->arena, 1, sizeof(*rewind));
    memcpy(rewind->past.id, id, OFFER_ID_BYTES);
    rewind->own_us = TIMESTAMP_UNKNOWN;
    all->list[all->count++] = rewind;
    return rewind;
}

static struct rewind *find(const struct rewinding *all, const uint8_t id[static OFFER_ID_BYTES])
{
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(all->list[middle]->past.id, id, OFFER_ID_BYTES);
        if (order == 0)
            return all->list[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- changes ---- */

/* A change since, in the order undone. */
struct undo {
    uint8_t id[OFFER_ID_BYTES];
    int64_t provider_id;
    int32_t before_gpu_count_milli;
    struct price *before, *after;
    size_t before_count, after_count;
    bool described; /* what the offer was before it is recorded: not where it was new, nor by
                       releases before fixings */
    uint16_t gpu, place;
    enum source_kind source_kind;
    uint32_t flags;
};
struct undo_list {
    struct arena *arena;
    struct undo *items;
    size_t count, capacity;
};

static bool take_change(void *closure, struct db_row *row)
{
    struct undo_list *list = closure;
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 64;
        list->items = xrealloc(list->items, list->capacity * sizeof(*list->items));
    }
    struct undo *undo = &list->items[list->count++];
    *undo = (struct undo){.place = INDEX_NONE};
    if (!row_fixed_bytes(row, undo->id, sizeof(undo->id)))
        return false;
    undo->provider_id = row_bigint(row);
    undo->before_gpu_count_milli = row_integer(row);
    if (!price_array_read(row, list->arena, undo->before_gpu_count_milli, &undo->before,
                          &undo->before_count))
        return false;
    int32_t after_gpu_count_milli = row_integer(row);
    if (!price_array_read(row, list->arena, after_gpu_count_milli, &undo->after,
                          &undo->after_count))
        return false;
    const char *gpu = row_text(row, list->arena), *place = row_text(row, list->arena);
    const char *source = row_text(row, list->arena);
    int32_t flags = row_integer(row);
    if (gpu == NULL)
        return true;
    undo->described = true;
    undo->flags = flags < 0 ? 0 : (uint32_t)flags;
    undo->gpu = gpu_find(gpu) == INDEX_NONE ? gpu_unrecognized() : gpu_find(gpu);
    undo->place = place == NULL ? INDEX_NONE : place_find(place);
    return source_kind_parse(source, &undo->source_kind);
}

static void take_out(struct rewind *rewind, const struct price *price)
{
    for (size_t i = 0; i < rewind->price_count; i++) {
        if (price_compare_identity(&rewind->prices[i], price) == 0) {
            rewind->prices[i] = rewind->prices[--rewind->price_count];
            return;
        }
    }
}

static void put_back(struct rewind *rewind, const struct price *price, struct arena *arena)
{
    if (rewind->price_count == rewind->price_capacity) {
        size_t capacity = rewind->price_capacity * 2 + 4;
        struct price *prices = arena_calloc(arena, capacity, sizeof(*prices));
        if (rewind->price_count > 0)
            memcpy(prices, rewind->prices, rewind->price_count * sizeof(*prices));
        rewind->prices = prices;
        rewind->price_capacity = capacity;
    }
    rewind->prices[rewind->price_count++] = *price;
}

static void undo_one(struct rewind *rewind, const struct undo *undo, struct arena *arena)
{
    rewind->past.provider_id = undo->provider_id;
    for (size_t i = 0; i < undo->after_count; i++)
        take_out(rewind, &undo->after[i]);
    for (size_t i = 0; i < undo->before_count; i++) {
        take_out(rewind, &undo->before[i]);
        put_back(rewind, &undo->before[i], arena);
    }
    if (undo->before_count > 0)
        rewind->past.offer.gpu_count_milli = undo->before_gpu_count_milli;
    if (undo->described) {
        rewind->known = true;
        rewind->past.offer.gpu = undo->gpu;
        rewind->past.offer.place = undo->place;
        rewind->past.offer.source_kind = undo->source_kind;
        rewind->past.offer.flags = undo->flags;
    }
}

/* ---- offers of now ---- */

static bool take_live(void *closure, struct db_row *row)
{
    struct rewinding *all = closure;
    struct offer_row stored;
    struct db_row provider_column = *row;
    if (!offer_row_read(row, all->arena, &stored))
        return false;
    struct rewind *rewind = find(all, stored.id);
    if (rewind == NULL)
        return false;
    (void)row_bytes(&provider_column, &(size_t){0}); /* id */
    rewind->past.provider_id = row_bigint(&provider_column);
    rewind->past.offer = stored.offer;
    rewind->known = true;
    rewind->own_us = stored.offer.observed_at_us;
    for (size_t i = 0; i < stored.offer.price_count; i++)
        put_back(rewind, &stored.offer.prices[i], all->arena);
    return true;
}

static bool take_last_change(void *closure, struct db_row *row)
{
    uint8_t id[OFFER_ID_BYTES];
    if (!row_fixed_bytes(row, id, sizeof(id)))
        return false;
    struct rewind *rewind = find(closure, id);
    if (rewind != NULL)
        rewind->past.offer.observed_at_us = row_time(row);
    return rewind != NULL;
}

static void add_ids(struct db_params *params, const struct rewinding *all)
{
    param_array_begin(params, BYTEA_OID, all->count);
    for (size_t i = 0; i < all->count; i++)
        wire_bytes(&params->bytes, all->list[i]->past.id, OFFER_ID_BYTES);
    param_array_end(params);
}

/* Each id once, sorted. */
static void list_ids(struct rewinding *all, const struct undo_list *undos,
                     const uint8_t (*ids)[OFFER_ID_BYTES], size_t id_count)
{
    for (size_t i = 0; i < undos->count; i++) {
        if (i == 0 || memcmp(undos->items[i].id, undos->items[i - 1].id, OFFER_ID_BYTES) != 0)
            (void)add(all, undos->items[i].id);
    }
    size_t changed = all->count;
    for (size_t i = 0; i < id_count; i++) {
        struct rewinding sorted = {.list = all->list, .count = changed};
        if (find(&sorted, ids[i]) == NULL)
            (void)add(all, ids[i]);
    }
    if (all->count > 1)
        qsort(all->list, all->count, sizeof(*all->list), compare_rewinds);
}

/* What is left when all is undone. */
static void settle(struct rewind *rewind, int64_t at_us, int64_t grace_us)
{
    struct past_offer *past = &rewind->past;
    struct offer *offer = &past->offer;
    past->existed = rewind->known && rewind->price_count > 0;
    if (!past->existed)
        return;
    for (size_t i = 0; i < rewind->price_count; i++)
        (void)price_derive(&rewind->prices[i], offer->gpu_count_milli);
    offer->prices = rewind->prices;
    offer->price_count = rewind->price_count;
    offer->external_id = "";
    offer->gpu_raw = "";
    if (rewind->own_us != TIMESTAMP_UNKNOWN && rewind->own_us <= at_us + grace_us)
        offer->observed_at_us = rewind->own_us;
}

enum db_status db_fixing_past_offers(struct db_connection *connection, int64_t at_us,
                                     int64_t grace_us, const uint8_t (*ids)[OFFER_ID_BYTES],
                                     size_t id_count, struct arena *arena,
                                     struct past_offer **ret_offers, size_t *ret_count)
{
    struct undo_list undos = {.arena = arena};
    struct rewinding all = {.arena = arena};
    struct db_params params = {0};
    param_time(&params, at_us);
    enum db_status status =
        db_run_each(connection, STATEMENT_FIXING_CHANGES, &params, 0, take_change, &undos);
    params_free(&params);
    if (status == DB_OK) {
        list_ids(&all, &undos, ids, id_count);
        add_ids(&params, &all);
        status =
            db_run_each(connection, STATEMENT_FIXING_OFFERS, &params, all.count, take_live, &all);
        params_free(&params);
    }
    for (size_t i = 0; i < undos.count && status == DB_OK; i++) {
        struct rewind *rewind = find(&all, undos.items[i].id);
        if (rewind != NULL) /* each id was listed */
            undo_one(rewind, &undos.items[i], arena);
    }
    free(undos.items);
    if (status == DB_OK) {
        add_ids(&params, &all);
        param_time(&params, at_us);
        status = db_run_each(connection, STATEMENT_FIXING_LAST_CHANGES, &params, all.count,
                             take_last_change, &all);
        params_free(&params);
    }
    if (status != DB_OK)
        return status;
    *ret_offers = arena_calloc(arena, all.count, sizeof(**ret_offers));
    *ret_count = all.count;
    for (size_t i = 0; i < all.count; i++) {
        settle(all.list[i], at_us, grace_us);
        (*ret_offers)[i] = all.list[i]->past;
    }
    return DB_OK;
}
