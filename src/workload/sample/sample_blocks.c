/* sample_blocks.c: see sample_blocks.h. */
#include "workload/sample/sample_blocks.h"

#include <math.h>

/* Means over the last three spans of `windows` windows each, the latest first. */
static void means_of(const sample_blocks *s, const double *values, uint32_t windows, double out[SAMPLE_SPANS])
{
    for (uint32_t i = 0; i < SAMPLE_SPANS; i++) {
        double sum = 0;
        for (uint32_t k = 1; k <= windows; k++)
            sum += values[(s->windows - i * windows - k) % SAMPLE_WINDOWS];
        out[i] = sum / windows;
    }
}

static double mean_of(const double values[SAMPLE_SPANS])
{
    double sum = 0;
    for (uint32_t i = 0; i < SAMPLE_SPANS; i++)
        sum += values[i];
    return sum / SAMPLE_SPANS;
}

static bool is_even(const double values[SAMPLE_SPANS])
{
    double mean = mean_of(values);
    for (uint32_t i = 0; i < SAMPLE_SPANS; i++)
        if (fabs(values[i] - mean) > SAMPLE_STEADY * mean)
            return false;
    return mean > 0;
}

static void look(sample_blocks *s)
{
    double times[SAMPLE_SPANS], durations[SAMPLE_SPANS];
    uint32_t windows = 1;
    for (; windows <= SAMPLE_SPAN_WINDOWS && SAMPLE_SPANS * windows <= s->windows; windows *= 2) {
        means_of(s, s->times, windows, times);
        means_of(s, s->durations, windows, durations);
        if (is_even(times) && is_even(durations))
            break;
    }
    if (windows > SAMPLE_SPAN_WINDOWS || SAMPLE_SPANS * windows > s->windows)
        return;
    double squares = 0;
    s->is_steady = true;
    s->stop_ended = s->ended;
    s->stop_cycle = s->latest;
    s->time = mean_of(times);
    for (uint32_t i = 0; i < SAMPLE_SPANS; i++)
        squares += (times[i] - s->time) * (times[i] - s->time);
    s->variance = squares / (SAMPLE_SPANS - 1) / SAMPLE_SPANS;
}

static void close_window(sample_blocks *s)
{
    uint32_t at = s->windows % SAMPLE_WINDOWS;
    bool was_warm = s->is_warm;
    s->is_warm = s->is_warm || (double)(s->touched - s->touched_before) < SAMPLE_NEW * (double)s->touched ||
                 s->touched == 0;
    s->touched_before = s->touched;
    if (!was_warm) /* the next window is the first that counts */
        return;
    s->times[at] = (double)(s->latest - s->edge);
    s->durations[at] = (double)s->duration / (double)s->wave;
    s->windows++;
    if (!s->is_steady)
        look(s);
}

void sample_blocks_end(sample_blocks *s, uint64_t begin, uint64_t end)
{
    if (s->wave == 0)
        return;
    s->ended++;
    s->duration += end - begin;
    s->latest = end > s->latest ? end : s->latest;
    if (s->ended % s->wave != 0)
        return;
    if (s->ended > s->wave)
        close_window(s);
    s->edge = s->latest;
    s->duration = 0;
}

uint64_t sample_blocks_skip(sample_blocks *s, uint64_t sent)
{
    if (!s->is_steady || s->skipped > 0 || sent >= s->total)
        return 0;
    /* One wave more stays, so that the end of the kernel comes from full cores. */
    uint64_t left = s->total - sent;
    s->skipped = left > 2 * s->wave ? (left / s->wave - 1) * s->wave : 0;
    s->is_steady = s->skipped > 0;
    return s->skipped;
}

double sample_blocks_cycles(const sample_blocks *s, double *variance)
{
    double waves = s->wave > 0 ? (double)s->skipped / (double)s->wave : 0;
    *variance = waves * waves * s->variance;
    return waves * s->time;
}
