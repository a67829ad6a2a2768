/* timing_check.c: the memory checker (src/runtime/memcheck) hears of the driver's commands. All of it does nothing
 * unless the system checks memory. */
#include "runtime/timing/timing_impl.h"

#define RACE_LINES 16u

void timing_check_begin(timing *t, drv_work *work)
{
    static const memcheck_kind kinds[] = { [DRV_WORK_LAUNCH] = MEMCHECK_LAUNCH,
                                           [DRV_WORK_IN] = MEMCHECK_IN,
                                           [DRV_WORK_OUT] = MEMCHECK_OUT,
                                           [DRV_WORK_COPY] = MEMCHECK_COPY,
                                           [DRV_WORK_FILL] = MEMCHECK_FILL };
    if (!t->check)
        return;
    memcheck_work what = {
        .kind = kinds[work->kind], .to = work->to, .from = work->from, .bytes = work->bytes
    };
    if (work->kind == DRV_WORK_LAUNCH)
        what.program = ((const timing_program *)work->program)->program;
    what.data = work->kind == DRV_WORK_FILL ? work->pattern : work->host_from;
    what.pattern_bytes = work->pattern_bytes;
    work->checked = memcheck_begin(t->check, &what);
}

void timing_check_end(timing *t, const drv_work *work)
{
    if (t->check && work->checked != 0)
        memcheck_end(t->check, work->checked, work->status == LS_OK ? work->host_to : NULL);
}

void timing_check_launch(timing *t, timing_slot *slot, const drv_work *work)
{
    ls_command_packet *p = &slot->packet;
    if (!t->check)
        return;
    memcheck_write(t->check, work->checked, p->kernel.packet, slot->setup, p->transfer.bytes);
    slot->observer = memcheck_observe(t->check, t->gpus[slot->gpu].number, work->checked);
    p->kernel.observer = &slot->observer;
}

ls_status timing_check_findings(timing *t, ls_error *err)
{
    if (!t->check)
        return LS_OK;
    ls_status status = memcheck_flush(t->check, 0, err);
    uint64_t times;
    for (; status == LS_OK && t->races < memcheck_race_count(t->check) && t->races < RACE_LINES; t->races++)
        status = ls_engine_warn(t->engine, "race", "%s", memcheck_race_at(t->check, t->races, &times));
    return status;
}

bool timing_checked(void *self, ls_gpu_memory_check *out)
{
    const timing *t = self;
    if (!t->check)
        return false;
    memcheck_counts n = memcheck_get_counts(t->check);
    *out = (ls_gpu_memory_check){ .judged_bytes = n.judged, .unordered_bytes = n.unordered, .races = n.races };
    return true;
}

ls_status timing_check_summary(ls_gpu_system *system, ls_error *err)
{
    const memcheck *m = timing_memcheck(system);
    if (!m)
        return LS_OK;
    memcheck_counts n = memcheck_get_counts(m);
    size_t pairs = memcheck_race_count(m);
    ls_status status = LS_OK;
    if (pairs > RACE_LINES)
        status = ls_engine_warn(timing_engine(system), "race", "%zu more pairs of instructions race",
                                pairs - RACE_LINES);
    if (status == LS_OK)
        status = ls_engine_warn(
            timing_engine(system), "memory-check",
            "%llu reads, %llu bytes as they were last written, %llu not judged, %llu races of %zu pairs of "
            "instructions",
            (unsigned long long)n.reads, (unsigned long long)n.judged, (unsigned long long)n.unordered,
            (unsigned long long)n.races, pairs);
    return status == LS_OK ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}
