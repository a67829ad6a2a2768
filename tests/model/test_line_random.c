/* test_line_random.c: random reads, writes, atomics, flushes and invalidations of several requesters through
 * random machines, checked against the memory model. Every byte has one writer, which numbers its values:
 *
 *   - a writer reads back what it wrote last;
 *   - no requester reads a value before it was written, or an older one after a newer one;
 *   - a read that misses on purpose, or that follows an invalidation, sees every write that was answered
 *     before it;
 *   - old values of atomic additions of 1 are 0, 1, 2, ... over all requesters, each once;
 *   - after a flush of all levels memory has the last values;
 *   - and everything, times and counters too, is the same for 1, 2, 3 and 8 threads, and for a machine that is saved
 *     at some window and goes on in a new one with another number of threads. */
#include "line_rig.h"

#include "isa/amd/exec/memory.h"

#define OPS 400
#define LINES 40
#define LINE_STEP 640u
#define ATOMIC_LINES 4
#define CLIENTS_MAX (RIG_CLUSTERS_MAX * RIG_CLIENTS_MAX)
#define MEMORY_BYTES 65536u

typedef struct game {
    rig_shape shape;
    uint32_t clients, line_bytes;
    bool coherent; /* writes are answered at or below the level that all requesters share */
    rig_op ops[CLIENTS_MAX][OPS + 4];
    size_t count;
} game;

static uint64_t line_address(const rig *r, uint32_t line)
{
    return r->base + (uint64_t)line * LINE_STEP; /* sets are used unevenly, over a few pages */
}

static uint32_t owner(const game *g, uint32_t byte)
{
    return byte / 4 % g->clients;
}

static uint32_t pick(ls_random *random, uint32_t count)
{
    return (uint32_t)ls_random_below(random, count);
}

static line_cache_spec random_cache(ls_random *random, uint32_t line_bytes, write_policy policy, uint32_t kib)
{
    static const uint64_t few[] = { 1, 2, 3, 16 };
    static const uint64_t banks[] = { 0, 0, 1, 4 };
    return (line_cache_spec){
        .size_kib = kib,
        .ways = UINT64_C(1) << pick(random, 3),
        .line_bytes = line_bytes,
        .banks = banks[pick(random, 4)],
        .accesses_per_cycle = 1 + pick(random, 3),
        .directory_cycles = pick(random, 4),
        .data_cycles = pick(random, 12),
        .fill_cycles = pick(random, 3),
        .mshr_entries = few[pick(random, 4)],
        .mshr_targets = few[pick(random, 4)],
        .pending = few[pick(random, 4)],
        .queue_entries = 2 + pick(random, 8),
        .atomic_cycles = pick(random, 4),
        .write_policy = (uint32_t)policy,
        .replacement = pick(random, REPLACEMENT_KINDS),
        .hash = { .kind = pick(random, SET_HASH_MASKS) },
        .prefetch = { .kind = pick(random, 3), .degree = 1 + pick(random, 4), .distance = 1 + pick(random, 2) }
    };
}

static void random_shape(game *g, ls_random *random, write_policy l0, int l1)
{
    static const uint32_t channels[] = { 1, 2, 3, 4 };
    g->line_bytes = pick(random, 2) != 0 ? 128 : 64;
    rig_shape *s = &g->shape;
    *s = rig_shape_default(g->line_bytes);
    s->clusters = 1 + pick(random, RIG_CLUSTERS_MAX);
    s->clients = 1 + pick(random, RIG_CLIENTS_MAX);
    s->channels = channels[pick(random, 4)];
    s->slices = 1 + pick(random, RIG_SLICES_MAX);
    s->array = l1 >= 0;
    s->side = pick(random, 3) == 0;
    s->shared_l0 = pick(random, 3) == 0;
    s->passing_l2 = pick(random, 3) == 0 ? LS_LINE_SYSTEM : 0;
    s->translated = pick(random, 2) == 0;
    s->tlb.latency_cycles = pick(random, 3);
    s->tlb.mshr_entries = 1 + pick(random, 3);
    s->tlb.queue_entries = 1 + pick(random, 8);
    s->mmu.mshr_entries = 1 + pick(random, 4);
    s->mmu.entries = pick(random, 3) == 0 ? 0 : 8;
    s->l0 = random_cache(random, g->line_bytes, l0, 1);
    s->l1 = random_cache(random, g->line_bytes, l1 >= 0 ? (write_policy)l1 : WRITE_EVICT, 1);
    s->l2 = random_cache(random, g->line_bytes, WRITE_BACK, 1);
    s->l3 = random_cache(random, g->line_bytes, WRITE_BACK, 2);
    s->home.queue_entries = 1 + pick(random, 32);
    s->home.delay_cycles = pick(random, 10);
    s->dram.latency_cycles = 1 + pick(random, 60);
    s->dram.queue_entries = 1 + pick(random, 8);
    s->link_latency = 5 + pick(random, 30);
    g->clients = s->clusters * s->clients;
    g->coherent = l0 != WRITE_BACK || (s->shared_l0 && s->clusters == 1);
}

static rig_op random_op(const game *g, const rig *r, ls_random *random, uint32_t client, uint8_t next[LINES])
{
    uint32_t what = pick(random, 100);
    uint32_t line = pick(random, LINES);
    rig_op op = { 0 };
    if (what < 45) {
        op = rig_read(line_address(r, line));
        op.m.flags = pick(random, 4) == 0 ? LS_LINE_GLC | LS_LINE_DLC : pick(random, 8) == 0 ? LS_LINE_SLC : 0;
    } else if (what < 80 && next[line] < 250) {
        uint8_t value = ++next[line];
        uint32_t from = pick(random, g->line_bytes), to = from + 1 + pick(random, g->line_bytes - from);
        op.m.address = line_address(r, line);
        op.m.kind = LS_LINE_WRITE;
        for (uint32_t i = from; i < to; i++)
            if (owner(g, i) == client) {
                op.m.mask[i / 64] |= UINT64_C(1) << i % 64;
                op.m.data[i] = value;
            }
    } else if (what < 96) {
        uint32_t word = pick(random, 4) * 4 + (g->line_bytes - 64);
        op.m.address = line_address(r, LINES + pick(random, ATOMIC_LINES));
        op.m.kind = LS_LINE_ATOMIC;
        op.m.atomic = AMD_ATOMIC_ADD;
        op.m.atomic_bytes = 4;
        op.m.flags = LS_LINE_RETURN;
        op.m.mask[word / 64] = UINT64_C(0xf) << word % 64;
        op.m.data[word] = 1;
    } else if (what < 99) {
        op.m.kind = LS_LINE_INVALIDATE;
        op.m.atomic = (uint8_t)pick(random, g->shape.array ? 2 : 1);
        op.fence = true;
    } else {
        op.m.kind = LS_LINE_FLUSH;
    }
    if (op.m.kind <= LS_LINE_WRITE && pick(random, 8) == 0)
        op.m.flags |= LS_LINE_SYSTEM;
    op.fence = op.fence || pick(random, 8) == 0;
    return op;
}

static void make_scripts(game *g, const rig *r, ls_random *random)
{
    g->count = OPS;
    for (uint32_t c = 0; c < g->clients; c++) {
        uint8_t next[LINES] = { 0 };
        ls_cycle at = 0;
        for (size_t i = 0; i < g->count; i++) {
            rig_op *op = &g->ops[c][i];
            *op = random_op(g, r, random, c, next);
            at += pick(random, 3) == 0 ? pick(random, 40) : 0;
            op->at = at;
            op->fence = op->fence || (i > 0 && g->ops[c][i - 1].m.kind == LS_LINE_INVALIDATE);
        }
    }
}

/* --- what memory may do --- */

static bool has_byte(const rig_op *op, uint32_t byte)
{
    return (op->m.mask[byte / 64] >> byte % 64 & 1) != 0;
}

/* The newest value of a byte whose write was answered before `horizon`. */
static uint8_t answered_before(const game *g, uint64_t address, uint32_t byte, ls_cycle horizon)
{
    uint8_t value = 0;
    const rig_op *ops = g->ops[owner(g, byte)];
    for (size_t i = 0; i < g->count; i++)
        if (ops[i].m.kind == LS_LINE_WRITE && ops[i].m.address == address && has_byte(&ops[i], byte) &&
            ops[i].done < horizon)
            value = ops[i].m.data[byte];
    return value;
}

static bool was_sent(const game *g, uint64_t address, uint32_t byte, uint8_t value, ls_cycle until)
{
    const rig_op *ops = g->ops[owner(g, byte)];
    for (size_t i = 0; i < g->count && value != 0; i++)
        if (ops[i].m.kind == LS_LINE_WRITE && ops[i].m.address == address && has_byte(&ops[i], byte) &&
            ops[i].m.data[byte] == value)
            return ops[i].sent <= until;
    return value == 0;
}

static void check_reads(const game *g, const rig *r, uint32_t client)
{
    static uint8_t own[LINES][128], seen[LINES][128];
    ls_cycle horizon = 0, l0_horizon = 0, l1_horizon = g->shape.array ? 0 : LS_CYCLE_MAX;
    memset(own, 0, sizeof own);
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < g->count; i++) {
        const rig_op *op = &g->ops[client][i];
        if (op->m.kind == LS_LINE_INVALIDATE && op->m.atomic == 0)
            l0_horizon = op->sent;
        if (op->m.kind == LS_LINE_INVALIDATE && op->m.atomic == 1) {
            l1_horizon = op->sent;
            l0_horizon = 0; /* it may have been filled from the old L1 since */
        }
        horizon = l0_horizon < l1_horizon ? l0_horizon : l1_horizon;
        if (op->m.kind != LS_LINE_READ && op->m.kind != LS_LINE_WRITE)
            continue;
        uint32_t line = (uint32_t)((op->m.address - r->base) / LINE_STEP);
        ls_cycle sees = (op->m.flags & LS_LINE_GLC) != 0 ? op->sent : horizon;
        for (uint32_t byte = 0; byte < g->line_bytes; byte++) {
            uint8_t value = op->reply.data[byte];
            if (op->m.kind == LS_LINE_WRITE) {
                if (has_byte(op, byte))
                    own[line][byte] = op->m.data[byte];
            } else if (owner(g, byte) == client) {
                if (value != own[line][byte])
                    fail_msg("client %u op %zu byte %u: %u, it wrote %u", client, i, byte, value,
                             own[line][byte]);
            } else {
                if (value < seen[line][byte])
                    fail_msg("client %u op %zu byte %u: %u after %u", client, i, byte, value,
                             seen[line][byte]);
                if (!was_sent(g, op->m.address, byte, value, op->done))
                    fail_msg("client %u op %zu byte %u: %u was never written before", client, i, byte, value);
                if (g->coherent && value < answered_before(g, op->m.address, byte, sees))
                    fail_msg("client %u op %zu byte %u: %u is too old", client, i, byte, value);
                seen[line][byte] = value;
            }
        }
    }
}

static void check_atomics(const game *g, const rig *r)
{
    for (uint32_t line = 0; line < ATOMIC_LINES; line++)
        for (uint32_t word = 0; word < g->line_bytes; word += 4) {
            static uint8_t found[CLIENTS_MAX * OPS];
            uint32_t count = 0, total;
            memset(found, 0, sizeof found);
            uint64_t address = line_address(r, LINES + line);
            for (uint32_t c = 0; c < g->clients; c++) {
                int64_t before = -1;
                for (size_t i = 0; i < g->count; i++) {
                    const rig_op *op = &g->ops[c][i];
                    uint32_t old;
                    if (op->m.kind != LS_LINE_ATOMIC || op->m.address != address || !has_byte(op, word))
                        continue;
                    memcpy(&old, op->reply.data + word, 4);
                    assert_true(old < CLIENTS_MAX * OPS && found[old] == 0);
                    assert_true((int64_t)old > before);
                    before = old;
                    found[old] = 1;
                    count++;
                }
            }
            for (uint32_t i = 0; i < count; i++)
                assert_int_equal(found[i], 1);
            memcpy(&total, address_space_host(r->address_space, address + word, 4), 4);
            assert_int_equal(total, count);
        }
}

static void check_memory(const game *g, const rig *r)
{
    for (uint32_t line = 0; line < LINES; line++) {
        uint64_t address = line_address(r, line);
        const uint8_t *bytes = address_space_host(r->address_space, address, g->line_bytes);
        for (uint32_t byte = 0; byte < g->line_bytes; byte++)
            if (bytes[byte] != answered_before(g, address, byte, LS_CYCLE_MAX))
                fail_msg("line %u byte %u is %u in memory, not %u", line, byte, bytes[byte],
                         answered_before(g, address, byte, LS_CYCLE_MAX));
    }
}

/* All levels, from the first on. */
static void flush_all(rig *r)
{
    uint32_t levels = 2u + (r->shape.array ? 1u : 0u) + (r->shape.side ? 1u : 0u);
    static rig_op flush[CLIENTS_MAX];
    for (uint32_t level = 0; level < levels; level++) {
        for (uint32_t c = 0; c < r->client_count; c++) {
            flush[c] = (rig_op){ .m = { .kind = LS_LINE_FLUSH, .atomic = (uint8_t)level } };
            rig_script(r, c, &flush[c], 1);
        }
        rig_run(r);
    }
}

/* Runs until `cut`, and moves state and memory to a new machine. The test keeps the scripts with their answers. */
static rig *move(rig *r, game *g, ls_time cut, uint32_t threads)
{
    void *saved;
    size_t bytes;
    RIG_OK(ls_run(r->engine, &(ls_run_options){ .threads = g->shape.threads, .until = cut }, NULL, err));
    RIG_OK(ls_engine_save(r->engine, &saved, &bytes, err));
    g->shape.threads = threads;
    rig *to = rig_create(&g->shape, MEMORY_BYTES);
    assert_int_equal(to->base, r->base);
    memcpy(address_space_host(to->address_space, to->base, MEMORY_BYTES),
           address_space_host(r->address_space, r->base, MEMORY_BYTES), MEMORY_BYTES);
    rig_destroy(r);
    for (uint32_t c = 0; c < g->clients; c++) {
        to->clients[c].per_cycle = 1 + c % 2;
        to->clients[c].ops = g->ops[c];
        to->clients[c].count = g->count;
    }
    RIG_OK(ls_engine_load(to->engine, saved, bytes, err));
    free(saved);
    return to;
}

/* cut 0: the machine is not saved. */
static uint64_t play(game *g, uint64_t seed, uint32_t threads, bool check, ls_time cut)
{
    uint64_t sum = 0;
    g->shape.threads = threads;
    ls_random random;
    ls_random_init(&random, seed);
    rig *r = rig_create(&g->shape, MEMORY_BYTES);
    make_scripts(g, r, &random);
    for (uint32_t c = 0; c < g->clients; c++) {
        r->clients[c].per_cycle = 1 + c % 2;
        rig_script(r, c, g->ops[c], g->count);
    }
    if (cut != 0)
        r = move(r, g, cut, 1 + threads % 3);
    rig_run(r);
    for (uint32_t c = 0; c < g->clients; c++)
        for (size_t i = 0; i < g->count; i++) {
            const rig_op *op = &g->ops[c][i];
            sum = sum * 31 + op->done * 7 + op->sent;
            for (uint32_t byte = 0; op->m.kind == LS_LINE_READ && byte < g->line_bytes; byte++)
                sum = sum * 31 + op->reply.data[byte];
        }
    uint64_t words = sizeof(line_cache_counters) / sizeof(uint64_t);
    for (uint32_t i = 0; i < r->shape.channels * r->shape.slices; i++)
        for (uint64_t k = 0; k < words; k++)
            sum = sum * 31 + ((const uint64_t *)rig_counters(r->l2[i]))[k];
    for (uint32_t c = 0; c < g->clients && check; c++)
        check_reads(g, r, c);
    flush_all(r);
    if (check) {
        check_atomics(g, r);
        check_memory(g, r);
        for (uint32_t i = 0; i < r->shape.channels * r->shape.slices; i++)
            assert_int_equal(line_cache_dirty_lines(r->l2[i]), 0);
    }
    rig_destroy(r);
    return sum;
}

static void memory_keeps_its_promises(void **state)
{
    (void)state;
    static game g;
    const char *text = getenv("LINE_SEEDS");
    uint64_t seeds = text != NULL ? strtoull(text, NULL, 10) : 2;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        for (uint32_t l0 = 0; l0 < 4; l0++)
            for (int l1 = -1; l1 < 4; l1++) {
                ls_random random;
                ls_random_init(&random, seed * 100 + l0 * 10 + (uint64_t)(l1 + 1));
                random_shape(&g, &random, (write_policy)l0, l1);
                print_message("seed %llu l0 %u l1 %d: %u clusters of %u, %u channels of %u%s%s\n",
                              (unsigned long long)seed, l0, l1, g.shape.clusters, g.shape.clients,
                              g.shape.channels, g.shape.slices, g.shape.side ? ", side" : "",
                              g.shape.shared_l0 ? ", shared" : "");
                (void)play(&g, seed, 1, true, 0);
            }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static game g;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        ls_random random;
        ls_random_init(&random, seed);
        random_shape(&g, &random, (write_policy)(seed % 4), (int)(seed % 5) - 1);
        g.shape.clusters = RIG_CLUSTERS_MAX;
        g.clients = g.shape.clusters * g.shape.clients;
        uint64_t one = play(&g, seed, 1, false, 0);
        assert_int_equal(play(&g, seed, 2, false, 0), one);
        assert_int_equal(play(&g, seed, 3, false, 0), one);
        assert_int_equal(play(&g, seed, 8, false, 0), one);
    }
}

static ls_cycle last_answer(const game *g)
{
    ls_cycle last = 0;
    for (uint32_t c = 0; c < g->clients; c++)
        for (size_t i = 0; i < g->count; i++)
            last = g->ops[c][i].done > last ? g->ops[c][i].done : last;
    return last;
}

static void saved_machines_go_on(void **state)
{
    (void)state;
    static game g;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        ls_random random;
        ls_random_init(&random, 50 + seed);
        random_shape(&g, &random, (write_policy)(seed % 4), (int)(seed % 5) - 1);
        g.shape.translated = seed % 3 != 0;
        uint64_t whole = play(&g, seed, 1, false, 0);
        ls_cycle end = last_answer(&g);
        for (uint32_t threads = 1; threads <= 3; threads++) {
            ls_time cut = (1 + ls_random_below(&random, end)) * 1000000; /* fs */
            if (play(&g, seed, threads, threads == 2, cut) != whole)
                fail_msg("seed %llu: another result after saving at cycle %llu of %llu",
                         (unsigned long long)seed, (unsigned long long)(cut / 1000000),
                         (unsigned long long)end);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_keeps_its_promises),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(saved_machines_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
