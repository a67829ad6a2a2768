/* icache.c: instructions come through caches: an L0 per sub-core, an L1 per core, L2.
 *
 * A warp fetches when its buffer is empty: up to two instructions that lie in one line. A hit in L0 costs as
 * much as a perfect fetch. With a miss the warp waits until the line arrives, and then has it even if the line
 * is replaced before its turn. Instructions have the addresses of the trace, in a code space where every
 * function has its own place. */
#include "model/core/options_state.h"

static void filled(core *c, readonly_miss *miss)
{
    icache *i = c->options.icache;
    i->served |= miss->warps;
    c->front.need_fetch |= miss->warps | i->parked;
    i->parked = 0;
}

bool icache_init(core *c)
{
    icache *i = ls_domain_alloc(c->domain, sizeof *i);
    if (i == NULL)
        return false;
    c->options.icache = i;
    i->levels.filled = filled;
    return readonly_init(&i->levels, &c->spec->options.icache, &c->n.options.icache, c->sub_count, 0,
                         c->domain);
}

readonly *icache_levels(core *c)
{
    return &c->options.icache->levels;
}

void icache_start_cta(core *c, uint32_t slot)
{
    c->options.icache->base[slot] = readonly_base(READONLY_CODE_SPACE, c->blocks.at[slot].launch.info->name);
}

bool icache_fetch(core *c, uint32_t warp)
{
    icache *i = c->options.icache;
    const warp_state *w = &c->front.warps[warp];
    uint64_t bit = UINT64_C(1) << warp;
    if ((i->served & bit) != 0) {
        i->served &= ~bit;
        return true;
    }
    readonly_miss *miss;
    count_for(c, warp);
    switch (readonly_access(c, &i->levels, warp_sub(c, warp), i->base[w->cta] + w->insts[w->next->inst].pc,
                            &miss)) {
    case READONLY_HIT:
        return true;
    case READONLY_WAIT:
        miss->warps |= bit;
        break;
    case READONLY_FULL:
        i->parked |= bit;
        break;
    }
    return false;
}

bool icache_splits(const core *c, uint32_t warp)
{
    const warp_state *w = &c->front.warps[warp];
    uint32_t shift = c->options.icache->levels.line_shift;
    return w->insts[w->next[0].inst].pc >> shift != w->insts[w->next[1].inst].pc >> shift;
}
