/* Lists of row issues grow by doubling inside their arena. */
#include "server/model/change_set.h"

#include "server/base/arena.h"

#include <string.h>

void row_issues_add(struct arena *arena, struct row_issues *issues, int64_t row,
                    const char *external_id, const char *pointer, const char *code,
                    const char *message)
{
    if (issues->count == issues->capacity) {
        size_t capacity = issues->capacity == 0 ? 16 : issues->capacity * 2;
        struct row_issue *items = arena_alloc(arena, capacity * sizeof(*items));
        if (issues->count > 0)
            memcpy(items, issues->items, issues->count * sizeof(*items));
        issues->items = items;
        issues->capacity = capacity;
    }
    issues->items[issues->count++] = (struct row_issue){
        .row = row,
        .external_id = external_id,
        .pointer = pointer,
        .code = code,
        .message = message,
    };
}
