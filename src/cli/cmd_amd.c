/* cmd_amd.c: `lockstep amd`: the table of the commands that look at AMD programs without running them. */
#include "cli/cmd_amd.h"

static const cli_command *const commands[] = {
    &cmd_amd_info,
    &cmd_amd_disasm,
    &cmd_amd_coverage,
};

static const cli_example examples[] = {
    { "lockstep amd info fir.co", "target, version, kernels with their registers, arguments" },
    { "lockstep amd disasm fir.co", "the instructions" },
    { "lockstep amd coverage --missing", "instructions that are decoded but cannot be executed" },
};

static const cli_command amd_command = {
    .name = "amd",
    .summary = "look at AMD code objects and instructions",
    .about =
        "Code objects are what compilers write for AMD GPUs: ELF files with kernels and their descriptions.",
    .order = 16,
    CLI_EXAMPLES(examples),
    CLI_COMMANDS(commands),
};
CLI_REGISTER(amd_command);
