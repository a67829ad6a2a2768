/* cluster.c: orders become calls of compute units and messages to caches. */
#include "lockstep/state.h"
#include "model/amd/cluster.h"

#include <string.h>

#define CLUSTER_CACHES_MAX 32u
#define CLUSTER_CUS_MAX 16u
#define CLUSTER_TAGS_MAX 64u /* kernels that can start at once */

/* One emptying of all caches: first those below, so that nothing old can come up again. Or one flush: those
 * below come last, so that they write what the ones above wrote. */
typedef struct cluster_sweep {
    bool is_used, is_flush;
    bool is_below; /* levels below are part of it and have not finished */
    bool has_sent_below;
    uint32_t tag, next, answered; /* next: the first cache without a request yet */
} cluster_sweep;

typedef struct cluster {
    ls_region *region;
    uint32_t number, cu_count, cache_count, caches_below, flushes_only;
    ls_port cus[CLUSTER_CUS_MAX]; /* ls_cu_ops */
    ls_line_port caches[CLUSTER_CACHES_MAX];
    cluster_sweep sweeps[CLUSTER_TAGS_MAX];
    uint32_t sweep_count; /* in use */
    ls_link *acks;
    ls_event again; /* sends requests to caches and answers that could not be sent before */
} cluster;

/* Sends the request to every cache in turn, as long as they accept. A cache that refuses calls again. */
static void sweep_on(cluster *c, cluster_sweep *s, ls_cycle now)
{
    ls_line_message m;
    memset(&m, 0, LS_LINE_HEAD_BYTES);
    m.kind = s->is_flush ? LS_LINE_FLUSH : LS_LINE_INVALIDATE;
    m.token = (uint32_t)(s - c->sweeps);
    if (s->is_below) {
        m.atomic = (uint8_t)c->caches_below;
        s->has_sent_below = s->has_sent_below || ls_line_request(&c->caches[0], &m, now);
        return;
    }
    for (; s->next < c->cache_count; s->next++)
        if (!ls_line_request(&c->caches[s->next], &m, now))
            return;
}

static void answer(cluster *c, ls_cycle now)
{
    (void)now;
    for (uint32_t i = 0; i < CLUSTER_TAGS_MAX && c->sweep_count > 0; i++) {
        cluster_sweep *s = &c->sweeps[i];
        if (!s->is_used || s->is_below || s->answered < c->cache_count)
            continue;
        ls_cluster_ack *ack = ls_link_send(c->acks, sizeof *ack);
        if (ack == NULL) {
            if (!ls_event_scheduled(&c->again))
                ls_schedule(c->region, &c->again, 1);
            return;
        }
        *ack = (ls_cluster_ack){ .cluster = c->number, .tag = s->tag };
        s->is_used = false;
        c->sweep_count--;
    }
}

static void on_again(void *self, ls_cycle now)
{
    cluster *c = self;
    for (uint32_t i = 0; i < CLUSTER_TAGS_MAX; i++)
        if (c->sweeps[i].is_used && (c->sweeps[i].is_below || c->sweeps[i].next < c->cache_count))
            sweep_on(c, &c->sweeps[i], now);
    answer(c, now);
}

static void on_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    cluster *c = self;
    cluster_sweep *s = &c->sweeps[m->token];
    if (s->is_below) {
        s->is_below = false;
        if (s->is_flush)
            answer(c, now);
        else
            sweep_on(c, s, now);
        return;
    }
    if (++s->answered < c->cache_count)
        return;
    s->is_below = s->is_flush && c->caches_below > 0;
    if (s->is_below)
        sweep_on(c, s, now);
    else
        answer(c, now);
}

static void on_retry(void *self, ls_cycle now)
{
    cluster *c = self;
    (void)now;
    if (!ls_event_scheduled(&c->again))
        ls_schedule(c->region, &c->again, 0);
}

static const ls_line_client_ops client = { .reply = on_reply, .retry = on_retry };

static void launch(cluster *c, const ls_cu_launch *group, ls_cycle now)
{
    const ls_cu_ops *cu = c->cus[group->cu].ops;
    cu->receive_launch(c->cus[group->cu].self, group, now);
}

void cluster_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    cluster *c = state;
    const ls_cluster_order *order = payload;
    switch (order->kind) {
    case LS_CLUSTER_LAUNCH:
        launch(c, &order->launch, now);
        break;
    case LS_CLUSTER_CANCEL:
        for (uint32_t i = 0; i < c->cu_count; i++)
            ((const ls_cu_ops *)c->cus[i].ops)->cancel(c->cus[i].self, order->launch.kernel, now);
        break;
    case LS_CLUSTER_OPEN:
        for (uint32_t i = 0; i < c->cu_count; i++)
            ((const ls_cu_ops *)c->cus[i].ops)->open(c->cus[i].self, order->launch.kernel, now);
        break;
    default: {
        /* One per dispatcher, and each waits for its answer: there is always a free one. */
        uint32_t i = 0;
        while (c->sweeps[i].is_used)
            i++;
        bool is_flush = order->kind == LS_CLUSTER_FLUSH;
        c->sweeps[i] = (cluster_sweep){ .is_used = true,
                                        .is_flush = is_flush,
                                        .is_below = c->caches_below > 0 && !is_flush && !c->flushes_only,
                                        .tag = order->tag };
        c->sweep_count++;
        sweep_on(c, &c->sweeps[i], now);
        answer(c, now);
        break;
    }
    }
    ls_link_release(link, 1);
}

ls_status cluster_attach(ls_block *block, const cluster_wires *wires, ls_error *err)
{
    cluster *c = ls_block_state(block);
    if (wires->cu_count > CLUSTER_CUS_MAX || wires->cache_count > CLUSTER_CACHES_MAX)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "a cluster has at most %u compute units and %u caches",
                       CLUSTER_CUS_MAX, CLUSTER_CACHES_MAX);
    c->number = wires->number;
    c->cu_count = wires->cu_count;
    c->cache_count = wires->cache_count;
    c->caches_below = wires->caches_below;
    c->flushes_only = wires->flushes_only;
    c->acks = wires->acks;
    for (uint32_t i = 0; i < wires->cu_count; i++)
        c->cus[i] = wires->cus[i];
    for (uint32_t i = 0; i < wires->cache_count; i++) {
        ls_status status = ls_line_join(wires->caches[i], &client, c, &c->caches[i], err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

static ls_status cluster_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    cluster *c = state;
    (void)spec;
    (void)err;
    c->region = ls_block_region(block);
    ls_event_init(&c->again, on_again, c);
    return LS_OK;
}

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(cluster, region, caches),
    LS_STATE_DATA_SPAN(cluster, sweeps, sweep_count),
    LS_STATE_LINK(cluster, acks),
    LS_STATE_EVENT(cluster, again),
};

static const ls_block_type cluster_type = {
    .abi = LS_ABI_VERSION,
    .slot = "cluster",
    .name = "orders",
    .help = "hands the command processor's orders to compute units and caches",
    .state_size = sizeof(cluster),
    .init = cluster_init,
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
};

ls_status cluster_create(ls_region *region, const char *name, ls_block **out, ls_error *err)
{
    return ls_block_create(region, name, &cluster_type, NULL, out, err);
}
