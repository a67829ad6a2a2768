/* analytic.c: when the accesses of a core are answered, by formula. May touch its core, nothing outside of
 * it.
 *
 * An access that has been coalesced knows at once when it ends. Its latency is that of the level it reaches
 * (drawn in the shares of the profile, or their mean), and it waits for what it uses:
 *
 *   the unit     one cycle per round of L1 banks (or per conflict of shared memory); in order
 *   MSHRs        a sector that leaves L1 holds one until it is answered; without a free one the unit stands still
 *   the network  one sector per cycle and core
 *   L2, DRAM     the core's share of what all slices and channels can do: while `cores` of them are at work each
 *                gets one part in `cores`
 *
 * The last three are queues of which only the end is known (in RATES_ONE of a core cycle): an access joins at
 * the end and moves it. So nothing is exchanged with other cores, and a core with nothing but loads on their
 * way sleeps until the first of them ends. */
#include "model/core/core.h"
#include "model/core/hybrid.h"

#include <string.h>

#define SLOTS 4096u /* cycles ahead that the wheel sees; what is further away comes round again */
#define SLOT_MASK (SLOTS - 1)
#define DRAWS 1024u  /* counters, shared by instructions that are 8 KiB apart */
#define HELD 1024u   /* accesses that hold MSHRs, at most one per flight that missed */
#define REQUESTS 64u /* of read-only caches */
#define GOLDEN 2654435769u

/* Fixed parts of the way that the cycle model has in stages: from the unit to the tags nothing, from the tags
 * to the register of a hit one cycle, and from the reply to the register what rates_machine.reply_cycles has
 * in it. */

/* Something of which there are few, held by accesses until they end; in the order of their starts. */
typedef struct held {
    uint64_t sectors;    /* in RATES_ONE */
    uint32_t head, tail; /* ring */
    struct {
        ls_cycle until;
        uint32_t sectors;
    } at[HELD];
} held;

struct analytic {
    rates_machine machine;
    /* Of machine and the core's spec, in the form in which each access needs it: */
    uint64_t request, reply;     /* in RATES_ONE */
    uint64_t room[2];            /* sectors in RATES_ONE: buffers of stores; MSHRs */
    uint32_t look_cycles;        /* from the last round of the banks to the tags */
    uint32_t salt;               /* of the core, for draw() */
    bool expected;               /* ANALYTIC_EXPECTED */
    ls_cycle unit_free;          /* first cycle in which the unit takes an instruction */
    uint64_t network, l2, dram;  /* ends of the queues, in RATES_ONE of a cycle */
    uint32_t l2_part, dram_part; /* of expected sectors that are not whole yet */
    uint32_t mean_part;          /* likewise, of cycles */
    held mshrs, buffers;         /* of loads; of stores */
    ls_cycle last_load;          /* when the last load that left L1 ends */
    uint32_t drawn[DRAWS];       /* accesses so far, by pc */
    ls_cycle due[CORE_FLIGHTS];  /* when the flight ends */
    uint16_t slots[SLOTS];       /* lists of flights */
    uint64_t used[SLOTS / 64];   /* bit i: slots[i] is not empty */
    uint64_t used_words;         /* bit i: used[i] != 0 */
    uint32_t on_way;
    ls_cycle swept; /* every slot before this cycle is empty */
    struct {
        ls_cycle due;
        uint32_t token;
    } requests[REQUESTS];
    uint32_t request_head, request_tail;
};

/* ---------------------------------------------------------------------------------------------- the wheel */

static void put(core *c, uint16_t index, ls_cycle due)
{
    analytic *a = c->analytic;
    a->due[index] = due;
    ls_cycle slot_cycle = due - c->now >= SLOTS ? c->now + SLOTS - 1 : due;
    uint32_t slot = (uint32_t)slot_cycle & SLOT_MASK;
    c->flights[index].next = a->slots[slot];
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
    flight *f = &c->flights[index];
    if (f->space == LS_SPACE_SHARED || f->requests == 0) {
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
        next = c->flights[index].next;
        c->flights[index].next = ordered;
        ordered = index;
    }
    a->slots[slot] = NO_FLIGHT;
    for (uint16_t index = ordered, next; index != NO_FLIGHT; index = next) {
        next = c->flights[index].next;
        a->on_way--;
        if (a->due[index] > c->now)
            put(c, index, a->due[index]);
        else
            finish(c, index);
    }
}

/* -------------------------------------------------------------------------------------------- the formula */

static inline uint64_t fixed(ls_cycle cycle)
{
    return cycle << RATES_SHIFT;
}

static inline ls_cycle whole(uint64_t time)
{
    return (time + RATES_ONE - 1) >> RATES_SHIFT;
}

/* Joins a queue at `arrival` and takes `length` of it; returns when that is over. */
static inline uint64_t join(uint64_t *end, uint64_t arrival, uint64_t length)
{
    *end = (*end > arrival ? *end : arrival) + length;
    return *end;
}

/* The levels come in the shares of the profile whatever the order of instructions is: a sequence that fills
 * [0, 2^32) evenly, for each instruction its own. */
static inline rates_level draw(analytic *a, const rates_inst *rate)
{
    if (rate->to_wait == 0)
        return RATES_L1;
    if (rate->to_dram == UINT32_MAX)
        return RATES_DRAM;
    uint32_t x = ++a->drawn[rate->place % DRAWS] * GOLDEN + rate->place * 0x85ebca6bu + a->salt;
    if (x < rate->to_dram)
        return RATES_DRAM;
    if (x < rate->to_l2 || rate->to_l2 == UINT32_MAX)
        return RATES_L2;
    return x < rate->to_wait || rate->to_wait == UINT32_MAX ? RATES_WAIT : RATES_L1;
}

/* The first cycle from `from` on in which so many sectors (in RATES_ONE) find room. */
static inline ls_cycle find_room(held *h, uint64_t limit, ls_cycle from, uint64_t sectors)
{
    if (h->sectors + sectors <= limit && h->tail - h->head < HELD)
        return from; /* even if none of those that have ended is taken away */
    while (h->head != h->tail) {
        ls_cycle until = h->at[h->head % HELD].until;
        bool needed = h->sectors + sectors > limit || h->tail - h->head == HELD;
        if (until > from && !needed)
            break;
        from = until > from ? until : from;
        h->sectors -= h->at[h->head++ % HELD].sectors;
    }
    return from;
}

static void take_room(held *h, uint64_t sectors, ls_cycle until)
{
    h->at[h->tail % HELD].until = until;
    h->at[h->tail++ % HELD].sectors = (uint32_t)sectors;
    h->sectors += sectors;
}

static void count_traffic(core *c, uint64_t l2, uint64_t dram, bool missed)
{
    analytic *a = c->analytic;
    uint64_t sum = a->l2_part + l2;
    c->n.analytic.l2_sectors += sum >> RATES_SHIFT;
    c->n.analytic.l2_misses += missed ? sum >> RATES_SHIFT : 0;
    a->l2_part = (uint32_t)(sum & (RATES_ONE - 1));
    sum = a->dram_part + dram;
    c->n.analytic.dram_sectors += sum >> RATES_SHIFT;
    a->dram_part = (uint32_t)(sum & (RATES_ONE - 1));
}

/* The mean of the levels' latencies beyond L1, in RATES_ONE: equation 1 without its first term. */
static uint64_t expected_beyond(const rates_inst *rate, uint64_t to_l2_cycles, uint64_t to_dram_cycles)
{
    uint64_t l2 = rate->to_l2 - rate->to_dram, dram = rate->to_dram;
    return (l2 * to_l2_cycles + dram * to_dram_cycles) >>
           (32 - RATES_SHIFT); /* of all accesses, also those that hit */
}

/* An access that hits L1, or one with the mean latency that needs nothing of the rest. */
static ls_cycle access_l1(core *c, const core_launch *launch, const rates_inst *rate, bool load,
                          ls_cycle looked)
{
    analytic *a = c->analytic;
    if (!a->expected || !load)
        return looked;
    uint64_t near = a->machine.request_cycles + a->machine.reply_cycles;
    uint64_t sum = a->mean_part + expected_beyond(rate, near, near + launch->rates->dram_cycles);
    a->mean_part = (uint32_t)(sum & (RATES_ONE - 1));
    return looked + (sum >> RATES_SHIFT);
}

ls_cycle analytic_access(core *c, const core_launch *launch, const rates_inst *rate, bool load,
                         uint64_t sectors, uint32_t rounds, ls_cycle now)
{
    analytic *a = c->analytic;
    const rates_machine *m = &a->machine;
    rates_level level = draw(a, rate);
    ls_cycle looked = now + rounds + a->look_cycles;
    c->n.l1.accesses += sectors;
    *(load ? &c->n.l1.reads : &c->n.l1.writes) += sectors;
    if (level == RATES_L1) {
        c->n.l1.hits += sectors;
        return access_l1(c, launch, rate, load, looked);
    }
    uint64_t l2 = sectors * rate->l2_sectors[level], dram = sectors * rate->dram_sectors[level];
    uint64_t missed = (l2 + RATES_ONE / 2) >> RATES_SHIFT;
    missed = missed < sectors ? missed : sectors;
    c->n.l1.misses += missed;
    c->n.l1.hits += sectors - missed;
    if (level == RATES_WAIT) /* those that fetch were a little earlier, or are back already */
        return a->last_load > looked ? a->last_load : looked;
    held *room = load ? &a->mshrs : &a->buffers;
    ls_cycle begin = find_room(room, a->room[load], looked, l2);
    c->n.analytic.mshr_cycles += begin - looked;
    a->unit_free += begin - looked;
    const rates_kernel *rates = launch->rates;
    count_traffic(c, l2, dram, level == RATES_DRAM);
    uint64_t on_wire = l2 * m->network_cycles >> RATES_SHIFT, request = a->request, reply = a->reply;
    uint64_t sent = join(&a->network, fixed(begin), on_wire);
    uint64_t served =
        join(&a->l2, sent - on_wire + request, l2 * launch->cores * rates->l2_cost >> RATES_SHIFT);
    served = served > sent + request ? served : sent + request;
    uint64_t moved = served;
    if (dram != 0)
        moved = join(&a->dram, served, dram * launch->cores * rates->dram_cost >> RATES_SHIFT);
    uint64_t alone = fixed(begin) + on_wire + request + reply, end;
    if (!load) {
        /* Write-backs wait in the queues of DRAM; a store waits for them once these are full. */
        uint64_t queue = (uint64_t)m->dram_queue * rates->dram_cost;
        end = (moved > served + queue ? moved - queue : served) + reply;
    } else if (a->expected) {
        uint64_t near = m->request_cycles + m->reply_cycles;
        end = (moved > served ? moved : served) - request +
              expected_beyond(rate, near, near + rates->dram_cycles);
        alone += expected_beyond(rate, near, near + rates->dram_cycles) - fixed(near);
    } else if (level == RATES_DRAM) {
        end = moved + fixed(rates->dram_cycles) + reply;
        alone += fixed(rates->dram_cycles);
    } else {
        end = served + reply;
    }
    c->n.analytic.queue_cycles += end > alone ? (end - alone) >> RATES_SHIFT : 0;
    ls_cycle done = whole(end);
    take_room(room, l2, done);
    if (load)
        a->last_load = done;
    return done;
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
    uint32_t banks = (uint32_t)c->spec->l1_banks, n = c->sector_count;
    if (n <= 1)
        return 1;
    uint64_t first = c->sectors[0], last = c->sectors[n - 1];
    if (last - first == (uint64_t)(n - 1) * CACHE_SECTOR_BYTES)
        return (n + banks - 1) / banks;
    uint32_t rounds = 1, taken = 0;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t bit = 1u << (c->sectors[i] / CACHE_SECTOR_BYTES) % banks;
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
    return (inst->flags & (c->spec->accelsim_rules ? LS_INST_ACCEL_BYPASS : LS_INST_BYPASS_L1)) != 0;
}

static void count_now(core *c, flight *f)
{
    f->counted = true;
    c->n.warp_instructions++;
    c->n.thread_instructions += (uint32_t)__builtin_popcount(f->mask);
}

void analytic_take(core *c, uint16_t index)
{
    analytic *a = c->analytic;
    flight *f = &c->flights[index];
    c->dispatch = NO_FLIGHT;
    if (f->space == LS_SPACE_SHARED) {
        uint32_t cycles = c->conflict_cycles == 0 ? 1 : c->conflict_cycles;
        c->n.bank_conflict_cycles += cycles - 1;
        a->unit_free = c->now + cycles;
        bool waits = f->inst->mem_op != LS_MEM_STORE && f->mask != 0;
        put(c, index, c->now + cycles + (waits ? c->spec->shared_latency_cycles + 1 : 0));
        return;
    }
    if (c->sector_count == 0) {
        f->requests = 0;
        a->unit_free = c->now + 1;
        put(c, index, c->now + 1);
        return;
    }
    uint32_t banks = (uint32_t)c->spec->l1_banks, rounds = c->sector_count;
    if (!analytic_bypasses(c, f->inst)) {
        rounds = analytic_rounds(c);
        c->n.l1_bank_conflicts += rounds - (c->sector_count + banks - 1) / banks;
    }
    a->unit_free = c->now + rounds;
    f->requests = 1;
    const core_launch *launch = &c->ctas[c->warps[f->warp].cta].launch;
    const rates_inst *rate = rates_of(launch->rates, f->inst->pc);
    ls_cycle end =
        analytic_access(c, launch, rate, f->inst->mem_op != LS_MEM_STORE, c->sector_count, rounds, c->now);
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
    /* Somebody waits for the unit. */
    if (a->unit_free > c->now && a->unit_free < next &&
        (c->executing != 0 || (c->hybrid != NULL && c->hybrid->waiting != 0)))
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

bool core_is_analytic(const ls_block *block)
{
    const core_spec *spec = ls_block_spec(block);
    return spec->analytic.memory == ANALYTIC_ON;
}

void core_set_machine(ls_block *block, const rates_machine *machine)
{
    core *c = ls_block_state(block);
    analytic *a = c->analytic;
    a->machine = *machine;
    a->request = fixed(machine->request_cycles);
    a->reply = fixed(machine->reply_cycles);
    a->room[0] = fixed(machine->buffered);
    a->room[1] = fixed(c->spec->l1.mshr_entries);
    a->look_cycles = (uint32_t)c->spec->l1_latency_cycles - 1;
    a->salt = c->id * 0xc2b2ae35u;
    a->expected = c->spec->analytic.latency == ANALYTIC_EXPECTED;
}

const rates_machine *core_get_machine(const ls_block *block)
{
    const core *c = ls_block_state((ls_block *)(uintptr_t)block);
    return &c->analytic->machine;
}

uint32_t core_network_width(const ls_block *block)
{
    const core_spec *spec = ls_block_spec(block);
    return (uint32_t)spec->network_width;
}

const mem_map *core_get_map(const ls_block *block)
{
    const core *c = ls_block_state((ls_block *)(uintptr_t)block);
    return &c->map;
}

core_l1 core_get_l1(const ls_block *block, uint64_t shared_bytes)
{
    const core_spec *spec = ls_block_spec(block);
    core_l1 l1 = { .cache = spec->l1,
                   .banks = (uint32_t)spec->l1_banks,
                   .latency_cycles = (uint32_t)spec->l1_latency_cycles,
                   .flush = spec->l1_flush,
                   .accelsim_rules = spec->accelsim_rules };
    l1.cache.ways = cta_l1_ways(spec, shared_bytes);
    return l1;
}
