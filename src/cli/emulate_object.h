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

/* The target that a file is for: what --gpu is if it is not given. */
ls_status emulate_object_target(ls_arena *arena, const char *path, const char **target, ls_error *err);
/* Loads, launches, prints. The system has one GPU. */
ls_status emulate_object_run(cli_context *ctx, ls_gpu_system *system, const char *path, ls_error *err);

#endif
