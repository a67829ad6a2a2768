/* request.c: requests of a core on their way to the network that need more than a place in its queue: those that other
 * GPUs, a TLB or a timeline have to do with. Apart from ldst.c, so that the common way keeps a request in registers. */
#include "model/core/core.h"

void ldst_put(core *c, const ls_sector_message *message, uint16_t channel)
{
    ls_sector_message told = *message;
    if (ls_tap_wants(c->tap, LS_TAP_REQUEST))
        told.number = core_tap_request(c, message);
    ldst_queue(c, told, channel);
}

/* The channel of the core's own half of L2 that asks the home for the sector. */
static uint32_t near_channel(const core *c, ls_sector_message *message, uint32_t channel)
{
    if (channel / c->ldst.half_channels == c->ldst.half)
        return channel;
    message->away = true;
    return channel < c->ldst.half_channels ? channel + c->ldst.half_channels : channel - c->ldst.half_channels;
}

void request_apart(core *c, ls_sector_message message, uint32_t channel, uint32_t how)
{
    if (c->ldst.owners != NULL)
        channel = remote_request(c, &message, channel);
    if (c->ldst.half_channels != 0 && channel < c->ldst.channels && !message.remote)
        channel = near_channel(c, &message, channel);
    if ((how & REQUEST_VIRTUAL) != 0 && c->options.translate != NULL &&
        translate_holds(c, &message, (uint16_t)channel))
        return;
    ldst_put(c, &message, (uint16_t)channel);
}
