/* names.h: results under names that people know from other tools: Nsight Compute and rocprof.
 *
 * names_ncu.def and names_rocprof.def say what each name means in metrics of this simulator, and whether the quantity is the
 * same (exact) or similar (approximate). docs/metrics.md shows both lists. A name whose metrics the machine does not count is
 * left out. */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include "report/export.h"

typedef enum names_kind { NAMES_NCU, NAMES_ROCPROF } names_kind;

typedef enum names_how { NAMES_EXACT, NAMES_APPROXIMATE } names_how;

typedef struct names_entry {
    const char *name, *unit;
    names_how how;
    double scale;
    const char *numerator, *denominator; /* as in names_ncu.def */
    const char *remark;                  /* of an approximate one: the difference */
} names_entry;

const names_entry *names_list(names_kind kind, size_t *count);

/* A launch of an AMD kernel. */
typedef struct names_launch {
    size_t interval; /* of the metrics */
    const char *kernel;
    uint32_t gpu;
    uint64_t number;      /* of the launch, from 0 */
    uint64_t grid, group; /* work-items */
    uint32_t lds_bytes, scratch_bytes, vgprs, sgprs, lanes;
    ls_time queued, begin, end;
} names_launch;

/* Whether the machine counts any of these: refuses results of another kind of machine. */
ls_status names_check(names_kind kind, const metric_store *m, ls_error *err);
/* CSV as `ncu --csv` prints it: one row per kernel and metric. */
ls_status names_print_ncu(const run_results *results, FILE *to, ls_error *err);
/* CSV as rocprof writes it: one row per launch, with a column per counter. */
ls_status names_print_rocprof(const run_results *results, const names_launch *launches, size_t count, FILE *to,
                              ls_error *err);

#endif
