/* workload_args.h: the options --size and --param of commands that run workloads. */
#ifndef CLI_WORKLOAD_ARGS_H
#define CLI_WORKLOAD_ARGS_H

#include "cli/cli.h"
#include "workloads/workload.h"

/* What the command line says about the problem; *out lives in the command's arena. */
ls_status workload_args_read(const cli_context *ctx, const wl_workload *workload, wl_setting **out,
                             size_t *count, ls_error *err);

#endif
