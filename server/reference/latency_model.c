/* Estimating by a fitted model; the kernel's widths are shared with the fit. */
#include "server/reference/latency_model.h"

#include "server/reference/latency_kernel.h"
#include "server/reference/place.h"

#include <math.h>

/* Estimates near no anchor err as those of a place that was left out; the change is gradual. */
#define COVERAGE_KM 1500.0

/* The chord between two points of the unit sphere as a great circle in kilometres; exact enough
 * (a metre) and quicker than the haversine where one end is of many pairs. */
static double distance_km(const struct latency_end *a, const struct latency_end *b)
{
    double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
    double half_chord = sqrt(dx * dx + dy * dy + dz * dz) / 2;
    return 2 * EARTH_RADIUS_KM * asin(half_chord > 1 ? 1 : half_chord);
}

void latency_end_make(const struct latency_model *model, struct geo_point point,
                      struct latency_end *ret_end)
{
    const double radians = M_PI / 180.0;
    double phi = point.latitude * radians, lambda = point.longitude * radians;
    size_t count = model->anchor_count;
    ret_end->point = point;
    ret_end->x = cos(phi) * cos(lambda);
    ret_end->y = cos(phi) * sin(lambda);
    ret_end->z = sin(phi);
    ret_end->own = 0;
    ret_end->nearest_anchor_km = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const struct latency_anchor *anchor = &model->anchors[i];
        double km = geo_distance_km(point.latitude, point.longitude, anchor->point.latitude,
                                    anchor->point.longitude);
        ret_end->own += anchor->weight * exp(-km / KERNEL_END_KM);
        ret_end->closeness[i] = exp(-km / KERNEL_PAIR_KM);
        if (km < ret_end->nearest_anchor_km)
            ret_end->nearest_anchor_km = km;
    }
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t j = 0; j < count; j++)
            sum += model->pair_weights[i][j] * ret_end->closeness[j];
        ret_end->weighted[i] = sum;
    }
}

double latency_model_distance_only(const struct latency_model *model, double km)
{
    return model->fixed_ms + model->detour * km * FIBRE_MS_PER_KM;
}

double latency_model_estimate(const struct latency_model *model, const struct latency_end *a,
                              const struct latency_end *b, double *ret_error)
{
    double km = distance_km(a, b), correction = a->own + b->own;
    for (size_t i = 0; i < model->anchor_count; i++)
        correction += a->closeness[i] * b->weighted[i];
    double estimate = latency_model_distance_only(model, km) * exp(correction * kernel_reach(km));
    if (ret_error != NULL) {
        double off = fmax(a->nearest_anchor_km, b->nearest_anchor_km);
        double share = model->anchor_count == 0 ? 1 : 1 - exp(-off / COVERAGE_KM);
        *ret_error = model->near.p90 + (model->far.p90 - model->near.p90) * share;
    }
    return fmax(estimate, km * FIBRE_MS_PER_KM);
}
