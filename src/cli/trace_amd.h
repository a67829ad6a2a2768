/* trace_amd.h: `lockstep trace` for recordings of AMD programs: summary, check, and the contents as text. */
#ifndef CLI_TRACE_AMD_H
#define CLI_TRACE_AMD_H

#include "cli/cli.h"
#include "workload/pack/amd_file.h"

/* Each takes the options of the command that calls it. */
ls_status trace_amd_info(cli_context *ctx, const char *path, ls_error *err); /* kernels, ctas, each, json */
ls_status trace_amd_check(cli_context *ctx, const char *path, ls_error *err);
ls_status trace_amd_unpack(cli_context *ctx, const char *path, ls_error *err); /* output, kernels */

#endif
