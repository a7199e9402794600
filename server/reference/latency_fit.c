/* Fitting: the straight line by least absolute error of the logarithm, which outliers don't move;
 * then the correction by solving for the weight of each measured pair (Cholesky). */
#include "server/reference/latency_model.h"

#include "server/reference/latency_kernel.h"
#include "server/reference/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative errors of short ways say little: those are not judged. */
#define JUDGED_FROM_MS 10.0
#define FOLDS          10

struct pair {
    size_t a, b; /* anchors */
    double km;
    double rtt_ms;
};

struct fit {
    struct latency_anchor anchors[LATENCY_ANCHORS_MAX];
    size_t anchor_count;
    double km[LATENCY_ANCHORS_MAX][LATENCY_ANCHORS_MAX];
    struct pair *pairs;
    size_t pair_count;
};

static size_t anchor_of(struct fit *fit, const char *slug, struct geo_point point)
{
    for (size_t i = 0; i < fit->anchor_count; i++) {
        if (strcmp(fit->anchors[i].slug, slug) == 0)
            return i;
    }
    if (fit->anchor_count == LATENCY_ANCHORS_MAX)
        return LATENCY_ANCHORS_MAX;
    fit->anchors[fit->anchor_count] = (struct latency_anchor){slug, point, 0};
    return fit->anchor_count++;
}

/* Both directions into one pair, less half of what each end's round trip to itself takes. */
static bool gather(struct fit *fit, const struct latency_sample *samples, size_t count)
{
    static const double none = 0;
    double own[LATENCY_ANCHORS_MAX] = {0};
    double sum[LATENCY_ANCHORS_MAX][LATENCY_ANCHORS_MAX] = {{none}};
    int times[LATENCY_ANCHORS_MAX][LATENCY_ANCHORS_MAX] = {{0}};
    for (size_t i = 0; i < count; i++) {
        size_t a = anchor_of(fit, samples[i].from, samples[i].from_point);
        size_t b = anchor_of(fit, samples[i].to, samples[i].to_point);
        if (a == LATENCY_ANCHORS_MAX || b == LATENCY_ANCHORS_MAX || !(samples[i].rtt_ms > 0))
            return false;
        if (a == b) {
            own[a] = samples[i].rtt_ms;
            continue;
        }
        size_t low = a < b ? a : b, high = a < b ? b : a;
        sum[low][high] += log(samples[i].rtt_ms);
        times[low][high]++;
    }
    for (size_t a = 0; a < fit->anchor_count; a++) {
        for (size_t b = 0; b < fit->anchor_count; b++) {
            const struct geo_point *p = &fit->anchors[a].point, *q = &fit->anchors[b].point;
            fit->km[a][b] = geo_distance_km(p->latitude, p->longitude, q->latitude, q->longitude);
            if (a >= b || times[a][b] == 0)
                continue;
            double rtt_ms = exp(sum[a][b] / times[a][b]) - (own[a] + own[b]) / 2;
            /* Two names for one place, or a place whose own trip took as long as the way. */
            if (rtt_ms <= fit->km[a][b] * FIBRE_MS_PER_KM || fit->km[a][b] == 0)
                continue;
            fit->pairs[fit->pair_count++] = (struct pair){a, b, fit->km[a][b], rtt_ms};
        }
    }
    return fit->anchor_count >= 3 && fit->pair_count >= 3;
}

static double line_error(const struct pair *pairs, size_t count, double fixed_ms, double detour)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += fabs(log(pairs[i].rtt_ms / (fixed_ms + detour * pairs[i].km * FIBRE_MS_PER_KM)));
    return sum;
}

/* The error has one valley: a coarse grid, then a fine one around the best. */
static void fit_line(const struct pair *pairs, size_t count, struct latency_model *model)
{
    double best = INFINITY, center_ms = 6, center = 1.7;
    for (double step = 8; step >= 1; step /= 8) {
        double from_ms = center_ms, from = center;
        for (int i = -6; i <= 6; i++) {
            for (int j = -8; j <= 8; j++) {
                double fixed_ms = from_ms + i * step / 8, detour = from + j * step / 80;
                double error = fixed_ms < 0.5 || detour < 1
                                   ? INFINITY
                                   : line_error(pairs, count, fixed_ms, detour);
                if (error < best) {
                    best = error;
                    center_ms = fixed_ms;
                    center = detour;
                }
            }
        }
    }
    model->fixed_ms = center_ms;
    model->detour = center;
}

/* Covariance of two measured pairs. */
static double kernel(const struct fit *fit, const struct pair *x, const struct pair *y)
{
    double aa = fit->km[x->a][y->a], ab = fit->km[x->a][y->b], ba = fit->km[x->b][y->a],
           bb = fit->km[x->b][y->b];
    double ends = exp(-aa / KERNEL_END_KM) + exp(-ab / KERNEL_END_KM) + exp(-ba / KERNEL_END_KM) +
                  exp(-bb / KERNEL_END_KM);
    double both = exp(-(aa + bb) / KERNEL_PAIR_KM) + exp(-(ab + ba) / KERNEL_PAIR_KM);
    return kernel_reach(x->km) * kernel_reach(y->km) *
           (KERNEL_END_VARIANCE * ends + KERNEL_PAIR_VARIANCE * both);
}

/* Solves (covariance + noise) w = residual in place: w. */
static void solve(const struct fit *fit, const struct pair *pairs, size_t count, double *w)
{
    double *lower = calloc(count * count, sizeof(*lower));
    if (lower == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = kernel(fit, &pairs[i], &pairs[j]) + (i == j ? KERNEL_NOISE : 0);
            for (size_t k = 0; k < j; k++)
                sum -= lower[i * count + k] * lower[j * count + k];
            lower[i * count + j] = i == j ? sqrt(sum) : sum / lower[j * count + j];
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++)
            w[i] -= lower[i * count + k] * w[k];
        w[i] /= lower[i * count + i];
    }
    for (size_t i = count; i-- > 0;) {
        for (size_t k = i + 1; k < count; k++)
            w[i] -= lower[k * count + i] * w[k];
        w[i] /= lower[i * count + i];
    }
    free(lower);
}

/* From the weights of pairs to those of anchors. */
static void fit_pairs(const struct fit *fit, const struct pair *pairs, size_t count,
                      struct latency_model *model)
{
    double *w = calloc(count + 1, sizeof(*w));
    if (w == NULL)
        abort();
    memset(model, 0, sizeof(*model));
    model->anchor_count = fit->anchor_count;
    memcpy(model->anchors, fit->anchors, sizeof(model->anchors));
    model->pair_count = count;
    fit_line(pairs, count, model);
    for (size_t i = 0; i < count; i++)
        w[i] = log(pairs[i].rtt_ms / latency_model_distance_only(model, pairs[i].km));
    solve(fit, pairs, count, w);
    for (size_t i = 0; i < count; i++) {
        size_t a = pairs[i].a, b = pairs[i].b;
        double weight = w[i] * kernel_reach(pairs[i].km);
        model->anchors[a].weight += KERNEL_END_VARIANCE * weight;
        model->anchors[b].weight += KERNEL_END_VARIANCE * weight;
        model->pair_weights[a][b] = model->pair_weights[b][a] = KERNEL_PAIR_VARIANCE * weight;
    }
    free(w);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct latency_quality quality_of(double *errors, size_t count)
{
    if (count == 0)
        return (struct latency_quality){0, 0};
    qsort(errors, count, sizeof(*errors), compare_doubles);
    return (struct latency_quality){errors[count / 2], errors[count * 9 / 10]};
}

/* Leaves out what `skips` says, `rounds` times, and judges by it. */
static void leave_out(const struct fit *fit, size_t rounds,
                      bool (*skips)(const struct pair *pair, size_t index, size_t round),
                      struct latency_quality *ret_quality, struct latency_quality *ret_simple)
{
    struct pair *kept = calloc(fit->pair_count, sizeof(*kept));
    double *errors = calloc(2 * fit->pair_count, sizeof(*errors));
    double *simple = calloc(2 * fit->pair_count, sizeof(*simple));
    struct latency_model *model = calloc(1, sizeof(*model));
    if (kept == NULL || errors == NULL || simple == NULL || model == NULL)
        abort();
    size_t judged = 0;
    for (size_t round = 0; round < rounds; round++) {
        size_t count = 0;
        for (size_t i = 0; i < fit->pair_count; i++) {
            if (!skips(&fit->pairs[i], i, round))
                kept[count++] = fit->pairs[i];
        }
        fit_pairs(fit, kept, count, model);
        for (size_t i = 0; i < fit->pair_count; i++) {
            const struct pair *pair = &fit->pairs[i];
            struct latency_end a, b;
            if (!skips(pair, i, round) || pair->rtt_ms <= JUDGED_FROM_MS)
                continue;
            latency_end_make(model, fit->anchors[pair->a].point, &a);
            latency_end_make(model, fit->anchors[pair->b].point, &b);
            errors[judged] = fabs(latency_model_estimate(model, &a, &b, NULL) / pair->rtt_ms - 1);
            simple[judged++] =
                fabs(latency_model_distance_only(model, pair->km) / pair->rtt_ms - 1);
        }
    }
    *ret_quality = quality_of(errors, judged);
    if (ret_simple != NULL)
        *ret_simple = quality_of(simple, judged);
    free(kept);
    free(errors);
    free(simple);
    free(model);
}

static bool skips_fold(const struct pair *pair, size_t index, size_t round)
{
    (void)pair;
    /* Spread over all places: neighbours in the list share one. */
    return index * 7919 % FOLDS == round;
}

static bool skips_place(const struct pair *pair, size_t index, size_t round)
{
    (void)index;
    return pair->a == round || pair->b == round;
}

bool latency_fit(const struct latency_sample *samples, size_t count, bool validate,
                 struct latency_model *ret_model)
{
    struct fit *fit = calloc(1, sizeof(*fit));
    if (fit == NULL)
        abort();
    fit->pairs = calloc(LATENCY_ANCHORS_MAX * LATENCY_ANCHORS_MAX, sizeof(*fit->pairs));
    if (fit->pairs == NULL)
        abort();
    bool good = gather(fit, samples, count);
    if (good) {
        fit_pairs(fit, fit->pairs, fit->pair_count, ret_model);
        if (validate) {
            leave_out(fit, FOLDS, skips_fold, &ret_model->near, NULL);
            leave_out(fit, fit->anchor_count, skips_place, &ret_model->far, &ret_model->simple);
        }
    }
    free(fit->pairs);
    free(fit);
    return good;
}
