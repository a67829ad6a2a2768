/* metrics.h: the registry of everything that is counted.
 *
 * A source is one counter struct (of a block, a stream, a kernel, ...) with its ls_metric table. The registry
 * reads the struct in place; the block that counts does not see the registry.
 *
 * There are two kinds of scope. The run is everything since the beginning. An interval is the time between two
 * marks, usually one kernel: metrics_mark() stores, for each source, the difference since the last mark that
 * took this source. Counters and histograms are differences, a level is its value at the mark, a peak is the
 * largest value since the last mark.
 *
 * Values of several sources reduce in the order of registration. Counters and levels add up, peaks take the
 * largest, histograms merge. A ratio is the sum of the numerators over the sum of the denominators; it is
 * absent (not zero) if the latter is zero.
 *
 * Call nothing here while a domain runs: between two calls of ls_run(), or from its single-threaded part. */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "base/bytes.h"
#include "lockstep/block.h"

typedef struct metric_store metric_store;

#define LS_METRICS_NONE (-1) /* no GPU, no stream */

typedef struct metric_source {
    const char *path; /* "gpu0.core3.l1"; unique */
    const char *type; /* "core.l1/cycle"; sources of one type have one table */
    int32_t gpu;      /* LS_METRICS_NONE if it belongs to no GPU */
    int64_t stream;   /* LS_METRICS_NONE if it belongs to no stream */
    const ls_metric *metrics;
    size_t metric_count;
    void *counters;       /* read in place, so it lives as long as the registry; see metrics_mark() */
    size_t counters_size; /* bytes that the table may refer to */
} metric_source;

typedef struct metric_interval {
    int32_t gpu;             /* takes the sources of this GPU and those of none; LS_METRICS_NONE: all */
    uint64_t kernel;         /* its number in the run */
    const char *kernel_name; /* NULL counts as "" */
    int64_t stream;
    ls_time begin, end;
    /* Other kernels ran at the same time. Then the kernel has only values of blocks that count per kernel.
     * Values of all other blocks are in an interval of their own, which closes the group. */
    bool overlapped;
    bool shared; /* this is that interval: it is no kernel */
} metric_interval;

ls_status metrics_create(metric_store **out, ls_error *err);
void metrics_destroy(metric_store *m);

/* Path and type are copied; the table must outlive the registry. Refuses a table with a name twice or with a
 * field that is outside the struct, misaligned or shared by two metrics, and a path that exists. */
ls_status metrics_add(metric_store *m, const metric_source *source, ls_error *err);

/* Adds every block that declares metrics, in creation order, as type "slot/name". A path that begins with
 * "gpu" and a number belongs to that GPU. On failure nothing is added. */
ls_status metrics_add_engine(metric_store *m, const ls_engine *engine, ls_error *err);

/* Closes an interval. Peak fields (and min and max of histograms) start afresh for the next one; the registry
 * keeps the run's own. Refuses, changing nothing, a counter that went backwards. */
ls_status metrics_mark(metric_store *m, const metric_interval *interval, ls_error *err);

/* The same for a kernel that did not run alone. take() fills `counters` (`bytes` zero bytes, in the layout of
 * source->counters) with the source's counts for the kernel. It returns false if the source does not count per
 * kernel. Counts that were taken are in no later interval. Fails for a source that is taken from and has other
 * metrics than counters and ratios. */
typedef bool (*metrics_take_fn)(void *self, const metric_source *source, void *counters, size_t bytes);
ls_status metrics_mark_part(metric_store *m, const metric_interval *interval, metrics_take_fn take, void *self,
                            ls_error *err);

/* For checkpoints: all intervals, and what the marks left behind. Loading is for a registry with the same sources and no
 * interval; in->failed: it has others. Counters are not part of it. */
void metrics_save(const metric_store *m, bytes_out *out);
ls_status metrics_load(metric_store *m, bytes_in *in, ls_error *err);

/* ------------------------------------------------------------------------------------------------ listing */

size_t metrics_source_count(const metric_store *m);
const metric_source *metrics_source_at(const metric_store *m, size_t source);
size_t metrics_source_type(const metric_store *m, size_t source);

/* In the order of their first source. */
typedef struct metric_type {
    const char *name;
    const ls_metric *metrics; /* unit and help may be NULL: metric_unit(), metric_help() */
    size_t metric_count;
    size_t sources;
} metric_type;
size_t metrics_type_count(const metric_store *m);
metric_type metrics_type_at(const metric_store *m, size_t type);

size_t metrics_interval_count(const metric_store *m);
const metric_interval *metrics_interval_at(const metric_store *m, size_t interval);

const char *metric_kind_name(ls_metric_kind kind); /* "counter", "peak", "level", "histogram", "ratio" */
const char *metric_unit(const ls_metric *metric);  /* "" if there is none */
const char *metric_help(const ls_metric *metric);

/* Bytes held for all intervals so far. */
size_t metrics_interval_bytes(const metric_store *m);

/* ----------------------------------------------------------------------------------------------- reading */

typedef struct metric_value {
    ls_metric_kind kind;
    bool present;           /* false: nothing to say (no source in this scope, or a ratio over zero) */
    size_t sources;         /* how many were reduced */
    uint64_t value;         /* counter, peak, level; the numerator of a ratio */
    uint64_t denominator;   /* of a ratio */
    double ratio;           /* of a ratio, if present */
    ls_histogram histogram; /* min and max are 0 while count is 0 */
    bool is_fine;           /* its buckets: ls_histogram_add_fine() */
} metric_value;

#define LS_METRICS_RUN SIZE_MAX /* the scope that is not an interval's index */

/* The value of metric `name` reduced over the sources whose type and path match (wildcards '*' and '?'; NULL:
 * any). Fails if nothing matches, and if the matching types disagree about its kind or unit. */
ls_status metrics_get(metric_store *m, size_t scope, const char *type, const char *path, const char *name,
                      metric_value *out, ls_error *err);

/* One scope unpacked, for readers that want many values of it. */
typedef struct metric_view metric_view;
ls_status metric_view_create(const metric_store *m, metric_view **out, ls_error *err);
void metric_view_destroy(metric_view *view);
/* The run is read as it is at this moment. Refuses a counter that went backwards. Sources and intervals added
 * after the view was created need a new view. */
ls_status metric_view_load(metric_view *view, size_t scope, ls_error *err);
/* False if the interval did not take this source. */
bool metric_view_has(const metric_view *view, size_t source);
/* False if the source has nothing but zeros here (a quick test before asking for each metric). */
bool metric_view_active(const metric_view *view, size_t source);
void metric_view_source(const metric_view *view, size_t source, size_t metric, metric_value *out);
void metric_view_type(const metric_view *view, size_t type, size_t metric, metric_value *out);

/* One scope reduced over the sources of each type, in the order of registration. An interval is reduced straight
 * from its packed rows, which costs a few host instructions per number that is not zero: exporters read
 * thousands of kernels this way. */
typedef struct metric_totals metric_totals;
typedef struct metric_parts {
    uint64_t a;        /* the value; the numerator of a ratio; the sum of a histogram */
    uint64_t b;        /* the denominator of a ratio; the count of a histogram; else 0 */
    uint64_t min, max; /* of a histogram; 0 while it is empty */
} metric_parts;
ls_status metric_totals_create(const metric_store *m, metric_totals **out, ls_error *err);
void metric_totals_destroy(metric_totals *totals);
/* As metric_view_load(). */
ls_status metric_totals_load(metric_totals *totals, size_t scope, ls_error *err);
/* False if the interval took no source of this type. */
bool metric_totals_has(const metric_totals *totals, size_t type);
/* False if all sources of the type have nothing but zeros here. */
bool metric_totals_active(const metric_totals *totals, size_t type);
metric_parts metric_totals_get(const metric_totals *totals, size_t type, size_t metric);
/* Where one of these parts stands, for readers of many scopes: it stays there while the totals live. */
typedef enum metric_part { METRIC_PART_A, METRIC_PART_B, METRIC_PART_MIN, METRIC_PART_MAX } metric_part;
const uint64_t *metric_totals_word(const metric_totals *totals, size_t type, size_t metric, metric_part part);

/* A value at or above `fraction` (0 to 1) of all values: the end of its bucket, at most max; 0 if empty. */
uint64_t metric_percentile(const ls_histogram *h, bool is_fine, double fraction);

/* ---------------------------------------------------------------------------------------------- untouched */

/* Metrics that no source of their type ever changed from its state at registration: a counter that no block
 * counts must not look like a measured zero. A level counts as touched if it differed at a mark or differs
 * now; a ratio if either of its fields was. Returns how many there are; writes the first `capacity` of
 * them. */
typedef struct metric_untouched {
    size_t type, metric; /* indices: metrics_type_at(m, type).metrics[metric] */
} metric_untouched;
size_t metrics_untouched(const metric_store *m, metric_untouched *out, size_t capacity);

#endif
