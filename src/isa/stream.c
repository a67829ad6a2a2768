/* stream.c: what readers and cores do with a thread block: give its memory back, expand addresses. */
#include "isa/stream.h"

#include <string.h>

#include <stdlib.h>

void ls_cta_fini(ls_cta *cta)
{
    free(cta->warps);
    free(cta->dyns);
    free(cta->addrs);
    *cta = (ls_cta){ 0 };
}

void ls_cta_addresses(const ls_cta *cta, const ls_dyn *dyn, uint64_t out[32])
{
    if (dyn->addr == LS_ADDR_NONE)
        return;
    const uint64_t *words = cta->addrs + (dyn->addr >> 2);
    if ((dyn->addr & 3) == LS_ADDR_STRIDE) {
        uint64_t address = words[0]; /* wraps as the hardware's adder does */
        for (uint32_t mask = dyn->mask; mask; mask &= mask - 1) {
            out[__builtin_ctz(mask)] = address;
            address += words[1];
        }
        return;
    }
    if (dyn->mask == UINT32_MAX) {
        memcpy(out, words, 32 * sizeof *out);
        return;
    }
    for (uint32_t mask = dyn->mask; mask; mask &= mask - 1)
        out[__builtin_ctz(mask)] = *words++;
}
