/* debug.h: the debugger of AMD programs, emulated or in simulated time: `lockstep debug`. It runs commands in gdb's words from scripts,
 * from a terminal or from standard input. Launches stop in the debugger's hooks (runtime/driver/debugger.h), so the
 * emulator has no cost when nothing debugs. Output depends on the program and the commands alone. */
#ifndef DEBUG_DEBUG_H
#define DEBUG_DEBUG_H

#include "lockstep/driver.h"
#include "lockstep/time.h"

#include <stdbool.h>
#include <stdio.h>

/* Commands that come before those of standard input: a file of them, or one. */
typedef struct debug_script {
    bool is_file;
    const char *text;
} debug_script;

typedef struct debug_options {
    FILE *out;
    const debug_script *scripts; /* in order */
    size_t script_count;
    bool batch;        /* end after the scripts */
    bool gdb;          /* serve GDB's remote protocol on the loopback interface, in place of commands */
    uint16_t gdb_port; /* 0: any that is free */
    /* Runs the program from its begin to its end, with the debugger in its system's options. *end: the simulated time at its
     * end; 0 if it has none. */
    ls_status (*run)(void *self, const struct ls_gpu_debugger *debugger, ls_time *end, ls_error *err);
    void *self;
} debug_options;

/* Returns when the user quits: LS_OK, the status of the program's last run, or that of a script's first wrong line. */
ls_status debug_main(const debug_options *options, ls_error *err);

#endif
