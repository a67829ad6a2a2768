/* pump.h: a sender that pushes numbered messages into a link as fast as possible. The receiver notes each
 * arrival and returns the buffer entry after a fixed time. */
#ifndef TESTS_ENGINE_PUMP_H
#define TESTS_ENGINE_PUMP_H

#include "engine/fixture.h"

#define PUMP_MAX 4096

typedef struct pump {
    ls_engine *engine;
    ls_region *from, *to;
    ls_link *link;
    uint32_t bytes[8]; /* wire bytes of message i: bytes[i % bytes_count] */
    uint32_t bytes_count;
    uint32_t total, sent, received;
    uint64_t hold_cycles; /* of the receiver; 0: released in the receive handler */
    ls_event event;
    ls_cycle send_cycle[PUMP_MAX], arrive_cycle[PUMP_MAX];
    ls_time arrive_time[PUMP_MAX];
    struct pump_hold {
        ls_event event;
        struct pump *pump;
    } hold[PUMP_MAX];
} pump;

static inline void pump_send(void *self, ls_cycle now)
{
    pump *p = self;
    while (p->sent < p->total) {
        bool ready = ls_link_ready(p->link);
        uint32_t *payload = ls_link_send(p->link, p->bytes[p->sent % p->bytes_count]);
        assert_int_equal(payload != NULL, ready);
        if (payload == NULL) {
            ls_link_wait(p->link, &p->event);
            return;
        }
        *payload = p->sent;
        p->send_cycle[p->sent++] = now;
    }
}

static inline void pump_release(void *self, ls_cycle now)
{
    (void)now;
    ls_link_release(((struct pump_hold *)self)->pump->link, 1);
}

static inline void pump_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    pump *p = self;
    assert_ptr_equal(link, p->link);
    assert_int_equal(*(const uint32_t *)payload, p->received);
    p->arrive_cycle[p->received] = now;
    p->arrive_time[p->received] = ls_region_time(p->to);
    if (p->hold_cycles == 0)
        ls_link_release(link, 1);
    else
        ls_schedule(p->to, &p->hold[p->received].event, p->hold_cycles);
    p->received++;
}

/* Two domains and the link of `spec` between them; the first message is tried in cycle `start`. */
static inline pump *pump_create(uint64_t from_hz, uint64_t to_hz, ls_link_spec spec, uint32_t total,
                                ls_cycle start)
{
    pump *p = test_calloc(1, sizeof *p);
    assert_true(total <= PUMP_MAX);
    p->engine = new_engine();
    p->from = new_domain(p->engine, "from", from_hz);
    p->to = new_domain(p->engine, "to", to_hz);
    p->total = total;
    p->bytes[0] = 1;
    p->bytes_count = 1;
    spec.name = spec.name != NULL ? spec.name : "link";
    spec.from = p->from;
    spec.to = p->to;
    spec.payload_bytes = sizeof(uint32_t);
    spec.receive = pump_receive;
    spec.receiver = p;
    p->link = new_link(p->engine, &spec);
    for (uint32_t i = 0; i < total; i++) {
        p->hold[i].pump = p;
        ls_event_init(&p->hold[i].event, pump_release, &p->hold[i]);
    }
    ls_event_init(&p->event, pump_send, p);
    ls_schedule(p->from, &p->event, start);
    return p;
}

static inline void pump_destroy(pump *p)
{
    ls_engine_destroy(p->engine);
    test_free(p);
}

#endif
