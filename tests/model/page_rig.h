/* page_rig.h: the parts of one GPU that take part in page migration: TLBs, their MMU and the page agent, with a small
 * directory at the other end of the fabric's links. Requesters follow scripts. Caches and memory are blocks that note the
 * requests that come. All blocks can be saved. */
#ifndef TESTS_MODEL_PAGE_RIG_H
#define TESTS_MODEL_PAGE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/lockstep.h"
#include "lockstep/random.h"
#include "lockstep/state.h"
#include "model/amd_memory/page_agent.h"
#include "model/amd_memory/tlb.h"
#include "model/memory/place.h"
#include "model/migrate/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRIG_TLBS 3u /* the last one is a copy engine's */
#define PRIG_STAY (PRIG_TLBS - 1)
#define PRIG_LINE 64u
#define PRIG_OPS 400u
#define PRIG_PAGES 16u
#define PRIG_GENERATIONS 64u
#define PRIG_BASE UINT64_C(0x10000000)    /* virtual */
#define PRIG_FRAMES UINT64_C(0x200000000) /* physical */
#define PRIG_BLOCK_LOG2 21u               /* each page has that much room, virtually and physically */
#define PRIG_MEMORY (1u << 16)
#define PRIG_LOG 512u
#define PRIG_LINK 10u /* cycles of each link */

#define PRIG_OK(call)                                                                                         \
    do {                                                                                                      \
        ls_error error_ = { 0 };                                                                              \
        ls_error *err = &error_;                                                                              \
        if ((call) != LS_OK)                                                                                  \
            fail_msg("%s: %s", #call, error_.what);                                                           \
    } while (0)

/* --------------------------------------------------------------------------------- a cache, and the memory */

typedef struct prig_held {
    ls_cycle at;
    uint32_t client, unused;
    ls_line_message m;
} prig_held;

typedef struct prig_memory {
    const ls_line_client_ops *ops[4];
    void *clients[4];
    ls_region *region;
    uint32_t client_count, latency, room;
    uint32_t head, tail;
    uint8_t refused[4];
    ls_event event;
    uint64_t invalidate_address[PRIG_LOG], invalidate_bytes[PRIG_LOG];
    ls_cycle invalidate_at[PRIG_LOG];
    uint8_t invalidate_level[PRIG_LOG];
    uint32_t invalidates, reads, writes;
    ls_cycle last[PRIG_PAGES * PRIG_GENERATIONS]; /* answer to a frame, by its number */
    _Alignas(16) uint8_t bytes[PRIG_MEMORY];      /* by the lower bits of addresses */
    prig_held held[512];
} prig_memory;

static inline uint32_t prig_frame_number(uint64_t physical)
{
    return (uint32_t)((mem_place_frame(physical) - PRIG_FRAMES) >> PRIG_BLOCK_LOG2);
}

static inline void prig_perform(prig_memory *s, ls_line_message *m, ls_cycle now)
{
    uint8_t *line = s->bytes + m->address % PRIG_MEMORY;
    if (m->kind == LS_LINE_INVALIDATE) {
        assert_true(s->invalidates < PRIG_LOG);
        s->invalidate_address[s->invalidates] = m->address;
        s->invalidate_bytes[s->invalidates] = m->mask[1];
        s->invalidate_level[s->invalidates] = m->atomic;
        s->invalidate_at[s->invalidates++] = now;
    } else if (m->kind == LS_LINE_READ) {
        s->reads++;
        memcpy(m->data, line, PRIG_LINE);
    } else {
        s->writes++;
        memcpy(line, m->data, PRIG_LINE);
    }
}

static inline bool prig_memory_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    prig_memory *s = self;
    if (s->tail - s->head == s->room) {
        s->refused[client] = 1;
        return false;
    }
    prig_held *held = &s->held[s->tail++ % 512];
    held->m = *m;
    held->client = client;
    held->at = now + s->latency;
    prig_perform(s, &held->m, now);
    if (!ls_event_scheduled(&s->event))
        ls_schedule_at(s->region, &s->event, s->held[s->head % 512].at);
    return true;
}

static inline void prig_memory_event(void *self, ls_cycle now)
{
    prig_memory *s = self;
    while (s->head != s->tail && s->held[s->head % 512].at <= now) {
        prig_held held = s->held[s->head++ % 512];
        uint32_t frame = prig_frame_number(held.m.address);
        if (frame < PRIG_PAGES * PRIG_GENERATIONS && held.m.kind != LS_LINE_INVALIDATE)
            s->last[frame] = now;
        s->ops[held.client]->reply(s->clients[held.client], &held.m, now);
    }
    for (uint32_t i = 0; i < s->client_count; i++)
        if (s->refused[i]) {
            s->refused[i] = 0;
            s->ops[i]->retry(s->clients[i], now);
        }
    if (s->head != s->tail && !ls_event_scheduled(&s->event))
        ls_schedule_at(s->region, &s->event, s->held[s->head % 512].at);
}

static inline ls_status prig_memory_attach(void *self, const ls_line_client_ops *ops, void *client,
                                           ls_line_port *out, ls_error *err);
static const ls_line_memory_ops prig_memory_ops = { .attach = prig_memory_attach,
                                                    .request = prig_memory_request };

static inline ls_status prig_memory_attach(void *self, const ls_line_client_ops *ops, void *client,
                                           ls_line_port *out, ls_error *err)
{
    prig_memory *s = self;
    (void)err;
    assert_true(s->client_count < 4);
    s->ops[s->client_count] = ops;
    s->clients[s->client_count] = client;
    *out = (ls_line_port){
        .ops = &prig_memory_ops, .self = s, .client = s->client_count++, .line_bytes = PRIG_LINE
    };
    return LS_OK;
}

static const ls_port_decl prig_memory_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &prig_memory_ops },
};
static const ls_state_row prig_memory_rows[] = {
    LS_STATE_FIXED_SPAN(prig_memory, ops, room),
    LS_STATE_DATA_SPAN(prig_memory, head, refused),
    LS_STATE_EVENT(prig_memory, event),
    LS_STATE_DATA_SPAN(prig_memory, invalidate_address, held),
};
static const ls_block_type prig_memory_type = { .abi = LS_ABI_VERSION,
                                                .slot = "test",
                                                .name = "memory",
                                                .state_size = sizeof(prig_memory),
                                                .ports = prig_memory_ports,
                                                .port_count = LS_COUNT_OF(prig_memory_ports),
                                                .rows = prig_memory_rows,
                                                .row_count = LS_COUNT_OF(prig_memory_rows) };

/* ---------------------------------------------------------------------------------------------- a requester */

typedef struct prig_op {
    ls_cycle at, done;
    uint64_t address, physical; /* physical: of the answer */
    uint8_t kind, value;        /* value: a byte of the answer */
    uint8_t unused[6];
} prig_op;

typedef struct prig_client {
    ls_line_port port;
    ls_region *region;
    ls_event event;
    uint32_t count, next, answered;
    bool refused;
    prig_op ops[PRIG_OPS];
} prig_client;

static inline void prig_go(void *self, ls_cycle now)
{
    prig_client *c = self;
    while (c->next < c->count && !c->refused) {
        prig_op *op = &c->ops[c->next];
        if (op->at > now) {
            if (!ls_event_scheduled(&c->event))
                ls_schedule_at(c->region, &c->event, op->at);
            return;
        }
        ls_line_message m;
        memset(&m, 0, sizeof m);
        m.address = op->address;
        m.kind = op->kind;
        m.mask[0] = UINT64_MAX;
        m.token = c->next;
        memset(m.data, (int)(c->next & 0xff), PRIG_LINE);
        if (!ls_line_request(&c->port, &m, now))
            c->refused = true;
        else
            c->next++;
    }
}

static inline void prig_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    prig_client *c = self;
    assert_true(m->token < c->next && c->ops[m->token].done == 0);
    c->ops[m->token].done = now;
    c->ops[m->token].physical = m->address;
    if (m->kind == LS_LINE_READ)
        c->ops[m->token].value = m->data[0];
    c->answered++;
}

static inline void prig_retry(void *self, ls_cycle now)
{
    prig_client *c = self;
    c->refused = false;
    prig_go(c, now);
}

static const ls_line_client_ops prig_client_ops = { .reply = prig_reply, .retry = prig_retry };
static const ls_state_row prig_client_rows[] = {
    LS_STATE_FIXED_SPAN(prig_client, port, region),
    LS_STATE_EVENT(prig_client, event),
    LS_STATE_DATA_SPAN(prig_client, count, ops),
};
static const ls_block_type prig_client_type = { .abi = LS_ABI_VERSION,
                                                .slot = "test",
                                                .name = "requester",
                                                .state_size = sizeof(prig_client),
                                                .rows = prig_client_rows,
                                                .row_count = LS_COUNT_OF(prig_client_rows) };

#endif
