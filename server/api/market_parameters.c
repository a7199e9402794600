/* Reading what calls about the market ask for. */
#include "server/api/market_parameters.h"

#include "server/base/decimal.h"
#include "server/base/nearest.h"
#include "server/model/offer.h"
#include "server/reference/gpu.h"

#include <string.h>

#define LIST_MAX 100

bool parameter_refuse(struct request *request, struct reply *reply, const char *parameter,
                      const char *code, const char *message)
{
    const struct problem_item item = {.parameter = parameter, .code = code, .message = message};
    reply_problem(request, reply, 400, "bad-parameter", message, &item, 1);
    return false;
}

static bool refuse_value(struct request *request, struct reply *reply, const char *parameter,
                         const char *value, const char *what, const char *near)
{
    return parameter_refuse(
        request, reply, parameter, "unknown_value",
        near == NULL ? arena_printf(&request->arena, "%.40s is no %s here.", value, what)
                     : arena_printf(&request->arena, "%.40s is no %s here; did you mean %s?", value,
                                    what, near));
}

/* The next item of a comma list, or NULL at its end; *at moves on. */
static const char *next_item(struct request *request, const char **at)
{
    if (*at == NULL)
        return NULL;
    size_t length = strcspn(*at, ",");
    const char *item = arena_strndup(&request->arena, *at, length);
    *at = (*at)[length] == ',' ? *at + length + 1 : NULL;
    return item;
}

/* Marks what a name stands for: a slug, a family with its variants, or any other spelling that is
 * recognized. */
static bool mark_gpus(const char *name, uint8_t *set)
{
    bool any = false;
    uint16_t exact = gpu_find(name);
    for (uint16_t i = 0; i < gpu_count(); i++) {
        if (i == exact || strcmp(gpu_at(i)->family, name) == 0)
            any = true;
        set[i] |= i == exact || strcmp(gpu_at(i)->family, name) == 0;
    }
    if (any)
        return true;
    struct gpu_match match;
    gpu_resolve(name, UNKNOWN, NULL, &match);
    if (match.gpu == gpu_unrecognized() || !match.vram_fits)
        return false;
    if (!gpu_at(match.gpu)->is_family) {
        set[match.gpu] = 1;
        return true;
    }
    for (uint16_t i = 0; i < gpu_count(); i++) {
        const struct gpu *gpu = gpu_at(i);
        if (strcmp(gpu->family, gpu_at(match.gpu)->family) == 0 &&
            (match.form == FORM_COUNT || gpu->form_factor == match.form) &&
            (match.vram_gb_milli < 0 || gpu->vram_gb_milli == match.vram_gb_milli))
            set[i] = 1;
    }
    return true;
}

bool parameter_gpus(struct request *request, struct reply *reply, const char *name,
                    uint8_t **ret_set)
{
    const char *at = request_parameter(request, name), *item;
    size_t count = 0;
    *ret_set = NULL;
    if (at == NULL)
        return true;
    *ret_set = arena_calloc(&request->arena, gpu_count(), 1);
    while ((item = next_item(request, &at)) != NULL) {
        if (++count > LIST_MAX)
            return parameter_refuse(
                request, reply, name, "too_many_values",
                arena_printf(&request->arena, "%s takes at most %d values.", name, LIST_MAX));
        if (!mark_gpus(item, *ret_set))
            return refuse_value(request, reply, name, item, "GPU", gpu_nearest(item));
    }
    return true;
}

bool parameter_variant(struct request *request, struct reply *reply, const char *name,
                       uint16_t *ret_gpu)
{
    const char *value = request_parameter(request, name);
    if (value == NULL)
        return parameter_refuse(
            request, reply, name, "missing",
            arena_printf(&request->arena, "%s is needed: one GPU, such as h100-sxm.", name));
    struct gpu_match match;
    uint16_t exact = gpu_find(value);
    gpu_resolve(value, UNKNOWN, NULL, &match);
    uint16_t gpu = exact != INDEX_NONE ? exact : match.gpu;
    if (gpu == gpu_unrecognized() || (exact == INDEX_NONE && !match.vram_fits))
        return refuse_value(request, reply, name, value, "GPU", gpu_nearest(value));
    if (gpu_at(gpu)->is_family) {
        struct buf variants = {0};
        for (uint16_t i = 0; i < gpu_count(); i++) {
            if (!gpu_at(i)->is_family && strcmp(gpu_at(i)->family, gpu_at(gpu)->family) == 0)
                buf_printf(&variants, "%s%s", variants.length > 0 ? ", " : "", gpu_at(i)->slug);
        }
        const char *message = arena_printf(
            &request->arena,
            "%.40s leaves the variant open, and variants are never mixed: name one of %s.", value,
            variants.length > 0 ? variants.data : "its variants");
        buf_free(&variants);
        return parameter_refuse(request, reply, name, "ambiguous_value", message);
    }
    *ret_gpu = gpu;
    return true;
}

static bool read_billings(struct request *request, struct reply *reply, unsigned *ret_bits)
{
    static const char *const words[BILLING_COUNT] = {"on_demand", "spot", "reserved"};
    const char *at = request_parameter(request, "billing"), *item;
    *ret_bits = at == NULL ? (1U << COMMITMENT_COUNT) - 1 : 0;
    while ((item = next_item(request, &at)) != NULL) {
        enum billing billing;
        if (!billing_parse(item, &billing))
            return refuse_value(request, reply, "billing", item, "billing",
                                nearest_name(item, words, BILLING_COUNT));
        for (unsigned c = 0; c < COMMITMENT_COUNT; c++) {
            if (commitment_billing((enum commitment)c) == billing)
                *ret_bits |= 1U << c;
        }
    }
    return true;
}

bool parameter_commitments(struct request *request, struct reply *reply, unsigned *ret_bits)
{
    const char *at = request_parameter(request, "term_months"), *item;
    if (!read_billings(request, reply, ret_bits))
        return false;
    unsigned of_terms = at == NULL ? (1U << COMMITMENT_COUNT) - 1 : 0;
    while ((item = next_item(request, &at)) != NULL) {
        int64_t months;
        if (decimal_parse(item, strlen(item), 0, false, &months) != DECIMAL_OK || months < 0 ||
            months > PRICE_TERM_MONTHS_MAX)
            return parameter_refuse(request, reply, "term_months", "out_of_range",
                                    "term_months is a whole number of months from 0 to 600.");
        of_terms |= months == 0 ? 1U << COMMITMENT_ON_DEMAND | 1U << COMMITMENT_SPOT
                                : 1U << commitment_of(BILLING_RESERVED, (int32_t)months);
    }
    *ret_bits &= of_terms;
    return true;
}

bool parameter_continent(struct request *request, struct reply *reply,
                         enum continent *ret_continent)
{
    const char *value = request_parameter(request, "continent");
    *ret_continent = CONTINENT_COUNT;
    if (value == NULL)
        return true;
    *ret_continent = continent_of(value);
    return *ret_continent != CONTINENT_UNKNOWN ||
           refuse_value(request, reply, "continent", value,
                        "continent (AF, AN, AS, EU, NA, OC or SA)", NULL);
}
