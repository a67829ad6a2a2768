/* cga_access.c: loads, stores and atomics of a warp on shared memory of other blocks of its cluster.
 *
 * Bits 24 and up of a shared address name the block by its rank. LDS, STS and ATOMS with none of them set stay in their own
 * block: kernels address it without a rank as well. The lanes for one block travel as messages of up to 128 bytes.
 *
 * Loads and atomics with a result wait for their answers. Stores and reductions do not hold up their warp; their answers
 * only let its block end.
 *
 * STAS stores, REDAS reduces, and both complete their bytes on an mbarrier of the block that they go to. Their addresses have
 * the mbarrier in their upper half. Nothing comes back. */
#include "model/core/options_state.h"

#include <string.h>

#define STORE_BIT 0x80000000u /* of tokens: the warp waits for an answer to a store; else the flight */
#define ROOM 64u              /* messages of one access: up to 512 bytes, and one for each block */

static inline bool is_own(const core *c, uint32_t slot, bool shared, uint64_t address)
{
    return (shared && address >> CGA_WINDOW_BITS == 0) || cga_rank_of(c, slot, address) == cga_rank(c, slot);
}

/* All lanes name the same block, and it is their own: the common case. */
static bool all_stay(const core *c, const flight *f, uint32_t slot, const uint64_t addresses[32])
{
    const bool shared = f->inst->space == LS_SPACE_SHARED;
    const uint64_t base = shared ? 0 : c->blocks.at[slot].launch.info->shared_base;
    const uint64_t first = f->mask == 0 ? 0 : addresses[__builtin_ctz(f->mask)] - base;
    uint64_t differ = 0;
    for (uint32_t set = f->mask; set != 0; set &= set - 1)
        differ |= (addresses[__builtin_ctz(set)] - base) ^ first;
    return differ >> CGA_WINDOW_BITS == 0 && is_own(c, slot, shared, first);
}

/* Bits in which some address of a full warp is not as in the first. */
static uint64_t differences(const uint64_t list[32], uint64_t move)
{
    const lane_pair distance = { move, move }, first = { list[0] + move, list[0] + move };
    lane_pair differ = { 0, 0 };
    for (uint32_t i = 0; i < 32; i += 2) {
        lane_pair pair;
        memcpy(&pair, &list[i], sizeof pair);
        differ |= (pair + distance) ^ first;
    }
    return differ[0] | differ[1];
}

/* The same, if the block has the addresses as a list: there is no need to work them out by lane. False: not known. */
static bool list_stays(const core *c, const flight *f, uint32_t slot)
{
    const cta_state *cta = &c->blocks.at[slot];
    const uint32_t mode = f->dyn->addr & 3;
    if (f->mask == 0 || f->dyn->addr == LS_ADDR_NONE || mode == LS_ADDR_RECORD || mode == LS_ADDR_STRIDE)
        return false;
    const bool shared = f->inst->space == LS_SPACE_SHARED;
    const uint64_t *list = cta->launch.cta->addrs + (f->dyn->addr >> 2);
    const uint64_t move = ls_cta_move(cta->launch.cta, f->dyn) - (shared ? 0 : cta->launch.info->shared_base);
    const uint64_t first = list[0] + move;
    uint64_t differ = 0;
    if (f->mask == UINT32_MAX)
        differ = differences(list, move);
    else
        for (uint32_t i = 1, count = lane_count(f->mask); i < count; i++)
            differ |= (list[i] + move) ^ first;
    return differ >> CGA_WINDOW_BITS == 0 && is_own(c, slot, shared, first);
}

/* Lanes by the rank that they go to, except those that stay; the return value: ranks that have some. */
static uint32_t sort_lanes(const core *c, const flight *f, uint32_t slot, const uint64_t addresses[32],
                           uint32_t lanes[LS_CLUSTER_BLOCKS])
{
    const uint32_t own = cga_rank(c, slot);
    uint32_t ranks = 0;
    for (uint32_t set = f->mask; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set), rank;
        uint64_t address = addresses[lane];
        if (f->inst->space != LS_SPACE_SHARED) /* generic, or a reduction (ldst_space()) */
            address -= c->blocks.at[slot].launch.info->shared_base;
        else if (address >> CGA_WINDOW_BITS == 0)
            continue;
        rank = cga_rank_of(c, slot, address);
        if (rank == own)
            continue;
        lanes[rank] = (ranks >> rank & 1) == 0 ? 1u << lane : lanes[rank] | 1u << lane;
        ranks |= 1u << rank;
    }
    return ranks;
}

/* Somebody reads the old value of an atomic. */
static bool returns_value(const ls_inst *inst)
{
    for (uint32_t i = 0; i < inst->dst_count; i++)
        if (inst->dst[i] != LS_REG_ZERO)
            return true;
    return false;
}

static cga_kind kind_of(const ls_inst *inst)
{
    switch ((ls_mem_op)inst->mem_op) {
    case LS_MEM_STORE:
        return CGA_STORE;
    case LS_MEM_REDUCTION:
        return CGA_REDUCE;
    case LS_MEM_ATOMIC:
        return returns_value(inst) ? CGA_ATOMIC : CGA_REDUCE;
    default:
        return CGA_LOAD;
    }
}

static inline bool is_posted(cga_kind kind)
{
    return kind == CGA_STORE || kind == CGA_REDUCE;
}

static uint64_t *counter_of(core *c, cga_kind kind)
{
    cga_counters *n = &c->n.options.cga;
    return kind == CGA_LOAD     ? &n->loads
           : kind == CGA_STORE  ? &n->stores
           : kind == CGA_REDUCE ? &n->reductions
                                : &n->atomics;
}

/* The lanes of one block; returns how many messages they are. */
static uint32_t send_lanes(core *c, uint16_t index, uint32_t slot, uint32_t rank, const uint64_t addresses[32],
                           uint32_t lanes)
{
    const flight *f = &c->flights.at[index];
    const cga_kind kind = kind_of(f->inst);
    uint32_t bytes = lane_count(lanes) * f->inst->width_bytes;
    uint32_t cycles = shared_conflicts_of(c, f->inst, addresses, lanes);
    uint32_t count = (bytes + CGA_LINE - 1) / CGA_LINE;
    count = count == 0 ? 1 : count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t part = bytes > CGA_LINE ? CGA_LINE : bytes, share = cycles / (count - i);
        const cga_message m = { .kind = (uint8_t)kind,
                                .cycles = (uint16_t)(share > 0 ? share : 1),
                                .bytes = (uint16_t)part,
                                .token = is_posted(kind) ? STORE_BIT | f->warp : index };
        cga_send(c, slot, rank, &m, c->now);
        cycles -= share;
        bytes -= part;
    }
    *counter_of(c, kind) += count;
    return count;
}

static uint32_t send_all(core *c, uint16_t index, uint32_t slot, const uint64_t addresses[32], uint32_t ranks,
                         const uint32_t lanes[LS_CLUSTER_BLOCKS])
{
    uint32_t sent = 0;
    for (uint32_t set = ranks; set != 0; set &= set - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(set);
        sent += send_lanes(c, index, slot, rank, addresses, lanes[rank]);
    }
    flight *f = &c->flights.at[index];
    if (is_posted(kind_of(f->inst)))
        c->front.warps[f->warp].stores = (uint16_t)(c->front.warps[f->warp].stores + sent);
    else
        f->requests = (uint16_t)sent;
    return sent;
}

bool cga_completes(const ls_inst *inst)
{
    return (inst->flags & LS_INST_UNMODELLED) != 0 &&
           (inst->mem_op == LS_MEM_STORE || inst->mem_op == LS_MEM_REDUCTION);
}

/* Lanes that name the same block and the same mbarrier as the first one. */
static uint32_t lanes_with(const core *c, uint32_t slot, const uint64_t addresses[32], uint32_t left)
{
    const uint32_t first = (uint32_t)__builtin_ctz(left), rank = cga_rank_of(c, slot, addresses[first]);
    uint32_t lanes = 0;
    for (uint32_t set = left; set != 0; set &= set - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(set);
        if (cga_rank_of(c, slot, addresses[lane]) == rank && addresses[lane] >> 32 == addresses[first] >> 32)
            lanes |= 1u << lane;
    }
    return lanes;
}

/* STAS and REDAS. The offsets of the lanes decide how long they have the banks, twice for a reduction. */
static void send_completing(core *c, uint32_t slot, const flight *f, uint64_t addresses[32])
{
    const bool reduces = f->inst->mem_op == LS_MEM_REDUCTION;
    uint64_t offsets[32];
    for (uint32_t set = f->mask; set != 0; set &= set - 1)
        offsets[__builtin_ctz(set)] = addresses[__builtin_ctz(set)] & UINT32_MAX;
    for (uint32_t left = f->mask, lanes; left != 0; left &= ~lanes) {
        const uint64_t first = addresses[__builtin_ctz(left)];
        lanes = lanes_with(c, slot, addresses, left);
        uint32_t cycles = shared_conflicts_of(c, f->inst, offsets, lanes) << reduces;
        uint32_t bytes = lane_count(lanes) * f->inst->width_bytes, count = (bytes + CGA_LINE - 1) / CGA_LINE;
        cga_message m = { .kind = CGA_DATA,
                          .address = (uint32_t)(first >> 32) & ((1u << CGA_WINDOW_BITS) - 1) };
        for (; count > 0; count--, bytes -= m.bytes, cycles -= cycles > m.cycles ? m.cycles : cycles) {
            m.bytes = (uint16_t)(bytes > CGA_LINE ? CGA_LINE : bytes);
            m.count = m.bytes;
            m.cycles = (uint16_t)(cycles / count);
            if (cga_size(c, slot) > 1)
                cga_send(c, slot, cga_rank_of(c, slot, first), &m, c->now);
            else if (c->options.cga->hooks != NULL)
                c->options.cga->hooks->data(c, slot, &m, c->now);
            *counter_of(c, reduces ? CGA_REDUCE : CGA_STORE) += 1;
        }
    }
}

bool cga_access(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    const uint32_t slot = c->front.warps[f->warp].cta;
    uint64_t addresses[32];
    uint32_t lanes[LS_CLUSTER_BLOCKS], away = 0;
    const bool completes = cga_completes(f->inst);
    if (!completes && (cga_size(c, slot) == 1 || list_stays(c, f, slot)))
        return false;
    ls_cta_addresses(c->blocks.at[slot].launch.cta, f->dyn, addresses);
    if (!completes && all_stay(c, f, slot, addresses))
        return false;
    uint32_t ranks = completes ? 0 : sort_lanes(c, f, slot, addresses, lanes);
    if (ranks == 0 && !completes)
        return false;
    for (uint32_t set = ranks; set != 0; set &= set - 1)
        away |= lanes[__builtin_ctz(set)];
    if (!cga_can_send(c, ROOM)) {
        c->options.cga->stalled = index;
        c->options.due = 0;
        c->ldst.hold = LS_CYCLE_MAX / 2;
        f->requests = 1; /* it is none of the own shared memory */
        return true;
    }
    f->requests = 0;
    if (completes) {
        send_completing(c, slot, f, addresses);
        return true;
    }
    (void)send_all(c, index, slot, addresses, ranks, lanes);
    if ((f->mask & ~away) != 0) { /* some stay */
        (void)ldst_port_take(c, c->now, shared_conflicts_of(c, f->inst, addresses, f->mask & ~away));
        c->n.shared_accesses++;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- answers */

static void answered(core *c, uint32_t token)
{
    if ((token & STORE_BIT) != 0) {
        uint32_t warp = token & ~STORE_BIT;
        c->front.warps[warp].stores--;
        cta_warp_maybe_done(c, warp);
        return;
    }
    flight *f = &c->flights.at[token];
    if (--f->requests > 0)
        return;
    ldst_atomic_done(c, f);
    flight_release_registers(c, (uint16_t)token);
    flight_complete(c, (uint16_t)token);
}

void cga_cycle(core *c)
{
    cga *cl = c->options.cga;
    while (!ring_empty(&cl->token_ring))
        answered(c, cl->tokens[ring_pop(&cl->token_ring)]);
    if (cl->stalled == NO_FLIGHT || !cga_can_send(c, ROOM))
        return;
    uint16_t index = cl->stalled;
    cl->stalled = NO_FLIGHT;
    c->ldst.hold = 0;
    (void)cga_access(c, index);
    c->ldst.dispatch_until = c->now + 1 + c->ldst.hold;
    c->ldst.memory_next = ldst_has_messages(c) ? c->now : c->now + 1;
}

ls_cycle cga_next(const core *c)
{
    const cga *cl = c->options.cga;
    return !ring_empty(&cl->token_ring) || (cl->stalled != NO_FLIGHT && cga_can_send(c, ROOM)) ? c->now + 1
                                                                                               : LS_CYCLE_MAX;
}
