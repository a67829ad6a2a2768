/* policy.c: see directory.h: the change that a question needs under each model, as tables of cases; plans of models are
 * checked. */
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

static void grant(ls_migrate_plan *out, uint32_t at, bool is_writable)
{
    *out = (ls_migrate_plan){ .change = LS_MIGRATE_GRANT, .to = at, .is_writable = is_writable };
}

static void take(ls_migrate_plan *out, uint32_t to)
{
    *out = (ls_migrate_plan){ .change = LS_MIGRATE_TAKE, .to = to };
}

/* One place holds a page. Others get it at their first access, or when they have counted enough remote accesses. */
static void decide_page(const void *spec, const ls_migrate_page *p, const ls_migrate_question *q,
                        ls_migrate_plan *out)
{
    uint32_t owner = ls_migrate_first_holder(p);
    if (q->counted) {
        *out = (ls_migrate_plan){ .change = LS_MIGRATE_NOTHING };
        if (!p->is_pinned && (p->remote >> q->gpu & 1) != 0)
            take(out, q->gpu);
    } else if (owner == q->gpu || p->is_pinned || ((const ls_migrate_keys *)spec)->threshold > 1 || q->stays) {
        grant(out, owner, true);
    } else {
        take(out, q->gpu);
    }
}

/* A DMA engine: the page stays. */
static void decide_stay(const ls_migrate_page *p, const ls_migrate_question *q, ls_migrate_plan *out)
{
    uint32_t at = ls_migrate_holds(p, q->gpu) ? q->gpu : ls_migrate_first_holder(p);
    if (p->is_exclusive)
        grant(out, at, true);
    else if (!q->writes)
        grant(out, at, false);
    else
        take(out, at);
}

/* One place holds a page and may write (E), or several may read (S). */
static void decide_esi(const void *spec, const ls_migrate_page *p, const ls_migrate_question *q,
                       ls_migrate_plan *out)
{
    (void)spec;
    if (q->counted)
        *out = (ls_migrate_plan){ .change = LS_MIGRATE_NOTHING };
    else if (q->stays)
        decide_stay(p, q, out);
    else if (ls_migrate_holds(p, q->gpu) && (p->is_exclusive || !q->writes))
        grant(out, q->gpu, p->is_exclusive);
    else if (q->writes)
        take(out, q->gpu);
    else
        *out = (ls_migrate_plan){ .change = LS_MIGRATE_SHARE, .to = q->gpu };
}

static void copy_keys(const void *spec, ls_migrate_keys *out)
{
    *out = *(const ls_migrate_keys *)spec;
}

static void split_keys(const void *spec, ls_migrate_keys *out)
{
    *out = *(const ls_migrate_keys *)spec;
    out->splits = true;
}

const ls_migrate_ops dir_page_ops = { .build = ls_migrate_build, .keys = copy_keys, .decide = decide_page };
const ls_migrate_ops dir_esi_ops = { .build = ls_migrate_build, .keys = copy_keys, .decide = decide_esi };
const ls_migrate_ops dir_split_ops = { .build = ls_migrate_build, .keys = split_keys, .decide = decide_esi };

/* ---------------------------------------------------------------------------------------------------- plans */

/* Whether the directory can do what a model says, and whether it is a step towards an answer. */
static bool is_possible(const directory *d, const ls_migrate_page *p, const ls_migrate_question *q,
                        const ls_migrate_plan *plan)
{
    bool is_place = plan->to < d->gpus || plan->to == MEM_PLACE_HOST;
    bool holds = is_place && ls_migrate_holds(p, plan->to);
    switch (plan->change) {
    case LS_MIGRATE_NOTHING:
        return q->counted;
    case LS_MIGRATE_GRANT:
        return !q->counted && holds && (!plan->is_writable || p->is_exclusive) &&
               (!q->writes || plan->is_writable);
    case LS_MIGRATE_SHARE:
        return plan->to == q->gpu && !holds;
    case LS_MIGRATE_TAKE:
        return is_place && (holds ? !p->is_exclusive : plan->to == q->gpu);
    }
    return false;
}

static void take_page(const directory *d, const dir_page *p, uint32_t to, dir_plan *out)
{
    *out = (dir_plan){ .change = DIR_TAKE,
                       .to = to,
                       .sender = dir_holds(p, to) ? DIR_NOWHERE : dir_choose_sender(d, p, to) };
}

static void ask_model(directory *d, const dir_page *p, const dir_ask *a, dir_plan *out)
{
    const ls_migrate_page page = { .address = p->address,
                                   .holders = p->holders,
                                   .mappers = p->mappers,
                                   .remote = p->remote,
                                   .host_holds = (p->flags & DIR_HOST_HOLDS) != 0,
                                   .is_exclusive = dir_is_exclusive(p),
                                   .is_pinned = (p->flags & DIR_PINNED) != 0,
                                   .moves = p->moves,
                                   .size_bytes = (uint32_t)dir_page_bytes(d, (uint32_t)(p - d->pages)) };
    const ls_migrate_question question = { .gpu = a->place,
                                           .writes = (a->flags & MIGRATE_WRITE) != 0,
                                           .stays = (a->flags & MIGRATE_STAY) != 0,
                                           .counted = a->kind == DIR_COUNTED };
    ls_migrate_plan plan = { 0 };
    d->policy->decide(d->model_spec, &page, &question, &plan);
    if (LS_UNLIKELY(!is_possible(d, &page, &question, &plan))) {
        dir_fail(d, "the model '%s' of slot 'migrate' cannot have page 0x%llx %s for GPU %u", d->model,
                 (unsigned long long)p->address,
                 plan.change == LS_MIGRATE_SHARE  ? "shared"
                 : plan.change == LS_MIGRATE_TAKE ? "taken"
                                                  : "granted",
                 a->place);
        decide_esi(NULL, &page, &question, &plan); /* until the run has ended */
    }
    *out = (dir_plan){ .to = plan.to, .sender = DIR_NOWHERE };
    if (plan.change == LS_MIGRATE_TAKE) {
        take_page(d, p, plan.to, out);
    } else if (plan.change == LS_MIGRATE_SHARE) {
        out->change = dir_is_exclusive(p) ? DIR_SHARE : DIR_COPY;
        out->sender = dir_choose_sender(d, p, plan.to);
    } else if (plan.change == LS_MIGRATE_GRANT) {
        out->grants = true;
        out->is_writable = plan.is_writable;
    }
}

void dir_plan_ask(directory *d, const dir_page *p, const dir_ask *a, dir_plan *out)
{
    if (a->kind != DIR_MOVE)
        ask_model(d, p, a, out);
    else if (dir_is_exclusive(p) && dir_holds(p, a->place))
        *out = (dir_plan){ .to = a->place, .sender = DIR_NOWHERE };
    else
        take_page(d, p, a->place, out);
}
