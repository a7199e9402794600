/* Levenshtein's distance with one row of state. */
#include "server/base/nearest.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 64

size_t edit_distance(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    size_t row[LONGEST + 1];
    if (length_a > LONGEST || length_b > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t above = row[j];
            size_t same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1])
                              ? diagonal
                              : diagonal + 1;
            size_t best = above + 1 < row[j - 1] + 1 ? above + 1 : row[j - 1] + 1;
            row[j] = same < best ? same : best;
            diagonal = above;
        }
    }
    return row[length_b];
}

const char *nearest_name(const char *text, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(text);
    size_t best_distance = length / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        if (candidates[i] == NULL)
            continue;
        size_t distance = edit_distance(text, candidates[i]);
        if (distance <= best_distance && (best == NULL || distance < best_distance)) {
            best = candidates[i];
            best_distance = distance;
        }
    }
    return best;
}
