/* Loops and 128 bits instead of cleverness. */
#include "tests/support/oracle_facts.h"

#include "server/base/decimal.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t number(const char *text, unsigned decimals)
{
    int64_t value;
    if (decimal_parse(text, strlen(text), decimals, false, &value) != DECIMAL_OK)
        abort();
    return value;
}

/* n / d, half to even. */
static int64_t quotient(__int128 n, __int128 d)
{
    __int128 whole = n / d, twice = 2 * (n % d);
    return (int64_t)(whole + (twice > d || (twice == d && whole % 2 == 1)));
}

int64_t oracle_nodes(const struct offer *offer, const char *gpus)
{
    int64_t numerator, denominator, of, parts, nodes = 1;
    if (gpus == NULL)
        return 1;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    gpu_count_fraction((int32_t)number(gpus, 3), &of, &parts);
    while (nodes * numerator * parts < of * denominator)
        nodes++;
    return nodes;
}

int64_t oracle_gpus_milli(const struct offer *offer, int64_t nodes)
{
    int64_t numerator, denominator;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    return quotient((__int128)nodes * numerator * 1000, denominator);
}

/* Compares so many nodes' GPUs with a whole number: < 0, 0 or > 0. */
static int64_t compare_gpus(const struct offer *offer, int64_t nodes, int64_t gpus)
{
    int64_t numerator, denominator;
    gpu_count_fraction(offer->gpu_count_milli, &numerator, &denominator);
    return nodes * numerator - gpus * denominator;
}

bool oracle_tier_meets(const struct offer *offer, const struct price *price, const char *gpus,
                       const char *most)
{
    int64_t nodes = oracle_nodes(offer, gpus);
    if (gpus != NULL &&
        ((price->min_gpus >= 0 && compare_gpus(offer, nodes, price->min_gpus) < 0) ||
         (price->max_gpus >= 0 && compare_gpus(offer, nodes, price->max_gpus) > 0)))
        return false;
    return most == NULL || nodes * price->per_node_hour_microusd <= number(most, 6);
}

bool oracle_stock_meets(const struct offer *offer, const char *gpus)
{
    return gpus == NULL || (offer->availability.gpus_available >= 0 &&
                            compare_gpus(offer, oracle_nodes(offer, gpus),
                                         offer->availability.gpus_available) <= 0);
}

int64_t oracle_unit_microusd(const struct offer *offer, const struct price *price, int unit)
{
    const struct gpu *gpu = gpu_at(offer->gpu);
    const int64_t has[] = {offer->vram_gb_milli, gpu->bf16_dense_tflops_milli,
                           gpu->memory_bandwidth_gb_per_s_milli};
    if (has[unit] <= 0)
        return UNKNOWN;
    return quotient((__int128)price->per_gpu_hour_microusd * (unit == 2 ? 1000000 : 1000),
                    has[unit]);
}

/* Whether some word of a text begins with `word`. */
static bool text_has(const char *text, const char *word, size_t length)
{
    for (const char *at = text; at != NULL && *at != '\0'; at++) {
        bool begins =
            isalnum((unsigned char)*at) && (at == text || !isalnum((unsigned char)at[-1]));
        if (begins && strncasecmp(at, word, length) == 0)
            return true;
    }
    return false;
}

static bool word_meets(const struct offer *offer, const struct provider *provider, const char *word,
                       size_t length)
{
    const struct gpu *gpu = gpu_at(offer->gpu);
    const char *const texts[] = {provider->slug, provider->name, gpu->slug,
                                 gpu->family,    gpu->vendor,    gpu->name};
    bool found = false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        found = found || text_has(texts[i], word, length);
    for (size_t i = 0; gpu->aliases != NULL && gpu->aliases[i] != NULL; i++)
        found = found || text_has(gpu->aliases[i], word, length);
    for (uint16_t outer = 0; offer->place != INDEX_NONE && outer < place_count(); outer++) {
        if (place_contains(outer, offer->place))
            found = found || text_has(place_at(outer)->slug, word, length) ||
                    text_has(place_at(outer)->name, word, length);
    }
    return found;
}

bool oracle_words_meet(const struct offer *offer, const struct provider *provider, const char *q)
{
    for (const char *at = q; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (length > 0 && !word_meets(offer, provider, at, length))
            return false;
        at += length + strspn(at + length, " ");
    }
    return true;
}
