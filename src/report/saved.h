/* saved.h: results of earlier runs, read back from the files that export.h wrote: JSON, CSV or SQLite. All
 * three give the same data: facts of the run, its configuration, its kernels, and a number per scope and
 * metric. A number is of all blocks of a type together, or of a single block if the file has it. */
#ifndef REPORT_SAVED_H
#define REPORT_SAVED_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "lockstep/metric.h"
#include "lockstep/status.h"

#include <stdbool.h>

typedef struct saved_kernel {
    uint64_t id;
    const char *name;
    double begin_fs, end_fs;
    double cycles;       /* of the cores' clock; 0 if the file does not say */
    int32_t gpu, stream; /* -1 if the file does not say */
    bool overlapped;     /* other kernels ran at the same time */
    bool shared;         /* no kernel: values that kernels side by side share */
} saved_kernel;

typedef struct saved_metric_entry {
    const char *type, *name, *unit; /* "core/cycle", "resident_cycles", "cycles" */
    const char *help;               /* "" if the file does not say */
    ls_metric_kind kind;
    bool kind_is_unknown; /* CSV does not say: each value is one number, and kind is LS_METRIC_KIND_COUNTER */
} saved_metric_entry;

typedef struct saved_block_entry {
    const char *path;
} saved_block_entry;

/* a alone for a counter, peak or level; numerator and denominator of a ratio, or its quotient and 1; sum and count of
 * a histogram, or its mean and 1. */
typedef struct saved_value {
    double a, b;
    bool present;
} saved_value;

#define LS_SAVED_RUN 0u          /* the scope of the whole run; kernel k is scope k + 1 */
#define LS_SAVED_TYPE UINT32_MAX /* in place of a block: all blocks of the metric's type */

typedef struct saved_cell {
    uint32_t scope, block, metric;
    saved_value value;
} saved_cell;

typedef struct saved_warning {
    const char *kind, *text;
} saved_warning;

/* Values from least on, of all blocks in the run. The next bucket begins at twice that, or at the next quarter of a power
 * of two (lockstep/metric.h). */
typedef struct saved_bucket {
    uint32_t metric;
    double least, count;
} saved_bucket;

/* One metric over time (series.h). */
typedef struct saved_series {
    int32_t gpu; /* -1: none */
    const char *type, *name, *unit;
    double *values; /* one per interval; NaN: none */
} saved_series;

/* Facts about the host's work; 0 if the file does not say. */
typedef struct saved_host {
    double wall_seconds, threads, windows;
} saved_host;

typedef struct saved_results {
    mem_arena arena;
    const char *path;        /* as given */
    const char *platform;    /* "" if the file does not say */
    const char *config_text; /* the resolved configuration; "" if it is not there */
    const char *command;
    const char *version; /* of the Lockstep that wrote it; "" if the file does not say */
    double end_time_fs;
    double cycles; /* of the cores' clock with a kernel; 0 if the file does not say */
    bool partial;
    saved_host host;
    LS_VEC(saved_warning) warnings;
    LS_VEC(saved_bucket) buckets; /* those of one metric stand together, the least first */
    LS_VEC(saved_series) series;
    double series_every_fs;
    size_t series_intervals;
    struct source_book *source; /* counts per instruction (source.h); NULL: none */
    LS_VEC(saved_kernel) kernels;
    LS_VEC(saved_metric_entry) metrics;
    LS_VEC(saved_block_entry) blocks;
    LS_VEC(saved_cell) cells; /* by scope, block and metric; zero values of a kernel may be missing */
    size_t *first;            /* per scope: its first cell; one more at the end */
    string_map metric_index, block_index;
    size_t last_kernel; /* found last: rows of one kernel come together */
} saved_results;

/* path may end with "#RUN": the number of a run of a database (default: the only one, or the last). A file
 * that is no result of ours, is cut short, or has a run that does not exist is an error. *out must be
 * destroyed. */
ls_status saved_load(const char *path, saved_results **out, ls_error *err);
/* The same from JSON in memory; path only names it. text is changed and must end with a zero byte. */
ls_status saved_load_text(const char *path, char *text, size_t bytes, saved_results **out, ls_error *err);
void saved_destroy(saved_results *saved);

/* Whether its name, or "type.name", fits a pattern with '*' and '?'. */
bool saved_metric_is(const saved_metric_entry *metric, const char *pattern);

/* The values of one scope reduced over all blocks, one per metric, as metrics.h reduces them. out has
 * metrics.count places. */
void saved_totals(const saved_results *saved, uint32_t scope, saved_value *out);

/* Cells of one scope, from the first to before the second. */
const saved_cell *saved_cells(const saved_results *saved, uint32_t scope, const saved_cell **end);
/* The value of one block, or of LS_SAVED_TYPE; NULL: the file has none. */
const saved_value *saved_find(const saved_results *saved, uint32_t scope, uint32_t block, uint32_t metric);
/* True if a scope has values of single blocks. The run has them in all files except CSV; kernels have them if
 * the file was written with --per-block. */
bool saved_has_blocks(const saved_results *saved, uint32_t scope);

/* The value as people use it: a quotient for a ratio, a mean for a histogram; NaN if it is not present. */
double saved_value_number(ls_metric_kind kind, const saved_value *value);

#endif
