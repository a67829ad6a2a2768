/* timing_packet.c: packets of commands, and the simulated memory that launches need: arguments and private memory. */
#include "runtime/timing/timing_impl.h"

#include "isa/amd/exec/limits.h"

#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES 64u

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------ slots, pieces */

timing_slot *timing_free_slot(timing *t)
{
    for (size_t i = 0; i < t->slots.count; i++)
        if (!t->slots.at[i]->work)
            return t->slots.at[i];
    timing_slot *slot = calloc(1, sizeof *slot);
    if (!slot || !vec_push(&t->slots, slot)) {
        free(slot);
        return NULL;
    }
    slot->arguments = slot->scratch = SIZE_MAX;
    return slot;
}

void timing_free_pieces(timing *t, timing_slot *slot)
{
    timing_gpu *g = &t->gpus[slot->gpu];
    if (slot->arguments != SIZE_MAX)
        g->pieces.at[slot->arguments].is_used = false;
    if (slot->scratch != SIZE_MAX)
        g->pieces.at[slot->scratch].is_used = false;
    slot->arguments = slot->scratch = SIZE_MAX;
}

/* The smallest free piece that is large enough, or a new one. Pieces are kept: written data goes through
 * caches, and the initial content of scratch does not matter. */
static ls_status take_piece(timing_gpu *g, uint64_t bytes, size_t *out, ls_error *err)
{
    timing_piece *best = NULL, piece = { .bytes = bytes, .is_used = true };
    for (size_t i = 0; i < g->pieces.count; i++) {
        timing_piece *p = &g->pieces.at[i];
        if (!p->is_used && p->bytes >= bytes && (!best || p->bytes < best->bytes))
            best = p;
    }
    if (best) {
        best->is_used = true;
        *out = (size_t)(best - g->pieces.at);
        return LS_OK;
    }
    piece.bytes = (bytes + LS_PAGE_BYTES - 1) & ~(uint64_t)(LS_PAGE_BYTES - 1);
    ls_status status = timing_alloc(g, piece.bytes, g->align, &piece.address, err);
    if (status != LS_OK)
        return status;
    if (!vec_push(&g->pieces, piece)) {
        address_space_free(g->space, timing_frame(piece.address), NULL);
        if (g->flat)
            address_space_free(g->flat, piece.address, NULL);
        return no_memory(err);
    }
    *out = g->pieces.count - 1;
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- launches */

/* The AQL packet of the dispatch, as kernels find it through their dispatch pointer. */
static void write_packet(const timing_slot *slot, uint8_t *out)
{
    const ls_cu_kernel *k = &slot->packet.kernel;
    uint16_t half[32] = { 0 };
    uint32_t word[16];
    half[0] = 2 | 1 << 8; /* a kernel dispatch, with a barrier bit */
    half[1] = (uint16_t)k->dims;
    for (unsigned i = 0; i < 3; i++)
        half[2 + i] = (uint16_t)k->group[i];
    memcpy(word, half, sizeof word);
    memcpy(&word[3], k->grid, sizeof k->grid);
    word[6] = k->program->kernel.scratch_bytes;
    word[7] = k->lds_bytes;
    memcpy(&word[8], &k->program->kernel.entry, 8);
    memcpy(&word[10], &k->kernarg, 8);
    memcpy(out, word, PACKET_BYTES);
}

static ls_status place_arguments(timing *t, timing_slot *slot, const drv_dispatch *d, ls_error *err)
{
    uint64_t align = d->kernarg_align > PACKET_BYTES ? d->kernarg_align : PACKET_BYTES;
    uint64_t bytes = align + d->kernarg_bytes;
    timing_gpu *g = &t->gpus[slot->gpu];
    ls_command_packet *p = &slot->packet;
    if (bytes > slot->setup_capacity) {
        uint8_t *setup = realloc(slot->setup, bytes);
        if (!setup)
            return no_memory(err);
        slot->setup = setup;
        slot->setup_capacity = bytes;
    }
    ls_status status = take_piece(g, bytes, &slot->arguments, err);
    if (status != LS_OK)
        return status;
    p->kernel.packet = g->pieces.at[slot->arguments].address;
    p->kernel.kernarg = p->kernel.packet + align;
    memset(slot->setup, 0, align);
    write_packet(slot, slot->setup);
    memcpy(slot->setup + align, d->kernarg, d->kernarg_bytes);
    p->transfer = (ls_dma_job){ .kind = LS_DMA_IN,
                                .local = true,
                                .to = t->directory ? p->kernel.packet : timing_frame(p->kernel.packet),
                                .host_from = slot->setup,
                                .bytes = bytes };
    return LS_OK;
}

static ls_status place_scratch(timing *t, timing_slot *slot, ls_error *err)
{
    timing_gpu *g = &t->gpus[slot->gpu];
    ls_cu_kernel *k = &slot->packet.kernel;
    uint32_t items = k->group[0] * k->group[1] * k->group[2], lanes = k->program->lanes;
    k->scratch_bytes = (k->program->kernel.scratch_bytes + 15) & ~15u;
    k->scratch = 0;
    k->scratch_place_bytes = (uint64_t)((items + lanes - 1) / lanes) * lanes * k->scratch_bytes;
    if (k->scratch_place_bytes == 0)
        return LS_OK;
    uint64_t bytes = k->scratch_place_bytes * g->command->places(g->command_self, &slot->packet);
    ls_status status = take_piece(g, bytes, &slot->scratch, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "kernel %s: private memory for the waves that run at once",
                               k->program->name);
    k->scratch = g->pieces.at[slot->scratch].address;
    return LS_OK;
}

ls_command_packet timing_packet_of(const amd_kernel *kernel)
{
    bool is_gfx10 = amd_target_is_gfx10(kernel->target);
    return (ls_command_packet){ .kind = LS_PACKET_KERNEL,
                                /* Granules of 8; on gfx10 every wave has all scalar registers. */
                                .sgprs = is_gfx10 ? 106 : ((kernel->rsrc1 >> 6 & 15) + 1) * 8,
                                /* GCN's code knows no modes: on RDNA its work-groups use both halves, as in
                              * NaviSim. */
                                .one_half = is_gfx10 && (kernel->rsrc1 >> 29 & 1) == 0 };
}

ls_status timing_fill_launch(timing *t, timing_slot *slot, const drv_work *work, const ls_groups *which,
                             ls_error *err)
{
    const timing_program *program = work->program;
    const drv_dispatch *d = work->dispatch;
    const amd_kernel *a = &program->program->kernel;
    ls_command_packet *p = &slot->packet;
    ls_status status = amd_limits_launch(program->program, d->grid, d->group,
                                         (uint64_t)a->lds_bytes + d->dynamic_lds_bytes, err);
    if (status != LS_OK)
        return status;
    *p = timing_packet_of(a);
    p->kernel = (ls_cu_kernel){ .program = program->program,
                                .code = program->code,
                                .number = (uint32_t)t->launches,
                                .dims = d->dims,
                                .lds_bytes = a->lds_bytes + d->dynamic_lds_bytes,
                                .queue = t->gpus[slot->gpu].queue_record,
                                .max_instructions = t->max_instructions,
                                .lenient_barriers = t->lenient_barriers };
    p->kernel.which = *which;
    timing_grid_units(&t->gpus[slot->gpu], d, p);
    memcpy(p->kernel.grid, d->grid, sizeof d->grid);
    memcpy(p->kernel.group, d->group, sizeof d->group);
    status = place_arguments(t, slot, d, err);
    return status == LS_OK ? place_scratch(t, slot, err) : status;
}

void timing_fill_transfer(timing_slot *slot, const timing_part *part)
{
    static const uint8_t kinds[] = { [DRV_WORK_IN] = LS_DMA_IN,
                                     [DRV_WORK_OUT] = LS_DMA_OUT,
                                     [DRV_WORK_COPY] = LS_DMA_COPY,
                                     [DRV_WORK_FILL] = LS_DMA_FILL };
    slot->packet = (ls_command_packet){ .kind = LS_PACKET_TRANSFER,
                                        .transfer = { .kind = kinds[part->kind],
                                                      .to = part->to,
                                                      .from = part->from,
                                                      .bytes = part->bytes,
                                                      .host_from = part->host_from,
                                                      .host_to = part->host_to,
                                                      .pattern = part->pattern,
                                                      .pattern_bytes = part->pattern_bytes } };
}
