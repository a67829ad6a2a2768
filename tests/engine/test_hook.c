/* test_hook.c: hooks are defined once, found by name, and pass the exact facts to every subscriber. */
#include "engine/fixture.h"

#include <stdio.h>

typedef struct fact {
    const void *subscriber;
    const ls_domain *domain;
    ls_time time;
    char source[16];
    uint64_t value[3];
    uint32_t payload;
} fact;

typedef struct facts {
    fact at[64];
    size_t count;
} facts;

typedef struct subscriber {
    facts *facts;
} subscriber;

static void note(void *self, const ls_hook_args *args)
{
    subscriber *s = self;
    fact *f = &s->facts->at[s->facts->count++];
    *f = (fact){ .subscriber = s, .domain = args->domain, .time = args->time };
    memcpy(f->value, args->value, sizeof f->value);
    snprintf(f->source, sizeof f->source, "%s", args->source);
    f->payload = args->data != NULL ? *(const uint32_t *)args->data : 0;
}

static void test_define_once(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    const ls_hook *issue = NULL, *again = NULL, *stall = NULL;
    assert_int_equal(ls_hook_define(engine, "core.issue", "an instruction issues", &issue, NULL), LS_OK);
    assert_int_equal(ls_hook_define(engine, "core.stall", "none does", &stall, NULL), LS_OK);
    assert_int_equal(ls_hook_define(engine, "core.issue", "told twice", &again, NULL), LS_OK);
    assert_ptr_equal(issue, again);
    assert_ptr_not_equal(issue, stall);
    assert_int_equal(issue->subscribers, 0);

    static const char *const expected[][2] = {
        { "link.send", "a message leaves: link id, sequence number, wire bytes" },
        { "link.deliver", "a message arrives: link id, sequence number, wire bytes; data: its payload" },
        { "core.issue", "an instruction issues" },
        { "core.stall", "none does" },
    };
    const char *name, *help;
    for (uint32_t i = 0; i < LS_COUNT_OF(expected); i++) {
        assert_true(ls_hook_at(engine, i, &name, &help));
        assert_string_equal(name, expected[i][0]);
        assert_string_equal(help, expected[i][1]);
    }
    assert_false(ls_hook_at(engine, 4, &name, &help));
    ls_engine_destroy(engine);
}

static void test_unknown_name(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    ls_error err = { 0 };
    assert_int_equal(ls_hook_subscribe(engine, "link.sent", note, NULL, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there is no hook 'link.sent'");
    assert_string_equal(err.nearest, "link.send");
    assert_int_equal(ls_hook_subscribe(engine, "quux", note, NULL, &err), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "");
    assert_int_equal(ls_hook_subscribe(engine, "quux", note, NULL, NULL), LS_ERR_USAGE);
    ls_engine_destroy(engine);
}

static void test_own_hook(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    facts all = { 0 };
    subscriber a = { &all }, b = { &all }, c = { &all };
    const ls_hook *issue, *stall;
    assert_int_equal(ls_hook_define(engine, "core.issue", "", &issue, NULL), LS_OK);
    assert_int_equal(ls_hook_define(engine, "core.stall", "", &stall, NULL), LS_OK);
    assert_int_equal(ls_hook_subscribe(engine, "core.issue", note, &a, NULL), LS_OK);
    assert_int_equal(ls_hook_subscribe(engine, "core.issue", note, &b, NULL), LS_OK);
    assert_int_equal(ls_hook_subscribe(engine, "core.stall", note, &c, NULL), LS_OK);
    assert_int_equal(issue->subscribers, 2);
    assert_int_equal(stall->subscribers, 1);
    /* Handles stay good while more hooks are defined. */
    for (int i = 0; i < 100; i++) {
        char name[32];
        const ls_hook *other;
        snprintf(name, sizeof name, "other.%d", i);
        assert_int_equal(ls_hook_define(engine, name, "", &other, NULL), LS_OK);
    }
    uint32_t payload = 77;
    ls_hook_fire(engine, issue,
                 &(ls_hook_args){ .time = 5, .source = "sm0", .value = { 1, 2, 3 }, .data = &payload });
    assert_int_equal(all.count, 2); /* in the order of subscription */
    assert_ptr_equal(all.at[0].subscriber, &a);
    assert_ptr_equal(all.at[1].subscriber, &b);
    assert_string_equal(all.at[1].source, "sm0");
    assert_int_equal(all.at[1].time, 5);
    assert_int_equal(all.at[1].value[0], 1);
    assert_int_equal(all.at[1].value[1], 2);
    assert_int_equal(all.at[1].value[2], 3);
    assert_int_equal(all.at[1].payload, 77);
    ls_engine_destroy(engine);
}

/* -------------------------------------------------------------------------------- link.send, link.deliver */

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)payload;
    (void)now;
    ls_link_release(link, 1);
}

static void send(void *self, ls_cycle now)
{
    uint32_t *payload = ls_link_send(self, 10 + (uint32_t)now);
    assert_non_null(payload);
    *payload = 100 + (uint32_t)now;
}

static void check_links(uint64_t from_hz, uint64_t to_hz)
{
    ls_engine *engine = new_engine();
    facts sends = { 0 }, deliveries = { 0 };
    subscriber s = { &sends }, d = { &deliveries };
    ls_region *from = new_domain(engine, "from", from_hz), *to = new_domain(engine, "to", to_hz);
    ls_link_spec spec = { .name = "unused",
                          .from = to,
                          .to = from,
                          .latency_cycles = 8,
                          .credits = 1,
                          .payload_bytes = 4,
                          .receive = receive };
    new_link(engine, &spec);
    spec = (ls_link_spec){ .name = "wire",
                           .from = from,
                           .to = to,
                           .latency_cycles = 6,
                           .credits = 2,
                           .payload_bytes = 4,
                           .receive = receive };
    ls_link *link = new_link(engine, &spec);
    probe p[3];
    for (uint64_t i = 0; i < 3; i++) {
        probe_init(&p[i], NULL, i, send, link);
        ls_schedule(from, &p[i].event, 30 * i);
    }
    /* Without subscribers no function is called. Then a subscriber comes between two runs. */
    run_with(engine, &(ls_run_options){ .until = edge_time(from_hz, 25) });
    assert_int_equal(ls_hook_subscribe(engine, "link.send", note, &s, NULL), LS_OK);
    assert_int_equal(ls_hook_subscribe(engine, "link.deliver", note, &d, NULL), LS_OK);
    run_all(engine);
    assert_int_equal(sends.count, 2);
    assert_int_equal(deliveries.count, 2);
    for (uint64_t i = 1; i < 3; i++) {
        const fact *out = &sends.at[i - 1], *in = &deliveries.at[i - 1];
        assert_ptr_equal(out->domain, ls_region_domain(from));
        assert_ptr_equal(in->domain, ls_region_domain(to));
        assert_string_equal(out->source, "wire");
        assert_string_equal(in->source, "wire");
        assert_int_equal(out->time, edge_time(from_hz, 30 * i));
        uint64_t arrives = first_edge(to_hz, edge_time(from_hz, 30 * i + 6));
        assert_int_equal(in->time, edge_time(to_hz, arrives));
        for (const fact *f = out; f != NULL; f = f == out ? in : NULL) {
            assert_int_equal(f->value[0], 1); /* link id */
            assert_int_equal(f->value[1], i); /* sequence number */
            assert_int_equal(f->value[2], 10 + 30 * i);
        }
        assert_int_equal(out->payload, 0); /* not filled in yet */
        assert_int_equal(in->payload, 100 + 30 * i);
    }
    ls_engine_destroy(engine);
}

static void test_link_hooks(void **state)
{
    (void)state;
    check_links(GHZ, GHZ);
    check_links(GHZ, 1365000000);
    check_links(1365000000, 700000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_define_once),
        cmocka_unit_test(test_unknown_name),
        cmocka_unit_test(test_own_hook),
        cmocka_unit_test(test_link_hooks),
    };
    return cmocka_run_group_tests_name("hook", tests, NULL, NULL);
}
