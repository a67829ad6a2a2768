/* fidelity.h: `--fidelity`: names for common choices of models, and the platform that a command line asks
 * for. A preset is nothing but keys; --set comes after it and may change any of them. */
#ifndef CLI_FIDELITY_H
#define CLI_FIDELITY_H

#include "cli/cli.h"
#include "platform/config.h"

typedef struct fidelity_preset {
    const char *name, *help;
    const char *const *sets; /* KEY=VALUE, NULL-terminated */
} fidelity_preset;

enum { FIDELITY_DETAILED, FIDELITY_BASIC, FIDELITY_MEMORY, FIDELITY_COUNT };
extern const fidelity_preset fidelity_presets[FIDELITY_COUNT];
extern const char *const fidelity_names[FIDELITY_COUNT + 1]; /* choices of the option */

/* clang-format off */
#define FIDELITY_OPTION                                                                                          \
    { .name = "fidelity", .type = CLI_CHOICE, .arg = "PRESET", .choices = fidelity_names,                        \
      .help = "choose models: detailed, basic (core.alu hybrid) or memory (and core.memory analytic)" }
/* clang-format on */

/* The options platform, platform-dir, set and fidelity of the command as a request; all of its lists are in
 * the arena. */
ls_status cli_platform_request(const cli_context *ctx, const char *platform, ls_config_request *out,
                               ls_error *err);

#endif
