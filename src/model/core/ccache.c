/* ccache.c: loads of constants (LDC, ULDC, LDCU) come through caches: a constant cache per core, a larger
 * second level, L2.
 *
 * The latency of the instruction's class is that of a hit in the first one. The cache is looked up when the
 * instruction would write back; with a miss it ends when the line arrives. Traces have neither the bank nor
 * the address of a constant. So a load uses its own pc as address, in a constant space where every function
 * has its place. Neighbouring loads of a program share lines, and the same load finds its line again.
 * Constants as operands of other instructions do not appear in traces at all and always hit. */
#include "model/core/options_state.h"

static void finish(core *c, uint16_t index)
{
    (void)collect_take_banks(c, &c->flights.at[index]);
    flight_release_registers(c, index);
    flight_complete(c, index);
}

static void filled(core *c, readonly_miss *miss)
{
    ccache *k = c->options.ccache;
    const index_links next = INDEX_LINKS(c->flights.at, next);
    while (!index_list_empty(&miss->waiting))
        finish(c, (uint16_t)index_list_pop(&miss->waiting, next));
    index_list parked = k->parked;
    k->parked = INDEX_LIST_EMPTY;
    while (!index_list_empty(&parked)) {
        uint16_t index = (uint16_t)index_list_pop(&parked, next);
        if (!ccache_holds(c, index))
            finish(c, index);
    }
}

bool ccache_init(core *c)
{
    ccache *k = ls_domain_alloc(c->domain, sizeof *k);
    if (k == NULL)
        return false;
    c->options.ccache = k;
    k->parked = INDEX_LIST_EMPTY;
    k->levels.filled = filled;
    return readonly_init(&k->levels, &c->spec->options.ccache, &c->n.options.ccache, 1, 1, c->domain);
}

readonly *ccache_levels(core *c)
{
    return &c->options.ccache->levels;
}

void ccache_start_cta(core *c, uint32_t slot)
{
    c->options.ccache->base[slot] = readonly_base(READONLY_CONST_SPACE, c->blocks.at[slot].launch.info->name);
}

bool ccache_holds(core *c, uint16_t index)
{
    const flight *f = &c->flights.at[index];
    if (f->inst->space != LS_SPACE_CONST || f->mask == 0)
        return false;
    ccache *k = c->options.ccache;
    readonly_miss *miss;
    count_for(c, f->warp);
    switch (readonly_access(c, &k->levels, 0, k->base[c->front.warps[f->warp].cta] + f->inst->pc, &miss)) {
    case READONLY_HIT:
        return false;
    case READONLY_WAIT:
        index_list_append(&miss->waiting, INDEX_LINKS(c->flights.at, next), index);
        break;
    case READONLY_FULL:
        index_list_append(&k->parked, INDEX_LINKS(c->flights.at, next), index);
        break;
    }
    return true;
}
