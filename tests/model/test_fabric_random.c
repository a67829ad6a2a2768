/* test_fabric_random.c: random fabrics with small buffers and random traffic of all classes. Every message arrives
 * once, messages of one class and address keep their order, all credits come home, and every arrival and counter is
 * the same for any number of threads. A fabric that can deadlock names the circle. */
#include "fabric_rig.h"

#define SHAPES 240u

typedef struct draw {
    ls_random random;
    uint32_t gpus, switches;
    bool has_host, answers, gpus_forward;
} draw;

static draw now_drawn;

static uint64_t below(ls_random *r, uint64_t bound)
{
    return ls_random_below(r, bound);
}

static ls_status link_at_random(fabric_shape *shape, ls_random *r, uint32_t a, uint32_t b)
{
    fabric_link link = { .a = (uint16_t)a,
                         .b = (uint16_t)b,
                         .count = (uint16_t)(1 + (below(r, 4) == 0)),
                         .bytes_per_second =
                             ls_ratio_make((2 + below(r, 60)) * UINT64_C(1000000000), 1 + below(r, 3)),
                         .latency_ns = ls_ratio_make(1 + below(r, 60), 1 + below(r, 3)) };
    ls_error err;
    return fabric_add_link(shape, &link, &err);
}

/* A connected graph: a random tree, and more links at random. GPUs may forward. */
static ls_status random_shape(fabric_shape *shape, const void *spec, uint32_t gpus, bool has_host,
                              ls_error *err)
{
    ls_random r = *(const ls_random *)spec;
    bool forward = now_drawn.gpus_forward = now_drawn.switches == 0 || below(&r, 4) == 0;
    for (uint32_t i = 0; i < gpus; i++)
        shape->nodes[i].forwards = forward;
    for (uint32_t i = 0; i < now_drawn.switches; i++) {
        char name[16];
        uint16_t node;
        snprintf(name, sizeof name, "s%u", i);
        assert_int_equal(fabric_add_switch(shape, name, ls_ratio_make(below(&r, 30), 1), &node, err), LS_OK);
        if (i > 0) /* the switches are a tree at first */
            assert_int_equal(link_at_random(shape, &r, node, node - 1 - (uint32_t)below(&r, i)), LS_OK);
    }
    uint32_t ends = gpus + has_host;
    for (uint32_t i = 0; i < ends; i++) {
        if (now_drawn.switches > 0)
            assert_int_equal(link_at_random(shape, &r, i, ends + (uint32_t)below(&r, now_drawn.switches)),
                             LS_OK);
        else if (i > 0)
            assert_int_equal(link_at_random(shape, &r, i, (uint32_t)below(&r, i)), LS_OK);
    }
    for (uint32_t more = (uint32_t)below(&r, 2 * shape->node_count); more > 0; more--) {
        uint32_t a = (uint32_t)below(&r, shape->node_count), b = (uint32_t)below(&r, shape->node_count);
        if (a != b)
            link_at_random(shape, &r, a, b); /* refused if they are linked */
    }
    return LS_OK;
}

static bool any(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    uint32_t ends = end->rig->end_count;
    (void)now;
    if (below(&end->random, 6) == 0)
        return false;
    m->to = (uint16_t)((end->id + 1 + below(&end->random, ends - 1)) % ends);
    m->class_index = (uint8_t)below(&end->random, LS_FABRIC_CLASSES);
    if (end->rig->answers && m->class_index == LS_FABRIC_DATA)
        m->class_index = LS_FABRIC_REQUEST;
    m->data_bytes = (uint16_t)(below(&end->random, 5) * 40);
    m->wire_bytes = (uint16_t)(m->data_bytes + 12);
    m->body_bytes = (uint16_t)(16 + below(&end->random, 170));
    m->address = below(&end->random, FRIG_ADDRESSES) << 7;
    return true;
}

static void open_random(frig *r, uint32_t seed)
{
    ls_random random;
    ls_random_init(&random, 77 + seed);
    now_drawn = (draw){ .gpus = 2 + (uint32_t)below(&random, 7),
                        .switches = (uint32_t)below(&random, 6),
                        .has_host = below(&random, 2) != 0,
                        .answers = below(&random, 2) != 0 };
    fabric_keys keys = { .clock_hz = { 1000000000 + below(&random, 3) * 250000000, 1 },
                         .flit_bytes = below(&random, 3) * 16,
                         .buffer_messages = 1 + below(&random, 3),
                         .queue_messages = 1 + below(&random, 4),
                         .virtual_channels = 1 + below(&random, 3),
                         .port_latency_ns = { below(&random, 20), 1 },
                         .arbitration = (uint32_t)below(&random, 2),
                         .framing = (uint32_t)below(&random, 2),
                         .encoding_percent = 25,
                         .packet_header_bytes = 24,
                         .packet_payload_bytes = 64 };
    *r = (frig){ .gpus = now_drawn.gpus,
                 .has_host = now_drawn.has_host,
                 .next = any,
                 .quota = 40,
                 .credits = 1 + (uint32_t)below(&random, 3),
                 .answers = now_drawn.answers,
                 .clock_mhz = 700 + 100 * below(&random, 6) };
    now_drawn.random = random;
    ls_error err = { 0 };
    frig_open(r);
    ls_fabric_plan plan;
    assert_int_equal(fabric_collect_ends(r->engine, r->gpus, &plan, &err), LS_OK);
    if (fabric_build(r->engine, &keys, random_shape, &now_drawn.random, &plan, &err) != LS_OK)
        fail_msg("shape %u: %s", seed, err.what);
    frig_start(r);
}

static uint64_t run_random(uint32_t seed, uint32_t threads)
{
    frig r;
    ls_error err = { 0 };
    open_random(&r, seed);
    if (frig_run(&r, threads, 0, &err) != LS_OK)
        fail_msg("shape %u with %u threads: %s", seed, threads, err.what);
    assert_false(r.lost_order);
    frig_at_rest(&r);
    uint64_t hash = frig_hash(&r);
    frig_close(&r);
    return hash;
}

static void test_random_shapes(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SHAPES; seed++) {
        uint64_t hash = run_random(seed, 1);
        /* Threads are slow to start: a part of the shapes with each number. */
        static const uint32_t threads[] = { 2, 3, 8 };
        if (seed % 3 == 0)
            assert_int_equal(run_random(seed, threads[seed / 3 % 3]), hash);
    }
}

/* ------------------------------------------------------------------------------------------------- routes */

#define EDGES_MAX 512u

typedef struct waiting {
    bool may_wait[EDGES_MAX][EDGES_MAX]; /* a message on one edge can wait for another one */
    uint8_t state[EDGES_MAX];            /* 0: new, 1: on the way, 2: done */
} waiting;

static uint32_t edge_from(const noc_graph *graph, uint32_t node, uint32_t port)
{
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == node && graph->edges[i].from_port == port)
            return i;
    fail_msg("node %u has no port %u", node, port);
    return 0;
}

/* Follows a route, which ends at its end and passes no other end that does not forward. */
static void follow(const frig *r, bool gpus_forward, uint32_t from, uint32_t to, uint32_t path, waiting *w)
{
    const noc_graph *graph = &r->fabric->graph;
    uint32_t at = from, last = UINT32_MAX, phase = 0, hops = 0;
    while (at != to) {
        assert_true(hops++ < graph->switches);
        assert_true(at == from || at >= r->end_count || (gpus_forward && at < r->gpus));
        size_t table = (size_t)(path * graph->phases + phase) * graph->switches + at;
        uint32_t edge = edge_from(graph, at, graph->route[table * graph->switches + to]);
        if (last != UINT32_MAX)
            w->may_wait[last][edge] = true;
        last = edge;
        phase = graph->edges[edge].phase;
        at = graph->edges[edge].to;
    }
}

static bool has_circle(const noc_graph *graph, waiting *w, uint32_t edge)
{
    w->state[edge] = 1;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (w->may_wait[edge][i] && (w->state[i] == 1 || (w->state[i] == 0 && has_circle(graph, w, i))))
            return true;
    w->state[edge] = 2;
    return false;
}

/* No message of any fabric can wait for itself: the order in which edges follow each other on routes has no circle. */
static void test_routes_have_no_circle(void **state)
{
    (void)state;
    static waiting w;
    for (uint32_t seed = 0; seed < SHAPES; seed++) {
        frig r;
        open_random(&r, seed);
        const noc_graph *graph = &r.fabric->graph;
        assert_true(graph->edge_count <= EDGES_MAX);
        memset(&w, 0, sizeof w);
        for (uint32_t from = 0; from < r.end_count; from++)
            for (uint32_t to = 0; to < r.end_count; to++)
                for (uint32_t path = 0; path < graph->paths; path++)
                    follow(&r, now_drawn.gpus_forward, from, to, path, &w);
        for (uint32_t i = 0; i < graph->edge_count; i++)
            if (w.state[i] == 0 && has_circle(graph, &w, i))
                fail_msg("routes of shape %u have a circle through '%s'", seed, graph->edges[i].name);
        frig_close(&r);
    }
}

/* Traffic in shapes with names. */
static void test_named_shapes(void **state)
{
    (void)state;
    static const char *const models[] = { "pcie", "ring", "full", "switch" };
    static const char *const small[] = { "buffer_messages=1", "queue_messages=2", NULL };
    for (uint32_t i = 0; i < LS_COUNT_OF(models); i++) {
        uint64_t hash = 0;
        for (uint32_t threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
            frig r = { .gpus = 7, .has_host = true, .next = any, .quota = 150, .credits = 2, .answers = true };
            ls_error err = { 0 };
            frig_open(&r);
            assert_int_equal(frig_build(&r, models[i], small, &err), LS_OK);
            frig_run_ok(&r, threads, 0);
            frig_at_rest(&r);
            if (threads == 1)
                hash = frig_hash(&r);
            assert_int_equal(frig_hash(&r), hash);
            frig_close(&r);
        }
    }
}

/* -------------------------------------------------------------------------------------------- saved state */

/* A fabric is saved with messages inside, and goes on in another engine, as if nothing had happened. */
static void test_save(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < SHAPES; seed += 24) {
        uint64_t hash = run_random(seed, 1);
        frig first, second;
        void *saved;
        size_t bytes;
        ls_error err = { 0 };
        open_random(&first, seed);
        frig_run_ok(&first, 1, 150);
        if (ls_engine_save(first.engine, &saved, &bytes, &err) != LS_OK)
            fail_msg("%s", err.what);
        frig_close(&first);
        open_random(&second, seed);
        if (ls_engine_load(second.engine, saved, bytes, &err) != LS_OK)
            fail_msg("%s", err.what);
        free(saved);
        frig_run_ok(&second, 1, 0);
        frig_at_rest(&second);
        assert_int_equal(frig_hash(&second), hash);
        frig_close(&second);
    }
}

/* ------------------------------------------------------------------------------------------------ deadlock */

/* A circle of switches. */
static ls_status circle(fabric_shape *shape, const void *spec, uint32_t gpus, bool has_host, ls_error *err)
{
    uint16_t node[8];
    (void)has_host;
    shape->routes = *(const fabric_routes *)spec;
    for (uint32_t i = 0; i < gpus; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        assert_int_equal(fabric_add_switch(shape, name, ls_ratio_make(10, 1), &node[i], err), LS_OK);
    }
    for (uint32_t i = 0; i < gpus; i++) {
        fabric_link link = { .a = node[i],
                             .b = node[(i + 1) % gpus],
                             .count = 1,
                             .bytes_per_second = { UINT64_C(16000000000), 1 },
                             .latency_ns = { 10, 1 } };
        assert_int_equal(fabric_add_link(shape, &link, err), LS_OK);
        link.b = (uint16_t)i;
        assert_int_equal(fabric_add_link(shape, &link, err), LS_OK);
    }
    return LS_OK;
}

/* Each GPU sends to the next but one, the same way around. */
static bool around(frig_end *end, ls_cycle now, ls_fabric_message *m)
{
    (void)now;
    m->to = (uint16_t)((end->id + 2) % 5);
    m->class_index = LS_FABRIC_REQUEST;
    m->data_bytes = 64;
    m->wire_bytes = 76;
    m->address = end->sent << 7;
    return true;
}

static ls_status run_circle(fabric_routes routes, ls_error *err, char *report, size_t bytes)
{
    const fabric_keys keys = { .clock_hz = { 1000000000, 1 },
                               .flit_bytes = 16,
                               .buffer_messages = 1,
                               .queue_messages = 4,
                               .virtual_channels = 1,
                               .port_latency_ns = { 20, 1 },
                               .framing = FABRIC_PERCENT };
    frig r = { .gpus = 5, .next = around, .quota = 500 };
    frig_open(&r);
    ls_fabric_plan plan;
    assert_int_equal(fabric_collect_ends(r.engine, r.gpus, &plan, err), LS_OK);
    assert_int_equal(fabric_build(r.engine, &keys, circle, &routes, &plan, err), LS_OK);
    frig_start(&r);
    ls_status status = frig_run(&r, 1, 0, err);
    snprintf(report, bytes, "%s", ls_engine_report(r.engine));
    frig_close(&r);
    return status;
}

static void test_shortest_routes_can_deadlock(void **state)
{
    (void)state;
    char report[4096];
    ls_error err = { 0 };
    assert_int_equal(run_circle(FABRIC_UP_DOWN, &err, report, sizeof report), LS_OK);
    assert_int_equal(run_circle(FABRIC_SHORTEST, &err, report, sizeof report), LS_ERR_DEADLOCK);
    print_message("%s\n", err.what);
    for (uint32_t i = 0; i < 5; i++) {
        char name[32];
        snprintf(name, sizeof name, "fabric.s%u-s%u", i, (i + 1) % 5);
        if (strstr(err.what, name) == NULL)
            fail_msg("'%s' is not named in: %s", name, err.what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_routes_have_no_circle),
        cmocka_unit_test(test_named_shapes),
        cmocka_unit_test(test_save),
        cmocka_unit_test(test_shortest_routes_can_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
