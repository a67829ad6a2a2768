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

ls_status saved_load_json(saved_results *saved, const char *file, ls_error *err);
/* Both forms of CSV: a row per kernel and tidy. */
ls_status saved_load_csv(saved_results *saved, const char *file, ls_error *err);
/* run 0: the last one. */
ls_status saved_load_sqlite(saved_results *saved, const char *file, int64_t run, ls_error *err);

#define SAVED_FILE_LIMIT ((size_t)4 << 30)

#endif
