/* Round-trip time between two points where nothing was measured: the great circle at the speed of
 * light in fibre, times how much longer real routes are, plus a fixed part; corrected by how far
 * measured pairs near both ends lie above or below that. The correction is the mean of a Gaussian
 * process over pairs of places (Rasmussen & Williams, Gaussian Processes for Machine Learning,
 * chapter 2) with a part for each end and a part for the two together; for a symmetric kernel it
 * folds into one weight an anchor and one a pair of anchors, so that an estimate needs no measured
 * pair at hand. Pure; any thread. */
#ifndef RACKRATE_REFERENCE_LATENCY_MODEL_H
#define RACKRATE_REFERENCE_LATENCY_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#define LATENCY_ANCHORS_MAX 64

/* Light in fibre: 299,792.458 km/s over a group index of 1.468 (ITU-T G.652 fibre at 1,550 nm), out
 * and back: milliseconds a kilometre. */
#define FIBRE_MS_PER_KM (2 * 1.468 / 299.792458)

struct geo_point {
    double latitude, longitude; /* degrees, north and east positive */
};

/* A place that round trips were measured from and to. */
struct latency_anchor {
    const char *slug;
    struct geo_point point;
    double weight; /* of this end, whatever the other is */
};

/* How well a fit does on measured pairs it has not seen, relative to what was measured. */
struct latency_quality {
    double median, p90;
};

struct latency_model {
    double fixed_ms; /* what a round trip takes beside the way */
    double detour;   /* length of real routes over the great circle */
    size_t anchor_count;
    struct latency_anchor anchors[LATENCY_ANCHORS_MAX];
    /* Symmetric: of the two ends together. */
    double pair_weights[LATENCY_ANCHORS_MAX][LATENCY_ANCHORS_MAX];
    size_t pair_count;             /* measured pairs it was fitted to */
    struct latency_quality near;   /* one pair in ten left out at a time */
    struct latency_quality far;    /* all pairs of one place left out at a time */
    struct latency_quality simple; /* as `far`, of the distance alone */
};

/* The model in force: fitted by `make fit-latency`, see latency_table.c. */
extern const struct latency_model latency_model;

/* What a point is to the model; make it once for a point that is one end of many pairs. */
struct latency_end {
    struct geo_point point;
    double x, y, z;                        /* on the unit sphere */
    double own;                            /* correction by this end */
    double closeness[LATENCY_ANCHORS_MAX]; /* to each anchor, 1 there, falling with distance */
    double weighted[LATENCY_ANCHORS_MAX];  /* pair weights times closeness */
    double nearest_anchor_km;
};
void latency_end_make(const struct latency_model *model, struct geo_point point,
                      struct latency_end *ret_end);

/* The estimate in milliseconds between two ends; never below light in fibre. *ret_error (may be
 * NULL) is the relative error that nine of ten estimates stay within. */
double latency_model_estimate(const struct latency_model *model, const struct latency_end *a,
                              const struct latency_end *b, double *ret_error);

/* The same by distance alone, without any correction. */
double latency_model_distance_only(const struct latency_model *model, double distance_km);

/* A measured round trip. Between a place and itself: what measuring takes there. */
struct latency_sample {
    const char *from, *to; /* slugs; the same pointer or text for the same place */
    struct geo_point from_point, to_point;
    double rtt_ms;
};

/* Fits a model. Both directions of a pair count as one (geometric mean), after half of what each
 * end's round trip to itself takes is off. False where the samples are too few (under three places
 * or pairs) or of too many places, or not positive. Slugs are borrowed. Deterministic. With
 * `validate`, its quality is found by leaving out, which fits 10 + places times. */
bool latency_fit(const struct latency_sample *samples, size_t count, bool validate,
                 struct latency_model *ret_model);

#endif
