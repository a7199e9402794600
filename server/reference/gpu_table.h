/* The parts of the GPU table; only gpu.c and gpu_resolve.c read them. */
#ifndef RACKRATE_REFERENCE_GPU_TABLE_H
#define RACKRATE_REFERENCE_GPU_TABLE_H

#include "server/reference/gpu.h"

extern const struct gpu gpu_table_datacenter[], gpu_table_cards[], gpu_table_other[];
extern const size_t gpu_table_datacenter_count, gpu_table_cards_count, gpu_table_other_count;

#endif
