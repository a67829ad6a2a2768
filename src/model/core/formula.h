/* formula.h: the end of an access whose memory is not simulated, and its use of MSHRs, buffers and the queues
 * of network, L2 and DRAM. For analytic.c and flow*.c, which has it in its innermost loop. Touches its core
 * only. */
#ifndef MODEL_CORE_FORMULA_H
#define MODEL_CORE_FORMULA_H

#include "model/core/core.h"

#define SLOTS 4096u /* range of the wheel in cycles; entries further away come round again */
#define SLOT_MASK (SLOTS - 1)
#define DRAWS 1024u  /* counters, shared by instructions that are 8 KiB apart */
#define HELD 1024u   /* accesses that hold MSHRs, at most one per flight that missed */
#define REQUESTS 64u /* of read-only caches */
#define GOLDEN 2654435769u

/* Fixed parts of the path, which the cycle model has in stages. From the unit to the tags: none. From the tags
 * to the register of a hit: one cycle. From the reply to the register: part of rates_machine.reply_cycles. */

/* A scarce resource, held by accesses until they end; in the order of their starts. */
typedef struct formula_held {
    uint64_t sectors;    /* in RATES_ONE */
    uint32_t head, tail; /* ring */
    struct {
        ls_cycle until;
        uint32_t sectors;
    } at[HELD];
} formula_held;

struct analytic {
    rates_machine machine;
    /* Of machine and the core's spec, in the form in which each access needs it: */
    uint64_t request, reply;                      /* in RATES_ONE */
    uint64_t room[2];                             /* sectors in RATES_ONE: buffers of stores; MSHRs */
    uint32_t look_cycles;                         /* from the last round of the banks to the tags */
    uint32_t salt;                                /* of the core, for draw() */
    bool expected;                                /* ANALYTIC_EXPECTED */
    ls_cycle unit_free;                           /* first cycle in which the unit takes an instruction */
    uint64_t network, l2, dram;                   /* ends of the queues, in RATES_ONE of a cycle */
    uint64_t l2_sectors, l2_misses, dram_sectors; /* expected and not counted yet, in RATES_ONE */
    uint32_t mean_part;                           /* of expected cycles that are not whole yet */
    formula_held mshrs, buffers;                  /* of loads; of stores */
    ls_cycle last_load;                           /* when the last load that left L1 ends */
    uint32_t drawn[DRAWS];                        /* accesses so far, by pc */
    ls_cycle due[CORE_FLIGHTS];                   /* when the flight ends */
    uint16_t slots[SLOTS];                        /* lists of flights */
    uint64_t used[SLOTS / 64];                    /* bit i: slots[i] is not empty */
    uint64_t used_words;                          /* bit i: used[i] != 0 */
    uint32_t on_way;
    ls_cycle swept; /* every slot before this cycle is empty */
    struct {
        ls_cycle due;
        uint32_t token;
    } requests[REQUESTS];
    uint32_t request_head, request_tail;
};

static inline uint64_t formula_fixed(ls_cycle cycle)
{
    return cycle << RATES_SHIFT;
}

static inline ls_cycle formula_whole(uint64_t time)
{
    return (time + RATES_ONE - 1) >> RATES_SHIFT;
}

/* Joins a queue at `arrival` and takes `length` of it; returns when that is over. */
static inline uint64_t formula_join(uint64_t *end, uint64_t arrival, uint64_t length)
{
    *end = (*end > arrival ? *end : arrival) + length;
    return *end;
}

/* The levels come in the shares of the profile for any order of instructions: each instruction has its own
 * sequence, which fills [0, 2^32) evenly. */
static inline rates_level formula_draw(analytic *a, const rates_inst *rate)
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
static inline ls_cycle formula_find_room(formula_held *h, uint64_t limit, ls_cycle from, uint64_t sectors)
{
    if (h->sectors + sectors <= limit && h->tail - h->head < HELD)
        return from; /* even if no ended entry is removed */
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

static inline void formula_take_room(formula_held *h, uint64_t sectors, ls_cycle until)
{
    h->at[h->tail % HELD].until = until;
    h->at[h->tail++ % HELD].sectors = (uint32_t)sectors;
    h->sectors += sectors;
}

/* Whole sectors of the expected sum go to the counters. */
static inline void formula_count(core *c)
{
    analytic *a = c->analytic;
    c->n.analytic.l2_sectors += a->l2_sectors >> RATES_SHIFT;
    c->n.analytic.l2_misses += a->l2_misses >> RATES_SHIFT;
    c->n.analytic.dram_sectors += a->dram_sectors >> RATES_SHIFT;
    a->l2_sectors &= RATES_ONE - 1;
    a->l2_misses &= RATES_ONE - 1;
    a->dram_sectors &= RATES_ONE - 1;
}

/* The mean of the levels' latencies beyond L1, in RATES_ONE: equation 1 without its first term. */
static inline uint64_t formula_expected_beyond(const rates_inst *rate, uint64_t to_l2_cycles,
                                               uint64_t to_dram_cycles)
{
    uint64_t l2 = rate->to_l2 - rate->to_dram, dram = rate->to_dram;
    return (l2 * to_l2_cycles + dram * to_dram_cycles) >>
           (32 - RATES_SHIFT); /* of all accesses, also of hits */
}

/* An access that hits L1, or one with the mean latency that needs nothing of the rest. */
static inline ls_cycle formula_access_l1(core *c, const core_launch *launch, const rates_inst *rate, bool load,
                                         ls_cycle looked)
{
    analytic *a = c->analytic;
    if (!a->expected || !load)
        return looked;
    uint64_t near = a->machine.request_cycles + a->machine.reply_cycles;
    uint64_t sum = a->mean_part + formula_expected_beyond(rate, near, near + launch->rates->dram_cycles);
    a->mean_part = (uint32_t)(sum & (RATES_ONE - 1));
    return looked + (sum >> RATES_SHIFT);
}

/* When an access to L1, global or local memory that the unit takes in cycle `now` is answered. */
static inline ls_cycle formula_access(core *c, const core_launch *launch, const rates_inst *rate, bool load,
                                      uint64_t sectors, uint32_t rounds, ls_cycle now)
{
    analytic *a = c->analytic;
    const rates_machine *m = &a->machine;
    rates_level level = formula_draw(a, rate);
    ls_cycle looked = now + rounds + a->look_cycles;
    c->n.l1.accesses += sectors;
    *(load ? &c->n.l1.reads : &c->n.l1.writes) += sectors;
    if (level == RATES_L1) {
        c->n.l1.hits += sectors;
        return formula_access_l1(c, launch, rate, load, looked);
    }
    uint64_t l2 = sectors * rate->l2_sectors[level], dram = sectors * rate->dram_sectors[level];
    uint64_t missed = (l2 + RATES_ONE / 2) >> RATES_SHIFT;
    missed = missed < sectors ? missed : sectors;
    c->n.l1.misses += missed;
    c->n.l1.hits += sectors - missed;
    if (level == RATES_WAIT) /* fetching accesses were a little earlier, or are back already */
        return a->last_load > looked ? a->last_load : looked;
    formula_held *room = load ? &a->mshrs : &a->buffers;
    ls_cycle begin = formula_find_room(room, a->room[load], looked, l2);
    c->n.analytic.mshr_cycles += begin - looked;
    a->unit_free += begin - looked;
    const rates_kernel *rates = launch->rates;
    a->l2_sectors += l2;
    a->l2_misses += level == RATES_DRAM ? l2 : 0;
    a->dram_sectors += dram;
    uint64_t on_wire = l2 * m->network_cycles >> RATES_SHIFT, request = a->request, reply = a->reply;
    uint64_t sent = formula_join(&a->network, formula_fixed(begin), on_wire);
    uint64_t served =
        formula_join(&a->l2, sent - on_wire + request, l2 * launch->cores * rates->l2_cost >> RATES_SHIFT);
    served = served > sent + request ? served : sent + request;
    uint64_t moved = served;
    if (dram != 0)
        moved = formula_join(&a->dram, served, dram * launch->cores * rates->dram_cost >> RATES_SHIFT);
    uint64_t alone = formula_fixed(begin) + on_wire + request + reply, end;
    if (!load) {
        /* Write-backs wait in the queues of DRAM; a store waits for them once these are full. */
        uint64_t queue = (uint64_t)m->dram_queue * rates->dram_cost;
        end = (moved > served + queue ? moved - queue : served) + reply;
    } else if (a->expected) {
        uint64_t near = m->request_cycles + m->reply_cycles;
        end = (moved > served ? moved : served) - request +
              formula_expected_beyond(rate, near, near + rates->dram_cycles);
        alone += formula_expected_beyond(rate, near, near + rates->dram_cycles) - formula_fixed(near);
    } else if (level == RATES_DRAM) {
        end = moved + formula_fixed(rates->dram_cycles) + reply;
        alone += formula_fixed(rates->dram_cycles);
    } else {
        end = served + reply;
    }
    c->n.analytic.queue_cycles += end > alone ? (end - alone) >> RATES_SHIFT : 0;
    ls_cycle done = formula_whole(end);
    formula_take_room(room, l2, done);
    if (load)
        a->last_load = done;
    return done;
}

#endif
