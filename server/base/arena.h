/* A bump allocator: many small allocations, one free. A request, an upload and a search each own
 * one; everything that lives as long as they do is allocated from it. Out of memory aborts the
 * process (what a client can make large is bounded before it gets here). An arena belongs to one
 * thread at a time. */
#ifndef RACKRATE_BASE_ARENA_H
#define RACKRATE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first; NULL when empty */
    char *next;                 /* first free byte of the newest block */
    char *limit;                /* one past its last byte */
    size_t allocated_bytes;     /* sum of the sizes of all blocks */
};

/* An empty arena; `struct arena a = {0}` is one as well. Allocates nothing. */
void arena_init(struct arena *arena);

/* Frees every block. The arena is empty and usable afterwards. */
void arena_free(struct arena *arena);

/* Takes all of another arena's blocks: what was allocated there lives as long as this one. The
 * other is empty and usable afterwards. */
void arena_adopt(struct arena *arena, struct arena *other);

/* Forgets all allocations but keeps the largest block for reuse. */
void arena_reset(struct arena *arena);

/* `size` bytes aligned for any type, not cleared. Never NULL. size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size)
    __attribute__((malloc, alloc_size(2), returns_nonnull));

/* As arena_alloc for `count` x `size` zeroed bytes; aborts on overflow of the product. */
void *arena_calloc(struct arena *arena, size_t count, size_t size)
    __attribute__((malloc, alloc_size(2, 3), returns_nonnull));

/* A copy of the first `length` bytes of `bytes` with a NUL behind. */
char *arena_strndup(struct arena *arena, const char *bytes, size_t length);

/* A copy of a string, or NULL of NULL. */
char *arena_strdup(struct arena *arena, const char *string);

/* printf into the arena. */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* malloc, calloc, realloc and strdup that abort on failure, for what outlives any arena. Free with
 * free(). */
void *xmalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
void *xrealloc(void *pointer, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *string) __attribute__((malloc, returns_nonnull));

#endif
