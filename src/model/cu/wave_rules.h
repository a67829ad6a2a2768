/* wave_rules.h: rules for work-groups and waves that hold in every model of a compute unit: the state in which they begin,
 * counts of an instruction, atomics that are not aligned. */
#ifndef MODEL_CU_WAVE_RULES_H
#define MODEL_CU_WAVE_RULES_H

#include "isa/amd/exec/start.h"
#include "model/cu/cu_api.h"

/* lds: memory of the work-group, AMD_LDS_MAX + 64 bytes; it is cleared as far as the work-group uses it. */
static inline amd_group rules_group(const ls_cu_kernel *k, const ls_cu_launch *launch, uint8_t *lds)
{
    amd_group group = { .lds = lds,
                        .lds_bytes = (k->lds_bytes + AMD_LDS_UNIT - 1) & ~(AMD_LDS_UNIT - 1),
                        .id = { launch->id[0], launch->id[1], launch->id[2] },
                        .shared_base = (uint64_t)AMD_SHARED_BASE_HI << 32,
                        .private_base = (uint64_t)AMD_PRIVATE_BASE_HI << 32,
                        .scratch = k->scratch + launch->scratch_place * k->scratch_place_bytes,
                        .scratch_bytes = (k->scratch_bytes + 15) & ~15u };
    amd_start_clear((uint32_t *)(void *)lds, (group.lds_bytes + 63) / 64 * 16);
    return group;
}

static inline ls_cu_done rules_done(const ls_cu_launch *launch, uint32_t cluster, uint32_t index)
{
    return (ls_cu_done){ .kernel = launch->kernel,
                         .cu = (uint16_t)index,
                         .cluster = (uint16_t)cluster,
                         .slot = launch->slot,
                         .id = { launch->id[0], launch->id[1], launch->id[2] } };
}

static inline amd_start rules_start(const ls_cu_kernel *k)
{
    return (amd_start){ .program = k->program,
                        .grid = { k->grid[0], k->grid[1], k->grid[2] },
                        .group = { k->group[0], k->group[1], k->group[2] },
                        .kernarg = k->kernarg,
                        .packet = k->packet,
                        .queue = k->queue,
                        .dispatch_id = k->dispatch_id };
}

static inline void rules_flops(ls_cu_tally *tally, const cu_inst *inst, uint64_t lanes)
{
    uint64_t flops = inst->flops * lanes;
    if (inst->flops_type == AMD_FLOPS_SINGLE)
        tally->flops_single += flops;
    else if (inst->flops_type == AMD_FLOPS_DOUBLE)
        tally->flops_double += flops;
    else
        tally->flops_half += flops;
}

/* The instruction is about to be executed: exec is the one that it sees. */
static inline void rules_tally(ls_cu_tally *tally, const amd_wave *wave, const cu_inst *inst)
{
    tally->instructions++;
    tally->classes[inst->class_]++;
    uint64_t accesses = 1;
    if (!inst->scalar) {
        uint64_t exec = amd_wave_exec(wave), all = wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;
        accesses = exec == all ? wave->lanes : (uint64_t)__builtin_popcountll(exec);
        tally->active_lanes += accesses;
        if (inst->flops != 0)
            rules_flops(tally, inst, accesses);
    }
    uint64_t bytes = accesses * inst->access_bytes;
    switch (inst->kind) {
    case AMD_ACCESS_LOAD:
        tally->loads += accesses;
        tally->load_bytes += bytes;
        break;
    case AMD_ACCESS_STORE:
        tally->stores += accesses;
        tally->store_bytes += bytes;
        break;
    case AMD_ACCESS_ATOMIC:
        tally->atomics += accesses;
        tally->atomic_bytes += bytes;
        break;
    default:
        break;
    }
}

/* An atomic of memory whose address is no multiple of its size: true, and the wave has faulted. */
static inline bool rules_misaligned(amd_wave *wave, const amd_access *s)
{
    if (s->kind != AMD_ACCESS_ATOMIC)
        return false;
    for (uint64_t left = s->lanes & ~s->in_lds & ~s->absent[0]; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if ((s->address[0][lane] & (s->piece_bytes - 1u)) == 0)
            continue;
        wave->fault = (ls_fault){ .kind = LS_FAULT_MISALIGNED,
                                  .lane = (uint8_t)lane,
                                  .bytes = s->piece_bytes,
                                  .write = true,
                                  .address = s->address[0][lane] };
        wave->stop = AMD_FAULTED;
        return true;
    }
    return false;
}

#endif
