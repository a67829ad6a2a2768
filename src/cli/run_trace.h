/* run_trace.h: the part of `lockstep run` that is about traces: opening them, running them kernel by kernel, and the
 * table of kernels. */
#ifndef CLI_RUN_TRACE_H
#define CLI_RUN_TRACE_H

#include "cli/cli.h"
#include "report/metrics.h"
#include "runtime/replay.h"

/* All zero is nothing. */
typedef struct run_trace {
    ls_trace *trace;
    ls_selection selection;
    ls_replay *replay;
    ls_metrics *metrics;
    const ls_clock *clock; /* of the cores */
    uint64_t thread_blocks;
} run_trace;

/* Opens the trace that the command line names and connects it to the machine. Reads the options kernels, ctas,
 * warm-l2, unknown-opcodes. */
ls_status run_trace_open(run_trace *t, cli_context *ctx, const char *path, ls_engine *engine, ls_metrics *metrics,
                         ls_error *err);
void run_trace_close(run_trace *t);
ls_status run_trace_run(run_trace *t, const ls_run_options *options, ls_run_result *result, ls_error *err);

/* One line per kernel, and the totals. */
void run_trace_table(const run_trace *t, FILE *to);
/* The same numbers under Accel-Sim's names, kernel by kernel. */
void run_trace_accelsim(const run_trace *t, double wall_seconds, FILE *to);

#endif
