/* run_program.h: the part of `lockstep run` that is about programs: a workload or a code object on a simulated AMD
 * GPU, through the driver, or the recording of one; and the tables about it. */
#ifndef CLI_RUN_PROGRAM_H
#define CLI_RUN_PROGRAM_H

#include "base/spans.h"
#include "base/vec.h"
#include "cli/emulate_object.h"
#include "cli/run_kind.h"
#include "report/groups.h"
#include "runtime/timing/timing.h"
#include "workloads/workload.h"

/* All zero is nothing. */
typedef struct run_program {
    run_kind kind;
    const wl_workload *workload; /* of RUN_WORKLOAD */
    cli_context *ctx;
    emulate_object_output output; /* of RUN_OBJECT, about its buffers; set before the run */
    amd_file *recording;
    ls_selection selection; /* of its launches */
    const char *name;
    wl_setting *settings;
    wl_request request;
    wl_result result;
    ls_metrics *metrics;
    const ls_clock *clock; /* of the compute units */
    ls_arena *arena;
    LS_VEC(timing_record) records; /* of all commands, in the order of their ends */
    ls_kernel_groups groups;       /* of intervals of the metrics */
    ls_spans busy;                 /* cycles of that clock with a kernel */
    ls_status status;              /* of the run */
} run_program;

/* Builds the GPU. run_program_close() is due in every case. */
ls_status run_program_open(run_program *p, cli_context *ctx, run_kind kind, const char *name, ls_error *err);
void run_program_close(run_program *p);
ls_engine *run_program_engine(const run_program *p);
const ls_config *run_program_config(const run_program *p);
/* Counters go there. */
void run_program_set_metrics(run_program *p, ls_metrics *metrics);
/* A wrong result is LS_ERR_CHECK; it can be reported like any other. */
ls_status run_program_run(run_program *p, const ls_run_options *options, ls_run_result *result, ls_error *err);
/* Of the compute units' clock, with at least one kernel at work. */
uint64_t run_program_cycles(const run_program *p);
/* What people want to know first. */
void run_program_table(const run_program *p, FILE *to);

#endif
