/* A copy of the estimates with the measured cells written over, made only where something was
 * measured; what lies behind a cell is found by binary search. */
#include "server/reference/latency_book.h"

#include "server/base/arena.h"
#include "server/base/crypto.h"
#include "server/model/offer.h"
#include "server/reference/place.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FRESH_US ((int64_t)LATENCY_FRESH_DAYS * 86400 * 1000000)

struct latency_book {
    _Atomic size_t references;
    int64_t version;
    uint64_t hash;
    struct arena strings;
    struct latency_measurement *list; /* by id */
    size_t count;
    latency_cell *cells;
    const struct latency_measurement **counting; /* one a direction, by (from, to) */
    size_t counting_count;
    const struct latency_measurement **contradicting; /* by provider, then how far below */
    size_t contradicting_count;
};

bool latency_is_old(const struct latency_measurement *measurement, int64_t now_us)
{
    return measurement->measured_at_us < now_us - FRESH_US;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = ((const struct latency_measurement *)a)->id,
            y = ((const struct latency_measurement *)b)->id;
    return (x > y) - (x < y);
}

/* Above 0 where a counts rather than b. */
static int precedence(const struct latency_measurement *a, const struct latency_measurement *b)
{
    bool a_operator = a->measured_by == NULL, b_operator = b->measured_by == NULL;
    if (a_operator != b_operator) {
        const struct latency_measurement *by_operator = a_operator ? a : b,
                                         *other = a_operator ? b : a;
        bool outdated = other->measured_at_us - by_operator->measured_at_us > FRESH_US;
        return a_operator != outdated ? 1 : -1;
    }
    if (a->measured_at_us != b->measured_at_us)
        return a->measured_at_us > b->measured_at_us ? 1 : -1;
    return a->id < b->id ? 1 : -1;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct latency_measurement *x = *(const struct latency_measurement *const *)a,
                                     *y = *(const struct latency_measurement *const *)b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return 0;
}

static int compare_doubts(const void *a, const void *b)
{
    const struct latency_measurement *x = *(const struct latency_measurement *const *)a,
                                     *y = *(const struct latency_measurement *const *)b;
    int order = strcmp(x->provider, y->provider);
    if (order != 0)
        return order;
    int32_t below_x = x->floor_us - x->median_us, below_y = y->floor_us - y->median_us;
    if (below_x != below_y)
        return below_x > below_y ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorts those that count by pair and keeps one of each. */
static void choose(struct latency_book *book)
{
    size_t kept = 0;
    book->counting = xcalloc(book->count + 1, sizeof(*book->counting));
    for (size_t i = 0; i < book->count; i++) {
        if (!latency_contradicts(&book->list[i]))
            book->counting[book->counting_count++] = &book->list[i];
    }
    qsort(book->counting, book->counting_count, sizeof(*book->counting), compare_pairs);
    for (size_t i = 0; i < book->counting_count; i++) {
        if (kept == 0 || compare_pairs(&book->counting[kept - 1], &book->counting[i]) != 0)
            book->counting[kept++] = book->counting[i];
        else if (precedence(book->counting[i], book->counting[kept - 1]) > 0)
            book->counting[kept - 1] = book->counting[i];
    }
    book->counting_count = kept;
}

static const struct latency_measurement *find(const struct latency_book *book, uint16_t from,
                                              uint16_t to)
{
    size_t low = 0, high = book->counting_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct latency_measurement *at = book->counting[middle];
        if (at->from == from && at->to == to)
            return at;
        if (at->from < from || (at->from == from && at->to < to))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void make_cells(struct latency_book *book)
{
    size_t places = place_count();
    book->cells = xcalloc(places * places, sizeof(*book->cells));
    memcpy(book->cells, latency_estimates(), places * places * sizeof(*book->cells));
    for (size_t i = 0; i < book->counting_count; i++) {
        const struct latency_measurement *at = book->counting[i];
        latency_cell cell = LATENCY_CELL((at->median_us + 5) / 10, true);
        book->cells[at->from * places + at->to] = cell;
        if (find(book, at->to, at->from) == NULL)
            book->cells[at->to * places + at->from] = cell;
    }
}

static void gather_doubts(struct latency_book *book)
{
    book->contradicting = xcalloc(book->count + 1, sizeof(*book->contradicting));
    for (size_t i = 0; i < book->count; i++) {
        const struct latency_measurement *at = &book->list[i];
        /* Rivals can't: only who runs this, and whose claim it is. */
        if (latency_contradicts(at) && at->provider != NULL &&
            (at->measured_by == NULL || strcmp(at->measured_by, at->provider) == 0))
            book->contradicting[book->contradicting_count++] = at;
    }
    qsort(book->contradicting, book->contradicting_count, sizeof(*book->contradicting),
          compare_doubts);
}

static void hash_text(struct crypt_hasher *hasher, const char *text)
{
    crypt_hasher_add(hasher, text == NULL ? "" : text, text == NULL ? 1 : strlen(text) + 1);
}

static uint64_t hash_of(const struct latency_measurement *list, size_t count)
{
    struct crypt_hasher hasher;
    uint8_t hash[16];
    uint64_t result;
    crypt_hasher_init(&hasher, sizeof(hash));
    crypt_hasher_add(&hasher, &latency_model.fixed_ms, sizeof(double));
    crypt_hasher_add(&hasher, latency_model.pair_weights, sizeof(latency_model.pair_weights));
    for (size_t i = 0; i < count; i++) {
        const struct latency_measurement *at = &list[i];
        const int64_t numbers[] = {at->id,     at->from,    at->to,       at->median_us,
                                   at->p95_us, at->samples, at->floor_us, at->measured_at_us};
        crypt_hasher_add(&hasher, numbers, sizeof(numbers));
        hash_text(&hasher, at->provider);
        hash_text(&hasher, at->zone);
        hash_text(&hasher, at->measured_by);
        hash_text(&hasher, at->source);
    }
    crypt_hasher_finish(&hasher, hash);
    memcpy(&result, hash, sizeof(result));
    return result;
}

struct latency_book *latency_book_new(int64_t version, const struct latency_measurement *list,
                                      size_t count)
{
    struct latency_book *book = xcalloc(1, sizeof(*book));
    book->references = 1;
    book->version = version;
    book->list = xcalloc(count + 1, sizeof(*book->list));
    book->count = count;
    for (size_t i = 0; i < count; i++) {
        struct latency_measurement *to = &book->list[i];
        *to = list[i];
        to->provider = arena_strdup(&book->strings, list[i].provider);
        to->zone = arena_strdup(&book->strings, list[i].zone);
        to->measured_by = arena_strdup(&book->strings, list[i].measured_by);
        to->source = arena_strdup(&book->strings, list[i].source);
    }
    qsort(book->list, count, sizeof(*book->list), compare_ids);
    book->hash = hash_of(book->list, count);
    choose(book);
    gather_doubts(book);
    if (book->counting_count > 0)
        make_cells(book);
    return book;
}

struct latency_book *latency_book_reference(struct latency_book *book)
{
    if (book != NULL)
        atomic_fetch_add_explicit(&book->references, 1, memory_order_relaxed);
    return book;
}

void latency_book_release(struct latency_book *book)
{
    if (book == NULL || atomic_fetch_sub_explicit(&book->references, 1, memory_order_acq_rel) != 1)
        return;
    arena_free(&book->strings);
    free(book->list);
    free(book->cells);
    free(book->counting);
    free(book->contradicting);
    free(book);
}

int64_t latency_book_version(const struct latency_book *book)
{
    return book == NULL ? 0 : book->version;
}

static uint64_t empty_hash;
static pthread_once_t empty_once = PTHREAD_ONCE_INIT;

static void hash_empty(void)
{
    empty_hash = hash_of(NULL, 0);
}

uint64_t latency_book_hash(const struct latency_book *book)
{
    pthread_once(&empty_once, hash_empty);
    return book == NULL ? empty_hash : book->hash;
}

const latency_cell *latency_book_row(const struct latency_book *book, uint16_t from)
{
    const latency_cell *cells =
        book == NULL || book->cells == NULL ? latency_estimates() : book->cells;
    return cells + (size_t)from * place_count();
}

const struct latency_measurement *latency_book_find(const struct latency_book *book, uint16_t from,
                                                    uint16_t to, bool *ret_reversed)
{
    *ret_reversed = false;
    if (book == NULL)
        return NULL;
    const struct latency_measurement *there = find(book, from, to);
    if (there != NULL)
        return there;
    *ret_reversed = true;
    return find(book, to, from);
}

size_t latency_book_list(const struct latency_book *book,
                         const struct latency_measurement **ret_list)
{
    *ret_list = book == NULL ? NULL : book->list;
    return book == NULL ? 0 : book->count;
}

/* Index of the first contradiction of a provider, or of where it would be. */
static size_t first_doubt(const struct latency_book *book, const char *provider)
{
    size_t low = 0, high = book->contradicting_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(book->contradicting[middle]->provider, provider) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool latency_book_doubts(const struct latency_book *book, const char *provider)
{
    if (book == NULL || book->contradicting_count == 0)
        return false;
    size_t at = first_doubt(book, provider);
    return at < book->contradicting_count &&
           strcmp(book->contradicting[at]->provider, provider) == 0;
}

const struct latency_measurement *latency_book_contradiction(const struct latency_book *book,
                                                             const char *provider, uint16_t place,
                                                             const char *zone)
{
    if (book == NULL)
        return NULL;
    for (size_t i = first_doubt(book, provider); i < book->contradicting_count; i++) {
        const struct latency_measurement *at = book->contradicting[i];
        if (strcmp(at->provider, provider) != 0)
            return NULL;
        if (at->to == place && (at->zone == NULL || (zone != NULL && strcmp(at->zone, zone) == 0)))
            return at;
    }
    return NULL;
}
