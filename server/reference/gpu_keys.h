/* The keys under which names meet entries, and which entries make up a family. A key is a model in
 * lower case, letters and digits joined (rtx4070tisuper). Made on first use, then constant; any
 * thread. Private to this room. */
#ifndef RACKRATE_REFERENCE_GPU_KEYS_H
#define RACKRATE_REFERENCE_GPU_KEYS_H

#include "server/reference/gpu_name.h"

/* Names beyond slugs (gpu_key_table.c). */
struct gpu_key {
    const char *key;
    const char *slug;
};
extern const struct gpu_key gpu_key_table[];
extern const size_t gpu_key_table_count;

/* Keys that hold only for a name with that size (within tolerance) or that architecture. */
struct gpu_conditional_key {
    const char *key;
    int64_t vram_gb_milli;
    enum gpu_era era; /* ERA_UNSAID: only the size tells */
    const char *slug;
};
extern const struct gpu_conditional_key gpu_conditional_keys[];
extern const size_t gpu_conditional_key_count;

/* The entry of a key that needs no size; INDEX_NONE without. */
uint16_t gpu_key_find(const char *key);

/* The entry a size or an era decides on; INDEX_NONE without. `ret_by_size` says which it was. */
uint16_t gpu_key_find_conditional(const char *key, int64_t vram_gb_milli, enum gpu_era era,
                                  bool *ret_by_size);

/* The variants in the family of `gpu`, the entry for the family itself left out. */
const uint16_t *gpu_family_variants(uint16_t gpu, size_t *ret_count);

/* Whether a reported size is the nominal one: drivers report 1 to 8 % less (ECC, firmware), in
 * binary units up to 2 % more. */
bool gpu_same_size(int64_t nominal_milli, int64_t reported_milli);

#endif
