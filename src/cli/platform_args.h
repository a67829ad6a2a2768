/* platform_args.h: the options of commands that name a platform, as a request. */
#ifndef CLI_PLATFORM_ARGS_H
#define CLI_PLATFORM_ARGS_H

#include "cli/cli.h"
#include "platform/config.h"
#include "sim/fidelity.h"
#include "workloads/workload.h"

/* clang-format off */
#define FIDELITY_OPTION                                                                                          \
    { .name = "fidelity", .type = CLI_CHOICE, .arg = "PRESET", .choices = fidelity_names,                        \
      .help = "choose models: detailed, basic (core.alu issue) or memory (and core.memory analytic)" }
#define GPUS_OPTION                                                                                              \
    { .name = "gpus", .type = CLI_UINT, .arg = "N", .min = 1, .max = 64,                                         \
      .help = "a system of N GPUs of this platform, each as it is alone; keys are gpus.KEY or gpu0.KEY then" }
#define ON_OPTION                                                                                                \
    { .name = "on", .type = CLI_TEXT, .arg = "GPU",                                                              \
      .help = "the GPU of a system that has the work, by number or name, as in gpu1; the others are idle; default: the " \
              "first that can run it" }
#define DEVICES_OPTIONS                                                                                          \
    { .name = "devices", .type = CLI_CHOICE, .arg = "HOW", .choices = wl_devices_names, .default_text = "single",  \
      .help = "workload: the GPUs of a system that it uses: one; all, with copies between them; all as one device; "  \
              "all, with data on the GPU that works on it; all, each with the whole problem" },                       \
    { .name = "spread", .type = CLI_TEXT, .arg = "HOW",                                                          \
      .help = "unified device: work-groups to GPUs: blocked (default), interleaved, or central: GPU 0 places them" },     \
    { .name = "pages", .type = CLI_TEXT, .arg = "HOW",                                                           \
      .help = "unified device: memory to GPUs: interleaved (default), blocked, one (GPU 0), or first-touch (migrate.model)" }
/* clang-format on */

/* The options platform, platform-dir, set, fidelity and gpus of the command as a request; all of its lists are in
 * the arena. */
ls_status cli_platform_request(const cli_context *ctx, const char *platform, config_request *out,
                               ls_error *err);

#endif
