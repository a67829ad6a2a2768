/* mbarrier.c: see mbarrier.h: the table of mbarriers, the effects of instructions and of copies on them. May touch its
 * core only. */
#include "model/core/core.h"

#include "isa/sass/sass.h"

#include <inttypes.h>
#include <stdio.h>

#define USED 0x80000000u
#define EMPTY 0u
#define ENDED 1u /* of a block that has ended: the search goes on behind it */
#define NONE UINT32_MAX

/* --------------------------------------------------------------------------------------------------- table */

static uint32_t key_of(uint32_t slot, uint32_t address)
{
    return USED | slot << 24 | (address & MBARRIER_OFFSET);
}

static uint32_t place_of(uint32_t key)
{
    return (key >> 3 ^ key >> 24 << 4) % MBARRIERS; /* they lie 8 bytes apart */
}

static uint32_t find(const mbarriers *m, uint32_t key)
{
    for (uint32_t i = 0, at = place_of(key); i < MBARRIERS; i++, at = (at + 1) % MBARRIERS) {
        if (m->at[at].key == key)
            return at;
        if (m->at[at].key == EMPTY)
            break;
    }
    return NONE;
}

static uint32_t add(mbarriers *m, uint32_t key)
{
    for (uint32_t i = 0, at = place_of(key); i < MBARRIERS; i++, at = (at + 1) % MBARRIERS)
        if ((m->at[at].key & USED) == 0) {
            m->at[at] = (mbarrier){ .key = key };
            m->used++;
            return at;
        }
    return NONE;
}

void mbarrier_end_cta(core *c, uint32_t slot)
{
    mbarriers *m = &c->async->mbarriers;
    if (m->used == 0)
        return;
    for (uint32_t i = 0; i < MBARRIERS; i++)
        if ((m->at[i].key & USED) != 0 && (m->at[i].key >> 24 & 0x7f) == slot) {
            m->at[i].key = ENDED;
            m->used--;
        }
    if (m->used == 0)
        for (uint32_t i = 0; i < MBARRIERS; i++)
            m->at[i].key = EMPTY;
}

/* ------------------------------------------------------------------------------------------------- effects */

/* A full table and an address that no init has named end the run. */
static mbarrier *look_up(core *c, uint32_t slot, uint32_t address, bool init)
{
    mbarriers *m = &c->async->mbarriers;
    uint32_t key = key_of(slot, address), at = find(m, key);
    if (at == NONE && init) {
        at = add(m, key);
        if (at == NONE)
            async_fail(c, "the blocks of a core have more than %u mbarriers", MBARRIERS);
    } else if (at == NONE) {
        async_fail(c, "block %" PRIu64 " uses the mbarrier at 0x%x, which it has not initialised",
                   c->blocks.at[slot].launch.cta->index, address & MBARRIER_OFFSET);
    }
    return at == NONE ? NULL : &m->at[at];
}

/* Ends the phase, if all has come, and wakes the warps that wait for it. */
static void settle(core *c, mbarrier *b, ls_cycle now)
{
    if (b->pending != 0 || b->bytes != 0)
        return;
    b->phase++;
    b->pending = b->arrivals;
    c->n.async.mbarrier.phases++;
    for (; b->waiters != 0; b->waiters &= b->waiters - 1)
        async_later(c, now + c->async->spec->mbarrier.wake_cycles, ASYNC_WAKE,
                    (uint32_t)__builtin_ctzll(b->waiters), 0);
}

void mbarrier_apply(core *c, uint32_t slot, uint32_t address, ls_mbarrier_op op, uint64_t value, ls_cycle now)
{
    mbarrier *b = look_up(c, slot, address, op == LS_MBARRIER_INIT);
    if (b == NULL)
        return;
    switch (op) {
    case LS_MBARRIER_INIT:
        *b = (mbarrier){ .key = b->key, .arrivals = (int32_t)value, .pending = (int32_t)value };
        return;
    case LS_MBARRIER_ARRIVE_EXPECT:
        b->bytes += (int64_t)value;
        b->pending--;
        break;
    case LS_MBARRIER_ARRIVE:
        b->pending -= (int32_t)value;
        break;
    case LS_MBARRIER_EXPECT:
        b->bytes += (int64_t)value;
        break;
    case LS_MBARRIER_COMPLETE:
        b->bytes -= (int64_t)value;
        break;
    default:
        return;
    }
    settle(c, b, now);
}

/* Of the block itself, or of another one of its cluster: bits above the offset are the rank. */
static void apply_at(core *c, uint32_t slot, uint64_t address, ls_mbarrier_op op, uint64_t value, ls_cycle now)
{
    const ls_cta *cta = c->blocks.at[slot].launch.cta;
    uint32_t rank = (uint32_t)(address >> 24 & 0xff);
    if (cta->in_cluster && rank != cta->cluster_rank)
        async_remote(c, slot, rank, (uint32_t)address & MBARRIER_OFFSET, op, value, 0, now);
    else
        mbarrier_apply(c, slot, (uint32_t)address, op, value, now);
}

/* try_wait and test_wait: a phase of this parity is over if the present one has the other parity. */
static void wait(core *c, uint32_t warp, uint64_t address, bool sleeps, uint64_t parity, ls_cycle now)
{
    mbarrier *b = look_up(c, c->front.warps[warp].cta, (uint32_t)address, false);
    if (b == NULL)
        return;
    bool over = (b->phase & 1) != (parity & 1);
    mbarrier_counters *n = &c->n.async.mbarrier;
    n->waits += sleeps;
    n->slept += sleeps && !over;
    n->tests += !sleeps;
    n->tests_failed += !sleeps && !over;
    if (sleeps && !over) {
        b->waiters |= UINT64_C(1) << warp;
        c->async->warps[warp].mbarrier = (uint32_t)(b - c->async->mbarriers.at) + 1;
    } else {
        async_later(c, now + c->async->spec->mbarrier.wake_cycles, ASYNC_WAKE, warp, 0);
    }
}

/* -------------------------------------------------------------------------------------------- instructions */

/* The operation and the value of one lane; false if the trace lacks the operand. */
static bool operand(const uint64_t *record, uint32_t mask, uint32_t lane, ls_mbarrier_op *op, uint64_t *value)
{
    switch (*op) {
    case LS_MBARRIER_ARRIVE_ONE:
    case LS_MBARRIER_ASYNC_ARRIVE:
        *op = LS_MBARRIER_ARRIVE;
        *value = 1;
        return true;
    case LS_MBARRIER_EXPECT_ONE:
        *op = LS_MBARRIER_EXPECT;
        *value = 1;
        return true;
    case LS_MBARRIER_ASYNC_COMPLETE:
        *op = LS_MBARRIER_COMPLETE;
        *value = 1;
        return true;
    default:
        break;
    }
    if (record == NULL || !ls_cta_operand(record, mask, lane, value))
        return false;
    if (*op == LS_MBARRIER_INIT)
        *value = (0x100000u - ((uint32_t)*value >> 1)) & 0xfffffu;
    else
        *value = (uint32_t)*value;
    return true;
}

static void fail_lacking(core *c, const ls_inst *inst, const char *what)
{
    async_fail(c, "%s at pc 0x%" PRIx64 ": the trace has no %s", sass_opcode_name(inst->opcode), inst->pc,
               what);
}

void mbarrier_operate(core *c, uint32_t warp, const ls_dyn *dyn, ls_cycle now)
{
    uint32_t slot = c->front.warps[warp].cta;
    const core_launch *launch = &c->blocks.at[slot].launch;
    const ls_inst *inst = &launch->insts[dyn->inst];
    const uint64_t *record = ls_cta_record(launch->cta, dyn);
    const bool waits = inst->mbarrier_op == LS_MBARRIER_WAIT || inst->mbarrier_op == LS_MBARRIER_TEST;
    uint64_t addresses[32], value;
    if (dyn->addr == LS_ADDR_NONE) {
        fail_lacking(c, inst, "address of its mbarrier");
        return;
    }
    if (dyn->mask == 0)
        return;
    if (waits || (dyn->mask & (dyn->mask - 1)) == 0) /* no other lane counts */
        addresses[__builtin_ctz(dyn->mask)] = cta_first_address(launch->cta, dyn);
    else
        ls_cta_addresses(launch->cta, dyn, addresses);
    count_for(c, warp);
    for (uint32_t mask = dyn->mask; mask != 0; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        ls_mbarrier_op op = (ls_mbarrier_op)inst->mbarrier_op;
        if (!operand(record, dyn->mask, lane, &op, &value)) {
            fail_lacking(c, inst, "value of its operand (tracers of version 6 write it)");
            return;
        }
        if (waits) { /* one for all lanes */
            wait(c, warp, addresses[lane], op == LS_MBARRIER_WAIT, value, now);
            return;
        }
        c->n.async.mbarrier.operations++;
        apply_at(c, slot, addresses[lane], op, value, now);
    }
}

/* ------------------------------------------------------------------------------------- asynchronous copies */

void mbarrier_copy_begins(core *c, uint32_t warp, uint16_t flight_index)
{
    async_warp *w = &c->async->warps[warp];
    c->async->batch[flight_index] = w->batch;
    w->copies[w->batch % MBARRIER_COPIES]++;
}

/* Arrivals whose copies, and all before these, have ended. */
static void arrive(core *c, uint32_t warp, ls_cycle at)
{
    async_warp *w = &c->async->warps[warp];
    while (w->head != w->tail && w->copies[w->head % MBARRIER_COPIES] == 0)
        async_later(c, at + c->async->spec->mbarrier.act_cycles, ASYNC_OPERATE, warp,
                    w->arrivals[w->head++ % MBARRIER_COPIES]);
}

void mbarrier_copy_ends(core *c, uint32_t warp, uint16_t flight_index)
{
    async_warp *w = &c->async->warps[warp];
    w->copies[c->async->batch[flight_index] % MBARRIER_COPIES]--;
    arrive(c, warp, c->now);
}

void mbarrier_arrive_later(core *c, uint32_t warp, const ls_dyn *dyn, ls_cycle at)
{
    async_warp *w = &c->async->warps[warp];
    if ((uint8_t)(w->tail - w->head) == MBARRIER_COPIES - 1) {
        async_fail(c, "a warp has more than %u asynchronous arrivals under way", MBARRIER_COPIES - 1);
        return;
    }
    w->arrivals[w->tail++ % MBARRIER_COPIES] = async_dyn(c, warp, dyn);
    w->batch = w->tail;
    arrive(c, warp, at);
}

/* ------------------------------------------------------------------------------------------------- reports */

const char *mbarrier_describe(const core *c, uint32_t warp, char *out, size_t bytes)
{
    uint32_t at = c->async->warps[warp].mbarrier;
    const mbarrier *b = &c->async->mbarriers.at[at - 1];
    if (at == 0)
        return "answer of an mbarrier";
    snprintf(out, bytes,
             "mbarrier 0x%x of block %" PRIu64 ": phase %u lacks %d of %d arrivals and %" PRId64 " bytes",
             b->key & MBARRIER_OFFSET, c->blocks.at[c->front.warps[warp].cta].launch.cta->index, b->phase,
             b->pending, b->arrivals, b->bytes);
    return out;
}
