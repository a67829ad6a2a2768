/* time.c: exact conversion between the cycles of a clock and femtoseconds.
 *
 * These run once per window and per message that crosses clocks. They take one multiplication and at most one
 * division, of 64 bits while the product fits, else of 128 bits. At 1365 MHz it fits for the first minute of
 * simulated time. */
#include "lockstep/time.h"

#include <inttypes.h>

__extension__ typedef unsigned __int128 u128;

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

ls_ratio ls_ratio_make(uint64_t num, uint64_t den)
{
    uint64_t divisor = gcd(num, den);
    if (divisor == 0) /* 0/0: kept as it is, for ls_clock_init() to refuse */
        return (ls_ratio){ 0, 0 };
    return (ls_ratio){ num / divisor, den / divisor };
}

ls_status ls_clock_init(ls_clock *clock, ls_ratio hz, ls_error *err)
{
    if (hz.den == 0)
        return ls_fail(err, LS_ERR_INPUT, "a frequency of %" PRIu64 "/0 Hz is not a number", hz.num);
    if (hz.num == 0)
        return ls_fail(err, LS_ERR_INPUT, "a clock cannot run at 0 Hz");
    hz = ls_ratio_make(hz.num, hz.den);
    if (hz.num > (u128)hz.den * LS_FS_PER_SECOND)
        return ls_fail(err, LS_ERR_INPUT,
                       "a clock of %" PRIu64 "/%" PRIu64
                       " Hz is faster than 10^15 Hz: its period is below 1 fs",
                       hz.num, hz.den);
    /* 10^15 * den / num; dividing out both common factors first leaves the lowest terms. */
    uint64_t divisor = gcd(LS_FS_PER_SECOND, hz.num);
    uint64_t period_num;
    if (__builtin_mul_overflow(LS_FS_PER_SECOND / divisor, hz.den, &period_num))
        return ls_fail(err, LS_ERR_INPUT,
                       "the period of a clock of %" PRIu64 "/%" PRIu64 " Hz does not fit into 64 bits", hz.num,
                       hz.den);
    *clock = (ls_clock){ period_num, hz.num / divisor };
    return LS_OK;
}

static ls_time time_wide(const ls_clock *clock, ls_cycle cycle)
{
    u128 time = (u128)cycle * clock->period_num / clock->period_den;
    return time >= LS_TIME_MAX ? LS_TIME_MAX : (ls_time)time;
}

ls_time ls_clock_time(const ls_clock *clock, ls_cycle cycle)
{
    uint64_t product;
    if (LS_UNLIKELY(__builtin_mul_overflow(cycle, clock->period_num, &product)))
        return time_wide(clock, cycle);
    return clock->period_den == 1 ? product : product / clock->period_den;
}

static ls_cycle cycle_wide(const ls_clock *clock, ls_time time)
{
    u128 cycle = ((u128)time * clock->period_den + clock->period_num - 1) / clock->period_num;
    return cycle >= LS_CYCLE_MAX ? LS_CYCLE_MAX : (ls_cycle)cycle;
}

ls_cycle ls_clock_cycle_at(const ls_clock *clock, ls_time time)
{
    if (LS_UNLIKELY(time == LS_TIME_MAX)) /* never stays never */
        return LS_CYCLE_MAX;
    uint64_t product;
    if (LS_UNLIKELY(__builtin_mul_overflow(time, clock->period_den, &product)))
        return cycle_wide(clock, time);
    uint64_t cycle = product / clock->period_num;
    return cycle + (cycle * clock->period_num != product);
}

ls_time ls_clock_span(const ls_clock *clock, uint64_t cycles)
{
    /* floor(a + b) >= floor(a) + floor(b), so no two edges that far apart are closer than this. */
    return ls_clock_time(clock, cycles);
}

bool ls_clock_same(const ls_clock *a, const ls_clock *b)
{
    return a->period_num == b->period_num && a->period_den == b->period_den;
}
