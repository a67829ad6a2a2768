/* bench_fabric.c: the cost of a message over a fabric. One end sends messages with a line of 64 bytes to another end, over
 * a row of switches, each in a domain and a group of its own.
 *
 *     bench_fabric SWITCHES COUNT */
#include "bench.h"

#include "model/fabric/network.h"

typedef struct end {
    ls_fabric_end end;
    ls_event event;
    uint64_t left, received;
} end;

static void send_message(void *self, ls_cycle now)
{
    end *e = self;
    ls_fabric_message *m = ls_link_send(e->end.send[LS_FABRIC_DATA], 1);
    (void)now;
    if (m == NULL) {
        ls_link_wait(e->end.send[LS_FABRIC_DATA], &e->event);
        return;
    }
    *m = (ls_fabric_message){ .to = 1,
                              .class_index = LS_FABRIC_DATA,
                              .data_bytes = 64,
                              .wire_bytes = 68,
                              .body_bytes = 48 + 64,
                              .address = e->left * 64 };
    if (--e->left > 0)
        ls_schedule(e->end.region, &e->event, 5);
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    (void)payload;
    (void)now;
    ((end *)self)->received++;
    ls_link_release(link, 1);
}

static ls_status row(fabric_shape *shape, const void *spec, uint32_t gpus, bool has_host, ls_error *err)
{
    uint32_t count = *(const uint32_t *)spec;
    fabric_link link = { .count = 1, .bytes_per_second = { 17 * GHZ, 1 }, .latency_ns = { 0, 1 } };
    ls_status status = LS_OK;
    (void)gpus;
    (void)has_host;
    for (uint32_t i = 0; i <= count && status == LS_OK; i++) {
        char name[16];
        uint16_t node = 1;
        snprintf(name, sizeof name, "s%u", i);
        if (i < count)
            status = fabric_add_switch(shape, name, (ls_ratio){ 140, 1 }, &node, err);
        link.b = node;
        if (status == LS_OK)
            status = fabric_add_link(shape, &link, err);
        link.a = node;
    }
    return status;
}

int main(int argc, char **argv)
{
    uint32_t switches = (uint32_t)argument(argc, argv, 1, 3);
    static end ends[2];
    ls_engine *engine = bench_engine();
    ls_error err = { 0 };
    for (uint32_t i = 0; i < 2; i++) {
        ls_group *group;
        ends[i].end = (ls_fabric_end){ .name = i == 0 ? "gpu0" : "gpu1",
                                       .number = i,
                                       .region = bench_domain(engine, i),
                                       .receive = receive,
                                       .receiver = &ends[i],
                                       .receive_credits = { [LS_FABRIC_DATA] = 128 } };
        must(ls_group_create(engine, ends[i].end.name, &group, &err), &err);
        must(ls_domain_set_group(ls_region_domain(ends[i].end.region), group, &err), &err);
        must(ls_engine_add_part(engine, LS_FABRIC_END_PART, &ends[i].end, &err), &err);
        ls_event_init(&ends[i].event, send_message, &ends[i]);
    }
    ends[0].left = argument(argc, argv, 2, 10000);
    const fabric_keys keys = { .clock_hz = { GHZ, 1 },
                               .queue_messages = 128,
                               .virtual_channels = 1,
                               .port_latency_ns = { 40, 1 },
                               .framing = FABRIC_PERCENT,
                               .encoding_percent = 25 };
    ls_fabric_plan plan;
    must(fabric_collect_ends(engine, 2, &plan, &err), &err);
    must(fabric_build(engine, &keys, row, &switches, &plan, &err), &err);
    must(ls_engine_set_stop_delay(engine, 70 * UINT64_C(1000000), &err), &err);
    ls_schedule(ends[0].end.region, &ends[0].event, 0);
    ls_run_result result = bench_run(engine, &(ls_run_options){ .threads = 1 });
    printf("%" PRIu64 " messages over %u switches in %" PRIu64 " windows\n", ends[1].received, switches,
           result.windows);
    ls_engine_destroy(engine);
    return 0;
}
