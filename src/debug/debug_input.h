/* debug_input.h: where commands come from: a stack of scripts, then a terminal with libedit, or standard input. */
#ifndef DEBUG_DEBUG_INPUT_H
#define DEBUG_DEBUG_INPUT_H

#include "base/arena.h"
#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>

#define DEBUG_SCRIPT_DEPTH 64
#define DEBUG_PROMPT "(lockstep) "

typedef struct debug_script_state {
    const char *at;   /* text that is left */
    const char *path; /* NULL: a command of the command line */
    uint32_t line;
} debug_script_state;

typedef struct debug_input {
    mem_arena arena;
    debug_script_state scripts[DEBUG_SCRIPT_DEPTH];
    size_t depth;
    bool is_terminal; /* standard input and output are one */
    bool from_script; /* the last line */
    char where[300];  /* of the last line: "commands.txt:3" */
    char *line;       /* last one read */
    size_t line_capacity;
    /* Names of the program, for completion; NULL past the last. */
    const char *(*name)(void *self, size_t i);
    void *name_self;
} debug_input;

void debug_input_init(debug_input *input);
void debug_input_fini(debug_input *input);
ls_status debug_input_push_file(debug_input *input, const char *path, ls_error *err);
ls_status debug_input_push_text(debug_input *input, const char *text, ls_error *err);
/* Drops the scripts: one of their lines was wrong. */
void debug_input_drop(debug_input *input);
/* The next line of the scripts, echoed after the prompt; NULL: they are over. */
const char *debug_input_script_line(debug_input *input, FILE *out);
/* The next line of the user; NULL: there is none left. Lines that do not come from a terminal are echoed. */
const char *debug_input_user_line(debug_input *input, FILE *out);

#endif
