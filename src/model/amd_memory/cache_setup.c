/* cache_setup.c: a cache's keys, counters, memory and wiring. */
#include "model/amd_memory/cache_state.h"

#include "model/cache/tag_store_state.h"

/* Answers on their way, beyond the ones that limits name: as many as a port can take during a hit. */
static uint64_t nodes_for(const line_cache_spec *spec)
{
    uint64_t hits = spec->accesses_per_cycle * (spec->directory_cycles + spec->data_cycles + 2);
    uint64_t targets = spec->mshr_entries * (spec->mshr_targets < 16 ? spec->mshr_targets : 16);
    uint64_t pending = spec->pending != 0 ? spec->pending : 64; /* 0: an instruction cache, without the key */
    return hits + targets + pending + spec->queue_entries + 16;
}

static ls_status check(const line_cache_spec *spec, const char *name, ls_error *err)
{
    uint64_t lines = spec->size_kib * 1024 / spec->line_bytes;
    if (spec->line_bytes != 64 && spec->line_bytes != 128)
        return ls_fail(err, LS_ERR_INPUT, "%s: line_bytes is %llu, it must be 64 or 128", name,
                       (unsigned long long)spec->line_bytes);
    if (lines % spec->ways != 0 || lines == 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: %llu KiB are %llu lines, which %llu ways do not divide", name,
                       (unsigned long long)spec->size_kib, (unsigned long long)lines,
                       (unsigned long long)spec->ways);
    if (lines > UINT32_MAX / 2)
        return ls_fail(err, LS_ERR_INPUT, "%s: %llu KiB are too many lines", name,
                       (unsigned long long)spec->size_kib);
    if (spec->banks != 0 && (spec->banks & (spec->banks - 1)) != 0)
        return ls_fail(err, LS_ERR_INPUT, "%s: banks is %llu, it must be 0 or a power of two", name,
                       (unsigned long long)spec->banks);
    if (spec->accesses_per_cycle > 1 && spec->line_cycles.num > spec->line_cycles.den)
        return ls_fail(err, LS_ERR_INPUT,
                       "%s: line_cycles is above 1 and accesses_per_cycle is %llu: with both no rate is meant",
                       name, (unsigned long long)spec->accesses_per_cycle);
    return LS_OK;
}

static ls_status allocate(line_cache *c, ls_domain *domain, ls_error *err)
{
    const line_cache_spec *spec = c->spec;
    uint32_t nodes = (uint32_t)nodes_for(spec), sends = 1;
    uint32_t lines = (uint32_t)(spec->size_kib * 1024 / spec->line_bytes), ways = (uint32_t)spec->ways;
    while (sends < spec->queue_entries)
        sends *= 2;
    c->send_mask = sends - 1;
    c->send_room = (uint32_t)spec->queue_entries;
    c->sends = ls_domain_alloc(domain, sends * sizeof *c->sends);
    c->nodes = ls_domain_alloc(domain, nodes * sizeof *c->nodes);
    c->fetches = ls_domain_alloc(domain, spec->mshr_entries * sizeof *c->fetches);
    c->bank_free = ls_domain_alloc(domain, (spec->banks + 1) * sizeof *c->bank_free);
    if (c->sends == NULL || c->nodes == NULL || c->fetches == NULL || c->bank_free == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory");
    ls_status status = store_init(&c->store, lines / ways, ways, (uint32_t)spec->line_bytes, spec->replacement,
                                  &spec->hash, domain, err);
    if (status != LS_OK)
        return status;
    status = prefetch_create(&spec->prefetch, (uint32_t)spec->line_bytes, domain, &c->prefetch, err);
    if (status != LS_OK)
        return status;
    c->node_pool = c->fetch_pool = INDEX_POOL_NEW;
    c->hits.list = c->fills.list = INDEX_LIST_EMPTY;
    c->flush_node = INDEX_NONE;
    c->nodes_left = nodes;
    c->hits.due = c->fills.due = c->send_due = c->wait_due = LS_CYCLE_MAX;
    return LS_OK;
}

static ls_status cache_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    line_cache *c = state;
    c->spec = spec;
    c->name = ls_block_name(block);
    c->region = ls_block_region(block);
    c->tap = ls_block_tap(block);
    c->width = (uint32_t)c->spec->accesses_per_cycle;
    c->policy = c->spec->write_policy;
    c->directory_cycles = (uint32_t)c->spec->directory_cycles;
    c->hit_cycles = (uint32_t)(c->spec->directory_cycles + c->spec->data_cycles);
    /* Whole requests per cycle are counted; only a rate between those needs fractions. */
    ls_ratio each = c->spec->line_cycles;
    if (each.num > each.den)
        c->line_cost = ((each.num << CACHE_FRACTION) + each.den / 2) / each.den;
    c->bank_mask = c->spec->banks != 0 ? (uint32_t)c->spec->banks - 1 : 0;
    ls_status status = check(c->spec, c->name, err);
    if (status != LS_OK)
        return status;
    if (allocate(c, ls_region_domain(c->region), err) != LS_OK)
        return ls_error_prefix(err, "cache '%s'", c->name);
    ls_event_init(&c->event, line_cache_event, c);
    return LS_OK;
}

bool line_cache_is_model(const ls_block_type *type)
{
    return type->init == cache_init;
}

/* --- wiring --- */

static ls_status set_below(void *self, ls_block *block, ls_block *memory, ls_error *err)
{
    line_cache *c = self;
    return ls_line_join_below(block, c->store.line_bytes, memory, &line_cache_client, &c->below, err);
}

static void set_home(void *self, const ls_memory *memory)
{
    line_cache *c = self;
    c->home = true;
    c->hit_flags = LS_LINE_FROM_L2;
    c->fill_flags = LS_LINE_FROM_DRAM;
    c->memory = memory;
}

ls_status line_cache_set_pages(ls_block *cache, const ls_memory *memory, ls_error *err)
{
    if (!line_cache_is_model(ls_block_type_of(cache)))
        return ls_fail(err, LS_ERR_UNSUPPORTED, "%s: the L2 of an XCD must be model 'lines', not '%s'",
                       ls_block_name(cache), ls_block_type_of(cache)->name);
    line_cache *c = ls_block_state(cache);
    c->hit_flags = LS_LINE_FROM_L2;
    c->fill_flags = LS_LINE_FROM_DRAM;
    c->memory = memory;
    return LS_OK;
}

static void set_passing(void *self, uint32_t flags)
{
    line_cache *c = self;
    c->passing = flags;
}

static void pass_invalidates(void *self)
{
    line_cache *c = self;
    c->passes_invalidates = true;
}

static void set_map(void *self, const mem_map *map)
{
    line_cache *c = self;
    c->mapped = true;
    c->map = *map;
    c->plain_low = (UINT64_C(1) << map->interleave_shift) - 1;
    c->plain_shift = map->channel_shift;
    c->plain = map->power_of_two && map->slices_per_channel == 1;
    /* Maps move bits, so bit by bit is enough; above 2^40 there is no memory. */
    for (uint32_t bit = 0; bit < 40 && c->plain; bit++) {
        bool is_channel = bit >= map->interleave_shift && bit < map->interleave_shift + map->channel_shift;
        uint64_t address = UINT64_C(1) << bit;
        uint64_t index = (address & c->plain_low) | (address >> c->plain_shift & ~c->plain_low);
        c->plain = mem_map_place(map, address).local == (is_channel ? 0 : index);
    }
}

static bool writes_back(const void *self)
{
    const line_cache *c = self;
    return c->policy == WRITE_BACK;
}

static void discard(void *self, uint64_t address, uint64_t bytes)
{
    line_cache *c = self;
    uint64_t line_bytes = c->store.line_bytes, first = address & ~(line_bytes - 1), last = address + bytes;
    if (bytes == 0 || c->store.tags.present == 0)
        return;
    if ((last - first) / line_bytes < store_count(&c->store)) {
        for (uint64_t at = first; at < last; at += line_bytes) {
            uint32_t line = store_find(&c->store, at);
            if (line != STORE_NONE)
                store_drop(&c->store, line);
        }
        return;
    }
    for (uint32_t line = 0; line < store_count(&c->store); line++)
        if (!store_is_empty(&c->store, line) && store_address(&c->store, line) - first < last - first)
            store_drop(&c->store, line);
}

static uint64_t dirty_lines(const void *self)
{
    const line_cache *c = self;
    uint64_t count = 0;
    for (uint32_t line = 0; line < store_count(&c->store); line++)
        count += !store_is_empty(&c->store, line) && store_is_dirty(&c->store, line);
    return count;
}

bool line_cache_look(const ls_block *block, uint64_t line_address, uint8_t *data, uint64_t valid[2],
                     uint64_t dirty[2])
{
    if (!line_cache_is_model(ls_block_type_of(block)))
        return false;
    const line_cache *c = ls_block_state((ls_block *)(uintptr_t)block);
    uint32_t line = c->store.tags.present != 0 ? store_find(&c->store, line_address) : STORE_NONE;
    if (line == STORE_NONE)
        return false;
    memcpy(valid, c->store.lines[line].valid, sizeof c->store.lines[line].valid);
    memcpy(dirty, c->store.lines[line].dirty, sizeof c->store.lines[line].dirty);
    memcpy(data, store_bytes(&c->store, line), c->store.line_bytes);
    return true;
}

static void overlay_line(const line_cache *c, uint32_t line, uint64_t address, uint64_t bytes, bool only_newer,
                         uint8_t *to)
{
    const uint64_t at = store_address(&c->store, line);
    const uint64_t *mask = only_newer ? c->store.lines[line].dirty : c->store.lines[line].valid;
    const uint8_t *data = store_bytes(&c->store, line);
    for (uint64_t i = 0; i < c->store.line_bytes; i++)
        if ((mask[i / 64] >> i % 64 & 1) && at + i - address < bytes)
            to[at + i - address] = data[i];
}

void line_cache_overlay(const ls_block *block, uint64_t address, uint64_t bytes, bool only_newer, uint8_t *to)
{
    if (!line_cache_is_model(ls_block_type_of(block)))
        return;
    const line_cache *c = ls_block_state((ls_block *)(uintptr_t)block);
    const uint64_t line_bytes = c->store.line_bytes, first = address & ~(line_bytes - 1),
                   last = address + bytes;
    if (bytes == 0 || c->store.tags.present == 0)
        return;
    if ((last - first) / line_bytes < store_count(&c->store)) {
        for (uint64_t at = first; at < last; at += line_bytes) {
            uint32_t line = store_find(&c->store, at);
            if (line != STORE_NONE)
                overlay_line(c, line, address, bytes, only_newer, to);
        }
        return;
    }
    for (uint32_t line = 0; line < store_count(&c->store); line++)
        if (!store_is_empty(&c->store, line) && store_address(&c->store, line) - first < last - first)
            overlay_line(c, line, address, bytes, only_newer, to);
}

void line_cache_patch(ls_block *block, uint64_t line_address, uint64_t offset, const uint8_t *from,
                      uint64_t bytes)
{
    if (!line_cache_is_model(ls_block_type_of(block)))
        return;
    line_cache *c = ls_block_state(block);
    uint32_t line = c->store.tags.present != 0 ? store_find(&c->store, line_address) : STORE_NONE;
    if (line == STORE_NONE)
        return;
    const uint64_t *valid = c->store.lines[line].valid;
    for (uint64_t i = offset; i < offset + bytes; i++)
        if (valid[i / 64] >> i % 64 & 1)
            store_bytes(&c->store, line)[i] = from[i - offset];
}

bool line_cache_publish(const ls_block *block, line_cache_put put, void *self)
{
    if (!line_cache_is_model(ls_block_type_of(block)))
        return false;
    const line_cache *c = ls_block_state((ls_block *)(uintptr_t)block);
    for (uint32_t line = 0; c->store.tags.present != 0 && line < store_count(&c->store); line++)
        if (!store_is_empty(&c->store, line) && store_is_dirty(&c->store, line))
            put(self, store_address(&c->store, line), store_bytes(&c->store, line),
                c->store.lines[line].dirty);
    return true;
}

bool line_cache_refresh(ls_block *block, line_cache_get get, void *self)
{
    if (!line_cache_is_model(ls_block_type_of(block)))
        return false;
    line_cache *c = ls_block_state(block);
    for (uint32_t line = 0; c->store.tags.present != 0 && line < store_count(&c->store); line++) {
        uint8_t data[LS_LINE_BYTES_MAX];
        if (!store_is_empty(&c->store, line) && get(self, store_address(&c->store, line), data))
            store_merge_bytes(store_bytes(&c->store, line), data, c->store.lines[line].valid);
    }
    return true;
}

static const ls_line_cache_ops cache_ops = { .set_below = set_below,
                                             .set_home = set_home,
                                             .set_passing = set_passing,
                                             .set_map = set_map,
                                             .writes_back = writes_back,
                                             .discard = discard,
                                             .dirty_lines = dirty_lines,
                                             .pass_invalidates = pass_invalidates };

/* --- keys and counters --- */

/* clang-format off */
#define KEY_SPEC line_cache_spec

static const ls_param params[] = {
    KEY("size_kib", size_kib, "KiB", "16", 1, 1048576, "bytes of all lines"),
    KEY("ways", ways, "lines", "4", 1, 256, "lines per set"),
    KEY("line_bytes", line_bytes, "bytes", "64", 64, 128, "of a line: 64 (GCN) or 128 (RDNA), the same in all caches of a machine"),
    KEY("banks", banks, "", "0", 0, 64, "each takes one request per cycle (a power of two; 0: no banks)"),
    KEY("accesses_per_cycle", accesses_per_cycle, "requests", "1", 1, 64, "requests taken per cycle"),
    LS_PARAM_RATIO(line_cache_spec, line_cycles, "line_cycles", "cycles", "1", 1, 1024,
                   "of the data path for each request; above 1 only with accesses_per_cycle 1"),
    KEY("directory_cycles", directory_cycles, "cycles", "1", 0, 1000, "to know whether a request hits"),
    KEY("data_cycles", data_cycles, "cycles", "1", 0, 1000, "from a hit to its answer"),
    KEY("fill_cycles", fill_cycles, "cycles", "1", 0, 1000, "from a line's or an answer's arrival from below to answers"),
    KEY("mshr_entries", mshr_entries, "lines", "16", 1, 4096, "lines on their way from below"),
    KEY("mshr_targets", mshr_targets, "requests", "16", 1, 1024, "requests that wait for one line"),
    KEY("queue_entries", queue_entries, "messages", "16", 2, 4096, "messages that wait to go below"),
    KEY_CHOICE("write_policy", write_policy, "through", write_policy_names, "treatment of writes"),
    REPLACEMENT_PARAM(line_cache_spec, replacement, ""),
    SET_HASH_PARAMS(line_cache_spec, hash, "", "none"),
    PREFETCH_PARAMS(line_cache_spec, prefetch, ""),
    /* Not of the instruction cache: it takes nothing but reads, and keeps the lines of all. */
    KEY("pending", pending, "requests", "64", 1, 4096, "writes, atomics and passed reads on their way below"),
    /* Of L2 alone: it performs atomics. */
    KEY("atomic_cycles", atomic_cycles, "cycles", "1", 0, 64, "of a bank for each operand of an atomic"),
};
#define PARAMS LS_COUNT_OF(params)

/* A cache that takes one request per cycle has a bank for it. In L2 atomics keep banks busy for longer. */
#define BANKS_NEED { "banks", "accesses_per_cycle!=1" }
#define POLICY_NEEDS { "hash_masks", "hash=bits" }, PREFETCH_NEEDS("")
static const ls_need home_needs[] = { POLICY_NEEDS };
static const ls_need inner_needs[] = { BANKS_NEED, POLICY_NEEDS };
static const ls_need l1_needs[] = { { "*", "/arrays!=0" }, BANKS_NEED, POLICY_NEEDS };
static const ls_need memory_needs[] = { { "*", "/memory.cached=true" }, { "pending", "write_policy!=back" }, BANKS_NEED, POLICY_NEEDS };

#define COUNT(field_, unit_, help_) LS_METRIC_COUNTER(line_cache_counters, field_, unit_, help_)

static const ls_metric metrics[] = {
    COUNT(reads, "requests", "reads taken"),
    COUNT(read_hits, "requests", "reads whose line was present"),
    COUNT(read_misses, "requests", "reads that went below"),
    COUNT(read_mshr_hits, "requests", "reads of a line on its way"),
    COUNT(writes, "requests", "writes taken"),
    COUNT(write_hits, "requests", "writes to a line that was present"),
    COUNT(write_misses, "requests", "writes to a line that was not"),
    COUNT(write_mshr_hits, "requests", "writes to a line on its way"),
    COUNT(scalar_reads, "requests", "of the reads, scalar ones"),
    COUNT(scalar_hits, "requests", "of the read hits, scalar ones"),
    COUNT(code_reads, "requests", "of the reads, instruction fetches"),
    COUNT(code_hits, "requests", "of the read hits, instruction fetches"),
    COUNT(atomics, "requests", "atomic requests"),
    COUNT(passed_reads, "requests", "of the read misses, those that miss on purpose"),
    COUNT(fills, "lines", "lines that came from below"),
    COUNT(evictions, "lines", "lines that went for others"),
    COUNT(writebacks, "lines", "dirty lines written below"),
    PREFETCH_METRICS(line_cache_counters, prefetch, "", "lines"),
    COUNT(invalidates, "requests", "invalidations"),
    COUNT(flushes, "requests", "flushes"),
    COUNT(faults, "requests", "requests for pages that are not mapped, or not for that"),
    COUNT(refused_port, "tries", "no access left in that cycle"),
    COUNT(refused_bank, "tries", "bank busy"),
    COUNT(refused_mshr, "tries", "no MSHR, or too many requests at one"),
    COUNT(refused_line, "tries", "every line of the set waits for a fill"),
    COUNT(refused_room, "tries", "too much waits below"),
    COUNT(answers, "requests", "reads and atomics answered"),
    COUNT(latency_cycles, "cycles", "from taken to answered, of all answers"),
    LS_METRIC_RATIO(line_cache_counters, "average_latency", latency_cycles, answers, "cycles",
                    "latency_cycles / answers"),
    LS_METRIC_RATIO(line_cache_counters, "read_hit_rate", read_hits, reads, "", "read_hits / reads"),
};
/* clang-format on */

static const ls_port_decl ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &line_cache_memory },
    { .name = LS_LINE_CACHE_PORT, .interface = LS_LINE_CACHE_INTERFACE, .ops = &cache_ops },
};

static uint64_t line_count(const void *self)
{
    return store_count(self);
}

static uint64_t byte_count(const void *self)
{
    const store *s = self;
    return (uint64_t)store_count(s) * s->line_bytes;
}

static const ls_state_row store_rows[] = {
    LS_STATE_PART(store, tags, tag_store_rows),
    LS_STATE_ARRAY(store, lines, line_count),
    LS_STATE_ARRAY(store, bytes, byte_count),
    LS_STATE_FIXED_SPAN(store, line_bytes, full),
};

static uint64_t one(const void *self)
{
    (void)self;
    return 1;
}

static uint64_t node_count(const void *self)
{
    return nodes_for(((const line_cache *)self)->spec);
}

static uint64_t fetch_count(const void *self)
{
    return ((const line_cache *)self)->spec->mshr_entries;
}

static uint64_t send_length(const void *self)
{
    return (uint64_t)((const line_cache *)self)->send_mask + 1;
}

static uint64_t bank_count(const void *self)
{
    return ((const line_cache *)self)->spec->banks + 1;
}

static uint64_t waiter_length(const void *self)
{
    return (uint64_t)((const line_cache *)self)->client_mask + 1;
}

static uint64_t client_count(const void *self)
{
    return ((const line_cache *)self)->client_count;
}

static const ls_state_row client_rows[] = {
    LS_STATE_FIXED_SPAN(cache_client, ops, delay),
    LS_STATE_DATA_SPAN(cache_client, waiting, again),
};

static const ls_state_row rows[] = {
    LS_STATE_FIXED_SPAN(line_cache, below, region),
    LS_STATE_DATA(line_cache, n),
    LS_STATE_PART(line_cache, store, store_rows),
    LS_STATE_ARRAY_OF(line_cache, prefetch, one, prefetch_rows),
    LS_STATE_FIXED_SPAN(line_cache, width, plain_low),
    LS_STATE_ARRAY(line_cache, nodes, node_count),
    LS_STATE_DATA_SPAN(line_cache, node_pool, nodes_left),
    LS_STATE_ARRAY(line_cache, fetches, fetch_count),
    LS_STATE_DATA_SPAN(line_cache, fetch_pool, fills_last),
    LS_STATE_ARRAY(line_cache, sends, send_length),
    LS_STATE_DATA_SPAN(line_cache, send_head, port_time),
    LS_STATE_ARRAY(line_cache, bank_free, bank_count),
    LS_STATE_DATA_SPAN(line_cache, bank_mask, flush_next),
    LS_STATE_EVENT(line_cache, event),
    LS_STATE_DATA_SPAN(line_cache, stepping, client_mask),
    LS_STATE_ARRAY(line_cache, waiters, waiter_length),
    LS_STATE_ARRAY_OF(line_cache, clients, client_count, client_rows),
};

/* The same block in each slot where it can stand, so that reports distinguish levels. In slot l2 it is `lines`: `cycle` is
 * the L2 of the other machine. */
/* clang-format off */
#define CACHE_TYPE(type_, slot_, name_, param_count_, needs_, need_count_)                                           \
    static const ls_block_type type_ = {                                                                      \
        .abi = LS_ABI_VERSION,                                                                                \
        .slot = (slot_),                                                                                      \
        .name = (name_),                                                                                      \
        .help = "set-associative cache that holds bytes, with MSHRs, banks and write policies",               \
        .spec_size = sizeof(line_cache_spec),                                                                 \
        .params = params,                                                                                     \
        .param_count = (param_count_),                                                                        \
        .needs = (needs_),                                                                                    \
        .need_count = (need_count_),                                                                          \
        .state_size = sizeof(line_cache),                                                                     \
        .metrics = metrics,                                                                                   \
        .metric_count = LS_COUNT_OF(metrics),                                                                 \
        .counters_offset = offsetof(line_cache, n),                                                           \
        .ports = ports,                                                                                       \
        .port_count = LS_COUNT_OF(ports),                                                                     \
        .rows = rows,                                                                                         \
        .row_count = LS_COUNT_OF(rows),                                                                       \
        .init = cache_init,                                                                                   \
        .waits = line_cache_waits,                                                                            \
    };                                                                                                        \
    LS_REGISTER_BLOCK(type_)
/* clang-format on */

CACHE_TYPE(line_cache_cycle, LINE_CACHE_SLOT, "cycle", PARAMS, home_needs, LS_COUNT_OF(home_needs));
CACHE_TYPE(line_cache_vector, LS_VECTOR_CACHE_SLOT, "cycle", PARAMS - 1, inner_needs,
           LS_COUNT_OF(inner_needs));
CACHE_TYPE(line_cache_scalar, LS_SCALAR_CACHE_SLOT, "cycle", PARAMS - 1, inner_needs,
           LS_COUNT_OF(inner_needs));
CACHE_TYPE(line_cache_code, LS_INSTRUCTION_CACHE_SLOT, "cycle", PARAMS - 2, inner_needs,
           LS_COUNT_OF(inner_needs));
CACHE_TYPE(line_cache_l1, LS_L1_CACHE_SLOT, "cycle", PARAMS - 1, l1_needs, LS_COUNT_OF(l1_needs));
CACHE_TYPE(line_cache_l2, LS_L2_CACHE_SLOT, "lines", PARAMS, home_needs, LS_COUNT_OF(home_needs));
CACHE_TYPE(line_cache_memory_side, LS_MEMORY_CACHE_SLOT, "cycle", PARAMS - 1, memory_needs,
           LS_COUNT_OF(memory_needs));
