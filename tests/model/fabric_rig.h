/* fabric_rig.h: a fabric alone in an engine, with ends that send what a test says. Every end is a domain in a group of its
 * own, as a GPU is. */
#ifndef TESTS_MODEL_FABRIC_RIG_H
#define TESTS_MODEL_FABRIC_RIG_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lockstep/fabric.h"
#include "lockstep/lockstep.h"
#include "model/fabric/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRIG_ENDS_MAX 65u
#define FRIG_ADDRESSES 8u
#define FRIG_OWED 512u

/* A request whose answer has not been sent; it keeps its buffer entry of the link. */
typedef struct frig_owed {
    ls_link *link;
    uint64_t address;
    uint32_t to;
} frig_owed;

struct frig;

typedef struct frig_end {
    ls_fabric_end end;
    struct frig *rig;
    char name[16];
    uint32_t id;
    ls_event event, answer;
    ls_random random;
    uint64_t sent, received, received_data, hash, latency_sum;
    uint64_t received_from[FRIG_ENDS_MAX];
    ls_cycle last_latency, last_arrival;
    /* By end, class and address. */
    uint32_t next_number[FRIG_ENDS_MAX][LS_FABRIC_CLASSES][FRIG_ADDRESSES];
    uint32_t expected[FRIG_ENDS_MAX][LS_FABRIC_CLASSES][FRIG_ADDRESSES];
    ls_fabric_message draft;
    bool has_draft;
    frig_owed owed[FRIG_OWED];
    uint32_t owed_head, owed_count;
} frig_end;

/* Fills in destination, class, address and sizes; false: nothing in this cycle. */
typedef bool (*frig_next_fn)(frig_end *end, ls_cycle now, ls_fabric_message *message);

typedef struct frig {
    ls_engine *engine;
    uint32_t gpus;
    bool has_host;
    frig_end *ends; /* [gpus + has_host] */
    uint32_t end_count;
    const fabric *fabric;
    frig_next_fn next;
    uint64_t quota;   /* messages that each end sends */
    ls_cycle stop;    /* nothing is sent from this cycle on */
    uint32_t credits; /* of each class; 0: 64 */
    bool answers;     /* REQUEST is answered with DATA, which comes first */
    bool any_address; /* more than FRIG_ADDRESSES lines: their order is not compared */
    bool has_bodies;  /* messages have bodies of the test; else the rig puts the time there */
    bool lost_order;
    uint64_t clock_mhz; /* of the ends; 0: 1000 */
} frig;

static inline uint32_t frig_slot(uint64_t address)
{
    return (uint32_t)(address >> 7) % FRIG_ADDRESSES;
}

static inline bool frig_send(frig_end *e, const ls_fabric_message *m, ls_event *event)
{
    ls_link *link = e->end.send[m->class_index];
    ls_fabric_message *to = ls_link_send(link, 1);
    if (to == NULL) {
        ls_link_wait(link, event);
        return false;
    }
    memcpy(to, m, ls_fabric_message_bytes(m));
    to->from = (uint16_t)e->id;
    to->token = e->next_number[m->to][m->class_index][frig_slot(m->address)]++;
    ls_cycle now = ls_region_now(e->end.region);
    if (!e->rig->has_bodies)
        memcpy(to->body, &now, sizeof now);
    return true;
}

static inline void frig_step(void *self, ls_cycle now)
{
    frig_end *e = self;
    frig *r = e->rig;
    if (!e->has_draft) {
        if ((r->quota != 0 && e->sent >= r->quota) || (r->stop != 0 && now >= r->stop))
            return;
        e->draft = (ls_fabric_message){ .body_bytes = 16 };
        if (!r->next(e, now, &e->draft)) {
            ls_schedule(e->end.region, &e->event, 1);
            return;
        }
        e->has_draft = true;
        ls_domain_pending(ls_region_domain(e->end.region), 1);
    }
    if (!frig_send(e, &e->draft, &e->event))
        return;
    e->has_draft = false;
    ls_domain_pending(ls_region_domain(e->end.region), -1);
    e->sent++;
    ls_schedule(e->end.region, &e->event, 1);
}

static inline void frig_answer(void *self, ls_cycle now)
{
    frig_end *e = self;
    (void)now;
    while (e->owed_count > 0) {
        frig_owed *front = &e->owed[e->owed_head % FRIG_OWED];
        ls_fabric_message m = { .to = (uint16_t)front->to,
                                .class_index = LS_FABRIC_DATA,
                                .data_bytes = 64,
                                .wire_bytes = 68,
                                .body_bytes = 16,
                                .address = front->address };
        if (!frig_send(e, &m, &e->answer))
            return;
        ls_link_release(front->link, 1);
        e->owed_head++;
        e->owed_count--;
    }
}

static inline void frig_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    frig_end *e = self;
    const ls_fabric_message *m = payload;
    ls_cycle sent;
    memcpy(&sent, m->body, sizeof sent);
    bool in_order = m->token == e->expected[m->from][m->class_index][frig_slot(m->address)]++;
    if (m->to != e->id || (!in_order && !e->rig->any_address))
        e->rig->lost_order = true;
    e->received++;
    e->received_from[m->from]++;
    e->received_data += m->data_bytes;
    e->last_latency = now - sent;
    e->last_arrival = now;
    e->latency_sum += now - sent;
    e->hash = (e->hash ^ (now << 20) ^ ((uint64_t)m->from << 50) ^ m->token ^ (uint64_t)m->class_index << 40) *
              UINT64_C(0x100000001b3);
    if (e->rig->answers && m->class_index == LS_FABRIC_REQUEST) {
        assert_true(e->owed_count < FRIG_OWED);
        e->owed[(e->owed_head + e->owed_count++) % FRIG_OWED] = (frig_owed){ link, m->address, m->from };
        if (e->owed_count == 1)
            frig_answer(e, now);
        return;
    }
    ls_link_release(link, 1);
}

static const ls_state_row frig_owed_rows[] = {
    LS_STATE_LINK(frig_owed, link),
    LS_STATE_DATA_SPAN(frig_owed, address, to),
};
static const ls_state_row frig_end_rows[] = {
    LS_STATE_FIXED_SPAN(frig_end, end, id),
    LS_STATE_EVENT(frig_end, event),
    LS_STATE_EVENT(frig_end, answer),
    LS_STATE_DATA_SPAN(frig_end, random, has_draft),
    LS_STATE_PARTS(frig_end, owed, frig_owed_rows),
    LS_STATE_DATA_SPAN(frig_end, owed_head, owed_count),
};
static const ls_block_type frig_end_type = { .abi = LS_ABI_VERSION,
                                             .slot = "test",
                                             .name = "fabric end",
                                             .state_size = sizeof(frig_end),
                                             .rows = frig_end_rows,
                                             .row_count = LS_COUNT_OF(frig_end_rows) };

/* The engine and its ends. */
static inline void frig_open(frig *r)
{
    ls_clock clock;
    assert_int_equal(ls_engine_create(1, &r->engine, NULL), LS_OK);
    assert_int_equal(ls_clock_init(&clock,
                                   ls_ratio_make((r->clock_mhz != 0 ? r->clock_mhz : 1000) * 1000000, 1),
                                   NULL),
                     LS_OK);
    r->end_count = r->gpus + r->has_host;
    frig_end **at = ls_engine_alloc(r->engine, r->end_count * sizeof *at);
    for (uint32_t i = 0; i < r->end_count; i++) {
        char name[16];
        ls_domain *domain;
        ls_group *group;
        ls_block *block;
        snprintf(name, sizeof name, i < r->gpus ? "gpu%u" : "host", i);
        assert_int_equal(ls_domain_create(r->engine, name, clock, &domain, NULL), LS_OK);
        assert_int_equal(ls_group_create(r->engine, name, &group, NULL), LS_OK);
        assert_int_equal(ls_domain_set_group(domain, group, NULL), LS_OK);
        assert_int_equal(ls_block_create(ls_domain_region(domain, 0), name, &frig_end_type, NULL, &block,
                                         NULL),
                         LS_OK);
        frig_end *e = at[i] = ls_block_state(block);
        memcpy(e->name, name, sizeof name);
        e->rig = r;
        e->id = i;
        e->end = (ls_fabric_end){ .name = e->name,
                                  .number = i < r->gpus ? i : LS_FABRIC_HOST,
                                  .region = ls_domain_region(domain, 0),
                                  .receive = frig_receive,
                                  .receiver = e };
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
            e->end.receive_credits[c] = r->credits != 0 ? r->credits : 64;
        ls_random_init(&e->random, 1000 + i);
        ls_event_init(&e->event, frig_step, e);
        ls_event_init(&e->answer, frig_answer, e);
        assert_int_equal(ls_engine_add_part(r->engine, LS_FABRIC_END_PART, &e->end, NULL), LS_OK);
    }
    r->ends = NULL;
    (void)at;
}

static inline frig_end *frig_end_at(const frig *r, uint32_t i)
{
    ls_fabric_end *end = ls_engine_part(r->engine, LS_FABRIC_END_PART, i);
    return end->receiver;
}

static inline void frig_start(frig *r)
{
    r->fabric = ls_engine_part(r->engine, FABRIC_PART, 0);
    assert_non_null(r->fabric);
    for (uint32_t i = 0; i < r->end_count; i++)
        ls_schedule_at(frig_end_at(r, i)->end.region, &frig_end_at(r, i)->event, 0);
}

/* ------------------------------------------------------------------------------------ keys without a platform */

static inline ls_ratio frig_ratio(const char *text)
{
    uint64_t num = 0, den = 1;
    bool fraction = false;
    for (; *text != '\0'; text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        num = num * 10 + (uint64_t)(*text - '0');
        den *= fraction ? 10 : 1;
    }
    return ls_ratio_make(num, den);
}

/* sets: "key=value" texts, ends with NULL. */
static inline void frig_fill(const ls_block_type *type, const char *const *sets, void *spec)
{
    memset(spec, 0, type->spec_size);
    for (size_t i = 0; i < type->param_count; i++) {
        const ls_param *p = &type->params[i];
        const char *text = p->default_text;
        for (const char *const *s = sets; s != NULL && *s != NULL; s++)
            if (strncmp(*s, p->name, strlen(p->name)) == 0 && (*s)[strlen(p->name)] == '=')
                text = *s + strlen(p->name) + 1;
        char *field = (char *)spec + p->offset;
        uint64_t number = strtoull(text, NULL, 10);
        uint32_t choice = 0;
        ls_ratio ratio = frig_ratio(p->type == LS_PARAM_TYPE_CHOICE || p->type == LS_PARAM_TYPE_TEXT ||
                                            p->type == LS_PARAM_TYPE_BOOL
                                        ? "0"
                                        : text);
        switch (p->type) {
        case LS_PARAM_TYPE_UINT:
            memcpy(field, &number, sizeof number);
            break;
        case LS_PARAM_TYPE_FREQ:
            ratio = ls_ratio_make(ratio.num * 1000000, ratio.den);
            memcpy(field, &ratio, sizeof ratio);
            break;
        case LS_PARAM_TYPE_RATIO:
            memcpy(field, &ratio, sizeof ratio);
            break;
        case LS_PARAM_TYPE_BOOL:
            *field = strcmp(text, "true") == 0;
            break;
        case LS_PARAM_TYPE_CHOICE:
            while (p->choices[choice] != NULL && strcmp(p->choices[choice], text) != 0)
                choice++;
            assert_non_null(p->choices[choice]);
            memcpy(field, &choice, sizeof choice);
            break;
        default:
            fail_msg("key '%s' has a type that the rig does not fill", p->name);
        }
    }
}

/* A model of slot `fabric`, with some keys. */
static inline ls_status frig_build(frig *r, const char *model, const char *const *sets, ls_error *err)
{
    const ls_block_type *type = ls_registry_find_block(LS_FABRIC_SLOT, model);
    assert_non_null(type);
    void *spec = ls_engine_alloc(r->engine, type->spec_size);
    frig_fill(type, sets, spec);
    const ls_fabric_ops *ops = ls_block_type_port(type, LS_FABRIC_INTERFACE, false)->ops;
    ls_fabric_plan plan;
    ls_status status = fabric_collect_ends(r->engine, r->gpus, &plan, err);
    if (status == LS_OK)
        status = ops->build(r->engine, spec, &plan, err);
    if (status == LS_OK)
        frig_start(r);
    return status;
}

static inline ls_status frig_run(frig *r, uint32_t threads, ls_cycle until, ls_error *err)
{
    ls_run_options options = { .threads = threads, .until = until * UINT64_C(1000000) };
    return ls_run(r->engine, &options, NULL, err);
}

static inline void frig_run_ok(frig *r, uint32_t threads, ls_cycle until)
{
    ls_error err = { 0 };
    if (frig_run(r, threads, until, &err) != LS_OK)
        fail_msg("%s", err.what);
    assert_false(r->lost_order);
}

static inline const noc_link_counters *frig_link(const frig *r, const char *name)
{
    ls_block *block = ls_engine_find_block(r->engine, name);
    if (block == NULL)
        fail_msg("no link '%s'", name);
    return ls_block_state(block);
}

/* Places behind an output. */
static inline uint32_t frig_buffer(const frig *r, uint32_t node, uint32_t port)
{
    for (uint32_t i = 0; i < r->fabric->graph.edge_count; i++)
        if (r->fabric->graph.edges[i].from == node && r->fabric->graph.edges[i].from_port == port)
            return r->fabric->graph.edges[i].buffer_flits;
    return 0;
}

/* Every message has arrived once, and all buffers are empty. */
static inline void frig_at_rest(const frig *r)
{
    uint64_t sent = 0, received = 0, owed = 0;
    for (uint32_t i = 0; i < r->end_count; i++) {
        const frig_end *e = frig_end_at(r, i);
        sent += e->sent;
        received += e->received;
        owed += r->answers ? 1 : 0;
        for (uint32_t k = 0; k < r->end_count; k++)
            for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
                for (uint32_t a = 0; a < FRIG_ADDRESSES; a++)
                    assert_int_equal(e->next_number[k][c][a], frig_end_at(r, k)->expected[i][c][a]);
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
            assert_int_equal(ls_link_credits(e->end.send[c]), r->fabric->keys.queue_messages);
    }
    if (owed == 0)
        assert_int_equal(sent, received);
    for (uint32_t n = 0; n < r->fabric->graph.switches; n++) {
        const noc_group *g = ls_block_state(r->fabric->network.groups[n]);
        const noc_switch *s = &g->switches[0];
        assert_int_equal(g->live, 0);
        for (uint32_t i = 0; i < s->pairs; i++)
            if (s->outputs[i / g->vcs].kind == NOC_FAR)
                assert_int_equal(ls_link_credits(s->output_vcs[i].link), frig_buffer(r, n, i / g->vcs));
    }
}

static inline uint64_t frig_hash(const frig *r)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < r->end_count; i++)
        hash = (hash ^ frig_end_at(r, i)->hash) * UINT64_C(0x100000001b3);
    for (uint32_t i = 0; i < r->fabric->graph.edge_count; i++) {
        const noc_link_counters *n = ls_block_state(r->fabric->network.edges[i]);
        for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++)
            hash = (hash ^ n->flits[c] ^ n->bytes[c] << 20 ^ n->stall_cycles[c] << 40 ^ n->busy_cycles) *
                   UINT64_C(0x100000001b3);
    }
    return hash;
}

static inline void frig_close(frig *r)
{
    ls_engine_destroy(r->engine);
    r->engine = NULL;
}

#endif
