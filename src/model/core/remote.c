/* remote.c: memory of other GPUs, as a core sees it: its link is behind those of the memory channels, and a request says
 * whose it is. Stores to another GPU pass L1 by, which would not keep them, so that the sectors of a line stay together. */
#include "model/core/core.h"

bool remote_owner(const core *c, uint64_t address, uint16_t *owner)
{
    const ls_owner_range *range = ls_address_owner(c->ldst.owners, address);
    if (range != NULL && owner != NULL)
        *owner = (uint16_t)range->owner;
    return range != NULL;
}
