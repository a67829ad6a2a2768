/* analytic.c: when the accesses of a core are answered, by formula. May touch its core, nothing outside of
 * it.
 *
 * An access that has been coalesced knows at once when it ends. Its latency is that of the level it reaches
 * (drawn in the shares of the profile, or their mean), and it waits for what it uses:
 *
 *   the unit     one cycle per round of L1 banks (or per conflict of shared memory); in order
 *   MSHRs        a sector that leaves L1 holds one until it is answered; without a free one the unit stands
 *                still
 *   the network  one sector per cycle and core
 *   L2, DRAM     the core's share of what all slices and channels can do: while `cores` of them are at work
 *                each gets one part in `cores`
 *
 * The last three are queues of which only the end is known (in RATES_ONE of a core cycle): an access joins at
 * the end and moves it. So nothing is exchanged with other cores, and a core with nothing but loads on their
 * way sleeps until the first of them ends. */
#include "model/core/formula.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- the wheel */

static void put(core *c, uint16_t index, ls_cycle due)
{
    analytic *a = c->analytic;
    a->due[index] = due;
    ls_cycle slot_cycle = due - c->now >= SLOTS ? c->now + SLOTS - 1 : due;
    uint32_t slot = (uint32_t)slot_cycle & SLOT_MASK;
    c->flights.at[index].next = a->slots[slot];
    a->slots[slot] = index;
    a->used[slot >> 6] |= UINT64_C(1) << (slot & 63);
    a->used_words |= UINT64_C(1) << (slot >> 6);
    a->on_way++;
}

/* The next cycle after now with a slot in use; the wheel is not empty. */
static ls_cycle next_slot(const core *c)
{
    const analytic *a = c->analytic;
    uint32_t from = (uint32_t)(c->now + 1) & SLOT_MASK, word = from >> 6;
    uint64_t here = a->used[word] >> (from & 63) << (from & 63);
    if (here == 0) {
        /* Words after this one, and then from the start; this one again for the slots below `from`. */
        uint64_t later = word == 63 ? 0 : a->used_words >> (word + 1) << (word + 1);
        word = (uint32_t)__builtin_ctzll(later != 0 ? later : a->used_words);
        here = a->used[word];
    }
    uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(here);
    return c->now + 1 + ((slot - from) & SLOT_MASK);
}

static void finish(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    if (f->space == LS_SPACE_SHARED || f->requests == 0) {
        ldst_atomic_done(c, f);
        flight_release_registers(c, index);
        flight_complete(c, index);
    } else {
        ldst_arrived(c, index);
    }
}

static void sweep(core *c)
{
    analytic *a = c->analytic;
    uint32_t slot = (uint32_t)c->now & SLOT_MASK;
    if ((a->used[slot >> 6] >> (slot & 63) & 1) == 0)
        return;
    a->used[slot >> 6] &= ~(UINT64_C(1) << (slot & 63));
    if (a->used[slot >> 6] == 0)
        a->used_words &= ~(UINT64_C(1) << (slot >> 6));
    /* Later ones stand in front: turn the list round, so that the older goes first. */
    uint16_t ordered = NO_FLIGHT;
    for (uint16_t index = a->slots[slot], next; index != NO_FLIGHT; index = next) {
        next = c->flights.at[index].next;
        c->flights.at[index].next = ordered;
        ordered = index;
    }
    a->slots[slot] = NO_FLIGHT;
    for (uint16_t index = ordered, next; index != NO_FLIGHT; index = next) {
        next = c->flights.at[index].next;
        a->on_way--;
        if (a->due[index] > c->now)
            put(c, index, a->due[index]);
        else
            finish(c, index);
    }
}

/* ----------------------------------------------------------------------------------------------- the unit */

bool analytic_can_take(const core *c)
{
    return c->analytic->unit_free <= c->now;
}

ls_cycle *analytic_unit(core *c)
{
    return &c->analytic->unit_free;
}

uint32_t analytic_rounds(const core *c)
{
    uint32_t banks = c->ldst.l1_banks, n = c->ldst.sector_count;
    if (n <= 1)
        return 1;
    uint64_t first = c->ldst.sectors[0], last = c->ldst.sectors[n - 1];
    if (last - first == (uint64_t)(n - 1) * SECTOR_BYTES)
        return (n + banks - 1) / banks;
    uint32_t rounds = 1, taken = 0;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t bit = 1u << (c->ldst.sectors[i] / SECTOR_BYTES) % banks;
        if ((taken & bit) != 0) {
            rounds++;
            taken = 0;
        }
        taken |= bit;
    }
    return rounds;
}

bool analytic_bypasses(const core *c, const ls_inst *inst)
{
    return (inst->flags & (c->spec->accelsim_rules ? LS_INST_ACCEL_BYPASS : LS_INST_BYPASS_L1)) != 0 ||
           (c->spec->bypass_l1 && (inst->space == LS_SPACE_GLOBAL || inst->space == LS_SPACE_GENERIC));
}

static void count_now(core *c, flight *f)
{
    f->counted = true;
    count_for(c, f->warp);
    c->n.warp_instructions++;
    c->n.thread_instructions += (uint32_t)__builtin_popcount(f->mask);
}

void analytic_take(core *c, uint16_t index)
{
    analytic *a = c->analytic;
    flight *f = &c->flights.at[index];
    c->ldst.dispatch = NO_FLIGHT;
    if (f->space == LS_SPACE_SHARED) {
        uint32_t cycles = c->ldst.conflict_cycles == 0 ? 1 : c->ldst.conflict_cycles;
        c->n.bank_conflict_cycles += cycles - 1;
        a->unit_free = c->now + cycles;
        bool waits = f->inst->mem_op != LS_MEM_STORE && f->mask != 0;
        put(c, index, c->now + cycles + (waits ? c->spec->shared_latency_cycles + 1 : 0));
        return;
    }
    if (c->ldst.sector_count == 0) {
        f->requests = 0;
        a->unit_free = c->now + 1;
        put(c, index, c->now + 1);
        return;
    }
    uint32_t banks = c->ldst.l1_banks, rounds = ldst_rounds_past_l1(c, c->ldst.sector_count);
    if (!analytic_bypasses(c, f->inst)) {
        rounds = analytic_rounds(c);
        c->n.l1_bank_conflicts += rounds - (c->ldst.sector_count + banks - 1) / banks;
    }
    a->unit_free = c->now + rounds;
    f->requests = 1;
    const core_launch *launch = &c->blocks.at[c->front.warps[f->warp].cta].launch;
    const rates_inst *rate = rates_of(launch->rates, f->inst->pc);
    ls_cycle end =
        formula_access(c, launch, rate, f->inst->mem_op != LS_MEM_STORE, c->ldst.sector_count, rounds, c->now);
    formula_count(c);
    ls_cycle left = c->now + rounds; /* the instruction leaves the unit */
    if (f->inst->mem_op == LS_MEM_STORE) {
        /* Its warp goes on; it may not end before the answer. */
        flight_release_registers(c, index);
        count_now(c, f);
    } else if (f->inst->dst_count == 0) {
        count_now(c, f);
    }
    put(c, index, end + 1 > left ? end + 1 : left);
}

bool analytic_request(core *c, uint32_t token)
{
    analytic *a = c->analytic;
    if (a->request_tail - a->request_head == REQUESTS)
        return false;
    a->requests[a->request_tail++ % REQUESTS].token = token;
    a->requests[(a->request_tail - 1) % REQUESTS].due =
        c->now + a->machine.request_cycles + a->machine.reply_cycles;
    return true;
}

void analytic_cycle(core *c)
{
    analytic *a = c->analytic;
    if (a->on_way > 0)
        sweep(c);
    while (a->request_head != a->request_tail && a->requests[a->request_head % REQUESTS].due <= c->now)
        options_reply(c, a->requests[a->request_head++ % REQUESTS].token);
}

ls_cycle analytic_next(const core *c)
{
    const analytic *a = c->analytic;
    ls_cycle next = a->on_way > 0 ? next_slot(c) : LS_CYCLE_MAX;
    /* An instruction waits for the unit. */
    if (a->unit_free > c->now && a->unit_free < next && pipes_wait(c))
        next = a->unit_free;
    if (a->request_head != a->request_tail) {
        ls_cycle due = a->requests[a->request_head % REQUESTS].due;
        next = due < next ? due : next;
    }
    return next <= c->now ? c->now + 1 : next;
}

/* ------------------------------------------------------------------------------------------------- set-up */

analytic *analytic_create(core *c)
{
    analytic *a = ls_domain_alloc(c->domain, sizeof *a);
    if (a != NULL)
        memset(a->slots, 0xff, sizeof a->slots); /* NO_FLIGHT */
    return a;
}

void analytic_set_machine(core *c, const rates_machine *machine)
{
    analytic *a = c->analytic;
    a->machine = *machine;
    a->request = formula_fixed(machine->request_cycles);
    a->reply = formula_fixed(machine->reply_cycles);
    a->room[0] = formula_fixed(machine->buffered);
    a->room[1] = formula_fixed(c->ldst.l1->spec->mshr_entries);
    a->look_cycles = c->ldst.l1_latency_cycles - 1;
    a->salt = c->id * 0xc2b2ae35u;
    a->expected = c->spec->analytic.latency == ANALYTIC_EXPECTED;
}
