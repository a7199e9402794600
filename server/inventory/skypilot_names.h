/* Which GPU a catalogue row really means: its accelerator name, refined by the GPU info and the
 * instance type. */
#ifndef RACKRATE_INVENTORY_SKYPILOT_NAMES_H
#define RACKRATE_INVENTORY_SKYPILOT_NAMES_H

#include "server/inventory/decoding.h"

/* What the GpuInfo column says: a Python literal ({'Gpus': [{'Name': 'A100', 'Count': 8,
 * 'MemoryInfo': {'SizeInMiB': 40960}}], 'TotalGpuMemoryInMiB': 327680}), or a bare name, or
 * nothing. */
struct gpu_info {
    const char *name;   /* NULL where none */
    int64_t size_mib;   /* UNKNOWN where none; of one GPU, of all, or GB: catalogues differ */
    bool size_is_total; /* of all GPUs together, when divided that fits */
};
void gpu_info_read(const char *text, struct arena *arena, struct gpu_info *ret_info);

struct named_gpu {
    const char *raw;       /* the name to resolve, kept */
    int64_t vram_gb_milli; /* of one GPU, as far as the row tells; UNKNOWN if it doesn't */
    bool fits;             /* false: a size was reported that the product never has */
};

/* `accelerator`, unless GpuInfo or the instance type (which may be NULL) says more of the same
 * product: a form factor, a lost suffix. */
void skypilot_refine(struct decoding *decoding, const char *accelerator,
                     const struct gpu_info *info, const char *instance_type,
                     int32_t gpu_count_milli, struct named_gpu *ret);

#endif
