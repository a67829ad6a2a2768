/* timing_sample.c: programs of which only some launches run in simulated time: those that a plan (workload/sample) wants.
 * The others are emulated on the GPU's memory, so that data stay right. The machine rests meanwhile. Memory gets the bytes that
 * only its caches have; afterwards the lines of caches get what the emulator wrote. They stay in their places, so that a
 * chosen launch finds the caches as the last simulated one left them. */
#include "runtime/timing/timing_impl.h"

#include "base/hash.h"
#include "runtime/driver/drv.h"

#include <inttypes.h>
#include <string.h>

static ls_status check_one(const ls_gpu_system *system, const char *what, ls_error *err)
{
    const timing *t = system->machine;
    if (system->backend != &drv_backend_time)
        return ls_fail(err, LS_ERR_USAGE, "%s is for programs in simulated time", what);
    if (t->gpu_count > 1 || t->unified || t->has_fabric)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%s is for one GPU, and platform '%s' is a system of several",
                       what, config_name(t->config));
    if (t->directory)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "%s is for memory whose pages stay: migrate.model must be none", what);
    return LS_OK;
}

ls_status timing_describe(ls_gpu_system *system, sample_plan *plan, ls_error *err)
{
    timing *t = system->machine;
    ls_status status = check_one(system, "--sample", err);
    if (status == LS_OK)
        status = timing_flat_begin(t, err);
    if (status != LS_OK)
        return status;
    t->skip_to = (source_position){ .command = UINT64_MAX };
    t->described = plan;
    return LS_OK;
}

ls_status timing_sample(ls_gpu_system *system, sample_plan *plan, bool blocks, ls_error *err)
{
    timing *t = system->machine;
    ls_status status = check_one(system, "--sample", err);
    if (status == LS_OK)
        t->sample = plan;
    t->blocks = status == LS_OK && blocks;
    return status;
}

static uint64_t shape_of(uint32_t dims, const uint32_t group[3], uint64_t lds_bytes)
{
    const uint64_t shape[] = { dims, group[0], group[1], group[2], lds_bytes };
    hash128 hash = hash128_of(shape, sizeof shape);
    uint64_t out;
    memcpy(&out, &hash, sizeof out);
    return out;
}

ls_status timing_sample_describe(timing *t, const ls_cu_kernel *k, uint64_t instructions, ls_error *err)
{
    return sample_plan_add(t->described, k->program->name, shape_of(k->dims, k->group, k->lds_bytes),
                           instructions, err);
}

/* ---------------------------------------------------------------------------------------------- recordings */

/* A launch among those that ran beside the command. */
static bool is_beside_launch(const amd_file *file, const amd_file_command *c, size_t *other)
{
    for (size_t i = 0; i < c->beside_count; i++) {
        *other = c->beside[i];
        if (amd_file_command_at(file, *other)->kind == AMD_FILE_LAUNCH)
            return true;
    }
    return false;
}

ls_status timing_describe_recording(const amd_file *file, const kernel_selection *selection, sample_plan *plan,
                                    ls_error *err)
{
    ls_status status = LS_OK;
    size_t other, launches = amd_file_launch_count(file);
    for (size_t i = 0; i < amd_file_command_count(file) && status == LS_OK; i++) {
        const amd_file_command *c = amd_file_command_at(file, i);
        if (c->kind == AMD_FILE_LAUNCH && c->gpu != 0)
            return ls_fail(err, LS_ERR_UNSUPPORTED, "--sample is for one GPU, and the recording uses GPU %u",
                           c->gpu);
        if (c->kind == AMD_FILE_LAUNCH && is_beside_launch(file, c, &other))
            return ls_fail(err, LS_ERR_UNSUPPORTED,
                           "--sample is for launches one after another: launch %u"
                           " of the recording ran beside launch %u",
                           c->launch + 1, amd_file_command_at(file, other)->launch + 1);
    }
    for (size_t i = 0; i < launches && status == LS_OK; i++) {
        const amd_file_launch *l = amd_file_launch_at(file, i);
        if (selection == NULL || selection_find(selection, i) < selection->count)
            status = sample_plan_add(plan, l->kernel.name, shape_of(l->dims, l->group, l->kernel.lds_bytes),
                                     l->instructions, err);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ programs */

static const timing_slot *launch_under_way(const timing *t)
{
    for (size_t i = 0; i < t->slots.count; i++)
        if (t->slots.at[i]->work && t->slots.at[i]->packet.kind == LS_PACKET_KERNEL)
            return t->slots.at[i];
    return NULL;
}

ls_status timing_sample_launch(timing *t, bool *skip, ls_error *err)
{
    const timing_slot *other = launch_under_way(t);
    *skip = !sample_plan_wants(t->sample, (size_t)t->launches);
    if (other)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "--sample is for launches one after another: launch %" PRIu64
                       " begins while launch %u runs",
                       t->launches + 1, other->packet.kernel.number + 1);
    return *skip ? timing_sample_publish(t, err) : LS_OK;
}

void timing_sample_measured(const timing *t, uint64_t unit, uint32_t gpu, const ls_command_packet *p,
                            const timing_slot *slot)
{
    const ls_clock *clock = amd_gpu_clock(t->gpus[gpu].gpu);
    uint64_t cycles = ls_clock_cycle_at(clock, p->end) - ls_clock_cycle_at(clock, p->begin);
    if (!sample_plan_wants(t->sample, (size_t)unit))
        return;
    sample_measure measure = { .cycles = (double)cycles,
                               .blocks = p->groups,
                               .simulated_blocks = p->groups,
                               .cycles_simulated = cycles };
    if (slot != NULL)
        timing_blocks_measure(slot, &measure);
    sample_plan_measured(t->sample, (size_t)unit, &measure);
    sample_plan_look(t->sample, (size_t)unit + 1);
}

static ls_status foreign(const timing *t, ls_error *err)
{
    return ls_fail(
        err, LS_ERR_UNSUPPORTED,
        "--sample needs the caches of model cycle: a plug-in of platform '%s' keeps its lines to itself",
        config_name(t->config));
}

ls_status timing_sample_publish(timing *t, ls_error *err)
{
    if (t->is_published)
        return LS_OK;
    ls_status status = timing_rest(t, err); /* lines on their way between caches arrive */
    if (status == LS_OK && !amd_gpu_publish(t->gpus[0].gpu))
        status = foreign(t, err);
    t->is_published = t->is_stale = status == LS_OK;
    return status;
}

ls_status timing_sample_refresh(timing *t, ls_error *err)
{
    t->is_published = false;
    if (!t->is_stale)
        return LS_OK;
    t->is_stale = false;
    return amd_gpu_refresh(t->gpus[0].gpu) ? LS_OK : foreign(t, err);
}
