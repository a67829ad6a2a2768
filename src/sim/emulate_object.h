/* emulate_object.h: one launch of any code object, with its sizes and arguments as text. */
#ifndef SIM_EMULATE_OBJECT_H
#define SIM_EMULATE_OBJECT_H

#include "base/arena.h"
#include "base/text.h"
#include "lockstep/driver.h"

#include <stdio.h>

/* An argument as its text describes it. */
typedef enum emulate_arg_kind { EMULATE_VALUE, EMULATE_BUFFER, EMULATE_LOCAL } emulate_arg_kind;

typedef struct emulate_arg {
    emulate_arg_kind kind;
    uint8_t value[16]; /* EMULATE_VALUE */
    size_t bytes;      /* of the value, the buffer or the local memory */
    uint8_t *content;  /* EMULATE_BUFFER: its contents before and after the launch */
    ls_gpu_address address;
} emulate_arg;

/* "u32:7", "f32:1.5", "hex:00ff", "local:256", "buffer:4096", "buffer:4096:iota", "buffer:4096:f32=1.5",
 * "buffer:4096:random", "buffer:@FILE". Memory comes from the arena. */
ls_status emulate_arg_parse(mem_arena *arena, const char *text, emulate_arg *out, ls_error *err);
/* "64", "64,2", "64,2,1". */
ls_status emulate_size_parse(const char *text, const char *option, bool at_least_1, uint32_t out[3],
                             ls_error *err);

/* Whether it is a file that begins as a code object or a bundle of them does. */
bool emulate_object_is(const char *path);

typedef enum emulate_object_output {
    EMULATE_OBJECT_TEXT,
    EMULATE_OBJECT_JSON,
    EMULATE_OBJECT_BUFFERS, /* text, without the counters of the emulator */
    EMULATE_OBJECT_QUIET    /* nothing on standard output */
} emulate_object_output;

/* The target that a file is for: the default of --gpu. */
ls_status emulate_object_target(mem_arena *arena, const char *path, const char **target, ls_error *err);
/* A launch. Texts are borrowed. */
typedef struct emulate_object_launch {
    const char *path;
    const char *kernel;                /* NULL: the only one */
    const char *grid, *group, *offset; /* "64,2,1"; only the grid is required */
    const char *const *args;           /* as emulate_arg_parse() reads them */
    size_t arg_count;
    const char *const *prints; /* "2:f32:8": elements of a buffer, printed after the launch */
    size_t print_count;
    const char *const *dumps; /* "out=FILE": a buffer, written after the launch */
    size_t dump_count;
} emulate_object_launch;

/* Where results of the launch are printed. */
typedef struct emulate_object_printer {
    emulate_object_output output;
    FILE *to;
    bool color;
} emulate_object_printer;

/* Loads, launches, writes dumps, prints. The system has one GPU. counts may be NULL. */
ls_status emulate_object_run(mem_arena *arena, ls_gpu_system *system, const emulate_object_launch *launch,
                             const emulate_object_printer *printer, ls_gpu_counts *counts, ls_error *err);

#endif
