/* ranks_divide.c: which rank runs which group.
 *
 * The work of a group is estimated by its blocks: a GPU has hundreds, a switch has one. The traffic between two groups is
 * estimated by the bandwidth of the links between them, and of the light groups that both have links with: GPUs of one
 * switch are neighbours. Nothing depends on the host or on measured times, so all ranks find the same division. */
#include "engine/ranks.h"
#include "engine/state.h"

#include <stdlib.h>

#define NOBODY UINT32_MAX

typedef struct division {
    size_t groups;
    uint32_t ranks;
    uint64_t *weight;  /* by group: its blocks, at least its domains */
    double *bandwidth; /* [group * groups + group]: of links in both directions, bytes per ns */
    double *near;      /* the same with ways over one light group */
    bool *is_heavy;
    uint64_t *load; /* by rank */
    uint32_t *owner;
} division;

static double link_bandwidth(const ls_link *link)
{
    double ns = (double)link->from->clock.period_num / (double)link->from->clock.period_den * 1e-6;
    double bytes = link->width_units == 0 ? (double)link->slot_bytes
                                          : (double)link->flit_bytes * link->width_units / link->flit_units;
    return ns > 0 ? bytes / ns : bytes;
}

static bool measure(division *d, const ls_engine *engine)
{
    size_t n = d->groups;
    d->weight = calloc(n, sizeof *d->weight);
    d->bandwidth = calloc(n * n, sizeof *d->bandwidth);
    d->near = calloc(n * n, sizeof *d->near);
    d->is_heavy = calloc(n, sizeof *d->is_heavy);
    d->load = calloc(d->ranks, sizeof *d->load);
    if (!d->weight || !d->bandwidth || !d->near || !d->is_heavy || !d->load)
        return false;
    for (size_t i = 0; i < engine->domains.count; i++)
        d->weight[engine->domains.at[i]->group->id]++;
    for (size_t i = 0; i < engine->blocks.count; i++)
        d->weight[engine->blocks.at[i]->region->domain->group->id]++;
    for (size_t i = 0; i < engine->links.count; i++) {
        const ls_link *link = engine->links.at[i];
        uint32_t from = link->from->domain->group->id, to = link->to->domain->group->id;
        if (from == to)
            continue;
        d->bandwidth[from * n + to] += link_bandwidth(link);
        d->bandwidth[to * n + from] += link_bandwidth(link);
    }
    return true;
}

static void find_near(division *d)
{
    size_t n = d->groups;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double *near = &d->near[a * n + b];
            *near = d->bandwidth[a * n + b];
            for (size_t via = 0; via < n && a != b; via++) {
                double in = d->bandwidth[a * n + via], out = d->bandwidth[via * n + b];
                if (!d->is_heavy[via] && via != a && via != b)
                    *near += in < out ? in : out;
            }
        }
}

/* The traffic of a group with those that a rank has. */
static double nearness(const division *d, const double *table, size_t group, uint32_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < d->groups; i++)
        if (d->owner[i] == rank)
            sum += table[group * d->groups + i];
    return sum;
}

static void give(division *d, size_t group, uint32_t rank)
{
    d->owner[group] = rank;
    d->load[rank] += d->weight[group];
}

/* The free heavy group that is nearest to the rank's; the first among equals. groups: none is free. */
static size_t nearest_heavy(const division *d, uint32_t rank)
{
    size_t best = d->groups;
    double most = -1;
    for (size_t i = 0; i < d->groups; i++) {
        double near = d->owner[i] == NOBODY && d->is_heavy[i] ? nearness(d, d->near, i, rank) : -1;
        if (near > most) {
            most = near;
            best = i;
        }
    }
    return best;
}

/* Rank after rank takes its share of what is left. */
static void spread_heavy(division *d)
{
    uint64_t left = 0;
    for (size_t i = 0; i < d->groups; i++)
        left += d->is_heavy[i] ? d->weight[i] : 0;
    for (uint32_t rank = 0; rank < d->ranks; rank++) {
        uint64_t share = left / (d->ranks - rank);
        for (size_t group; (group = nearest_heavy(d, rank)) < d->groups;) {
            uint64_t after = d->load[rank] + d->weight[group];
            /* At least one; else only if that comes nearer to the share. */
            if (d->load[rank] > 0 && after > share && after - share > share - d->load[rank])
                break;
            give(d, group, rank);
            if (d->load[rank] >= share)
                break;
        }
        left -= d->load[rank];
    }
}

/* A rank without any group takes a light one first; the others go where most of their bandwidth leads. */
static void spread_light(division *d)
{
    for (size_t i = 0; i < d->groups; i++) {
        uint32_t best = 0;
        if (d->owner[i] != NOBODY)
            continue;
        for (uint32_t rank = 0; rank < d->ranks; rank++) {
            double near = nearness(d, d->bandwidth, i, rank), most = nearness(d, d->bandwidth, i, best);
            bool is_idle = d->load[rank] == 0, best_is_idle = d->load[best] == 0;
            if (is_idle != best_is_idle ? is_idle : near != most ? near > most : d->load[rank] < d->load[best])
                best = rank;
        }
        give(d, i, best);
    }
}

static void divide(division *d)
{
    uint64_t most = 0;
    for (size_t i = 0; i < d->groups; i++) {
        most = d->weight[i] > most ? d->weight[i] : most;
        d->owner[i] = NOBODY;
    }
    for (size_t i = 0; i < d->groups; i++)
        d->is_heavy[i] = 2 * d->weight[i] >= most && most > 0;
    find_near(d);
    spread_heavy(d);
    spread_light(d);
}

ls_status ranks_divide(const ls_engine *engine, uint32_t ranks, uint32_t *owner, ls_error *err)
{
    division d = { .groups = engine->groups.count, .ranks = ranks, .owner = owner };
    size_t used = 0;
    ls_status status = LS_OK;
    if (!measure(&d, engine))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory to divide %zu groups", d.groups);
    for (size_t i = 0; i < d.groups && status == LS_OK; i++)
        used += d.weight[i] > 0;
    if (status == LS_OK && used < ranks && ranks > 1)
        status = ls_fail(err, LS_ERR_USAGE,
                         "the machine has %zu part%s that can run alone (GPUs, switches, the host), too few "
                         "for %u ranks",
                         used, used == 1 ? "" : "s", ranks);
    if (status == LS_OK)
        divide(&d);
    free(d.weight);
    free(d.bandwidth);
    free(d.near);
    free(d.is_heavy);
    free(d.load);
    return status;
}
