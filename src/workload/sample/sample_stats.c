/* sample_stats.c: see sample_stats.h. */
#include "workload/sample/sample_stats.h"

#include <math.h>

void sample_stratum_add(sample_stratum *s, double size, double value, double variance)
{
    s->measured++;
    s->x += size;
    s->y += value;
    s->xx += size * size;
    s->xy += size * value;
    s->yy += value * value;
    s->own_variance += variance;
}

double sample_student(double freedom)
{
    static const double first[] = { 12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622 };
    const double z = 1.959964;
    double n = floor(freedom);
    if (!(n >= 1))
        return first[0];
    if (n <= 9)
        return first[(int)n - 1];
    /* Expansion in 1 / n; its error is below 0.0002 from 10 on. */
    double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double sample_stratum_value(const sample_stratum *s)
{
    if (s->measured == s->units)
        return s->y;
    return s->x > 0 ? s->size * s->y / s->x : (double)s->units * s->y / (double)s->measured;
}

double sample_stratum_spread(const sample_stratum *s)
{
    if (s->measured < 2)
        return NAN;
    double r = s->x > 0 ? s->y / s->x : 0, n = (double)s->measured;
    double sum = s->x > 0 ? s->yy - 2 * r * s->xy + r * r * s->xx : s->yy - s->y * s->y / n;
    /* Sums of squares of nearly equal numbers: what is below their rounding is zero. */
    return sum > 1e-12 * s->yy ? sum / (n - 1) : 0;
}

/* Relative variance inside strata, and its degrees of freedom. */
static double pool(const sample_stratum *strata, size_t count, double *freedom)
{
    double sum = 0;
    *freedom = 0;
    for (size_t i = 0; i < count; i++) {
        const sample_stratum *s = &strata[i];
        if (s->measured < 2 || s->y <= 0)
            continue;
        double mean = s->y / (double)s->measured;
        sum += (double)(s->measured - 1) * sample_stratum_spread(s) / (mean * mean);
        *freedom += (double)(s->measured - 1);
    }
    return *freedom > 0 ? sum / *freedom : 0;
}

/* Variance of a stratum's estimate that comes from units that were not measured. */
static double sampling_variance(const sample_stratum *s, double spread)
{
    double n = (double)s->measured, units = (double)s->units;
    return units * units * (1 - n / units) * spread / n;
}

/* The variance of a unit as the interval and the allocation use it. Two or three units that are equal by chance say little
 * about the others, and a sample that ends when its interval is small ends there more often than it should. So the pooled
 * variance counts as one more observation of each stratum. */
static double supported_spread(const sample_stratum *s, double pooled)
{
    double mean = s->y / (double)s->measured, n = (double)s->measured;
    double shared = pooled * mean * mean;
    return s->measured < 2 ? shared : ((n - 1) * sample_stratum_spread(s) + shared) / n;
}

sample_total sample_estimate(const sample_stratum *strata, size_t count)
{
    double pooled_freedom, pooled = pool(strata, count, &pooled_freedom);
    double variance = 0, weighed = 0, own = 0, from_pool = 0;
    sample_total t = { .pooled_cv = sqrt(pooled) };
    for (size_t i = 0; i < count; i++) {
        const sample_stratum *s = &strata[i];
        double value = sample_stratum_value(s);
        double scale = s->measured == s->units ? 1
                       : s->x > 0              ? s->size / s->x
                                               : (double)s->units / (double)s->measured;
        t.value += value;
        t.guessed += value - s->y > 0 ? value - s->y : 0;
        own += scale * scale * s->own_variance;
        if (s->measured == s->units)
            continue;
        if (s->measured < 2) {
            from_pool += sampling_variance(s, supported_spread(s, pooled));
            continue;
        }
        double v = sampling_variance(s, supported_spread(s, pooled));
        variance += v;
        weighed += v * v / (double)(s->measured - 1);
    }
    /* Satterthwaite: strata with their own variance, and those with the pooled one as one more term. */
    if (from_pool > 0 && pooled_freedom > 0)
        weighed += from_pool * from_pool / pooled_freedom;
    variance += from_pool;
    t.freedom = weighed > 0 ? variance * variance / weighed : pooled_freedom;
    double student = variance > 0 ? sample_student(t.freedom) : 0;
    /* A unit that is extrapolated comes from three spans: two degrees of freedom. */
    double inside = sample_student(2);
    t.half = sqrt(student * student * variance + inside * inside * own);
    return t;
}

uint64_t sample_allocate(const sample_stratum *strata, size_t count, double error, uint64_t *wanted)
{
    double freedom, pooled = pool(strata, count, &freedom);
    sample_total t = sample_estimate(strata, count);
    double goal = error * t.value;
    uint64_t more = 0;
    for (size_t i = 0; i < count; i++)
        wanted[i] = strata[i].measured;
    if (t.half <= goal)
        return 0;
    double student = sample_student(t.freedom), sum = 0, squares = 0, best = 0;
    size_t neediest = count;
    for (size_t i = 0; i < count; i++) {
        double d = sqrt(supported_spread(&strata[i], pooled)), n = (double)strata[i].measured;
        sum += (double)strata[i].units * d;
        squares += (double)strata[i].units * d * d;
        double gain = (double)strata[i].units * d;
        gain = gain * gain / (n * (n + 1));
        if (strata[i].measured < strata[i].units && (neediest == count || gain > best)) {
            neediest = i;
            best = gain;
        }
    }
    double variance = goal / student;
    variance *= variance;
    for (size_t i = 0; i < count && variance + squares > 0; i++) {
        const sample_stratum *s = &strata[i];
        double need = ceil((double)s->units * sqrt(supported_spread(s, pooled)) * sum / (variance + squares));
        /* At most four times as many in one step: the next one knows the spread better. */
        double most = 4 * (double)s->measured < (double)s->units ? 4 * (double)s->measured : (double)s->units;
        need = need < most ? need : most;
        if (need > (double)wanted[i])
            wanted[i] = (uint64_t)need;
        more += wanted[i] - s->measured;
    }
    if (more == 0 && neediest < count) {
        wanted[neediest]++;
        more = 1;
    }
    return more;
}
