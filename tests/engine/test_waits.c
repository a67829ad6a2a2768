/* test_waits.c: waiters and their blockers: the cycle of a deadlock is found and named, in one line and in
 * full. */
#include "engine/fixture.h"

#include <stdio.h>

/* ----------------------------------------------------------------------------------------- reported by
 * blocks */

typedef struct edge {
    const char *waiter, *holder, *detail;
} edge;

typedef struct teller {
    const edge *edges;
    size_t count;
} teller;

static void tell(const void *self, ls_wait_sink *sink)
{
    const teller *t = self;
    for (size_t i = 0; i < t->count; i++)
        ls_wait_report(sink, t->edges[i].waiter, t->edges[i].holder, t->edges[i].detail);
}

/* Runs a machine at rest with one piece of work pending and reports the given edges. */
static ls_engine *stuck(const edge *edges, size_t count, ls_error *err)
{
    teller t = { edges, count };
    ls_engine *engine = new_engine();
    ls_region *region = new_domain(engine, "core", GHZ);
    ls_domain_pending(ls_region_domain(region), 3);
    assert_int_equal(ls_waits_register(engine, "teller", tell, &t, NULL), LS_OK);
    assert_int_equal(ls_run(engine, NULL, NULL, err), LS_ERR_DEADLOCK);
    assert_int_equal(err->status, LS_ERR_DEADLOCK);
    return engine;
}

#define REST "deadlock at 0 fs: nothing can happen any more and work is pending"

static void check(const edge *edges, size_t count, const char *line, const char *report)
{
    ls_error err = { 0 };
    ls_engine *engine = stuck(edges, count, &err);
    assert_string_equal(err.what, line);
    assert_string_equal(ls_engine_report(engine), report);
    ls_engine_destroy(engine);
}

static void test_nobody_tells(void **state)
{
    (void)state;
    check(NULL, 0, REST,
          REST "\nno block says what it waits for\ndomains with work:\n"
               "  core: cycle 0, pending 3, next work never\n");
}

static void test_self_wait(void **state)
{
    (void)state;
    static const edge edges[] = { { "lsu", "lsu", "its own reply" } };
    check(edges, 1, REST "; cycle: lsu -> lsu",
          REST "\ncycle of waiters:\n"
               "  lsu -> lsu (its own reply)\n"
               "all waiters (1):\n"
               "  lsu waits for lsu: its own reply\n"
               "domains with work:\n"
               "  core: cycle 0, pending 3, next work never\n");
}

static void test_branches_without_a_cycle(void **state)
{
    (void)state;
    static const edge edges[] = {
        { "a", "b", "1" }, { "a", "c", "2" }, { "b", "d", "3" },
        { "c", "d", "4" }, { "d", "e", "5" }, { "d", "f", "6" },
    };
    check(edges, LS_COUNT_OF(edges), REST "; a waits for b (1)",
          REST "\nall waiters (6):\n"
               "  a waits for b: 1\n"
               "  a waits for c: 2\n"
               "  b waits for d: 3\n"
               "  c waits for d: 4\n"
               "  d waits for e: 5\n"
               "  d waits for f: 6\n"
               "domains with work:\n"
               "  core: cycle 0, pending 3, next work never\n");
}

/* The cycle hangs off a branch that was searched second; the path to it is not part of it. */
static void test_cycle_behind_branches(void **state)
{
    (void)state;
    static const edge edges[] = {
        { "a", "b", "1" }, { "b", "x", "2" }, { "b", "c", "3" }, { "c", "y", "4" },
        { "c", "d", "5" }, { "d", "b", "6" }, { "x", "y", "7" },
    };
    ls_error err = { 0 };
    ls_engine *engine = stuck(edges, LS_COUNT_OF(edges), &err);
    assert_string_equal(err.what, REST "; cycle: b -> c -> d -> b");
    assert_non_null(strstr(ls_engine_report(engine), "cycle of waiters:\n"
                                                     "  b -> c (3)\n"
                                                     "  c -> d (5)\n"
                                                     "  d -> b (6)\n"
                                                     "all waiters (7):\n"));
    ls_engine_destroy(engine);
}

/* Many warps wait for one thing and one of them holds what that needs: the edges that matter are chosen. */
static void test_one_of_many(void **state)
{
    (void)state;
    edge edges[100];
    for (size_t i = 0; i < 99; i++)
        edges[i] = (edge){ "core", i == 57 ? "cache" : "pipe", "warp" };
    edges[99] = (edge){ "cache", "core", "reply" };
    ls_error err = { 0 };
    ls_engine *engine = stuck(edges, 100, &err);
    assert_string_equal(err.what, REST "; cycle: core -> cache -> core");
    ls_engine_destroy(engine);
}

enum { CHAIN = 20000 };

static void check_chain(bool closed)
{
    char(*names)[12] = test_calloc(CHAIN + 1, sizeof *names);
    edge *edges = test_calloc(CHAIN, sizeof *edges);
    for (uint32_t i = 0; i <= CHAIN; i++)
        snprintf(names[i], sizeof names[i], "n%u", i);
    /* reported in reverse, so that every search except the last ends at once */
    for (uint32_t i = 0; i < CHAIN; i++)
        edges[CHAIN - 1 - i] = (edge){ names[i], names[closed && i + 1 == CHAIN ? 0 : i + 1], "next" };
    ls_error err = { 0 };
    ls_engine *engine = stuck(edges, CHAIN, &err);
    const char *report = ls_engine_report(engine);
    if (closed) {
        /* the one line is cut, the report is whole: every link of the chain once in the cycle */
        static const char start[] = REST "; cycle: n19999 -> n0 -> n1 -> n2 -> ";
        assert_memory_equal(err.what, start, sizeof start - 1);
        assert_int_equal(strlen(err.what), sizeof err.what - 1);
        size_t arrows = 0;
        for (const char *at = report; (at = strstr(at, " -> ")) != NULL; at++)
            arrows++;
        assert_int_equal(arrows, CHAIN);
        assert_non_null(strstr(report, "\n  n9999 -> n10000 (next)\n"));
    } else {
        assert_string_equal(err.what, REST "; n19999 waits for n20000 (next)");
        assert_null(strstr(report, " -> "));
    }
    assert_non_null(strstr(report, "all waiters (20000):\n"));
    ls_engine_destroy(engine);
    test_free(edges);
    test_free(names);
}

static void test_long_chains(void **state)
{
    (void)state;
    check_chain(false);
    check_chain(true);
}

/* ---------------------------------------------------------------------------------- a ring of three links */

typedef struct node {
    ls_region *region;
    ls_link *out;
    ls_event event;
    uint32_t left;
} node;

static void node_send(void *self, ls_cycle now)
{
    node *n = self;
    (void)now;
    for (; n->left > 0; n->left--)
        if (ls_link_send(n->out, 1) == NULL) {
            ls_link_wait(n->out, &n->event);
            return;
        }
}

static void keep(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self; /* never gives the entry back */
    (void)link;
    (void)payload;
    (void)now;
}

static void test_ring_of_three(void **state)
{
    (void)state;
    static const char *const names[] = { "red", "green", "blue" };
    for (uint32_t threads = 1; threads <= 3; threads++) {
        ls_engine *engine = new_engine();
        node nodes[3] = { 0 };
        for (size_t i = 0; i < 3; i++)
            nodes[i].region = new_domain(engine, names[i], GHZ);
        for (size_t i = 0; i < 3; i++) {
            char name[16], from[16];
            snprintf(name, sizeof name, "%s-out", names[i]);
            snprintf(from, sizeof from, "%s", names[i]);
            nodes[i].out = new_link(engine, &(ls_link_spec){ .name = name,
                                                             .from = nodes[i].region,
                                                             .to = nodes[(i + 1) % 3].region,
                                                             .from_name = from,
                                                             .latency_cycles = 5,
                                                             .credits = 2,
                                                             .receive = keep });
            nodes[i].left = 3;
            ls_event_init(&nodes[i].event, node_send, &nodes[i]);
            ls_schedule(nodes[i].region, &nodes[i].event, 10 * i);
        }
        ls_error err = { 0 };
        assert_int_equal(ls_run(engine, &(ls_run_options){ .threads = threads }, NULL, &err), LS_ERR_DEADLOCK);
        assert_string_equal(err.what, "deadlock at 25.0 ns: nothing can happen any more and work is pending; "
                                      "cycle: red -> green -> blue -> red");
        assert_string_equal(
            ls_engine_report(engine),
            "deadlock at 25.0 ns: nothing can happen any more and work is pending\n"
            "cycle of waiters:\n"
            "  red -> green (link 'red-out': none of 2 credits is home, the receiver holds 2)\n"
            "  green -> blue (link 'green-out': none of 2 credits is home, the receiver holds 2)\n"
            "  blue -> red (link 'blue-out': none of 2 credits is home, the receiver holds 2)\n"
            "all waiters (3):\n"
            "  red waits for green: link 'red-out': none of 2 credits is home, the receiver holds 2\n"
            "  green waits for blue: link 'green-out': none of 2 credits is home, the receiver holds 2\n"
            "  blue waits for red: link 'blue-out': none of 2 credits is home, the receiver holds 2\n"
            "domains with work:\n");
        /* The next run is stuck at the same time in the same way. */
        char first[sizeof err.what];
        memcpy(first, err.what, sizeof first);
        assert_int_equal(ls_run(engine, NULL, NULL, &err), LS_ERR_DEADLOCK);
        assert_string_equal(err.what, first);
        ls_engine_destroy(engine);
    }
}

/* The blocks' own edges and the links' close one cycle together. */
static void test_links_and_blocks_in_one_cycle(void **state)
{
    (void)state;
    static const edge edges[] = { { "cache", "core.lsu", "the entry is released after the next request" } };
    teller t = { edges, 1 };
    ls_engine *engine = new_engine();
    node n = { .region = new_domain(engine, "d0", GHZ), .left = 2 };
    ls_region *to = new_domain(engine, "d1", GHZ);
    n.out = new_link(engine, &(ls_link_spec){ .name = "request",
                                              .from = n.region,
                                              .to = to,
                                              .from_name = "core.lsu",
                                              .to_name = "cache",
                                              .latency_cycles = 5,
                                              .credits = 1,
                                              .receive = keep });
    ls_event_init(&n.event, node_send, &n);
    ls_schedule(n.region, &n.event, 0);
    assert_int_equal(ls_waits_register(engine, "cache", tell, &t, NULL), LS_OK);
    ls_error err = { 0 };
    assert_int_equal(ls_run(engine, NULL, NULL, &err), LS_ERR_DEADLOCK);
    assert_string_equal(err.what, "deadlock at 5.00 ns: nothing can happen any more and work is pending; "
                                  "cycle: core.lsu -> cache -> core.lsu");
    ls_engine_destroy(engine);
}

/* A dump in the middle of a run lists the waiters, and a busy wire is no missing credit. */
static void dump_now(void *self, ls_cycle now)
{
    (void)now;
    atomic_store((atomic_int *)self, 1);
}

static void dump_of_a_busy_wire(uint32_t threads)
{
    ls_engine *engine = new_engine();
    ls_run_control control = { 0 };
    node n = { .region = new_domain(engine, "from", GHZ), .left = 2 };
    ls_region *to = new_domain(engine, "to", GHZ);
    n.out = new_link(engine, &(ls_link_spec){ .name = "wire",
                                              .from = n.region,
                                              .to = to,
                                              .latency_cycles = 5,
                                              .width_bytes = 1,
                                              .width_cycles = 100,
                                              .credits = 4,
                                              .receive = keep });
    ls_event_init(&n.event, node_send, &n);
    ls_schedule(n.region, &n.event, 0);
    probe p;
    probe_init(&p, NULL, 0, dump_now, &control.dump);
    ls_schedule(n.region, &p.event, 2);
    FILE *out = tmpfile();
    assert_non_null(out);
    run_with(engine,
             &(ls_run_options){
                 .control = &control, .dump_to = out, .threads = threads, .assignment = LS_ASSIGN_SHUFFLED });
    char text[512] = "";
    rewind(out);
    assert_true(fread(text, 1, sizeof text - 1, out) > 0);
    fclose(out);
    assert_string_equal(text, "status at 0 fs, window 1:\n"
                              "  from: cycle 2, pending 0, next work 100 ns\n"
                              "  to: cycle 0, pending 0, next work 104 ns\n"
                              "waiters (1):\n"
                              "  from waits for to: link 'wire': the wire is busy\n");
    ls_engine_destroy(engine);
}

static void test_dump_of_a_busy_wire(void **state)
{
    (void)state;
    dump_of_a_busy_wire(1);
    dump_of_a_busy_wire(2); /* the message under way lies in a mailbox */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_tells),
        cmocka_unit_test(test_self_wait),
        cmocka_unit_test(test_branches_without_a_cycle),
        cmocka_unit_test(test_cycle_behind_branches),
        cmocka_unit_test(test_one_of_many),
        cmocka_unit_test(test_long_chains),
        cmocka_unit_test(test_ring_of_three),
        cmocka_unit_test(test_links_and_blocks_in_one_cycle),
        cmocka_unit_test(test_dump_of_a_busy_wire),
    };
    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
