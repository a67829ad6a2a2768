/* workload_args.h: the options of commands that run workloads. */
#ifndef CLI_WORKLOAD_ARGS_H
#define CLI_WORKLOAD_ARGS_H

#include "cli/cli.h"
#include "workloads/workload.h"

extern const char *const workload_gpus[]; /* the instruction sets, NULL at the end */

/* For `run` and `sweep`, in simulated time; verify_help_ says what becomes of a wrong result. */
/* clang-format off */
#define WORKLOAD_OPTIONS(verify_help_)                                                                         \
    { .name = "gpu", .letter = 'g', .type = CLI_CHOICE, .arg = "GPU", .choices = workload_gpus,                \
      .help = "workload: its instruction set; otherwise the platform's own" },                                 \
    { .name = "size", .type = CLI_UINT, .arg = "N", .help = "workload: the size of the problem" },             \
    { .name = "param", .type = CLI_KEY_VALUE, .arg = "NAME=N", .repeatable = true,                             \
      .help = "workload: another option (lockstep workload show NAME)" },                                      \
    { .name = "verify", .help = (verify_help_) },                                                              \
    { .name = "variant", .type = CLI_TEXT, .arg = "NAME",                                                      \
      .help = "workload: kernels compiled otherwise, as the tests do: O0, wave64, O0-wave64" },                \
    { .name = "memory-mib", .type = CLI_UINT, .arg = "N", .min = 1, .max = 1u << 20,                           \
      .help = "workload: memory of the GPU; otherwise what the platform says" },                               \
    { .name = "max-instructions", .type = CLI_UINT, .arg = "N",                                                \
      .help = "workload: stop a launch when a wavefront has executed so many; 0: never" }
/* clang-format on */

/* What the command line says about the problem; *out lives in the command's arena. */
ls_status workload_args_read(const cli_context *ctx, const wl_workload *workload, wl_setting **out,
                             size_t *count, ls_error *err);

#endif
