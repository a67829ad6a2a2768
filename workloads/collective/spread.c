/* spread.c: collectives that are no rings: all-to-all, and broadcasts of three kinds. */
#include "workloads/collective/collective.h"

/* ---------------------------------------------------------------------------------------------- all-to-all */

/* In step s a rank sends to the one s after it, so that each gets from one at a time. */
static void run_all_to_all(wl_run *r)
{
    collective c;
    collective_open(&c, r);
    for (uint32_t s = 1; s < c.ranks; s++)
        for (uint32_t k = 0; k < c.ranks && !wl_failed(r); k++) {
            const uint32_t to = (k + s) % c.ranks;
            (void)collective_move(&c, collective_part(&c, to, COLLECTIVE_RECEIVED, k),
                                  collective_part(&c, k, COLLECTIVE_DATA, to));
        }
    collective_report(&c, c.ranks > 1 ? (c.ranks - 1.0) / c.ranks : 1);
    for (uint32_t k = 0; k < c.ranks && !wl_failed(r); k++) {
        const uint32_t *got = collective_fetch(&c, k, COLLECTIVE_RECEIVED);
        for (uint32_t from = 0; from < c.ranks && wl_checking(r); from++) {
            const collective_place part = collective_part(&c, from, COLLECTIVE_DATA, k);
            for (uint32_t i = 0; i < part.count; i++) {
                const uint32_t sent = c.input[(size_t)from * c.words + part.at + i];
                const size_t at = (size_t)from * c.part_words + i;
                if (!wl_expect_u32(r, "received", at, got[at], from == k ? 0 : sent)) /* its own part stays */
                    return;
            }
        }
    }
}

/* ----------------------------------------------------------------------------------------------- broadcast */

enum { FLAT, RING, TREE };
static const char *const algorithm_names[] = { "flat", "ring", "tree", NULL };

/* From one rank to another, as soon as the first has the words. */
static wl_event hop(collective *c, uint32_t to, uint32_t from, uint32_t at, uint32_t count, wl_event has)
{
    collective_wait(c, c->via == COLLECTIVE_STORE ? from : to, has);
    return collective_move(c, (collective_place){ to, COLLECTIVE_DATA, at, count },
                           (collective_place){ from, COLLECTIVE_DATA, at, count });
}

static void spread_ring(collective *c, uint32_t pieces)
{
    const uint32_t lines = (c->words + 15) / 16, piece = (lines + pieces - 1) / pieces * 16;
    for (uint32_t at = 0; at < c->words; at += piece) {
        wl_event has = 0;
        for (uint32_t k = 0; k + 1 < c->ranks && !wl_failed(c->r); k++)
            has = hop(c, k + 1, k, at, c->words - at < piece ? c->words - at : piece, has);
    }
}

/* In each round the ranks below `half`, which have the words, send to those `half` after them. */
static void spread_tree(collective *c)
{
    for (uint32_t half = 1; half < c->ranks; half *= 2)
        for (uint32_t k = 0; k < half && k + half < c->ranks && !wl_failed(c->r); k++)
            c->last[k + half] = hop(c, k + half, k, 0, c->words, c->last[k]);
}

static void run_broadcast(wl_run *r)
{
    const uint32_t algorithm = wl_u32(r, "algorithm"), pieces = wl_u32(r, "pieces");
    collective c;
    collective_open(&c, r);
    if (algorithm == RING)
        spread_ring(&c, pieces);
    else if (algorithm == TREE)
        spread_tree(&c);
    else
        for (uint32_t k = 1; k < c.ranks && !wl_failed(r); k++)
            (void)hop(&c, k, 0, 0, c.words, 0);
    collective_report(&c, 1);
    for (uint32_t k = 0; k < c.ranks && !wl_failed(r); k++) {
        const uint32_t *got = collective_fetch(&c, k, COLLECTIVE_DATA);
        const collective_place all = { .rank = k, .count = c.words };
        if (wl_checking(r) && !collective_expect(&c, "data", got, c.input, all))
            return;
    }
}

static const wl_option spread_options[] = { COLLECTIVE_OPTIONS };
static const wl_option broadcast_options[] = {
    COLLECTIVE_OPTIONS,
    { "algorithm", FLAT, FLAT, TREE,
      "0 flat: from GPU 0 to each; 1 ring: from neighbour to neighbour; 2 tree: binary" },
    { "pieces", 8, 1, 4096, "ring: parts of the array that follow each other" },
};
static const wl_value_names broadcast_names[] = { { "via", collective_via_names },
                                                  { "algorithm", algorithm_names },
                                                  { NULL, NULL } };
static const wl_workload all_to_all = { .name = "all_to_all",
                                        .summary = "each GPU sends a part of its array to each other GPU",
                                        .source = "textbook",
                                        WL_OPTIONS(spread_options),
                                        .run = run_all_to_all,
                                        .value_names = collective_names,
                                        .kernels = "collective",
                                        .divides = true };
static const wl_workload broadcast = { .name = "broadcast",
                                       .summary = "the array of GPU 0, on all GPUs: flat, ring or tree",
                                       .source = "textbook",
                                       WL_OPTIONS(broadcast_options),
                                       .run = run_broadcast,
                                       .value_names = broadcast_names,
                                       .kernels = "collective",
                                       .divides = true };
WL_REGISTER(all_to_all);
WL_REGISTER(broadcast);
