/* remote.c: memory of other GPUs, as a core sees it. Its link is behind those of the memory channels, and a request says
 * whose it is; or L2 takes all requests, and those for other GPUs are marked. Stores to another GPU pass L1 by, which
 * would not keep them, so that the sectors of a line stay together. */
#include "model/core/core.h"

bool remote_owner(const core *c, uint64_t address, uint16_t *owner)
{
    const ls_owner_range *range = ls_address_owner(c->ldst.owners, address);
    if (range != NULL && owner != NULL)
        *owner = (uint16_t)range->owner;
    return range != NULL;
}

uint32_t remote_request(const core *c, ls_sector_message *message, uint32_t channel)
{
    uint16_t owner;
    if (!remote_owner(c, message->address, &owner))
        return channel;
    message->remote = c->ldst.remote_in_l2;
    if (c->ldst.remote_in_l2)
        return channel;
    message->slice = LS_SECTOR_SLICE(owner);
    return c->ldst.channels;
}
