/* test_link_clocks.c: links between clocks: arrivals and credits exact to the femtosecond, and a fixed order
 * of simultaneous arrivals. */
#include "engine/pump.h"

static const uint64_t hz[] = { GHZ,        2 * GHZ,    700000000,  333333333,       1365000000,
                               3500500000, 1000000007, 1132000000, 123456789012345, 1000 };

/* ------------------------------------------------------------------------------------ exact arrival times */

static void check_pair(uint64_t from_hz, uint64_t to_hz, uint32_t latency, uint64_t start)
{
    ls_link_spec spec = { .latency_cycles = latency, .width_bytes = 4, .width_cycles = 3, .credits = 3 };
    pump *p = pump_create(from_hz, to_hz, spec, 12, start);
    p->bytes[0] = 4;
    run_all(p->engine);
    assert_int_equal(p->received, 12);

    /* Credits go home over the time of the latency, in whole cycles of the receiver, rounded up. */
    uint64_t back = from_hz == to_hz ? latency : first_edge(to_hz, edge_time(from_hz, latency));
    uint64_t free_at = start; /* the wire: three cycles for each message */
    for (uint32_t i = 0; i < 12; i++) {
        uint64_t ready = free_at;
        if (i >= 3) {
            uint64_t home = first_edge(from_hz, edge_time(to_hz, p->arrive_cycle[i - 3] + back));
            ready = home > ready ? home : ready;
        }
        assert_int_equal(p->send_cycle[i], ready);
        free_at = ready + 3;
        uint64_t time = edge_time(from_hz, ready + 2 + latency); /* after its last flit has left */
        uint64_t arrives = first_edge(to_hz, time);
        assert_int_equal(p->arrive_cycle[i], arrives);
        assert_int_equal(p->arrive_time[i], edge_time(to_hz, arrives));
        assert_true(p->arrive_time[i] >= time);
    }
    pump_destroy(p);
}

static void test_arrivals_are_exact(void **state)
{
    (void)state;
    uint32_t pairs = 0;
    static const uint64_t starts[] = { 0, 1, 999, 1000000000001, 3333333333334 };
    for (size_t a = 0; a < LS_COUNT_OF(hz); a++)
        for (size_t b = 0; b < LS_COUNT_OF(hz); b++)
            for (size_t s = 0; s < LS_COUNT_OF(starts); s++) {
                /* at least one cycle of the slower side; numbers that fit; not beyond the end of time */
                uint64_t latency = first_edge(hz[a], edge_time(hz[b], 1)) + 2;
                uint64_t back = first_edge(hz[b], edge_time(hz[a], latency));
                if (latency < 1000000 && back < 1000000000 && starts[s] / hz[a] < 3600) {
                    check_pair(hz[a], hz[b], (uint32_t)latency, starts[s]);
                    pairs++;
                }
            }
    assert_true(pairs > 400);
}

static void test_random_clocks(void **state)
{
    (void)state;
    ls_random random;
    ls_random_init(&random, 77);
    for (int i = 0; i < 300; i++) {
        uint64_t from_hz = 200000000 + ls_random_below(&random, 4000000000);
        uint64_t to_hz = 200000000 + ls_random_below(&random, 4000000000);
        uint64_t least = first_edge(from_hz, edge_time(to_hz, 1)) + 1;
        check_pair(from_hz, to_hz, (uint32_t)(least + ls_random_below(&random, 50)),
                   ls_random_below(&random, UINT64_C(1) << (10 + ls_random_below(&random, 30))));
    }
}

/* --------------------------------------------------------------------------------------- order of arrival */

enum { SENDERS = 6, EACH = 200 };

typedef struct order_sender {
    ls_region *region;
    uint64_t hz;
    ls_link *link[2];
    ls_event event;
    ls_random random;
    uint32_t sent;
} order_sender;

typedef struct order_message {
    ls_time time; /* when it reaches the receiver's end of the wire */
    uint32_t link, sequence;
} order_message;

typedef struct order_machine {
    order_sender senders[SENDERS];
    ls_region *to;
    uint64_t to_hz;
    uint32_t received, together, apart;
    order_message last;
    ls_cycle last_cycle;
    uint32_t next_sequence[2 * SENDERS];
} order_machine;

enum { ORDER_LATENCY = 60 };

static void order_send(void *self, ls_cycle now)
{
    order_sender *s = self;
    for (uint64_t n = ls_random_below(&s->random, 3); n > 0 && s->sent < EACH; n--, s->sent++) {
        ls_link *link = s->link[ls_random_below(&s->random, 2)];
        order_message *message = ls_link_send(link, 1);
        if (message != NULL) /* the sequence number is filled in by the receiver's own count */
            *message = (order_message){ edge_time(s->hz, now + ORDER_LATENCY), ls_link_id(link), 0 };
    }
    if (s->sent < EACH)
        ls_schedule(s->region, &s->event, ls_random_below(&s->random, 4));
}

static void order_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    order_machine *m = self;
    order_message message = *(const order_message *)payload;
    uint32_t id = ls_link_id(link);
    assert_int_equal(message.link, id);
    message.sequence = m->next_sequence[id]++;
    assert_int_equal(first_edge(m->to_hz, message.time), now);
    if (m->received > 0) {
        /* Over the whole run: never an earlier one after a later one; at equal times by link and sequence. */
        const order_message *last = &m->last;
        assert_true(message.time > last->time ||
                    (message.time == last->time &&
                     (message.link > last->link ||
                      (message.link == last->link && message.sequence > last->sequence))));
        m->together += now == m->last_cycle && message.time == last->time;
        m->apart += now == m->last_cycle && message.time != last->time && message.link < last->link;
    }
    m->last = message;
    m->last_cycle = now;
    m->received++;
    ls_link_release(link, 1);
}

/* Messages that arrive between two edges of a slow receiver are delivered at the second, in the order of
 * arrival. */
static void test_order_of_arrivals(void **state)
{
    (void)state;
    static const uint64_t sender_hz[SENDERS] = { 2 * GHZ, GHZ, GHZ, 1365000000, 2 * GHZ, 3333333333 };
    ls_engine *engine = new_engine();
    order_machine *m = test_calloc(1, sizeof *m);
    m->to_hz = 90000000;
    m->to = new_domain(engine, "to", m->to_hz);
    for (uint32_t i = 0; i < SENDERS; i++) {
        order_sender *s = &m->senders[i];
        char name[16];
        snprintf(name, sizeof name, "from%u", i);
        s->hz = sender_hz[i];
        s->region = new_domain(engine, name, s->hz);
        ls_random_init(&s->random, i);
    }
    /* Ids and senders do not go in the same order. */
    for (uint32_t l = 0; l < 2 * SENDERS; l++) {
        order_sender *s = &m->senders[(l * 5 + l / SENDERS) % SENDERS];
        s->link[l / SENDERS] = new_link(engine, &(ls_link_spec){ .name = "l",
                                                                 .from = s->region,
                                                                 .to = m->to,
                                                                 .latency_cycles = ORDER_LATENCY,
                                                                 .credits = 256,
                                                                 .payload_bytes = sizeof(order_message),
                                                                 .receive = order_receive,
                                                                 .receiver = m });
        assert_int_equal(ls_link_id(s->link[l / SENDERS]), l);
        assert_string_equal(ls_link_name(s->link[l / SENDERS]), "l");
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        ls_event_init(&m->senders[i].event, order_send, &m->senders[i]);
        ls_schedule(m->senders[i].region, &m->senders[i].event, i);
    }
    ls_run_result result = run_all(engine);
    assert_int_equal(m->received, result.messages);
    assert_int_equal(m->received, SENDERS * EACH);
    assert_true(m->together > 100); /* the cases that the order decides did occur */
    assert_true(m->apart > 100);
    ls_engine_destroy(engine);
    test_free(m);
}

/* The smallest case of each rule, by hand. Receiver: edges every 10 ns. */
typedef struct note {
    run_log *log;
} note;

static void note_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)payload;
    log_add(((note *)self)->log, ls_link_id(link), now);
    ls_link_release(link, 1);
}

static void note_send(void *self, ls_cycle now)
{
    (void)now;
    assert_non_null(ls_link_send(self, 1));
}

static void test_time_before_link_number(void **state)
{
    (void)state;
    run_log log = { 0 };
    note n = { &log };
    ls_engine *engine = new_engine();
    ls_region *to = new_domain(engine, "to", GHZ / 10);
    ls_region *from = new_domain(engine, "from", GHZ);
    ls_link *links[3];
    probe p[6];
    for (uint32_t i = 0; i < 3; i++)
        links[i] = new_link(engine, &(ls_link_spec){ .name = "l",
                                                     .from = from,
                                                     .to = to,
                                                     .latency_cycles = 10,
                                                     .credits = 8,
                                                     .receive = note_receive,
                                                     .receiver = &n });
    static const struct {
        uint32_t link;
        uint64_t cycle;
    } sends[] = { { 2, 1 }, { 1, 5 }, { 0, 9 }, { 2, 5 }, { 0, 5 }, { 0, 10 } };
    for (size_t i = 0; i < LS_COUNT_OF(sends); i++) {
        probe_init(&p[i], NULL, i, note_send, links[sends[i].link]);
        ls_schedule(from, &p[i].event, sends[i].cycle);
    }
    run_all(engine);
    /* at 11, 15, 15, 15, 19 and exactly 20 ns: all in cycle 2 */
    assert_log(&log, { 2, 2 }, { 0, 2 }, { 1, 2 }, { 2, 2 }, { 0, 2 }, { 0, 2 });
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrivals_are_exact),
        cmocka_unit_test(test_random_clocks),
        cmocka_unit_test(test_order_of_arrivals),
        cmocka_unit_test(test_time_before_link_number),
    };
    return cmocka_run_group_tests_name("link clocks", tests, NULL, NULL);
}
