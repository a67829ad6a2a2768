/* cmd_trace.h: the commands below `lockstep trace`, one file each. A new one is declared here and has a
 * line in the table of cmd_trace.c. */
#ifndef CLI_CMD_TRACE_H
#define CLI_CMD_TRACE_H

#include "cli/cli.h"
#include "workload/trace.h"

extern const cli_command cmd_trace_info;                                  /* cmd_trace_info.c */
extern const cli_command cmd_trace_check;                                 /* cmd_trace_check.c */
extern const cli_command cmd_trace_pack, cmd_trace_unpack, cmd_trace_cut; /* cmd_trace_pack.c */
extern const cli_command cmd_trace_synth;                                 /* cmd_trace_synth.c */
extern const cli_command cmd_trace_view;                                  /* cmd_trace_view.c */

/* Accesses to one memory space, as JSON: `insts` names the number of instructions ("warp_instructions"); counts:
 * instructions, accesses of lanes, bytes. */
struct json_writer;
void cmd_trace_json_space(struct json_writer *j, const char *space, const char *insts,
                          const uint64_t counts[3]);

/* Options that several of them take. */
extern const char *const cmd_trace_unknown_choices[]; /* "fail", "alu", NULL */

/* clang-format off */
#define CMD_TRACE_KERNELS_OPTION                                                                             \
    { .name = "kernels", .letter = 'k', .type = CLI_TEXT, .arg = "LIST",                                     \
      .help = "only these: numbers and ranges of the list, name:PATTERN; separated by commas" }
#define CMD_TRACE_UNKNOWN_OPTION                                                                             \
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = cmd_trace_unknown_choices,     \
      .default_text = "fail", .help = "alu: take an opcode that no table has for an integer instruction" }
#define CMD_TRACE_PATH_POSITIONAL                                                                            \
    { .name = "PATH", .complete = CLI_COMPLETE_FILE,                                                         \
      .help = "a directory with kernelslist.g, such a list, one kernel file, or a packed trace" }
/* clang-format on */

#endif
