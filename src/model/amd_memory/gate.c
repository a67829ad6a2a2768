/* gate.c: from links into the caches of a domain. Each hub that sends is a requester of its own at each cache,
 * so that answers find their way without a table. Requests that a cache refuses wait in the order of their hub. */
#include "model/amd_memory/gate.h"

#include "model/amd_memory/line_tap.h"
#include "base/list.h"
#include "lockstep/state.h"
#include "model/memory/place.h"

#include <stdio.h>

#define SLICES_MAX 16
#define CONTROL_BYTES 8u /* on the wire, of a message without data */
#define INSIDE_MAX                                                                                            \
    256 /* requests of one hub that are not answered yet: bounds the answers that can wait for the way out */

typedef struct gate_counters {
    uint64_t requests, replies;
    uint64_t waited;       /* requests that could not go on at once */
    uint64_t reply_waited; /* answers that found their link busy */
} gate_counters;

/* A message that waits: an answer for its link, or a request for a cache. */
typedef struct gate_node {
    uint32_t next;
    ls_line_message m;
} gate_node;

/* A hub as the requester of one slice, where slices have queues of their own. */
typedef struct gate_port {
    struct gate_link *link;
    uint32_t slice;
} gate_port;

/* One hub. Hubs may share links. */
typedef struct gate_link {
    struct gate *gate;
    uint16_t number;
    ls_link *in, *out;
    index_list held, answers; /* requests and answers that wait */
    uint32_t inside;
    uint32_t sweep_sent, sweep_answered; /* slices that an invalidate or flush went to, and that answered */
    bool sweeping;
    bool blocked;   /* the first that waits does so for an answer to leave, not for a cache */
    ls_event event; /* while answers wait */
    ls_line_port slices[SLICES_MAX];
    gate_port ports[SLICES_MAX]; /* by_channel: the requesters of slices */
    /* by_channel: requests that wait for a slice, so that others pass them; `held` begins with a sweep then. */
    index_list queues[SLICES_MAX];
    uint32_t queued; /* bits of queues that are not empty */
} gate_link;

typedef struct gate {
    gate_counters n;
    const char *name;
    ls_region *region;
    const ls_tap *tap;
    uint32_t link_count, slice_count, line_bytes;
    uint32_t remote_count;             /* of slices, behind the others: for lines of other GPUs */
    uint32_t sweep_first, sweep_count; /* slices that an invalidate or flush is for */
    bool mapped, by_channel;           /* by_channel: slices are the channels of the map */
    mem_map map;
    gate_link *links;
    gate_node *nodes;
    uint32_t node_count;
    index_pool pool; /* of nodes */
} gate;

/* --- messages that wait --- */

static void hold(gate *g, index_list *list, const ls_line_message *m, uint32_t data_bytes)
{
    const index_links next = INDEX_LINKS(g->nodes, next);
    uint32_t i = index_pool_take(&g->pool, next);
    ls_line_copy(&g->nodes[i].m, m, data_bytes);
    index_list_append(list, next, i);
}

static void drop_first(gate *g, index_list *list)
{
    const index_links next = INDEX_LINKS(g->nodes, next);
    index_pool_give(&g->pool, next, index_list_pop(list, next));
}

/* --- requests --- */

/* To every slice; one at a time per link. */
static bool sweep(gate_link *l, const ls_line_message *m, ls_cycle now)
{
    gate *g = l->gate;
    if (!l->sweeping) {
        l->sweeping = true;
        l->sweep_sent = l->sweep_answered = 0;
    }
    while (l->sweep_sent < g->sweep_count &&
           ls_line_request(&l->slices[g->sweep_first + l->sweep_sent], m, now))
        l->sweep_sent++;
    return l->sweep_sent == g->sweep_count;
}

static uint32_t slice_of(gate *g, uint64_t address)
{
    if (g->by_channel)
        return mem_map_plain_channel(&g->map, address);
    uint32_t slice = g->mapped ? mem_map_place_again(&g->map, mem_place_frame(address)).slice : 0;
    if (LS_LIKELY(!mem_place_is_remote(address) || g->remote_count == 0))
        return slice;
    return g->slice_count + slice;
}

/* Of a request that is no sweep. */
static inline bool hand_over_to(gate_link *l, uint32_t slice, const ls_line_message *m, ls_cycle now)
{
    l->blocked = l->inside == INSIDE_MAX;
    if (LS_UNLIKELY(l->blocked) || !ls_line_request(&l->slices[slice], m, now))
        return false;
    l->inside++;
    ls_link_release(l->in, 1);
    return true;
}

static bool hand_over(gate_link *l, const ls_line_message *m, ls_cycle now)
{
    gate *g = l->gate;
    bool sweeps = m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH;
    l->blocked = l->inside == INSIDE_MAX || (sweeps && l->sweeping && l->sweep_sent == g->sweep_count);
    if (LS_UNLIKELY(l->blocked))
        return false;
    if (LS_UNLIKELY(sweeps)) {
        if (!sweep(l, m, now))
            return false;
    } else if (!ls_line_request(&l->slices[slice_of(g, m->address)], m, now)) {
        return false;
    }
    l->inside++;
    ls_link_release(l->in, 1);
    return true;
}

/* Where slices have queues of their own. False: the request waits, in `held` or by the caller's leave in a queue. */
static bool pass_by_slice(gate_link *l, const ls_line_message *m, ls_cycle now)
{
    gate *g = l->gate;
    if (m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH)
        return l->queued == 0 && hand_over(l, m, now);
    uint32_t slice = slice_of(g, m->address);
    if ((l->queued >> slice & 1) == 0 && hand_over_to(l, slice, m, now))
        return true;
    hold(g, &l->queues[slice], m, ls_line_request_data(m, g->line_bytes));
    l->queued |= 1u << slice;
    g->n.waited++;
    return true;
}

/* slices: bits of those that may take something. */
static void retry_by_slice(gate_link *l, uint32_t slices, ls_cycle now)
{
    gate *g = l->gate;
    for (uint32_t left = l->queued & slices; left != 0; left &= left - 1) {
        uint32_t slice = (uint32_t)__builtin_ctz(left);
        index_list *queue = &l->queues[slice];
        while (!index_list_empty(queue) && hand_over_to(l, slice, &g->nodes[queue->first].m, now))
            drop_first(g, queue); /* sweeps are in no queue */
        if (index_list_empty(queue))
            l->queued &= ~(1u << slice);
    }
    while (!index_list_empty(&l->held) && pass_by_slice(l, &g->nodes[l->held.first].m, now))
        drop_first(g, &l->held);
}

static inline void receive(gate *g, gate_link *l, ls_link *link, const ls_line_message *m, ls_cycle now)
{
    l->in = link;
    g->n.requests++;
    line_tap(g->tap, g->region, m, LS_STEP_ARRIVE);
    if (index_list_empty(&l->held) && (g->by_channel ? pass_by_slice(l, m, now) : hand_over(l, m, now)))
        return;
    g->n.waited++;
    hold(g, &l->held, m, ls_line_request_data(m, g->line_bytes));
}

void line_gate_receive(void *receiver, ls_link *link, const void *payload, ls_cycle now)
{
    gate_link *l = receiver;
    receive(l->gate, l, link, payload, now);
}

void line_gate_receive_any(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    gate *g = state;
    receive(g, &g->links[((const ls_line_message *)payload)->requester], link, payload, now);
}

static void slice_retry(void *self, ls_cycle now)
{
    gate_link *l = self;
    if (l->gate->by_channel) {
        retry_by_slice(l, UINT32_MAX, now);
        return;
    }
    while (!index_list_empty(&l->held) && hand_over(l, &l->gate->nodes[l->held.first].m, now))
        drop_first(l->gate, &l->held);
}

/* --- answers --- */

static bool send_answer(gate_link *l, const ls_line_message *m)
{
    gate *g = l->gate;
    uint32_t data_bytes = ls_line_reply_data(m, g->line_bytes);
    ls_line_message *slot = ls_link_send(l->out, data_bytes != 0 ? data_bytes : CONTROL_BYTES);
    if (LS_UNLIKELY(slot == NULL))
        return false;
    ls_line_copy(slot, m, data_bytes);
    slot->requester = l->number;
    g->n.replies++;
    l->inside--;
    line_tap(g->tap, g->region, m, LS_STEP_REPLY);
    return true;
}

static void hold_answer(gate_link *l, const ls_line_message *m)
{
    gate *g = l->gate;
    bool first = index_list_empty(&l->answers);
    hold(g, &l->answers, m, ls_line_reply_data(m, g->line_bytes));
    g->n.reply_waited++;
    if (first)
        ls_link_wait(l->out, &l->event);
}

static void slice_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    gate_link *l = self;
    if (LS_UNLIKELY(m->kind == LS_LINE_INVALIDATE || m->kind == LS_LINE_FLUSH)) {
        if (++l->sweep_answered < l->gate->sweep_count)
            return;
        l->sweeping = false;
    }
    if (!index_list_empty(&l->answers) || !send_answer(l, m)) {
        hold_answer(l, m);
        return;
    }
    if (LS_UNLIKELY(l->blocked))
        slice_retry(l, now);
}

static void out_ready(void *self, ls_cycle now)
{
    gate_link *l = self;
    gate *g = l->gate;
    while (!index_list_empty(&l->answers)) {
        if (!send_answer(l, &g->nodes[l->answers.first].m)) {
            ls_link_wait(l->out, &l->event);
            break;
        }
        drop_first(g, &l->answers);
    }
    if (l->blocked)
        slice_retry(l, now);
}

static void port_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    slice_reply(((gate_port *)self)->link, m, now);
}

static void port_retry(void *self, ls_cycle now)
{
    const gate_port *port = self;
    retry_by_slice(port->link, 1u << port->slice, now);
}

static const ls_line_client_ops slice_client = { .reply = slice_reply, .retry = slice_retry };
static const ls_line_client_ops port_client = { .reply = port_reply, .retry = port_retry };

/* --- set-up --- */

static ls_status gate_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    gate *g = state;
    (void)spec, (void)err;
    g->name = ls_block_name(block);
    g->region = ls_block_region(block);
    g->tap = ls_block_tap(block);
    g->pool = INDEX_POOL_NEW;
    return LS_OK;
}

static void gate_waits(const void *self, ls_wait_sink *sink)
{
    const gate *g = self;
    char detail[128];
    for (uint32_t i = 0; i < g->link_count; i++) {
        const gate_link *l = &g->links[i];
        if (index_list_empty(&l->held) && index_list_empty(&l->answers))
            continue;
        uint32_t held = 0;
        for (uint32_t at = l->held.first; at != INDEX_NONE; at = g->nodes[at].next)
            held++;
        snprintf(detail, sizeof detail, "link %u: %u requests held, %u inside%s", i, held, l->inside,
                 !index_list_empty(&l->answers) ? ", answers wait for the way out" : "");
        ls_wait_report(sink, g->name, !index_list_empty(&l->answers) ? ls_link_name(l->out) : "its caches",
                       detail);
    }
}

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(gate_counters, requests, "messages", "requests that came over links"),
    LS_METRIC_COUNTER(gate_counters, replies, "messages", "answers sent"),
    LS_METRIC_COUNTER(gate_counters, waited, "messages", "requests that could not go on at once"),
    LS_METRIC_COUNTER(gate_counters, reply_waited, "messages", "answers that found their link busy"),
};

static uint64_t link_count(const void *self)
{
    return ((const gate *)self)->link_count;
}

static uint64_t node_count(const void *self)
{
    return ((const gate *)self)->node_count;
}

static const ls_state_row link_rows[] = {
    LS_STATE_FIXED_SPAN(gate_link, gate, number),
    LS_STATE_LINK(gate_link, in),
    LS_STATE_FIXED(gate_link, out),
    LS_STATE_DATA_SPAN(gate_link, held, blocked),
    LS_STATE_EVENT(gate_link, event),
    LS_STATE_FIXED_SPAN(gate_link, slices, ports),
    LS_STATE_DATA_SPAN(gate_link, queues, queued),
};

static const ls_state_row rows[] = {
    LS_STATE_DATA(gate, n),
    LS_STATE_FIXED_SPAN(gate, name, map),
    LS_STATE_ARRAY_OF(gate, links, link_count, link_rows),
    LS_STATE_ARRAY(gate, nodes, node_count),
    LS_STATE_DATA_SPAN(gate, node_count, pool),
};

static const ls_block_type gate_type = {
    .abi = LS_ABI_VERSION,
    .slot = "line-gate",
    .name = "links",
    .help = "from other domains to the caches of a domain",
    .state_size = sizeof(gate),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(gate, n),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .init = gate_init,
    .waits = gate_waits,
};

ls_status line_gate_create(ls_region *region, const char *name, uint32_t hubs, uint32_t requests_max,
                           ls_block **out, ls_error *err)
{
    ls_domain *domain = ls_region_domain(region);
    ls_status status = ls_block_create(region, name, &gate_type, NULL, out, err);
    if (status != LS_OK)
        return status;
    gate *g = ls_block_state(*out);
    g->link_count = hubs;
    g->links = ls_domain_alloc(domain, hubs * sizeof *g->links);
    g->node_count = hubs * INSIDE_MAX + requests_max;
    g->nodes = ls_domain_alloc(domain, g->node_count * sizeof *g->nodes);
    bool ok = g->links != NULL && g->nodes != NULL;
    for (uint32_t i = 0; ok && i < hubs; i++) {
        gate_link *l = &g->links[i];
        l->gate = g;
        l->number = (uint16_t)i;
        l->held = l->answers = INDEX_LIST_EMPTY;
        for (uint32_t k = 0; k < SLICES_MAX; k++)
            l->queues[k] = INDEX_LIST_EMPTY;
        ls_event_init(&l->event, out_ready, l);
    }
    return ok ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", name);
}

void *line_gate_receiver(ls_block *block, uint32_t i)
{
    gate *g = ls_block_state(block);
    return &g->links[i];
}

void line_gate_set_reply(ls_block *block, uint32_t i, ls_link *link)
{
    gate *g = ls_block_state(block);
    g->links[i].out = link;
}

static ls_status join_slices(gate *g, ls_block *const *caches, uint32_t first, uint32_t count, ls_error *err)
{
    for (uint32_t i = 0; i < g->link_count; i++)
        for (uint32_t k = 0; k < count; k++) {
            ls_line_port *port = &g->links[i].slices[first + k];
            gate_port *own = &g->links[i].ports[first + k];
            *own = (gate_port){ .link = &g->links[i], .slice = first + k };
            ls_status status = g->by_channel ? ls_line_join(caches[k], &port_client, own, port, err)
                                             : ls_line_join(caches[k], &slice_client, &g->links[i], port, err);
            if (status != LS_OK)
                return status;
            if (g->line_bytes != 0 && g->line_bytes != port->line_bytes)
                return ls_fail(err, LS_ERR_INPUT, "%s: caches with lines of %u and of %u bytes", g->name,
                               g->line_bytes, port->line_bytes);
            g->line_bytes = port->line_bytes;
        }
    return LS_OK;
}

ls_status line_gate_set_slices(ls_block *block, const mem_map *map, ls_block *const *caches, uint32_t count,
                               ls_error *err)
{
    gate *g = ls_block_state(block);
    g->by_channel = map != NULL && count > 1 && map->channels == count && mem_map_is_plain(map);
    if (g->by_channel && count <= SLICES_MAX) {
        g->slice_count = g->sweep_count = count;
        g->map = *map;
        return join_slices(g, caches, 0, count, err);
    }
    if (count == 0 || count > SLICES_MAX || (map != NULL ? map->slices_per_channel : 1) != count)
        return ls_fail(err, LS_ERR_INPUT,
                       "%s: %u caches, but the address map has %u slices per channel (up to %d)", g->name,
                       count, map != NULL ? map->slices_per_channel : 1, SLICES_MAX);
    g->slice_count = g->sweep_count = count;
    g->mapped = map != NULL && count > 1;
    if (map != NULL)
        g->map = *map;
    return join_slices(g, caches, 0, count, err);
}

ls_status line_gate_set_remote(ls_block *block, ls_block *const *caches, uint32_t count, ls_error *err)
{
    gate *g = ls_block_state(block);
    if (g->slice_count + count > SLICES_MAX || count != g->slice_count)
        return ls_fail(err, LS_ERR_INPUT, "%s: %u caches for lines of other GPUs beside %u", g->name, count,
                       g->slice_count);
    g->remote_count = count;
    g->sweep_first = g->slice_count;
    g->sweep_count = count;
    return join_slices(g, caches, g->slice_count, count, err);
}
