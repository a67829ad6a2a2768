/* debug_break.c: break points, watch points and catch points. */
#include "debug/debug_impl.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = { "breakpoint", "watchpoint", "read watchpoint", "acc watchpoint",
                                          "catchpoint" };

/* ---------------------------------------------------------------------------------------------- resolving */

/* The addresses of a location in the launch that runs. A line is moved to one that has code. */
static size_t find_places(debugger *d, debug_location *at, uint64_t *out)
{
    const amd_program *program = d->launch->program;
    uint64_t base = d->launch->dispatch->origin->module->base, images[DEBUG_PLACES];
    if (at->kind == DEBUG_AT_KERNEL) {
        uint64_t begin;
        if (strcmp(at->name, program->name) == 0)
            out[0] = program->kernel.entry + at->number;
        else if (d->lines && hsa_lines_function(d->lines, at->name, &begin))
            out[0] = base + begin + at->number;
        else
            return 0;
        return amd_program_at(program, out[0]) != NULL;
    }
    if (at->kind == DEBUG_AT_ADDRESS) {
        out[0] = at->number;
        return amd_program_at(program, at->number) != NULL;
    }
    if (!d->lines)
        return 0;
    uint32_t line = (uint32_t)at->number;
    size_t count = hsa_lines_starts(d->lines, at->name, &line, images, DEBUG_PLACES), kept = 0;
    for (size_t i = 0; i < count && i < DEBUG_PLACES; i++)
        if (amd_program_at(program, base + images[i]))
            out[kept++] = base + images[i];
    if (kept > 0)
        at->number = line;
    return kept;
}

void debug_break_resolve(debugger *d)
{
    if (!d->launch)
        return;
    const amd_program *program = d->launch->program;
    free(d->marks);
    d->marks = calloc((size_t)program->op_count + 1, 1);
    for (size_t i = 0; i < d->breaks.count; i++) {
        debug_break *b = &d->breaks.at[i];
        b->pc_count = b->kind == DEBUG_BREAK ? find_places(d, &b->location, b->pcs) : 0;
        b->was_found |= b->pc_count > 0;
        for (size_t k = 0; d->marks && k < b->pc_count; k++)
            d->marks[amd_program_place(program, b->pcs[k])] = !b->is_disabled;
    }
}

void debug_break_unfound(debugger *d)
{
    for (size_t i = 0; i < d->breaks.count; i++) {
        const debug_break *b = &d->breaks.at[i];
        if (b->kind == DEBUG_BREAK && !b->was_found && !b->is_disabled && !b->is_gdb)
            fprintf(d->out, "[Breakpoint %u: no launch had an instruction at %s]\n", b->number, b->text);
    }
}

/* ------------------------------------------------------------------------------------------------ making */

static ls_status add(debugger *d, debug_break *b, ls_error *err)
{
    b->number = ++d->last_number;
    return vec_push(&d->breaks, *b) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* "LOCATION if CONDITION": bytes of the location; the condition is copied. */
static ls_status split_condition(const debug_line *line, debug_break *b, size_t *bytes, ls_error *err)
{
    const char *text = line->args;
    size_t n = line->args_bytes;
    *bytes = n;
    for (size_t i = 0; i + 3 <= n; i++) {
        bool begins = i == 0 || text[i - 1] == ' ';
        if (!begins || memcmp(text + i, "if", 2) != 0 || (text[i + 2] != ' ' && text[i + 2] != '('))
            continue;
        if (n - i - 2 >= sizeof b->condition)
            return ls_fail(err, LS_ERR_USAGE, "the condition is too long");
        memcpy(b->condition, text + i + 2, n - i - 2);
        b->condition[n - i - 2] = '\0';
        *bytes = i;
        while (*bytes > 0 && text[*bytes - 1] == ' ')
            --*bytes;
        return LS_OK;
    }
    return LS_OK;
}

/* A location without a name is in the current kernel or file. */
static ls_status complete_location(debugger *d, debug_location *at, ls_error *err)
{
    hsa_place here;
    if (at->kind == DEBUG_AT_HERE) {
        if (!debug_wave(d, err))
            return LS_ERR_USAGE;
        at->kind = DEBUG_AT_ADDRESS;
        at->number = debug_wave_pc(d, d->wave);
    } else if (at->kind == DEBUG_AT_LINE && !*at->name) {
        if (!d->stop || !debug_place_of(d, debug_wave_pc(d, d->wave), &here))
            return ls_fail(err, LS_ERR_USAGE, "which file? The program stands in none: FILE:LINE");
        snprintf(at->name, sizeof at->name, "%s", hsa_lines_base(here.file));
    }
    return LS_OK;
}

static void name_location(const debugger *d, const debug_location *at, char *out, size_t bytes)
{
    char pc[320];
    if (at->kind == DEBUG_AT_LINE)
        snprintf(out, bytes, "%.200s:%" PRIu64, at->name, at->number);
    else if (at->kind == DEBUG_AT_KERNEL && at->number == 0)
        snprintf(out, bytes, "%s", at->name);
    else if (at->kind == DEBUG_AT_KERNEL)
        snprintf(out, bytes, "%s+0x%" PRIx64, at->name, at->number);
    else if (d->launch)
        snprintf(out, bytes, "%.270s", debug_pc_text(d, at->number, pc, sizeof pc));
    else
        snprintf(out, bytes, "*0x%" PRIx64, at->number);
}

/* A kernel or function that the loaded module does not have is a mistake. */
static ls_status check_kernel(const debugger *d, const debug_location *at, ls_error *err)
{
    if (at->kind != DEBUG_AT_KERNEL || !d->launch)
        return LS_OK;
    const hsa_object *object = d->launch->dispatch->origin->module->object;
    uint64_t begin;
    if (hsa_object_find(object, at->name) || (d->lines && hsa_lines_function(d->lines, at->name, &begin)))
        return LS_OK;
    ls_fail(err, LS_ERR_USAGE, "the code object has no kernel '%s'", at->name);
    return ls_error_nearest(err, hsa_object_nearest(object, at->name));
}

/* "Breakpoint 1 at fir+0x40: fir.cl:12" */
static void say_made(debugger *d, const debug_break *b)
{
    const char *what = b->is_temporary ? "Temporary breakpoint" : "Breakpoint";
    char pc[320];
    hsa_place place;
    if (b->pc_count == 0) {
        fprintf(d->out, "%s %u (%s) pending\n", what, b->number, b->text);
        return;
    }
    fprintf(d->out, "%s %u at %s", what, b->number, debug_pc_text(d, b->pcs[0], pc, sizeof pc));
    if (debug_place_of(d, b->pcs[0], &place))
        fprintf(d->out, ": %s:%u", hsa_lines_base(place.file), place.line);
    if (b->pc_count > 1)
        fprintf(d->out, " (%zu places)", b->pc_count);
    fputc('\n', d->out);
}

ls_status debug_break_add(debugger *d, const debug_line *line, bool temporary, ls_error *err)
{
    debug_break b = { .kind = DEBUG_BREAK, .is_temporary = temporary };
    size_t bytes;
    ls_status status = split_condition(line, &b, &bytes, err);
    if (status == LS_OK)
        status = debug_location_parse(line->args, bytes, &b.location, err);
    if (status == LS_OK)
        status = complete_location(d, &b.location, err);
    if (status == LS_OK)
        status = check_kernel(d, &b.location, err);
    if (status != LS_OK)
        return status;
    uint64_t places[DEBUG_PLACES];
    if (d->launch && b.location.kind != DEBUG_AT_KERNEL && find_places(d, &b.location, places) == 0) {
        if (b.location.kind == DEBUG_AT_LINE && !d->lines)
            return ls_fail(err, LS_ERR_USAGE, "%s", d->lines_error.what);
        return ls_fail(err, LS_ERR_USAGE, "no instruction of kernel %s is there", d->launch->program->name);
    }
    name_location(d, &b.location, b.text, sizeof b.text);
    status = add(d, &b, err);
    if (status == LS_OK) {
        debug_break_resolve(d);
        say_made(d, &d->breaks.at[d->breaks.count - 1]);
    }
    return status;
}

ls_status debug_watch_add(debugger *d, const debug_line *line, debug_stop_kind kind, ls_error *err)
{
    debug_break b = { .kind = kind, .bytes = 4 };
    const char *end, *colon;
    char text[300];
    if (line->args_bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "which bytes? ADDRESS[:BYTES] or lds:OFFSET[:BYTES]");
    snprintf(text, sizeof text, "%.*s", (int)line->args_bytes, line->args);
    ls_status status = debug_address_parse(d, text, &b.address, &end, err);
    if (status != LS_OK)
        return status;
    colon = *end == ':' ? end + 1 : NULL;
    uint64_t bytes = 4;
    if (colon && (parse_u64(colon, strlen(colon), &bytes, NULL) != LS_OK || bytes == 0 || bytes > 4096))
        return ls_fail(err, LS_ERR_USAGE, "'%s' is no number of bytes from 1 to 4096", colon);
    if (!colon && *end)
        return ls_fail(err, LS_ERR_USAGE, "'%s' is too much: ADDRESS[:BYTES]", end);
    b.bytes = (uint32_t)bytes;
    debug_address_text(d, b.address, text, sizeof text);
    snprintf(b.text, sizeof b.text, "%.270s", text);
    status = add(d, &b, err);
    if (status == LS_OK) {
        static const char *const names[] = { "", "Watchpoint", "Read watchpoint", "Access watchpoint" };
        fprintf(d->out, "%s %u: %u bytes at %s\n", names[kind], d->last_number, b.bytes, b.text);
    }
    return status;
}

ls_status debug_catch_add(debugger *d, const debug_line *line, ls_error *err)
{
    debug_break b = { .kind = DEBUG_CATCH_LAUNCH, .text = "launch" };
    if (line->args_bytes == 5 && memcmp(line->args, "fault", 5) == 0) {
        fprintf(d->out, "Faults always stop.\n");
        return LS_OK;
    }
    if (line->args_bytes != 6 || memcmp(line->args, "launch", 6) != 0)
        return ls_fail(err, LS_ERR_USAGE, "catch launch, or catch fault");
    ls_status status = add(d, &b, err);
    if (status == LS_OK)
        fprintf(d->out, "Catchpoint %u (launch)\n", d->last_number);
    return status;
}

/* ---------------------------------------------------------------------------------------------- changing */

static void remove_at(debugger *d, size_t i)
{
    memmove(&d->breaks.at[i], &d->breaks.at[i + 1], (d->breaks.count - i - 1) * sizeof *d->breaks.at);
    d->breaks.count--;
}

static size_t find_number(const debugger *d, uint64_t number)
{
    for (size_t i = 0; i < d->breaks.count; i++)
        if (d->breaks.at[i].number == number)
            return i;
    return SIZE_MAX;
}

ls_status debug_break_change(debugger *d, const debug_line *line, ls_error *err)
{
    const char *p = line->args, *end = p + line->args_bytes;
    if (p == end && line->id == DEBUG_CMD_DELETE)
        vec_clear(&d->breaks);
    for (size_t i = 0; p == end && i < d->breaks.count; i++)
        d->breaks.at[i].is_disabled = line->id == DEBUG_CMD_DISABLE;
    while (p < end) {
        size_t n = strcspn(p, " ");
        if (n > (size_t)(end - p))
            n = (size_t)(end - p);
        uint64_t number = 0;
        size_t i = parse_u64(p, n, &number, NULL) == LS_OK ? find_number(d, number) : SIZE_MAX;
        if (i == SIZE_MAX)
            return ls_fail(err, LS_ERR_USAGE, "there is no break point '%.*s': see 'info breakpoints'", (int)n,
                           p);
        if (line->id == DEBUG_CMD_DELETE)
            remove_at(d, i);
        else
            d->breaks.at[i].is_disabled = line->id == DEBUG_CMD_DISABLE;
        for (p += n; p < end && *p == ' ';)
            p++;
    }
    debug_break_resolve(d);
    return LS_OK;
}

bool debug_stop_change(debugger *d, debug_stop_kind kind, debug_address at, uint32_t bytes, bool insert)
{
    debug_break b = { .kind = kind, .is_gdb = true, .address = at, .bytes = bytes, .text = "gdb's" };
    ls_error err;
    if (kind == DEBUG_BREAK)
        b.location = (debug_location){ .kind = DEBUG_AT_ADDRESS, .number = at.at };
    for (size_t i = 0; i < d->breaks.count; i++) {
        const debug_break *o = &d->breaks.at[i];
        if (!o->is_gdb || o->kind != kind || o->address.at != at.at || o->address.in_lds != at.in_lds ||
            o->bytes != bytes)
            continue;
        if (!insert)
            remove_at(d, i);
        debug_break_resolve(d);
        return true;
    }
    if (insert && add(d, &b, &err) != LS_OK)
        return false;
    debug_break_resolve(d);
    return true;
}

void debug_break_list(debugger *d)
{
    if (d->breaks.count == 0) {
        fprintf(d->out, "No break points or watch points.\n");
        return;
    }
    fprintf(d->out, "%-4s%-16s%-5s%-4s%s\n", "Num", "Type", "Disp", "Enb", "What");
    for (size_t i = 0; i < d->breaks.count; i++) {
        const debug_break *b = &d->breaks.at[i];
        fprintf(d->out, "%-4u%-16s%-5s%-4s%s", b->number, kind_names[b->kind],
                b->is_temporary ? "del" : "keep", b->is_disabled ? "n" : "y", b->text);
        if (b->kind == DEBUG_WATCH || b->kind == DEBUG_RWATCH || b->kind == DEBUG_AWATCH)
            fprintf(d->out, ", %u bytes", b->bytes);
        if (*b->condition)
            fprintf(d->out, " if%s", b->condition);
        if (b->kind == DEBUG_BREAK && d->launch && b->pc_count == 0)
            fprintf(d->out, " (not in this kernel)");
        fputc('\n', d->out);
        if (b->hits > 0)
            fprintf(d->out, "\tstopped %" PRIu64 " time%s\n", b->hits, b->hits == 1 ? "" : "s");
    }
}

/* ----------------------------------------------------------------------------------------------- hitting */

/* Whether the condition holds; one that cannot be computed stops, with its reason. */
static bool condition_holds(debugger *d, const debug_break *b)
{
    debug_scope scope = debug_scope_of(d);
    const char *end;
    ls_error err;
    uint64_t value = 0;
    if (!*b->condition)
        return true;
    uint32_t selected = d->wave;
    d->wave = d->stop->wave;
    ls_status status = debug_eval(b->condition, &scope, &value, &end, &err);
    d->wave = selected;
    if (status == LS_OK && *end == '\0')
        return value != 0;
    fprintf(d->out, "Breakpoint %u: the condition cannot be computed: %s\n", b->number,
            status == LS_OK ? end : err.what);
    return true;
}

static bool is_at(const debugger *d, const debug_break *b)
{
    if (b->kind == DEBUG_CATCH_LAUNCH)
        return d->launch_first_count == 1;
    for (size_t i = 0; i < b->pc_count; i++)
        if (b->pcs[i] == d->stop->pc)
            return true;
    return false;
}

bool debug_break_hit(debugger *d, debug_break *out)
{
    uint32_t place = amd_program_place(d->launch->program, d->stop->pc);
    if (d->launch_first_count != 1 && (!d->marks || !d->marks[place]))
        return false;
    bool stops = false;
    for (size_t i = 0; i < d->breaks.count; i++) {
        debug_break *b = &d->breaks.at[i];
        if (b->is_disabled || !is_at(d, b) || !condition_holds(d, b))
            continue;
        b->hits++;
        if (b->ignore > 0) {
            b->ignore--;
            continue;
        }
        if (!stops)
            *out = *b;
        stops = true;
        if (b->is_temporary)
            remove_at(d, i--);
    }
    if (stops && out->is_temporary)
        debug_break_resolve(d);
    return stops;
}

/* ---------------------------------------------------------------------------------------------- watching */

static bool watches(const debug_break *b, unsigned access_kind)
{
    if (b->is_disabled || b->kind == DEBUG_BREAK || b->kind == DEBUG_CATCH_LAUNCH)
        return false;
    if (access_kind == AMD_ACCESS_ATOMIC)
        return true;
    return access_kind == AMD_ACCESS_STORE ? b->kind != DEBUG_RWATCH : b->kind != DEBUG_WATCH;
}

/* The first piece of the access that touches the bytes. */
static bool touches(const amd_access *a, const debug_break *b, debug_hit *out)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        if (!(a->lanes >> lane & 1))
            continue;
        bool in_lds = a->space == AMD_SPACE_LDS || (a->space == AMD_SPACE_FLAT && (a->in_lds >> lane & 1));
        if (in_lds != b->address.in_lds)
            continue;
        for (unsigned piece = 0; piece < a->pieces; piece++) {
            uint64_t at = a->address[piece][lane];
            if (at < b->address.at + b->bytes && b->address.at < at + a->piece_bytes) {
                out->lane = lane;
                out->address = at;
                out->bytes = a->piece_bytes;
                return true;
            }
        }
    }
    return false;
}

static uint64_t value_at(debugger *d, debug_address at, uint32_t bytes)
{
    uint64_t value = 0;
    (void)debug_memory(d, at, &value, bytes < 8 ? bytes : 8, NULL);
    return value;
}

void debug_watch_check(debugger *d)
{
    bool any = false;
    d->hit.watch = SIZE_MAX;
    d->hit.wave = d->stop->waves[d->stop->wave];
    for (size_t i = 0; i < d->breaks.count && !any; i++)
        any = d->breaks.at[i].kind != DEBUG_BREAK && d->breaks.at[i].kind != DEBUG_CATCH_LAUNCH;
    const emulate_stop *s = d->stop;
    if (!any || !s->inst || amd_mem_kind(s->inst) == AMD_ACCESS_NONE)
        return;
    /* The addresses alone are wanted here: a fault is reported when the instruction executes. */
    amd_wave *wave = s->waves[s->wave];
    ls_fault fault = wave->fault;
    uint8_t stop = wave->stop;
    bool good = amd_mem_address(wave, s->inst, &d->access);
    wave->fault = fault;
    wave->stop = stop;
    for (size_t i = 0; good && i < d->breaks.count; i++) {
        debug_break *b = &d->breaks.at[i];
        if (!watches(b, d->access.kind) || !touches(&d->access, b, &d->hit))
            continue;
        d->hit.watch = i;
        d->hit.is_store = d->access.kind != AMD_ACCESS_LOAD;
        d->hit.old = value_at(d, b->address, b->bytes);
        return;
    }
}

/* The watched bytes with a store's data over them, lane by lane. */
static uint64_t stored_value(const amd_access *a, const debug_break *b, uint64_t old)
{
    uint32_t stride = (a->piece_bytes + 3u) & ~3u;
    for (unsigned lane = 0; lane < 64; lane++)
        for (unsigned piece = 0; (a->lanes >> lane & 1) != 0 && piece < a->pieces; piece++) {
            const uint8_t *data = (const uint8_t *)a->data[lane] + piece * stride;
            for (uint32_t i = 0; i < a->piece_bytes; i++) {
                uint64_t to = a->address[piece][lane] + i - b->address.at;
                if (to < 8 && to < b->bytes)
                    old = (old & ~(UINT64_C(0xff) << 8 * to)) | (uint64_t)data[i] << 8 * to;
            }
        }
    return old;
}

/* In simulated time the access has only begun. */
static void say_under_way(debugger *d, const debug_break *b, const debug_hit *hit)
{
    if (d->access.kind == AMD_ACCESS_STORE)
        fprintf(d->out, "Value in memory = 0x%" PRIx64 "\nNew value = 0x%" PRIx64 ", under way\n", hit->old,
                stored_value(&d->access, b, hit->old));
    else
        fprintf(d->out, "Value in memory = 0x%" PRIx64 "; the %s is under way\n", hit->old,
                d->access.kind == AMD_ACCESS_ATOMIC ? "atomic" : "load");
}

bool debug_watch_report(debugger *d)
{
    debug_hit hit = d->hit;
    d->hit.watch = SIZE_MAX;
    if (hit.watch >= d->breaks.count)
        return false;
    debug_break *b = &d->breaks.at[hit.watch];
    const emulate_stop *s = d->stop;
    char pc[320], text[256];
    b->hits++;
    if (b->ignore > 0 && b->ignore--)
        return false;
    d->stop_watch = b->kind;
    d->stop_address = b->address.at + (b->address.in_lds ? s->waves[s->wave]->group->shared_base : 0);
    amd_print(s->program->kernel.target, s->program->lanes, s->inst, text, sizeof text);
    fprintf(d->out, "%s %u: %s, lane %u %s %u bytes at %s0x%" PRIx64 "\n",
            hit.is_store ? "Watchpoint" : "Read watchpoint", b->number, b->text, hit.lane,
            hit.is_store ? "writes" : "reads", hit.bytes, b->address.in_lds ? "lds:" : "", hit.address);
    fprintf(d->out, "%s: %s\n", debug_pc_text(d, s->pc, pc, sizeof pc), text);
    uint32_t bytes = b->bytes < 8 ? b->bytes : 8;
    uint64_t now = value_at(d, b->address, bytes);
    if (s->unit && !b->address.in_lds)
        say_under_way(d, b, &hit);
    else if (hit.is_store)
        fprintf(d->out, "Old value = 0x%" PRIx64 "\nNew value = 0x%" PRIx64 "\n", hit.old, now);
    else
        fprintf(d->out, "Value = 0x%" PRIx64 "\n", now);
    return true;
}
