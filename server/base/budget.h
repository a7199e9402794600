/* A byte budget shared by all threads: what may be held at once, so that many large bodies together
 * can't exhaust memory. */
#ifndef RACKRATE_BASE_BUDGET_H
#define RACKRATE_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct budget {
    size_t limit_bytes;
    _Atomic size_t held_bytes;
};

/* Takes `bytes` if they fit; false otherwise, nothing taken. Any thread. */
static inline bool budget_take(struct budget *budget, size_t bytes)
{
    size_t held = atomic_load_explicit(&budget->held_bytes, memory_order_relaxed);
    do {
        if (bytes > budget->limit_bytes - held)
            return false;
    } while (!atomic_compare_exchange_weak(&budget->held_bytes, &held, held + bytes));
    return true;
}

/* Gives bytes back. */
static inline void budget_give(struct budget *budget, size_t bytes)
{
    atomic_fetch_sub(&budget->held_bytes, bytes);
}

#endif
