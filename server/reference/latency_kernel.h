/* How alike two pairs of places are held to be: what latency_model.c and latency_fit.c share. The
 * widths and weights were chosen by cross-validation on the samples the model is fitted to; within
 * a factor of two of them the quality hardly moves. */
#ifndef RACKRATE_REFERENCE_LATENCY_KERNEL_H
#define RACKRATE_REFERENCE_LATENCY_KERNEL_H

#include <math.h>

#define KERNEL_END_KM        6000.0 /* how far what is special about one end reaches */
#define KERNEL_PAIR_KM       2500.0 /* and what is special about a pair */
#define KERNEL_END_VARIANCE  0.05   /* of the logarithm of measured over distance alone */
#define KERNEL_PAIR_VARIANCE 0.05
#define KERNEL_NOISE         0.002
#define KERNEL_SHORT_KM      2000.0

/* Detours are a matter of long ways: neighbours far from the rest of the world still are
 * neighbours. From 0 at no distance to 1. */
static inline double kernel_reach(double km)
{
    return 1 - exp(-km / KERNEL_SHORT_KM);
}

#endif
