/* timing_skip.c: goes to a position of a program: its host code runs as always, and the commands before the position
 * are emulated on the GPU's memory. No time passes. The machine has seen nothing then, so that its caches hold no line
 * of that memory. Allocations are those of a run with time, so that everything lies at the same addresses. */
#include "runtime/timing/timing_impl.h"

#include "runtime/driver/drv.h"
#include "runtime/emulate/emulate.h"

#include <inttypes.h>
#include <string.h>

static timing *of(const ls_gpu_system *system)
{
    return system->backend == &drv_backend_time ? system->machine : NULL;
}

ls_status timing_skip(ls_gpu_system *system, const source_position *to, ls_error *err)
{
    timing *t = of(system);
    if (!t)
        return ls_fail(err, LS_ERR_USAGE, "positions are for programs in simulated time");
    if (t->gpu_count > 1 || t->unified)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "the program sees %zu GPUs%s: it goes to a position only on one, choose it with --on",
                       t->gpu_count, t->unified ? " as a unified device" : "");
    if (t->gpus[0].home != 0) /* the emulator has one address space, of frames */
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "gpu%u is on a fabric and has no TLBs: a program goes to a position on gpu0 of such a system",
            t->gpus[0].number);
    if (t->record)
        return ls_fail(err, LS_ERR_USAGE, "a recording begins with the program, not at a position of it");
    ls_status status = position_check_start(to, err);
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
    uint64_t to = timing_frame(work->to) + at, from = timing_frame(work->from) + at;
    const uint8_t *bytes_of = buffer;
    ls_status status = LS_OK;
    if (work->kind == DRV_WORK_OUT)
        return amd_gpu_copy_out(g->gpu, (uint8_t *)work->host_to + at, from, bytes, err);
    if (work->kind == DRV_WORK_IN)
        bytes_of = (const uint8_t *)work->host_from + at;
    else if (work->kind == DRV_WORK_COPY)
        status = amd_gpu_copy_out(g->gpu, buffer, from, bytes, err);
    else
        for (uint64_t i = 0; i < bytes; i++)
            buffer[i] = ((const uint8_t *)work->pattern)[(at + i) % work->pattern_bytes];
    return status == LS_OK ? amd_gpu_load(g->gpu, to, bytes_of, bytes, err) : status;
}

/* Copies and fills of the commands before the position, in the memory of the channels. */
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
static ls_status emulate_slot(timing *t, const timing_slot *slot, const drv_work *work, ls_error *err)
{
    const ls_cu_kernel *k = &slot->packet.kernel;
    const timing_gpu *g = &t->gpus[slot->gpu];
    emulate_launch launch = { .dims = k->dims,
                              .which = k->which,
                              .dynamic_lds_bytes = work->dispatch->dynamic_lds_bytes,
                              .kernarg = k->kernarg,
                              .max_instructions = t->max_instructions,
                              .lenient_barriers = t->lenient_barriers };
    emulate *emulator;
    memcpy(launch.grid, k->grid, sizeof launch.grid);
    memcpy(launch.group, k->group, sizeof launch.group);
    ls_status status =
        amd_gpu_load(g->gpu, timing_frame(k->packet), slot->setup, slot->packet.transfer.bytes, err);
    if (status == LS_OK)
        status = emulate_create(g->space, 1, &emulator, err);
    if (status != LS_OK)
        return status;
    status = emulate_run(emulator, k->program, &launch, NULL, NULL, err);
    emulate_destroy(emulator);
    return status;
}

static ls_status skip_launch(timing *t, const drv_work *work, ls_error *err)
{
    timing_slot *slot = timing_free_slot(t);
    if (!slot)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    slot->gpu = (uint32_t)work->gpu;
    ls_status status = timing_fill_launch(t, slot, work, &work->dispatch->which, err);
    if (status == LS_OK) {
        t->launches++;
        status = emulate_slot(t, slot, work, err);
    }
    timing_free_pieces(t, slot);
    return status;
}

ls_status timing_skip_command(timing *t, drv_work *work, bool local, ls_error *err)
{
    bool launch = work->kind == DRV_WORK_LAUNCH;
    ls_status status = launch ? skip_launch(t, work, err) : transfer(&t->gpus[work->gpu], work, err);
    t->commands++;
    t->others += !launch && !local;
    if (status == LS_OK && !timing_is_skipping(t) && t->launches != t->skip_to.launches)
        status = ls_fail(err, LS_ERR_INPUT,
                         "the position is after %" PRIu64 " launches, but the first %" PRIu64
                         " commands of the program have %" PRIu64,
                         t->skip_to.launches, t->commands, t->launches);
    work->began_ns = work->ended_ns = 0;
    work->is_over = status == LS_OK;
    t->ended += work->is_over;
    return status;
}
