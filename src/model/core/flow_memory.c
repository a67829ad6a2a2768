/* flow_memory.c: memory instructions of flow.c: how many sectors and cycles their addresses need, and when
 * they end. May touch its core only. */
#include "model/core/flow.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- addresses */

/* A flight for those who want one: nothing of it is kept. */
static flight as_flight(const core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, uint8_t space)
{
    return (flight){ .inst = inst,
                     .dyn = dyn,
                     .mask = dyn->mask,
                     .next = NO_FLIGHT,
                     .warp = (uint8_t)warp,
                     .sub = (uint8_t)warp_sub(c, warp),
                     .space = space };
}

static void count_slowly(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, uint8_t space,
                         uint32_t *sectors, uint32_t *rounds)
{
    const flight f = as_flight(c, warp, inst, dyn, space);
    if (space == LS_SPACE_SHARED) {
        *sectors = 0;
        *rounds = shared_conflicts(c, &f);
        return;
    }
    coalesce(c, &f);
    *sectors = c->ldst.sector_count;
    *rounds = analytic_rounds(c);
}

typedef uint64_t pair __attribute__((vector_size(16))); /* the compiler does not see it by itself */

static bool distances_differ(const uint64_t at[32], const uint64_t distance[32])
{
    const pair first = { at[0], at[0] };
    pair differ = { 0, 0 }, a[4], b[4];
    for (uint32_t i = 0; i < 32; i += 8) {
        memcpy(a, at + i, sizeof a);
        memcpy(b, distance + i, sizeof b);
        differ |= ((a[0] - first) ^ b[0]) | ((a[1] - first) ^ b[1]) | ((a[2] - first) ^ b[2]) |
                  ((a[3] - first) ^ b[3]);
    }
    return (differ[0] | differ[1]) != 0;
}

static inline uint64_t flow_move(const flow_warp *fw, const ls_dyn *dyn)
{
    return fw->moves == NULL ? 0 : fw->moves[dyn->inst];
}

/* Lanes with an address each: programs repeat patterns, and a pattern costs the same wherever it begins, if
 * that is the same place in the banks. */
static void count_list(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, uint8_t space,
                       uint32_t *sectors, uint32_t *rounds)
{
    flow *f = c->flow;
    const flow_warp *fw = &f->warps[warp];
    const uint64_t *at = &fw->addrs[dyn->addr >> 2];
    const uint64_t period =
        space == LS_SPACE_SHARED ? 4 * c->spec->shared_banks : SECTOR_BYTES * c->ldst.l1_banks;
    uint64_t first = at[0], place = (first + flow_move(fw, dyn)) % period;
    uint32_t lanes = lane_count(dyn->mask);
    uint64_t last = at[lanes - 1] - first;
    uint64_t key = (uintptr_t)inst / sizeof *inst * 31 + place + last * 7;
    flow_shape *shape = &f->shapes[key % FLOW_SHAPES];
    uint64_t differ = (uint64_t)(shape->inst != inst) | (shape->mask ^ dyn->mask) | (shape->first ^ place);
    if (differ == 0 && lanes == 32)
        differ = distances_differ(at, shape->distance);
    else if (differ == 0)
        for (uint32_t i = 0; i < lanes; i++)
            differ |= (at[i] - first) ^ shape->distance[i];
    if (differ == 0) {
        *sectors = shape->sectors;
        *rounds = shape->rounds;
        return;
    }
    count_slowly(c, warp, inst, dyn, space, sectors, rounds);
    f->shaped = true;
    shape->inst = inst;
    shape->mask = dyn->mask;
    shape->first = (uint32_t)place;
    shape->sectors = *sectors;
    shape->rounds = *rounds;
    for (uint32_t i = 0; i < lanes; i++)
        shape->distance[i] = at[i] - first;
}

/* Sectors and the cycles in which they enter the banks; of shared memory: only cycles. */
static void count_lanes(core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, uint8_t space,
                        uint32_t *sectors, uint32_t *rounds)
{
    if ((dyn->addr & 3) != LS_ADDR_STRIDE && space != LS_SPACE_LOCAL)
        count_list(c, warp, inst, dyn, space, sectors, rounds);
    else
        count_slowly(c, warp, inst, dyn, space, sectors, rounds);
}

/* ----------------------------------------------------------------------------------------------- the unit */

static flow_access take_shared(core *c, const ls_inst *inst, uint32_t mask, uint32_t cycles, ls_cycle start)
{
    cycles = cycles == 0 ? 1 : cycles;
    c->n.bank_conflict_cycles += cycles - 1;
    *c->flow->unit = start + cycles;
    bool waits = inst->mem_op != LS_MEM_STORE && mask != 0;
    ls_cycle end = start + cycles + (waits ? c->spec->shared_latency_cycles + 1 : 0);
    return (flow_access){ .registers = end, .done = end };
}

flow_access flow_take(core *c, const flow_warp *fw, uint32_t warp, const flow_inst *d, const ls_dyn *dyn,
                      ls_cycle start)
{
    const ls_inst *inst = d->inst;
    uint32_t mask = dyn->mask, sectors = 0, rounds = 0;
    bool none = mask == 0 || inst->mem_op == LS_MEM_NONE || dyn->addr == LS_ADDR_NONE;
    uint8_t space = d->space;
    c->n.memory_instructions++;
    if (__builtin_expect(space == LS_SPACE_GENERIC, 0)) {
        const flight f = as_flight(c, warp, inst, dyn, space);
        space = ldst_space(c, &f);
    }
    if (!none)
        count_lanes(c, warp, inst, dyn, space, &sectors, &rounds);
    if (space == LS_SPACE_SHARED) {
        c->n.shared_accesses += !none;
        return take_shared(c, inst, mask, rounds, start);
    }
    if (none || sectors == 0) {
        *c->flow->unit = start + 1;
        return (flow_access){ .registers = start + 1, .done = start + 1 };
    }
    uint32_t banks = c->ldst.l1_banks;
    if (d->bypass)
        rounds = ldst_rounds_past_l1(c, sectors);
    else
        c->n.l1_bank_conflicts += rounds - (sectors + banks - 1) / banks;
    return flow_take_sectors(c, fw, d, sectors, rounds, start);
}
