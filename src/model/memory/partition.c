/* partition.c: the L2 slices of one memory channel. Lives in the L2 clock's region of the partition's domain;
 * its DRAM lives in the other.
 *
 * This file builds them and has their ways in and out; partition_cycle.c is their cycle.
 *
 * A request passes: arrival (sectors_per_cycle per slice: the output port of the request crossbar), a fixed
 * delay, the input queue, the cache, and on a miss the DRAM. Its answer passes the output queue and enters the
 * reply network, again sectors_per_cycle per slice. */
#include "model/keys.h"
#include "model/memory/partition_impl.h"
#include "model/memory/partition_tap.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------ arrivals */

static inline uint32_t enter(partition *p, ls_link *link, const ls_sector_message *message)
{
    uint32_t i = index_pool_take(&p->request_pool, INDEX_LINKS(p->requests, next));
    pending_request *r = &p->requests[i];
    r->message = *message;
    r->link = link;
    return i;
}

/* The partition sleeps. Apart, as all that few requests need: so that the common ways save no registers for it. */
static __attribute__((noinline)) void arrives_asleep(partition *p, uint32_t request)
{
    partition_wake_at(p, p->requests[request].ready + 1);
    ls_domain_pending(p->domain, 1);
}

/* The request is in the delay of its slice. */
static inline void has_arrived(partition *p, uint32_t request)
{
    if (LS_UNLIKELY(!p->awake))
        arrives_asleep(p, request);
    else
        ls_domain_pending(p->domain, 1);
}

/* The first that makes the partition special; or a listener or a coalescer learns of it. */
static __attribute__((noinline)) void receive_rare(partition *p, ls_link *link,
                                                   const ls_sector_message *message, ls_cycle now)
{
    if (message->number != 0)
        tap_request(p->tap, p->region, message, LS_STEP_ARRIVE);
    if (!p->special)
        partition_become_special(p);
    slice *s = p->slice_of[message->slice];
    uint32_t i = enter(p, link, message);
    p->n.requests += p->line_costs[message->sectors].sectors;
    if (s->coalesce != NULL && !partition_coalesce(p, s, i)) {
        ls_domain_pending(p->domain, 1);
        return;
    }
    partition_arrive(p, s, i, now, true);
    has_arrived(p, i);
}

static __attribute__((noinline)) void receive_special(partition *p, ls_link *link,
                                                      const ls_sector_message *message, ls_cycle now)
{
    slice *s = p->slice_of[message->slice];
    if (LS_UNLIKELY(message->number != 0 || s->coalesce != NULL)) {
        receive_rare(p, link, message, now);
        return;
    }
    uint32_t i = enter(p, link, message);
    p->n.requests += p->line_costs[message->sectors].sectors;
    partition_arrive(p, s, i, now, true);
    has_arrived(p, i);
}

static inline void receive(partition *p, ls_link *link, const ls_sector_message *message, ls_cycle now)
{
    uint32_t i = enter(p, link, message);
    p->n.requests++;
    partition_arrive(p, p->slice_of[message->slice], i, now, false);
    has_arrived(p, i);
}

static __attribute__((noinline)) void tell_and_receive(partition *p, ls_link *link,
                                                       const ls_sector_message *message, ls_cycle now)
{
    tap_request(p->tap, p->region, message, LS_STEP_ARRIVE);
    receive(p, link, message, now);
}

static void partition_receive(void *state, ls_link *link, const void *payload, ls_cycle now)
{
    const partition *p = state;
    const ls_sector_message *message = payload;
    if (LS_UNLIKELY(p->special))
        receive_special(state, link, message, now);
    else if (LS_UNLIKELY(message->sectors != 0 || message->semaphore))
        receive_rare(state, link, message, now);
    else if (LS_UNLIKELY(message->number != 0))
        tell_and_receive(state, link, message, now);
    else
        receive(state, link, message, now);
}

/* --------------------------------------------------------------------------------------------------- DRAM */

static inline index_links dram_links(const partition *p)
{
    return (index_links){ .first = p->dram_next, .stride = sizeof *p->dram_next };
}

static const ls_dram_ops *dram_of(const partition *p)
{
    return p->dram.ops;
}

static bool reply_ready(void *state, uint32_t token)
{
    const partition *p = state;
    return token == SECTOR_CACHE_NONE || !ring_full(&p->slices[token % p->slice_count].fill_ring);
}

static inline void fill(partition *p, uint32_t token)
{
    slice *s = p->slice_of[token % p->slice_count];
    s->fills[ring_push(&s->fill_ring)] = p->dram_reads[token / p->slice_count] | LS_SECTOR_DRAM;
    index_pool_give(&p->dram_pool, dram_links(p), token / p->slice_count);
    partition_wake_now(p, s);
}

static __attribute__((noinline)) void tell_and_fill(partition *p, uint32_t token)
{
    tap_dram(p->tap, p->region, p->told,
             p->dram_reads[token / p->slice_count] & ((UINT64_C(1) << FILL_SECTORS_SHIFT) - 1),
             LS_STEP_L2_TAG);
    fill(p, token);
}

static void reply_done(void *state, uint32_t token, bool write)
{
    partition *p = state;
    if (write)
        return;
    uint8_t *left = &p->dram_left[token / p->slice_count];
    if (LS_UNLIKELY(*left != 0) && --*left != 0)
        return;
    if (LS_UNLIKELY(p->told != NULL))
        tell_and_fill(p, token);
    else
        fill(p, token);
}

static const ls_dram_reply_ops reply_ops = { .ready = reply_ready, .done = reply_done };

/* The sectors of `sectors` of a line, as many of them as there is room for; returns the others. Those that are taken at once
 * are answered at once. */
static uint8_t read_sectors(partition *p, uint32_t token, ls_dram_request *request, uint8_t sectors)
{
    const ls_dram_ops *dram = dram_of(p);
    const uint32_t line = request->column;
    while (sectors != 0) {
        uint32_t taken;
        request->column = line | p->sector_columns[__builtin_ctz(sectors)];
        if (dram->push_several != NULL) {
            taken = dram->push_several(p->dram.self, request, ls_sector_bits(sectors));
        } else {
            taken = dram->ready(p->dram.self, false);
            if (taken != 0)
                dram->push(p->dram.self, request);
        }
        if (taken == 0)
            break;
        p->dram_left[token] -= (uint8_t)(taken - 1);
        for (; taken != 0; taken--)
            sectors &= (uint8_t)(sectors - 1);
    }
    return sectors;
}

/* Lines come only if each is in one row (mem_map_keeps_lines()). Its sectors are reads of their own with one token, so that
 * DRAM's queue holds as many of them as of others. Those that find no room follow. */
static bool read_line(partition *p, slice *s)
{
    sector_cache_miss *miss = &s->l2.misses[s->l2.miss_head & s->l2.miss_mask];
    if (s->line_token == 0) {
        if (index_pool_empty(&p->dram_pool, p->dram_tokens))
            return false;
        uint32_t taken = index_pool_take(&p->dram_pool, dram_links(p));
        p->dram_reads[taken] = partition_fill_of(miss->address, miss->sectors);
        p->dram_left[taken] = (uint8_t)ls_sector_bits(miss->sectors);
        s->line_token = taken + 1;
        if (LS_UNLIKELY(p->told != NULL))
            tap_dram(p->tap, p->region, p->told, miss->address, LS_STEP_DRAM);
    }
    uint32_t token = (s->line_token - 1) * p->slice_count + (uint32_t)(s - p->slices);
    const ls_dram_place line = mem_map_dram(&p->map, miss->address);
    ls_dram_request request = { .bank = line.bank, .row = line.row, .column = line.column, .token = token };
    miss->sectors = read_sectors(p, s->line_token - 1, &request, miss->sectors);
    if (miss->sectors != 0)
        return false;
    s->line_token = 0;
    return true;
}

bool partition_send_to_dram(partition *p, slice *s, const sector_cache_miss *miss, bool ready)
{
    const ls_dram_ops *dram = dram_of(p);
    bool write = miss->kind != SECTOR_CACHE_MISS_READ;
    if (LS_UNLIKELY(p->halves) && !write && partition_half_ask(p, s, miss))
        return true;
    if (!ready && !dram->ready(p->dram.self, write))
        return false;
    if (!write && miss->sectors != 0)
        return read_line(p, s);
    if (!write) {
        if (index_pool_empty(&p->dram_pool, p->dram_tokens))
            return false;
        uint32_t token = index_pool_take(&p->dram_pool, dram_links(p));
        p->dram_reads[token] = miss->address;
        if (LS_UNLIKELY(p->told != NULL))
            tap_dram(p->tap, p->region, p->told, miss->address, LS_STEP_DRAM);
        ls_dram_place at = mem_map_dram(&p->map, miss->address);
        dram->push(p->dram.self,
                   &(ls_dram_request){ .bank = at.bank,
                                       .row = at.row,
                                       .column = at.column,
                                       .token = token * p->slice_count + (uint32_t)(s - p->slices) });
        return true;
    }
    sector_cache_miss *rest = &s->l2.misses[s->l2.miss_head & s->l2.miss_mask];
    if (p->spec->write_lines && rest->sectors != 0 && p->line_in_row) {
        ls_dram_place at = mem_map_dram(&p->map, rest->address);
        dram->push(p->dram.self, &(ls_dram_request){ .bank = at.bank,
                                                     .row = at.row,
                                                     .column = at.column,
                                                     .token = SECTOR_CACHE_NONE,
                                                     .write = true,
                                                     .atoms = (uint8_t)__builtin_popcount(rest->sectors) });
        return true;
    }
    /* A dirty line leaves sector by sector; sectors that found no room follow. */
    while (rest->sectors != 0) {
        if (!dram->ready(p->dram.self, true))
            return false;
        uint32_t sector = (uint32_t)__builtin_ctz(rest->sectors);
        ls_dram_place at = mem_map_dram(&p->map, rest->address + (uint64_t)sector * SECTOR_BYTES);
        dram->push(p->dram.self, &(ls_dram_request){ .bank = at.bank,
                                                     .row = at.row,
                                                     .column = at.column,
                                                     .token = SECTOR_CACHE_NONE,
                                                     .write = true });
        rest->sectors &= (uint8_t)(rest->sectors - 1);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------- set-up */

static ls_status partition_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    partition *p = state;
    p->spec = spec;
    p->region = ls_block_region(block);
    p->domain = ls_region_domain(p->region);
    p->tap = ls_block_tap(block);
    if ((p->spec->l2.sets & (p->spec->l2.sets - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "l2.sets is %llu, it must be a power of two",
                       (unsigned long long)p->spec->l2.sets);
    ls_event_init(&p->timer, partition_timer, p);
    return ls_ticker_add(p->region, &p->ticker, partition_tick, p, err);
}

/* For prefetches: the address in the same slice as `near`. */
static uint64_t address_of(void *self, uint64_t local, uint64_t near_address)
{
    const partition *p = self;
    ls_sector_place place = mem_map_place(&p->map, near_address);
    place.local = local;
    return mem_map_address(&p->map, &place);
}

static void set_line_costs(partition *p)
{
    uint32_t sector_cost = p->port_cost != 0 ? p->port_cost : 100 / p->width;
    p->line_costs[0] = (line_cost){ .port_cycles = (uint16_t)(p->port_cost / 100),
                                    .port_rest = (uint16_t)(p->port_cost % 100),
                                    .sectors = 1 };
    for (uint32_t sectors = 1; sectors < LS_COUNT_OF(p->line_costs); sectors++) {
        uint32_t count = ls_sector_bits(sectors);
        p->line_costs[sectors] = (line_cost){ .port_cycles = (uint16_t)(count * sector_cost / 100),
                                              .port_rest = (uint16_t)(count * sector_cost % 100),
                                              .sectors = (uint16_t)count,
                                              .cycles = (uint16_t)((count + p->width - 1) / p->width) };
    }
}

static ls_status partition_attach(void *state, const ls_l2_wiring *wiring, ls_error *err)
{
    partition *p = state;
    const mem_map *map = wiring->map;
    /* A request returns its buffer entry when the cache has taken it, and stays until it is answered. So
     * requests that wait for a fill or for the network come in addition to those in the links. */
    uint32_t requests_max = wiring->requests_max +
                            map->slices_per_channel *
                                (sector_cache_waiters_max(&p->spec->l2) + (uint32_t)p->spec->output_queue + 2);
    p->channel = wiring->channel;
    p->halves = wiring->halves;
    p->special = p->halves || p->spec->coalesce_entries != 0 || p->spec->ideal;
    p->away_most = (uint32_t)(p->spec->l2.mshr_entries / 2);
    for (int way = 0; way < PARTITION_HALF_ANSWER && p->halves; way++)
        requests_max += partition_half.credits(p, (partition_half_way)way, wiring->core_count, wiring->slices);
    requests_max += wiring->slices * (uint32_t)(p->spec->coalesce_entries * (p->spec->coalesce_requests - 1));
    p->map = *map;
    p->slice_count = map->slices_per_channel;
    p->width = (uint32_t)p->spec->width;
    p->input_queue = (uint32_t)p->spec->input_queue;
    p->output_queue = (uint32_t)p->spec->output_queue;
    p->line_in_row = mem_map_line_in_row(map);
    for (uint32_t i = 0; i < SECTORS_OF_LINE; i++)
        p->sector_columns[i] = mem_map_dram(map, (uint64_t)i * SECTOR_BYTES).column;
    p->port_cost =
        p->spec->port_percent == 100 ? 0 : (uint32_t)(10000 / (p->spec->port_percent * p->spec->width));
    set_line_costs(p);
    if (p->slice_count > SLICES_MAX)
        return ls_fail(err, LS_ERR_INPUT, "%u L2 slices per channel, at most %d are possible", p->slice_count,
                       SLICES_MAX);
    if (p->halves && p->spec->l2.ways < 2)
        return ls_fail(
            err, LS_ERR_INPUT,
            "l2.ways is 1: with memory.halves 2 it must be at least 2, or both halves wait for each other");
    if (p->halves && p->spec->l2.mshr_entries < HALVES_MSHRS_LEAST)
        return ls_fail(
            err, LS_ERR_INPUT,
            "l2.mshr_entries is %llu: with memory.halves 2 it must be at least %u, or both halves wait for each other",
            (unsigned long long)p->spec->l2.mshr_entries, HALVES_MSHRS_LEAST);
    p->to_core = ls_domain_alloc(p->domain, wiring->core_count * sizeof(ls_link *));
    p->request_count = (uint32_t)requests_max;
    p->requests = ls_domain_alloc(p->domain, requests_max * sizeof *p->requests);
    p->dram_tokens = p->slice_count * (uint32_t)p->spec->l2.mshr_entries;
    p->dram_reads = ls_domain_alloc(p->domain, p->dram_tokens * sizeof *p->dram_reads);
    p->dram_next = ls_domain_alloc(p->domain, p->dram_tokens * sizeof *p->dram_next);
    p->dram_left = ls_domain_alloc(p->domain, p->dram_tokens * sizeof *p->dram_left);
    bool ok = p->to_core != NULL && p->requests != NULL && p->dram_reads != NULL && p->dram_next != NULL &&
              p->dram_left != NULL && partition_semaphore_init(p);
    for (uint32_t i = 0; i < p->slice_count && ok; i++) {
        slice *s = p->slice_of[i] = &p->slices[i];
        s->owner = p;
        s->next = s->work_at = s->answer_at = s->arrive_at = LS_CYCLE_MAX;
        s->output.list = s->parked.list = s->home.list = s->held.list = INDEX_LIST_EMPTY;
        ls_event_init(&s->output_event, partition_output_event, s);
        uint32_t fills = (uint32_t)p->spec->fill_queue;
        if (p->halves && p->spec->l2.mshr_entries > fills) /* room for each sector on its way */
            fills = (uint32_t)p->spec->l2.mshr_entries;
        ring_init(&s->fill_ring, fills);
        s->fills = ls_domain_alloc(p->domain, ring_size_for(fills) * sizeof *s->fills);
        ok = s->fills != NULL && partition_coalesce_init(p, s);
        if (ok && sector_cache_init(&s->l2, &p->spec->l2, &p->n.l2, p->domain, err) != LS_OK)
            return ls_error_prefix(err, "%s: l2", ls_domain_name(p->domain));
        sector_cache_set_addresses(&s->l2, address_of, p);
        if (ok && p->spec->ideal && s->l2.prefetch != NULL)
            return ls_fail(err, LS_ERR_INPUT,
                           "l2: an ideal cache has nothing to prefetch: l2.ideal or l2.prefetch");
    }
    if (!ok)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for memory partition '%s'", ls_domain_name(p->domain));
    memcpy(p->to_core, wiring->to_core, wiring->core_count * sizeof(ls_link *));
    p->request_pool = p->dram_pool = INDEX_POOL_NEW;
    return LS_OK;
}

static void partition_warm(void *state, uint64_t address)
{
    partition *p = state;
    ls_sector_place place = mem_map_place(&p->map, address);
    sector_cache_warm(&p->slices[place.slice].l2, address, place.local);
}

/* Dirty lines are lost without traffic, as in Accel-Sim. */
static void partition_flush(void *state)
{
    partition *p = state;
    for (uint32_t i = 0; i < p->slice_count && p->spec->flush; i++) {
        sector_cache *l2 = &p->slices[i].l2;
        if (sector_cache_pending_fills(l2) == 0)
            sector_cache_invalidate(l2);
        else if (l2->prefetch != NULL)
            sector_cache_invalidate_later(l2);
    }
}

static void partition_get_shape(const void *state, partition_shape *out)
{
    const partition_spec *spec = ((const partition *)state)->spec;
    *out = (partition_shape){ .l2 = spec->l2,
                              .delay_cycles = spec->delay_cycles,
                              .percent = spec->width * spec->port_percent };
}

/* Prefetchers and coalescers look at sectors one by one, and a line needs an entry of the MSHRs for each sector. */
static bool partition_takes_lines(const void *state)
{
    const partition_spec *spec = ((const partition *)state)->spec;
    return spec->l2.prefetch.kind == PREFETCH_NONE && spec->coalesce_entries == 0 && !spec->ideal &&
           spec->l2.mshr_entries >= SECTORS_OF_LINE;
}

static const ls_l2_ops l2_ops = { .attach = partition_attach,
                                  .receive = partition_receive,
                                  .warm = partition_warm,
                                  .takes_lines = partition_takes_lines };
static const partition_profile_ops profile_ops = { .shape = partition_get_shape, .flush = partition_flush };

static const char *const merge_stall_names[] = { "slice", "request", NULL }; /* as sector_cache_merge_stall */

/* clang-format off */
#define KEY_SPEC partition_spec

static const ls_param params[] = {
    KEY("delay_cycles", delay_cycles, "cycles", "100", 1, 2000, "fixed time of a request before the tags"),
    KEY("sectors_per_cycle", width, "sectors", "1", 1, 8, "requests taken and answers sent, per slice and cycle"),
    KEY("port_percent", port_percent, "", "100", 10, 100, "of sectors_per_cycle, what answers reach on average"),
    KEY_FLAG("write_lines", write_lines, "false", "a dirty line goes to DRAM as one request instead of sector by sector"),
    KEY_FLAG("ideal", ideal, "false", "every access hits, and nothing goes to DRAM"),
    KEY_FLAG("flush", flush, "false", "L2 is emptied without traffic at the end of a kernel, if no other one runs"),
    KEY("input_queue", input_queue, "requests", "64", 1, 4096, "requests waiting for the tags, per slice"),
    KEY("output_queue", output_queue, "replies", "64", 1, 4096, "answers waiting for the network, per slice"),
    KEY("fill_queue", fill_queue, "sectors", "64", 1, 4096, "sectors from DRAM waiting to be filled, per slice"),
    KEY("coalesce_entries", coalesce_entries, "sectors", "0", 0, 4096,
        "whose reads meet in front of a slice and are answered together, per slice; 0: none do"),
    KEY("coalesce_requests", coalesce_requests, "reads", "4", 1, 64, "that meet at one entry; the next one has its own"),
    KEY("sets", l2.sets, "", "64", 1, 65536, "sets of a slice (a power of two)"),
    KEY("ways", l2.ways, "", "16", 1, 256, "lines of 128 bytes per set"),
    KEY("mshr_entries", l2.mshr_entries, "sectors", "192", 1, 4096, "sectors on their way from DRAM, per slice"),
    KEY("mshr_merge", l2.mshr_merge, "requests", "4", 1, 1024, "requests per sector on its way"),
    KEY_CHOICE("merge_stall", l2.merge_stall, "request", merge_stall_names,
               "what waits when mshr_merge is reached: that request, or all of its slice (Accel-Sim)"),
    KEY("miss_queue", l2.miss_queue, "requests", "32", 2, 1024, "requests waiting for DRAM, per slice"),
    KEY("dirty_limit_percent", l2.dirty_limit_percent, "%", "0", 0, 100,
        "dirty lines are spared from eviction while fewer than this share is dirty"),
    KEY_CHOICE("write_policy", l2.write_policy, "back", write_policy_names, "treatment of stores"),
    SECTOR_CACHE_POLICY_PARAMS(partition_spec, l2, "", "ipoly"),
};

/* Memory by formula has hit rates and bandwidths of L2, no queues. */
static const ls_need needs[] = {
    SECTOR_CACHE_POLICY_NEEDS("", "/core.memory=cycle"),
    { "coalesce_requests", "coalesce_entries!=0 /core.memory=cycle" },
    { "coalesce_entries", "/core.memory=cycle" },
    { "ideal", "/core.memory=cycle" },               { "flush", "/core.memory=cycle" },
    { "write_lines", "/core.memory=cycle" },         { "*_queue", "/core.memory=cycle" },
    { "mshr_*", "/core.memory=cycle" },              { "merge_stall", "/core.memory=cycle" },
    { "dirty_limit_percent", "/core.memory=cycle" }, { "write_policy", "/core.memory=cycle" },
};

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(partition_counters, requests, "requests", "sector requests from cores"),
    LS_METRIC_COUNTER(partition_counters, replies, "replies", "answers to cores"),
    LS_METRIC_COUNTER(partition_counters, input_stalls, "cycles", "a request found the input queue full"),
    LS_METRIC_COUNTER(partition_counters, output_stalls, "times", "an answer had to wait for the network"),
    LS_METRIC_COUNTER(partition_counters, dram_stalls, "cycles", "a miss had to wait for DRAM"),
    LS_METRIC_COUNTER(partition_counters, coalesced, "reads", "met another one in front of their slice"),
    LS_METRIC_COUNTER(partition_counters, coalesce_stalls, "requests", "waited for an entry in front of their slice"),
    LS_METRIC_COUNTER(partition_counters, far_reads, "sectors", "asked of the other half of L2"),
    LS_METRIC_COUNTER(partition_counters, far_others, "sectors", "writes and atomics passed to the other half of L2"),
    LS_METRIC_COUNTER(partition_counters, far_drops, "sectors", "copies that the other half of L2 had to forget"),
    LS_METRIC_COUNTER(partition_counters, parked, "reads", "waited for the value of a semaphore"),
#define METRICS_TYPE partition_counters
#define METRICS_FIELD l2
#define METRICS_PREFIX ""
#define METRICS_LABEL ""
#include "model/cache/sector_cache_metrics.def"
};
/* clang-format on */

static const ls_port_decl ports[] = {
    { .name = LS_L2_PORT, .interface = LS_L2_INTERFACE, .ops = &l2_ops },
    { .name = PARTITION_PROFILE_PORT, .interface = PARTITION_PROFILE_INTERFACE, .ops = &profile_ops },
    { .name = PARTITION_HALF_PORT, .interface = PARTITION_HALF_INTERFACE, .ops = &partition_half },
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .offset = offsetof(partition, dram) },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .ops = &reply_ops },
};

static const ls_block_type l2_cycle = {
    .abi = LS_ABI_VERSION,
    .slot = LS_L2_SLOT,
    .name = "cycle",
    .help = "sectored write-back slices with queues, simulated cycle by cycle",
    .spec_size = sizeof(partition_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(partition),
    .rows = partition_rows,
    .row_count = PARTITION_ROWS,
    .metrics = metrics,
    .metric_count = LS_COUNT_OF(metrics),
    .counters_offset = offsetof(partition, n),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = partition_init,
};
LS_REGISTER_BLOCK(l2_cycle);

bool partition_is_model(const ls_block_type *model)
{
    return model == &l2_cycle;
}
