/* noc_rig.h: a network alone in an engine, with end points that send what a test says. Every end point is a domain
 * of its own; all clocks are 1 GHz. */
#ifndef TESTS_MODEL_NOC_RIG_H
#define TESTS_MODEL_NOC_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "model/noc/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_ENDS_MAX 64u
#define RIG_FLIT_BYTES 32u
#define RIG_LATENCY 20u /* between an end point and its switch, each way */

typedef struct rig_message {
    uint16_t source, destination, flits;
    uint8_t class_index;
    uint32_t number; /* counts per source, destination and class */
    ls_cycle sent;
} rig_message;

/* A request whose answer has not been sent; it keeps its buffer entry of the link. */
typedef struct rig_owed {
    rig_message message;
    ls_link *link;
} rig_owed;

struct rig;

typedef struct rig_end {
    struct rig *rig;
    ls_region *region;
    ls_event event;
    ls_link *links[NOC_CLASSES_MAX];
    ls_random random;
    uint32_t id;
    uint64_t sent, received, received_flits, latency_sum, hash;
    ls_cycle last_latency, last_arrival;
    uint64_t received_from[RIG_ENDS_MAX];
    uint32_t next_number[NOC_CLASSES_MAX][RIG_ENDS_MAX]; /* to send, by destination */
    uint32_t expected[NOC_CLASSES_MAX][RIG_ENDS_MAX];    /* to receive, by source */
    rig_message draft;
    /* answers owed to requests, where the rig answers */
    rig_owed owed[4096];
    uint32_t owed_head, owed_count;
    ls_event answer;
} rig_end;

/* Fills in destination, flits and class of the next message; false: nothing in this cycle. */
typedef bool (*rig_next_fn)(rig_end *end, ls_cycle now, rig_message *message);

typedef struct rig {
    ls_engine *engine;
    noc_graph graph;
    noc_network net;
    uint32_t ends;
    rig_end *end; /* [ends] */
    rig_next_fn next;
    uint64_t quota; /* messages that each end point sends */
    ls_cycle stop;  /* end points send nothing from this cycle on */
    uint32_t classes, virtual_channels, buffer_flits, lanes, groups, out_credits;
    uint16_t group_of[NOC_SWITCHES_MAX], at_switch[RIG_ENDS_MAX];
    bool answers; /* class 0 is a request: an end point answers it in class 1 before it takes the next */
    bool lost_order;
    noc_arbitration arbitration;
} rig;

static inline uint32_t rig_destination(const void *self, const void *payload)
{
    (void)self;
    return ((const rig_message *)payload)->destination;
}

static inline uint32_t rig_bytes(const void *self, const void *payload)
{
    (void)self;
    return ((const rig_message *)payload)->flits * RIG_FLIT_BYTES;
}

static inline void rig_step(void *self, ls_cycle now)
{
    rig_end *e = self;
    rig *r = e->rig;
    if ((r->quota != 0 && e->sent >= r->quota) || (r->stop != 0 && now >= r->stop))
        return;
    if (!ls_link_ready(e->links[0]) || (r->classes > 1 && !r->answers && !ls_link_ready(e->links[1]))) {
        ls_link_wait(ls_link_ready(e->links[0]) ? e->links[1] : e->links[0], &e->event);
        return;
    }
    rig_message *m = &e->draft;
    *m = (rig_message){ .source = (uint16_t)e->id, .sent = now };
    if (r->next(e, now, m)) {
        m->number = e->next_number[m->class_index][m->destination]++;
        rig_message *to = ls_link_send(e->links[m->class_index], 1);
        *to = *m;
        e->sent++;
    }
    ls_schedule(e->region, &e->event, 1);
}

static inline void rig_answer(void *self, ls_cycle now)
{
    rig_end *e = self;
    while (e->owed_count > 0) {
        rig_message *to = ls_link_send(e->links[1], 1);
        if (to == NULL) {
            ls_link_wait(e->links[1], &e->answer);
            return;
        }
        uint32_t front = e->owed_head++ % 4096;
        rig_message m = e->owed[front].message;
        e->owed_count--;
        *to = (rig_message){ .source = (uint16_t)e->id,
                             .destination = m.source,
                             .flits = 3,
                             .class_index = 1,
                             .number = e->next_number[1][m.source]++,
                             .sent = now };
        ls_link_release(e->owed[front].link, 1);
    }
}

static inline void rig_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    rig_end *e = self;
    const rig_message *m = payload;
    if (m->destination != e->id || m->number != e->expected[m->class_index][m->source]++)
        e->rig->lost_order = true;
    e->received++;
    e->received_flits += m->flits;
    e->received_from[m->source]++;
    e->last_latency = now - m->sent;
    e->last_arrival = now;
    e->latency_sum += now - m->sent;
    e->hash = (e->hash ^ (now << 20) ^ ((uint64_t)m->source << 50) ^ m->number) * UINT64_C(0x100000001b3);
    if (e->rig->answers && m->class_index == 0) {
        uint32_t back = (e->owed_head + e->owed_count++) % 4096;
        e->owed[back] = (rig_owed){ *m, link };
        if (e->owed_count == 1)
            rig_answer(e, now);
        return;
    }
    ls_link_release(link, 1);
}

static const ls_state_row rig_owed_rows[] = {
    LS_STATE_DATA(rig_owed, message),
    LS_STATE_LINK(rig_owed, link),
};
static const ls_state_row rig_end_rows[] = {
    LS_STATE_FIXED_SPAN(rig_end, rig, region),
    LS_STATE_EVENT(rig_end, event),
    LS_STATE_FIXED(rig_end, links),
    LS_STATE_DATA_SPAN(rig_end, random, draft),
    LS_STATE_PARTS(rig_end, owed, rig_owed_rows),
    LS_STATE_DATA_SPAN(rig_end, owed_head, owed_count),
    LS_STATE_EVENT(rig_end, answer),
};

/* An end point as a block: its state is where the rig has it. */
typedef struct rig_holder {
    rig_end *end;
} rig_holder;

static inline uint64_t rig_one(const void *self)
{
    (void)self;
    return 1;
}

static const ls_state_row rig_holder_rows[] = { LS_STATE_ARRAY_OF(rig_holder, end, rig_one, rig_end_rows) };
static const ls_block_type rig_end_type = { .abi = LS_ABI_VERSION,
                                            .slot = "test",
                                            .name = "end",
                                            .state_size = sizeof(rig_holder),
                                            .rows = rig_holder_rows,
                                            .row_count = LS_COUNT_OF(rig_holder_rows) };

static inline void rig_open(rig *r)
{
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
}

/* After the graph is there. Default: end point i at switch i. */
static inline void rig_build(rig *r, ls_error *err)
{
    ls_clock clock;
    noc_endpoint *ends = ls_engine_alloc(r->engine, r->ends * sizeof *ends);
    r->end = ls_engine_alloc(r->engine, r->ends * sizeof *r->end);
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(UINT64_C(1000000000), 1), NULL), LS_OK);
    uint32_t mask = (1u << (r->classes != 0 ? r->classes : 1)) - 1;
    for (uint32_t i = 0; i < r->ends; i++) {
        char name[16];
        ls_domain *domain;
        rig_end *e = &r->end[i];
        snprintf(name, sizeof name, "end%u", i);
        assert_int_equal(ls_domain_create(r->engine, name, clock, &domain, NULL), LS_OK);
        *e = (rig_end){ .rig = r, .region = ls_domain_region(domain, 0), .id = i };
        ls_block *block;
        assert_int_equal(ls_block_create(e->region, name, &rig_end_type, NULL, &block, NULL), LS_OK);
        ((rig_holder *)ls_block_state(block))->end = e;
        ls_random_init(&e->random, 1000 + i);
        ls_event_init(&e->event, rig_step, e);
        ls_event_init(&e->answer, rig_answer, e);
        ends[i] = (noc_endpoint){ .at_switch = r->at_switch[i],
                                  .lanes = r->lanes,
                                  .region = e->region,
                                  .name = ls_domain_name(domain),
                                  .sends = mask,
                                  .receives = mask,
                                  .in_latency_cycles = RIG_LATENCY,
                                  .out_latency_cycles = RIG_LATENCY,
                                  .in_credits = 2 * RIG_LATENCY + 8,
                                  .out_credits = r->out_credits != 0 ? r->out_credits : 3 * RIG_LATENCY,
                                  .receive = rig_receive,
                                  .receiver = e };
    }
    noc_network_spec spec = { .name = "net",
                              .clock = clock,
                              .graph = &r->graph,
                              .group_of = r->groups > 1 ? r->group_of : NULL,
                              .groups = r->groups,
                              .classes = r->classes != 0 ? r->classes : 1,
                              .virtual_channels = r->virtual_channels != 0 ? r->virtual_channels : 1,
                              .buffer_flits = r->buffer_flits != 0 ? r->buffer_flits : 8,
                              .flit_bytes = RIG_FLIT_BYTES,
                              .arbitration = r->arbitration,
                              .payload_bytes = sizeof(rig_message),
                              .destination = { rig_destination, rig_destination },
                              .wire_bytes = { rig_bytes, rig_bytes },
                              .endpoints = ends,
                              .endpoint_count = r->ends };
    if (noc_network_create(r->engine, &spec, &r->net, err) != LS_OK)
        fail_msg("%s", err->what);
    for (uint32_t i = 0; i < r->ends; i++) {
        for (uint32_t c = 0; c < spec.classes; c++)
            r->end[i].links[c] = r->net.inlets[i * spec.classes + c];
        ls_schedule_at(r->end[i].region, &r->end[i].event, 0);
    }
}

static inline ls_status rig_run(rig *r, uint32_t threads, ls_cycle until, ls_error *err)
{
    ls_run_options options = { .threads = threads, .until = until * UINT64_C(1000000) };
    return ls_run(r->engine, &options, NULL, err);
}

static inline uint64_t rig_hash(const rig *r)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < r->ends; i++)
        hash = (hash ^ r->end[i].hash) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t rig_received(const rig *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->ends; i++)
        sum += r->end[i].received;
    return sum;
}

static inline void rig_close(rig *r)
{
    ls_engine_destroy(r->engine);
}

#endif
