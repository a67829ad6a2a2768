/* bench_message.c: messages over one link between two domains, end to end: send, exchange, delivery, the
 * receive handler, and the credit's way home.
 *
 *     bench_message burst CYCLES N    every cycle one event that sends N messages
 *     bench_message wait COUNT        COUNT messages, one per cycle, by a sender that waits for the wire */
#include "bench.h"

typedef struct machine {
    ls_region *region;
    ls_link *link;
    ls_event event;
    uint64_t left, burst, received;
} machine;

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    machine *m = self;
    (void)now;
    m->received += *(const uint64_t *)payload;
    ls_link_release(link, 1);
}

static void send_burst(void *self, ls_cycle now)
{
    machine *m = self;
    (void)now;
    for (uint64_t i = 0; i < m->burst; i++) {
        uint64_t *payload = ls_link_send(m->link, 8);
        if (payload == NULL)
            abort();
        *payload = 1;
    }
    if (--m->left > 0)
        ls_schedule(m->region, &m->event, 1);
}

static void send_waiting(void *self, ls_cycle now)
{
    machine *m = self;
    (void)now;
    uint64_t *payload = ls_link_send(m->link, 8);
    if (payload == NULL)
        abort();
    *payload = 1;
    if (--m->left > 0)
        ls_link_wait(m->link, &m->event);
}

int main(int argc, char **argv)
{
    bool waits = argc > 1 && strcmp(argv[1], "wait") == 0;
    machine m = { .left = argument(argc, argv, 2, 10000), .burst = argument(argc, argv, 3, 1) };
    ls_engine *engine = bench_engine();
    m.region = bench_domain(engine, 0);
    m.link = bench_link(engine, &(ls_link_spec){ .name = "link",
                                                 .from = m.region,
                                                 .to = bench_domain(engine, 1),
                                                 .latency_cycles = 20,
                                                 .width_bytes = waits ? 8 : 0,
                                                 .credits = 512,
                                                 .payload_bytes = 8,
                                                 .receive = receive,
                                                 .receiver = &m });
    ls_event_init(&m.event, waits ? send_waiting : send_burst, &m);
    ls_schedule(m.region, &m.event, 0);
    ls_run_result result = bench_run(engine, NULL);
    printf("messages=%" PRIu64 " windows=%" PRIu64 "\n", result.messages, result.windows);
    ls_engine_destroy(engine);
    return 0;
}
