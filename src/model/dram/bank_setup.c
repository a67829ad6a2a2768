/* bank_setup.c: slot dram, model bank: the keys of the channel of bank.h, their way to numbers, the block. */
#include "model/dram/bank.h"

#include "model/keys.h"
#include "model/policy/set_hash.h"

#include <stdio.h>

/* --------------------------------------------------------------------------------------------------- keys */

static const char *const scheduler_names[] = { "frfcfs", "frfcfs-cap", "fcfs", NULL };
static const char *const bus_names[] = { "single", "dual", "accelsim", NULL };
static const char *const group_bit_names[] = { "low", "high", NULL };
#define REFRESH_TURNS 32u /* channels that are refreshed at different times */
static const char *const refresh_names[] = { "all", "one", NULL };

#define KEY_SPEC bank_spec
#define TIMING_KEY(field_, name_, unit_, max_, help_)                                                         \
    KEY(name_, keys.field_, unit_, "0", 0, max_, help_ "; 0: as the timing set says"),

static const ls_param bank_params[] = {
    LS_PARAM_CHOICE(bank_spec, timing, "timing", "gddr6", dram_timing_names,
                    "memory whose timing is used; single keys below go before it"),
    POLICY_PARAM(
        bank_spec, scheduler, "scheduler", "frfcfs", scheduler_names, LS_DRAM_SCHEDULER_SLOT,
        "fcfs: in order; frfcfs: requests of the open row first, then the oldest; frfcfs-cap: so many of them at most; "
        "or as a plug-in says"),
    LS_PARAM_CHOICE(bank_spec, command_bus, "command_bus", "single", bus_names,
                    "commands per cycle: one; one for a row and one for a column; as Accel-Sim's single bus"),
    LS_PARAM_CHOICE(bank_spec, group_bits, "bank_group_bits", "low", group_bit_names,
                    "which bits of the bank number are its group"),
    LS_PARAM_CHOICE(bank_spec, hash, "bank_hash", "none", place_hash_names,
                    "how the row's lowest bits are mixed into the bank number"),
    LS_PARAM_BOOL(bank_spec, refresh, true, "refresh, if refi_cycles has a value"),
    LS_PARAM_CHOICE(bank_spec, refresh_banks, "refresh_banks", "all", refresh_names,
                    "all banks of the channel at once, or one by one, evenly over refi_cycles"),
    LS_PARAM_BOOL(bank_spec, turnaround, true, "time to turn the data bus between reads and writes"),
    KEY("queue_entries", queue_entries, "requests", "64", 1, 65536, "requests waiting for their bank"),
    KEY("write_queue_entries", write_queue_entries, "requests", "0", 0, 65536,
        "writes wait in a queue of their own with so many entries; 0: together with reads"),
    KEY("write_queue_high", write_high, "requests", "0", 0, 65536,
        "writes are worked off once so many wait; 0: when their queue is 7/8 full"),
    KEY("write_queue_low", write_low, "requests", "0", 0, 65536,
        "until fewer than so many wait; 0: when it is half full"),
    KEY("return_entries", return_entries, "requests", "192", 1, 65536,
        "reads waiting for room above; when full the data pipe stands still"),
    KEY("request_limit", request_limit, "requests", "0", 0, 1e6,
        "requests in the channel at once; 0: all queues together and one more"),
    KEY("scheduler_cap", scheduler_cap, "requests", "4", 1, 1e6,
        "of frfcfs-cap: requests served from one row while others of the bank wait"),
    KEY("front_latency_cycles", front_latency_cycles, "cycles", "0", 0, 1e6,
        "fixed time of a request before the queue, in cycles of front_clock_mhz"),
    { .name = "front_clock_mhz",
      .type = LS_PARAM_TYPE_FREQ,
      .offset = offsetof(bank_spec, front_clock),
      .default_text = "0",
      .min = 0,
      .max = 1e6,
      .unit = "MHz",
      .help = "clock of front_latency_cycles; 0: the DRAM clock" },
    DRAM_TIMING_KEYS(TIMING_KEY)
};

/* ------------------------------------------------------------------------------------------------ numbers */

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static ls_status missing(const char *key, ls_error *err)
{
    return ls_fail(err, LS_ERR_INPUT, "with timing 'custom' the key '%s' needs a value", key);
}

static ls_status check_timing(const bank_spec *spec, const dram_timing *t, ls_error *err)
{
    const struct {
        uint64_t value;
        const char *key;
    } needed[] = {
        { t->banks, "banks" },    { t->bus_bytes, "bus_bytes" }, { t->burst, "burst_length" },
        { t->rate, "data_rate" }, { t->ccd, "ccd_cycles" },      { t->rcd, "rcd_cycles" },
        { t->ras, "ras_cycles" }, { t->rp, "rp_cycles" },        { t->cl, "cl_cycles" },
        { t->wl, "wl_cycles" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(needed); i++)
        if (needed[i].value == 0)
            return missing(needed[i].key, err);
    if (!is_power_of_two(t->banks))
        return ls_fail(err, LS_ERR_INPUT, "banks is %u, it must be a power of two", (unsigned)t->banks);
    if (!is_power_of_two(t->groups) || t->groups > t->banks)
        return ls_fail(err, LS_ERR_INPUT,
                       "bank_groups is %u, it must be a power of two and not more than the %u banks",
                       (unsigned)t->groups, (unsigned)t->banks);
    if (t->bus_bytes * t->burst != LS_DRAM_ATOM_BYTES)
        return ls_fail(err, LS_ERR_INPUT,
                       "bus_bytes %u * burst_length %u is %u bytes per column command, it must be %u",
                       (unsigned)t->bus_bytes, (unsigned)t->burst, (unsigned)(t->bus_bytes * t->burst),
                       LS_DRAM_ATOM_BYTES);
    if (spec->refresh && t->refi != 0 && t->refi <= t->rp + t->rfc)
        return ls_fail(err, LS_ERR_INPUT, "refi_cycles is %u, but a refresh takes rp + rfc = %u cycles",
                       (unsigned)t->refi, (unsigned)(t->rp + t->rfc));
    if (spec->refresh && spec->refresh_banks == BANK_REFRESH_ONE && t->refi != 0 &&
        t->refi <= t->banks * (t->rp + t->rfcb) / 4)
        return ls_fail(
            err, LS_ERR_INPUT,
            "refi_cycles is %u, but to refresh %u banks one by one takes (rp + rfc_bank) * banks / 4 = %u cycles",
            (unsigned)t->refi, (unsigned)t->banks, (unsigned)(t->banks * (t->rp + t->rfcb) / 4));
    if (spec->hash == BANK_HASH_IPOLY && t->banks < 16)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "bank_hash 'ipoly' needs 16, 32 or 64 banks, not %u",
                       (unsigned)t->banks);
    return LS_OK;
}

static ls_status apply_queues(bank_channel *c, ls_error *err)
{
    const bank_spec *spec = c->spec;
    c->apart = spec->write_queue_entries != 0;
    c->limit[0] = (uint32_t)spec->queue_entries;
    c->limit[1] = (uint32_t)spec->write_queue_entries;
    c->return_limit = (uint32_t)spec->return_entries;
    c->capacity = (uint32_t)spec->request_limit;
    if (c->capacity == 0)
        c->capacity = c->limit[0] + c->limit[1] + c->return_limit + 1;
    c->in_order = spec->scheduler >= BANK_FCFS;
    c->parts_max = c->in_order ? 1 : BANK_PARTS_MAX;
    c->cap = spec->scheduler == BANK_FRFCFS_CAP ? (uint32_t)spec->scheduler_cap : UINT32_MAX;
    c->write_high =
        (uint32_t)(spec->write_high != 0 ? spec->write_high : (spec->write_queue_entries * 7 + 7) / 8);
    c->write_low = (uint32_t)(spec->write_low != 0 ? spec->write_low : (spec->write_queue_entries + 1) / 2);
    if (!c->apart)
        return spec->write_high == 0 && spec->write_low == 0
                   ? LS_OK
                   : ls_fail(err, LS_ERR_INPUT,
                             "write_queue_high and write_queue_low need write_queue_entries");
    if (spec->scheduler == BANK_FCFS)
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "scheduler 'fcfs' has no write queue: write_queue_entries must be 0");
    if (c->write_low > c->write_high || c->write_high > c->limit[1])
        return ls_fail(err, LS_ERR_INPUT,
                       "write_queue_low %u, write_queue_high %u and write_queue_entries %u must ascend",
                       c->write_low, c->write_high, c->limit[1]);
    return LS_OK;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* DRAM cycles per cycle of the front from which on bank_request.steps might be too narrow. */
#define FRONT_STEP_MAX 250u

/* DRAM cycles of which there is a table of the front's delays. */
#define FRONT_PERIOD_MAX 1024u

/* front_ratio: front clock / DRAM clock, from their periods. */
static ls_status apply_front(bank_channel *c, ls_error *err)
{
    ls_clock front;
    const ls_clock *dram = ls_region_clock(c->region);
    c->front_latency = c->spec->front_latency_cycles;
    c->front_ratio = (ls_ratio){ 1, 1 };
    if (c->spec->front_clock.num == 0)
        return LS_OK;
    ls_status status = ls_clock_init(&front, c->spec->front_clock, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "front_clock_mhz");
    uint64_t a = gcd(dram->period_num, front.period_num), b = gcd(front.period_den, dram->period_den);
    if (__builtin_mul_overflow(dram->period_num / a, front.period_den / b, &c->front_ratio.num) ||
        __builtin_mul_overflow(dram->period_den / b, front.period_num / a, &c->front_ratio.den))
        return ls_fail(err, LS_ERR_UNSUPPORTED,
                       "the ratio of front_clock_mhz and the DRAM clock does not fit into 64 bits");
    if (c->front_ratio.den / c->front_ratio.num >= FRONT_STEP_MAX)
        c->parts_max = 1;
    return LS_OK;
}

/* Everything that follows from the keys. */
static ls_status apply_spec(bank_channel *c, dram_timing *timing, ls_error *err)
{
    const bank_spec *spec = c->spec;
    dram_timing t = dram_timing_resolve(spec->timing, &spec->keys);
    ls_status status = check_timing(spec, &t, err);
    if (status == LS_OK)
        status = apply_queues(c, err);
    if (status == LS_OK)
        status = apply_front(c, err);
    if (status != LS_OK)
        return status;
    uint64_t burst = t.burst / t.rate;
    uint64_t rtw = spec->turnaround && t.cl + burst + 2 > t.wl ? t.cl + burst + 2 - t.wl : 0;
    uint64_t wtr = spec->turnaround ? t.wl + burst + t.cdlr : 0;
    uint64_t wtrl = spec->turnaround ? t.wl + burst + t.cdlrl : 0;
    c->times = (bank_times){
        .burst = (uint32_t)burst,
        .ccd = (uint32_t)t.ccd,
        .ccdl = (uint32_t)t.ccdl,
        .rrd = (uint32_t)t.rrd,
        .rrdl = (uint32_t)t.rrdl,
        .rcd = (uint32_t)t.rcd,
        .rcdwr = (uint32_t)t.rcdwr,
        .ras = (uint32_t)t.ras,
        .rp = (uint32_t)t.rp,
        .rc = (uint32_t)t.rc,
        .cl = (uint32_t)t.cl,
        .wl = (uint32_t)t.wl,
        .rtpl = (uint32_t)t.rtpl,
        .faw = (uint32_t)t.faw,
        .refi = (uint32_t)t.refi,
        .rfc = (uint32_t)t.rfc,
        .rfcb = (uint32_t)t.rfcb,
        .rtw = (uint32_t)(rtw > t.ccd ? rtw : t.ccd),
        .wtr = (uint32_t)(wtr > t.ccd ? wtr : t.ccd),
        .wtrl = (uint32_t)(wtrl > t.ccdl ? wtrl : t.ccdl),
        .wtp = (uint32_t)(t.wl + burst + t.wr),
    };
    c->bus = spec->command_bus;
    c->plain = c->bus == BANK_BUS_DUAL && !c->apart && !c->in_order;
    c->runs = c->plain && c->parts_max > 1 && c->cap == UINT32_MAX && c->times.rtpl >= c->times.ccdl &&
              c->times.ccdl * BANK_PARTS_MAX < BANK_WHEEL;
    c->hash = spec->hash;
    c->bank_mask = (uint32_t)t.banks - 1;
    c->bank_bits = (uint32_t)__builtin_ctzll(t.banks);
    c->lag[0] = c->times.cl + 1;
    c->lag[1] = c->times.wl < c->lag[0] ? c->times.wl : c->lag[0];
    c->pipe_depth = (t.cl > t.wl ? c->times.cl : c->times.wl) + 1;
    c->refresh_due = LS_CYCLE_MAX;
    if (spec->refresh && t.refi != 0) {
        if (spec->refresh_banks == BANK_REFRESH_ONE)
            c->refresh_step = (uint32_t)(t.refi / t.banks);
        /* Channels take turns, so that they do not all stand still at once. */
        uint64_t turn = ls_domain_place(ls_region_domain(c->region)) % REFRESH_TURNS;
        c->refresh_due = t.refi + t.refi * turn / REFRESH_TURNS;
    }
    *timing = t;
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- block */

static void bank_waits(const void *state, ls_wait_sink *sink)
{
    const bank_channel *c = state;
    char detail[128];
    if (c->return_head == c->return_tail)
        return;
    snprintf(detail, sizeof detail, "room for the oldest of %u reads; %u requests are in the channel",
             c->return_tail - c->return_head, c->count);
    ls_wait_report(sink, c->name, ls_domain_name(ls_region_domain(c->region)), detail);
}

static uint32_t ring_size(uint32_t entries)
{
    uint32_t size = 1;
    while (size < entries)
        size *= 2;
    return size;
}

static bool bank_allocate(bank_channel *c)
{
    ls_domain *domain = ls_region_domain(c->region);
    uint32_t size = ring_size(c->capacity), returns = ring_size(c->return_limit);
    c->ring_mask = size - 1;
    c->return_mask = returns - 1;
    c->requests = ls_domain_alloc(domain, c->capacity * sizeof *c->requests);
    c->front = ls_domain_alloc(domain, size * sizeof *c->front);
    c->pipe = ls_domain_alloc(domain, size * sizeof *c->pipe);
    c->returns = ls_domain_alloc(domain, returns * sizeof *c->returns);
    c->front_period = c->front_ratio.den;
    if (c->front_period <= FRONT_PERIOD_MAX)
        c->front_delays = ls_domain_alloc(domain, c->front_period * sizeof *c->front_delays);
    c->banks = ls_domain_alloc(domain, (c->bank_mask + 1) * sizeof *c->banks);
    return c->requests != NULL && c->front != NULL && c->pipe != NULL && c->returns != NULL &&
           c->banks != NULL && (c->front_period > FRONT_PERIOD_MAX || c->front_delays != NULL);
}

static ls_status bank_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    bank_channel *c = state;
    dram_timing timing;
    c->spec = spec;
    c->region = ls_block_region(block);
    c->tap = ls_block_tap(block);
    c->domain = ls_region_domain(c->region);
    c->name = ls_block_name(block);
    ls_status status = apply_spec(c, &timing, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "%s", c->name);
    if (!bank_allocate(c))
        return ls_fail(err, LS_ERR_NOMEM, "no memory for DRAM channel '%s'", c->name);
    uint32_t banks = c->bank_mask + 1, groups = (uint32_t)timing.groups;
    for (uint32_t i = 0; i < banks; i++) {
        const bank_rows none = { .first = BANK_NONE, .order = INDEX_ORDER_EMPTY };
        c->banks[i] =
            (bank){ .bit = UINT64_C(1) << i, .number = i, .request = BANK_NONE, .rows = { none, none } };
        c->banks[i].group = c->spec->group_bits == BANK_GROUP_LOW ? i % groups : i / (banks / groups);
    }
    c->request_pool = INDEX_POOL_NEW;
    c->next = c->front_at = c->look_at = LS_CYCLE_MAX;
    ls_event_init(&c->wake, bank_wake, c);
    if (bank_queue_init(c, err) != LS_OK)
        return ls_error_prefix(err, "%s", c->name);
    return LS_OK;
}

/* Keys that act only under a condition. */
static const ls_need needs[] = {
    { "refresh_banks", "refresh=true" },
    { "refi_cycles", "refresh=true" },
    { "rfc_cycles", "refresh=true refresh_banks=all" },
    { "rfc_bank_cycles", "refresh=true refresh_banks=one" },
    /* Memory by formula has latencies and the bandwidth of the data bus only. */
    { "command_bus", "/core.memory=cycle" },
    { "bank_group_bits", "/core.memory=cycle" },
    { "refresh_banks", "/core.memory=cycle" },
    { "write_queue_*", "/core.memory=cycle" },
    { "return_entries", "/core.memory=cycle" },
    { "scheduler_cap", "scheduler=frfcfs-cap" },
    { "scheduler_cap", "/core.memory=cycle" },
    { "banks", "/core.memory=cycle" },
    { "bank_groups", "/core.memory=cycle" },
    { "rrdl_cycles", "/core.memory=cycle" },
    { "ras_cycles", "/core.memory=cycle" },
    { "cdlrl_cycles", "/core.memory=cycle" },
    { "refi_cycles", "/core.memory=cycle" },
    { "rfc*_cycles", "/core.memory=cycle" },
};

static const ls_metric bank_metrics[] = {
    LS_DRAM_METRICS,
    LS_METRIC_COUNTER(ls_dram_counters, row_hits, "requests", "requests that found their row open"),
    LS_METRIC_COUNTER(ls_dram_counters, row_misses, "requests", "requests that found their bank closed"),
    LS_METRIC_COUNTER(ls_dram_counters, row_conflicts, "requests", "requests that found another row open"),
    LS_METRIC_RATIO(ls_dram_counters, "row_hit_rate", row_hits, requests, "", "row_hits / requests"),
    LS_METRIC_COUNTER(ls_dram_counters, activates, "commands", "rows opened"),
    LS_METRIC_COUNTER(ls_dram_counters, precharges, "banks", "rows closed"),
    LS_METRIC_COUNTER(
        ls_dram_counters, refreshes, "commands",
        "refreshes, of all banks or of one; those of idle time count when the next request comes"),
};

static const ls_port_decl bank_ports[] = {
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .ops = &bank_ops },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .offset = offsetof(bank_channel, reply) },
};

static uint64_t bank_count(const void *self)
{
    return (uint64_t)((const bank_channel *)self)->bank_mask + 1;
}

static uint64_t request_count(const void *self)
{
    return ((const bank_channel *)self)->capacity;
}

static uint64_t ring_length(const void *self)
{
    return (uint64_t)((const bank_channel *)self)->ring_mask + 1;
}

static uint64_t return_length(const void *self)
{
    return (uint64_t)((const bank_channel *)self)->return_mask + 1;
}

static uint64_t scheduler_length(const void *self)
{
    return ((const bank_channel *)self)->scheduler_bytes;
}

static const ls_state_row bank_rows_of_state[] = {
    LS_STATE_DATA_SPAN(bank_channel, next, pipe_depth),
    LS_STATE_FIXED(bank_channel, times),
    LS_STATE_ARRAY(bank_channel, banks, bank_count),
    LS_STATE_ARRAY(bank_channel, requests, request_count),
    LS_STATE_ARRAY(bank_channel, front, ring_length),
    LS_STATE_DATA_SPAN(bank_channel, front_head, writes_coming),
    LS_STATE_ARRAY(bank_channel, pipe, ring_length),
    LS_STATE_DATA_SPAN(bank_channel, pipe_head, wheel),
    LS_STATE_FIXED_SPAN(bank_channel, reply, domain),
    LS_STATE_EVENT(bank_channel, wake),
    LS_STATE_DATA_SPAN(bank_channel, awake, active_since),
    LS_STATE_ARRAY(bank_channel, returns, return_length),
    LS_STATE_DATA_SPAN(bank_channel, return_head, front_phase),
    LS_STATE_FIXED_SPAN(bank_channel, front_latency, waiting_numbers),
    LS_STATE_ARRAY(bank_channel, scheduler_state, scheduler_length),
    LS_STATE_FIXED(bank_channel, scheduler_bytes),
};

static const ls_block_type bank_type = {
    .abi = LS_ABI_VERSION,
    .slot = "dram",
    .name = "bank",
    .help = "command level: banks, bank groups, FR-FCFS, refresh",
    .spec_size = sizeof(bank_spec),
    .params = bank_params,
    .param_count = LS_COUNT_OF(bank_params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(bank_channel),
    .metrics = bank_metrics,
    .metric_count = LS_COUNT_OF(bank_metrics),
    .counters_offset = offsetof(bank_channel, n),
    .ports = bank_ports,
    .port_count = LS_COUNT_OF(bank_ports),
    .init = bank_init,
    .waits = bank_waits,
    .settle = bank_settle,
    .rows = bank_rows_of_state,
    .row_count = LS_COUNT_OF(bank_rows_of_state),
};
LS_REGISTER_BLOCK(bank_type);
