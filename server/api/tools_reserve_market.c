/* Every term a GPU is offered at in a region, by the method of the index: what the market asks for
 * committing, not one provider. */
#include "server/api/tools_reserve.h"

#include "server/api/market_parameters.h"
#include "server/base/decimal.h"
#include "server/catalog/term_prices.h"
#include "server/reference/gpu.h"
#include "server/reference/place.h"

bool reserve_read_market(struct request *request, struct reply *reply, uint16_t *ret_gpu,
                         uint16_t *ret_place)
{
    const char *region = request_parameter(request, "region");
    *ret_place = region == NULL ? INDEX_NONE : place_find(region);
    if (!parameter_variant(request, reply, "gpu", ret_gpu))
        return false;
    if (region == NULL || *ret_place != INDEX_NONE)
        return true;
    const char *near = place_nearest(region);
    return parameter_refuse(
        request, reply, "region", "unknown_value",
        near == NULL ? arena_printf(&request->arena, "%.40s is no region here.", region)
                     : arena_printf(&request->arena, "%.40s is no region here; did you mean %s?",
                                    region, near));
}

/* The figures of a billing that has no term, all cluster sizes together; NULL none. */
static const struct index_figures *figures_of(const struct term_prices *list, size_t count,
                                              enum billing billing)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].billing == billing && list[i].cluster_size == CLUSTER_SIZE_COUNT)
            return &list[i].figures;
    }
    return NULL;
}

static void write_figures(struct buf *out, const struct index_figures *figures)
{
    buf_add_json_member_decimal(out, "effective_price_per_gpu_hour", figures->median, 6);
    buf_add_json_member_decimal(out, "min_price_per_gpu_hour", figures->min, 6);
    buf_add_json_member_decimal(out, "max_price_per_gpu_hour", figures->max, 6);
    buf_add_json_member_int(out, "offers", figures->offers);
    buf_add_json_member_int(out, "providers", figures->providers);
}

static void write_discount(struct buf *out, const char *key, int64_t microusd,
                           const struct index_figures *other)
{
    if (other == NULL || other->median <= 0) {
        buf_add_json_member_string(out, key, NULL);
        return;
    }
    tool_write_signed(out, key, discount_percent_micro(microusd, other->median));
}

/* The same term by how much is taken at least; from `first` on, as many rows as belong to it. */
static size_t write_tiers(struct buf *out, const struct term_prices *list, size_t count,
                          size_t first)
{
    size_t i = first;
    buf_add_json_key(out, "volume_tiers");
    buf_add_char(out, '[');
    for (; i < count && list[i].cluster_size != CLUSTER_SIZE_COUNT; i++) {
        buf_add_string(out, i == first ? "{" : ",{");
        buf_add_json_member_string(out, "cluster_size", cluster_size_name(list[i].cluster_size));
        write_figures(out, &list[i].figures);
        buf_add_char(out, '}');
    }
    buf_add_char(out, ']');
    return i;
}

static bool write_term(struct buf *out, const struct term_prices *list, size_t count, size_t *at,
                       const struct tool_value *values)
{
    const struct term_prices *term = &list[*at];
    const struct index_figures *on_demand = figures_of(list, count, BILLING_ON_DEMAND);
    const struct index_figures *spot = figures_of(list, count, BILLING_SPOT);
    bool reserved = term->billing == BILLING_RESERVED;
    bool compared = reserved && on_demand != NULL;
    struct commitment_sums sums;
    struct reservation_input input = reserve_expectations(values);
    struct reservation_result result;
    input.reserved_microusd = term->figures.median;
    input.on_demand_microusd = on_demand == NULL ? 0 : on_demand->median;
    input.term_months = term->term_months;
    input.gpus = values[RESERVE_GPUS].given ? values[RESERVE_GPUS].value : 1;
    if (!reservation_sums(term->figures.median, term->term_months, 0, input.gpus, &sums) ||
        (compared && !reservation_compare(&input, &result)))
        return false;
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "billing", billing_name(term->billing));
    buf_add_json_member_int(out, "term_months", term->term_months);
    buf_add_json_member_int(out, "gpus", input.gpus);
    write_figures(out, &term->figures);
    write_discount(out, "discount_percent", term->figures.median,
                   term->billing == BILLING_ON_DEMAND ? NULL : on_demand);
    write_discount(out, "discount_to_spot_percent", term->figures.median,
                   term->billing == BILLING_SPOT ? NULL : spot);
    buf_add_json_member_decimal(out, "total_commitment_usd", reserved ? sums.total_microusd : 0, 6);
    reserve_write_result(out, compared ? &result : NULL);
    *at = write_tiers(out, list, count, *at + 1);
    buf_add_char(out, '}');
    return true;
}

static void write_excluded(struct buf *out, const uint32_t excluded[static INDEX_REASON_COUNT])
{
    buf_add_json_key(out, "excluded");
    buf_add_char(out, '{');
    for (int reason = INDEX_INCLUDED + 1; reason < INDEX_REASON_COUNT; reason++) {
        if (excluded[reason] > 0)
            buf_add_json_member_int(out, index_reason_name((enum index_reason)reason),
                                    excluded[reason]);
    }
    buf_add_char(out, '}');
}

bool reserve_answer_market(struct request *request, struct reply *reply, struct snapshot *snapshot,
                           const struct tool_value *values)
{
    struct buf *out = &reply->body;
    struct term_prices *list;
    uint32_t excluded[INDEX_REASON_COUNT];
    uint16_t gpu, place;
    if (!reserve_read_market(request, reply, &gpu, &place))
        return false;
    size_t count = snapshot_term_prices(snapshot, gpu, place, request->received_at_us,
                                        &request->arena, &list, excluded);
    buf_add_char(out, '{');
    buf_add_json_member_string(out, "gpu", gpu_at(gpu)->slug);
    buf_add_json_member_string(out, "region", place == INDEX_NONE ? NULL : place_at(place)->slug);
    buf_add_json_member_int(out, "method_version", INDEX_METHOD_VERSION);
    buf_add_json_key(out, "terms");
    buf_add_char(out, '[');
    for (size_t i = 0; i < count;) {
        if (values[RESERVE_TERM].given && list[i].billing == BILLING_RESERVED &&
            list[i].term_months != values[RESERVE_TERM].value) {
            i++;
            continue;
        }
        if (out->data[out->length - 1] != '[')
            buf_add_char(out, ',');
        if (!write_term(out, list, count, &i, values))
            return tool_refuse_sums(request, reply, "gpus");
    }
    buf_add_char(out, ']');
    write_excluded(out, excluded);
    reserve_finish(out, snapshot, values);
    return true;
}
