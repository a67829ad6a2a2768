/* request.c: requests of a core on their way to the network that need more than a place in its queue: those that other
 * GPUs, a TLB or a timeline have to do with, and those that perfect memory answers. Apart from ldst.c, so that the common
 * way keeps a request in registers. */
#include "model/core/core.h"

void ldst_put(core *c, const ls_sector_message *message, uint16_t channel)
{
    ls_sector_message told = *message;
    if (ls_tap_wants(c->tap, LS_TAP_REQUEST))
        told.number = core_tap_request(c, message);
    ldst_queue(c, told, channel);
}

void request_apart(core *c, ls_sector_message message, uint32_t channel, uint32_t how)
{
    if (c->ldst.owners != NULL)
        channel = remote_request(c, &message, channel);
    if (channel < c->ldst.channels && !message.remote) {
        uint32_t near = ldst_near_channel(c, channel);
        message.away = near != channel;
        channel = near;
    }
    if ((how & REQUEST_VIRTUAL) != 0 && c->options.translate != NULL &&
        translate_holds(c, &message, (uint16_t)channel))
        return;
    ldst_put(c, &message, (uint16_t)channel);
}

bool request_answer(core *c)
{
    if (ring_full(&c->ldst.reply_ring))
        return false;
    const ls_sector_message *message = &c->ldst.out[ring_front(&c->ldst.out_ring)];
    if (LS_UNLIKELY(message->number != 0))
        core_tap_step(c, message->number, LS_TAP_END, 0);
    c->n.requests_sent++;
    c->n.replies++;
    if (c->alu->reply == NULL || !c->alu->reply(c, message, c->now))
        c->ldst.replies[ring_push(&c->ldst.reply_ring)] = *message;
    (void)ring_pop(&c->ldst.out_ring);
    return true;
}
