/* list.h: a trace as Accel-Sim has it on disk. Private to this folder. */
#ifndef ACCELSIM_LIST_H
#define ACCELSIM_LIST_H

#include "base/arena.h"
#include "workload/accelsim/report.h"
#include "workload/trace.h"

#define ACC_CONTEXTS_MAX 255u /* lists of further contexts in a directory */

typedef struct acc_trace {
    sass_trace trace; /* first: callers hold a pointer to it */
    mem_arena arena;
    const char *list;                        /* the list's path; NULL: one kernel file was opened */
    const char *dir;                         /* where kernel files are */
    uint32_t contexts;                       /* lists of further contexts that were read */
    const char *lists[ACC_CONTEXTS_MAX + 1]; /* paths by context, if there are several */
} acc_trace;

/* The list that a command stands in; NULL: one kernel file was opened. */
static inline const char *acc_trace_list(const acc_trace *trace, const trace_cmd *command)
{
    const char *list = trace->lists[command->context];
    return list ? list : trace->list;
}

/* As trace_open(); defects of the list itself go to the report, which may be NULL. */
ls_status acc_trace_open(const char *path, const trace_options *options, acc_report *report, acc_trace **out,
                         ls_error *err);
void acc_trace_close(acc_trace *trace);

/* The file of a kernel command, also if only its compression differs from the name in the list
 * (*other_name). A missing file is LS_ERR_IO with its place in the list and the nearest name. The path is
 * in `arena`. */
ls_status acc_trace_find(const acc_trace *trace, mem_arena *arena, const trace_cmd *command, char **path,
                         bool *other_name, ls_error *err);

/* Kernel files of the directory that the list does not name, in the order of their names. */
ls_status acc_trace_unlisted(const acc_trace *trace, mem_arena *arena, char ***names, size_t *count,
                             ls_error *err);

#endif
