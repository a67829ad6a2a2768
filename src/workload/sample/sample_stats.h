/* sample_stats.h: the statistics of a stratified sample with a ratio estimator. It knows nothing of kernels: a unit has a
 * size (executed instructions), which is known for all of them, and a value (cycles), which is known for measured ones.
 *
 * A stratum of N units with the sizes X in all has the estimate X * (sum of measured y) / (sum of measured x). The
 * variance of that is N^2 * (1 - n/N) * s^2 / n. Here s^2 is the variance of y - r * x over the n measured units and
 * one more observation, which has the relative variance of all strata together (pooled). A stratum with one measured
 * unit has only that observation. */
#ifndef WORKLOAD_SAMPLE_STATS_H
#define WORKLOAD_SAMPLE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Sums over a stratum. All zero is an empty one. */
typedef struct sample_stratum {
    uint64_t units;          /* N */
    double size;             /* of all of them */
    uint64_t measured;       /* n */
    double x, y, xx, xy, yy; /* sums over measured units: sizes, values, squares */
    double own_variance;     /* of the values themselves, which may be extrapolated; summed */
} sample_stratum;

typedef struct sample_total {
    double value;   /* the estimate over all strata */
    double half;    /* half of the 95 % interval, without the allowance for bias */
    double freedom; /* degrees of freedom of the variance */
    double guessed; /* the part of the value that was not measured */
    double
        pooled_cv; /* relative deviation inside strata, over all with two or more measured units; 0: none has */
} sample_total;

void sample_stratum_add(sample_stratum *s, double size, double value, double variance);

/* The 97.5 % quantile of Student's distribution. Fractions of a degree are cut off; below 1 counts as 1. */
double sample_student(double freedom);

/* The estimate of one stratum, which has a measured unit. */
double sample_stratum_value(const sample_stratum *s);
/* Variance s^2 of one unit around the ratio; NaN with fewer than two measured ones. */
double sample_stratum_spread(const sample_stratum *s);
/* Over all strata, each with a measured unit. */
sample_total sample_estimate(const sample_stratum *strata, size_t count);

/* How many units of each stratum should be measured so that half the interval is at most `error` of the total: Neyman's
 * allocation, never fewer than are measured and never more than there are. If the interval is too wide, at least one
 * stratum gets one more, as long as any has units left. Returns the sum of units to add. */
uint64_t sample_allocate(const sample_stratum *strata, size_t count, double error, uint64_t *wanted);

#endif
