/* options.c: the optional parts of a core together. */
#include "model/core/options_state.h"

ls_status options_check(const options_spec *spec, ls_error *err)
{
    ls_status status = LS_OK;
    if (spec->fetch == OPTION_CYCLE)
        status = readonly_check(&spec->icache, "icache", "l0", "l1", err);
    if (status == LS_OK && spec->constant == OPTION_CYCLE)
        status = readonly_check(&spec->ccache, "ccache", "l1", "l15", err);
    if (status == LS_OK && spec->translation == OPTION_CYCLE)
        status = tlb_check(&spec->tlb, err);
    return status;
}

bool options_init(core *c)
{
    const options_spec *spec = &c->spec->options;
    c->options.any = c->options.requests =
        spec->fetch != OPTION_OFF || spec->constant != OPTION_OFF || spec->translation != OPTION_OFF;
    return (spec->fetch == OPTION_OFF || icache_init(c)) && (spec->constant == OPTION_OFF || ccache_init(c)) &&
           (spec->translation == OPTION_OFF || translate_init(c)) &&
           (c->spec->alu != ALU_CYCLE || c->spec->tensor.groups != TENSOR_GROUPS_LOCKSTEP || wgmma_init(c));
}

void options_start_cta(core *c, uint32_t slot)
{
    if (c->options.icache != NULL)
        icache_start_cta(c, slot);
    if (c->options.ccache != NULL)
        ccache_start_cta(c, slot);
    if (c->options.wgmma != NULL)
        wgmma_start_block(c, slot);
}

/* Before the block counts it among those that have left a barrier. */
void options_end_warp(core *c, uint32_t warp)
{
    if (front_waits_for(c, warp) != FRONT_WAIT_NONE) /* its stream ends there */
        front_let_go(c, warp, c->now);
    if (c->options.cga != NULL)
        cga_warp_ended(c, warp);
    if (c->options.wgmma != NULL)
        wgmma_end_warp(c, warp);
}

static void requests_cycle(core *c)
{
    if (c->options.icache != NULL)
        readonly_cycle(c, icache_levels(c));
    if (c->options.ccache != NULL)
        readonly_cycle(c, ccache_levels(c));
    if (c->options.translate != NULL)
        translate_cycle(c);
    if (c->options.fences != NULL)
        fences_cycle(c);
}

void options_cycle(core *c)
{
    if (c->options.requests)
        requests_cycle(c);
    if (c->options.cga != NULL && cga_has_work(c->options.cga))
        cga_cycle(c);
    if (c->options.wgmma != NULL && c->options.wgmma->due <= c->now)
        wgmma_cycle(c);
    if (c->options.requests || (c->options.cga != NULL && cga_has_work(c->options.cga)))
        c->options.due = 0;
    else
        c->options.due = c->options.wgmma != NULL ? c->options.wgmma->due : LS_CYCLE_MAX;
}

void options_reply(core *c, uint32_t token)
{
    if (token >= FENCE_TOKEN) {
        fences_reply(c, token - FENCE_TOKEN);
        return;
    }
    if (token >= TMA_TOKEN) {
        tma_reply(c, token & TMA_TOKEN_OP);
        return;
    }
    readonly *levels[] = { c->options.icache != NULL ? icache_levels(c) : NULL,
                           c->options.ccache != NULL ? ccache_levels(c) : NULL };
    readonly_reply(c, levels[token >> 16 & 1], token);
}

static inline ls_cycle sooner(ls_cycle a, ls_cycle b)
{
    return a < b ? a : b;
}

static ls_cycle requests_next(const core *c)
{
    core *self = (core *)c; /* the levels are only read */
    ls_cycle next = LS_CYCLE_MAX;
    if (c->options.icache != NULL)
        next = sooner(next, readonly_next(c, icache_levels(self)));
    if (c->options.ccache != NULL)
        next = sooner(next, readonly_next(c, ccache_levels(self)));
    if (c->options.translate != NULL)
        next = sooner(next, translate_next(c));
    if (c->options.fences != NULL)
        next = sooner(next, fences_next(c));
    return next;
}

ls_cycle options_next(const core *c)
{
    ls_cycle next = c->options.requests ? requests_next(c) : LS_CYCLE_MAX;
    if (c->options.cga != NULL && cga_has_work(c->options.cga))
        next = sooner(next, cga_next(c));
    if (c->options.wgmma != NULL && wgmma_has_work(c->options.wgmma))
        next = sooner(next, wgmma_next(c));
    return next <= c->now ? c->now + 1 : next;
}
