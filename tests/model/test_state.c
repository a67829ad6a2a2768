/* test_state.c: sector caches above both DRAM models are saved at any time, loaded in another process with other
 * threads, and end with the same bits as without the interruption.
 *
 * The test starts itself again: `test FILE THREADS` loads the state in FILE, runs to the end and prints its
 * fingerprint. */
#include "model/dram_rig.h"

#include "base/hash.h"
#include "model/cache/sector_cache_state.h"
#include "model/dram/fixed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PARTITIONS = 6, FETCHES = 64, ACCESSES = 2000, LINES = 96 };

/* A cache over a DRAM channel, with random accesses of its own and some that a neighbour sends. */
typedef struct partition {
    ls_port dram;
    ls_region *region;
    ls_ticker ticker;
    const sector_cache_spec *spec;
    ls_link *next;
    ls_random random;
    uint64_t made, token;
    uint64_t address[FETCHES]; /* of the sectors that are being fetched */
    uint64_t free;             /* bit i: address[i] is free */
    uint64_t asked;            /* address that the neighbour wants; 0: none */
    ls_link *asked_by;         /* the link whose buffer entry it holds */
    uint64_t log;
    sector_cache cache;
    sector_cache_counters counters;
} partition;

static void note(partition *p, uint64_t value)
{
    p->log = (p->log ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    p->log ^= p->log >> 29;
}

static void access_cache(partition *p, uint64_t address)
{
    bool write = ls_random_below(&p->random, 3) == 0;
    sector_cache_set_global(&p->cache, ls_random_below(&p->random, 2) == 0);
    sector_cache_outcome outcome;
    if (write) {
        outcome = sector_cache_stall_write(&p->cache, address, (uint32_t)p->token);
        if (outcome == SECTOR_CACHE_HIT)
            outcome = sector_cache_write(&p->cache, address, address, (uint32_t)ls_random_next(&p->random) | 1,
                                         (uint32_t)p->token);
    } else {
        outcome = sector_cache_read(&p->cache, address, address, (uint32_t)p->token,
                                    ls_random_below(&p->random, 8) == 0);
    }
    p->token++;
    note(p, outcome);
}

/* Sends what the cache wants from below; false: it has to wait. */
static bool send_below(partition *p)
{
    const ls_dram_ops *dram = p->dram.ops;
    const sector_cache_miss *miss = sector_cache_front_miss(&p->cache);
    bool read = miss->kind == SECTOR_CACHE_MISS_READ;
    if (!dram->ready(p->dram.self, !read) || (read && p->free == 0))
        return false;
    uint64_t address = miss->address;
    uint32_t token = FETCHES, mask;
    if (read) {
        token = (uint32_t)__builtin_ctzll(p->free);
        p->free &= p->free - 1;
        p->address[token] = address;
    }
    if (miss->kind == SECTOR_CACHE_MISS_WRITEBACK)
        address = sector_cache_pop_sector(&p->cache, &mask);
    else
        sector_cache_pop_miss(&p->cache);
    uint64_t atom = address / SECTOR_BYTES;
    dram->push(p->dram.self, &(ls_dram_request){ .bank = (uint32_t)(atom / 4 % 8),
                                                 .row = (uint32_t)(atom / 64),
                                                 .column = (uint32_t)(atom % 4),
                                                 .token = token,
                                                 .write = !read,
                                                 .atoms = 1 });
    return true;
}

static bool partition_tick(void *self, ls_cycle now)
{
    partition *p = self;
    uint32_t token;
    while (sector_cache_next_ready(&p->cache, &token))
        note(p, now + token);
    while (sector_cache_has_retry(&p->cache)) {
        note(p, sector_cache_peek_retry(&p->cache));
        sector_cache_pop_retry(&p->cache);
    }
    while (sector_cache_front_miss(&p->cache) != NULL && send_below(p))
        continue;
    if (p->asked != 0) {
        access_cache(p, p->asked);
        p->asked = 0;
        ls_link_release(p->asked_by, 1);
        p->asked_by = NULL;
    }
    if (p->made < ACCESSES && ls_random_below(&p->random, 3) == 0) {
        p->made++;
        uint64_t address = SECTOR_CACHE_LINE_BYTES + ls_random_below(&p->random, LINES * 4) * SECTOR_BYTES;
        access_cache(p, address);
        uint64_t *message = ls_random_below(&p->random, 5) == 0 ? ls_link_send(p->next, 32) : NULL;
        if (message != NULL)
            *message = address;
    }
    return p->made < ACCESSES || sector_cache_front_miss(&p->cache) != NULL;
}

static void partition_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    partition *p = self;
    (void)now;
    p->asked = *(const uint64_t *)payload; /* one credit: the entry before it was given back */
    p->asked_by = link;
    ls_ticker_wake(&p->ticker);
}

static bool partition_room(void *self, uint32_t token)
{
    partition *p = self;
    (void)token;
    return ls_random_below(&p->random, 12) == 0; /* answers pile up */
}

static void partition_done(void *self, uint32_t token, bool write)
{
    partition *p = self;
    note(p, token);
    ls_ticker_wake(&p->ticker);
    if (write)
        return;
    sector_cache_fill(&p->cache, p->address[token]);
    p->free |= UINT64_C(1) << token;
}

static const ls_dram_reply_ops partition_reply = { .ready = partition_room, .done = partition_done };

static ls_status partition_init(ls_block *block, void *state, const void *spec, ls_error *err)
{
    partition *p = state;
    p->region = ls_block_region(block);
    ls_domain *domain = ls_region_domain(p->region);
    p->spec = spec;
    p->random = ls_random_split(ls_domain_random(domain), 1);
    p->free = UINT64_MAX;
    ls_status status = sector_cache_init(&p->cache, p->spec, &p->counters, domain, err);
    if (status == LS_OK)
        status = ls_ticker_add(p->region, &p->ticker, partition_tick, p, err);
    if (status == LS_OK)
        ls_ticker_wake(&p->ticker);
    return status;
}

static const ls_port_decl partition_ports[] = {
    { .name = "dram", .interface = LS_DRAM_INTERFACE, .offset = offsetof(partition, dram) },
    { .name = "reply", .interface = LS_DRAM_REPLY_INTERFACE, .ops = &partition_reply },
};

static const ls_state_row partition_rows[] = {
    LS_STATE_FIXED_SPAN(partition, dram, next),
    LS_STATE_DATA_SPAN(partition, random, asked),
    LS_STATE_LINK(partition, asked_by),
    LS_STATE_DATA(partition, log),
    LS_STATE_PART(partition, cache, sector_cache_rows),
    LS_STATE_DATA(partition, counters),
};

static const ls_block_type partition_type = {
    .abi = LS_ABI_VERSION,
    .slot = "test",
    .name = "partition",
    .spec_size = sizeof(sector_cache_spec),
    .state_size = sizeof(partition),
    .ports = partition_ports,
    .port_count = LS_COUNT_OF(partition_ports),
    .init = partition_init,
    .rows = partition_rows,
    .row_count = LS_COUNT_OF(partition_rows),
};

/* ------------------------------------------------------------------------------------------------ machine */

typedef struct machine {
    ls_engine *engine;
    ls_block *partition[PARTITIONS], *dram[PARTITIONS];
} machine;

static void must(ls_status status, const ls_error *err)
{
    if (status != LS_OK)
        fail_msg("%s", err->what);
}

static void build_partition(machine *m, int i)
{
    ls_error err = { 0 };
    ls_clock l2, dram;
    ls_domain *domain;
    ls_region *region;
    char name[32];
    must(ls_clock_init(&l2, ls_ratio_make(1132000000, 1), &err), &err);
    must(ls_clock_init(&dram, ls_ratio_make(i % 2 == 0 ? 1750000000 : 850000000, 1), &err), &err);
    snprintf(name, sizeof name, "partition%d", i);
    must(ls_domain_create(m->engine, name, l2, &domain, &err), &err);
    must(ls_domain_add_region(domain, dram, &region, &err), &err);
    static const uint32_t kinds[] = { REPLACEMENT_LRU,  REPLACEMENT_PLRU, REPLACEMENT_SRRIP,
                                      REPLACEMENT_FIFO, REPLACEMENT_LRU,  REPLACEMENT_RANDOM };
    sector_cache_spec spec = { .sets = 8,
                               .ways = 4,
                               .mshr_entries = 12,
                               .mshr_merge = 2,
                               .miss_queue = 6,
                               .write_policy = i == 3 ? WRITE_THROUGH : WRITE_BACK,
                               .replacement = kinds[i],
                               .prefetch = { .kind = i == 0   ? PREFETCH_STRIDE
                                                     : i == 5 ? PREFETCH_NEXT_LINE
                                                              : PREFETCH_NONE,
                                             .degree = 2,
                                             .distance = 1 },
                               .merge_stall =
                                   i % 2 == 0 ? SECTOR_CACHE_STALL_REQUEST : SECTOR_CACHE_STALL_QUEUE };
    must(ls_block_create(ls_domain_region(domain, 0), name, &partition_type, &spec, &m->partition[i], &err),
         &err);
    bank_spec banks = rig_spec(i == 1 ? "gddr6" : "gddr5");
    banks.refresh = i == 4;
    banks.front_latency_cycles = i == 0 ? 25 : 0;
    banks.write_queue_entries = i == 1 ? 32 : 0;
    banks.write_high = i == 1 ? 24 : 0;
    banks.write_low = i == 1 ? 8 : 0;
    fixed_spec fixed = { .latency_cycles = 77, .queue_entries = 9, .atoms_per_cycle = { 2, 7 } };
    bool simple = i % 3 == 2;
    snprintf(name, sizeof name, "dram%d", i);
    must(ls_block_create(region, name, ls_registry_find_block("dram", simple ? "fixed" : "bank"),
                         simple ? (const void *)&fixed : &banks, &m->dram[i], &err),
         &err);
    must(ls_block_connect(m->partition[i], "dram", m->dram[i], "dram", &err), &err);
    must(ls_block_connect(m->dram[i], "reply", m->partition[i], "reply", &err), &err);
}

static void build(machine *m)
{
    ls_error err = { 0 };
    *m = (machine){ 0 };
    must(ls_engine_create(7, &m->engine, &err), &err);
    for (int i = 0; i < PARTITIONS; i++)
        build_partition(m, i);
    for (int i = 0; i < PARTITIONS; i++) {
        ls_block *from = m->partition[i], *to = m->partition[(i + 1) % PARTITIONS];
        ls_link_spec spec = { .name = ls_block_name(from),
                              .from = ls_block_region(from),
                              .to = ls_block_region(to),
                              .latency_cycles = 30,
                              .credits = 1,
                              .payload_bytes = sizeof(uint64_t),
                              .receive = partition_receive,
                              .receiver = ls_block_state(to) };
        must(ls_link_create(m->engine, &spec, &((partition *)ls_block_state(from))->next, &err), &err);
    }
}

static uint64_t finish(machine *m, uint32_t threads, ls_time *end)
{
    ls_error err = { 0 };
    ls_run_result result;
    hash_stream *hasher;
    must(ls_run(m->engine, &(ls_run_options){ .threads = threads }, &result, &err), &err);
    must(hasher_create(&hasher, &err), &err);
    for (int i = 0; i < PARTITIONS; i++) {
        partition *p = ls_block_state(m->partition[i]);
        uint64_t counts[] = { p->log,          p->made,      ls_random_next(&p->random), result.events,
                              result.messages, result.ticks, result.region_cycles,       result.end_time };
        hasher_add(hasher, counts, sizeof counts);
        hasher_add(hasher, &p->counters, sizeof p->counters);
        hasher_add(hasher,
                   (const char *)ls_block_state(m->dram[i]) + ls_block_type_of(m->dram[i])->counters_offset,
                   sizeof(ls_dram_counters));
        assert_int_equal(p->made, ACCESSES);
        assert_int_equal(sector_cache_pending_fills(&p->cache), 0);
    }
    uint64_t hash = hasher_get(hasher).high;
    hasher_destroy(hasher);
    if (end != NULL)
        *end = result.end_time;
    return hash;
}

static int go_on(const char *path, const char *threads)
{
    static char bytes[1 << 22];
    FILE *file = fopen(path, "rb");
    size_t count = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    machine m;
    ls_error err = { 0 };
    if (file != NULL)
        fclose(file);
    build(&m);
    if (ls_engine_load(m.engine, bytes, count, &err) != LS_OK) {
        puts(err.what);
        return 1;
    }
    printf("%llx\n", (unsigned long long)finish(&m, (uint32_t)strtoul(threads, NULL, 10), NULL));
    ls_engine_destroy(m.engine);
    return 0;
}

static uint64_t continue_elsewhere(const char *path, uint32_t threads)
{
    char self[512], command[1100], line[600] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command, "'%s' '%s' %u", self, path, threads);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    assert_non_null(fgets(line, sizeof line, from));
    if (pclose(from) != 0)
        fail_msg("%s", line);
    return strtoull(line, NULL, 16);
}

static void test_saved_partitions_go_on(void **state)
{
    (void)state;
    char path[] = "lockstep-state-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    machine m;
    ls_time end;
    ls_random random;
    ls_random_init(&random, 3);
    build(&m);
    uint64_t whole = finish(&m, 1, &end);
    ls_engine_destroy(m.engine);
    for (uint32_t k = 0; k < 16; k++) {
        static const uint32_t threads[] = { 1, 2, 3, 8 };
        ls_error err = { 0 };
        void *bytes;
        size_t count;
        build(&m);
        ls_time cut = 1 + ls_random_below(&random, end);
        must(ls_run(m.engine, &(ls_run_options){ .threads = threads[(k + 1) % 4], .until = cut }, NULL, &err),
             &err);
        must(ls_engine_save(m.engine, &bytes, &count, &err), &err);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, count, file), count);
        fclose(file);
        free(bytes);
        uint64_t part = continue_elsewhere(path, threads[k % 4]);
        if (part != whole)
            fail_msg("cut at %llu of %llu fs: %llx, expected %llx", (unsigned long long)cut,
                     (unsigned long long)end, (unsigned long long)part, (unsigned long long)whole);
        assert_int_equal(finish(&m, 2, NULL), whole); /* saving changes nothing */
        ls_engine_destroy(m.engine);
    }
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return go_on(argv[1], argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_partitions_go_on),
    };
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
