/* debug_impl.h: the debugger's state, shared by the files of src/debug. */
#ifndef DEBUG_DEBUG_IMPL_H
#define DEBUG_DEBUG_IMPL_H

#include "base/vec.h"
#include "debug/debug.h"
#include "debug/debug_command.h"
#include "debug/debug_expr.h"
#include "debug/debug_input.h"
#include "isa/amd/exec/memory.h"
#include "model/cu/cu_debug.h"
#include "runtime/driver/debugger.h"
#include "runtime/driver/drv.h"
#include "workload/hsa/lines.h"

#include <signal.h>

/* ------------------------------------------------------------------------------------------ break points */

#define DEBUG_PLACES 32 /* of one break point: copies of a line */

typedef enum debug_stop_kind {
    DEBUG_BREAK,
    DEBUG_WATCH,        /* stores and atomics */
    DEBUG_RWATCH,       /* loads and atomics */
    DEBUG_AWATCH,       /* both */
    DEBUG_CATCH_LAUNCH, /* the first instruction of a launch */
} debug_stop_kind;

/* An address in memory, or in the LDS of the work-group. */
typedef struct debug_address {
    bool in_lds;
    uint64_t at;
} debug_address;

typedef struct debug_break {
    uint32_t number; /* from 1 on */
    debug_stop_kind kind;
    bool is_temporary, is_disabled;
    bool is_gdb;    /* a client of the remote protocol made it */
    bool was_found; /* a launch had the location */
    uint64_t hits, ignore;
    debug_location location; /* DEBUG_BREAK */
    char text[280];          /* of the location, as it is shown */
    char condition[200];     /* "": none */
    uint64_t pcs[DEBUG_PLACES];
    size_t pc_count;       /* in the launch that runs */
    debug_address address; /* of a watch point */
    uint32_t bytes;
} debug_break;

/* An access that a watch point waits for, between the two hooks of its instruction. */
typedef struct debug_hit {
    size_t watch;         /* in breaks; SIZE_MAX: none */
    const amd_wave *wave; /* whose instruction it is */
    uint32_t lane;
    bool is_store;
    uint64_t address;
    uint32_t bytes;
    uint64_t old;
} debug_hit;

/* ------------------------------------------------------------------------------------------------- state */

typedef enum debug_move_kind {
    DEBUG_MOVE_RUN,     /* to the next break point */
    DEBUG_MOVE_STEPI,   /* `left` instructions */
    DEBUG_MOVE_NEXTI,   /* the same, over calls */
    DEBUG_MOVE_STEP,    /* `left` lines */
    DEBUG_MOVE_NEXT,    /* the same, over calls */
    DEBUG_MOVE_BARRIER, /* until the wave waits */
    DEBUG_MOVE_FINISH,  /* until the wave has ended */
    DEBUG_MOVE_GROUP,   /* until the work-group begins */
    DEBUG_MOVE_TIME,    /* until a simulated time */
    DEBUG_MOVE_ANY,     /* to the next instruction of any wave: the one that stepped has ended */
} debug_move_kind;

typedef struct debug_move {
    debug_move_kind kind;
    uint64_t left;
    uint32_t group[3], wave; /* that moves */
    uint64_t launch;         /* of it */
    ls_time until;           /* DEBUG_MOVE_TIME */
    uint64_t return_pc;      /* of a call that is stepped over; 0: none */
    size_t depth;            /* of inlined functions where it began */
    hsa_place place;         /* line where it began */
} debug_move;

/* The return addresses of a wave's calls. */
#define DEBUG_CALLS 32
typedef struct debug_calls {
    const amd_wave *wave;
    size_t depth;
    uint64_t return_pc[DEBUG_CALLS];
} debug_calls;

/* Where the program is. */
typedef enum debug_where {
    DEBUG_NOT_RUNNING,
    DEBUG_STOPPED,  /* at an instruction */
    DEBUG_AT_FAULT, /* a wave faulted; the launch ends */
    DEBUG_BETWEEN,  /* between launches, or in one that runs */
} debug_where;

typedef struct debugger {
    const debug_options *options;
    FILE *out;
    debug_input input;
    ls_gpu_debugger hooks;
    LS_VEC(debug_break) breaks;
    uint32_t last_number;
    LS_VEC(char *) directories; /* of sources */

    debug_where where;
    const drv_launched *launch; /* that runs; NULL: none */
    drv_launched launched;      /* its copy */
    const emulate_stop *stop;   /* NULL: the program does not stand */
    uint32_t wave;              /* selected */
    emulate_stop viewed;        /* stop is it: a wave of another work-group was selected, in simulated time */
    cu_stop viewed_unit;
    amd_wave *viewed_waves[LS_CU_WAVES_PER_GROUP_MAX];
    LS_VEC(debug_calls) calls;   /* of waves that have called */
    uint8_t *marks;              /* [op_count + 1]: a break point is there */
    uint64_t launch_first_count; /* instructions of this launch that were seen */
    hsa_lines *lines;            /* of the launch's code object; NULL: none */
    const hsa_object *lines_of;  /* which has them */
    ls_error lines_error;        /* why there are none */
    debug_move move;
    const amd_wave *stopped_after; /* the wave that stopped after an instruction; NULL: before one */
    debug_hit hit;
    amd_access access;

    uint64_t launches, instructions; /* of this run */
    uint64_t fault_launch;           /* the last launch whose first fault was shown */
    bool is_moving;                  /* a command lets the program go on */
    bool wants_run, wants_kill, wants_quit;
    bool has_status; /* the last run failed with `failure` */
    ls_error failure;
    bool script_failed; /* batch: the first wrong line, in `failure` */

    /* Why the program stands, for a client of the remote protocol. */
    struct debug_gdb *gdb;      /* NULL: none */
    int stop_signal;            /* as gdb numbers them */
    debug_stop_kind stop_watch; /* DEBUG_BREAK: no watch point */
    uint64_t stop_address;      /* of the watch point */
    bool gdb_moves;             /* its last command chose how the program goes on */

    char last[512]; /* line of the user, which an empty one repeats */
    /* Where x and list go on. */
    debug_address next_address;
    char last_letter, last_unit;
    char list_file[512];
    uint32_t list_line;
} debugger;

/* -------------------------------------------------------------------------------------------- debug_talk.c */

/* Reads and executes commands until the program goes on; false: it ends. */
bool debug_talk(debugger *d);
/* One command. Errors of the user. */
ls_status debug_execute(debugger *d, const debug_line *line, ls_error *err);

/* -------------------------------------------------------------------------------------------- debug_stop.c */

void debug_hooks_init(debugger *d);
/* Lets the program go on in this way, with the selected wave. */
ls_status debug_go(debugger *d, debug_move_kind kind, uint64_t count, ls_error *err);

/* ------------------------------------------------------------------------------------------- debug_break.c */

ls_status debug_break_add(debugger *d, const debug_line *line, bool temporary, ls_error *err);
ls_status debug_watch_add(debugger *d, const debug_line *line, debug_stop_kind kind, ls_error *err);
ls_status debug_catch_add(debugger *d, const debug_line *line, ls_error *err);
/* For a client of the remote protocol: makes one, or deletes the one that it made. Without a word. */
bool debug_stop_change(debugger *d, debug_stop_kind kind, debug_address at, uint32_t bytes, bool insert);
/* delete, disable, enable. */
ls_status debug_break_change(debugger *d, const debug_line *line, ls_error *err);
void debug_break_list(debugger *d);
/* Finds the locations in the launch that runs. */
void debug_break_resolve(debugger *d);
/* The break point at the instruction that stops now, or NULL. Counts hits, and deletes a temporary one: *out is a copy. */
bool debug_break_hit(debugger *d, debug_break *out);
/* Before an instruction: whether it will touch watched bytes. */
void debug_watch_check(debugger *d);
/* After it: reports; false: there is nothing. */
bool debug_watch_report(debugger *d);
/* After a run: names locations that no launch had. */
void debug_break_unfound(debugger *d);

/* ------------------------------------------------------------------------------------------- debug_value.c */

debug_scope debug_scope_of(debugger *d);
/* The state of the selected wave; NULL and an error if the program does not stand. */
amd_wave *debug_wave(debugger *d, ls_error *err);
/* The pc of a wave of the work-group. */
uint64_t debug_wave_pc(const debugger *d, uint32_t wave);
ls_status debug_memory(debugger *d, debug_address from, void *out, uint64_t bytes, ls_error *err);
/* "EXPRESSION" or "lds:EXPRESSION"; *end: behind it. */
ls_status debug_address_parse(debugger *d, const char *text, debug_address *out, const char **end,
                              ls_error *err);
ls_status debug_print(debugger *d, const debug_line *line, ls_error *err);
ls_status debug_examine(debugger *d, const debug_line *line, ls_error *err);
ls_status debug_set(debugger *d, const debug_line *line, ls_error *err);

/* ------------------------------------------------------------------------------------------- debug_timed.c */

/* The compute unit's view of a wave of the work-group; false: emulated, or it has ended. */
bool debug_look(const debugger *d, uint32_t wave, cu_look *out);
uint64_t debug_wave_count(const debugger *d, uint32_t wave); /* instructions that it has executed */
const char *debug_time_text(ls_time time, char *out, size_t bytes);
/* "[4321 ns, gpu0.cluster0.cu1, SIMD 2, slot 0]"; nothing if emulated. */
void debug_say_place(debugger *d);
void debug_say_counters(debugger *d, const amd_wave *wave);
ls_status debug_info_time(debugger *d, ls_error *err);
ls_status debug_info_waits(debugger *d, ls_error *err);
ls_status debug_info_memory(debugger *d, const char *text, ls_error *err);
void debug_timed_waves(debugger *d);
ls_status debug_timed_groups(debugger *d);
/* Selects a wave of any work-group that is on a compute unit. */
ls_status debug_view_wave(debugger *d, const uint32_t group[3], uint32_t wave, ls_error *err);
/* Every wave of the launch that runs now; `each` returns false to stop. */
void debug_each_wave(const debugger *d,
                     bool (*each)(void *self, const uint32_t id[3], uint32_t wave, const char *place),
                     void *self);
bool debug_is_time(const char *text, size_t bytes);
ls_status debug_until_time(debugger *d, const char *text, size_t bytes, ls_error *err);

/* ------------------------------------------------------------------------------------------ debug_frames.c */

/* Before an instruction: notes calls and returns. */
void debug_calls_before(debugger *d);
const debug_calls *debug_calls_of(debugger *d, uint32_t wave); /* NULL: it has not called */

/* -------------------------------------------------------------------------------------------- debug_info.c */

ls_status debug_info(debugger *d, const debug_line *line, ls_error *err);
/* "0x100002010 <out+0x10>" */
const char *debug_address_text(const debugger *d, debug_address address, char *out, size_t bytes);
/* The kernel's arguments. */
const ls_gpu_kernel_info *debug_kernel(const debugger *d);
uint64_t debug_arg_value(const debugger *d, const ls_gpu_arg_info *arg);
/* Registers that an instruction reads, for a fault. */
void debug_sources(debugger *d);

/* -------------------------------------------------------------------------------------------- debug_code.c */

/* "=> fir+0x40: s_endpgm" and the source line. */
void debug_show_place(debugger *d);
const char *debug_pc_text(const debugger *d, uint64_t pc, char *out, size_t bytes);
bool debug_place_of(const debugger *d, uint64_t pc, hsa_place *out);
uint64_t debug_image_address(const debugger *d, uint64_t pc);
ls_status debug_disassemble(debugger *d, const debug_line *line, ls_error *err);
ls_status debug_list(debugger *d, const debug_line *line, ls_error *err);
ls_status debug_backtrace(debugger *d, ls_error *err);
ls_status debug_directory(debugger *d, const debug_line *line, ls_error *err);
/* count instructions from an address on; the address after them. */
uint64_t debug_instructions(debugger *d, uint64_t pc, uint32_t count);

#endif
