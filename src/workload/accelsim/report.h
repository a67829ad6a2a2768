/* report.h: everything that can be wrong with a trace, as a table, and the list that `lockstep trace
 * check` makes of it. Reading for a simulation has no list: there the first defect that is an error ends
 * the reading. */
#ifndef ACCELSIM_REPORT_H
#define ACCELSIM_REPORT_H

#include "base/arena.h"
#include "base/vec.h"
#include "base/text.h"
#include "lockstep/status.h"

#include <stdio.h>

typedef enum acc_severity {
    ACC_NOTE,    /* accepted; nothing is lost */
    ACC_WARNING, /* accepted, but no tracer writes it */
    ACC_ERROR,   /* a simulation stops here */
    ACC_SEVERITY_COUNT
} acc_severity;

typedef enum acc_kind {
#define DEFECT(name, severity, help) ACC_##name,
#include "workload/accelsim/defects.def"
#undef DEFECT
    ACC_KIND_COUNT
} acc_kind;

const char *acc_kind_name(acc_kind kind); /* "wrong-count" */
const char *acc_kind_help(acc_kind kind);
acc_severity acc_kind_severity(acc_kind kind);
const char *acc_severity_name(acc_severity severity);

typedef struct acc_defect {
    acc_kind kind;
    acc_severity severity;
    const char *file; /* this and the text are in the report's arena */
    uint64_t line;    /* 0: the file as a whole */
    const char *text;
} acc_defect;

/* All zero is a valid empty report that keeps everything. */
typedef struct acc_report {
    uint64_t limit; /* how many of a kind are kept per file; 0: all. Those beyond are counted only. */
    LS_VEC(acc_defect) defects; /* in the order found */
    uint64_t counts[ACC_KIND_COUNT];
    uint64_t by_severity[ACC_SEVERITY_COUNT];
    const char *file; /* the file that file_counts belongs to */
    uint64_t file_counts[ACC_KIND_COUNT];
    mem_arena arena;
    bool failed; /* the host had no memory left */
} acc_report;

void acc_report_fini(acc_report *report);

/* With a report: adds the defect and returns LS_OK (LS_ERR_NOMEM when there is no room), so that reading
 * goes on. Without one (NULL): an error becomes *err, with its place; the rest is let through. */
ls_status acc_defect_at(acc_report *report, acc_kind kind, const char *file, uint64_t line, ls_error *err,
                        const char *fmt, ...) LS_PRINTF(6, 7);
/* The same for an error that is already in *err. Its status is kept. */
ls_status acc_defect_error(acc_report *report, acc_kind kind, const char *file, uint64_t line, ls_error *err);

#endif
