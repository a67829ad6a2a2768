/* flights.c: the table of instructions under way: taken at issue, given back at the end. */
#include "model/core/core.h"

_Static_assert(CORE_FLIGHTS <= INDEX_16_MAX, "links of flights have 16 bits");

bool flights_init(core *c)
{
    c->flights.free = INDEX_POOL_NEW;
    c->flights.at = ls_domain_alloc(c->domain, CORE_FLIGHTS * sizeof *c->flights.at);
    return c->flights.at != NULL;
}

void flight_free(core *c, uint16_t index)
{
    if (ls_tap_wants(c->tap, LS_TAP_INSTRUCTION))
        core_tap_instruction(c, index, LS_TAP_END, LS_STEP_WRITE);
    flight_give_back(c, index);
}

void flight_release_registers(core *c, uint16_t index)
{
    c->alu->release(c, &c->flights.at[index]);
}
