/* bench_threads.c: 64 domains, each with about two microseconds of real work and one message per window. One
 * thread and several threads run them in turn, so that both see the same load of the host.
 *
 *     bench_threads [DOMAINS [WORK_NS [WINDOWS [ROUNDS]]]]
 *
 * Prints name=value lines: the median time per window of each thread count, the median ratio to one thread,
 * and the prediction of the engine's own measurement. */
#include "bench.h"

#include "base/pool.h"

/* The partner of a domain is far from it, so that about half of the messages cross between two threads. */
enum { LATENCY = 20, STRIDE = 21, COUNTS = 4, ROUNDS_MAX = 99 };

static const uint32_t counts[COUNTS] = { 1, 2, 3, 8 };

typedef struct node {
    ls_region *region;
    ls_link *out;
    ls_event event;
    uint64_t state, spins, received;
} node;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    node *n = self;
    (void)now;
    n->received += *(const uint64_t *)payload;
    ls_link_release(link, 1);
}

/* A chain of dependent instructions: the same work on every host, and none of it can be left out. */
static uint64_t work(uint64_t state, uint64_t spins)
{
    for (uint64_t i = 0; i < spins; i++)
        state = (state ^ state >> 27) * UINT64_C(0x2545f4914f6cdd1d);
    return state;
}

static void run_node(void *self, ls_cycle now)
{
    node *n = self;
    (void)now;
    n->state = work(n->state + n->received, n->spins);
    uint64_t *payload = ls_link_send(n->out, 8);
    if (payload == NULL)
        abort();
    *payload = n->state;
    ls_schedule(n->region, &n->event, LATENCY);
}

/* Steps of work() that take work_ns; the best of several tries, for the others were disturbed. */
static uint64_t calibrate(uint64_t work_ns)
{
    enum { SPINS = 200000 };
    uint64_t best = UINT64_MAX, state = 1;
    for (int i = 0; i < 20; i++) {
        uint64_t start = host_clock_ns();
        state = work(state, SPINS);
        uint64_t took = host_clock_ns() - start;
        best = took < best ? took : best;
    }
    if (state == 0)
        abort();
    return best == 0 ? 1 : work_ns * SPINS / best + 1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint64_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static node *build(ls_engine *engine, uint32_t domains, uint64_t spins)
{
    node *nodes = calloc(domains, sizeof *nodes);
    if (nodes == NULL)
        exit(1);
    for (uint32_t i = 0; i < domains; i++)
        nodes[i] = (node){ .region = bench_domain(engine, i), .state = i + 1, .spins = spins };
    for (uint32_t i = 0; i < domains; i++) {
        node *to = &nodes[(i + STRIDE) % domains];
        nodes[i].out = bench_link(engine, &(ls_link_spec){ .name = "ring",
                                                           .from = nodes[i].region,
                                                           .to = to->region,
                                                           .latency_cycles = LATENCY,
                                                           .credits = 8,
                                                           .payload_bytes = 8,
                                                           .receive = receive,
                                                           .receiver = to });
        ls_event_init(&nodes[i].event, run_node, &nodes[i]);
        ls_schedule(nodes[i].region, &nodes[i].event, 1);
    }
    return nodes;
}

int main(int argc, char **argv)
{
    uint32_t domains = (uint32_t)argument(argc, argv, 1, 64);
    uint64_t work_ns = argument(argc, argv, 2, 2000);
    uint64_t windows = argument(argc, argv, 3, 300);
    uint64_t rounds = argument(argc, argv, 4, 9);
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    uint64_t spins = calibrate(work_ns);
    ls_engine *engine = bench_engine();
    node *nodes = build(engine, domains, spins);
    ls_time until = 0;
    const ls_time step = windows * LATENCY * (LS_FS_PER_SECOND / GHZ);

    /* The prediction, from one thread. */
    until += step;
    bench_run(engine, &(ls_run_options){ .threads = 1, .until = until, .scaling = true });
    ls_scaling scaling;
    if (!ls_scaling_report(engine, &scaling))
        abort();

    static double ns[COUNTS][ROUNDS_MAX], ratio[COUNTS][ROUNDS_MAX];
    for (uint64_t r = 0; r < rounds; r++)
        for (int c = 0; c < COUNTS; c++) {
            until += step;
            uint64_t start = host_clock_ns();
            ls_run_result result =
                bench_run(engine, &(ls_run_options){ .threads = counts[c], .until = until });
            ns[c][r] = (double)(host_clock_ns() - start) / (double)result.windows;
            ratio[c][r] = ns[0][r] / ns[c][r];
        }
    printf("cpus=%" PRIu32 "\ndomains=%" PRIu32 "\nspins=%" PRIu64 "\n", cpu_count(), domains, spins);
    for (int c = 0; c < COUNTS; c++) {
        printf("window_ns_%" PRIu32 "=%.0f\n", counts[c], median(ns[c], rounds));
        printf("ratio_%" PRIu32 "=%.3f\n", counts[c], median(ratio[c], rounds));
    }
    printf("work_ns=%.0f\n", scaling.work_seconds * 1e9 / (double)scaling.windows / domains);
    printf("barrier_ns=%.0f\n", scaling.barrier_seconds * 1e9);
    for (int p = 0; p < LS_SCALING_POINTS; p++)
        printf("predicted_%" PRIu32 "=%.3f\n", scaling.threads[p], scaling.speedup[p]);
    ls_engine_destroy(engine);
    free(nodes);
    return 0;
}
