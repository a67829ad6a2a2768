/* translate.c: global and local accesses pass a TLB, either as requests between L1 and the network (L1 works
 * with virtual addresses) or as sectors on their way to L1. Accesses that bypass L1 are always translated as
 * requests.
 *
 * A request whose page is not known waits here while there is room, and others pass it. A sector on its way to
 * L1 keeps its place in the queue of its bank: later ones wait too. Every sector is an access of the TLB. */
#include "model/core/options_state.h"

bool translate_init(core *c)
{
    translate *t = ls_domain_alloc(c->domain, sizeof *t);
    if (t == NULL)
        return false;
    c->options.translate = t;
    t->capacity = (uint32_t)c->spec->options.tlb_waiting;
    t->at = ls_domain_alloc(c->domain, c->spec->options.tlb_waiting * sizeof *t->at);
    return t->at != NULL && tlb_init(&t->tlb, &c->spec->options.tlb, &c->n.options.tlb, c->domain);
}

bool translate_full(const core *c)
{
    return c->options.translate->count == c->spec->options.tlb_waiting;
}

bool translate_at_l1(const core *c)
{
    return c->spec->options.tlb_place == TRANSLATE_BEFORE_L1;
}

bool translate_holds(core *c, const ls_sector_message *message, uint16_t channel)
{
    translate *t = c->options.translate;
    ls_cycle ready;
    tlb_outcome outcome = tlb_translate(&t->tlb, message->address, c->now, &ready);
    if (outcome == TLB_HIT)
        return false;
    t->at[t->count++] = (translate_waiting){
        .message = *message, .ready = ready, .channel = channel, .again = outcome == TLB_FULL
    };
    return true;
}

bool translate_before_l1(core *c, uint64_t address, ls_cycle *known)
{
    *known = c->now;
    return c->spec->options.tlb_place != TRANSLATE_BEFORE_L1 ||
           tlb_translate(&c->options.translate->tlb, address, c->now, known) != TLB_FULL;
}

void translate_cycle(core *c)
{
    translate *t = c->options.translate;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        translate_waiting w = t->at[i];
        if (w.again && w.ready <= c->now)
            w.again = tlb_translate(&t->tlb, w.message.address, c->now, &w.ready) == TLB_FULL;
        if (!w.again && w.ready <= c->now && !ring_full(&c->ldst.out_ring))
            ldst_put(c, &w.message, w.channel);
        else
            t->at[kept++] = w;
    }
    t->count = kept;
}

ls_cycle translate_next(const core *c)
{
    const translate *t = c->options.translate;
    bool full = ring_full(&c->ldst.out_ring);
    ls_cycle next = LS_CYCLE_MAX;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->at[i].ready < next && (!full || t->at[i].ready > c->now || t->at[i].again))
            next = t->at[i].ready;
    return next;
}
