/* test_dram_threads.c: five channels at the ends of links, each with its own clocks and a relay in front of
 * it. One source sends requests as fast as answers come. The answers are the same at the same times for every
 * number of threads. */
#include "dram_rig.h"

#include "base/ring.h"
#include "lockstep/random.h"

#define CHANNELS 5u
#define OUTSTANDING 60u
#define TOTAL 4000u

typedef struct message {
    ls_dram_request request;
    uint32_t channel;
} message;

/* -------------------------------------------------------------------------------------------------- relay */

/* In the L2 clock's region: requests from the link to the channel, answers back, four at most in between. */
typedef struct relay {
    ls_port dram;
    ls_region *region;
    ls_ticker ticker;
    ls_event sent;
    ls_link *from, *to;
    message in[64], out[8];
    index_ring in_ring, out_ring;
    message sent_away[512]; /* by token */
    bool waiting;
} relay;

static bool relay_ready(void *self, uint32_t token)
{
    const relay *r = self;
    (void)token;
    return ring_count(&r->out_ring) < 4;
}

static void relay_done(void *self, uint32_t token, bool write)
{
    relay *r = self;
    if (write)
        return;
    r->out[ring_push(&r->out_ring)] = r->sent_away[token % 512];
    ls_ticker_wake(&r->ticker);
}

static void relay_sent(void *self, ls_cycle now)
{
    relay *r = self;
    (void)now;
    r->waiting = false;
    ls_ticker_wake(&r->ticker);
}

static bool relay_tick(void *self, ls_cycle now)
{
    relay *r = self;
    const ls_dram_ops *dram = r->dram.ops;
    (void)now;
    if (!ring_empty(&r->out_ring) && !r->waiting) {
        message *m = ls_link_send(r->to, 1);
        if (m != NULL) {
            *m = r->out[ring_pop(&r->out_ring)];
        } else {
            r->waiting = true;
            ls_link_wait(r->to, &r->sent);
        }
    }
    if (!ring_empty(&r->in_ring)) {
        message m = r->in[ring_front(&r->in_ring)];
        if (dram->ready(r->dram.self, m.request.write)) {
            (void)ring_pop(&r->in_ring);
            r->sent_away[m.request.token % 512] = m;
            dram->push(r->dram.self, &m.request);
            ls_link_release(r->from, 1);
        }
    }
    return !ring_empty(&r->in_ring) || (!ring_empty(&r->out_ring) && !r->waiting);
}

static void relay_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    relay *r = self;
    (void)link, (void)now;
    memcpy(&r->in[ring_push(&r->in_ring)], payload, sizeof(message));
    ls_ticker_wake(&r->ticker);
}

static const ls_dram_reply_ops relay_ops = { .ready = relay_ready, .done = relay_done };
static const ls_port_decl relay_ports[] = {
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .offset = offsetof(relay, dram) },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .ops = &relay_ops },
};
static const ls_block_type relay_type = {
    .abi = LS_ABI_VERSION,
    .slot = "test",
    .name = "relay",
    .state_size = sizeof(relay),
    .ports = relay_ports,
    .port_count = LS_COUNT_OF(relay_ports),
};

/* ------------------------------------------------------------------------------------------------- source */

typedef struct source {
    ls_region *region;
    ls_event event;
    ls_link *to[CHANNELS];
    ls_random random;
    uint32_t sent, outstanding, token[CHANNELS];
    uint64_t answers, hash; /* of the answers and their times */
} source;

static void source_run(void *self, ls_cycle now)
{
    source *s = self;
    (void)now;
    while (s->sent < TOTAL && s->outstanding < OUTSTANDING) {
        uint32_t channel = (uint32_t)ls_random_below(&s->random, CHANNELS);
        message *m = ls_link_send(s->to[channel], 1);
        if (m == NULL)
            break;
        bool write = ls_random_below(&s->random, 4) == 0;
        *m = (message){ .channel = channel,
                        .request = { .bank = (uint32_t)ls_random_below(&s->random, 16),
                                     .row = (uint32_t)ls_random_below(&s->random, 3),
                                     .token = s->token[channel]++,
                                     .write = write } };
        s->sent++;
        s->outstanding += !write;
    }
    if (s->sent < TOTAL && !ls_event_scheduled(&s->event))
        ls_schedule(s->region, &s->event, 3);
}

static void source_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    source *s = self;
    message m;
    memcpy(&m, payload, sizeof m);
    s->outstanding--;
    s->answers++;
    s->hash =
        (s->hash ^ (now << 24) ^ ((uint64_t)m.channel << 56) ^ m.request.token) * UINT64_C(0x100000001b3);
    ls_link_release(link, 1);
    if (!ls_event_scheduled(&s->event))
        ls_schedule(s->region, &s->event, 1);
}

/* ------------------------------------------------------------------------------------------------ machine */

typedef struct outcome {
    uint64_t answers, hash;
    ls_dram_counters n[CHANNELS];
} outcome;

static ls_link *link_of(ls_engine *engine, const char *name, ls_region *from, ls_region *to,
                        ls_receive_fn receive, void *receiver)
{
    ls_link *link = NULL;
    ls_error err = { 0 };
    ls_link_spec spec = { .name = name,
                          .from = from,
                          .to = to,
                          .latency_cycles = 20,
                          .credits = 32,
                          .payload_bytes = sizeof(message),
                          .receive = receive,
                          .receiver = receiver };
    if (ls_link_create(engine, &spec, &link, &err) != LS_OK)
        fail_msg("%s", err.what);
    return link;
}

static ls_clock mhz(uint64_t num, uint64_t den)
{
    ls_clock clock;
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(num * 1000000, den), NULL), LS_OK);
    return clock;
}

static void run_machine(outcome *out, uint32_t threads, uint64_t window_fs)
{
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_block *dram[CHANNELS];
    ls_error err = { 0 };
    assert_int_equal(ls_engine_create(7, &engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "source", mhz(1132, 1), &domain, NULL), LS_OK);
    source s = { .region = ls_domain_region(domain, 0) };
    ls_random_init(&s.random, 99);
    ls_event_init(&s.event, source_run, &s);
    for (uint32_t i = 0; i < CHANNELS; i++) {
        char name[3][16];
        ls_region *l2 = NULL;
        ls_block *block = NULL;
        snprintf(name[0], sizeof name[0], "mem%u", i);
        snprintf(name[1], sizeof name[1], "dram%u", i);
        snprintf(name[2], sizeof name[2], "relay%u", i);
        assert_int_equal(ls_domain_create(engine, name[0], mhz(7001, 2), &domain, NULL), LS_OK);
        assert_int_equal(ls_domain_add_region(domain, mhz(1132, 1), &l2, NULL), LS_OK);
        bank_spec spec = rig_spec(i % 2 ? "gddr6" : "accelsim-gddr6");
        spec.refresh = true;
        spec.return_entries = 4;
        spec.queue_entries = 10;
        spec.front_latency_cycles = 13 * i;
        spec.front_clock = ls_ratio_make(UINT64_C(1132000000), 1);
        spec.command_bus = i % 3;
        if (ls_block_create(ls_domain_region(domain, 0), name[1], ls_registry_find_block("dram", "bank"),
                            &spec, &dram[i], &err) != LS_OK)
            fail_msg("%s", err.what);
        assert_int_equal(ls_block_create(l2, name[2], &relay_type, NULL, &block, NULL), LS_OK);
        assert_int_equal(ls_block_connect(block, "dram", dram[i], "dram", NULL), LS_OK);
        assert_int_equal(ls_block_connect(dram[i], "reply", block, "reply", NULL), LS_OK);
        relay *r = ls_block_state(block);
        r->region = l2;
        ring_init(&r->in_ring, 64);
        ring_init(&r->out_ring, 8);
        ls_event_init(&r->sent, relay_sent, r);
        assert_int_equal(ls_ticker_add(l2, &r->ticker, relay_tick, r, NULL), LS_OK);
        snprintf(name[0], sizeof name[0], "to%u", i);
        s.to[i] = r->from = link_of(engine, name[0], s.region, l2, relay_receive, r);
        snprintf(name[0], sizeof name[0], "from%u", i);
        r->to = link_of(engine, name[0], l2, s.region, source_receive, &s);
    }
    ls_schedule_at(s.region, &s.event, 0);
    ls_run_options options = { .threads = threads, .window_fs = window_fs };
    if (ls_run(engine, &options, NULL, &err) != LS_OK)
        fail_msg("%s", err.what);
    memset(out, 0, sizeof *out);
    out->answers = s.answers;
    out->hash = s.hash;
    assert_int_equal(s.sent, TOTAL);
    assert_int_equal(s.outstanding, 0);
    for (uint32_t i = 0; i < CHANNELS; i++)
        out->n[i] = ((const bank_channel *)ls_block_state(dram[i]))->n;
    ls_engine_destroy(engine);
}

static void test_same_for_any_thread_count(void **state)
{
    (void)state;
    static outcome first, other;
    run_machine(&first, 1, 0);
    uint64_t requests = 0, answered = 0;
    for (uint32_t i = 0; i < CHANNELS; i++) {
        requests += first.n[i].requests;
        answered += first.n[i].latency.count;
        assert_true(first.n[i].row_hits > 0 && first.n[i].row_conflicts > 0);
    }
    assert_int_equal(requests, TOTAL);
    assert_int_equal(answered, TOTAL);
    assert_true(first.answers > TOTAL / 2);
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (uint64_t window = 0; window < 2; window++) {
            run_machine(&other, threads, window * UINT64_C(5000000));
            assert_int_equal(other.hash, first.hash);
            assert_memory_equal(&other, &first, sizeof first);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same_for_any_thread_count) };
    return cmocka_run_group_tests_name("dram_threads", tests, NULL, NULL);
}
