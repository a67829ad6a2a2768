/* timing_debug.c: the debugger in simulated time. Compute units ask it before and after each instruction
 * (model/cu/cu_debug.h). The run has one thread and windows of one cycle. So all blocks stand in the same cycle, and stops
 * come in the order of time, compute unit, wave. Results do not depend on windows, so they are those of any other run. */
#include "runtime/timing/timing_impl.h"

#include "isa/amd/exec/fault.h"
#include "model/cu/cu_debug.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------- memory */

static ls_status debug_read(void *self, uint64_t address, void *to, uint64_t bytes, ls_error *err)
{
    return timing_look_bytes(self, address, to, bytes, err);
}

static size_t debug_copies(void *self, uint64_t address, uint32_t bytes, drv_copy *out, size_t room)
{
    const timing *t = self;
    page_place at = page_table_find(t->pages, address);
    size_t count = 0;
    for (size_t i = 0; i < t->gpu_count; i++) {
        const timing_gpu *g = &t->gpus[i];
        amd_gpu_copy copies[64];
        size_t found = amd_gpu_copies(g->gpu, mem_place_physical(g->number, at.place, at.frame), bytes, copies,
                                      LS_COUNT_OF(copies));
        for (size_t k = 0; k < found && k < LS_COUNT_OF(copies); k++, count++)
            if (count < room)
                out[count] = (drv_copy){ .name = copies[k].name,
                                         .value = copies[k].value,
                                         .has = copies[k].has,
                                         .has_newer = copies[k].dirty };
    }
    return count;
}

static void *debug_unit(void *self, size_t index, uint32_t *gpu)
{
    const timing *t = self;
    for (size_t i = 0; i < t->gpu_count; i++) {
        uint32_t count = amd_gpu_cu_count(t->gpus[i].gpu);
        if (index < count) {
            *gpu = t->gpus[i].number;
            return amd_gpu_cu(t->gpus[i].gpu, (uint32_t)index)->self;
        }
        index -= count;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------- hooks */

/* Says which launch the next hook is about. */
static void choose(timing_slot *slot)
{
    timing *t = slot->debug.owner;
    if (t->debugged == slot)
        return;
    t->debugged = slot;
    t->debugger->begin(t->debugger->hooks.self, &slot->debug.launched);
    slot->debug.launched.resumes = true;
}

/* The stop as the debugger sees it: with the waves of the work-group. */
typedef struct timing_stop {
    emulate_stop stop;
    amd_wave *waves[LS_CU_WAVES_PER_GROUP_MAX];
} timing_stop;

static void make_stop(timing_slot *slot, const cu_stop *unit, timing_stop *out)
{
    uint16_t slots[LS_CU_WAVES_PER_GROUP_MAX];
    uint32_t count = cu_debug_group(unit->cu, unit->wave, slots), index = 0;
    for (uint32_t i = 0; i < count; i++) {
        out->waves[i] = cu_debug_arch(unit->cu, slots[i]);
        if (slots[i] == unit->wave)
            index = i;
    }
    choose(slot);
    out->stop = (emulate_stop){ .program = slot->debug.launched.program,
                                .waves = out->waves,
                                .wave_count = count,
                                .wave = index,
                                .inst = unit->inst,
                                .pc = unit->pc,
                                .work_group = cu_debug_arch(unit->cu, unit->wave)->group->id,
                                .unit = unit };
}

static bool before(void *self, const cu_stop *unit)
{
    timing_slot *slot = self;
    const emulate_debugger *hooks = &slot->debug.owner->debugger->hooks;
    timing_stop at;
    make_stop(slot, unit, &at);
    return hooks->before(hooks->self, &at.stop);
}

static bool after(void *self, const cu_stop *unit)
{
    timing_slot *slot = self;
    const emulate_debugger *hooks = &slot->debug.owner->debugger->hooks;
    timing_stop at;
    make_stop(slot, unit, &at);
    return hooks->after(hooks->self, &at.stop);
}

static void fault(void *self, const cu_stop *unit)
{
    timing_slot *slot = self;
    const emulate_debugger *hooks = &slot->debug.owner->debugger->hooks;
    timing_stop at;
    make_stop(slot, unit, &at);
    hooks->fault(hooks->self, &at.stop);
}

/* ------------------------------------------------------------------------------------------- for other files */

ls_status timing_debug_set_up(timing *t, const ls_gpu_debugger *debugger, ls_error *err)
{
    if (!debugger)
        return LS_OK;
    t->debugger = debugger;
    t->options.threads = 1;
    const ls_clock *clock = amd_gpu_clock(t->gpus[0].gpu);
    t->options.window_fs = ls_clock_time(clock, 1);
    t->view = (drv_view){
        .self = t, .read = debug_read, .copies = debug_copies, .unit = debug_unit, .clock = clock
    };
    for (size_t i = 0; i < t->gpu_count; i++)
        for (uint32_t k = 0; k < amd_gpu_cu_count(t->gpus[i].gpu); k++)
            if (!cu_is_model(amd_gpu_cu(t->gpus[i].gpu, k)))
                return ls_fail(err, LS_ERR_UNSUPPORTED,
                               "platform '%s' has compute units of a plug-in, which no debugger can stop",
                               config_name(t->config));
    return LS_OK;
}

void timing_debug_launch(timing *t, timing_slot *slot, const drv_work *work)
{
    ls_command_packet *p = &slot->packet;
    if (!t->debugger)
        return;
    slot->debug.owner = t;
    slot->debug.hooks = (cu_debugger){ .self = slot, .before = before, .after = after, .fault = fault };
    slot->debug.launched = (drv_launched){ .number = (uint64_t)p->kernel.number + 1,
                                           .gpu = slot->gpu,
                                           .program = p->kernel.program,
                                           .dispatch = work->dispatch,
                                           .kernarg = p->kernel.kernarg,
                                           .view = &t->view };
    p->kernel.debugger = &slot->debug.hooks;
}

void timing_debug_end(timing *t, timing_slot *slot, ls_status status)
{
    if (!t->debugger || slot->kind != DRV_WORK_LAUNCH || !slot->debug.launched.resumes)
        return;
    ls_gpu_counts counts = { 0 };
    timing_add_counts(&counts, &slot->packet);
    choose(slot);
    t->debugger->end(t->debugger->hooks.self, status, &counts);
    t->debugged = NULL;
}

/* The wave stays where it was: its compute unit keeps it until the slot is used again. An access that faults comes back
 * later than its instruction, so registers may have changed. */
void timing_debug_registers(const timing *t, const timing_slot *slot, ls_error *err)
{
    const ls_command_packet *p = &slot->packet;
    const amd_gpu *gpu = t->gpus[slot->gpu].gpu;
    char registers[AMD_FAULT_REGISTERS];
    for (uint32_t i = 0; i < amd_gpu_cu_count(gpu); i++) {
        const ls_port *port = amd_gpu_cu(gpu, i);
        const amd_wave *wave = cu_is_model(port) ? cu_debug_faulted(port->self, &p->fault) : NULL;
        if (!wave)
            continue;
        amd_fault_registers(p->kernel.program, wave, &p->fault.fault, p->fault.fault_pc, registers);
        amd_fault_add_registers(registers, err);
        return;
    }
}
