/* GPUs and accelerators: one entry a product variant, one a family whose variant a name may leave
 * open, one for names nobody knows. The table is compiled in and constant; slugs are what is
 * stored, indexes hold for this build only. Pure; any thread. */
#ifndef RACKRATE_REFERENCE_GPU_H
#define RACKRATE_REFERENCE_GPU_H

#include "server/reference/alias.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum form_factor {
    FORM_SXM,
    FORM_PCIE,
    FORM_NVL,
    FORM_OAM,
    FORM_OTHER,       /* superchips, TPUs and others that come in no common socket */
    FORM_UNDISCLOSED, /* a family whose variants differ */
    FORM_COUNT
};

/* Where each figure of a GPU was read; NULL where the figure is unknown. */
struct gpu_sources {
    const char *vram, *memory_bandwidth, *bf16, *fp8, *tdp, *nvlink, *year;
};

struct gpu {
    const char *slug;
    const char *family; /* slug of the family; equals slug where the family has one variant, where
                           this entry is the family, and for a product beside its modifications */
    const char *vendor; /* nvidia, amd, intel, google, aws, qualcomm; "" of `unrecognized` */
    const char *name;
    bool is_family; /* leaves the variant open: in no variant's index */
    enum form_factor form_factor;
    int64_t vram_gb_milli; /* of one GPU, nominal; UNKNOWN where variants differ */
    int64_t memory_bandwidth_gb_per_s_milli; /* GB/s */
    int64_t bf16_dense_tflops_milli; /* never with sparsity; FP16 tensor on Turing and Volta, which
                                        lack BF16 */
    int64_t fp8_dense_tflops_milli;
    int32_t tdp_watts;
    int64_t nvlink_gb_per_s_milli; /* both directions together, as vendors state it */
    int32_t year;
    struct gpu_sources sources;
    const char *const *aliases; /* spellings shown to people, ended by NULL; NULL none */
};

/* Entries are numbered 0 … gpu_count()-1; the table lives as long as the process. Any thread. */
uint16_t gpu_count(void);
const struct gpu *gpu_at(uint16_t index);

/* Index by exact slug; INDEX_NONE (UINT16_MAX) where there is none. Any thread. */
uint16_t gpu_find(const char *slug);

/* The entry for names nobody knows. */
uint16_t gpu_unrecognized(void);

/* Whether an entry is the family's or one of its variants. `family` is a slug. Any thread. */
bool gpu_in_family(uint16_t index, const char *family);

/* What a raw name means. */
struct gpu_match {
    uint16_t gpu;          /* variant, family or `unrecognized` */
    enum form_factor form; /* as stated in the name; FORM_COUNT where it states none */
    bool vram_fits;        /* false: a size was given (in the name or the hint) that no variant of
                              the model has, or the two disagree */
    int64_t vram_gb_milli; /* the size: nominal of the variant, or of all variants that the given
                              size fits; as given for an unrecognized one; else UNKNOWN */
    int64_t known_sizes_milli[8]; /* of the model's variants, ascending */
    size_t known_size_count;
};

/* Resolves a name on whole tokens, case, separators and vendor words aside. `raw` is any text, not
 * NULL. `vram_hint_gb_milli` is a reported size of one GPU in thousandths of a GB, or UNKNOWN; a
 * report in MiB (81559) is passed as MiB x 1000 / 1024 and meets the nearest known size at most 8 %
 * above it or 4 % below. A size in the name chooses before the hint. `extra` holds operators'
 * names for GPUs (alias_key), consulted first; may be NULL. Any thread. */
void gpu_resolve(const char *raw, int64_t vram_hint_gb_milli, const struct alias_set *extra,
                 struct gpu_match *ret_match);

/* The key under which spellings of a name meet: lower case, letters and digits only, vendor and
 * filler words gone (unless there is nothing else). Gives its length, cut to size - 1 bytes. Any
 * thread. */
size_t gpu_name_fold(const char *raw, char *out, size_t size);

/* The known slug or family nearest to a mistyped one, or NULL where none is near. Any thread. */
const char *gpu_nearest(const char *text);

/* The word of the API for a form factor below FORM_COUNT, and back: false for any other word. */
const char *form_factor_name(enum form_factor form_factor);
bool form_factor_parse(const char *text, enum form_factor *ret);

#endif
