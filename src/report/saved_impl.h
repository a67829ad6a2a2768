/* saved_impl.h: functions that the readers of the three formats share. Only saved*.c include this. */
#ifndef REPORT_SAVED_IMPL_H
#define REPORT_SAVED_IMPL_H

#include "report/saved.h"

/* One number of a file; stat as in export_impl.h ("value", "numerator", "count", ...). Unknown stats are
 * passed over: they can be computed from the others. */
typedef struct saved_number {
    uint32_t scope;
    const char *block, *type, *metric, *kind, *unit, *stat;
    double value;
} saved_number;

/* The index of a metric or block, which is added if it is new. kind NULL: unknown. */
ls_status saved_metric(saved_results *saved, const char *type, const char *name, const char *kind,
                       const char *unit, uint32_t *out, ls_error *err);
ls_status saved_block(saved_results *saved, const char *path, uint32_t *out, ls_error *err);
/* A whole value. block may be LS_SAVED_TYPE. */
ls_status saved_put(saved_results *saved, uint32_t scope, uint32_t block, uint32_t metric, double a, double b,
                    ls_error *err);
/* One number of a value; the numbers of one value must be added consecutively. block "": all of the type. */
ls_status saved_add(saved_results *saved, const saved_number *number, ls_error *err);
ls_status saved_add_kernel(saved_results *saved, uint64_t id, const char *name, double begin_fs, double end_fs,
                           ls_error *err);
/* The scope of the kernel with this number and name; LS_SAVED_RUN if there is none. */
uint32_t saved_kernel_scope(saved_results *saved, uint64_t id, const char *name);

/* A warning of the run; a bucket of a histogram of the run; a column of metrics over time, whose values are NaN. */
ls_status saved_add_warning(saved_results *saved, const char *kind, const char *text, ls_error *err);
ls_status saved_add_bucket(saved_results *saved, const char *type, const char *name, double least,
                           double count, ls_error *err);
ls_status saved_add_series(saved_results *saved, const saved_series *column, ls_error *err);
/* The meaning of a metric that is there; others are passed over. */
ls_status saved_set_help(saved_results *saved, const char *type, const char *name, const char *help,
                         ls_error *err);

ls_status saved_load_json(saved_results *saved, const char *file, ls_error *err);
ls_status saved_parse_json(saved_results *saved, const char *file, char *data, size_t bytes, ls_error *err);
/* The parts of a file that comparisons do not need: warnings, host, histograms, metrics over time. */
struct cJSON;
ls_status saved_json_more(saved_results *saved, const struct cJSON *root, ls_error *err);
struct sqlite3;
ls_status saved_sqlite_more(saved_results *saved, struct sqlite3 *db, int64_t run, ls_error *err);
/* Counts per instruction; rows of the queries in saved_sqlite_more.c. */
ls_status saved_json_source(saved_results *saved, const struct cJSON *root, ls_error *err);
struct sqlite3_stmt;
ls_status saved_source_kernel(saved_results *saved, struct sqlite3_stmt *row, ls_error *err);
ls_status saved_source_inst(saved_results *saved, struct sqlite3_stmt *row, ls_error *err);
ls_status saved_source_stall(saved_results *saved, struct sqlite3_stmt *row, ls_error *err);
ls_status saved_source_line(saved_results *saved, struct sqlite3_stmt *row, ls_error *err);
/* Both forms of CSV: a row per kernel and tidy. */
ls_status saved_load_csv(saved_results *saved, const char *file, ls_error *err);
/* run 0: the last one. */
ls_status saved_load_sqlite(saved_results *saved, const char *file, int64_t run, ls_error *err);

#define SAVED_FILE_LIMIT ((size_t)4 << 30)

#endif
