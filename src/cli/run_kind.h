/* run_kind.h: the kinds of workloads that `lockstep run` and `lockstep sweep` take, and which options belong to
 * which. */
#ifndef CLI_RUN_KIND_H
#define CLI_RUN_KIND_H

#include "cli/cli.h"

typedef enum run_kind {
    RUN_NOTHING, /* the machine makes its own work */
    RUN_TRACE,
    RUN_WORKLOAD,  /* a program of workloads/, executed on an AMD GPU */
    RUN_OBJECT,    /* one launch of a code object */
    RUN_RECORDING, /* of an AMD program */
    RUN_KINDS
} run_kind;

/* Of a name on the command line; NULL: RUN_NOTHING. Anything that is nothing else is a trace. */
run_kind run_kind_of(const char *name);
/* "a trace", "a workload that is executed". */
const char *run_kind_name(run_kind kind);

/* An option that says nothing about this kind of workload is refused: nobody shall think that it did something.
 * Options that the command does not have are not looked at. */
ls_status run_kind_check(const cli_context *ctx, const char *name, run_kind kind, ls_error *err);

#endif
