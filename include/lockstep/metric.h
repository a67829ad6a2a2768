/* metric.h: a counter, declared once, beside the struct field that holds it.
 *
 * Counters are plain fields that the block increments: no look-up, no call. The table gives each its name,
 * unit and meaning; the registry in src/report gathers them per block, kernel and stream and reduces them
 * over blocks in a fixed order.
 *
 *     typedef struct { uint64_t hits, accesses, queue_peak; ls_histogram wait; } counters;
 *     static const ls_metric metrics[] = {
 *         LS_METRIC_COUNTER(counters, hits, "sectors", "sectors found valid"),
 *         LS_METRIC_COUNTER(counters, accesses, "sectors", "sectors looked up"),
 *         LS_METRIC_RATIO(counters, "hit_rate", hits, accesses, "", "hits / accesses"),
 *         LS_METRIC_PEAK(counters, queue_peak, "entries", "most entries in use at once"),
 *         LS_METRIC_HISTOGRAM(counters, wait, "cycles", "time in the queue"),
 *     };
 */
#ifndef LOCKSTEP_METRIC_H
#define LOCKSTEP_METRIC_H

#include "lockstep/version.h"

#include <stddef.h>
#include <stdint.h>

typedef enum ls_metric_kind {
    LS_METRIC_KIND_COUNTER,   /* uint64_t, only grows; blocks add up; a kernel's value is a difference */
    LS_METRIC_KIND_PEAK,      /* uint64_t gauge: blocks reduce to the largest */
    LS_METRIC_KIND_LEVEL,     /* uint64_t gauge: the value now; blocks add up */
    LS_METRIC_KIND_HISTOGRAM, /* ls_histogram */
    LS_METRIC_KIND_RATIO,     /* two counter fields: sum of numerators / sum of denominators */
} ls_metric_kind;

typedef struct ls_metric {
    const char *name;
    ls_metric_kind kind;
    uint32_t offset;      /* of the field; for a ratio, of the numerator */
    uint32_t denominator; /* offset of the denominator of a ratio; of a histogram: 1 if its buckets are fine */
    const char *unit;
    const char *help;
} ls_metric;

/* Bucket b > 0 counts the values in [2^(b-1), 2^b); bucket 0 counts zeros. */
#define LS_HISTOGRAM_BUCKETS 65
typedef struct ls_histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min; /* valid while count > 0 */
    uint64_t max;
    uint64_t bucket[LS_HISTOGRAM_BUCKETS];
} ls_histogram;

static inline void ls_histogram_add(ls_histogram *h, uint64_t value)
{
    h->min = h->count == 0 || value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
    h->count++;
    h->sum += value;
    h->bucket[value == 0 ? 0 : 64 - __builtin_clzll(value)]++;
}

/* The same with four buckets for each power of two, for values that differ by less: 0 to 7 have a bucket each, the last one
 * counts values from 2^17 on. A field has one of the two kinds of buckets, and its row in the table says which. */
static inline void ls_histogram_add_fine(ls_histogram *h, uint64_t value)
{
    h->min = h->count == 0 || value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
    h->count++;
    h->sum += value;
    if (value < 8) {
        h->bucket[value]++;
        return;
    }
    unsigned power = 63 - (unsigned)__builtin_clzll(value),
             at = 4 * power - 4 + (unsigned)(value >> (power - 2) & 3);
    h->bucket[at < LS_HISTOGRAM_BUCKETS ? at : LS_HISTOGRAM_BUCKETS - 1]++;
}

/* The least value of a bucket. */
static inline uint64_t ls_histogram_least(unsigned bucket, uint32_t fine)
{
    if (!fine)
        return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
    return bucket < 8 ? bucket : (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

/* clang-format off */
#define LS_METRIC_COUNTER(type, field, unit_, help_)                                                          \
    { .name = #field, .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(type, field), .unit = (unit_),       \
      .help = (help_) }
#define LS_METRIC_PEAK(type, field, unit_, help_)                                                             \
    { .name = #field, .kind = LS_METRIC_KIND_PEAK, .offset = offsetof(type, field), .unit = (unit_),          \
      .help = (help_) }
#define LS_METRIC_LEVEL(type, field, unit_, help_)                                                            \
    { .name = #field, .kind = LS_METRIC_KIND_LEVEL, .offset = offsetof(type, field), .unit = (unit_),         \
      .help = (help_) }
#define LS_METRIC_HISTOGRAM(type, field, unit_, help_)                                                        \
    { .name = #field, .kind = LS_METRIC_KIND_HISTOGRAM, .offset = offsetof(type, field), .unit = (unit_),     \
      .help = (help_) }
#define LS_METRIC_FINE_HISTOGRAM(name_, offset_, unit_, help_)                                                \
    { .name = (name_), .kind = LS_METRIC_KIND_HISTOGRAM, .offset = (uint32_t)(offset_), .denominator = 1,     \
      .unit = (unit_), .help = (help_) }
#define LS_METRIC_RATIO(type, name_, numerator_, denominator_, unit_, help_)                                  \
    { .name = (name_), .kind = LS_METRIC_KIND_RATIO, .offset = offsetof(type, numerator_),                    \
      .denominator = offsetof(type, denominator_), .unit = (unit_), .help = (help_) }
/* clang-format on */

#endif
