/* From a query to the filters of one run: sets of ranks become runs where they are few, tables
 * where they are many. */
#include "server/base/decimal.h"
#include "server/catalog/latency_query.h"
#include "server/catalog/rank.h"
#include "server/catalog/search.h"
#include "server/catalog/tier.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many runs, comparing with each is faster than a table. */
#define RUNS_MAX 16

static void add(struct plan *plan, struct filter filter)
{
    plan->filters[plan->filter_count++] = filter;
}

/* A filter on a column of 16-bit ranks below `count`: those marked in `set` pass. */
static void add_set(struct plan *plan, size_t column, const uint8_t *set, size_t count)
{
    struct rank_run *runs = arena_calloc(plan->arena, RUNS_MAX, sizeof(*runs));
    size_t run_count = 0;
    for (size_t i = 0; i < count && run_count <= RUNS_MAX; i++) {
        if (set[i] == 0)
            continue;
        size_t last = i;
        while (last + 1 < count && set[last + 1] != 0)
            last++;
        if (run_count < RUNS_MAX)
            runs[run_count] = (struct rank_run){(uint16_t)i, (uint16_t)last};
        run_count++;
        i = last;
    }
    if (run_count == 0) {
        plan->finds_nothing = true;
    } else if (run_count <= RUNS_MAX) {
        add(plan, (struct filter){
                      .kind = FILTER_RUNS, .column = column, .runs = runs, .count = run_count});
    } else {
        size_t size = count > RANK_NONE ? count : RANK_NONE + 1;
        uint8_t *table = arena_calloc(plan->arena, size + TABLE_PADDING, 1);
        memcpy(table, set, count);
        add(plan, (struct filter){.kind = FILTER_TABLE, .column = column, .table = table});
    }
}

static bool provider_passes(const struct query *query, const struct provider *provider)
{
    const struct trust_facts *trust = &provider->trust;
    return !provider->suspended &&
           (query->kind_bits == 0 || (query->kind_bits >> provider->kind & 1) != 0) &&
           (query->min_sla_percent_milli < 0 ||
            trust->sla_percent_milli >= query->min_sla_percent_milli) &&
           (query->burn_in < 0 || trust->burn_in == query->burn_in) &&
           (query->monitoring < 0 || trust->monitoring == query->monitoring) &&
           (query->on_site < 0 || trust->on_site == query->on_site);
}

static void plan_providers(struct plan *plan)
{
    const struct snapshot *snapshot = plan->snapshot;
    const struct query *query = plan->query;
    if (!snapshot->any_suspended && query->providers == NULL && query->kind_bits == 0 &&
        query->min_sla_percent_milli < 0 && query->burn_in < 0 && query->monitoring < 0 &&
        query->on_site < 0)
        return;
    uint8_t *set = arena_calloc(plan->arena, snapshot->slot_count, 1);
    for (size_t i = 0; i < query->provider_count; i++) {
        size_t slot = snapshot_slot(snapshot, query->providers[i]);
        if (slot != PROVIDERS_MAX)
            set[slot] = 1;
    }
    for (size_t slot = 0; slot < snapshot->slot_count; slot++) {
        const struct provider_view *view = snapshot->slots[slot];
        bool named = query->providers == NULL || set[slot] != 0;
        set[slot] =
            view != NULL && view->live > 0 && named && provider_passes(query, &view->provider);
    }
    add_set(plan, offsetof(struct segment, provider), set, snapshot->slot_count);
}

/* Ranks that pass, as far as ranks alone can tell; NULL: all. With extra rows only `also` narrows.
 */
static uint8_t *ranks_of(const struct plan *plan, const struct choice *choice, size_t count)
{
    const uint8_t *either = choice_has_extra(choice) ? NULL : choice->either;
    if (either == NULL && choice->also == NULL)
        return NULL;
    uint8_t *ranks = arena_calloc(plan->arena, count, 1);
    for (size_t i = 0; i < count; i++)
        ranks[i] =
            (either == NULL || either[i] != 0) && (choice->also == NULL || choice->also[i] != 0);
    return ranks;
}

/* Words that a GPU has are met by all its rows; GPUs whose other words nobody has are not looked
 * at.
 */
static void plan_words(struct plan *plan)
{
    const struct query *query = plan->query;
    struct word_filter *words = &plan->words;
    if (query->word_count == 0)
        return;
    word_filter_make(words, plan->snapshot, query->words, query->word_count, plan->arena);
    if (plan->gpus == NULL) {
        plan->gpus = arena_alloc(plan->arena, gpu_count());
        memset(plan->gpus, 1, gpu_count());
    }
    for (uint16_t rank = 0; rank < gpu_count(); rank++) {
        uint8_t rest = words->tables.need & (uint8_t)~words->tables.of_gpu[rank];
        plan->gpus[rank] &= (rest & (uint8_t)~words->elsewhere) == 0;
        plan->has_words |= plan->gpus[rank] != 0 && rest != 0;
    }
}

void plan_make(struct plan *plan, struct snapshot *snapshot, const struct query *query,
               int64_t now_us, struct arena *arena)
{
    *plan = (struct plan){
        .snapshot = snapshot,
        .query = query,
        .moment = snapshot_moment(snapshot, now_us),
        .arena = arena,
    };
    if (query->gpus_milli >= 0 || query->sort == SORT_TOTAL_PRICE)
        plan->tiers = arena_calloc(arena, 1, sizeof(*plan->tiers));
    plan->hides_stale = plan->moment->mixed && !query->include_stale && plan->moment->stale > 0;
    plan_providers(plan);
    plan->gpus = ranks_of(plan, &query->gpus, gpu_count());
    uint8_t *places = ranks_of(plan, &query->places, place_count());
    if (places != NULL)
        add_set(plan, offsetof(struct segment, place_rank), places, place_count());
    for (size_t i = 0; i < query->filter_count; i++)
        add(plan, query->filters[i]);
    plan_words(plan);
    plan->only_gpus = plan->filter_count == 0 && !choice_has_extra(&query->gpus) &&
                      !choice_has_extra(&query->places) && !query->price_filtered &&
                      !plan->hides_stale && !plan->has_words && !plan->finds_nothing;
}

/* Rows looked at for each that is wanted, and as a share of all, before the rest is only counted.
 */
#define NEAR_ROWS_EACH 8
#define NEAR_SHARE     64

struct near_place {
    int32_t centi;
    uint16_t rank;
    uint32_t rows;
};

static int compare_near(const void *a, const void *b)
{
    const struct near_place *x = a, *y = b;
    return x->centi < y->centi ? -1 : x->centi > y->centi;
}

void plan_near_places(struct plan *plan, size_t wanted)
{
    const struct snapshot *snapshot = plan->snapshot;
    const struct query *query = plan->query;
    struct near_place *places = arena_calloc(plan->arena, place_count(), sizeof(*places));
    size_t count = 0, rows = 0, all = 0;
    for (uint16_t rank = 0; rank < place_count(); rank++) {
        int32_t centi = query->latency->centi[rank];
        struct near_place place = {query->reversed ? -centi : centi, rank, 0};
        for (size_t i = 0; i < snapshot->segment_count; i++)
            place.rows += snapshot->segments[i]->place_rows[rank];
        all += place.rows;
        /* Rows before the cursor's are behind us. */
        if (place.rows > 0 && (!query->has_cursor || place.centi >= query->cursor_key))
            places[count++] = place;
    }
    if (count == 0) {
        plan->finds_nothing = true;
        return;
    }
    qsort(places, count, sizeof(*places), compare_near);
    uint8_t *set = arena_calloc(plan->arena, place_count(), 1);
    for (size_t i = 0; i < count; i++) {
        bool another_key = i == 0 || places[i].centi != places[i - 1].centi;
        if (another_key && rows >= wanted * NEAR_ROWS_EACH &&
            (plan->only_gpus || rows >= all / NEAR_SHARE))
            break; /* all places of one key or none: ties go by id */
        set[places[i].rank] = 1;
        if (!query->has_cursor || places[i].centi > query->cursor_key)
            rows += places[i].rows;
    }
    add_set(plan, offsetof(struct segment, place_rank), set, place_count());
    /* First, so that the others have little to look at. */
    struct filter near = plan->filters[plan->filter_count - 1];
    memmove(plan->filters + 1, plan->filters, (plan->filter_count - 1) * sizeof(near));
    plan->filters[0] = near;
    plan->only_gpus = false;
}

static void set_bit(uint64_t *bits, size_t index, bool yes)
{
    bits[index / WORD_ROWS] |= (uint64_t)yes << (index % WORD_ROWS);
}

/* Rows of a segment that a choice takes in; NULL where its ranks say it all. */
static uint64_t *extra_rows(const struct plan *plan, const struct choice *choice,
                            const struct segment *segment, bool gpus)
{
    if (!choice_has_extra(choice))
        return NULL;
    const struct segment_names *names = gpus ? &segment->gpu_names : &segment->region_names;
    const uint32_t *column = gpus ? segment->gpu_name : segment->region_name;
    const uint16_t *ranks = gpus ? segment->gpu_rank : segment->place_rank;
    size_t words = (size_t)segment->row_count / WORD_ROWS + 1;
    uint64_t *extra = arena_calloc(plan->arena, words, sizeof(*extra));
    uint8_t *wanted = arena_calloc(plan->arena, names->count, 1);
    for (size_t i = 0; i < choice->name_count; i++) {
        uint32_t name = segment_names_find(names, choice->names[i]);
        if (name != UINT32_MAX)
            wanted[name] = 1;
    }
    for (uint32_t row = 0; row < segment->row_count; row++)
        set_bit(extra, row,
                wanted[column[row]] != 0 ||
                    (ranks[row] != RANK_NONE && choice->either[ranks[row]] != 0));
    for (size_t i = 0; i < choice->sized_count; i++) {
        const struct sized_gpu *sized = &choice->sized[i];
        for (uint32_t row = segment->gpu_start[sized->rank];
             row < segment->gpu_start[sized->rank + 1]; row++)
            set_bit(extra, row, segment->vram_gb_milli[row] == sized->vram_gb_milli);
    }
    return extra;
}

struct segment_view plan_view(const struct plan *plan, size_t index)
{
    const struct segment *segment = plan->snapshot->segments[index];
    return (struct segment_view){
        .plan = plan,
        .index = (uint32_t)index,
        .segment = segment,
        .alive = plan->snapshot->alive[index],
        .extra_gpus = extra_rows(plan, &plan->query->gpus, segment, true),
        .extra_places = extra_rows(plan, &plan->query->places, segment, false),
    };
}

/* Rows of one GPU are a run of their own from so many on. */
#define APART_ROWS 256

/* Behind the last row of [first, last) whose cheapest price is at most `price`: rows behind it have
 * no price as low. */
static uint32_t upper_bound(const struct segment *segment, uint32_t first, uint32_t last,
                            int64_t price)
{
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (segment->cheapest_microusd[middle] <= price)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

bool plan_next_run(const struct segment_view *view, bool apart, struct row_run *run)
{
    const struct plan *plan = view->plan;
    const struct segment *segment = view->segment;
    const uint32_t *start = segment->gpu_start;
    int64_t highest = plan->query->max_price_microusd;
    uint16_t ranks = gpu_count(), rank = run->next;
    apart = apart || highest != INT64_MAX;
    while (rank < ranks &&
           ((plan->gpus != NULL && plan->gpus[rank] == 0) || start[rank] == start[rank + 1]))
        rank++;
    if (rank >= ranks)
        return false;
    run->first = start[rank];
    run->last = start[rank + 1];
    run->one_gpu = run->last - run->first >= APART_ROWS;
    for (rank++; rank < ranks && !(apart && run->one_gpu); rank++) {
        uint32_t rows = start[rank + 1] - start[rank];
        bool wanted = plan->gpus == NULL || plan->gpus[rank] != 0;
        if ((!wanted && rows > 0) || (apart && rows >= APART_ROWS))
            break;
        run->one_gpu = run->one_gpu && rows == 0;
        run->last = start[rank + 1];
    }
    run->next = rank;
    if (run->one_gpu && highest != INT64_MAX)
        run->last = upper_bound(segment, run->first, run->last, highest);
    return true;
}
