/* test_link.c: the closed forms of a link: arrival for every width and flit, throughput of the wire and of
 * the credits, and messages that arrive as they were sent. */
#include "engine/pump.h"

/* -------------------------------------------------------------------------------------------------- wire */

/* A wire as a row of cycles with room for so many units each: a message fills them in order. */
typedef struct wire {
    uint64_t units_per_cycle, room;
    ls_cycle cycle;
} wire;

/* Returns the cycle of the first unit; *last: that of the last one. */
static ls_cycle wire_take(wire *w, uint64_t units, ls_cycle *last)
{
    if (w->room == 0) {
        w->cycle++;
        w->room = w->units_per_cycle;
    }
    ls_cycle first = w->cycle;
    for (; units > w->room; units -= w->room, w->room = w->units_per_cycle)
        w->cycle++;
    w->room -= units;
    *last = w->cycle;
    return first;
}

static void check_wire(uint32_t latency, uint32_t width, uint32_t width_cycles, uint32_t flit, uint64_t start)
{
    pump *p = pump_create(GHZ, GHZ,
                          (ls_link_spec){ .latency_cycles = latency,
                                          .width_bytes = width,
                                          .width_cycles = width_cycles,
                                          .flit_bytes = flit,
                                          .credits = 64 },
                          40, start);
    static const uint32_t bytes[] = { 1, 32, 8, 100, 33, 7, 0, 64 };
    memcpy(p->bytes, bytes, sizeof bytes);
    p->bytes_count = LS_COUNT_OF(bytes);
    ls_run_result result = run_all(p->engine);
    assert_int_equal(p->received, 40);
    assert_int_equal(result.messages, 40);

    wire w = { width, width, start };
    uint64_t flit_bytes = flit != 0 ? flit : width;
    for (uint32_t i = 0; i < 40; i++) {
        ls_cycle first = start, last = start;
        if (width != 0) {
            uint64_t b = bytes[i % 8] == 0 ? 1 : bytes[i % 8];
            uint64_t flits = (b + flit_bytes - 1) / flit_bytes;
            first = wire_take(&w, flits * flit_bytes * (width_cycles == 0 ? 1 : width_cycles), &last);
        }
        if (p->send_cycle[i] != first || p->arrive_cycle[i] != last + latency)
            fail_msg(
                "latency %u, %u bytes per %u cycles, flits of %u: message %u sent in %llu, arrived in %llu, "
                "expected %llu and %llu",
                latency, width, width_cycles, flit, i, (unsigned long long)p->send_cycle[i],
                (unsigned long long)p->arrive_cycle[i], (unsigned long long)first,
                (unsigned long long)(last + latency));
    }
    pump_destroy(p);
}

static void test_arrival_for_every_width_and_flit(void **state)
{
    (void)state;
    static const uint32_t latencies[] = { 1, 2, 17, 1023, 1024, 3000 },
                          widths[] = { 0, 1, 7, 24, 32, 33, 128 }, per_cycles[] = { 0, 1, 2, 5 },
                          flits[] = { 0, 1, 8, 32, 33 };
    for (size_t l = 0; l < LS_COUNT_OF(latencies); l++)
        for (size_t w = 0; w < LS_COUNT_OF(widths); w++)
            for (size_t c = 0; c < LS_COUNT_OF(per_cycles); c++)
                for (size_t f = 0; f < LS_COUNT_OF(flits); f++)
                    check_wire(latencies[l], widths[w], per_cycles[c], flits[f], l == 2 ? 1000003 : 0);
}

/* A link without a width takes any number of messages in a cycle, also between different clocks. */
static void test_no_width(void **state)
{
    (void)state;
    static const uint64_t to[] = { GHZ, 2 * GHZ, GHZ / 3 };
    for (size_t i = 0; i < LS_COUNT_OF(to); i++) {
        pump *p = pump_create(GHZ, to[i], (ls_link_spec){ .latency_cycles = 10, .credits = 16 }, 16, 5);
        run_all(p->engine);
        for (uint32_t k = 0; k < 16; k++)
            assert_int_equal(p->send_cycle[k], 5);
        assert_int_equal(p->received, 16);
        pump_destroy(p);
    }
}

/* Unused wire time is lost: after a pause a message starts at the beginning of its cycle. */
static void late_send(void *self, ls_cycle now)
{
    pump *p = self;
    p->total++;
    pump_send(self, now);
}

static void test_idle_wire_saves_nothing(void **state)
{
    (void)state;
    pump *p = pump_create(GHZ, GHZ,
                          (ls_link_spec){ .latency_cycles = 10,
                                          .width_bytes = 5,
                                          .width_cycles = 3,
                                          .flit_bytes = 1,
                                          .credits = 64 },
                          0, 0);
    probe late[3];
    for (uint64_t i = 0; i < 3; i++)
        probe_init(&late[i], NULL, i, late_send, p);
    p->bytes[0] = 4; /* 12 units of 5 per cycle: cycles 0, 1 and two fifths of 2 */
    ls_schedule(p->from, &late[0].event, 0);
    ls_schedule(p->from, &late[1].event, 2);
    ls_schedule(p->from, &late[2].event, 100);
    run_all(p->engine);
    assert_int_equal(p->arrive_cycle[0], 12);
    assert_int_equal(p->arrive_cycle[1], 14); /* units 12 to 23 of cycles 2 to 4 */
    assert_int_equal(p->send_cycle[2], 100);
    assert_int_equal(p->arrive_cycle[2], 112);
    pump_destroy(p);
}

static void check_saturation(uint32_t width, uint32_t width_cycles, uint32_t flit, uint32_t message,
                             uint32_t total, uint64_t cycles)
{
    pump *p = pump_create(GHZ, GHZ,
                          (ls_link_spec){ .latency_cycles = 20,
                                          .width_bytes = width,
                                          .width_cycles = width_cycles,
                                          .flit_bytes = flit,
                                          .credits = 256 },
                          total, 0);
    p->bytes[0] = message;
    run_all(p->engine);
    /* total * message bytes cross in exactly `cycles` cycles: the last one leaves in the last of them */
    assert_int_equal((uint64_t)total * message * width_cycles, cycles * width);
    assert_int_equal(p->arrive_cycle[total - 1], cycles - 1 + 20);
    pump_destroy(p);
}

static void test_saturated_wire_carries_exactly_its_width(void **state)
{
    (void)state;
    check_saturation(32, 1, 32, 32, 3000, 3000);
    check_saturation(32, 1, 8, 8, 4000, 1000);
    check_saturation(7, 3, 7, 7, 1000, 3000);
    check_saturation(96, 5, 32, 32, 3000, 5000);
    check_saturation(96, 5, 8, 24, 4000, 5000);
    check_saturation(33, 2, 1, 11, 3000, 2000);
    check_saturation(1, 1, 1, 100, 50, 5000);
}

/* ----------------------------------------------------------------------------------------------- credits */

static void check_credits(uint32_t credits, uint32_t latency, uint32_t back, uint64_t hold, uint32_t width)
{
    enum { TOTAL = 600 };
    pump *p = pump_create(GHZ, GHZ,
                          (ls_link_spec){ .latency_cycles = latency,
                                          .width_bytes = width,
                                          .credits = credits,
                                          .credit_latency_cycles = back },
                          TOTAL, 3);
    p->hold_cycles = hold;
    p->bytes[0] = 16;
    ls_run_result result = run_all(p->engine);
    uint64_t round_trip = latency + hold + (back == 0 ? latency : back);
    assert_true(width == 0 || credits <= round_trip);
    uint64_t wakes = 0;
    for (uint32_t i = 0; i < TOTAL; i++) {
        uint64_t expected = 3 + i / credits * round_trip + (width == 0 ? 0 : i % credits);
        if (p->send_cycle[i] != expected)
            fail_msg("%u credits, latency %u, back %u, hold %u: message %u was sent in %llu, expected %llu",
                     credits, latency, back, (unsigned)hold, i, (unsigned long long)p->send_cycle[i],
                     (unsigned long long)expected);
        assert_int_equal(p->arrive_cycle[i], expected + latency);
        wakes += i == 0 || p->send_cycle[i] != p->send_cycle[i - 1];
    }
    assert_int_equal(p->received, TOTAL);
    /* The sender ran once per cycle in which it sent, and never in between. */
    assert_int_equal(result.events, wakes + (hold == 0 ? 0 : TOTAL));
    assert_int_equal(ls_link_credits(p->link), credits);
    pump_destroy(p);
}

static void test_credits_per_round_trip(void **state)
{
    (void)state;
    static const uint32_t credits[] = { 1, 2, 3, 5, 8, 13 };
    for (size_t i = 0; i < LS_COUNT_OF(credits); i++)
        for (uint32_t width = 0; width <= 16; width += 16) {
            check_credits(credits[i], 10, 0, 0, width);
            check_credits(credits[i], 10, 25, 0, width);
            check_credits(credits[i], 25, 10, 0, width);
            check_credits(credits[i], 10, 3, 7, width);
            check_credits(credits[i], 10, 0, 1500, width); /* beyond the wheel */
        }
    check_credits(1, 1, 1, 0, 0);
    check_credits(2, 1, 1, 0, 16); /* exactly enough: one per cycle */
    check_credits(21, 10, 11, 0, 16);
}

/* More credits than the round trip has cycles: the wire decides. */
static void test_enough_credits_never_stall(void **state)
{
    (void)state;
    for (uint32_t credits = 20; credits < 40; credits += 5) {
        pump *p = pump_create(GHZ, GHZ,
                              (ls_link_spec){ .latency_cycles = 10, .width_bytes = 16, .credits = credits },
                              1000, 0);
        run_all(p->engine);
        for (uint32_t i = 0; i < 1000; i++)
            assert_int_equal(p->send_cycle[i], i);
        pump_destroy(p);
    }
}

/* Reads the credits in every cycle from its first to the last. */
enum { WATCHED = 110 };
typedef struct watch {
    ls_event event;
    ls_region *region;
    ls_link *link;
    uint32_t credits[WATCHED];
    bool ready[WATCHED];
} watch;

static void watch_run(void *self, ls_cycle now)
{
    watch *w = self;
    w->credits[now] = ls_link_credits(w->link);
    w->ready[now] = ls_link_ready(w->link);
    if (now + 1 < LS_COUNT_OF(w->credits))
        ls_schedule(w->region, &w->event, 1);
}

typedef struct keeper {
    ls_region *region;
    uint32_t received;
    ls_event release, nothing;
    ls_link *link;
} keeper;

static void keeper_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    keeper *k = self;
    (void)payload;
    (void)now;
    k->link = link;
    if (++k->received == 1)
        ls_link_release(link, 1); /* in 5: home in 5 + 9 */
    if (k->received == 5) {
        ls_schedule(k->region, &k->release, 6);
        ls_schedule(k->region, &k->nothing, 1);
    }
}

/* Gives back nothing, in more cycles than the link has credits. */
static void keeper_nothing(void *self, ls_cycle now)
{
    keeper *k = self;
    ls_link_release(k->link, 0);
    if (now < 30)
        ls_schedule(k->region, &k->nothing, 1);
}

static void keeper_release(void *self, ls_cycle now)
{
    keeper *k = self;
    (void)now;
    ls_link_release(k->link, 1); /* in 11: 1 + 3 home in 20 */
    ls_link_release(k->link, 3);
}

static void test_credits_come_home_on_time(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    watch w = { .region = new_domain(engine, "from", GHZ) };
    keeper k = { .region = new_domain(engine, "to", GHZ) };
    ls_link_spec spec = { .from = w.region,
                          .to = k.region,
                          .latency_cycles = 5,
                          .credit_latency_cycles = 9,
                          .credits = 5,
                          .payload_bytes = 4,
                          .receive = keeper_receive,
                          .receiver = &k };
    w.link = new_link(engine, &spec);
    ls_event_init(&k.release, keeper_release, &k);
    ls_event_init(&k.nothing, keeper_nothing, &k);
    ls_event_init(&w.event, watch_run, &w);
    pump *p = test_calloc(1, sizeof *p);
    *p = (pump){ .link = w.link, .total = 5, .bytes = { 1 }, .bytes_count = 1 };
    ls_event_init(&p->event, pump_send, p);
    assert_int_equal(ls_link_credits(w.link), 5);
    ls_schedule(w.region, &p->event, 0);
    ls_schedule(w.region, &w.event, 0);
    run_all(engine);
    test_free(p);
    for (uint32_t c = 0; c < WATCHED; c++) {
        assert_int_equal(w.credits[c], c < 14 ? 0 : c < 20 ? 1 : 5);
        assert_int_equal(w.ready[c], c >= 14);
    }
    ls_engine_destroy(engine);
}

/* Entries that are given back in one window, some in the same cycle and some not, come home one by one. */
static void keep(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)self;
    (void)link;
    (void)payload;
    (void)now;
}

static void give_one(void *self, ls_cycle now)
{
    (void)now;
    ls_link_release(self, 1);
}

static void test_credits_of_one_window(void **state)
{
    (void)state;
    static const uint64_t given[] = { 61, 63, 63, 64, 70, 79 }; /* the window is [60, 80) */
    ls_engine *engine = new_engine();
    pump *p = test_calloc(1, sizeof *p);
    *p = (pump){ .total = 6, .bytes = { 1 }, .bytes_count = 1 };
    ls_region *from = new_domain(engine, "from", GHZ), *to = new_domain(engine, "to", GHZ);
    p->link = new_link(engine, &(ls_link_spec){ .name = "link",
                                                .from = from,
                                                .to = to,
                                                .latency_cycles = 20,
                                                .credits = 6,
                                                .payload_bytes = 4,
                                                .receive = keep });
    probe gives[6], start;
    for (size_t i = 0; i < 6; i++) {
        probe_init(&gives[i], NULL, i, give_one, p->link);
        ls_schedule(to, &gives[i].event, given[i]);
    }
    probe_init(&start, NULL, 0, NULL, NULL);
    ls_schedule(to, &start.event, 60);
    watch w = { .region = from, .link = p->link };
    ls_event_init(&p->event, pump_send, p);
    ls_schedule(from, &p->event, 0);
    ls_event_init(&w.event, watch_run, &w);
    ls_schedule(from, &w.event, 70);
    run_all(engine);
    for (uint32_t c = 70; c < WATCHED; c++) {
        uint32_t home = 0;
        for (size_t i = 0; i < 6; i++)
            home += c >= given[i] + 20;
        assert_int_equal(w.credits[c], home);
    }
    ls_engine_destroy(engine);
    test_free(p);
}

/* --------------------------------------------------------------------------------------------- payloads */

typedef struct carrier {
    ls_region *from, *to;
    ls_link *link;
    ls_event event;
    uint32_t bytes, sent, received, total;
} carrier;

static uint8_t pattern(uint32_t message, uint32_t at)
{
    uint32_t x = message * 2654435761u + at * 40503u;
    return (uint8_t)(x ^ x >> 13);
}

static void carrier_send(void *self, ls_cycle now)
{
    carrier *c = self;
    (void)now;
    while (c->sent < c->total) {
        uint8_t *payload = ls_link_send(c->link, c->bytes);
        if (payload == NULL) {
            ls_link_wait(c->link, &c->event);
            return;
        }
        assert_int_equal((uintptr_t)payload % 16, 0);
        for (uint32_t i = 0; i < c->bytes; i++)
            payload[i] = pattern(c->sent, i);
        c->sent++;
    }
}

static void carrier_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    carrier *c = self;
    const uint8_t *bytes = payload;
    (void)now;
    for (uint32_t i = 0; i < c->bytes; i++)
        assert_int_equal(bytes[i], pattern(c->received, i));
    c->received++;
    ls_link_release(link, 1);
}

static void test_payloads_arrive_as_sent(void **state)
{
    (void)state;
    static const uint32_t sizes[] = { 0, 1, 15, 16, 17, 32, 33, 1000 }, credits[] = { 1, 2, 3, 5, 64 };
    for (size_t s = 0; s < LS_COUNT_OF(sizes); s++)
        for (size_t k = 0; k < LS_COUNT_OF(credits); k++) {
            ls_engine *engine = new_engine();
            carrier c = { .from = new_domain(engine, "from", GHZ),
                          .to = new_domain(engine, "to", 1365000000),
                          .bytes = sizes[s],
                          .total = 300 };
            c.link = new_link(engine, &(ls_link_spec){ .from = c.from,
                                                       .to = c.to,
                                                       .latency_cycles = 4,
                                                       .width_bytes = 64,
                                                       .flit_bytes = 16,
                                                       .credits = credits[k],
                                                       .payload_bytes = sizes[s],
                                                       .receive = carrier_receive,
                                                       .receiver = &c });
            ls_event_init(&c.event, carrier_send, &c);
            ls_schedule(c.from, &c.event, 0);
            run_all(engine);
            assert_int_equal(c.received, 300);
            ls_engine_destroy(engine);
        }
}

/* A link may join two blocks of one domain, and even of one region; the latency stays. */
static void test_link_inside_a_domain(void **state)
{
    (void)state;
    ls_engine *engine = new_engine();
    pump *p = test_calloc(1, sizeof *p);
    p->from = p->to = new_domain(engine, "both", GHZ);
    p->total = 50;
    p->bytes[0] = p->bytes_count = 1;
    p->link = new_link(engine, &(ls_link_spec){ .from = p->from,
                                                .to = p->to,
                                                .latency_cycles = 6,
                                                .credits = 2,
                                                .payload_bytes = 4,
                                                .receive = pump_receive,
                                                .receiver = p });
    ls_event_init(&p->event, pump_send, p);
    ls_schedule(p->from, &p->event, 0);
    run_all(engine);
    assert_int_equal(p->received, 50);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(p->arrive_cycle[i], i / 2 * 12 + 6);
    ls_engine_destroy(engine);
    test_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrival_for_every_width_and_flit),
        cmocka_unit_test(test_no_width),
        cmocka_unit_test(test_idle_wire_saves_nothing),
        cmocka_unit_test(test_saturated_wire_carries_exactly_its_width),
        cmocka_unit_test(test_credits_per_round_trip),
        cmocka_unit_test(test_enough_credits_never_stall),
        cmocka_unit_test(test_credits_come_home_on_time),
        cmocka_unit_test(test_credits_of_one_window),
        cmocka_unit_test(test_payloads_arrive_as_sent),
        cmocka_unit_test(test_link_inside_a_domain),
    };
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
