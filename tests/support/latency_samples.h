/* Measured round trips as the fit and its tests read them. */
#ifndef RACKRATE_TESTS_LATENCY_SAMPLES_H
#define RACKRATE_TESTS_LATENCY_SAMPLES_H

#include "server/reference/latency_model.h"

/* Reads `src,dst,rtt_ms` lines with AWS's region names; the number of samples (0: no such file, or
 * a line that is none), in *ret_samples (free it). */
size_t latency_samples_read(const char *path, struct latency_sample **ret_samples);

/* The point of a place by slug; aborts on an unknown one. */
struct geo_point latency_sample_point(const char *slug);

#endif
