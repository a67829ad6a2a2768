/* bench_event.c: events and ticks in the steady state, with handlers that do next to nothing.
 *
 *     bench_event events COUNT N SPREAD   COUNT events in all; N in flight, each scheduled again by its own
 *                                         handler after a time of its own, 1 to SPREAD cycles
 *     bench_event ticks CYCLES N          N tickers for CYCLES cycles */
#include "bench.h"

typedef struct source {
    ls_event event;
    ls_region *region;
    uint64_t *left;
    uint64_t delay;
} source;

static void run_source(void *self, ls_cycle now)
{
    source *s = self;
    (void)now;
    if (*s->left > 0) {
        --*s->left;
        ls_schedule(s->region, &s->event, s->delay);
    }
}

static void events(uint64_t count, uint64_t in_flight, uint64_t spread)
{
    ls_engine *engine = bench_engine();
    ls_region *region = bench_domain(engine, 0);
    source *sources = calloc(in_flight, sizeof *sources);
    if (sources == NULL)
        exit(1);
    uint64_t left = count;
    for (uint64_t i = 0; i < in_flight; i++) {
        uint64_t delay = 1 + i * 37 % spread; /* different ones, as long as there are */
        sources[i] = (source){ .region = region, .left = &left, .delay = delay };
        ls_event_init(&sources[i].event, run_source, &sources[i]);
        ls_schedule(region, &sources[i].event, delay);
    }
    ls_run_result result = bench_run(engine, NULL);
    printf("events=%" PRIu64 " cycles=%" PRIu64 "\n", result.events, result.region_cycles);
    ls_engine_destroy(engine);
    free(sources);
}

typedef struct block {
    ls_ticker ticker;
    uint64_t left;
} block;

static bool tick(void *self, ls_cycle now)
{
    block *b = self;
    (void)now;
    return --b->left > 0;
}

static void ticks(uint64_t cycles, uint64_t count)
{
    ls_error err = { 0 };
    ls_engine *engine = bench_engine();
    ls_region *region = bench_domain(engine, 0);
    block *blocks = calloc(count, sizeof *blocks);
    if (blocks == NULL)
        exit(1);
    for (uint64_t i = 0; i < count; i++) {
        blocks[i].left = cycles;
        must(ls_ticker_add(region, &blocks[i].ticker, tick, &blocks[i], &err), &err);
        ls_ticker_wake(&blocks[i].ticker);
    }
    ls_run_result result = bench_run(engine, NULL);
    printf("ticks=%" PRIu64 "\n", result.ticks);
    ls_engine_destroy(engine);
    free(blocks);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "ticks") == 0)
        ticks(argument(argc, argv, 2, 10000), argument(argc, argv, 3, 1));
    else
        events(argument(argc, argv, 2, 10000), argument(argc, argv, 3, 64), argument(argc, argv, 4, 100));
    return 0;
}
