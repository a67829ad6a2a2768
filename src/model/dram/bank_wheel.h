/* bank_wheel.h: which banks are ripe, and when the others are looked at again, as bank_command.c says. It and
 * bank_refresh.c include this. */
#ifndef MODEL_DRAM_BANK_WHEEL_H
#define MODEL_DRAM_BANK_WHEEL_H

#include "model/dram/bank.h"

static inline ls_cycle later(ls_cycle a, ls_cycle b)
{
    return a > b ? a : b;
}

static inline ls_cycle sooner(ls_cycle a, ls_cycle b)
{
    return a < b ? a : b;
}

/* The first bank of a mask that is not empty, counting from `from` and around. */
static inline bank *first_from(const bank_channel *c, uint64_t mask, uint32_t from)
{
    uint64_t behind = mask >> from << from;
    return &c->banks[__builtin_ctzll(behind != 0 ? behind : mask)];
}

/* Not before cycle `at`, which is later than t. Far times are looked at again on the way. */
static inline void wait_until(bank_channel *c, bank *b, ls_cycle at, ls_cycle t)
{
    ls_cycle look = at - t < BANK_WHEEL ? at : t + BANK_WHEEL - 1;
    uint32_t slot = (uint32_t)look % BANK_WHEEL;
    b->look = at;
    c->wheel[slot] |= b->bit;
    c->wheel_bits |= UINT64_C(1) << slot;
}

/* The slots that are not empty; bit i: that of cycle t + 1 + i. */
static inline uint64_t wheel_after(const bank_channel *c, ls_cycle t)
{
    uint32_t turn = (uint32_t)(t + 1) % BANK_WHEEL;
    return c->wheel_bits >> turn | c->wheel_bits << (-turn % BANK_WHEEL);
}

static inline void ripen(bank_channel *c, ls_cycle t)
{
    uint32_t slot = (uint32_t)t % BANK_WHEEL;
    uint64_t mask = c->wheel[slot];
    c->wheel[slot] = 0;
    c->wheel_bits &= ~(UINT64_C(1) << slot);
    do {
        bank *b = &c->banks[__builtin_ctzll(mask)];
        mask &= mask - 1;
        if (LS_LIKELY(b->look <= t))
            c->ripe[b->want] |= b->bit;
        else
            wait_until(c, b, b->look, t);
    } while (mask != 0);
}

static inline void set_want(bank_channel *c, bank *b, uint32_t want, ls_cycle t)
{
    ls_cycle at = later(b->at[want], c->groups[b->group].at[want]);
    b->want = want;
    if (at <= t)
        c->ripe[want] |= b->bit;
    else
        wait_until(c, b, at, t);
}

#endif
