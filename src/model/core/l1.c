/* l1.c: the built-in model of slot "core.l1": a sectored cache (model/cache). The core calls it directly; its table is
 * for cores of plug-ins.
 *
 * Three keys may say how large it is: core.unified_kib (L1 has the part that shared memory leaves), size_kib (it
 * has a size of its own), or sets and ways alone. Keys that contradict each other are refused. */
#include "model/core/l1.h"

#include "model/cache/sector_cache_state.h"

#include "model/keys.h"

#define LINE_BYTES 128u
#define DEFAULT_WAYS 256u
#define WAYS_MAX 1024

/* --------------------------------------------------------------------------------------------------- size */

static uint64_t way_bytes(const l1_spec *spec)
{
    return spec->cache.sets * LINE_BYTES;
}

static ls_status check_whole(const l1_spec *spec, const char *key, uint64_t kib, ls_error *err)
{
    uint64_t bytes = kib * 1024, ways = bytes / way_bytes(spec);
    if (bytes % way_bytes(spec) != 0 || ways == 0 || ways > WAYS_MAX)
        return ls_fail(
            err, LS_ERR_INPUT,
            "%s is %llu KiB: with %llu sets of 128-byte lines that is no whole number of ways from 1 to %u",
            key, (unsigned long long)kib, (unsigned long long)spec->cache.sets, WAYS_MAX);
    if (spec->cache.ways != 0 && spec->cache.ways != ways)
        return ls_fail(
            err, LS_ERR_INPUT,
            "%s is %llu KiB, but l1.sets and l1.ways (%llu x %llu lines of 128 bytes) are %llu bytes: "
            "leave l1.ways out, or set it to %llu",
            key, (unsigned long long)kib, (unsigned long long)spec->cache.sets,
            (unsigned long long)spec->cache.ways, (unsigned long long)(way_bytes(spec) * spec->cache.ways),
            (unsigned long long)ways);
    return LS_OK;
}

ls_status l1_check(const l1_spec *spec, const ls_l1_wiring *w, ls_error *err)
{
    uint64_t shared = w->shared_kib, unified = w->unified_kib, size = spec->size_kib;
    if ((spec->cache.sets & (spec->cache.sets - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "l1.sets is %llu, it must be a power of two",
                       (unsigned long long)spec->cache.sets);
    if (unified != 0 && shared > unified)
        return ls_fail(err, LS_ERR_INPUT, "shared_kib (%llu) is more than unified_kib (%llu)",
                       (unsigned long long)shared, (unsigned long long)unified);
    for (size_t i = 0; unified != 0 && i < w->shared_options_kib.count; i++)
        if (w->shared_options_kib.at[i] > unified)
            return ls_fail(err, LS_ERR_INPUT,
                           "shared_options_kib has %llu, which is more than unified_kib (%llu)",
                           (unsigned long long)w->shared_options_kib.at[i], (unsigned long long)unified);
    if (unified != 0 && size != 0 && size + shared > unified)
        return ls_fail(
            err, LS_ERR_INPUT,
            "l1.size_kib (%llu) and shared_kib (%llu) together are more than unified_kib (%llu): lower one "
            "of them, or set unified_kib to 0",
            (unsigned long long)size, (unsigned long long)shared, (unsigned long long)unified);
    if (size != 0)
        return check_whole(spec, "l1.size_kib", size, err);
    return unified != 0 ? check_whole(spec, "unified_kib", unified, err) : LS_OK;
}

sector_cache_spec l1_whole(const l1_spec *spec, const ls_l1_wiring *wiring)
{
    sector_cache_spec whole = spec->cache;
    uint64_t kib = spec->size_kib != 0 ? spec->size_kib : wiring->unified_kib;
    if (kib != 0)
        whole.ways = kib * 1024 / way_bytes(spec);
    else if (whole.ways == 0)
        whole.ways = DEFAULT_WAYS;
    return whole;
}

/* Ways that are left when shared memory takes the smallest option that holds `shared_bytes`. */
uint32_t l1_ways(const l1_spec *spec, const ls_l1_wiring *w, uint64_t shared_bytes)
{
    uint32_t ways = (uint32_t)l1_whole(spec, w).ways;
    if (w->unified_kib == 0 || spec->size_kib != 0)
        return ways;
    uint64_t chosen = w->unified_kib;
    for (size_t i = 0; i < w->shared_options_kib.count; i++) {
        uint64_t option = w->shared_options_kib.at[i];
        if (option * 1024 >= shared_bytes && option < chosen)
            chosen = option;
    }
    /* Rounded to the nearest whole way, at least one. */
    uint64_t left = ((w->unified_kib - chosen) * 2 * ways + w->unified_kib) / (2 * w->unified_kib);
    return left == 0 ? 1 : (uint32_t)left;
}

/* ------------------------------------------------------------------------------------------ thread blocks */

void l1_begin(l1_sectored *l1, uint64_t shared_bytes)
{
    l1->idle = false;
    if (sector_cache_pending_fills(&l1->cache) == 0 && !l1->cleaning)
        sector_cache_set_ways(&l1->cache, l1_ways(l1->spec, &l1->wiring, shared_bytes));
}

/* A thread block that came meanwhile keeps the lines that are there. */
static void clean_some(l1_sectored *l1)
{
    if (sector_cache_clean(&l1->cache, &l1->cursor))
        return;
    l1->cleaning = false;
    ls_domain_pending(l1->domain, -1);
    if (l1->idle && sector_cache_pending_fills(&l1->cache) == 0)
        sector_cache_invalidate(&l1->cache);
}

void l1_clean_on(l1_sectored *l1)
{
    if (l1->cleaning)
        clean_some(l1);
}

/* Writes dirty lines back, a miss queue at a time, then empties the cache. Lines follow as others leave the
 * miss queue. An idle core waits for no fill, so a full queue holds only write-backs; it has at least one
 * until all lines are clean. */
static void clean(l1_sectored *l1)
{
    l1->cleaning = true;
    l1->cursor = 0;
    ls_domain_pending(l1->domain, 1);
    clean_some(l1);
}

void l1_end(l1_sectored *l1)
{
    l1->idle = true;
    if (!l1->spec->flush)
        return;
    if (sector_cache_pending_fills(&l1->cache) != 0) {
        if (l1->cache.prefetch != NULL)
            sector_cache_invalidate_later(&l1->cache);
    } else if (l1->cache_spec.write_policy == WRITE_BACK && l1->cache.dirty_lines != 0) {
        clean(l1);
    } else {
        sector_cache_invalidate(&l1->cache);
    }
}

/* --------------------------------------------------------------------------------------------- the table */

static void describe(const void *self, ls_l1_shape *out)
{
    const l1_spec *spec = ((const l1_sectored *)self)->spec;
    *out = (ls_l1_shape){ .banks = (uint32_t)spec->banks, .latency_cycles = (uint32_t)spec->latency_cycles };
}

static ls_status attach(void *self, const ls_l1_wiring *wiring, ls_error *err)
{
    l1_sectored *l1 = self;
    l1->wiring = *wiring;
    ls_status status = l1_check(l1->spec, wiring, err);
    if (status != LS_OK)
        return status;
    l1->cache_spec = l1_whole(l1->spec, wiring);
    if (l1->counters == NULL)
        l1->counters = &l1->own_counters;
    if (sector_cache_init(&l1->cache, &l1->cache_spec, l1->counters, l1->domain, err) != LS_OK)
        return ls_error_prefix(err, "l1");
    l1->global = ls_domain_alloc(l1->domain, (l1->cache.miss_mask + 1) * sizeof *l1->global);
    return l1->global != NULL ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for L1");
}

static ls_l1_outcome access_sector(void *self, const ls_l1_access *a, ls_cycle now)
{
    l1_sectored *l1 = self;
    sector_cache *c = &l1->cache;
    uint32_t before = c->miss_tail;
    (void)now;
    sector_cache_set_global(c, a->global);
    sector_cache_outcome outcome = a->store
                                       ? sector_cache_write(c, a->address, a->address, a->byte_mask, a->token)
                                       : sector_cache_read(c, a->address, a->address, a->token, false);
    for (; before != c->miss_tail; before++)
        l1->global[before & c->miss_mask] = a->global;
    if (outcome == SECTOR_CACHE_FAIL)
        return LS_L1_FAIL;
    bool stays = a->store ? l1->cache_spec.write_policy == WRITE_BACK : outcome == SECTOR_CACHE_HIT;
    return stays ? LS_L1_HIT : LS_L1_MISS;
}

static bool request(void *self, ls_l1_request *out, ls_cycle now)
{
    l1_sectored *l1 = self;
    sector_cache *c = &l1->cache;
    const sector_cache_miss *miss = sector_cache_front_miss(c);
    (void)now;
    if (miss == NULL)
        return false;
    bool prefetch = miss->kind == SECTOR_CACHE_MISS_READ && miss->token == SECTOR_CACHE_NONE;
    *out = (ls_l1_request){ .address = miss->address,
                            .byte_mask = miss->kind == SECTOR_CACHE_MISS_WRITE ? miss->byte_mask : 0,
                            .token = miss->kind == SECTOR_CACHE_MISS_WRITE ? miss->token : LS_L1_NONE,
                            .write = miss->kind != SECTOR_CACHE_MISS_READ,
                            .global = prefetch || l1->global[c->miss_head & c->miss_mask] };
    if (miss->kind != SECTOR_CACHE_MISS_WRITEBACK) {
        sector_cache_pop_miss(c);
        return true;
    }
    out->global = false;
    out->address = sector_cache_pop_sector(c, &out->byte_mask);
    l1_clean_on(l1);
    return true;
}

static void fill(void *self, uint64_t address, ls_cycle now)
{
    (void)now;
    sector_cache_fill(&((l1_sectored *)self)->cache, address);
}

static bool answer(void *self, uint32_t *token, ls_cycle now)
{
    l1_sectored *l1 = self;
    (void)now;
    return sector_cache_next_ready(&l1->cache, token);
}

static ls_cycle next(const void *self, ls_cycle now)
{
    const sector_cache *c = &((const l1_sectored *)self)->cache;
    return sector_cache_has_ready(c) || sector_cache_front_miss(c) != NULL ? now + 1 : LS_CYCLE_MAX;
}

static void begin(void *self, uint64_t shared_bytes)
{
    l1_begin(self, shared_bytes);
}

static void end(void *self)
{
    l1_end(self);
}

static const ls_l1_ops ops = { .describe = describe,
                               .attach = attach,
                               .access = access_sector,
                               .request = request,
                               .fill = fill,
                               .answer = answer,
                               .next = next,
                               .begin = begin,
                               .end = end };

l1_sectored *l1_built_in(const ls_port *port)
{
    return port->ops == &ops ? port->self : NULL;
}

/* ---------------------------------------------------------------------------------------------- the block */

static ls_status init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    l1_sectored *l1 = state;
    (void)err;
    l1->spec = spec;
    l1->domain = ls_region_domain(ls_block_region(block));
    l1->idle = true;
    return LS_OK;
}

/* clang-format off */
#define KEY_SPEC l1_spec

static const ls_param params[] = {
    KEY("banks", banks, "", "4", 1, LS_L1_BANKS, "banks, by 32-byte sectors"),
    KEY("latency_cycles", latency_cycles, "cycles", "20", 1, LS_L1_LATENCY, "from the unit to the tags"),
    KEY("sets", cache.sets, "", "4", 1, 4096, "sets (a power of two)"),
    KEY("size_kib", size_kib, "KiB", "0", 0, 1024,
        "fixed size of L1, whatever the carve-out; 0: as unified_kib or sets and ways say"),
    KEY("ways", cache.ways, "", "0", 0, WAYS_MAX,
        "lines of 128 bytes per set; 0: as many as size_kib or unified_kib are, or 256"),
    KEY("mshr_entries", cache.mshr_entries, "sectors", "384", 1, 4096, "sectors that can be on their way"),
    KEY("mshr_merge", cache.mshr_merge, "requests", "48", 1, 2048, "requests per sector on its way"),
    KEY("miss_queue", cache.miss_queue, "requests", "16", 2, 1024, "requests waiting to be sent"),
    KEY("dirty_limit_percent", cache.dirty_limit_percent, "%", "25", 0, 100,
        "written lines are spared from eviction while fewer than this share is written"),
    KEY_CHOICE("write_policy", cache.write_policy, "through", write_policy_names,
               "what a store does to L1"),
    SECTOR_CACHE_POLICY_PARAMS(l1_spec, cache, "", "none"),
    LS_PARAM_BOOL(l1_spec, flush, true, "L1 is emptied when the core becomes idle"),
};

static const ls_need needs[] = {
    SECTOR_CACHE_POLICY_NEEDS("", "/core.memory=cycle"),
    { "ways", "/core.unified_kib=0 size_kib=0" },
    { "dirty_limit_percent", "write_policy=back" },
};
/* clang-format on */

static uint64_t global_length(const void *self)
{
    return (uint64_t)((const l1_sectored *)self)->cache.miss_mask + 1;
}

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(l1_sectored, spec, wiring),
    LS_STATE_PART(l1_sectored, cache, sector_cache_rows),
    LS_STATE_FIXED_SPAN(l1_sectored, cache_spec, counters),
    LS_STATE_DATA_SPAN(l1_sectored, own_counters, idle),
    LS_STATE_ARRAY(l1_sectored, global, global_length),
};

static const ls_port_decl ports[] = { { .name = LS_L1_PORT, .interface = LS_L1_INTERFACE, .ops = &ops } };

static const ls_block_type sectored = {
    .abi = LS_ABI_VERSION,
    .slot = LS_L1_SLOT,
    .name = "sectored",
    .help = "lines of four sectors, with miss-status registers",
    .spec_size = sizeof(l1_spec),
    .params = params,
    .param_count = LS_COUNT_OF(params),
    .needs = needs,
    .need_count = LS_COUNT_OF(needs),
    .state_size = sizeof(l1_sectored),
    .rows = rows,
    .row_count = LS_COUNT_OF(rows),
    .ports = ports,
    .port_count = LS_COUNT_OF(ports),
    .init = init,
};
LS_REGISTER_BLOCK(sectored);
