/* fences.c: fences of system scope in a GPU whose L2 keeps memory of other GPUs. The warp waits until all of its accesses
 * before the fence are done. Then L2 writes back and forgets what it keeps of other GPUs, and answers. */
#include "model/core/options_state.h"

#include "lockstep/sector.h"

bool fences_init(core *c)
{
    c->options.fences = ls_domain_alloc(c->domain, sizeof *c->options.fences);
    c->options.any = c->options.requests = true;
    return c->options.fences != NULL;
}

void fences_begin(core *c, uint32_t warp, const ls_inst *inst, ls_cycle at)
{
    const uint32_t both = LS_INST_FENCE | LS_INST_SYSTEM;
    if ((inst->flags & both) != both)
        return;
    fences *f = c->options.fences;
    f->waiting |= UINT64_C(1) << warp;
    f->at[warp] = at;
    c->front.warps[warp].atomics++; /* it waits as for an atomic */
    c->front.subs[warp_sub(c, warp)].fence |= warp_bit(c, warp);
}

void fences_cycle(core *c)
{
    fences *f = c->options.fences;
    for (uint64_t left = f->waiting; left != 0 && !ring_full(&c->ldst.out_ring); left &= left - 1) {
        uint32_t warp = (uint32_t)__builtin_ctzll(left);
        const warp_state *w = &c->front.warps[warp];
        if (f->at[warp] > c->now || w->in_flight > 0 || w->stores > 0)
            continue;
        const ls_sector_message message = { .token = FENCE_TOKEN + warp,
                                            .core = (uint16_t)c->id,
                                            .kind = LS_SECTOR_FLUSH };
        ldst_put(c, &message, (uint16_t)c->ldst.channels);
        f->waiting &= ~(UINT64_C(1) << warp);
    }
}

void fences_reply(core *c, uint32_t warp)
{
    c->front.warps[warp].atomics--;
    c->alu->resume(c, warp);
    cta_warp_maybe_done(c, warp);
}

ls_cycle fences_next(const core *c)
{
    return c->options.fences->waiting != 0 ? c->now + 1 : LS_CYCLE_MAX;
}
