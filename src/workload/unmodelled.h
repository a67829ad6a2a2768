/* unmodelled.h: instructions with effects that no model has. A run with unmodelled ones (bulk copies, mbarriers,
 * cluster barriers) is refused unless the user allows it; then they are counted, as ignored ones always are, so
 * that the results can name them. */
#ifndef WORKLOAD_UNMODELLED_H
#define WORKLOAD_UNMODELLED_H

#include "workload/stats.h"

#define LS_UNMODELLED_ROWS 512 /* more than the opcode table has */

/* All zero refuses. */
typedef struct ls_unmodelled {
    bool allowed;
    uint64_t count[LS_UNMODELLED_ROWS], pc[LS_UNMODELLED_ROWS]; /* by row of the table; pc: the first one's */
    uint16_t order[LS_UNMODELLED_ROWS];                         /* rows as they were met */
    uint32_t rows;
} ls_unmodelled;

/* What is known of one kernel so far. All zero at its start. */
typedef struct ls_unmodelled_scan {
    uint32_t insts; /* static instructions that were looked at */
    uint32_t flags; /* of them, together */
} ls_unmodelled_scan;

/* Looks at a block that is about to run. LS_ERR_UNSUPPORTED, with what the whole kernel has of them, if it has
 * an unmodelled instruction and that is not allowed. `command`: of the kernel; `limit`: blocks of it, 0: all. */
ls_status ls_unmodelled_block(ls_unmodelled *u, ls_unmodelled_scan *scan, ls_trace *trace, uint64_t command,
                              uint64_t limit, const ls_kernel *kernel, const ls_cta *cta, ls_error *err);
/* "UTMALDG 2,048, SYNCS 96" of those with this flag (LS_INST_UNMODELLED or LS_INST_IGNORED), and how many they
 * are; NULL if there are none. */
const char *ls_unmodelled_text(const ls_unmodelled *u, uint32_t flag, char *out, size_t bytes, uint64_t *sum);

#endif
