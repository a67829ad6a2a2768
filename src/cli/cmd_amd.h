/* cmd_amd.h: the commands below `lockstep amd`, one file each. */
#ifndef CLI_CMD_AMD_H
#define CLI_CMD_AMD_H

#include "cli/cli.h"

extern const cli_command cmd_amd_info, cmd_amd_disasm, cmd_amd_coverage;

#endif
