/* timing_record.c: writes commands in simulated time into a recording: the instructions that each wavefront
 * really executes, and which commands run side by side. */
#include "runtime/timing/timing_impl.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* ------------------------------------------------------------------------------------- memory of several GPUs */

static bool is_known(const timing *t, uint32_t place, const memory_extent *e)
{
    for (size_t i = t->mapped.count; i-- > 0;) {
        const timing_mapped *m = &t->mapped.at[i];
        if (m->place == place && m->start <= e->start && e->end <= m->end)
            return true;
    }
    return false;
}

static ls_status add_memory(timing *t, amd_file_kind kind, uint32_t place, uint64_t to, uint64_t from,
                            uint64_t bytes, ls_error *err)
{
    const amd_file_command command = { .kind = kind, .gpu = place, .to = to, .from = from, .bytes = bytes };
    return record_command(t->record, &command, NULL, err);
}

/* The mapped frames of one place that the recording does not have yet. */
static ls_status add_frames(timing *t, uint32_t place, memory_space *space, ls_error *err)
{
    size_t count = address_space_extents(space, NULL, 0);
    memory_extent *extents = malloc((count + 1) * sizeof *extents);
    ls_status status = extents ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    count = extents ? address_space_extents(space, extents, count) : 0;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const memory_extent *e = &extents[i];
        if (is_known(t, place, e))
            continue;
        if (!vec_push(&t->mapped, ((timing_mapped){ place, e->start, e->end })))
            status = ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
        else
            status = add_memory(t, AMD_FILE_MAP, place, e->start, 0, e->end - e->start, err);
    }
    free(extents);
    return status;
}

/* A launch names the frames of its own GPU. Those of the others are commands before it. */
static ls_status add_other_memory(timing *t, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < t->gpu_count && t->gpu_count > 1 && status == LS_OK; i++)
        status = add_frames(t, t->gpus[i].number, t->gpus[i].space, err);
    return status;
}

ls_status timing_record_pages(timing *t, amd_file_kind kind, uint32_t place, uint64_t address, uint64_t frame,
                              uint64_t bytes, ls_error *err)
{
    return t->record ? add_memory(t, kind, place, address, frame, bytes, err) : LS_OK;
}

void timing_record_fini(timing *t)
{
    vec_fini(&t->mapped);
}

/* ------------------------------------------------------------------------------------------------- commands */

/* Commands that are not over. */
static size_t find_beside(const timing *t, uint32_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < t->slots.count; i++)
        if (t->slots.at[i]->work)
            out[count++] = t->slots.at[i]->number;
    if (count > 1)
        qsort(out, count, sizeof *out, by_number);
    return count;
}

static ls_status begin_launch(timing *t, timing_slot *slot, const drv_work *work, const uint32_t *beside,
                              size_t beside_count, ls_error *err)
{
    ls_cu_kernel *k = &slot->packet.kernel;
    slot->start = (amd_start){ .program = k->program,
                               .kernarg = k->kernarg,
                               .packet = k->packet,
                               .queue = k->queue,
                               .dispatch_id = k->dispatch_id };
    memcpy(slot->start.grid, k->grid, sizeof k->grid);
    memcpy(slot->start.group, k->group, sizeof k->group);
    timing_gpu *g = &t->gpus[slot->gpu];
    record_what what = { .start = &slot->start,
                         .address_space = g->space,
                         .gpu = slot->gpu,
                         .dims = k->dims,
                         .lds_bytes = k->lds_bytes,
                         .argument_bytes = work->dispatch->kernarg_bytes,
                         .which = k->which,
                         .beside = beside,
                         .beside_count = beside_count };
    if (slot->scratch != SIZE_MAX) {
        what.scratch = g->pieces.at[slot->scratch].address;
        what.scratch_bytes = g->pieces.at[slot->scratch].bytes;
    }
    ls_status status = record_begin(t->record, &what, &slot->recorded, err);
    if (status != LS_OK)
        return status;
    slot->number = record_number(slot->recorded);
    slot->recorder =
        (cu_recorder){ .self = slot->recorded, .code = record_code(slot->recorded), .done = record_group };
    k->recorder = &slot->recorder;
    return LS_OK;
}

ls_status timing_record_begin(timing *t, timing_slot *slot, const drv_work *work, bool local, ls_error *err)
{
    static const amd_file_kind kinds[] = { [DRV_WORK_IN] = AMD_FILE_COPY_IN,
                                           [DRV_WORK_OUT] = AMD_FILE_COPY_OUT,
                                           [DRV_WORK_COPY] = AMD_FILE_COPY,
                                           [DRV_WORK_FILL] = AMD_FILE_FILL };
    ls_status status = slot->kind == DRV_WORK_LAUNCH ? add_other_memory(t, err) : LS_OK;
    if (status != LS_OK)
        return status;
    uint32_t *beside = malloc((t->slots.count + 1) * sizeof *beside);
    if (!beside)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    size_t count = find_beside(t, beside);
    if (slot->kind == DRV_WORK_LAUNCH) {
        status = begin_launch(t, slot, work, beside, count, err);
    } else {
        const ls_dma_job *job = &slot->packet.transfer; /* with physical addresses */
        const amd_file_command command = { .kind = kinds[slot->kind],
                                           .gpu = slot->gpu,
                                           .to = slot->kind == DRV_WORK_OUT ? job->host : job->to,
                                           .from = slot->kind == DRV_WORK_IN ? job->host : job->from,
                                           .bytes = slot->bytes,
                                           .local = local,
                                           .beside = beside,
                                           .beside_count = count };
        status = record_command(t->record, &command, &slot->number, err);
    }
    free(beside);
    return status;
}

ls_status timing_record_end(timing_slot *slot, bool good, ls_error *err)
{
    record_launch *recorded = slot->recorded;
    slot->recorded = NULL;
    return recorded ? record_end(recorded, good, err) : LS_OK;
}
