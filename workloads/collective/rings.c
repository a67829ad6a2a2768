/* rings.c: collectives around a ring of ranks: all-reduce, reduce-scatter, all-gather. A rank has a neighbour on each
 * side. In each of n - 1 steps every rank passes a part of 1/n of the array on. */
#include "workloads/collective/collective.h"

/* 1 / n of the array per step. */
static double steps_of(const collective *c, double steps)
{
    return steps * (c->ranks - 1) / c->ranks;
}

static void run_all_reduce(wl_run *r)
{
    collective c;
    collective_open(&c, r);
    collective_ring_reduce(&c);
    collective_ring_gather(&c, true);
    collective_report(&c, c.ranks > 1 ? steps_of(&c, 2) : 1);
    const uint32_t *sums = wl_checking(r) ? collective_sums(&c) : NULL;
    for (uint32_t k = 0; k < c.ranks && !wl_failed(r); k++) {
        const uint32_t *got = collective_fetch(&c, k, COLLECTIVE_DATA);
        const collective_place all = { .rank = k, .count = c.words };
        if (wl_checking(r) && !collective_expect(&c, "data", got, sums, all))
            return;
    }
}

static void run_reduce_scatter(wl_run *r)
{
    collective c;
    collective_open(&c, r);
    collective_ring_reduce(&c);
    for (uint32_t k = 0; k < c.ranks && c.ranks > 1 && c.via == COLLECTIVE_STORE; k++) {
        const collective_place own = collective_part(&c, k, COLLECTIVE_DATA, k);
        collective_wait(&c, k, c.last[(k + c.ranks - 1) % c.ranks]);
        (void)collective_add(&c, k, own, own, collective_part(&c, k, COLLECTIVE_RECEIVED, k));
    }
    collective_report(&c, c.ranks > 1 ? steps_of(&c, 1) : 1);
    const uint32_t *sums = wl_checking(r) ? collective_sums(&c) : NULL;
    for (uint32_t k = 0; k < c.ranks && !wl_failed(r); k++) {
        const uint32_t *got = collective_fetch(&c, k, COLLECTIVE_DATA);
        if (wl_checking(r) &&
            !collective_expect(&c, "data", got, sums, collective_part(&c, k, COLLECTIVE_DATA, k)))
            return;
    }
}

static void run_all_gather(wl_run *r)
{
    collective c;
    collective_open(&c, r);
    collective_ring_gather(&c, false);
    collective_report(&c, c.ranks > 1 ? steps_of(&c, 1) : 1);
    for (uint32_t k = 0; k < c.ranks && !wl_failed(r); k++) {
        const uint32_t *got = collective_fetch(&c, k, COLLECTIVE_DATA);
        for (uint32_t p = 0; p < c.ranks && wl_checking(r); p++)
            if (!collective_expect(&c, "data", got, c.input + (size_t)p * c.words,
                                   collective_part(&c, k, COLLECTIVE_DATA, p)))
                return;
    }
}

static const wl_option options[] = { COLLECTIVE_OPTIONS };
static const wl_workload all_reduce = { .name = "all_reduce",
                                        .summary =
                                            "ring all-reduce: the sum of the arrays of all GPUs, on all GPUs",
                                        .source = "Patarasuk and Yuan 2009",
                                        WL_OPTIONS(options),
                                        .run = run_all_reduce,
                                        .value_names = collective_names,
                                        .kernels = "collective",
                                        .divides = true };
static const wl_workload reduce_scatter = { .name = "reduce_scatter",
                                            .summary = "ring reduce-scatter: each GPU has a part of the sum",
                                            .source = "Patarasuk and Yuan 2009",
                                            WL_OPTIONS(options),
                                            .run = run_reduce_scatter,
                                            .value_names = collective_names,
                                            .kernels = "collective",
                                            .divides = true };
static const wl_workload all_gather = { .name = "all_gather",
                                        .summary = "ring all-gather: the parts of all GPUs, on all GPUs",
                                        .source = "Patarasuk and Yuan 2009",
                                        WL_OPTIONS(options),
                                        .run = run_all_gather,
                                        .value_names = collective_names,
                                        .kernels = "collective",
                                        .divides = true };
WL_REGISTER(all_reduce);
WL_REGISTER(reduce_scatter);
WL_REGISTER(all_gather);
