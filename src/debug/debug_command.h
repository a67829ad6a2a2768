/* debug_command.h: a line of the user becomes a command with its arguments. Reads text only. */
#ifndef DEBUG_DEBUG_COMMAND_H
#define DEBUG_DEBUG_COMMAND_H

#include "lockstep/status.h"

#include <stdbool.h>

typedef enum debug_command_id {
#define DEBUG_COMMAND(id, name, others, args, help) DEBUG_CMD_##id,
#include "debug/debug_commands.def"
#undef DEBUG_COMMAND
    DEBUG_CMD_COUNT
} debug_command_id;

typedef struct debug_command {
    const char *name;
    const char *others; /* other names, separated by spaces */
    const char *args, *help;
} debug_command;
extern const debug_command debug_commands[DEBUG_CMD_COUNT];

/* "x/4xw lds:16": command EXAMINE, count 4, letter 'x', unit 'w', args "lds:16". */
typedef struct debug_line {
    debug_command_id id;
    uint32_t count;    /* after the slash; 0: none */
    char letter, unit; /* after the slash; 0: none */
    const char *args;  /* rest of the line, without spaces around it; borrowed */
    size_t args_bytes;
} debug_line;

/* Names can be shortened as long as they are clear. An empty line and a comment (#) give LS_OK with id
 * DEBUG_CMD_COUNT. */
ls_status debug_line_parse(const char *text, debug_line *out, ls_error *err);

/* A location as the user writes it. */
typedef struct debug_location {
    enum { DEBUG_AT_HERE, DEBUG_AT_KERNEL, DEBUG_AT_LINE, DEBUG_AT_ADDRESS } kind;
    char name[256];  /* of the kernel or the file; "": the current one */
    uint64_t number; /* offset, line or address */
} debug_location;
/* "fir", "fir+0x40", "fir.cl:12", "12", "*0x100001040", "". */
ls_status debug_location_parse(const char *text, size_t bytes, debug_location *out, ls_error *err);

/* "X,Y,Z" or "X,Y" or "X"; missing ones are 0. */
ls_status debug_triple_parse(const char *text, size_t bytes, uint32_t out[3], ls_error *err);

#endif
