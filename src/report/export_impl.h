/* export_impl.h: what the exporters share: one walk over all values, and the numbers a value is made of. Only
 * export*.c include this. */
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

/* Fills at most EXPORT_STATS. What is absent is left out: a ratio over zero has no "value", an empty
 * histogram no "min" and "max", an empty bucket is not listed. */
size_t export_stats(const ls_metric_value *value, export_stat *out);

/* In an interval values of nothing but zeros are left out: a missing value is zero. So are, in one that kernels
 * share, ratios whose numerator the kernels have. */
bool export_leaves_out(const ls_metric_interval *interval, const ls_metric_value *value);

typedef struct export_row {
    size_t scope;                       /* LS_METRICS_RUN or an interval */
    const ls_metric_interval *interval; /* NULL for the run */
    size_t source, type, metric;
    const ls_metric_source *from;
    const ls_metric *decl;
    const ls_metric_value *value;
} export_row;

/* Calls fn for every value of the run and then for every value of each interval that is not zero; stops at
 * the first failure. */
typedef ls_status (*export_row_fn)(void *self, const export_row *row, ls_error *err);
ls_status export_walk(const ls_metrics *m, export_row_fn fn, void *self, ls_error *err);

/* The untouched metrics as a list to be freed by the caller. */
ls_status export_untouched(const ls_metrics *m, ls_metric_untouched **list, size_t *count, ls_error *err);

/* Facts of the run that are data, in a fixed order. */
typedef struct export_fact {
    const char *name, *unit;
    const char *text; /* NULL: the number counts */
    uint64_t integer;
} export_fact;

#define EXPORT_FACTS 13
size_t export_facts(const ls_results *results, char hash[64], export_fact *out);

const char *export_text_or(const char *text, const char *otherwise);

/* The hash of the configuration into hash; "" without a configuration. Returns hash. */
const char *export_config_hash(const ls_results *results, char hash[64]);

ls_status export_text(const ls_results *results, const ls_export_options *options, FILE *to, ls_error *err);
ls_status export_json(const ls_results *results, FILE *to, ls_error *err);
ls_status export_csv(const ls_results *results, FILE *to, ls_error *err);
ls_status export_sqlite(const ls_results *results, const ls_export_options *options, const char *path,
                        ls_error *err);

#endif
