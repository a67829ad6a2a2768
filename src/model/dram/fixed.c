/* fixed.c: slot dram, model fixed: a latency and a bandwidth, nothing else. It shows the behaviour of a memory
 * system with a DRAM without banks, rows and turns.
 *
 * Requests start in the order of arrival, as soon as the bandwidth allows: after a request of n atoms the next
 * one starts n / atoms_per_cycle cycles later, fractions kept exactly. A request is answered latency_cycles
 * after the start of its last atom. Answers leave in order; a read that finds no room above stops later
 * ones. */
#include "model/dram/fixed.h"

#include "model/dram/dram.h"

#include <stdio.h>

#define RATE_MAX 64
#define LATENCY_MAX 10000

static const ls_param fixed_params[] = {
    LS_PARAM_UINT(fixed_spec, latency_cycles, "cycles", 100, 1, LATENCY_MAX,
                  "from the start of a request to its answer"),
    LS_PARAM_RATIO(fixed_spec, atoms_per_cycle, "atoms_per_cycle", "atoms/cycle", "0.25", 1e-6, RATE_MAX,
                   "bandwidth: atoms of 32 bytes per DRAM cycle"),
    LS_PARAM_UINT(fixed_spec, queue_entries, "requests", 64, 1, 65536, "requests waiting to start"),
};

/* From arrival to answer. */
typedef struct fixed_request {
    ls_cycle pushed, start, done;
    uint32_t token;
    bool write;
} fixed_request;

/* A point in time, exact: cycle + part / atoms_per_cycle.num. */
typedef struct fixed_time {
    ls_cycle cycle;
    uint64_t part;
} fixed_time;

typedef struct fixed {
    ls_port reply;
    ls_region *region;
    const ls_tap *tap;
    ls_domain *domain;
    const fixed_spec *spec;
    const char *name;
    ls_event wake;
    bool blocked, awake;
    fixed_request *requests; /* ring; [head, started) have started, [started, tail) wait */
    uint32_t head, started, tail, mask, capacity;
    fixed_time free;    /* when the next request may start */
    uint64_t busy_part; /* of busy_cycles */
    ls_cycle active_since;
    ls_dram_counters n;
} fixed;

static fixed_time add_atoms(const fixed *f, fixed_time time, uint64_t atoms)
{
    uint64_t part = time.part + atoms * f->spec->atoms_per_cycle.den;
    return (fixed_time){ time.cycle + part / f->spec->atoms_per_cycle.num,
                         part % f->spec->atoms_per_cycle.num };
}

static void start_requests(fixed *f, ls_cycle now)
{
    while (f->started != f->tail && f->requests[f->started & f->mask].start <= now)
        f->started++;
}

static bool fixed_ready(void *self, bool write)
{
    fixed *f = self;
    (void)write;
    if (f->tail - f->head >= f->capacity)
        return false;
    if (f->tail - f->started < f->spec->queue_entries)
        return true;
    start_requests(f, ls_region_now(f->region));
    return f->tail - f->started < f->spec->queue_entries;
}

static void fixed_push(void *self, const ls_dram_request *request)
{
    fixed *f = self;
    ls_cycle now = ls_region_now(f->region);
    uint64_t atoms = request->atoms != 0 ? request->atoms : 1;
    fixed_time start = { now + 1, 0 };
    if (f->free.cycle >= start.cycle)
        start = f->free;
    fixed_time last = add_atoms(f, start, atoms - 1);
    if (f->head == f->tail && now > f->active_since)
        f->active_since = now;
    f->free = add_atoms(f, start, atoms);
    f->requests[f->tail++ & f->mask] = (fixed_request){
        .pushed = now,
        .start = start.cycle + (start.part != 0),
        .done = last.cycle + (last.part != 0) + f->spec->latency_cycles,
        .token = request->token,
        .write = request->write,
    };
    start_requests(f, now);
    if (f->tail - f->started > f->n.queue_peak)
        f->n.queue_peak = f->tail - f->started;
    fixed_time busy = add_atoms(f, (fixed_time){ 0, f->busy_part }, atoms);
    f->n.busy_cycles += busy.cycle;
    f->busy_part = busy.part;
    f->n.requests++;
    dram_tap(f->tap, f->region, now, atoms * LS_DRAM_ATOM_BYTES);
    if (request->write)
        f->n.writes += atoms;
    else
        f->n.reads += atoms;
    if (!f->awake && !ls_event_scheduled(&f->wake))
        ls_schedule_at(f->region, &f->wake, f->requests[f->head & f->mask].done);
}

static void fixed_wake(void *self, ls_cycle now)
{
    fixed *f = self;
    const ls_dram_reply_ops *reply = f->reply.ops;
    f->awake = true;
    f->blocked = false;
    start_requests(f, now);
    while (f->head != f->tail) {
        fixed_request r = f->requests[f->head & f->mask];
        if (r.done > now)
            break;
        f->blocked = !r.write && !reply->ready(f->reply.self, r.token);
        if (f->blocked)
            break;
        ls_histogram_add(&f->n.latency, now - r.pushed);
        f->head++;
        dram_active_until(&f->n.active_cycles, &f->active_since, now);
        ls_domain_progress(f->domain);
        reply->done(f->reply.self, r.token, r.write);
    }
    f->awake = false;
    if (f->blocked)
        ls_schedule(f->region, &f->wake, 1);
    else if (f->head != f->tail)
        ls_schedule_at(f->region, &f->wake, f->requests[f->head & f->mask].done);
}

static void fixed_waits(const void *state, ls_wait_sink *sink)
{
    const fixed *f = state;
    char detail[96];
    if (!f->blocked)
        return;
    snprintf(detail, sizeof detail, "room for a read; %u requests are in the channel", f->tail - f->head);
    ls_wait_report(sink, f->name, ls_domain_name(f->domain), detail);
}

static ls_status fixed_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    fixed *f = state;
    f->spec = spec;
    f->region = ls_block_region(block);
    f->tap = ls_block_tap(block);
    f->domain = ls_region_domain(f->region);
    f->name = ls_block_name(block);
    ls_ratio rate = f->spec->atoms_per_cycle;
    if (rate.num == 0 || rate.den == 0 || rate.den > UINT64_MAX >> 16)
        return ls_fail(err, LS_ERR_INPUT, "%s: atoms_per_cycle has too many digits", f->name);
    /* Waiting requests, plus requests on their way at full bandwidth; more gather only after a blocked
     * read. */
    uint64_t on_the_way = f->spec->latency_cycles * (rate.num / rate.den + 1);
    f->capacity = (uint32_t)(f->spec->queue_entries + on_the_way + 2);
    uint32_t size = 1;
    while (size < f->capacity)
        size *= 2;
    f->mask = size - 1;
    f->requests = ls_domain_alloc(f->domain, size * sizeof *f->requests);
    if (f->requests == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for DRAM channel '%s'", f->name);
    ls_event_init(&f->wake, fixed_wake, f);
    return LS_OK;
}

static const ls_metric fixed_metrics[] = { LS_DRAM_METRICS };

static const ls_dram_ops fixed_ops = { .ready = fixed_ready, .push = fixed_push };

static const ls_port_decl fixed_ports[] = {
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .ops = &fixed_ops },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .offset = offsetof(fixed, reply) },
};

static uint64_t request_length(const void *self)
{
    return (uint64_t)((const fixed *)self)->mask + 1;
}

static const ls_state_row fixed_rows[] = {
    LS_STATE_FIXED_SPAN(fixed, reply, name),   LS_STATE_EVENT(fixed, wake),
    LS_STATE_DATA_SPAN(fixed, blocked, awake), LS_STATE_ARRAY(fixed, requests, request_length),
    LS_STATE_DATA_SPAN(fixed, head, tail),     LS_STATE_FIXED_SPAN(fixed, mask, capacity),
    LS_STATE_DATA_SPAN(fixed, free, n),
};

static const ls_block_type fixed_type = {
    .abi = LS_ABI_VERSION,
    .slot = "dram",
    .name = "fixed",
    .help = "a latency and a bandwidth",
    .spec_size = sizeof(fixed_spec),
    .params = fixed_params,
    .param_count = LS_COUNT_OF(fixed_params),
    .state_size = sizeof(fixed),
    .metrics = fixed_metrics,
    .metric_count = LS_COUNT_OF(fixed_metrics),
    .counters_offset = offsetof(fixed, n),
    .ports = fixed_ports,
    .port_count = LS_COUNT_OF(fixed_ports),
    .init = fixed_init,
    .waits = fixed_waits,
    .rows = fixed_rows,
    .row_count = LS_COUNT_OF(fixed_rows),
};
LS_REGISTER_BLOCK(fixed_type);
