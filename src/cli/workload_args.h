/* workload_args.h: the options of commands that run workloads. */
#ifndef CLI_WORKLOAD_ARGS_H
#define CLI_WORKLOAD_ARGS_H

#include "cli/cli.h"
#include "sim/emulate_object.h"
#include "lockstep/sim.h"
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

/* Of every command that runs traces. */
extern const char *const workload_unknown_modes[];    /* "fail", "alu", NULL */
extern const char *const workload_unmodelled_modes[]; /* "fail", "skip", NULL */
/* clang-format off */
#define CLI_UNMODELLED_OPTION                                                                                 \
    { .name = "unmodelled", .type = CLI_CHOICE, .arg = "HOW", .choices = workload_unmodelled_modes,          \
      .default_text = "fail",                                                                                 \
      .help = "skip: run traces with bulk copies, mbarriers and cluster barriers, which have no model yet, as " \
              "if these did nothing; the results say so" }
/* clang-format on */

/* The options of a launch, for every command that makes one; the letters of --kernel and --arg, 0: none. */
/* clang-format off */
#define EMULATE_OBJECT_OPTIONS(kernel_letter_, arg_letter_)                                                    \
    { .name = "kernel", .letter = (kernel_letter_), .type = CLI_TEXT, .arg = "NAME",                           \
      .help = "code object: which kernel" },                                                                   \
    { .name = "grid", .type = CLI_TEXT, .arg = "X,Y,Z", .help = "code object: work-items" },                   \
    { .name = "group", .type = CLI_TEXT, .arg = "X,Y,Z",                                                       \
      .help = "code object: work-items of a work-group; otherwise what the kernel requires, or 64" },          \
    { .name = "offset", .type = CLI_TEXT, .arg = "X,Y,Z", .help = "code object: where global ids begin" },     \
    { .name = "arg", .letter = (arg_letter_), .type = CLI_TEXT, .arg = "ARG", .repeatable = true,              \
      .help = "code object: the next argument: f32:1.5, buffer:4096:iota, local:256" }
#define EMULATE_OBJECT_OUTPUTS                                                                                 \
    { .name = "print", .type = CLI_TEXT, .arg = "ARG[:TYPE[:N]]", .repeatable = true,                          \
      .help = "code object: print N elements of a buffer, by number from 0 or name" },                         \
    { .name = "dump", .type = CLI_KEY_VALUE, .arg = "ARG=FILE", .repeatable = true,                            \
      .help = "code object: write a buffer to a file" }
/* clang-format on */

/* Of the commands that emulate a workload or a code object. */
/* clang-format off */
#define EMULATED_GPU_OPTION                                                                                   \
    { .name = "gpu", .letter = 'g', .type = CLI_CHOICE, .arg = "GPU", .choices = workload_gpus,               \
      .help = "the GPU to emulate; default: that of the code object, else " WORKLOAD_DEFAULT_GPU }
#define EMULATED_LIMITS                                                                                       \
    { .name = "memory-mib", .type = CLI_UINT, .arg = "N", .min = 1, .max = 1u << 20,                          \
      .help = "memory of the GPU; otherwise what the real one has" },                                         \
    { .name = "max-instructions", .type = CLI_UINT, .arg = "N",                                               \
      .help = "stop a launch when a wavefront has executed so many; 0: never" },                              \
    { .name = "strict",                                                                                       \
      .help = "stop at a byte outside of all buffers, a value that nothing wrote, a race between waves, missing wait states" }
#define EMULATED_PROGRAM_OPTIONS                                                                              \
    { .name = "size", .letter = 's', .type = CLI_UINT, .arg = "N",                                            \
      .help = "workload: the size of the problem" },                                                          \
    { .name = "param", .letter = 'p', .type = CLI_KEY_VALUE, .arg = "NAME=N", .repeatable = true,             \
      .help = "workload: another option (lockstep workload show NAME)" },                                     \
    { .name = "verify", .help = "workload: compare the result with the CPU; exit code 5 if it is wrong" },    \
    { .name = "variant", .type = CLI_TEXT, .arg = "NAME",                                                     \
      .help = "workload: kernels compiled otherwise, as the tests do: O0, wave64, O0-wave64" },               \
    { .name = "seed", .type = CLI_UINT, .arg = "N", .help = "workload: for other random input" },             \
    EMULATE_OBJECT_OPTIONS('k', 'a'),                                                                         \
    EMULATE_OBJECT_OUTPUTS
#define EMULATED_POSITIONAL                                                                                   \
    { .name = "WORKLOAD", .complete = CLI_COMPLETE_FILE, .help = "a workload's name, or a code object's file" }
/* clang-format on */
#define WORKLOAD_DEFAULT_GPU "gfx1030"

/* Of every command that simulates time and can draw it. */
extern const char *const workload_timeline_formats[]; /* "perfetto", ..., NULL */
/* clang-format off */
#define TIMELINE_OPTIONS                                                                                       \
    { .name = "timeline", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,                      \
      .help = "write a timeline for a viewer, in the format of its extension: .pftrace (Perfetto), .json, .json.gz " \
              "(Chrome), .sqlite3 (Daisen), .html (a page that draws it), .kanata, .log (Konata)" },           \
    { .name = "timeline-format", .type = CLI_CHOICE, .arg = "FORMAT", .choices = workload_timeline_formats,   \
      .help = "of --timeline, in place of the extension's; daisen5: Daisen of akita 5" },                      \
    { .name = "timeline-filter", .type = CLI_TEXT, .arg = "FILTER", .repeatable = true,                        \
      .help = "of --timeline: kernel=NUMBER or NAME, time=FROM-TO, block=PATH, kind=LIST, every=N (1 of N), unit=ps " \
              "(docs/timelines.md)" }
/* clang-format on */

/* The problem's settings from the command line; *out lives in the command's arena. The setting of --size has
 * no name yet: wl_name_size() gives it one. */
ls_status workload_args_read(const cli_context *ctx, wl_setting **out, size_t *count, ls_error *err);

/* The launch of a code object, from the command line. Commands without --print and --dump have none. */
ls_status workload_args_launch(const cli_context *ctx, const char *path, bool has_outputs,
                               emulate_object_launch *out, ls_error *err);

/* The same commands: whether the program is a code object. Refuses options that the other kind of program has. */
ls_status workload_args_emulated(const cli_context *ctx, const char *what, bool *is_object, ls_error *err);

/* An option without effect for this kind of workload is refused, so that it is not ignored silently. Options
 * that the command does not have are not checked. */
ls_status workload_args_check(const cli_context *ctx, const char *name, ls_error *err);

/* The options of `run` and `sweep` for the library. Lists are in the arena. */
ls_status workload_args_sim(const cli_context *ctx, const char *workload, ls_sim_options *out, ls_error *err);

#endif
