/* A raw GPU name taken apart: what names the model, what states form factor, size and memory, and
 * what says nothing. Private to this room: gpu_name.c makes it, gpu_resolve.c reads it. */
#ifndef RACKRATE_REFERENCE_GPU_NAME_H
#define RACKRATE_REFERENCE_GPU_NAME_H

#include "server/reference/gpu.h"

#define GPU_NAME_WORDS_MAX  16
#define GPU_NAME_WORD_BYTES 32
#define GPU_NAME_KEY_BYTES  80

/* Architectures that tell products of one bare name apart (RTX 6000). */
enum gpu_era { ERA_UNSAID, ERA_TURING, ERA_AMPERE, ERA_ADA, ERA_BLACKWELL };
enum gpu_memory_kind { MEMORY_UNSAID, MEMORY_HBM2E, MEMORY_HBM3 };

struct gpu_name {
    char words[GPU_NAME_WORDS_MAX][GPU_NAME_WORD_BYTES]; /* of the model, in order */
    size_t word_count;
    enum form_factor form; /* FORM_COUNT where the name states none, or several */
    enum gpu_era era;
    enum gpu_memory_kind memory;
    int64_t vram_gb_milli; /* UNKNOWN where the name has none */
    bool modified;         /* calls itself a modification */
    bool too_long;         /* more words or longer ones than any product has: nobody's name */
};

/* Takes `raw` (any bytes, ended by NUL) apart. Any thread. */
void gpu_name_parse(const char *raw, struct gpu_name *ret_name);

/* The first `count` words of a name joined. A blank keeps figures apart (`A10 0` is no A100). */
void gpu_name_key(const struct gpu_name *name, size_t count, char ret_key[GPU_NAME_KEY_BYTES]);

#endif
