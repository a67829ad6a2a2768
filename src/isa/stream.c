/* stream.c: functions on thread blocks for readers and cores: free their memory, expand addresses. */
#include "isa/stream.h"

#include <stdlib.h>

void ls_cta_fini(ls_cta *cta)
{
    if (cta->like == NULL) {
        free(cta->warps);
        free(cta->dyns);
        free(cta->addrs);
    }
    free(cta->moves);
    *cta = (ls_cta){ 0 };
}

void cta_own(ls_cta *cta)
{
    if (cta->like != NULL)
        ls_cta_fini(cta);
}

void ls_cta_addresses(const ls_cta *cta, const ls_dyn *dyn, uint64_t out[32])
{
    if (dyn->addr == LS_ADDR_NONE)
        return;
    const uint64_t *words = cta->addrs + (dyn->addr >> 2);
    uint64_t move = ls_cta_move(cta, dyn);
    if ((dyn->addr & 3) == LS_ADDR_STRIDE) {
        uint64_t address = words[0] + move; /* wraps as the hardware's adder does */
        for (uint32_t mask = dyn->mask; mask; mask &= mask - 1) {
            out[__builtin_ctz(mask)] = address;
            address += words[1];
        }
        return;
    }
    if (dyn->mask == UINT32_MAX) {
        for (uint32_t lane = 0; lane < 32; lane++)
            out[lane] = words[lane] + move;
        return;
    }
    for (uint32_t mask = dyn->mask; mask; mask &= mask - 1)
        out[__builtin_ctz(mask)] = *words++ + move;
}
