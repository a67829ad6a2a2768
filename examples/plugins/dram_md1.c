/* dram_md1.c: a memory channel as a formula. A request takes the idle latency and a wait. The wait is the mean
 * of an M/D/1 queue at the channel's recent load, w = s * rho / (2 * (1 - rho)), where s is the time of one
 * atom. Beyond saturation the wait is the backlog. No banks, no rows, one event per answer. */
#include "lockstep/dram.h"

#define ENTRIES 1024u  /* requests on their way at once; a power of two */
#define ONE 65536u     /* fixed point: results must not depend on the host's floating point */
#define RHO_MAX 63000u /* beyond 0.96 the formula runs away; the entries limit the rest */

typedef struct spec {
    uint64_t latency_cycles, service_cycles, window_cycles;
} spec;

typedef struct counters {
    ls_dram_counters dram; /* the counters of every channel; first, so that LS_DRAM_METRICS fits */
    uint64_t formula_wait_cycles;
} counters;

typedef struct answer {
    ls_cycle pushed, due;
    uint32_t token;
    bool write;
} answer;

typedef struct state {
    ls_port reply;
    ls_region *region;
    const spec *spec;
    ls_event wake;
    answer ring[ENTRIES]; /* in the order of arrival, which is also that of `due` */
    uint32_t head, tail;
    ls_cycle window_end;
    uint64_t window_atoms, rho; /* atoms of this window; load of the last one */
    ls_cycle bus_free;          /* when all work so far would be done */
    ls_cycle active_since;
    counters n;
} state;

/* The load of the last whole window; an idle window in between means no load. */
static void update_load(state *s, ls_cycle now)
{
    if (now < s->window_end)
        return;
    uint64_t busy = s->window_atoms * s->spec->service_cycles * ONE / s->spec->window_cycles;
    s->rho = now - s->window_end < s->spec->window_cycles ? busy : 0;
    s->rho = s->rho < RHO_MAX ? s->rho : RHO_MAX;
    s->window_end = now + s->spec->window_cycles;
    s->window_atoms = 0;
}

static bool ready(void *self, bool write)
{
    const state *s = self;
    (void)write;
    return s->tail - s->head < ENTRIES;
}

static void push(void *self, const ls_dram_request *request)
{
    state *s = self;
    ls_cycle now = ls_region_now(s->region);
    uint64_t atoms = request->atoms ? request->atoms : 1;
    update_load(s, now);
    uint64_t wait = s->spec->service_cycles * s->rho / (2 * (ONE - s->rho));
    uint64_t piled_up = s->bus_free > now ? s->bus_free - now : 0;
    wait = wait > piled_up ? wait : piled_up;
    s->bus_free = now + piled_up + atoms * s->spec->service_cycles;
    if (s->head == s->tail)
        s->active_since = now;
    ls_cycle due = now + 1 + s->spec->latency_cycles + wait + (atoms - 1) * s->spec->service_cycles;
    if (s->head != s->tail && due < s->ring[(s->tail - 1) % ENTRIES].due)
        due = s->ring[(s->tail - 1) % ENTRIES].due; /* answers keep their order when the load falls */
    s->ring[s->tail++ % ENTRIES] = (answer){ now, due, request->token, request->write };
    s->window_atoms += atoms;
    s->n.formula_wait_cycles += wait;
    s->n.dram.requests++;
    s->n.dram.busy_cycles += atoms * s->spec->service_cycles;
    *(request->write ? &s->n.dram.writes : &s->n.dram.reads) += atoms;
    s->n.dram.queue_peak = s->tail - s->head > s->n.dram.queue_peak ? s->tail - s->head : s->n.dram.queue_peak;
    if (!ls_event_scheduled(&s->wake))
        ls_schedule_at(s->region, &s->wake, due);
}

static void wake(void *self, ls_cycle now)
{
    state *s = self;
    const ls_dram_reply_ops *above = s->reply.ops;
    while (s->head != s->tail && s->ring[s->head % ENTRIES].due <= now) {
        answer a = s->ring[s->head % ENTRIES];
        if (!a.write && !above->ready(s->reply.self, a.token)) {
            ls_schedule(s->region, &s->wake, 1); /* no room above: once more in the next cycle */
            return;
        }
        s->head++;
        s->n.dram.active_cycles += now - s->active_since;
        s->active_since = now;
        ls_histogram_add(&s->n.dram.latency, now - a.pushed);
        ls_domain_progress(ls_region_domain(s->region));
        above->done(s->reply.self, a.token, a.write);
    }
    if (s->head != s->tail && !ls_event_scheduled(&s->wake))
        ls_schedule_at(s->region, &s->wake, s->ring[s->head % ENTRIES].due);
}

static ls_status init(ls_block *block, void *self, const void *from_platform, ls_error *err)
{
    state *s = self;
    (void)err;
    s->spec = from_platform;
    s->region = ls_block_region(block);
    s->window_end = s->spec->window_cycles;
    ls_event_init(&s->wake, wake, s);
    return LS_OK;
}

static const ls_param params[] = {
    LS_PARAM_UINT(spec, latency_cycles, "cycles", 100, 1, 100000, "of a request in an idle channel"),
    LS_PARAM_UINT(spec, service_cycles, "cycles", 2, 1, 1000, "of the bus for one atom of 32 bytes"),
    LS_PARAM_UINT(spec, window_cycles, "cycles", 1000, 10, 1000000, "over which the load is measured"),
};

static const ls_metric metrics[] = {
    LS_DRAM_METRICS,
    LS_METRIC_COUNTER(counters, formula_wait_cycles, "cycles", "waiting that the formula added"),
};

static const ls_dram_ops ops = { .ready = ready, .push = push };
static const ls_port_decl ports[] = {
    { .name = LS_DRAM_PORT, .interface = LS_DRAM_INTERFACE, .ops = &ops },
    { .name = LS_DRAM_REPLY_PORT, .interface = LS_DRAM_REPLY_INTERFACE, .offset = offsetof(state, reply) },
};

static const ls_block_type dram_md1 = {
    .abi = LS_ABI_VERSION,
    .slot = LS_DRAM_SLOT,
    .name = "md1",
    .help = "idle latency and the mean wait of an M/D/1 queue",
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
LS_REGISTER_BLOCK(dram_md1);
