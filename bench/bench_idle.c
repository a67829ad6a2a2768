/* bench_idle.c: the cost of idle time and idle domains.
 *
 *     bench_idle jumps COUNT CYCLES   COUNT events, each CYCLES cycles after the one before; two domains
 *     bench_idle windows COUNT N      COUNT windows in which one of N linked domains has one event */
#include "bench.h"

typedef struct timer {
    ls_region *region;
    ls_event event;
    uint64_t left, cycles;
} timer;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static void run_timer(void *self, ls_cycle now)
{
    timer *t = self;
    (void)now;
    if (t->left-- > 0)
        ls_schedule(t->region, &t->event, t->cycles);
}

int main(int argc, char **argv)
{
    bool jumps = argc > 1 && strcmp(argv[1], "jumps") == 0;
    enum { LATENCY = 20 };
    timer t = { .left = argument(argc, argv, 2, 1000) };
    t.cycles = jumps ? argument(argc, argv, 3, 1) : LATENCY;
    uint32_t domains = jumps ? 2 : (uint32_t)argument(argc, argv, 3, 2);
    ls_engine *engine = bench_engine();
    ls_region *first = bench_domain(engine, 0), *last = first;
    for (uint32_t i = 1; i < domains; i++) {
        ls_region *next = bench_domain(engine, i);
        ls_link_spec spec = { .name = "link",
                              .from = last,
                              .to = next,
                              .latency_cycles = LATENCY,
                              .credits = 1,
                              .receive = receive };
        bench_link(engine, &spec);
        last = next;
    }
    t.region = first;
    ls_event_init(&t.event, run_timer, &t);
    ls_schedule(first, &t.event, 0);
    ls_run_result result = bench_run(engine, NULL);
    printf("events=%" PRIu64 " windows=%" PRIu64 " end=%" PRIu64 "\n", result.events, result.windows,
           result.end_time);
    ls_engine_destroy(engine);
    return 0;
}
