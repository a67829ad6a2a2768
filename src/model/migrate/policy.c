/* policy.c: see directory.h: the change that a question needs under each model, as tables of cases. */
#include "model/fabric/network.h"
#include "model/migrate/directory.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------- sender */

enum { SENDER_LOWEST, SENDER_NEAREST };

static uint32_t hops(const directory *d, uint32_t from, uint32_t to)
{
    return d->hops == NULL ? 0 : d->hops[dir_end_of(d, from) * (d->gpus + 1) + dir_end_of(d, to)];
}

uint32_t dir_choose_sender(const directory *d, const dir_page *p, uint32_t to)
{
    uint32_t best = dir_first_holder(p);
    if (d->spec->sender == SENDER_LOWEST || dir_is_exclusive(p))
        return best;
    for (uint64_t mask = p->holders; mask != 0; mask &= mask - 1) {
        uint32_t gpu = (uint32_t)__builtin_ctzll(mask);
        if (hops(d, gpu, to) < hops(d, best, to))
            best = gpu;
    }
    if (dir_holds(p, MEM_PLACE_HOST) && hops(d, MEM_PLACE_HOST, to) < hops(d, best, to))
        best = MEM_PLACE_HOST;
    return best;
}

/* Links between ends, on the shortest way. Once, when the fabric is there. */
ls_status dir_measure_hops(directory *d, ls_error *err)
{
    const fabric *f = ls_engine_part(ls_domain_engine(ls_region_domain(d->region)), FABRIC_PART, 0);
    uint32_t ends = d->gpus + 1;
    if (d->hops != NULL || f == NULL)
        return LS_OK;
    d->hops = ls_domain_alloc(ls_region_domain(d->region), ends * ends);
    if (d->hops == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", d->name);
    for (uint32_t from = 0; from < ends; from++) {
        uint8_t far[FABRIC_NODES_MAX];
        memset(far, UINT8_MAX, sizeof far);
        far[from] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = 0; i < f->graph.edge_count; i++) {
                const noc_edge *e = &f->graph.edges[i];
                if (far[e->from] < UINT8_MAX - 1 && far[e->to] > far[e->from] + 1) {
                    far[e->to] = (uint8_t)(far[e->from] + 1);
                    changed = true;
                }
            }
        }
        memcpy(&d->hops[from * ends], far, ends);
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- policies */

static void grant(dir_plan *out, uint32_t at, bool is_writable)
{
    *out = (dir_plan){ .to = at, .sender = DIR_NOWHERE, .grants = true, .is_writable = is_writable };
}

static void take(const directory *d, const dir_page *p, uint32_t to, dir_plan *out)
{
    *out = (dir_plan){ .change = DIR_TAKE,
                       .to = to,
                       .sender = dir_holds(p, to) ? DIR_NOWHERE : dir_choose_sender(d, p, to) };
}

/* One place holds a page. Others get it at their first access, or when they have counted enough remote accesses. */
static void decide_page(const directory *d, const dir_page *p, const dir_ask *a, dir_plan *out)
{
    uint32_t owner = dir_first_holder(p);
    bool is_pinned = (p->flags & DIR_PINNED) != 0;
    if (a->kind == DIR_COUNTED) {
        *out = (dir_plan){ .to = owner, .sender = DIR_NOWHERE };
        if (!is_pinned && (p->remote & dir_bit(a->place)) != 0)
            take(d, p, a->place, out);
    } else if (owner == a->place || is_pinned || d->spec->threshold > 1 || (a->flags & MIGRATE_STAY) != 0) {
        grant(out, owner, true);
    } else {
        take(d, p, a->place, out);
    }
}

/* A DMA engine: the page stays. */
static void decide_stay(const directory *d, const dir_page *p, const dir_ask *a, dir_plan *out)
{
    uint32_t at = dir_holds(p, a->place) ? a->place : dir_first_holder(p);
    if (dir_is_exclusive(p))
        grant(out, at, true);
    else if ((a->flags & MIGRATE_WRITE) == 0)
        grant(out, at, false);
    else
        take(d, p, at, out);
}

/* One place holds a page and may write (E), or several may read (S). */
static void decide_esi(const directory *d, const dir_page *p, const dir_ask *a, dir_plan *out)
{
    bool has = dir_holds(p, a->place), writes = (a->flags & MIGRATE_WRITE) != 0;
    if (a->kind == DIR_COUNTED)
        *out = (dir_plan){ .to = a->place, .sender = DIR_NOWHERE };
    else if ((a->flags & MIGRATE_STAY) != 0)
        decide_stay(d, p, a, out);
    else if (has && (dir_is_exclusive(p) || !writes))
        grant(out, a->place, dir_is_exclusive(p));
    else if (writes)
        take(d, p, a->place, out);
    else
        *out = (dir_plan){ .change = dir_is_exclusive(p) ? DIR_SHARE : DIR_COPY,
                           .to = a->place,
                           .sender = dir_choose_sender(d, p, a->place) };
}

const dir_policy dir_policies[] = {
    [DIR_PAGE] = { .decide = decide_page },
    [DIR_ESI] = { .decide = decide_esi },
    [DIR_SPLIT] = { .decide = decide_esi, .splits = true },
};

void dir_plan_ask(const directory *d, const dir_page *p, const dir_ask *a, dir_plan *out)
{
    if (a->kind != DIR_MOVE)
        d->policy->decide(d, p, a, out);
    else if (dir_is_exclusive(p) && dir_holds(p, a->place))
        *out = (dir_plan){ .to = a->place, .sender = DIR_NOWHERE };
    else
        take(d, p, a->place, out);
}
