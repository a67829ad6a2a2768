/* export_impl.h: functions that the exporters share: one walk over all values, and the numbers of a value.
 * Only export*.c include this. */
#ifndef REPORT_EXPORT_IMPL_H
#define REPORT_EXPORT_IMPL_H

#include "report/export.h"

/* One number of a value: a counter has one ("value"), a ratio up to three, a histogram many. */
typedef struct export_stat {
    char name[32]; /* "value", "numerator", "count", "bucket_8" (values from 8 to 15), ... */
    bool is_real;
    uint64_t integer;
    double real;
} export_stat;

#define EXPORT_STATS (LS_HISTOGRAM_BUCKETS + 4)

/* Fills at most EXPORT_STATS. Absent numbers are left out: a ratio over zero has no "value", an empty
 * histogram no "min" and "max", an empty bucket is not listed. */
size_t export_stats(const metric_value *value, export_stat *out);

/* In an interval, values that are all zero are left out: a missing value is zero. In an interval that kernels
 * share, ratios whose numerator the kernels have are left out too. */
bool export_leaves_out(const metric_interval *interval, const metric_value *value);

typedef struct export_row {
    size_t scope;                    /* LS_METRICS_RUN or an interval */
    const metric_interval *interval; /* NULL for the run */
    size_t source, type, metric;
    const metric_source *from;
    const ls_metric *decl;
    const metric_value *value;
} export_row;

/* Calls fn for every value of each block in the run and, if per_block, for every value of each interval that is
 * not zero; stops at the first failure. */
typedef ls_status (*export_row_fn)(void *self, const export_row *row, ls_error *err);
ls_status export_walk(const metric_store *m, bool per_block, export_row_fn fn, void *self, ls_error *err);

/* The kernels of JSON and CSV are rows of cells. Each metric of a type has one cell, in the order of its
 * table; a histogram has four (count, sum, min, max). A ratio is its quotient: of the run exact, of a kernel
 * with nine digits. */
enum { EXPORT_HISTOGRAM_CELLS = 4, EXPORT_CELL_BYTES = 32 };
typedef struct export_cell_style {
    const char *absent;    /* in place of a number that does not exist: "" or "null" */
    const char *separator; /* after every cell; both have at most 4 bytes */
    bool hides_zeros;      /* kernels that overlap: a zero may be another interval's */
    bool is_exact;
} export_cell_style;
size_t export_cell_count(const metric_type *type);
/* Suffix of the metric's name in the names of its cells: "" or ".count" ... ".max". */
size_t export_cell_parts(const ls_metric *metric, const char *const **parts);
/* Writes at `to` and returns the end. */
char *export_put_cells(char *to, const metric_totals *totals, size_t type, const metric_type *declared,
                       const export_cell_style *style);
/* Enough for the cells of all types. */
size_t export_cells_bytes(const metric_store *m);
/* Cycles from begin to end of a kernel; false: the machine has no clock for them. */
bool export_cycles(const run_results *results, const metric_interval *kernel, uint64_t *out);

/* The untouched metrics as a list to be freed by the caller. */
ls_status export_untouched(const metric_store *m, metric_untouched **list, size_t *count, ls_error *err);

/* Facts of the run that are data, in a fixed order. */
typedef struct export_fact {
    const char *name, *unit;
    const char *text; /* NULL: the number counts */
    uint64_t integer;
} export_fact;

#define EXPORT_FACTS 13
size_t export_facts(const run_results *results, char hash[64], export_fact *out);

const char *export_text_or(const char *text, const char *otherwise);

/* A cell of CSV, in quotes if it needs them. */
void export_csv_text(FILE *to, const char *s);

/* The hash of the configuration into hash; "" without a configuration. Returns hash. */
const char *export_config_hash(const run_results *results, char hash[64]);

ls_status export_text(const run_results *results, const export_options *options, FILE *to, ls_error *err);
ls_status export_json(const run_results *results, const export_options *options, FILE *to, ls_error *err);
ls_status export_csv(const run_results *results, FILE *to, ls_error *err);
ls_status export_tidy(const run_results *results, const export_options *options, FILE *to, ls_error *err);
ls_status export_sqlite(const run_results *results, const export_options *options, const char *path,
                        ls_error *err);

#endif
