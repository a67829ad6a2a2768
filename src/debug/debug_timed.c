/* debug_timed.c: the program in simulated time: when and where a wave is, what it waits for, all waves of the machine, and
 * the levels of the memory that have an address. Everything here reads the machine and changes nothing. */
#include "debug/debug_impl.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FLIGHTS 64
#define COPIES 128

/* ---------------------------------------------------------------------------------------------- the place */

bool debug_look(const debugger *d, uint32_t wave, cu_look *out)
{
    uint16_t slots[LS_CU_WAVES_PER_GROUP_MAX];
    if (!d->stop || !d->stop->unit)
        return false;
    uint32_t count = cu_debug_group(d->stop->unit->cu, d->stop->unit->wave, slots);
    return wave < count && cu_debug_look(d->stop->unit->cu, slots[wave], out);
}

static uint32_t slot_of(const debugger *d, uint32_t wave)
{
    uint16_t slots[LS_CU_WAVES_PER_GROUP_MAX];
    (void)cu_debug_group(d->stop->unit->cu, d->stop->unit->wave, slots);
    return slots[wave];
}

uint64_t debug_wave_count(const debugger *d, uint32_t wave)
{
    cu_look look;
    return debug_look(d, wave, &look) ? look.issued : d->stop->waves[wave]->time;
}

const char *debug_time_text(ls_time time, char *out, size_t bytes)
{
    uint64_t ns = time / 1000000, rest = time % 1000000;
    if (rest == 0)
        snprintf(out, bytes, "%" PRIu64 " ns", ns);
    else
        snprintf(out, bytes, "%" PRIu64 ".%06" PRIu64 " ns", ns, rest);
    return out;
}

void debug_say_place(debugger *d)
{
    cu_look look;
    char time[60];
    if (!d->stop->unit)
        return;
    debug_time_text(d->stop->unit->time, time, sizeof time);
    if (debug_look(d, d->wave, &look))
        fprintf(d->out, "[%s, %s, SIMD %u, slot %u]\n", time, look.name, look.simd, look.slot);
    else
        fprintf(d->out, "[%s]\n", time);
}

static ls_status need_time(const debugger *d, ls_error *err)
{
    if (d->stop && !d->stop->unit)
        return ls_fail(err, LS_ERR_USAGE,
                       "the program is emulated and has no simulated time: --platform simulates it");
    return d->stop ? LS_OK : ls_fail(err, LS_ERR_USAGE, "the program is not running: 'run' starts it");
}

ls_status debug_info_time(debugger *d, ls_error *err)
{
    cu_look look;
    char time[60];
    ls_status status = need_time(d, err);
    if (status != LS_OK)
        return status;
    fprintf(d->out, "simulated time %s", debug_time_text(d->stop->unit->time, time, sizeof time));
    if (debug_look(d, d->wave, &look))
        fprintf(d->out, ", cycle %" PRIu64 " of the compute units; the wave is on %s, SIMD %u, slot %u",
                (uint64_t)look.cycle, look.name, look.simd, look.slot);
    fputc('\n', d->out);
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- waits */

static const char *const counter_names[CU_COUNTERS] = { "vmcnt", "lgkmcnt", "expcnt", "vscnt" };

void debug_say_counters(debugger *d, const amd_wave *wave)
{
    cu_look look;
    bool timed = debug_look(d, d->wave, &look), has_vs = amd_target_is_gfx10((amd_target)wave->target);
    fprintf(d->out, "count %" PRIu64 " instructions;", debug_wave_count(d, d->wave));
    for (unsigned i = 0; i < (has_vs ? CU_COUNTERS : CU_COUNTERS - 1u); i++) {
        static const unsigned order[CU_COUNTERS] = { CU_VM, CU_EXP, CU_LGKM, CU_VS };
        fprintf(d->out, "%s %s %u", i ? " " : "", counter_names[order[i]], timed ? look.counter[order[i]] : 0);
    }
    fputs(timed ? "\n" : " (an emulated access is over at once)\n", d->out);
}

static void print_flight(debugger *d, const cu_flight *f, ls_cycle now)
{
    char pc[320], text[256] = "", counters[60] = "";
    amd_print(d->launch->program->kernel.target, d->launch->program->lanes, f->inst, text, sizeof text);
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if ((f->counters >> i & 1) != 0) {
            size_t used = strlen(counters);
            snprintf(counters + used, sizeof counters - used, "%s%s", used ? "+" : "", counter_names[i]);
        }
    fprintf(d->out, "  %-8s %s: %s, for %" PRIu64 " cycles; ", counters,
            debug_pc_text(d, f->pc, pc, sizeof pc), text, (uint64_t)(now - f->issued));
    if (f->is_complete)
        fputs("answered, older ones return first\n", d->out);
    else if (f->lines == 0)
        fputs("in LDS or without memory\n", d->out);
    else
        fprintf(d->out, "%u line%s, %u sent, %u answered\n", f->lines, f->lines == 1 ? "" : "s", f->sent,
                f->back);
}

ls_status debug_info_waits(debugger *d, ls_error *err)
{
    cu_look look;
    cu_flight flights[FLIGHTS];
    char text[300];
    ls_status status = need_time(d, err);
    if (status != LS_OK)
        return status;
    if (!debug_look(d, d->wave, &look))
        return ls_fail(err, LS_ERR_USAGE, "the work-group has ended");
    const uint32_t *g = look.id;
    cu_debug_waits(d->stop->unit->cu, slot_of(d, d->wave), text, sizeof text);
    fprintf(d->out, "wave %u,%u,%u.%u: %s\n", g[0], g[1], g[2], d->wave, text);
    size_t count = cu_debug_flights(d->stop->unit->cu, slot_of(d, d->wave), flights, FLIGHTS);
    for (size_t i = 0; i < count && i < FLIGHTS; i++)
        print_flight(d, &flights[i], look.cycle);
    if (count > FLIGHTS)
        fprintf(d->out, "  and %zu more\n", count - FLIGHTS);
    if (count == 0)
        fputs("  no memory instruction of it is under way\n", d->out);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- all the waves */

/* Calls `each` for every wave of the machine, unit by unit; it returns false to stop. */
static void for_waves(const debugger *d,
                      bool (*each)(void *self, void *unit, uint32_t slot, const cu_look *look), void *self)
{
    const drv_view *view = d->launch->view;
    uint32_t gpu;
    void *unit;
    for (size_t i = 0; (unit = view->unit(view->self, i, &gpu)) != NULL; i++)
        for (uint32_t slot = 0; slot < cu_debug_slots(unit); slot++) {
            cu_look look;
            if (cu_debug_look(unit, slot, &look) && !each(self, unit, slot, &look))
                return;
        }
}

typedef struct wanted_wave {
    const debugger *d;
    const uint32_t *group;
    uint32_t wave, slot;
    void *unit; /* NULL: not found */
} wanted_wave;

static bool match_wave(void *self, void *unit, uint32_t slot, const cu_look *look)
{
    wanted_wave *w = self;
    bool is_it = look->kernel->program == w->d->launch->program && look->arch->index == w->wave &&
                 look->kernel->number + 1 == w->d->launch->number &&
                 memcmp(look->id, w->group, sizeof(uint32_t[3])) == 0;
    if (!is_it)
        return true;
    w->unit = unit;
    w->slot = slot;
    return false;
}

ls_status debug_view_wave(debugger *d, const uint32_t group[3], uint32_t wave, ls_error *err)
{
    wanted_wave wanted = { .d = d, .group = group, .wave = wave };
    for_waves(d, match_wave, &wanted);
    if (!wanted.unit)
        return ls_fail(err, LS_ERR_USAGE, "wave %u,%u,%u.%u is not on a compute unit now: see 'info groups'",
                       group[0], group[1], group[2], wave);
    uint16_t slots[LS_CU_WAVES_PER_GROUP_MAX];
    uint32_t count = cu_debug_group(wanted.unit, wanted.slot, slots);
    for (uint32_t i = 0; i < count; i++)
        d->viewed_waves[i] = cu_debug_arch(wanted.unit, slots[i]);
    cu_look look;
    (void)cu_debug_look(wanted.unit, wanted.slot, &look);
    d->viewed_unit = *d->stop->unit;
    d->viewed_unit.cu = wanted.unit;
    d->viewed_unit.wave = wanted.slot;
    d->viewed_unit.pc = look.pc;
    d->viewed_unit.inst = amd_program_at(d->launch->program, look.pc);
    d->viewed = (emulate_stop){ .program = d->launch->program,
                                .waves = d->viewed_waves,
                                .wave_count = count,
                                .wave = wave,
                                .inst = d->viewed_unit.inst,
                                .pc = look.pc,
                                .work_group = look.id,
                                .unit = &d->viewed_unit };
    d->stop = &d->viewed;
    d->wave = wave;
    return LS_OK;
}

typedef struct group_list {
    debugger *d;
    uint32_t groups;
} group_list;

static bool print_group(void *self, void *unit, uint32_t slot, const cu_look *look)
{
    group_list *list = self;
    uint16_t slots[LS_CU_WAVES_PER_GROUP_MAX];
    uint32_t count = cu_debug_group(unit, slot, slots), running = 0;
    if (look->arch->index != 0)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        cu_look other;
        running += cu_debug_look(unit, slots[i], &other) && !other.has_ended;
    }
    bool here = list->d->stop->unit->cu == unit &&
                memcmp(look->id, list->d->stop->work_group, sizeof(uint32_t[3])) == 0;
    char id[48];
    snprintf(id, sizeof id, "%u,%u,%u", look->id[0], look->id[1], look->id[2]);
    fprintf(list->d->out, "%c %-12s %-20s %s, %u of %u wave%s run\n", here ? '*' : ' ', id, look->name,
            look->kernel->program->name, running, count, count == 1 ? "" : "s");
    list->groups++;
    return true;
}

ls_status debug_timed_groups(debugger *d)
{
    group_list list = { .d = d };
    for_waves(d, print_group, &list);
    fprintf(d->out, "%u work-group%s on compute units\n", list.groups, list.groups == 1 ? "" : "s");
    return LS_OK;
}

typedef struct wave_call {
    bool (*each)(void *self, const uint32_t id[3], uint32_t wave, const char *place);
    void *self;
    const debugger *d;
} wave_call;

static bool call_wave(void *self, void *unit, uint32_t slot, const cu_look *look)
{
    const wave_call *call = self;
    char place[120];
    (void)unit, (void)slot;
    if (look->has_ended || look->kernel->number + 1 != call->d->launch->number)
        return true;
    snprintf(place, sizeof place, "%s SIMD %u slot %u", look->name, look->simd, look->slot);
    return call->each(call->self, look->id, look->arch->index, place);
}

void debug_each_wave(const debugger *d,
                     bool (*each)(void *self, const uint32_t id[3], uint32_t wave, const char *place),
                     void *self)
{
    wave_call call = { .each = each, .self = self, .d = d };
    if (!d->stop)
        return;
    if (d->stop->unit) {
        for_waves(d, call_wave, &call);
        return;
    }
    for (uint32_t i = 0; i < d->stop->wave_count; i++)
        if (d->stop->waves[i]->stop != AMD_ENDED && !each(self, d->stop->work_group, i, "emulated"))
            return;
}

void debug_timed_waves(debugger *d)
{
    const emulate_stop *s = d->stop;
    fprintf(d->out, "  %-14s%-10s%-20s%-12s%s\n", "wave", "count", "exec", "SIMD.slot", "pc");
    for (uint32_t i = 0; i < s->wave_count; i++) {
        cu_look look;
        char name[64], mask[32], pc[320], place[24], why[300];
        if (!debug_look(d, i, &look))
            continue;
        snprintf(name, sizeof name, "%u,%u,%u.%u", look.id[0], look.id[1], look.id[2], i);
        snprintf(mask, sizeof mask, "0x%0*" PRIx64, look.arch->lanes / 4, amd_wave_exec(look.arch));
        snprintf(place, sizeof place, "%u.%u", look.simd, look.slot);
        fprintf(d->out, "%c %-14s%-10" PRIu64 "%-20s%-12s%s\n", i == d->wave ? '*' : ' ', name, look.issued,
                mask, place, look.has_ended ? "-" : debug_pc_text(d, look.pc, pc, sizeof pc));
        cu_debug_waits(s->unit->cu, slot_of(d, i), why, sizeof why);
        fprintf(d->out, "    %s\n", why);
    }
}

/* -------------------------------------------------------------------------------------------------- memory */

ls_status debug_info_memory(debugger *d, const char *text, ls_error *err)
{
    debug_address at;
    const char *end;
    drv_copy copies[COPIES];
    char where[320];
    uint64_t newest = 0;
    ls_status status = need_time(d, err);
    if (status == LS_OK && !*text)
        status = ls_fail(err, LS_ERR_USAGE, "info memory ADDRESS");
    if (status == LS_OK)
        status = debug_address_parse(d, text, &at, &end, err);
    if (status == LS_OK && (*end || at.in_lds))
        status = ls_fail(err, LS_ERR_USAGE, "'%s' is no address of memory that has levels", text);
    if (status == LS_OK)
        status = debug_memory(d, at, &newest, 4, err);
    if (status != LS_OK)
        return status;
    const drv_view *view = d->launch->view;
    size_t count = view->copies(view->self, at.at, 4, copies, COPIES);
    fprintf(d->out, "%s: newest 0x%08" PRIx64 "\n", debug_address_text(d, at, where, sizeof where), newest);
    for (size_t i = 0; i < count && i < COPIES; i++) {
        const drv_copy *c = &copies[i];
        fprintf(d->out, "  %-31s ", c->name);
        for (int k = 3; k >= 0; k--)
            if ((c->has >> k & 1) != 0)
                fprintf(d->out, "%02x", (unsigned)(c->value >> 8 * k & 0xff));
            else
                fputs("--", d->out);
        fprintf(d->out, "%s\n", c->has_newer ? "  written here" : "");
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ until TIME */

bool debug_is_time(const char *text, size_t bytes)
{
    ls_time time;
    return bytes > 1 && text[0] >= '0' && text[0] <= '9' && text[bytes - 1] > '9' &&
           memchr(text, ':', bytes) == NULL &&
           (parse_time(text, bytes, &time, NULL) == LS_OK ||
            (bytes > 6 && memcmp(text + bytes - 6, "cycles", 6) == 0));
}

ls_status debug_until_time(debugger *d, const char *text, size_t bytes, ls_error *err)
{
    ls_time time;
    uint64_t cycles;
    ls_status status = need_time(d, err);
    if (status != LS_OK)
        return status;
    if (bytes > 6 && memcmp(text + bytes - 6, "cycles", 6) == 0) {
        status = parse_u64(text, bytes - 6, &cycles, err);
        time = status == LS_OK ? ls_clock_time(d->launch->view->clock, cycles) : 0;
    } else {
        status = parse_time(text, bytes, &time, err);
    }
    if (status != LS_OK) {
        err->status = LS_ERR_USAGE;
        return LS_ERR_USAGE;
    }
    char now[60];
    if (time <= d->stop->unit->time)
        return ls_fail(err, LS_ERR_USAGE, "%.*s is over: it is %s", (int)bytes, text,
                       debug_time_text(d->stop->unit->time, now, sizeof now));
    status = debug_go(d, DEBUG_MOVE_TIME, 1, err);
    d->move.until = time;
    return status;
}
