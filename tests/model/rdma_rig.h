/* rdma_rig.h: two RDMA engines whose ends of a fabric are joined directly. Each one has requesters that follow scripts
 * and a memory that answers after a fixed time. All blocks can be saved. */
#ifndef TESTS_MODEL_RDMA_RIG_H
#define TESTS_MODEL_RDMA_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd/exec/memory.h"
#include "lockstep/lockstep.h"
#include "lockstep/random.h"
#include "lockstep/state.h"
#include "model/amd_memory/atomic.h"
#include "model/amd_memory/rdma.h"
#include "model/memory/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIG_GPUS 2u
#define RIG_CLIENTS 3u
#define RIG_LINES 64u
#define RIG_LINE 64u
#define RIG_BASE UINT64_C(0x100000000)
#define RIG_WIRE 20u /* cycles from one end to the other */
#define RIG_OPS_MAX 600u
#define RIG_WAITING_MAX 4096u

#define RIG_OK(call)                                                                                          \
    do {                                                                                                      \
        ls_error error_ = { 0 };                                                                              \
        ls_error *err = &error_;                                                                              \
        if ((call) != LS_OK)                                                                                  \
            fail_msg("%s: %s", #call, error_.what);                                                           \
    } while (0)

/* ------------------------------------------------------------------------------------------------- a memory */

typedef struct rig_held {
    ls_cycle at;
    ls_line_message m;
} rig_held;

typedef struct rig_memory {
    const ls_line_client_ops *client;
    void *self;
    ls_region *region;
    uint32_t latency, room; /* room: requests inside, at most */
    uint32_t head, tail;
    ls_event event;
    ls_cycle last;       /* of the last request */
    uint32_t same_cycle; /* requests in that cycle, at most in any */
    uint32_t this_cycle, inside_peak;
    bool refused;
    _Alignas(16) uint8_t bytes[RIG_LINES * RIG_LINE];
    rig_held held[RIG_WAITING_MAX];
} rig_memory;

static inline void rig_perform(rig_memory *s, ls_line_message *m)
{
    uint8_t *line = s->bytes + (m->address - RIG_BASE);
    if (m->address < RIG_BASE || m->address - RIG_BASE >= sizeof s->bytes) {
        m->flags |= LS_LINE_FAULT;
        memset(m->data, 0, RIG_LINE);
    } else if (m->kind == LS_LINE_READ) {
        memcpy(m->data, line, RIG_LINE);
    } else if (m->kind == LS_LINE_ATOMIC) {
        (void)line_atomic_apply(m, line);
    } else {
        for (uint32_t i = 0; i < RIG_LINE; i++)
            if ((m->mask[0] >> i & 1) != 0)
                line[i] = m->data[i];
    }
}

static inline bool rig_memory_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    rig_memory *s = self;
    (void)client;
    if (s->tail - s->head == s->room) {
        s->refused = true;
        return false;
    }
    s->this_cycle = now == s->last ? s->this_cycle + 1 : 1;
    s->last = now;
    s->same_cycle = s->this_cycle > s->same_cycle ? s->this_cycle : s->same_cycle;
    rig_held *held = &s->held[s->tail++ % RIG_WAITING_MAX];
    held->m = *m;
    held->at = now + s->latency;
    rig_perform(s, &held->m);
    s->inside_peak = s->tail - s->head > s->inside_peak ? s->tail - s->head : s->inside_peak;
    if (!ls_event_scheduled(&s->event))
        ls_schedule_at(s->region, &s->event, s->held[s->head % RIG_WAITING_MAX].at);
    return true;
}

static inline void rig_memory_event(void *self, ls_cycle now)
{
    rig_memory *s = self;
    while (s->head != s->tail && s->held[s->head % RIG_WAITING_MAX].at <= now)
        s->client->reply(s->self, &s->held[s->head++ % RIG_WAITING_MAX].m, now);
    if (s->head != s->tail && !ls_event_scheduled(&s->event))
        ls_schedule_at(s->region, &s->event, s->held[s->head % RIG_WAITING_MAX].at);
    if (s->refused) {
        s->refused = false;
        s->client->retry(s->self, now);
    }
}

static inline ls_status rig_memory_attach(void *self, const ls_line_client_ops *ops, void *client,
                                          ls_line_port *out, ls_error *err);
static const ls_line_memory_ops rig_memory_ops = { .attach = rig_memory_attach,
                                                   .request = rig_memory_request };

static inline ls_status rig_memory_attach(void *self, const ls_line_client_ops *ops, void *client,
                                          ls_line_port *out, ls_error *err)
{
    rig_memory *s = self;
    (void)err;
    s->client = ops;
    s->self = client;
    *out = (ls_line_port){ .ops = &rig_memory_ops, .self = s, .line_bytes = RIG_LINE };
    return LS_OK;
}

static const ls_port_decl rig_memory_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &rig_memory_ops },
};
static const ls_state_row rig_memory_rows[] = {
    LS_STATE_FIXED_SPAN(rig_memory, client, room),
    LS_STATE_DATA_SPAN(rig_memory, head, tail),
    LS_STATE_EVENT(rig_memory, event),
    LS_STATE_DATA_SPAN(rig_memory, last, held),
};
static const ls_block_type rig_memory_type = { .abi = LS_ABI_VERSION,
                                               .slot = "test",
                                               .name = "memory",
                                               .state_size = sizeof(rig_memory),
                                               .ports = rig_memory_ports,
                                               .port_count = LS_COUNT_OF(rig_memory_ports),
                                               .rows = rig_memory_rows,
                                               .row_count = LS_COUNT_OF(rig_memory_rows) };

/* ---------------------------------------------------------------------------------------------- a requester */

typedef struct rig_op {
    ls_line_message m; /* and its answer */
    ls_cycle at, sent, done;
    uint32_t answers, unused;
} rig_op;

typedef struct rig_client {
    ls_line_port port;
    ls_region *region;
    ls_event event;
    uint32_t count, next, answered, per_cycle, peak;
    bool refused;
    rig_op ops[RIG_OPS_MAX];
} rig_client;

static inline void rig_send(void *self, ls_cycle now)
{
    rig_client *c = self;
    uint32_t left = c->per_cycle != 0 ? c->per_cycle : 1;
    for (; c->next < c->count && !c->refused; c->next++, left--) {
        rig_op *op = &c->ops[c->next];
        if (op->at > now || left == 0) {
            if (!ls_event_scheduled(&c->event))
                ls_schedule_at(c->region, &c->event, op->at > now ? op->at : now + 1);
            return;
        }
        op->m.token = c->next;
        if (!ls_line_request(&c->port, &op->m, now)) {
            c->refused = true;
            return;
        }
        op->sent = now;
        if (c->next + 1 - c->answered > c->peak)
            c->peak = c->next + 1 - c->answered;
    }
}

static inline void rig_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    rig_client *c = self;
    rig_op *op = &c->ops[m->token];
    op->m = *m;
    op->done = now;
    op->answers++;
    c->answered++;
}

static inline void rig_retry(void *self, ls_cycle now)
{
    rig_client *c = self;
    c->refused = false;
    rig_send(c, now);
}

static const ls_line_client_ops rig_client_ops = { .reply = rig_reply, .retry = rig_retry };
static const ls_state_row rig_client_rows[] = {
    LS_STATE_FIXED_SPAN(rig_client, port, region),
    LS_STATE_EVENT(rig_client, event),
    LS_STATE_DATA_SPAN(rig_client, count, ops),
};
static const ls_block_type rig_client_type = { .abi = LS_ABI_VERSION,
                                               .slot = "test",
                                               .name = "client",
                                               .state_size = sizeof(rig_client),
                                               .rows = rig_client_rows,
                                               .row_count = LS_COUNT_OF(rig_client_rows) };

/* -------------------------------------------------------------------------------------------------- machine */

typedef struct rig_gpu {
    ls_region *region;
    ls_block *rdma;
    ls_fabric_end *end;
    rig_memory *memory;
    rig_client *clients[RIG_CLIENTS];
} rig_gpu;

typedef struct rig {
    ls_engine *engine;
    rig_gpu gpus[RIG_GPUS];
    const ls_fabric_end *ends[RIG_GPUS];
} rig;

static const line_rdma_spec rig_spec = { .in_flight = 64,
                                         .served_in_flight = 64,
                                         .buffer_messages = 64,
                                         .latency_cycles = 3,
                                         .messages_per_cycle = 1 };

static inline void rig_build_gpu(rig *r, uint32_t number, const line_rdma_spec *spec, uint32_t memory_room)
{
    rig_gpu *g = &r->gpus[number];
    char name[32];
    ls_clock clock;
    ls_domain *domain;
    ls_block *memory, *client;
    RIG_OK(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), err));
    snprintf(name, sizeof name, "gpu%u.rdma", number);
    RIG_OK(ls_domain_create(r->engine, name, clock, &domain, err));
    g->region = ls_domain_region(domain, 0);
    RIG_OK(ls_block_create(g->region, name, ls_registry_find_block(LS_RDMA_SLOT, "line"), spec, &g->rdma,
                           err));
    snprintf(name, sizeof name, "gpu%u.memory", number);
    RIG_OK(ls_block_create(g->region, name, &rig_memory_type, NULL, &memory, err));
    g->memory = ls_block_state(memory);
    g->memory->region = g->region;
    g->memory->latency = 10;
    g->memory->room = memory_room;
    ls_event_init(&g->memory->event, rig_memory_event, g->memory);
    const ls_rdma_wiring wiring = { .region = g->region,
                                    .name = ls_block_name(g->rdma),
                                    .number = number,
                                    .line_bytes = RIG_LINE,
                                    .memory = memory };
    RIG_OK(line_rdma_attach(g->rdma, &wiring, err));
    g->end = line_rdma_end(g->rdma);
    for (uint32_t i = 0; i < RIG_CLIENTS; i++) {
        snprintf(name, sizeof name, "gpu%u.client%u", number, i);
        RIG_OK(ls_block_create(g->region, name, &rig_client_type, NULL, &client, err));
        rig_client *c = g->clients[i] = ls_block_state(client);
        c->region = g->region;
        ls_event_init(&c->event, rig_send, c);
        RIG_OK(ls_line_join(g->rdma, &rig_client_ops, c, &c->port, err));
    }
}

static inline void rig_join(rig *r, uint32_t from, uint32_t to)
{
    ls_fabric_end *a = r->gpus[from].end, *b = r->gpus[to].end;
    char name[32];
    a->ends = RIG_GPUS;
    r->ends[from] = a;
    a->all = r->ends;
    for (uint32_t class = 0; class < LS_FABRIC_CLASSES; class ++) {
        if (b->receive_credits[class] == 0)
            continue;
        snprintf(name, sizeof name, "wire%u.%u", from, class);
        ls_link_spec spec = { .name = name,
                              .from = a->region,
                              .to = b->region,
                              .latency_cycles = RIG_WIRE,
                              .credits = b->receive_credits[class],
                              .payload_bytes = sizeof(ls_fabric_message),
                              .receive = b->receive,
                              .receiver = b->receiver };
        RIG_OK(ls_link_create(r->engine, &spec, &a->send[class], err));
    }
}

static inline void rig_build(rig *r, const line_rdma_spec *spec, uint32_t memory_room)
{
    memset(r, 0, sizeof *r);
    RIG_OK(ls_engine_create(1, &r->engine, err));
    for (uint32_t i = 0; i < RIG_GPUS; i++)
        rig_build_gpu(r, i, spec, memory_room);
    rig_join(r, 0, 1);
    rig_join(r, 1, 0);
}

static inline rig_op *rig_add(rig *r, uint32_t gpu, uint32_t client, uint32_t kind, uint32_t line)
{
    rig_client *c = r->gpus[gpu].clients[client];
    assert_true(c->count < RIG_OPS_MAX);
    rig_op *op = &c->ops[c->count++];
    op->m.address = mem_place_physical(gpu, 1 - gpu, RIG_BASE + line * RIG_LINE);
    op->m.kind = (uint8_t)kind;
    op->m.mask[0] = UINT64_MAX;
    if (kind == LS_LINE_ATOMIC) {
        op->m.atomic = AMD_ATOMIC_ADD;
        op->m.atomic_bytes = 4;
        op->m.flags = LS_LINE_RETURN;
    }
    return op;
}

static inline void rig_start(rig *r)
{
    for (uint32_t g = 0; g < RIG_GPUS; g++)
        for (uint32_t i = 0; i < RIG_CLIENTS; i++)
            if (r->gpus[g].clients[i]->count > 0)
                ls_schedule_at(r->gpus[g].region, &r->gpus[g].clients[i]->event, 1);
}

static inline const line_rdma_counters *rig_counters(const rig *r, uint32_t gpu)
{
    ls_block *block = r->gpus[gpu].rdma;
    return (const line_rdma_counters *)(const void *)((const char *)ls_block_state(block) +
                                                      ls_block_type_of(block)->counters_offset);
}

/* Every request was answered once, and the counters of both ends agree. */
static inline void rig_is_complete(const rig *r)
{
    for (uint32_t g = 0; g < RIG_GPUS; g++) {
        const line_rdma_counters *n = rig_counters(r, g), *other = rig_counters(r, 1 - g);
        for (uint32_t i = 0; i < RIG_CLIENTS; i++) {
            const rig_client *c = r->gpus[g].clients[i];
            assert_int_equal(c->answered, c->count);
            for (uint32_t k = 0; k < c->count; k++)
                assert_int_equal(c->ops[k].answers, 1);
        }
        assert_int_equal(n->answers, n->reads + n->writes + n->atomics);
        assert_int_equal(n->reads, other->served_reads);
        assert_int_equal(n->writes, other->served_writes);
        assert_int_equal(n->atomics, other->served_atomics);
        assert_int_equal(n->bytes_out, other->bytes_in);
        assert_int_equal(n->data_bytes_out, other->data_bytes_in);
        assert_true(r->gpus[g].memory->head == r->gpus[g].memory->tail);
    }
}

static inline void rig_run(rig *r, uint32_t threads)
{
    rig_start(r);
    RIG_OK(ls_run(r->engine, &(ls_run_options){ .threads = threads }, NULL, err));
    rig_is_complete(r);
}

#endif
