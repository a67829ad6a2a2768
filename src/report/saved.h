/* saved.h: results of earlier runs, read back from the files that export.h wrote: JSON, CSV or SQLite. All
 * three give the same picture: facts of the run, its configuration, its kernels, and a number per scope
 * and metric, of all blocks of a type together and of single blocks as far as the file has them. */
#ifndef REPORT_SAVED_H
#define REPORT_SAVED_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "lockstep/metric.h"
#include "lockstep/status.h"

#include <stdbool.h>

typedef struct ls_saved_kernel {
    uint64_t id;
    const char *name;
    double begin_fs, end_fs;
} ls_saved_kernel;

typedef struct ls_saved_metric {
    const char *type, *name, *unit; /* "core/cycle", "resident_cycles", "cycles" */
    ls_metric_kind kind;
    bool kind_is_unknown; /* CSV does not say: each value is one number, and kind is LS_METRIC_KIND_COUNTER */
} ls_saved_metric;

typedef struct ls_saved_block {
    const char *path;
} ls_saved_block;

/* a alone for a counter, peak or level; numerator and denominator of a ratio, or its quotient and 1; sum and count of
 * a histogram, or its mean and 1. */
typedef struct ls_saved_value {
    double a, b;
    bool present;
} ls_saved_value;

#define LS_SAVED_RUN 0u          /* the scope of the whole run; kernel k is scope k + 1 */
#define LS_SAVED_TYPE UINT32_MAX /* in place of a block: all blocks of the metric's type */

typedef struct ls_saved_cell {
    uint32_t scope, block, metric;
    ls_saved_value value;
} ls_saved_cell;

typedef struct ls_saved {
    ls_arena arena;
    const char *path;        /* as given */
    const char *platform;    /* "" if the file does not say */
    const char *config_text; /* the resolved configuration; "" if it is not there */
    const char *command;
    double end_time_fs;
    bool partial;
    LS_VEC(ls_saved_kernel) kernels;
    LS_VEC(ls_saved_metric) metrics;
    LS_VEC(ls_saved_block) blocks;
    LS_VEC(ls_saved_cell) cells; /* by scope, block and metric; zero values of a kernel may be missing */
    size_t *first;               /* per scope: its first cell; one more at the end */
    ls_map metric_index, block_index;
    size_t last_kernel; /* found last: rows of one kernel come together */
} ls_saved;

/* path may end with "#RUN": the number of a run of a database (default: the only one, or the last). A file
 * that is no result of ours, is cut short, or has a run that does not exist is an error. *out must be
 * destroyed. */
ls_status ls_saved_load(const char *path, ls_saved **out, ls_error *err);
void ls_saved_destroy(ls_saved *saved);

/* Whether its name, or "type.name", fits a pattern with '*' and '?'. */
bool ls_saved_metric_is(const ls_saved_metric *metric, const char *pattern);

/* The values of one scope reduced over all blocks, one per metric, as metrics.h reduces them. out has
 * metrics.count places. */
void ls_saved_totals(const ls_saved *saved, uint32_t scope, ls_saved_value *out);

/* Cells of one scope, from the first to before the second. */
const ls_saved_cell *ls_saved_cells(const ls_saved *saved, uint32_t scope, const ls_saved_cell **end);
/* The value of one block, or of LS_SAVED_TYPE; NULL: the file has none. */
const ls_saved_value *ls_saved_find(const ls_saved *saved, uint32_t scope, uint32_t block, uint32_t metric);
/* Whether a scope has values of single blocks: of the run all files but CSV, of kernels those that were written with
 * each block. */
bool ls_saved_has_blocks(const ls_saved *saved, uint32_t scope);

/* What people call the value: a quotient for a ratio, a mean for a histogram; NaN if it is not present. */
double ls_saved_number(ls_metric_kind kind, const ls_saved_value *value);

#endif
