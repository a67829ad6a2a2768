/* time.h: femtoseconds, cycles, and the only place that converts between them.
 *
 * A clock's period is an exact fraction of femtoseconds. Edge n of a clock is at floor(n * period)
 * femtoseconds, computed from n each time, so the phase never drifts. 2^64 fs are 5 hours of simulated
 * time. */
#ifndef LOCKSTEP_TIME_H
#define LOCKSTEP_TIME_H

#include "lockstep/status.h"

#include <stdbool.h>

typedef uint64_t ls_time;  /* femtoseconds since the start of the simulation */
typedef uint64_t ls_cycle; /* edges of one clock since the start of the simulation */

#define LS_TIME_MAX UINT64_MAX /* "never" */
#define LS_CYCLE_MAX UINT64_MAX
#define LS_FS_PER_SECOND UINT64_C(1000000000000000)

/* A non-negative fraction in lowest terms; den > 0. */
typedef struct ls_ratio {
    uint64_t num;
    uint64_t den;
} ls_ratio;

/* period = period_num / period_den femtoseconds, in lowest terms, at least 1 fs. */
typedef struct ls_clock {
    uint64_t period_num;
    uint64_t period_den;
} ls_clock;

/* A clock of hz.num / hz.den hertz. Fails for 0 Hz, for more than 10^15 Hz, and for a period whose fraction
 * does not fit into 64 bits. */
LS_API ls_status ls_clock_init(ls_clock *clock, ls_ratio hz, ls_error *err);

/* The time of edge `cycle`; LS_TIME_MAX if it lies beyond the end of time. */
LS_API ls_time ls_clock_time(const ls_clock *clock, ls_cycle cycle);

/* The first edge at or after `time`; LS_CYCLE_MAX for LS_TIME_MAX: never stays never. Inverse of
 * ls_clock_time: cycle_at(time(n)) == n for every n before the end of time. */
LS_API ls_cycle ls_clock_cycle_at(const ls_clock *clock, ls_time time);

/* The shortest time that `cycles` periods can take between two edges: floor(cycles * period). */
LS_API ls_time ls_clock_span(const ls_clock *clock, uint64_t cycles);

LS_API bool ls_clock_same(const ls_clock *a, const ls_clock *b);

/* Reduces to lowest terms; den 0 is an error of the caller. */
LS_API ls_ratio ls_ratio_make(uint64_t num, uint64_t den);

#endif
