/* The parts of the GPU table, and the words for where a figure was read; only the gpu_*.c files of
 * this room include it. */
#ifndef RACKRATE_REFERENCE_GPU_TABLE_H
#define RACKRATE_REFERENCE_GPU_TABLE_H

#include "server/reference/gpu.h"

#define EPOCH       "Epoch AI, machine learning hardware"
#define DATASHEET   "vendor datasheet"
#define WHITEPAPER  "vendor architecture whitepaper, FP32 accumulation"
#define COMPILATION "GPU database compilation"
#define GMASSE      "gmasse GPU specification table"
#define DUMA        "VladislavDuma GPU table"
#define GPUHUNT     "gpuhunt constraints"
#define ROOFLINE    "LLMRoofline hardware table"
#define AS_SOLD     "named modification: size as sold"
#define SHARED      "shared by all its variants"

extern const struct gpu gpu_table_datacenter[], gpu_table_geforce[], gpu_table_workstation[],
    gpu_table_other[];
extern const size_t gpu_table_datacenter_count, gpu_table_geforce_count,
    gpu_table_workstation_count, gpu_table_other_count;

#endif
