/* debug_talk.c: the conversation: reads commands, executes them, and runs the program as often as the user wants. */
#include "debug/debug_impl.h"

#include "base/text.h"
#include "debug/debug_gdb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- commands */

static ls_status read_count(const debug_line *line, uint64_t *out, ls_error *err)
{
    *out = 1;
    if (line->args_bytes == 0)
        return LS_OK;
    ls_status status = parse_u64(line->args, line->args_bytes, out, err);
    if (status == LS_OK && *out > 0)
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE, "'%.*s' is no number from 1 on", (int)line->args_bytes, line->args);
}

static ls_status go(debugger *d, const debug_line *line, debug_move_kind kind, ls_error *err)
{
    uint64_t count;
    ls_status status = read_count(line, &count, err);
    return status == LS_OK ? debug_go(d, kind, count, err) : status;
}

/* continue N: the break points here are passed N - 1 times. */
static ls_status continue_(debugger *d, const debug_line *line, ls_error *err)
{
    uint64_t count;
    ls_status status = read_count(line, &count, err);
    if (status == LS_OK)
        status = debug_go(d, DEBUG_MOVE_RUN, 1, err);
    for (size_t i = 0; status == LS_OK && count > 1 && i < d->breaks.count; i++)
        for (size_t k = 0; k < d->breaks.at[i].pc_count; k++)
            if (d->breaks.at[i].pcs[k] == debug_wave_pc(d, d->wave))
                d->breaks.at[i].ignore = count - 1;
    return status;
}

static ls_status until(debugger *d, const debug_line *line, ls_error *err)
{
    if (line->args_bytes == 7 && memcmp(line->args, "barrier", 7) == 0)
        return debug_go(d, DEBUG_MOVE_BARRIER, 1, err);
    if (line->args_bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "until LOCATION, until barrier, or until a simulated time: 12us");
    if (debug_is_time(line->args, line->args_bytes))
        return debug_until_time(d, line->args, line->args_bytes, err);
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    ls_status status = debug_break_add(d, line, true, err);
    return status == LS_OK ? debug_go(d, DEBUG_MOVE_RUN, 1, err) : status;
}

static ls_status run_(debugger *d, ls_error *err)
{
    if (d->where != DEBUG_NOT_RUNNING)
        return ls_fail(err, LS_ERR_USAGE,
                       "the program is running already: 'continue' goes on, 'kill' ends it");
    d->wants_run = d->is_moving = true;
    return LS_OK;
}

static ls_status kill_(debugger *d, ls_error *err)
{
    if (d->where == DEBUG_NOT_RUNNING)
        return ls_fail(err, LS_ERR_USAGE, "the program is not running");
    d->wants_kill = d->is_moving = true;
    return LS_OK;
}

static ls_status select_elsewhere(debugger *d, const uint32_t group[3], const char *number,
                                  const debug_line *line, ls_error *err)
{
    size_t bytes = line->args_bytes - (size_t)(number - line->args);
    uint64_t wave = 0;
    if (parse_u64(number, bytes, &wave, NULL) != LS_OK || wave >= LS_CU_WAVES_PER_GROUP_MAX)
        return ls_fail(err, LS_ERR_USAGE, "there is no wave '%.*s'", (int)bytes, number);
    ls_status status = debug_view_wave(d, group, (uint32_t)wave, err);
    if (status != LS_OK)
        return status;
    fprintf(d->out, "[Wave %u,%u,%u.%u]\n", group[0], group[1], group[2], d->wave);
    debug_say_place(d);
    debug_show_place(d);
    return LS_OK;
}

/* "1", or "0,0,0.1" of the work-group that stands; in simulated time of any that is on a compute unit. */
static ls_status select_wave(debugger *d, const debug_line *line, ls_error *err)
{
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    const uint32_t *g = d->stop->work_group;
    const char *dot = memchr(line->args, '.', line->args_bytes);
    if (line->args_bytes > 0) {
        const char *number = dot ? dot + 1 : line->args;
        uint64_t wave = 0;
        uint32_t group[3];
        if (dot) {
            ls_status status = debug_triple_parse(line->args, (size_t)(dot - line->args), group, err);
            if (status != LS_OK)
                return status;
            if (memcmp(group, g, sizeof group) != 0 && d->stop->unit)
                return select_elsewhere(d, group, number, line, err);
            if (memcmp(group, g, sizeof group) != 0)
                return ls_fail(
                    err, LS_ERR_USAGE,
                    "work-group %u,%u,%u does not run: %u,%u,%u does, and they run one after another",
                    group[0], group[1], group[2], g[0], g[1], g[2]);
        }
        size_t bytes = line->args_bytes - (size_t)(number - line->args);
        if (parse_u64(number, bytes, &wave, NULL) != LS_OK || wave >= d->stop->wave_count)
            return ls_fail(err, LS_ERR_USAGE, "there is no wave '%.*s': the work-group has %u, counted from 0",
                           (int)bytes, number, d->stop->wave_count);
        d->wave = (uint32_t)wave;
    }
    fprintf(d->out, "[Wave %u,%u,%u.%u]\n", g[0], g[1], g[2], d->wave);
    debug_show_place(d);
    return LS_OK;
}

static ls_status select_group(debugger *d, const debug_line *line, ls_error *err)
{
    uint32_t group[3];
    if (!debug_wave(d, err))
        return LS_ERR_USAGE;
    const uint32_t *g = d->stop->work_group;
    if (line->args_bytes == 0) {
        fprintf(d->out, "[Work-group %u,%u,%u]\n", g[0], g[1], g[2]);
        return LS_OK;
    }
    ls_status status = debug_triple_parse(line->args, line->args_bytes, group, err);
    if (status != LS_OK)
        return status;
    const drv_dispatch *l = d->launch->dispatch;
    for (unsigned i = 0; i < 3; i++)
        if ((uint64_t)group[i] * l->group[i] >= l->grid[i])
            return ls_fail(err, LS_ERR_USAGE, "there is no work-group %u,%u,%u in this launch", group[0],
                           group[1], group[2]);
    if (memcmp(group, g, sizeof group) == 0) {
        fprintf(d->out, "[Work-group %u,%u,%u]\n", g[0], g[1], g[2]);
        return LS_OK;
    }
    status = debug_go(d, DEBUG_MOVE_GROUP, 1, err);
    memcpy(d->move.group, group, sizeof group);
    return status;
}

static ls_status help(debugger *d, const debug_line *line, ls_error *err)
{
    if (line->args_bytes > 0) {
        debug_line asked;
        ls_status status = debug_line_parse(line->args, &asked, err);
        if (status != LS_OK)
            return status;
        const debug_command *c = &debug_commands[asked.id];
        fprintf(d->out, "%s %s\n  %s\n", c->name, c->args, c->help);
        if (*c->others)
            fprintf(d->out, "  short: %s\n", c->others);
        return LS_OK;
    }
    for (size_t i = 0; i < DEBUG_CMD_COUNT; i++)
        fprintf(d->out, "%-12s%s\n", debug_commands[i].name, debug_commands[i].help);
    fprintf(d->out, "Names can be shortened. 'help COMMAND' shows the arguments.\n");
    return LS_OK;
}

static ls_status source(debugger *d, const debug_line *line, ls_error *err)
{
    char path[512];
    if (line->args_bytes == 0 || line->args_bytes >= sizeof path)
        return ls_fail(err, LS_ERR_USAGE, "source FILE");
    snprintf(path, sizeof path, "%.*s", (int)line->args_bytes, line->args);
    return debug_input_push_file(&d->input, path, err);
}

ls_status debug_execute(debugger *d, const debug_line *line, ls_error *err)
{
    switch (line->id) {
    case DEBUG_CMD_BREAK:
        return debug_break_add(d, line, false, err);
    case DEBUG_CMD_TBREAK:
        return debug_break_add(d, line, true, err);
    case DEBUG_CMD_WATCH:
        return debug_watch_add(d, line, DEBUG_WATCH, err);
    case DEBUG_CMD_RWATCH:
        return debug_watch_add(d, line, DEBUG_RWATCH, err);
    case DEBUG_CMD_AWATCH:
        return debug_watch_add(d, line, DEBUG_AWATCH, err);
    case DEBUG_CMD_CATCH:
        return debug_catch_add(d, line, err);
    case DEBUG_CMD_DELETE:
    case DEBUG_CMD_DISABLE:
    case DEBUG_CMD_ENABLE:
        return debug_break_change(d, line, err);
    case DEBUG_CMD_RUN:
        return run_(d, err);
    case DEBUG_CMD_CONTINUE:
        return continue_(d, line, err);
    case DEBUG_CMD_STEPI:
        return go(d, line, DEBUG_MOVE_STEPI, err);
    case DEBUG_CMD_NEXTI:
        return go(d, line, DEBUG_MOVE_NEXTI, err);
    case DEBUG_CMD_STEP:
        return go(d, line, DEBUG_MOVE_STEP, err);
    case DEBUG_CMD_NEXT:
        return go(d, line, DEBUG_MOVE_NEXT, err);
    case DEBUG_CMD_BARRIER:
        return debug_go(d, DEBUG_MOVE_BARRIER, 1, err);
    case DEBUG_CMD_UNTIL:
        return until(d, line, err);
    case DEBUG_CMD_FINISH:
        return debug_go(d, DEBUG_MOVE_FINISH, 1, err);
    case DEBUG_CMD_KILL:
        return kill_(d, err);
    case DEBUG_CMD_INFO:
        return debug_info(d, line, err);
    case DEBUG_CMD_PRINT:
        return debug_print(d, line, err);
    case DEBUG_CMD_EXAMINE:
        return debug_examine(d, line, err);
    case DEBUG_CMD_SET:
        return debug_set(d, line, err);
    case DEBUG_CMD_WAVE:
        return select_wave(d, line, err);
    case DEBUG_CMD_GROUP:
        return select_group(d, line, err);
    case DEBUG_CMD_DISASSEMBLE:
        return debug_disassemble(d, line, err);
    case DEBUG_CMD_LIST:
        return debug_list(d, line, err);
    case DEBUG_CMD_BACKTRACE:
        return debug_backtrace(d, err);
    case DEBUG_CMD_DIRECTORY:
        return debug_directory(d, line, err);
    case DEBUG_CMD_ECHO:
        fprintf(d->out, "%.*s\n", (int)line->args_bytes, line->args);
        return LS_OK;
    case DEBUG_CMD_SOURCE:
        return source(d, line, err);
    case DEBUG_CMD_HELP:
        return help(d, line, err);
    case DEBUG_CMD_QUIT:
        d->wants_quit = d->is_moving = true;
        return LS_OK;
    default:
        return LS_OK;
    }
}

/* ----------------------------------------------------------------------------------------- conversation */

/* Scripts in their order, then the user. NULL: nothing is left. */
static const char *next_line(debugger *d)
{
    const char *line = debug_input_script_line(&d->input, d->out);
    if (line || d->options->batch)
        return line;
    return debug_input_user_line(&d->input, d->out);
}

/* A wrong line of a script ends the scripts; in batch also the debugger. */
static void complain(debugger *d, const ls_error *err)
{
    char text[900];
    if (d->input.from_script && d->options->batch) {
        d->failure = *err;
        if (!d->failure.where[0])
            ls_error_at(&d->failure, d->input.where, 0, 0);
        d->script_failed = d->wants_quit = d->is_moving = true;
        return;
    }
    fprintf(d->out, "%s\n", ls_error_text(err, text, sizeof text));
    if (d->input.from_script)
        debug_input_drop(&d->input);
}

bool debug_talk(debugger *d)
{
    if (d->gdb)
        return debug_gdb_talk(d->gdb);
    d->is_moving = d->wants_kill = false;
    while (!d->is_moving) {
        debug_line line;
        ls_error err;
        const char *text = next_line(d);
        if (!text) {
            d->wants_quit = true;
            break;
        }
        /* On a terminal an empty line is the last one again, as in gdb. */
        if (*text == '\0' && d->input.is_terminal && !d->input.from_script)
            text = d->last;
        ls_status status = debug_line_parse(text, &line, &err);
        if (status == LS_OK)
            status = debug_execute(d, &line, &err);
        if (status != LS_OK)
            complain(d, &err);
        if (text != d->last)
            snprintf(d->last, sizeof d->last, "%s", text);
    }
    return !d->wants_quit && !d->wants_kill;
}

static void run_program(debugger *d)
{
    ls_error err;
    char count[LS_FORMAT_BYTES];
    d->where = DEBUG_BETWEEN;
    d->wants_run = false;
    d->has_status = false;
    d->launches = d->instructions = d->fault_launch = 0;
    /* A client finds the program at its first instruction. */
    d->move = (debug_move){ .kind = d->gdb ? DEBUG_MOVE_ANY : DEBUG_MOVE_RUN };
    ls_time end = 0;
    ls_status status = d->options->run(d->options->self, &d->hooks, &end, &err);
    d->where = DEBUG_NOT_RUNNING;
    d->launch = NULL;
    d->stop = NULL;
    d->lines_of = NULL;
    if (d->wants_quit)
        return;
    if (d->wants_kill) {
        d->wants_kill = false;
        fprintf(d->out, "[The program was ended]\n");
        return;
    }
    debug_break_unfound(d);
    char time[60];
    if (d->move.kind == DEBUG_MOVE_TIME)
        fprintf(d->out, "[No instruction was executed at %s or later]\n",
                debug_time_text(d->move.until, time, sizeof time));
    d->has_status = status != LS_OK;
    if (status != LS_OK) {
        d->failure = err;
        fprintf(d->out, "[The program failed: %s]\n", err.what);
        return;
    }
    fprintf(d->out, "[The program ended after %" PRIu64 " launch%s with %s instructions", d->launches,
            d->launches == 1 ? "" : "es", format_count(d->instructions, count, sizeof count));
    if (end != 0)
        fprintf(d->out, " at %s", debug_time_text(end, time, sizeof time));
    fputs("]\n", d->out);
}

/* Names of the program for completion: kernels, arguments, source files. NULL past the last. */
static const char *program_name(void *self, size_t i)
{
    const debugger *d = self;
    const ls_gpu_kernel_info *info = debug_kernel(d);
    if (!info)
        return NULL;
    const hsa_object *object = d->launch->dispatch->origin->module->object;
    if (i < object->kernel_count)
        return object->kernels[i].name;
    i -= object->kernel_count;
    if (i < info->arg_count)
        return info->args[i].name;
    const char *file = d->lines ? hsa_lines_file(d->lines, i - info->arg_count) : NULL;
    return file ? hsa_lines_base(file) : NULL;
}

static ls_status push_scripts(debugger *d, ls_error *err)
{
    ls_status status = LS_OK;
    /* A stack: the first script is on top. */
    if (d->options->script_count > DEBUG_SCRIPT_DEPTH)
        return ls_fail(err, LS_ERR_USAGE, "more than %d scripts and commands: put them into one file",
                       DEBUG_SCRIPT_DEPTH);
    for (size_t i = d->options->script_count; i-- > 0 && status == LS_OK;) {
        const debug_script *s = &d->options->scripts[i];
        status = s->is_file ? debug_input_push_file(&d->input, s->text, err)
                            : debug_input_push_text(&d->input, s->text, err);
    }
    return status;
}

static void fini(debugger *d)
{
    for (size_t i = 0; i < d->directories.count; i++)
        free(d->directories.at[i]);
    vec_fini(&d->directories);
    vec_fini(&d->breaks);
    vec_fini(&d->calls);
    hsa_lines_destroy(d->lines);
    free(d->marks);
    debug_input_fini(&d->input);
    free(d);
}

/* The commands come from a client of the remote protocol. The program runs once. */
static ls_status serve_gdb(debugger *d, ls_error *err)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return ls_fail(err, LS_ERR_IO, "/dev/null cannot be opened");
    ls_status status = debug_gdb_open(d, d->options->gdb_port, d->options->out, &d->gdb, err);
    d->out = nowhere;
    if (status == LS_OK) {
        run_program(d);
        debug_gdb_ended(d->gdb, d->has_status ? ls_status_exit_code(d->failure.status) : 0);
        if (debug_gdb_lost(d->gdb))
            fprintf(d->options->out, "[%s: the program was ended]\n", debug_gdb_lost(d->gdb));
    }
    debug_gdb_close(d->gdb);
    d->wants_quit = true;
    fclose(nowhere);
    return status;
}

ls_status debug_main(const debug_options *options, ls_error *err)
{
    debugger *d = calloc(1, sizeof *d);
    if (!d)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    d->options = options;
    d->out = options->out;
    debug_input_init(&d->input);
    d->input.name = program_name;
    d->input.name_self = d;
    debug_hooks_init(d);
    ls_status status = options->gdb ? serve_gdb(d, err) : push_scripts(d, err);
    while (status == LS_OK && !d->wants_quit) {
        (void)debug_talk(d);
        if (d->wants_run && !d->wants_quit)
            run_program(d);
    }
    if (status == LS_OK && (d->has_status || d->script_failed)) {
        *err = d->failure;
        status = d->failure.status;
    }
    fini(d);
    return status;
}
