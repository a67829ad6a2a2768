/* merge.h: databases of the parts of one sweep become one. */
#ifndef REPORT_MERGE_H
#define REPORT_MERGE_H

#include "base/arena.h"
#include "base/vec.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdint.h>

/* A point that has no run, or that two inputs have. */
typedef struct merge_point {
    const char *name;           /* "traces/bfs  cores=4" */
    const char *error;          /* missing: of its last try; NULL: nobody ran it */
    const char *first, *second; /* twice: the inputs */
} merge_point;

typedef struct merge_report {
    mem_arena arena;
    size_t points, merged, there; /* of the sweep; copied now; in the output before */
    LS_VEC(merge_point) missing, twice;
} merge_report;

/* Adds the runs of all inputs to the output, in the order of the grid. The output is made if it does not exist; the
 * runs that it has are kept. All inputs must be of the same sweep: version, options, configurations and workloads. A
 * point that two inputs have must have the same result in both. Nothing is written on failure. Fills report in any
 * case; end it with merge_report_fini(). */
ls_status merge_databases(const char *const *inputs, size_t count, const char *output, merge_report *report,
                          ls_error *err);
void merge_report_fini(merge_report *report);

#endif
