/* Text as words, for searching: runs of letters and digits, compatibility forms composed, case and
 * accents folded, so that "Zürich" and "zurich" meet. Pure; any thread. */
#ifndef RACKRATE_BASE_WORDS_H
#define RACKRATE_BASE_WORDS_H

#include <stddef.h>

/* The words of `text` (UTF-8) one after the other, each ended by a NUL, behind the last an empty
 * one. The caller frees it. *ret_count (may be NULL) says how many. Never NULL; text that is no
 * UTF-8 has no words. */
char *words_fold(const char *text, size_t *ret_count);

/* The word behind `word`; empty behind the last. */
const char *words_next(const char *word);

#endif
