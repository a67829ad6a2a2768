/* l2_fixed.c: an L2 in which every sector hits: an answer takes a fixed latency, and the channel sends one
 * answer per `interval_cycles`. DRAM stands below it and gets no requests: the bound of a perfect L2. One
 * file: built in or loaded with --plugin, nothing else changes. */
#include "lockstep/l2.h"

typedef struct spec {
    uint64_t latency_cycles, interval_cycles;
} spec;

typedef struct counters {
    uint64_t requests, replies, network_waits;
} counters;

typedef struct pending {
    ls_sector_message message;
    ls_link *link; /* the link whose buffer entry it holds until it is answered */
    ls_cycle due;
} pending;

typedef struct state {
    const spec *spec;
    ls_region *region;
    ls_port dram;
    ls_link *const *to_core;
    pending *ring; /* in the order of arrival, which is also that of `due` */
    uint32_t size, first, count;
    ls_cycle last_due;
    ls_event event;
    counters n;
} state;

static void answer(void *self, ls_cycle now)
{
    state *s = self;
    for (; s->count > 0; s->count--, s->first = (s->first + 1) % s->size) {
        const pending *p = &s->ring[s->first];
        ls_link *link = s->to_core[p->message.core];
        if (p->due > now) {
            ls_schedule_at(s->region, &s->event, p->due);
            return;
        }
        if (!ls_link_ready(link)) {
            s->n.network_waits++;
            ls_link_wait(link, &s->event);
            return;
        }
        ls_sector_message *reply = ls_link_send(link, 1);
        *reply = p->message;
        ls_link_release(p->link, 1);
        s->n.replies++;
    }
}

static void receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    state *s = self;
    ls_cycle due = now + s->spec->latency_cycles, next = s->last_due + s->spec->interval_cycles;
    s->last_due = due > next ? due : next;
    s->ring[(s->first + s->count) % s->size] =
        (pending){ .message = *(const ls_sector_message *)payload, .link = link, .due = s->last_due };
    s->n.requests++;
    if (s->count++ == 0)
        ls_schedule_at(s->region, &s->event, s->last_due);
}

static ls_status attach(void *self, const ls_l2_wiring *wiring, ls_error *err)
{
    state *s = self;
    s->size = wiring->requests_max;
    s->ring = ls_domain_alloc(ls_region_domain(s->region), s->size * sizeof *s->ring);
    s->to_core = wiring->to_core;
    return s->ring != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for L2");
}

/* Every sector is valid at all times. */
static void warm(void *self, uint64_t address)
{
    (void)self;
    (void)address;
}

static bool reply_ready(void *self, uint32_t token)
{
    (void)self;
    (void)token;
    return true;
}

static void reply_done(void *self, uint32_t token, bool write)
{
    (void)self;
    (void)token;
    (void)write;
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = from_platform;
    s->region = ls_block_region(block);
    ls_event_init(&s->event, answer, s);
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, latency_cycles, "cycles", 100, 1, 10000, "from a request's arrival to its answer"),
    LS_PARAM_UINT(spec, interval_cycles, "cycles", 1, 0, 1000, "from one answer of the channel to the next"),
};
static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, requests, "requests", "sector requests from cores"),
    LS_METRIC_COUNTER(counters, replies, "replies", "answers to cores"),
    LS_METRIC_COUNTER(counters, network_waits, "times", "an answer had to wait for the network"),
};
static const ls_l2_ops ops = { .attach = attach, .receive = receive, .warm = warm };
static const ls_dram_reply_ops reply_ops = { .ready = reply_ready, .done = reply_done };
static const ls_port_decl ports[] = {
    { .name = LS_L2_PORT, .interface = LS_L2_INTERFACE, .ops = &ops },
    { .name = LS_DRAM_PORT, .interface = LS_DRAM_INTERFACE, .offset = offsetof(state, dram) },
    { .name = LS_DRAM_REPLY_PORT, .interface = LS_DRAM_REPLY_INTERFACE, .ops = &reply_ops },
};

static const ls_block_type l2_fixed = {
    .abi = LS_ABI_VERSION,
    .slot = LS_L2_SLOT,
    .name = "fixed",
    .help = "every sector hits: a latency and a bandwidth",
    .spec_size = sizeof(spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .state_size = sizeof(state),
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(state, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(l2_fixed);
