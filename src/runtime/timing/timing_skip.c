/* timing_skip.c: goes to a position of a program: its host code runs as always, and the commands before the position
 * are emulated on the GPU's memory. No time passes. The machine has seen nothing then, so that its caches hold no line
 * of that memory. Allocations are those of a run with time, so that everything lies at the same addresses.
 *
 * A position of several devices has a number of commands for each. A device that has come to its number waits for the
 * others: its later commands are held until all are there. */
#include "runtime/timing/timing_impl.h"

#include "runtime/driver/drv.h"
#include "runtime/emulate/emulate.h"

#include <inttypes.h>
#include <string.h>

static timing *of(const ls_gpu_system *system)
{
    return system->backend == &drv_backend_time ? system->machine : NULL;
}

uint32_t timing_device_count(const ls_gpu_system *system)
{
    const timing *t = of(system);
    return t && (t->gpu_count > 1 || t->unified) ? (uint32_t)t->gpu_count + t->unified : 0;
}

/* The device of a command: a GPU, or after them the unified device. */
static uint32_t device_of(const timing *t, const drv_work *work)
{
    return (uint32_t)(work->gpu < t->gpu_count ? work->gpu : t->gpu_count);
}

ls_status timing_note_command(timing *t, const drv_work *work, uint32_t launches, ls_error *err)
{
    const timing_note note = { .device = device_of(t, work), .launches = launches };
    t->commands++;
    t->done[note.device]++;
    if ((t->gpu_count > 1 || t->unified) && !vec_push(&t->notes, note))
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    return LS_OK;
}

void timing_position(const ls_gpu_system *system, const timing_record *record, source_position *out)
{
    const timing *t = of(system);
    out->command = record->command;
    out->launches = record->number;
    out->device_count = timing_device_count(system);
    if (out->device_count == 0)
        return;
    out->launches = 0;
    for (size_t i = 0; i < record->command && i < t->notes.count; i++) {
        out->devices[t->notes.at[i].device].command++;
        out->launches += t->notes.at[i].launches;
    }
}

/* ------------------------------------------------------------------------------------------ begin and end */

static ls_status check_devices(const ls_gpu_system *system, const source_position *to, ls_error *err)
{
    uint64_t sum = to->device_count == 0 ? to->command : 0;
    for (uint32_t i = 0; i < to->device_count; i++)
        sum += to->devices[i].command;
    if (to->device_count != timing_device_count(system))
        return ls_fail(err, LS_ERR_INPUT, "the position has %u devices, but the program has %u",
                       to->device_count, timing_device_count(system));
    if (sum != to->command)
        return ls_fail(err, LS_ERR_INPUT,
                       "the position is after %" PRIu64 " commands, but its devices have %" PRIu64,
                       to->command, sum);
    return LS_OK;
}

ls_status timing_skip(ls_gpu_system *system, const source_position *to, ls_error *err)
{
    timing *t = of(system);
    if (!t)
        return ls_fail(err, LS_ERR_USAGE, "positions are for programs in simulated time");
    if (t->directory)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "a program goes to a position only where pages stay: migrate.model must be none");
    if (t->record)
        return ls_fail(err, LS_ERR_USAGE, "a recording begins with the program, not at a position of it");
    ls_status status = position_check_start(to, err);
    if (status == LS_OK)
        status = check_devices(system, to, err);
    if (status == LS_OK && to->command > 0)
        status = timing_flat_begin(t, err);
    if (status == LS_OK)
        t->skip_to = *to;
    return status;
}

ls_status timing_check_skip(const ls_gpu_system *system, ls_error *err)
{
    const timing *t = of(system);
    if (!t || !timing_is_skipping(t))
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT,
                   "the position is after %" PRIu64 " commands, but the program has only %" PRIu64,
                   t->skip_to.command, t->commands);
}

/* --------------------------------------------------------------------------------------------- commands */

#define PIECE_BYTES 65536u

/* A piece of a transfer, in the order that leaves overlapping copies right. */
static ls_status transfer_piece(const timing_gpu *g, const drv_work *work, uint64_t at, uint64_t bytes,
                                uint8_t *buffer, ls_error *err)
{
    const uint8_t *bytes_of = buffer;
    ls_status status = LS_OK;
    if (work->kind == DRV_WORK_OUT)
        return timing_flat_read(g, work->from + at, (uint8_t *)work->host_to + at, bytes, err);
    if (work->kind == DRV_WORK_IN)
        bytes_of = (const uint8_t *)work->host_from + at;
    else if (work->kind == DRV_WORK_COPY)
        status = timing_flat_read(g, work->from + at, buffer, bytes, err);
    else
        for (uint64_t i = 0; i < bytes; i++)
            buffer[i] = ((const uint8_t *)work->pattern)[(at + i) % work->pattern_bytes];
    return status == LS_OK ? timing_flat_write(g, work->to + at, bytes_of, bytes, err) : status;
}

/* Copies and fills of the commands before the position. */
static ls_status transfer(const timing_gpu *g, const drv_work *work, ls_error *err)
{
    uint8_t buffer[PIECE_BYTES];
    bool backwards = work->kind == DRV_WORK_COPY && work->to > work->from;
    ls_status status = LS_OK;
    for (uint64_t done = 0, piece; done < work->bytes && status == LS_OK; done += piece) {
        uint64_t left = work->bytes - done;
        piece = left < PIECE_BYTES ? left : PIECE_BYTES;
        status = transfer_piece(g, work, backwards ? left - piece : done, piece, buffer, err);
    }
    return status;
}

/* The emulator's own pages are there for one launch only: they move nothing that the program allocates. One thread:
 * the order of atomics does not depend on the host. */
ls_status timing_emulate_groups(timing *t, const timing_slot *slot, const drv_work *work,
                                const ls_groups *which, uint64_t *instructions, ls_error *err)
{
    const ls_cu_kernel *k = &slot->packet.kernel;
    const timing_gpu *g = &t->gpus[slot->gpu];
    emulate_launch launch = { .dims = k->dims,
                              .which = *which,
                              .dynamic_lds_bytes = work->dispatch->dynamic_lds_bytes,
                              .kernarg = k->kernarg,
                              .max_instructions = t->max_instructions,
                              .lenient_barriers = t->lenient_barriers };
    emulate *emulator;
    ls_gpu_counts counts = { 0 };
    memcpy(launch.grid, k->grid, sizeof launch.grid);
    memcpy(launch.group, k->group, sizeof launch.group);
    ls_status status = timing_flat_write(g, k->packet, slot->setup, slot->packet.transfer.bytes, err);
    if (status == LS_OK)
        status = emulate_create(timing_flat_memory(g), 1, &emulator, err);
    if (status != LS_OK)
        return status;
    status = emulate_run(emulator, k->program, &launch, &counts, NULL, err);
    emulate_destroy(emulator);
    *instructions = counts.instructions;
    return status;
}

static ls_status emulate_slot(timing *t, const timing_slot *slot, const drv_work *work, ls_error *err)
{
    const ls_cu_kernel *k = &slot->packet.kernel;
    uint64_t instructions = 0;
    ls_status status = timing_emulate_groups(t, slot, work, &k->which, &instructions, err);
    if (status == LS_OK && t->described)
        status = timing_sample_describe(t, k, instructions, err);
    return status;
}

/* The part of one GPU takes the memory that it would take in simulated time. */
static ls_status skip_part(timing *t, const drv_work *work, const timing_part *part, bool runs, ls_error *err)
{
    timing_slot *slot = timing_free_slot(t);
    if (!slot)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    slot->gpu = part->gpu;
    ls_status status = timing_fill_launch(t, slot, work, &part->which, err);
    if (status == LS_OK) {
        t->launches++;
        status = runs ? emulate_slot(t, slot, work, err) : LS_OK;
    }
    timing_free_pieces(t, slot);
    return status;
}

static ls_status skip_launch(timing *t, drv_work *work, uint32_t *launches, ls_error *err)
{
    timing_part whole = { .kind = DRV_WORK_LAUNCH,
                          .gpu = (uint32_t)work->gpu,
                          .which = work->dispatch->which };
    timing_job *job = NULL;
    ls_status status = work->gpu < t->gpu_count ? LS_OK : timing_spread(t, work, &job, err);
    const timing_part *parts = job ? job->parts.at : &whole;
    *launches = job ? (uint32_t)job->parts.count : 1;
    for (uint32_t i = 0; i < *launches && status == LS_OK;
         i++) /* if GPU 0 places work-groups, each part has all */
        status = skip_part(t, work, &parts[i], i == 0 || parts[i].shared == 0, err);
    timing_job_free(job);
    return status;
}

ls_status timing_skip_launch(timing *t, drv_work *work, ls_error *err)
{
    uint32_t launches = 0;
    ls_status status = skip_launch(t, work, &launches, err);
    if (status == LS_OK)
        status = timing_note_command(t, work, launches, err);
    work->began_ns = work->ended_ns = atomic_load(&t->now_ns);
    work->is_over = status == LS_OK;
    t->ended += work->is_over;
    return status;
}

/* ---------------------------------------------------------------------------------------- at the position */

ls_status timing_skip_stuck(const timing *t, ls_error *err)
{
    uint32_t i = 0;
    while (i + 1 < t->skip_to.device_count && t->done[i] >= t->skip_to.devices[i].command)
        i++;
    return ls_fail(err, LS_ERR_INPUT,
                   "the position is after %" PRIu64
                   " commands of device %u, but the program waits for a later "
                   "command of another device after %" PRIu64 " of them",
                   t->skip_to.devices[i].command, i, t->done[i]);
}

/* Commands of devices that came to the position before the others. */
static ls_status release_held(timing *t, ls_error *err)
{
    for (size_t i = 0; i < t->held.count; i++) {
        drv_work *work = t->held.at[i];
        ls_status status = timing_begin_work(t, work, false, err);
        if (status == LS_OK)
            continue;
        work->status = status;
        work->failure = *err;
        work->is_over = true;
        t->ended++;
    }
    t->held.count = 0;
    return LS_OK;
}

static ls_status arrive(timing *t, ls_error *err)
{
    if (t->launches != t->skip_to.launches)
        return ls_fail(err, LS_ERR_INPUT,
                       "the position is after %" PRIu64 " launches, but the first %" PRIu64
                       " commands of the program have %" PRIu64,
                       t->skip_to.launches, t->commands, t->launches);
    ls_status status = timing_flat_deliver(t, err);
    timing_flat_fini(t);
    return status == LS_OK ? release_held(t, err) : status;
}

ls_status timing_skip_command(timing *t, drv_work *work, bool local, ls_error *err)
{
    bool launch = work->kind == DRV_WORK_LAUNCH;
    uint32_t device = device_of(t, work), launches = 0;
    if (t->skip_to.device_count > 0 && t->done[device] >= t->skip_to.devices[device].command) {
        if (local) /* the host waits for it now */
            return timing_skip_stuck(t, err);
        return vec_push(&t->held, work) ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    const timing_gpu *g = &t->gpus[work->gpu < t->gpu_count ? work->gpu : 0];
    ls_status status = launch ? skip_launch(t, work, &launches, err) : transfer(g, work, err);
    if (status == LS_OK)
        status = timing_note_command(t, work, launches, err);
    t->others += !launch && !local;
    work->began_ns = work->ended_ns = 0;
    if (status == LS_OK && !timing_is_skipping(t))
        status = arrive(t, err);
    work->is_over = status == LS_OK;
    t->ended += work->is_over;
    return status;
}
