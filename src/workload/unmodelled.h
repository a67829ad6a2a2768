/* unmodelled.h: instructions with effects that no model has. A run with unmodelled ones (bulk copies,
 * mbarriers, cluster barriers) is refused unless the user allows it. Then they are counted, as ignored ones
 * always are, so that the results can name them. */
#ifndef WORKLOAD_UNMODELLED_H
#define WORKLOAD_UNMODELLED_H

#include "workload/stats.h"

#define LS_UNMODELLED_ROWS 512 /* more than the opcode table has */

/* All zero refuses. */
typedef struct unmodelled_insts {
    bool allowed;
    uint64_t count[LS_UNMODELLED_ROWS], pc[LS_UNMODELLED_ROWS]; /* by row of the table; pc: the first one's */
    uint16_t order[LS_UNMODELLED_ROWS];                         /* rows in the order seen */
    uint32_t rows;
} unmodelled_insts;

#define UNMODELLED_BODIES 4u
#define UNMODELLED_BODY_ROWS 8u

/* What a block that others are like (ls_cta.like) executes: it is counted once. */
typedef struct unmodelled_body {
    const ls_cta *like; /* NULL: none, or it has more rows */
    uint32_t rows;
    uint16_t row[UNMODELLED_BODY_ROWS];
    uint64_t count[UNMODELLED_BODY_ROWS];
} unmodelled_body;

/* Findings about one kernel so far. All zero at its start, except for the machine. */
typedef struct unmodelled_scan {
    /* The machine has a unit for an instruction with LS_INST_UNMODELLED; NULL: it has none. */
    bool (*models)(const void *machine, const ls_inst *inst);
    const void *machine;
    const char
        *hint;      /* which machine has the units that this one lacks, for the message; NULL: none is known */
    uint32_t insts; /* static instructions that were looked at */
    uint32_t flags; /* of them, together */
    unmodelled_body bodies[UNMODELLED_BODIES]; /* the last ones */
    uint32_t next_body;
} unmodelled_scan;

/* Looks at a block that is about to run. LS_ERR_UNSUPPORTED if the kernel has an unmodelled instruction and
 * that is not allowed; the message lists all of them. `command`: of the kernel; `limit`: blocks of it, 0:
 * all. */
ls_status unmodelled_block(unmodelled_insts *u, unmodelled_scan *scan, sass_trace *trace, uint64_t command,
                           uint64_t limit, const trace_kernel *kernel, const ls_cta *cta, ls_error *err);
/* "UTMALDG 2,048, SYNCS 96" of those with this flag (LS_INST_UNMODELLED or LS_INST_IGNORED), and how many they
 * are; NULL if there are none. */
const char *unmodelled_text(const unmodelled_insts *u, uint32_t flag, char *out, size_t bytes, uint64_t *sum);

#endif
