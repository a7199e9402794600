/* The halves share nothing while they run but the body, the options and one reserved list of offers
 * of which each fills its own part. */
#include "server/inventory/decode_half.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOVE_BYTES ((size_t)1 << 20)

struct decode_half {
    pthread_t thread;
    half_run *run;
    const char *start, *end;
    struct decode_options options;
    struct decoding *decoding;
    struct arena arena;
    struct upload upload;
    struct decode_error error;
    enum decode_status status;
    _Atomic bool dropped;
};

static void *half_main(void *argument)
{
    struct decode_half *half = argument;
    half->status = half->run(half->decoding, half->start, &half->end);
    return NULL;
}

struct decode_half *decode_half_begin(struct decoding *decoding, const char *start, half_run *run)
{
    /* The list is reserved for the shortest offers there can be, so that its parts lie as the
     * halves of the body do. */
    size_t capacity = decoding->offer_capacity;
    size_t first = (size_t)((double)capacity *
                            ((double)(start - decoding->bytes) / (double)decoding->length)) +
                   1;
    if (first >= capacity)
        return NULL;
    struct decode_half *half = xcalloc(1, sizeof(*half));
    half->run = run;
    half->start = start;
    half->options = *decoding->options;
    half->options.progress = NULL; /* told of by the first half alone */
    half->decoding = decoding_begin(&half->options, decoding->bytes, decoding->length, &half->arena,
                                    &half->upload, &half->error);
    half->decoding->dropped = &half->dropped;
    half->upload.offers = decoding->upload->offers + first;
    half->decoding->offer_capacity = capacity - first;
    if (pthread_create(&half->thread, NULL, half_main, half) != 0) {
        decoding_end(half->decoding);
        free(half);
        return NULL;
    }
    decoding->offer_capacity = first;
    return half;
}

const char *decode_half_start(const struct decode_half *half)
{
    return half->start;
}

/* Moves offers down the list piece by piece, giving the pages they leave back, so that they are
 * never held twice. */
static void move_offers(struct offer *to, struct offer *from, size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), piece = MOVE_BYTES / sizeof(*from);
    for (size_t done = 0; done < count; done += piece) {
        size_t now = count - done < piece ? count - done : piece;
        memmove(to + done, from + done, now * sizeof(*from));
        uintptr_t first = ((uintptr_t)(from + done) + page - 1) & ~(uintptr_t)(page - 1);
        uintptr_t last = (uintptr_t)(from + done + now) & ~(uintptr_t)(page - 1);
        uintptr_t live = (uintptr_t)(to + done + now); /* what was moved must stay */
        if (first < live)
            first = (live + page - 1) & ~(uintptr_t)(page - 1);
        if (last > first)
            (void)madvise((void *)first, last - first, MADV_DONTNEED);
    }
}

static void take_offers(struct decoding *decoding, struct decode_half *half, int64_t rows_before)
{
    struct upload *upload = decoding->upload;
    size_t count = half->upload.offer_count, all = upload->offer_count + count;
    /* Still the list both parts were reserved in, unless one of them outgrew its part. */
    bool together = half->upload.offers > upload->offers &&
                    half->upload.offers < upload->offers + UPLOAD_ROWS_MAX &&
                    half->decoding->offer_capacity > 0 && !half->decoding->offers_moved &&
                    !decoding->offers_moved;
    if (together) {
        move_offers(upload->offers + upload->offer_count, half->upload.offers, count);
        decoding->offer_capacity = all;
    } else {
        decoding_reserve(decoding, all);
        memcpy(upload->offers + upload->offer_count, half->upload.offers,
               count * sizeof(*upload->offers));
    }
    upload->offer_count = all;
    decoding->rows = xrealloc(decoding->rows, (all + 1) * sizeof(*decoding->rows));
    decoding->row_capacity = all + 1;
    for (size_t i = 0; i < count; i++)
        decoding->rows[all - count + i] = half->decoding->rows[i] + rows_before;
}

/* "/offers/7/gpu" of a half whose rows come after 10 others is "/offers/17/gpu". */
static const char *shift_pointer(struct arena *arena, const char *pointer, int64_t rows_before)
{
    static const char prefix[] = "/offers/";
    char *rest;
    if (pointer == NULL || strncmp(pointer, prefix, sizeof(prefix) - 1) != 0)
        return pointer;
    long long index = strtoll(pointer + sizeof(prefix) - 1, &rest, 10);
    return arena_printf(arena, "%s%lld%s", prefix, index + (long long)rows_before, rest);
}

static void take_issues(struct arena *arena, struct row_issues *to, const struct row_issues *from,
                        int64_t rows_before)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct row_issue *issue = &from->items[i];
        row_issues_add(arena, to, issue->row + rows_before, issue->external_id,
                       shift_pointer(arena, issue->pointer, rows_before), issue->code,
                       issue->message);
    }
}

const char *decode_half_take(struct decoding *decoding, struct decode_half *half,
                             int64_t rows_before)
{
    struct upload *upload = decoding->upload;
    pthread_join(half->thread, NULL);
    const char *end = NULL;
    if (half->status == DECODE_OK &&
        upload->rows_read + half->upload.rows_read <= UPLOAD_ROWS_MAX &&
        upload->errors.count + half->upload.errors.count <= UPLOAD_ISSUES_MAX) {
        end = half->end;
        take_offers(decoding, half, rows_before);
        take_issues(decoding->arena, &upload->errors, &half->upload.errors, rows_before);
        take_issues(decoding->arena, &upload->warnings, &half->upload.warnings, rows_before);
        upload->rows_read += half->upload.rows_read;
        upload->rejected += half->upload.rejected;
        upload->skipped += half->upload.skipped;
        arena_adopt(decoding->arena, &half->arena);
    }
    arena_free(&half->arena);
    decoding_end(half->decoding);
    free(half);
    return end;
}

void decode_half_drop(struct decode_half *half)
{
    if (half == NULL)
        return;
    half->dropped = true;
    pthread_join(half->thread, NULL);
    arena_free(&half->arena);
    decoding_end(half->decoding);
    free(half);
}
