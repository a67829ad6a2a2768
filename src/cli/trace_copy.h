/* trace_copy.h: functions of the commands that write traces: the output path, its format, and the final
 * message. */
#ifndef CLI_TRACE_COPY_H
#define CLI_TRACE_COPY_H

#include "cli/cli.h"
#include "workload/copy.h"

/* "auto", "text", "pack", "tracez", NULL: by the suffix of the output, or explicitly. */
extern const char *const trace_format_choices[];
extern const char *const trace_pack_choices[]; /* "pack", "tracez", NULL */

/* clang-format off */
#define TRACE_FORMAT_OPTION                                                                                  \
    { .name = "format", .letter = 'f', .type = CLI_CHOICE, .arg = "FORMAT", .choices = trace_format_choices, \
      .default_text = "auto", .help = "how to write it; auto: packed if OUT ends with .lspk, else text" }
#define TRACE_PACK_FORMAT_OPTION                                                                             \
    { .name = "format", .letter = 'f', .type = CLI_CHOICE, .arg = "FORMAT", .choices = trace_pack_choices,   \
      .default_text = "pack", .help = "tracez: a directory of Accel-Sim 2.0's compressed files" }
#define TRACE_COMPRESS_OPTION(default_)                                                                      \
    { .name = "compress", .letter = 'c', .type = CLI_CHOICE, .arg = "HOW", .choices = compression_names,  \
      .default_text = default_, .help = "how to compress kernel files; same: as their names say" }
#define TRACE_LEVEL_OPTION                                                                                   \
    { .name = "level", .type = CLI_UINT, .arg = "N", .default_text = "12", .min = 1, .max = 19,              \
      .help = "effort to make a packed file small; reading it is as fast with all of them" }
/* clang-format on */

/* Opens `path`, copies what options say to `output`, packed or as text, and prints one line. Takes --level
 * and --compress from the command line where the command has them. */
ls_status trace_copy(cli_context *ctx, const char *path, const char *output, bool packed,
                     copy_options *options, ls_error *err);
/* True if --format or the name of the output selects a packed trace. */
bool trace_is_packed(const cli_context *ctx, const char *output);
/* True if --format is tracez. */
bool trace_is_tracez(const cli_context *ctx);

#endif
