/* series.h: metrics over time.
 *
 * Simulated time is cut into intervals of one length. A column is one metric of one type of block on one GPU, reduced over
 * its blocks. A counter has its difference in each interval, a level its value at the end of it, a ratio the difference of
 * its numerator over that of its denominator.
 *
 * Memory is bounded. When all intervals are in use, neighbours are merged in pairs and intervals are twice as long from
 * then on. Results do not depend on windows or threads: the engine stops at exact times (ls_run_sampler).
 *
 * Blocks that sleep count their waiting time when they wake, so the last interval of a long wait has all of it. */
#ifndef REPORT_SERIES_H
#define REPORT_SERIES_H

#include "report/metrics.h"

typedef struct series series;

typedef struct series_options {
    ls_time every;               /* the length of an interval at the beginning */
    const char *const *patterns; /* metrics as "type.name" or "name", with wildcards */
    size_t pattern_count;        /* 0: stalls, instructions, caches, DRAM, fabric links */
    uint32_t capacity;           /* intervals; 0: SERIES_CAPACITY. Even. */
} series_options;

#define SERIES_CAPACITY 1024u

/* Refuses a pattern that matches no metric with a value over time, naming the nearest metric. The registry must
 * outlive the series and get no more sources. */
ls_status series_create(const metric_store *m, const series_options *options, series **out, ls_error *err);
void series_destroy(series *s); /* NULL is fine */

/* "1000cycles" of a clock, which may be NULL, or a time as in "500ns". */
ls_status series_parse_interval(const char *text, const ls_clock *clock, ls_time *out, ls_error *err);

/* For ls_run_options. */
ls_run_sampler *series_sampler(series *s);
/* After the run: the interval that was not over counts, too. */
void series_finish(series *s, ls_time end);
/* For checkpoints, between two pieces of a run. Loading is for a series of the same columns; in->failed: it has others. */
void series_save(const series *s, bytes_out *out);
void series_load(series *s, bytes_in *in);

/* ------------------------------------------------------------------------------------------------- reading */

typedef struct series_column {
    int32_t gpu; /* LS_METRICS_NONE: of no GPU */
    const char *type;
    const ls_metric *metric;
} series_column;

ls_time series_every(const series *s); /* the length of an interval now */
size_t series_intervals(const series *s);
size_t series_columns(const series *s);
series_column series_column_at(const series *s, size_t column);
/* False if there is no number: a ratio over zero. *out is exact up to 2^53. */
bool series_value(const series *s, size_t interval, size_t column, double *out);

/* One row per interval: begin_ns, then the columns, as "gpu0 core/cycle.issued [issue slots]". */
ls_status series_csv(const series *s, FILE *to, ls_error *err);

#endif
