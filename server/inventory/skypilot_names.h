/* Which GPU a catalogue row really means: its accelerator name, refined by the GPU info and the
 * instance type. */
#ifndef RACKRATE_INVENTORY_SKYPILOT_NAMES_H
#define RACKRATE_INVENTORY_SKYPILOT_NAMES_H

#include "server/inventory/decoding.h"

/* What the GpuInfo column says: a Python literal ({'Gpus': [{'Name': 'A100', 'Count': 8,
 * 'MemoryInfo': {'SizeInMiB': 40960}}], 'TotalGpuMemoryInMiB': 327680}), or a bare name, or
 * nothing. */
struct gpu_info {
    const char *name; /* NULL where none */
    int64_t size_mib; /* UNKNOWN where none; of one GPU, of all, or GB: catalogues differ */
};
void gpu_info_read(const char *text, struct arena *arena, struct gpu_info *ret_info);

/* The name to resolve, kept: `accelerator` unless GpuInfo or the instance type (which may be NULL)
 * says more of the same product (a form factor, a lost suffix). */
const char *skypilot_refine_name(struct decoding *decoding, const char *accelerator,
                                 const struct gpu_info *info, const char *instance_type);

/* The size of one GPU in thousandths of a GB that fits the named product: as reported, divided by
 * the count, or meant as GB; UNKNOWN where nothing was reported. *ret_fits is false when none of
 * these is a known size. */
int64_t skypilot_vram_gb_milli(struct decoding *decoding, const char *name,
                               const struct gpu_info *info, int32_t gpu_count_milli,
                               bool *ret_fits);

#endif
