/* debug_stop.c: the hooks of a launch. They decide before and after each instruction whether the program stops, and
 * then let the user talk. */
#include "debug/debug_impl.h"

#include "debug/debug_gdb.h"
#include "isa/amd/exec/fault.h"
#include "runtime/driver/fault.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- interrupts */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* ---------------------------------------------------------------------------------------------- movement */

static bool is_mover(const debugger *d)
{
    const emulate_stop *s = d->stop;
    return s->wave == d->move.wave && d->launch->number == d->move.launch &&
           memcmp(s->work_group, d->move.group, sizeof d->move.group) == 0;
}

static size_t inline_depth(const debugger *d, uint64_t pc)
{
    return d->lines ? hsa_lines_frames(d->lines, debug_image_address(d, pc), NULL, 0) : 0;
}

ls_status debug_go(debugger *d, debug_move_kind kind, uint64_t count, ls_error *err)
{
    if (d->where == DEBUG_AT_FAULT && kind != DEBUG_MOVE_RUN)
        return ls_fail(err, LS_ERR_USAGE, "the wave faulted: 'continue' ends the launch");
    const amd_wave *wave = debug_wave(d, err);
    if (!wave)
        return LS_ERR_USAGE;
    if (kind != DEBUG_MOVE_RUN && kind != DEBUG_MOVE_GROUP && wave->stop == AMD_ENDED)
        return ls_fail(err, LS_ERR_USAGE, "wave %u has ended: select another one", d->wave);
    d->move =
        (debug_move){ .kind = kind, .left = count ? count : 1, .wave = d->wave, .launch = d->launch->number };
    memcpy(d->move.group, d->stop->work_group, sizeof d->move.group);
    if (kind == DEBUG_MOVE_STEP || kind == DEBUG_MOVE_NEXT) {
        uint64_t pc = debug_wave_pc(d, d->wave);
        if (!d->lines)
            return ls_fail(err, LS_ERR_USAGE, "%s; 'stepi' steps by instructions", d->lines_error.what);
        if (!debug_place_of(d, pc, &d->move.place))
            d->move.place = (hsa_place){ .file = "" };
        d->move.depth = inline_depth(d, pc);
    }
    /* The stop was after an instruction: the next one is shown, but its own stop is still to come. gdb takes it for one
     * before the instruction, as AArch64 stops at watch points, and steps once for that. */
    if (!d->gdb && (kind == DEBUG_MOVE_STEPI || kind == DEBUG_MOVE_NEXTI) &&
        d->stopped_after == d->stop->waves[d->wave])
        d->move.left++;
    d->is_moving = true;
    return LS_OK;
}

/* A call that is to be stepped over: the address behind it. */
static void note_call(debugger *d)
{
    const emulate_stop *s = d->stop;
    bool over = d->move.kind == DEBUG_MOVE_NEXTI || d->move.kind == DEBUG_MOVE_NEXT;
    if (over && is_mover(d) && s->inst && d->move.return_pc == 0 &&
        (s->inst->op == AMD_S_SWAPPC_B64 || s->inst->op == AMD_S_CALL_B64))
        d->move.return_pc = s->pc + s->inst->bytes;
}

/* Whether the wave that steps by lines has come to another one. */
static bool is_new_line(debugger *d)
{
    hsa_place now;
    if (!debug_place_of(d, d->stop->pc, &now))
        return false;
    if (now.line == d->move.place.line && strcmp(now.file, d->move.place.file) == 0)
        return false;
    if (d->move.kind == DEBUG_MOVE_NEXT && inline_depth(d, d->stop->pc) > d->move.depth)
        return false;
    if (!hsa_lines_is_start(d->lines, debug_image_address(d, d->stop->pc)))
        return false;
    d->move.place = now;
    return true;
}

/* Before an instruction: whether the movement is over. */
static bool move_is_over(debugger *d)
{
    switch (d->move.kind) {
    case DEBUG_MOVE_ANY:
        return true;
    case DEBUG_MOVE_TIME:
        return d->stop->unit && d->stop->unit->time >= d->move.until;
    case DEBUG_MOVE_GROUP:
        return memcmp(d->stop->work_group, d->move.group, sizeof d->move.group) == 0;
    case DEBUG_MOVE_STEPI:
        return is_mover(d) && --d->move.left == 0;
    case DEBUG_MOVE_NEXTI:
    case DEBUG_MOVE_STEP:
    case DEBUG_MOVE_NEXT:
        if (!is_mover(d))
            return false;
        if (d->move.return_pc != 0 && d->stop->pc != d->move.return_pc)
            return false;
        d->move.return_pc = 0;
        if (d->move.kind != DEBUG_MOVE_NEXTI && !is_new_line(d))
            return false;
        return --d->move.left == 0;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------------------------------------- hooks */

static void say_where(debugger *d, const char *why)
{
    const uint32_t *g = d->stop->work_group;
    char pc[320];
    bool ended = d->stop->waves[d->stop->wave]->stop == AMD_ENDED;
    fprintf(d->out, "%s, %s in work-group %u,%u,%u wave %u\n", why,
            debug_pc_text(d, ended ? d->stop->pc : debug_wave_pc(d, d->stop->wave), pc, sizeof pc), g[0], g[1],
            g[2], d->stop->wave);
}

static bool stop_here(debugger *d)
{
    d->wave = d->stop->wave;
    d->where = DEBUG_STOPPED;
    d->move = (debug_move){ .kind = DEBUG_MOVE_RUN };
    debug_say_place(d);
    debug_show_place(d);
    bool goes_on = debug_talk(d);
    d->where = DEBUG_BETWEEN;
    return goes_on;
}

static bool before(void *self, const emulate_stop *stop)
{
    debugger *d = self;
    debug_break hit;
    char why[80];
    if (d->wants_kill || d->wants_quit)
        return false;
    d->stop = stop;
    d->stop_signal = SIGTRAP;
    d->launch_first_count++;
    bool is_over = move_is_over(d), goes_on = true;
    if (debug_break_hit(d, &hit)) {
        if (hit.kind == DEBUG_CATCH_LAUNCH)
            snprintf(why, sizeof why, "Catchpoint %u, launch %llu", hit.number,
                     (unsigned long long)d->launch->number);
        else
            snprintf(why, sizeof why, "%s %u", hit.is_temporary ? "Temporary breakpoint" : "Breakpoint",
                     hit.number);
        say_where(d, why);
        goes_on = stop_here(d);
    } else if (is_over) {
        if (d->move.kind == DEBUG_MOVE_ANY || d->move.kind == DEBUG_MOVE_GROUP ||
            d->move.kind == DEBUG_MOVE_TIME)
            say_where(d, "Now");
        goes_on = stop_here(d);
    } else if (interrupted || (d->gdb && debug_gdb_interrupts(d->gdb))) {
        interrupted = 0;
        d->stop_signal = SIGINT;
        say_where(d, "Interrupted");
        goes_on = stop_here(d);
    }
    goes_on = goes_on && !d->wants_quit;
    if (goes_on) {
        d->stop = stop;
        debug_calls_before(d);
        note_call(d);
        debug_watch_check(d);
    }
    return goes_on;
}

/* The same after an instruction of a wave. */
static bool stop_after(debugger *d)
{
    d->stopped_after = d->stop->waves[d->stop->wave];
    bool goes_on = stop_here(d);
    d->stopped_after = NULL;
    return goes_on;
}

static bool after(void *self, const emulate_stop *stop)
{
    debugger *d = self;
    bool goes_on = true;
    if (d->wants_kill || d->wants_quit)
        return false;
    d->stop = stop;
    amd_wave *wave = stop->waves[stop->wave];
    /* In simulated time other waves may have come in between; the registers of the access are still as they were. */
    if (stop->unit && d->hit.wave != wave)
        debug_watch_check(d);
    if (d->hit.watch != SIZE_MAX && debug_watch_report(d)) {
        say_where(d, "Now");
        goes_on = stop_after(d);
    }
    /* In simulated time the last wave at a barrier runs on at once. */
    bool at_barrier = wave->stop == AMD_AT_BARRIER || (stop->inst && stop->inst->op == AMD_S_BARRIER);
    d->stop = stop;
    if (!goes_on || (wave->stop == AMD_RUNNING && !at_barrier) || d->move.kind == DEBUG_MOVE_RUN ||
        !is_mover(d))
        return goes_on;
    if (at_barrier && d->move.kind == DEBUG_MOVE_BARRIER) {
        say_where(d, "At a barrier");
        goes_on = stop_after(d);
    } else if (wave->stop == AMD_ENDED &&
               (d->move.kind == DEBUG_MOVE_FINISH || (d->gdb && d->move.kind == DEBUG_MOVE_STEPI))) {
        say_where(d, "The wave has ended");
        goes_on = stop_after(d);
    } else if (wave->stop == AMD_ENDED && d->move.kind != DEBUG_MOVE_GROUP &&
               d->move.kind != DEBUG_MOVE_TIME) {
        const uint32_t *g = stop->work_group;
        fprintf(d->out, "[Wave %u,%u,%u.%u has ended]\n", g[0], g[1], g[2], stop->wave);
        d->move.kind = DEBUG_MOVE_ANY;
    }
    return goes_on;
}

static void fault(void *self, const emulate_stop *stop)
{
    debugger *d = self;
    const amd_wave *wave = stop->waves[stop->wave];
    amd_fault_place place = { .pc = stop->pc, .wave = stop->wave };
    ls_error err;
    /* Others may fault before the launch has ended: the first is shown. */
    if (d->wants_kill || d->wants_quit || d->fault_launch == d->launch->number)
        return;
    d->fault_launch = d->launch->number;
    d->stop = stop;
    d->wave = stop->wave;
    d->where = DEBUG_AT_FAULT;
    memcpy(place.work_group, stop->work_group, sizeof place.work_group);
    amd_fault_report(stop->program, &wave->fault, &place, NULL, 0, &err);
    drv_fault_explain(d->launch->dispatch, &wave->fault, stop->pc, &err);
    fprintf(d->out, "Fault: %s\n", err.what);
    debug_say_place(d);
    debug_show_place(d);
    debug_sources(d);
    d->stop_signal = SIGSEGV;
    (void)debug_talk(d);
    d->where = DEBUG_BETWEEN;
    d->stop = NULL;
}

static void read_lines(debugger *d)
{
    const hsa_object *object = d->launch->dispatch->origin->module->object;
    if (object == d->lines_of)
        return;
    hsa_lines_destroy(d->lines);
    d->lines = NULL;
    d->lines_of = object;
    (void)hsa_lines_read(object, &d->lines, &d->lines_error);
}

static void begin(void *self, const drv_launched *launch)
{
    debugger *d = self;
    d->launched = *launch;
    d->launch = &d->launched;
    d->launches = launch->number;
    if (!launch->resumes)
        d->launch_first_count = 0;
    else if (d->launch_first_count == 0)
        d->launch_first_count = 1; /* the first instruction of it was seen */
    d->hit.watch = SIZE_MAX;
    read_lines(d);
    debug_break_resolve(d);
}

static void end(void *self, ls_status status, const ls_gpu_counts *counts)
{
    debugger *d = self;
    (void)status;
    if (d->move.kind == DEBUG_MOVE_GROUP)
        fprintf(d->out, "[Work-group %u,%u,%u did not begin before launch %llu ended]\n", d->move.group[0],
                d->move.group[1], d->move.group[2], (unsigned long long)d->launch->number);
    if (d->move.kind == DEBUG_MOVE_GROUP)
        d->move.kind = DEBUG_MOVE_RUN;
    d->instructions += counts->instructions;
    d->launch = NULL;
    d->stop = NULL;
}

void debug_hooks_init(debugger *d)
{
    d->hooks = (ls_gpu_debugger){ .hooks = { .self = d, .before = before, .after = after, .fault = fault },
                                  .begin = begin,
                                  .end = end };
    d->hit.watch = SIZE_MAX;
    if (d->input.is_terminal) {
        struct sigaction action = { .sa_handler = on_interrupt };
        sigaction(SIGINT, &action, NULL);
    }
}
