/* cmd_config_import.h: `lockstep config import`, for the list of `config`'s commands in cmd_config.c. */
#ifndef CLI_CMD_CONFIG_IMPORT_H
#define CLI_CMD_CONFIG_IMPORT_H

#include "cli/cli.h"

extern const cli_command cmd_config_import;

#endif
