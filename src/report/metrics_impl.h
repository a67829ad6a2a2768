/* metrics_impl.h: the registry's inside. Only metrics*.c include this: metrics.c changes the registry,
 * metrics_query.c and metrics_totals.c read it.
 *
 * A source's values are a row of 64-bit words, laid out by its type: one word for a counter, peak or level,
 * sizeof(ls_histogram) / 8 words for a histogram. Differences, packed intervals and views are all such
 * rows. */
#ifndef REPORT_METRICS_IMPL_H
#define REPORT_METRICS_IMPL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/metrics.h"

/* Words of a histogram in its row: as in the struct. */
enum {
    METRICS_HIST_COUNT = 0,
    METRICS_HIST_SUM = 1,
    METRICS_HIST_MIN = 2,
    METRICS_HIST_MAX = 3,
    METRICS_HIST_BUCKET = 4,
    METRICS_HIST_WORDS = METRICS_HIST_BUCKET + LS_HISTOGRAM_BUCKETS,
};
_Static_assert(sizeof(ls_histogram) == METRICS_HIST_WORDS * sizeof(uint64_t), "a histogram is only words");

/* A field of the counter struct that some metric reads. Two ratios may share one. */
typedef struct metrics_field {
    uint32_t offset;     /* in the counter struct */
    uint32_t word;       /* in the row */
    ls_metric_kind kind; /* never a ratio */
    const char *name;    /* of the first metric that reads it */
    bool touched;        /* a level was seen changed at a mark */
} metrics_field;

/* One field, or counters that are neighbours both in the counter struct and in the row. */
typedef struct metrics_run {
    uint32_t offset, word; /* of the first field */
    ls_metric_kind kind;
    uint32_t first, count; /* fields */
} metrics_run;

typedef struct metrics_type {
    const char *name;
    const ls_metric *metrics;
    size_t metric_count;
    uint32_t *field;       /* per metric: index of its field (a ratio: of the numerator) */
    uint32_t *denominator; /* per metric: index of the denominator's field */
    metrics_field *fields;
    size_t field_count;
    metrics_run *runs; /* all fields, in their order */
    size_t run_count;
    bool has_level;    /* some field is a level, which has a value also if nothing was counted */
    size_t begin, end; /* bytes of the counter struct from the first field to the end of the last */
    size_t words;
    LS_VEC(uint32_t) sources; /* in registration order */
} metrics_type;

typedef struct metrics_source {
    metric_source decl; /* with copied texts */
    uint32_t type;
    size_t first_word; /* of its row in a view */
    bool changed;      /* since the mark before the last one */
    /* At the last mark that took this source. For a peak and for a histogram's min and max: the run's, up to
     * that mark. */
    uint64_t *last;
    char *raw; /* the bytes of all its fields after that mark: if they are the same, nothing was counted */
    uint64_t *initial; /* the row at registration; NULL if it was all zero, as it nearly always is */
} metrics_source;

/* The packed rows of an interval, as LEB128 numbers. Each source with a nonzero word has the distance from the
 * source before and the number of its nonzero words. For each word follow the distance and the value. */
typedef struct metrics_interval {
    metric_interval decl;
    size_t source_count; /* sources that existed at the mark */
    uint8_t *packed;
    size_t packed_bytes;
} metrics_interval;

struct metric_store {
    mem_arena arena;
    LS_VEC(metrics_type *) types;
    LS_VEC(metrics_source) sources;
    LS_VEC(metrics_interval) intervals;
    string_map paths; /* path -> source index + 1 as a pointer; NULL after a refused metrics_add_engine() */
    size_t words;     /* of all rows */
    size_t packed_bytes;
    LS_VEC(uint8_t) scratch; /* where an interval is packed before it is known to be good */
    LS_VEC(uint64_t) row;    /* the longest row */
    metric_view *view;       /* of metrics_get() */
};

typedef enum metrics_scope { METRICS_SCOPE_RUN, METRICS_SCOPE_SINCE_MARK } metrics_scope;

/* Fills row from the counters in place. Fails, naming the source and the metric, if a counter is now smaller
 * than it was at the last mark. */
ls_status metrics_read_row(const metric_store *m, const metrics_source *source, metrics_scope scope,
                           uint64_t *row, ls_error *err);
/* The same for one field: its place in row only. */
ls_status metrics_read_field(const metrics_source *source, const metrics_field *field, metrics_scope scope,
                             uint64_t *row, ls_error *err);

/* The first word from `at` on that is not zero; `words` if there is none. */
static inline size_t metrics_next_word(const uint64_t *row, size_t at, size_t words)
{
    while (at + 4 <= words && (row[at] | row[at + 1] | row[at + 2] | row[at + 3]) == 0)
        at += 4;
    while (at < words && row[at] == 0)
        at++;
    return at;
}

/* Does a mark of `interval` take this source? */
static inline bool metrics_takes(const metric_interval *interval, const metrics_source *source)
{
    return interval->gpu < 0 || source->decl.gpu < 0 || source->decl.gpu == interval->gpu;
}

/* The next number of packed rows. */
static inline uint64_t metrics_take_number(const uint8_t **p)
{
    uint8_t byte = *(*p)++;
    uint64_t value = byte & 0x7f;
    for (unsigned shift = 7; byte & 0x80; shift += 7) {
        byte = *(*p)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    return value;
}

#endif
