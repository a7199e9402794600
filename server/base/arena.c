/* Arena blocks are a linked list, each at least twice as large as the one before up to 1 MiB, so
 * that a big upload takes few mallocs and a small request one. */
#include "server/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_FIRST_BLOCK_BYTES  ((size_t)4096)
#define ARENA_LARGEST_STEP_BYTES ((size_t)1 << 20)

struct arena_block {
    struct arena_block *older;
    size_t size; /* usable bytes behind this header */
    alignas(max_align_t) char bytes[];
};

static void die_out_of_memory(size_t size)
{
    fprintf(stderr, "rackrate: out of memory asking for %zu bytes\n", size);
    abort();
}

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

void arena_free(struct arena *arena)
{
    struct arena_block *block = arena->blocks;
    while (block != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    arena_init(arena);
}

void arena_adopt(struct arena *arena, struct arena *other)
{
    if (other->blocks == NULL)
        return;
    if (arena->blocks == NULL) {
        *arena = *other;
    } else {
        /* Behind the newest block, which is still being filled. */
        struct arena_block *oldest = other->blocks;
        while (oldest->older != NULL)
            oldest = oldest->older;
        oldest->older = arena->blocks->older;
        arena->blocks->older = other->blocks;
        arena->allocated_bytes += other->allocated_bytes;
    }
    arena_init(other);
}

void arena_reset(struct arena *arena)
{
    struct arena_block *largest = arena->blocks;
    for (struct arena_block *block = arena->blocks; block != NULL; block = block->older) {
        if (block->size > largest->size)
            largest = block;
    }
    struct arena_block *block = arena->blocks;
    while (block != NULL) {
        struct arena_block *older = block->older;
        if (block != largest)
            free(block);
        block = older;
    }
    arena_init(arena);
    if (largest != NULL) {
        largest->older = NULL;
        arena->blocks = largest;
        arena->next = largest->bytes;
        arena->limit = largest->bytes + largest->size;
        arena->allocated_bytes = largest->size;
    }
}

static void arena_grow(struct arena *arena, size_t at_least)
{
    size_t size = ARENA_FIRST_BLOCK_BYTES;
    if (arena->blocks != NULL)
        size = arena->blocks->size * 2;
    if (size > ARENA_LARGEST_STEP_BYTES)
        size = ARENA_LARGEST_STEP_BYTES;
    if (size < at_least)
        size = at_least;
    struct arena_block *block = malloc(sizeof(*block) + size);
    if (block == NULL)
        die_out_of_memory(size);
    block->older = arena->blocks;
    block->size = size;
    arena->blocks = block;
    arena->next = block->bytes;
    arena->limit = block->bytes + size;
    arena->allocated_bytes += size;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t alignment = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        die_out_of_memory(size);
    size = (size + alignment - 1) & ~(alignment - 1);
    if (arena->blocks == NULL || size > (size_t)(arena->limit - arena->next))
        arena_grow(arena, size);
    void *result = arena->next;
    arena->next += size;
    return result;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    size_t product;
    if (__builtin_mul_overflow(count, size, &product))
        die_out_of_memory(SIZE_MAX);
    void *result = arena_alloc(arena, product);
    memset(result, 0, product);
    return result;
}

char *arena_strndup(struct arena *arena, const char *bytes, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *string)
{
    return string == NULL ? NULL : arena_strndup(arena, string, strlen(string));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        va_end(again);
        return arena_strdup(arena, "");
    }
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

void *xmalloc(size_t size)
{
    void *result = malloc(size == 0 ? 1 : size);
    if (result == NULL)
        die_out_of_memory(size);
    return result;
}

void *xcalloc(size_t count, size_t size)
{
    void *result = calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
    if (result == NULL)
        die_out_of_memory(count);
    return result;
}

void *xrealloc(void *pointer, size_t size)
{
    void *result = realloc(pointer, size == 0 ? 1 : size);
    if (result == NULL)
        die_out_of_memory(size);
    return result;
}

char *xstrdup(const char *string)
{
    char *copy = strdup(string);
    if (copy == NULL)
        die_out_of_memory(strlen(string));
    return copy;
}
