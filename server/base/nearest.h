/* The known name nearest to a mistyped one, for "did you mean". Pure; any thread. */
#ifndef RACKRATE_BASE_NEAREST_H
#define RACKRATE_BASE_NEAREST_H

#include <stddef.h>

/* The candidate with the smallest edit distance to `text` (case ignored), if that is at most a
 * third of its length (and at least one edit); NULL where none is near. NULL candidates are passed
 * over. */
const char *nearest_name(const char *text, const char *const *candidates, size_t count);

/* Edit distance (insert, delete, replace, each 1), case ignored, of texts up to 64 bytes; longer
 * ones give 64. */
size_t edit_distance(const char *a, const char *b);

#endif
