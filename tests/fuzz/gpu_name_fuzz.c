/* Any bytes as a GPU name: resolving and folding stay inside their bounds, and what they give keeps
 * its promises. The first byte chooses the hinted size, and whether the nearest slug is sought. */
#include "server/reference/gpu.h"

#include "server/base/decimal.h"
#include "server/model/offer.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_match(const struct gpu_match *match)
{
    must(match->gpu < gpu_count() && match->form <= FORM_COUNT);
    must(match->known_size_count <=
         sizeof(match->known_sizes_milli) / sizeof(match->known_sizes_milli[0]));
    for (size_t i = 1; i < match->known_size_count; i++)
        must(match->known_sizes_milli[i - 1] < match->known_sizes_milli[i]);
    const struct gpu *gpu = gpu_at(match->gpu);
    if (match->gpu == gpu_unrecognized())
        return;
    must(gpu->vram_gb_milli == UNKNOWN || gpu->vram_gb_milli == match->vram_gb_milli);
    /* SXM and PCIe are never mixed. */
    must(!(match->form == FORM_PCIE && gpu->form_factor == FORM_SXM));
    must(!(match->form == FORM_SXM && gpu->form_factor == FORM_PCIE));
}

static void check_fold(const char *raw)
{
    char folded[300], small[9];
    size_t length = gpu_name_fold(raw, folded, sizeof(folded));
    must(length == strlen(folded) && length < sizeof(folded));
    must(gpu_name_fold(raw, small, sizeof(small)) < sizeof(small));
    must(strncmp(small, folded, strlen(small)) == 0);
    /* An operator's alias for this spelling decides, whatever the name looked like. */
    const struct alias items[] = {{folded, "l40s"}};
    const struct alias_set set = {items, 1};
    struct gpu_match aliased;
    gpu_resolve(raw, UNKNOWN, &set, &aliased);
    must(aliased.gpu == gpu_find("l40s") || aliased.gpu == gpu_unrecognized());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t hints[] = {UNKNOWN, 0, 24000, 79647, 80000, 640000, INT64_MAX, INT64_MIN};
    if (size == 0 || size > 5000)
        return 0;
    int64_t hint = hints[data[0] % (sizeof(hints) / sizeof(hints[0]))];
    char *raw = malloc(size);
    must(raw != NULL);
    memcpy(raw, data + 1, size - 1);
    raw[size - 1] = '\0';
    struct gpu_match match, again;
    gpu_resolve(raw, hint, NULL, &match);
    gpu_resolve(raw, hint, NULL, &again);
    must(match.gpu == again.gpu && match.vram_gb_milli == again.vram_gb_milli);
    check_match(&match);
    check_fold(raw);
    if (data[0] >= 0xf0) { /* it is slow: a distance to every slug */
        const char *near = gpu_nearest(raw);
        must(near == NULL || gpu_find(near) != INDEX_NONE);
    }
    free(raw);
    return 0;
}
