/* bank_refresh.c: refreshes of all banks of a channel at once, or of one bank after the other. */
#include "model/dram/bank_wheel.h"

#include <string.h>

/* All banks: closed, refreshed, and usable again from one cycle on. No command leaves between the due time
 * and that cycle, so the whole of it is known at once. Refreshes of idle time are counted when work comes. */
static void refresh_all(bank_channel *c, ls_cycle t)
{
    ls_cycle start = c->refresh_due;
    uint32_t open = 0;
    for (uint32_t i = 0; i <= c->bank_mask; i++) {
        const bank *b = &c->banks[i];
        open += b->open;
        start = later(start, b->open ? later(b->at[BANK_PRECHARGE], c->groups[b->group].at[BANK_PRECHARGE])
                                     : b->at[BANK_ACTIVATE]);
    }
    ls_cycle end = start + (open != 0 ? c->times.rp : 0) + c->times.rfc;
    c->n.precharges += open;
    c->n.refreshes++;
    c->refresh_due += c->times.refi;
    if (c->refresh_due <= t) {
        uint64_t more = (t - c->refresh_due) / c->times.refi;
        c->n.refreshes += more + 1;
        c->refresh_due += more * c->times.refi;
        end = c->refresh_due + c->times.rfc;
        c->refresh_due += c->times.refi;
    }
    memset(c->ripe, 0, sizeof c->ripe);
    memset(c->wheel, 0, sizeof c->wheel);
    c->wheel_bits = 0;
    for (uint32_t i = 0; i <= c->bank_mask; i++) {
        bank *b = &c->banks[i];
        b->open = false;
        b->at[BANK_ACTIVATE] = end;
        if ((c->busy & b->bit) != 0)
            set_want(c, b, BANK_ACTIVATE, t);
    }
}

/* Takes a busy bank out of the masks and the wheel. */
static void forget_bank(bank_channel *c, const bank *b)
{
    if ((c->ripe[b->want] & b->bit) != 0) {
        c->ripe[b->want] &= ~b->bit;
        return;
    }
    for (uint64_t bits = c->wheel_bits; bits != 0; bits &= bits - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(bits);
        if ((c->wheel[slot] & b->bit) == 0)
            continue;
        c->wheel[slot] &= ~b->bit;
        if (c->wheel[slot] == 0)
            c->wheel_bits &= ~(UINT64_C(1) << slot);
        return;
    }
}

/* One bank: closed, refreshed, and usable again, while the others go on. */
static void refresh_bank(bank_channel *c, bank *b, ls_cycle due, ls_cycle t)
{
    ls_cycle start = later(due, b->open ? later(b->at[BANK_PRECHARGE], c->groups[b->group].at[BANK_PRECHARGE])
                                        : b->at[BANK_ACTIVATE]);
    c->n.precharges += b->open;
    c->n.refreshes++;
    b->at[BANK_ACTIVATE] = start + (b->open ? c->times.rp : 0) + c->times.rfcb;
    b->open = false;
    if ((c->busy & b->bit) != 0) {
        forget_bank(c, b);
        set_want(c, b, BANK_ACTIVATE, t);
    }
}

/* All that are due by t. Whole rounds of idle time are counted without looking at each. */
static void refresh_banks(bank_channel *c, ls_cycle t)
{
    uint64_t banks = (uint64_t)c->bank_mask + 1, round = banks * c->refresh_step;
    if (t - c->refresh_due >= 2 * round) {
        uint64_t rounds = (t - c->refresh_due) / round - 1;
        c->n.refreshes += rounds * banks;
        c->refresh_due += rounds * round;
    }
    for (; c->refresh_due <= t; c->refresh_due += c->refresh_step) {
        refresh_bank(c, &c->banks[c->refresh_bank], c->refresh_due, t);
        c->refresh_bank = (c->refresh_bank + 1) & c->bank_mask;
    }
}

void bank_refresh(bank_channel *c, ls_cycle t)
{
    if (c->refresh_step != 0)
        refresh_banks(c, t);
    else
        refresh_all(c, t);
}
