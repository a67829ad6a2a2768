/* emulate_object.h: `lockstep emulate FILE.co`: one launch of any code object, with arguments from the
 * command line. */
#ifndef CLI_EMULATE_OBJECT_H
#define CLI_EMULATE_OBJECT_H

#include "cli/cli.h"
#include "lockstep/driver.h"

/* An argument as described on the command line. */
typedef enum emulate_arg_kind { EMULATE_VALUE, EMULATE_BUFFER, EMULATE_LOCAL } emulate_arg_kind;

typedef struct emulate_arg {
    emulate_arg_kind kind;
    uint8_t value[16]; /* EMULATE_VALUE */
    size_t bytes;      /* of the value, the buffer or the local memory */
    uint8_t *content;  /* EMULATE_BUFFER: what it holds before, and after the launch */
    ls_gpu_address address;
} emulate_arg;

/* "u32:7", "f32:1.5", "hex:00ff", "local:256", "buffer:4096", "buffer:4096:iota", "buffer:4096:f32=1.5",
 * "buffer:4096:random", "buffer:@FILE". Memory comes from the arena. */
ls_status emulate_arg_parse(ls_arena *arena, const char *text, emulate_arg *out, ls_error *err);
/* "64", "64,2", "64,2,1". */
ls_status emulate_size_parse(const char *text, const char *option, bool at_least_1, uint32_t out[3],
                             ls_error *err);

/* Whether it is a file that begins as a code object or a bundle of them does. */
bool emulate_object_is(const char *path);

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

typedef enum emulate_object_output {
    EMULATE_OBJECT_TEXT,
    EMULATE_OBJECT_JSON,
    EMULATE_OBJECT_BUFFERS, /* text, without the counters of the emulator */
    EMULATE_OBJECT_QUIET    /* nothing on standard output */
} emulate_object_output;

/* The target that a file is for: what --gpu is if it is not given. */
ls_status emulate_object_target(ls_arena *arena, const char *path, const char **target, ls_error *err);
/* Loads, launches, writes dumps, prints. The system has one GPU. counts may be NULL. */
ls_status emulate_object_run(cli_context *ctx, ls_gpu_system *system, const char *path,
                             emulate_object_output output, ls_gpu_counts *counts, ls_error *err);

#endif
