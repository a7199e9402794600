/* A binary heap in an array. */
#include "server/catalog/top.h"

static void replace_worst(struct top *top, struct hit hit)
{
    struct hit *heap = top->heap;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < top->count; at = child) {
        if (child + 1 < top->count && hit_compare(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (hit_compare(&heap[child], &hit) <= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = hit;
}

void top_offer(struct top *top, struct hit hit)
{
    if (top->has_floor &&
        (hit.key < top->floor_key ||
         (hit.key == top->floor_key && offer_key_compare(hit.id, top->floor_id) <= 0)))
        return;
    if (top->count == top->capacity) {
        if (hit_compare(&hit, &top->heap[0]) < 0)
            replace_worst(top, hit);
        return;
    }
    size_t at = top->count++;
    for (; at > 0 && hit_compare(&hit, &top->heap[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        top->heap[at] = top->heap[(at - 1) / 2];
    top->heap[at] = hit;
}

/* Worst first out of the heap, so that the array fills from its end. */
void top_sort(struct top *top)
{
    size_t count = top->count;
    while (top->count > 1) {
        struct hit worst = top->heap[0];
        top->count--;
        replace_worst(top, top->heap[top->count]);
        top->heap[top->count] = worst;
    }
    top->count = count;
}
