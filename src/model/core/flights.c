/* flights.c: the table of instructions under way: taken at issue, given back at the end. */
#include "model/core/core.h"

bool flights_init(core *c)
{
    c->flights.at = ls_domain_alloc(c->domain, CORE_FLIGHTS * sizeof *c->flights.at);
    return c->flights.at != NULL;
}

uint16_t flight_take(core *c, uint32_t warp, uint32_t unit, const ls_inst *inst, const ls_dyn *dyn)
{
    warp_state *w = &c->front.warps[warp];
    uint16_t index = c->flights.first_free;
    flight *f = &c->flights.at[index];
    if (index == c->flights.fresh) {
        c->flights.fresh++;
        c->flights.first_free = c->flights.fresh < CORE_FLIGHTS ? c->flights.fresh : NO_FLIGHT;
    } else {
        c->flights.first_free = f->next;
    }
    *f = (flight){ .inst = inst,
                   .dyn = dyn,
                   .mask = dyn->mask,
                   .uid = c->flights.issued++,
                   .next = NO_FLIGHT,
                   .warp = (uint8_t)warp,
                   .sub = (uint8_t)warp_sub(c, warp),
                   .unit = (uint8_t)unit,
                   .space = inst->space };
    w->in_flight++;
    return index;
}

void flight_free(core *c, uint16_t index)
{
    c->flights.at[index].next = c->flights.first_free;
    c->flights.first_free = index;
}

void flight_release_registers(core *c, uint16_t index)
{
    c->alu->release(c, &c->flights.at[index]);
}

void flight_complete(core *c, uint16_t index)
{
    flight *f = &c->flights.at[index];
    uint32_t warp = f->warp;
    warp_state *w = &c->front.warps[warp];
    count_for(c, warp);
    c->n.warp_instructions++;
    c->n.thread_instructions += lane_count(f->mask);
    w->in_flight--;
    f->next = c->flights.first_free;
    c->flights.first_free = index;
    ls_domain_progress(c->domain);
    if (w->next == w->end)
        cta_warp_maybe_done(c, warp);
}
