/* ccache.c: loads of constants (LDC, ULDC, LDCU) come through caches: a constant cache per core, a larger
 * second level, L2.
 *
 * The latency of the instruction's class is that of a hit in the first one. The cache is looked up when the
 * instruction would write back; with a miss it ends when the line arrives. Traces have neither the bank nor
 * the address of a constant. So a load uses its own pc as address, in a constant space where every function
 * has its place. Neighbouring loads of a program share lines, and the same load finds its line again.
 * Constants as operands of other instructions do not appear in traces at all and always hit. */
#include "model/core/core.h"

struct ccache {
    readonly levels;
    uint64_t base[CORE_CTAS_MAX];
    uint16_t parked_first, parked_last; /* flights that found no free miss entry */
};

static void append(core *c, uint16_t *first, uint16_t *last, uint16_t index)
{
    c->flights.at[index].next = NO_FLIGHT;
    if (*first == NO_FLIGHT)
        *first = index;
    else
        c->flights.at[*last].next = index;
    *last = index;
}

static void finish(core *c, uint16_t index)
{
    (void)collect_take_banks(c, &c->flights.at[index]);
    flight_release_registers(c, index);
    flight_complete(c, index);
}

static void filled(core *c, readonly_miss *miss)
{
    ccache *k = c->options.ccache;
    for (uint16_t index = miss->first, next; index != NO_FLIGHT; index = next) {
        next = c->flights.at[index].next;
        finish(c, index);
    }
    uint16_t index = k->parked_first;
    k->parked_first = NO_FLIGHT;
    for (uint16_t next; index != NO_FLIGHT; index = next) {
        next = c->flights.at[index].next;
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
    k->parked_first = NO_FLIGHT;
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
        append(c, &miss->first, &miss->last, index);
        break;
    case READONLY_FULL:
        append(c, &k->parked_first, &k->parked_last, index);
        break;
    }
    return true;
}
