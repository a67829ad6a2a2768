/* switch_tap.c: messages in a network of switches, for timelines: from the port of their sender over links until they leave.
 * Reads the group, changes only its count of messages that were told. */
#include "model/noc/switch.h"

const ls_tap noc_no_tap;

static void tell(const noc_group *g, const ls_tap *tap, uint32_t number, ls_tap_event event)
{
    event.time = ls_clock_time(ls_region_clock(g->region), ls_region_now(g->region));
    event.kind = LS_TAP_TRANSFER;
    event.id = LS_TAP_ANY_GPU | number;
    if (ls_tap_wants(tap, LS_TAP_TRANSFER))
        ls_tap_record(tap, &event);
}

void noc_tell_enter(noc_group *g, noc_message *m)
{
    g->told = g->told % UINT16_MAX + 1;
    m->number = g->tap->block << 16 | g->told;
    tell(g, g->tap, m->number,
         (ls_tap_event){ .phase = LS_TAP_BEGIN,
                         .value = m->bytes,
                         .more = (uint32_t)m->source << 16 | m->destination,
                         .what = m->class_index });
    tell(g, g->tap, m->number, (ls_tap_event){ .phase = LS_TAP_STEP, .what = LS_STEP_QUEUE });
}

void noc_tell_pass(const noc_group *g, const noc_message *m, const noc_output *out)
{
    if (out->kind == NOC_ENDPOINT)
        tell(g, g->tap, m->number, (ls_tap_event){ .phase = LS_TAP_END });
    else
        tell(g, out->tap, m->number, (ls_tap_event){ .phase = LS_TAP_STEP, .what = LS_STEP_LINK });
}
