/* test_line_cache.c: caches that hold bytes, in closed form: latencies of hits and misses through all levels,
 * requests per cycle, merging, policies, flush and invalidate, atomics, faults. */
#include "line_rig.h"

#include "isa/amd/exec/memory.h"
#include "model/amd_memory/atomic.h"

/* Of the default shape: directory 2, data 10, fill 3, links 20, DRAM 100 for 64 bytes at 2 atoms per
 * cycle. */
enum {
    HIT = 2 + 10,
    L2_PATH = 2 + 20 + 20 + 3, /* L0's directory, links, L0's fill */
    L2_HIT = L2_PATH + HIT,
};

static void fill_memory(rig *r, uint64_t bytes)
{
    uint8_t *at = address_space_host(r->address_space, r->base, bytes);
    for (uint64_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(i * 7 + i / 64);
}

static uint8_t expected(uint64_t offset)
{
    return (uint8_t)(offset * 7 + offset / 64);
}

static void assert_line(const rig_op *op, uint64_t offset, uint32_t line_bytes)
{
    for (uint32_t i = 0; i < line_bytes; i++)
        if (op->reply.data[i] != expected(offset + i))
            fail_msg("byte %u of the line at offset %llu: %u, not %u", i, (unsigned long long)offset,
                     op->reply.data[i], expected(offset + i));
}

static void latencies_are_sums(void **state)
{
    (void)state;
    for (uint32_t line_bytes = 64; line_bytes <= 128; line_bytes *= 2) {
        rig_shape shape = rig_shape_default(line_bytes);
        shape.dram.atoms_per_cycle.num = line_bytes / 32;
        rig *r = rig_create(&shape, 65536);
        fill_memory(r, 65536);
        rig_op ops[4] = { rig_read(r->base), rig_read(r->base), rig_read(r->base), rig_read(r->base + 1024) };
        ops[1].fence = ops[2].fence = ops[3].fence = true;
        ops[2].m.flags = LS_LINE_GLC;
        rig_script(r, 0, ops, 4);
        rig_run(r);
        /* DRAM: a request reaches it at the next edge, its last atom starts at once, and its answer is in the
         * caches' region at the next edge after. */
        ls_cycle miss = ops[0].done - ops[0].sent;
        assert_in_range(miss, L2_PATH + 2 + 3 + 100, L2_PATH + 2 + 3 + 100 + 3);
        assert_int_equal(ops[1].done - ops[1].sent, HIT);
        assert_int_equal(ops[2].done - ops[2].sent, L2_HIT);
        assert_int_equal(ops[3].done - ops[3].sent, miss);
        for (uint32_t i = 0; i < 3; i++)
            assert_line(&ops[i], 0, line_bytes);
        assert_line(&ops[3], 1024, line_bytes);
        const line_cache_counters *l0 = rig_counters(r->l0[0]), *l2 = rig_counters(r->l2[0]);
        assert_int_equal(l0->reads, 4);
        assert_int_equal(l0->read_hits, 1);
        assert_int_equal(l0->read_misses, 3);
        assert_int_equal(l0->passed_reads, 1);
        assert_int_equal(l2->reads, 3);
        assert_int_equal(l2->read_hits, 1);
        assert_int_equal(l2->fills, 2);
        assert_int_equal(l0->answers, 4);
        assert_int_equal(l0->latency_cycles, 2 * miss + HIT + L2_HIT);
        rig_destroy(r);
    }
}

static rig_op control(ls_line_kind kind, uint32_t depth)
{
    return (rig_op){ .m = { .kind = (uint8_t)kind, .atomic = (uint8_t)depth }, .fence = true };
}

static void more_levels_are_longer_sums(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(128);
    shape.array = shape.side = true;
    shape.dram.atoms_per_cycle.num = 4;
    rig *r = rig_create(&shape, 65536);
    fill_memory(r, 65536);
    /* L0 1 KiB of 2 ways: 4 sets; L1 2 KiB of 4 ways: 4 sets; L2 4 KiB of 4 ways: 8 sets. */
    rig_op ops[32];
    size_t count = 0;
    ops[count++] = rig_read(r->base);       /* 0: from DRAM */
    ops[count++] = rig_read(r->base);       /* 1: L0 */
    ops[count++] = rig_read(r->base + 512); /* 2, 3: two more of its set of L0 */
    ops[count++] = rig_read(r->base + 1024);
    ops[count++] = rig_read(r->base); /* 4: L1 */
    ops[count++] = control(LS_LINE_INVALIDATE, 0);
    ops[count++] = control(LS_LINE_INVALIDATE, 1);
    ops[count++] = rig_read(r->base); /* 7: L2 */
    ops[count++] = control(LS_LINE_INVALIDATE, 0);
    ops[count++] = control(LS_LINE_INVALIDATE, 1);
    ops[count++] = control(LS_LINE_INVALIDATE, 2);
    ops[count++] = rig_read(r->base); /* 11: the memory-side cache */
    for (size_t i = 0; i < count; i++)
        ops[i].fence = true;
    rig_script(r, 0, ops, count);
    rig_run(r);
    ls_cycle dram = ops[0].done - ops[0].sent;
    enum { L1_HIT = 2 + 20 + HIT + 20 + 3, L2_HIT_ = L1_HIT - HIT + 2 + 20 + HIT + 20 + 3 };
    assert_int_equal(ops[1].done - ops[1].sent, HIT);
    assert_int_equal(ops[4].done - ops[4].sent, L1_HIT);
    assert_int_equal(ops[7].done - ops[7].sent, L2_HIT_);
    assert_int_equal(ops[11].done - ops[11].sent, L2_HIT_ - HIT + 2 + 3 + HIT);
    assert_in_range(dram, L2_HIT_ - HIT + 2 * (2 + 3) + 100, L2_HIT_ - HIT + 2 * (2 + 3) + 103);
    assert_line(&ops[11], 0, 128);
    rig_destroy(r);
}

/* An invalidate of a page: its lines leave, others stay. */
static void a_page_leaves_caches(void **state)
{
    (void)state;
    enum { L1_HIT = 2 + 20 + HIT + 20 + 3, L2_HIT_ = L1_HIT - HIT + 2 + 20 + HIT + 20 + 3 };
    for (uint32_t bytes = 128; bytes <= 4096; bytes *= 32) { /* fewer lines than are here, and more */
        rig_shape shape = rig_shape_default(128);
        shape.array = true;
        rig *r = rig_create(&shape, 65536);
        fill_memory(r, 65536);
        rig_op ops[] = { rig_read(r->base + 4096),       rig_read(r->base + 8192 + 128),
                         control(LS_LINE_INVALIDATE, 1), rig_read(r->base + 4096),
                         control(LS_LINE_INVALIDATE, 1), control(LS_LINE_INVALIDATE, 0),
                         rig_read(r->base + 4096),       rig_read(r->base + 8192 + 128) };
        const size_t count = LS_COUNT_OF(ops);
        for (size_t i = 0; i < count; i++) {
            ops[i].fence = true;
            if (ops[i].m.kind != LS_LINE_INVALIDATE)
                continue;
            ops[i].m.flags = LS_LINE_PAGE;
            ops[i].m.address = i == 2 ? r->base + 16384 : r->base + 4096;
            ops[i].m.mask[1] = bytes;
        }
        rig_script(r, 0, ops, count);
        rig_run(r);
        assert_int_equal(ops[3].done - ops[3].sent, HIT);     /* another page was meant */
        assert_int_equal(ops[6].done - ops[6].sent, L2_HIT_); /* gone from both */
        assert_int_equal(ops[7].done - ops[7].sent, HIT);
        assert_line(&ops[6], 4096, 128);
        rig_destroy(r);
    }
}

/* The mover of a page reads past L2, which writes its newer line back, and writes past it likewise. */
static void lines_of_moving_pages_pass_l2(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(64);
    shape.passing_l2 = LS_LINE_PAGE;
    rig *r = rig_create(&shape, 65536);
    fill_memory(r, 65536);
    rig_op ops[] = { rig_read(r->base), rig_read(r->base), rig_read(r->base), rig_read(r->base),
                     rig_read(r->base) };
    for (size_t i = 0; i < LS_COUNT_OF(ops); i++) {
        ops[i].fence = true;
        ops[i].m.flags = LS_LINE_GLC;
    }
    ops[0].m.kind = ops[3].m.kind = LS_LINE_WRITE; /* dirty in L2; and a line that comes */
    ops[0].m.mask[0] = ops[3].m.mask[0] = UINT64_MAX;
    memset(ops[0].m.data, 0x5a, 64);
    memset(ops[3].m.data, 0xa5, 64);
    ops[1].m.flags |= LS_LINE_PAGE;
    ops[3].m.flags |= LS_LINE_PAGE;
    rig_script(r, 0, ops, LS_COUNT_OF(ops));
    rig_run(r);
    assert_int_equal(ops[1].reply.data[17], 0x5a);
    assert_int_equal(ops[2].reply.data[17], 0x5a);
    assert_int_equal(ops[4].reply.data[17], 0xa5); /* L2's line of step 2 is not used any more */
    assert_int_equal(line_cache_dirty_lines(r->l2[0]), 0);
    assert_int_equal(*(const uint8_t *)address_space_host(r->address_space, r->base + 17, 1), 0xa5);
    rig_destroy(r);
}

/* n hits at w per cycle take n / w cycles; with banks, those of one bank take n. */
static void ports_and_banks_limit_the_rate(void **state)
{
    (void)state;
    enum { N = 32 };
    for (uint32_t width = 1; width <= 4; width *= 2)
        for (uint32_t banks = 0; banks <= 4; banks += 4)
            for (uint32_t stride = 1; stride <= 4; stride += 3) {
                rig_shape shape = rig_shape_default(64);
                shape.l0 = rig_cache(16, 4, 64, WRITE_AROUND);
                shape.l0.accesses_per_cycle = width;
                shape.l0.banks = banks;
                rig *r = rig_create(&shape, 65536);
                fill_memory(r, 65536);
                r->clients[0].per_cycle = 8;
                rig_op ops[2 * N];
                for (uint32_t i = 0; i < 2 * N; i++) {
                    ops[i] = rig_read(r->base + (uint64_t)(i % N) * stride * 64);
                    ops[i].fence = i == N;
                }
                rig_script(r, 0, ops, 2 * N);
                rig_run(r);
                uint32_t rate = banks != 0 && stride == 4 ? 1 : width;
                for (uint32_t i = N; i < 2 * N; i++)
                    assert_int_equal(ops[i].done - ops[N].done, (i - N) / rate);
                assert_int_equal(rig_counters(r->l0[0])->read_hits, N);
                rig_destroy(r);
            }
}

/* A data path that is narrower than a line: n hits take n times as long, fractions of cycles included. */
static void narrow_paths_limit_the_rate(void **state)
{
    (void)state;
    enum { N = 32 };
    static const ls_ratio cycles[] = { { 1, 1 }, { 2, 1 }, { 9, 8 }, { 5, 2 }, { 21, 8 } };
    for (size_t k = 0; k < LS_COUNT_OF(cycles); k++) {
        rig_shape shape = rig_shape_default(64);
        shape.l0 = rig_cache(16, 4, 64, WRITE_AROUND);
        shape.l0.line_cycles = cycles[k];
        rig *r = rig_create(&shape, 65536);
        fill_memory(r, 65536);
        r->clients[0].per_cycle = 8;
        rig_op ops[2 * N];
        for (uint32_t i = 0; i < 2 * N; i++) {
            ops[i] = rig_read(r->base + (uint64_t)(i % N) * 64);
            ops[i].fence = i == N;
        }
        rig_script(r, 0, ops, 2 * N);
        rig_run(r);
        for (uint32_t i = N; i < 2 * N; i++)
            assert_int_equal(ops[i].done - ops[N].done, (i - N) * cycles[k].num / cycles[k].den);
        assert_int_equal(rig_counters(r->l0[0])->read_hits, N);
        rig_destroy(r);
    }
}

/* Requesters that all want more than the port takes are served in turn. */
static void the_port_is_shared_in_turn(void **state)
{
    (void)state;
    enum { N = 60, CLIENTS = 4 };
    rig_shape shape = rig_shape_default(64);
    shape.clients = CLIENTS;
    shape.shared_l0 = true;
    rig *r = rig_create(&shape, 65536);
    static rig_op ops[CLIENTS][N];
    for (uint32_t c = 0; c < CLIENTS; c++) {
        r->clients[c].per_cycle = 4;
        for (uint32_t i = 0; i < N; i++) {
            ops[c][i] = rig_read(r->base);
            ops[c][i].at = 500; /* all of them after the line has come */
        }
        ops[c][0].at = 0;
        rig_script(r, c, ops[c], N);
    }
    rig_run(r);
    ls_cycle first = ops[0][1].done, last = ops[0][N - 1].done;
    for (uint32_t c = 0; c < CLIENTS; c++) {
        first = ops[c][1].done < first ? ops[c][1].done : first;
        last = ops[c][N - 1].done > last ? ops[c][N - 1].done : last;
    }
    assert_int_equal(last - first + 1, CLIENTS * (N - 1));
    for (uint32_t c = 0; c < CLIENTS; c++)
        for (uint32_t i = 1; i < N; i++) { /* never more than a round ahead of or after its share */
            ls_cycle share = ops[c][i].done + CLIENTS - first;
            assert_in_range(share, (i - 1) * CLIENTS, (i + 1) * CLIENTS);
        }
    rig_destroy(r);
}

static void one_line_on_its_way_serves_all(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(64);
    shape.clients = 4;
    shape.shared_l0 = true;
    shape.l0.accesses_per_cycle = 4;
    shape.l0.mshr_targets = 4;
    rig *r = rig_create(&shape, 65536);
    fill_memory(r, 65536);
    rig_op ops[4][2];
    for (uint32_t c = 0; c < 4; c++) {
        ops[c][0] = rig_read(r->base + 64);
        ops[c][1] = rig_read(r->base + 64);
        rig_script(r, c, ops[c], 2);
    }
    rig_run(r);
    const line_cache_counters *l0 = rig_counters(r->l0[0]), *l2 = rig_counters(r->l2[0]);
    assert_int_equal(l0->reads, 8);
    assert_int_equal(l0->read_misses, 1);
    assert_int_equal(l0->read_mshr_hits,
                     3); /* then its four places are taken, and the others wait for the line */
    assert_int_equal(l0->read_hits, 4);
    assert_int_equal(l2->reads, 1);
    for (uint32_t c = 0; c < 4; c++) {
        assert_int_equal(ops[c][0].done, ops[0][0].done);
        assert_line(&ops[c][0], 64, 64);
        assert_line(&ops[c][1], 64, 64);
    }
    rig_destroy(r);
}

/* The effect of a write on its cache, by policy: is the line there afterwards, and does the write go below? */
static void policies_differ_in_what_stays(void **state)
{
    (void)state;
    static const struct {
        write_policy policy;
        bool hit_stays, miss_stays, below;
    } rows[] = {
        { WRITE_THROUGH, true, true, true },
        { WRITE_AROUND, true, false, true },
        { WRITE_BACK, true, true, false },
        { WRITE_EVICT, false, false, true },
    };
    for (size_t k = 0; k < LS_COUNT_OF(rows); k++) {
        rig_shape shape = rig_shape_default(64);
        shape.l0.write_policy = rows[k].policy;
        rig *r = rig_create(&shape, 65536);
        fill_memory(r, 65536);
        rig_op ops[] = { rig_read(r->base), rig_write(r->base, 8, 4, 0xaa), rig_read(r->base),
                         rig_write(r->base + 64, 0, 64, 0xbb), rig_read(r->base + 64) };
        for (size_t i = 0; i < LS_COUNT_OF(ops); i++)
            ops[i].fence = true;
        rig_script(r, 0, ops, LS_COUNT_OF(ops));
        rig_run(r);
        const line_cache_counters *l0 = rig_counters(r->l0[0]), *l2 = rig_counters(r->l2[0]);
        assert_int_equal(l0->read_hits, rows[k].hit_stays + rows[k].miss_stays);
        assert_int_equal(l2->writes, rows[k].below ? 2 : 0);
        assert_int_equal(ops[1].done - ops[1].sent, rows[k].below ? L2_HIT : HIT);
        for (uint32_t i = 0; i < 64; i++) {
            assert_int_equal(ops[2].reply.data[i], i >= 8 && i < 12 ? 0xaa : expected(i));
            assert_int_equal(ops[4].reply.data[i], 0xbb);
        }
        rig_destroy(r);
    }
}

/* An earlier read does not see a write that came while its line was on its way; a later read does. */
static void order_is_kept_at_a_line_on_its_way(void **state)
{
    (void)state;
    for (uint32_t policy = 0; policy < 4; policy++) {
        rig_shape shape = rig_shape_default(64);
        shape.l0.write_policy = policy;
        rig *r = rig_create(&shape, 65536);
        fill_memory(r, 65536);
        rig_op ops[] = { rig_read(r->base), rig_write(r->base, 0, 4, 0xee), rig_read(r->base) };
        rig_script(r, 0, ops, LS_COUNT_OF(ops));
        rig_run(r);
        assert_line(&ops[0], 0, 64);
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(ops[2].reply.data[i], i < 4 ? 0xee : expected(i));
        rig_destroy(r);
    }
}

/* An invalidation of a shared cache makes lines on their way too old for later requests. */
static void invalidation_reaches_lines_on_their_way(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(64);
    shape.clusters = 2;
    shape.clients = 2;
    shape.shared_l0 = true;
    rig *r = rig_create(&shape, 65536);
    rig_op reader[] = { rig_read(r->base) }; /* its line passes L2 before the write of the other cluster */
    rig_op writer[] = { rig_write(r->base, 0, 1, 42) }; /* arrives there 21 cycles later */
    rig_op later[] = { control(LS_LINE_INVALIDATE, 0), rig_read(r->base) };
    reader[0].m.address = writer[0].m.address = later[1].m.address = r->base;
    writer[0].at = 130; /* DRAM's bytes are at L2 by then */
    later[0].at = 140;  /* before the line is at L0 */
    later[1].fence = false;
    rig_script(r, 0, reader, 1);
    rig_script(r, 2, writer, 1);
    rig_script(r, 1, later, 2);
    rig_run(r);
    assert_true(later[0].sent < reader[0].done);
    assert_true(later[1].sent < reader[0].done);
    assert_int_equal(reader[0].reply.data[0], 0);
    assert_int_equal(rig_counters(r->l0[0])->passed_reads, 1);
    assert_int_equal(later[1].reply.data[0], 42);
    rig_destroy(r);
}

static void flush_writes_back_and_keeps(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(64);
    rig *r = rig_create(&shape, 65536);
    enum { N = 24 };
    rig_op ops[N + 2];
    for (uint32_t i = 0; i < N; i++)
        ops[i] = rig_write(r->base + i * 64, i % 3 * 20, 20, (uint8_t)(i + 1));
    ops[N] = control(LS_LINE_FLUSH, 1);
    ops[N + 1] = rig_write(r->base, 60, 4, 0x77);
    ops[N + 1].fence = true;
    rig_script(r, 0, ops, N + 2);
    rig_run(r);
    const uint8_t *memory = address_space_host(r->address_space, r->base, N * 64);
    for (uint32_t i = 0; i < N * 64; i++) {
        uint32_t line = i / 64, byte = i % 64;
        bool written = byte >= line % 3 * 20 && byte < line % 3 * 20 + 20;
        assert_int_equal(memory[i], written ? line + 1 : 0);
    }
    const line_cache_counters *l2 = rig_counters(r->l2[0]);
    assert_int_equal(l2->writebacks, N);
    assert_int_equal(l2->evictions, 0);
    assert_int_equal(l2->fills, 0); /* a write needs no line from DRAM */
    assert_int_equal(line_cache_dirty_lines(r->l2[0]), 1);
    /* Freed memory is dropped from caches, dirty or not. */
    line_cache_discard(r->l2[0], r->base, 4096);
    assert_int_equal(line_cache_dirty_lines(r->l2[0]), 0);
    rig_op again[] = { rig_read(r->base) };
    again[0].m.flags = LS_LINE_GLC;
    rig_script(r, 0, again, 1);
    rig_run(r);
    assert_int_equal(again[0].reply.data[60], 0);
    assert_int_equal(again[0].reply.data[0], 1);
    rig_destroy(r);
}

static void faults_have_no_data(void **state)
{
    (void)state;
    rig_shape shape = rig_shape_default(64);
    rig *r = rig_create(&shape, 65536);
    fill_memory(r, 65536);
    RIG_OK(address_space_protect(r->address_space, r->base + 4096, 4096, LS_PAGE_READ, err));
    const ls_page_change change = { .address = r->base + 4096, .bytes = 4096, .state = LS_PAGE_READ };
    for (uint32_t i = 0; i < r->shape.channels; i++)
        line_memory_change(r->memory[i], &change);
    uint64_t constant = r->base + 4096, nowhere = r->base + 65536;
    rig_op ops[] = { rig_read(constant),
                     rig_write(constant, 0, 4, 1),
                     rig_read(nowhere),
                     rig_write(nowhere, 0, 4, 1),
                     rig_read(64), /* a null pointer's */
                     rig_read(UINT64_MAX - 63),
                     rig_write(constant + 64, 0, 4, 0x99),
                     rig_read(constant) };
    ops[6].m.flags = LS_LINE_SYSTEM;
    for (size_t i = 0; i < LS_COUNT_OF(ops); i++)
        ops[i].fence = true;
    rig_script(r, 0, ops, LS_COUNT_OF(ops));
    rig_run(r);
    static const bool faults[] = { false, true, true, true, true, true, false, false };
    for (size_t i = 0; i < LS_COUNT_OF(ops); i++)
        assert_int_equal((ops[i].reply.flags & LS_LINE_FAULT) != 0, faults[i]);
    /* The answer says whether the page is mapped at all. */
    for (size_t i = 0; i < LS_COUNT_OF(ops); i++)
        assert_int_equal((ops[i].reply.flags & LS_LINE_READ_ONLY) != 0, i == 1);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(ops[2].reply.data[i] | ops[4].reply.data[i] | ops[5].reply.data[i], 0);
    assert_line(&ops[0], 4096, 64);
    assert_int_equal(rig_counters(r->l2[0])->faults, 5);
    rig_destroy(r);
}

/* --- atomics --- */

/* Every row, both widths, in every place of a line, against the same function on plain memory. */
static void atomics_happen_at_home(void **state)
{
    (void)state;
    for (uint32_t line_bytes = 64; line_bytes <= 128; line_bytes *= 2) {
        rig_shape shape = rig_shape_default(line_bytes);
        rig *r = rig_create(&shape, 65536);
        static rig_op ops[2 * AMD_ATOMIC_COUNT];
        static uint8_t memory[2 * AMD_ATOMIC_COUNT][128], old[2 * AMD_ATOMIC_COUNT][128];
        size_t count = 0;
        ls_random random;
        ls_random_init(&random, line_bytes);
        for (uint32_t what = 1; what < AMD_ATOMIC_COUNT; what++)
            for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
                rig_op op = { .m = { .address = r->base + count * 256,
                                     .kind = LS_LINE_ATOMIC,
                                     .flags = LS_LINE_RETURN,
                                     .atomic = (uint8_t)what,
                                     .atomic_bytes = (uint8_t)bytes } };
                bool pair = line_atomic_is_pair(op.m.atomic);
                uint8_t *before = address_space_host(r->address_space, op.m.address, line_bytes);
                for (uint32_t i = 0; i < line_bytes; i += 4) {
                    float value = (float)(int32_t)(ls_random_next(&random) % 16) - 8.0f;
                    memcpy(before + i, &value, 4);
                    value = (float)(int32_t)(ls_random_next(&random) % 16) - 8.0f;
                    memcpy(op.m.data + i, &value, 4);
                }
                op.m.half = pair && line_bytes == 128 ? (uint8_t)(what % 2) : 0;
                uint32_t base = op.m.half * 64u, end = pair ? base + 64 : line_bytes;
                if (pair)
                    memcpy(op.m.data + 64, before + base, 64); /* comparands: most of them equal */
                memcpy(memory[count], before, line_bytes);
                for (uint32_t at = base; at < end; at += bytes) {
                    if (at % 24 == 0)
                        continue;
                    op.m.mask[at / 64] |= (bytes == 8 ? UINT64_C(0xff) : UINT64_C(0xf)) << at % 64;
                    _Alignas(8) uint8_t place[8];
                    uint32_t data[4] = { 0 };
                    memcpy(place, before + at, bytes);
                    memcpy(data, op.m.data + at - base, bytes);
                    if (pair)
                        memcpy(data + bytes / 4, op.m.data + 64 + at - base, bytes);
                    amd_atomic_apply(place, bytes, (amd_atomic)what, data);
                    memcpy(memory[count] + at, place, bytes);
                    memcpy(old[count] + at, data, bytes);
                }
                ops[count++] = op;
            }
        rig_script(r, 0, ops, count);
        rig_run(r);
        for (size_t i = 0; i < count; i++) {
            uint32_t base = line_atomic_is_pair(ops[i].m.atomic) ? ops[i].m.half * 64u : 0;
            for (uint32_t byte = 0; byte < line_bytes; byte++)
                if ((ops[i].m.mask[byte / 64] >> byte % 64 & 1) != 0)
                    assert_int_equal(ops[i].reply.data[byte - base], old[i][byte]);
        }
        rig_op flush[] = { control(LS_LINE_FLUSH, 1) };
        rig_script(r, 0, flush, 1);
        rig_run(r);
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(address_space_host(r->address_space, ops[i].m.address, line_bytes), memory[i],
                                line_bytes);
        rig_destroy(r);
    }
}

/* A bank is busy for atomic_cycles with each operand. */
static void atomics_take_time(void **state)
{
    (void)state;
    enum { N = 16, OPERANDS = 8, CYCLES = 3 };
    rig_shape shape = rig_shape_default(64);
    shape.l2.atomic_cycles = CYCLES;
    rig *r = rig_create(&shape, 65536);
    rig_op ops[N + 1] = { rig_read(r->base) };
    for (uint32_t i = 1; i <= N; i++)
        ops[i] = (rig_op){ .m = { .address = r->base,
                                  .kind = LS_LINE_ATOMIC,
                                  .mask = { UINT64_C(0xffffffff) },
                                  .atomic = AMD_ATOMIC_ADD,
                                  .atomic_bytes = 4,
                                  .flags = LS_LINE_RETURN,
                                  .data = { 1 } },
                           .fence = i == 1 };
    rig_script(r, 0, ops, N + 1);
    rig_run(r);
    assert_int_equal(ops[1].done - ops[1].sent, L2_HIT + OPERANDS * CYCLES);
    for (uint32_t i = 2; i <= N; i++) {
        assert_int_equal(ops[i].done - ops[i - 1].done, OPERANDS * CYCLES);
        assert_int_equal(ops[i].reply.data[0], i - 1);
    }
    rig_destroy(r);
}

static void lines_of_two_sizes_do_not_meet(void **state)
{
    (void)state;
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_clock clock;
    ls_block *small = NULL, *large = NULL;
    ls_error error = { 0 };
    RIG_OK(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), err));
    RIG_OK(ls_engine_create(1, &engine, err));
    RIG_OK(ls_domain_create(engine, "d", clock, &domain, err));
    line_cache_spec of_64 = rig_cache(1, 2, 64, WRITE_BACK), of_128 = rig_cache(1, 2, 128, WRITE_BACK);
    rig_block(ls_domain_region(domain, 0), "vector", LINE_CACHE_SLOT, "cycle", &of_64, &small);
    rig_block(ls_domain_region(domain, 0), "l2", LINE_CACHE_SLOT, "cycle", &of_128, &large);
    assert_int_equal(line_cache_set_below(small, large, &error), LS_ERR_INPUT);
    assert_non_null(strstr(error.what, "'vector' has lines of 64 bytes, but 'l2' below it has 128"));
    of_64.ways = 3;
    const ls_block_type *type = ls_registry_find_block(LINE_CACHE_SLOT, "cycle");
    assert_int_equal(ls_block_create(ls_domain_region(domain, 0), "odd", type, &of_64, &small, &error),
                     LS_ERR_INPUT);
    assert_non_null(strstr(error.what, "3 ways do not divide"));
    ls_engine_destroy(engine);
}

/* --- a memory that takes everything and never answers --- */

static bool hole_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now)
{
    (void)self, (void)client, (void)m, (void)now;
    return true;
}

static ls_status hole_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                             ls_error *err);

static const ls_line_memory_ops hole_ops = { .request = hole_request, .attach = hole_attach };

static ls_status hole_attach(void *self, const ls_line_client_ops *ops, void *client, ls_line_port *out,
                             ls_error *err)
{
    (void)ops, (void)client, (void)err;
    *out = (ls_line_port){ .ops = &hole_ops, .self = self, .line_bytes = 64 };
    return LS_OK;
}

static const ls_port_decl hole_ports[] = {
    { .name = LS_LINE_MEMORY_PORT, .interface = LS_LINE_MEMORY_INTERFACE, .ops = &hole_ops },
};

static const ls_block_type hole_type = {
    .abi = LS_ABI_VERSION,
    .slot = "test",
    .name = "hole",
    .state_size = 8,
    .ports = hole_ports,
    .port_count = LS_COUNT_OF(hole_ports),
};

/* Any block with the interface can stand below a cache; and a cache that waits for ever names the reason. */
static void a_stuck_cache_says_what_it_waits_for(void **state)
{
    (void)state;
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_clock clock;
    ls_block *cache = NULL, *hole = NULL;
    ls_error error = { 0 };
    rig_client client = { 0 };
    rig_op ops[4];
    line_cache_spec spec = rig_cache(1, 2, 64, WRITE_AROUND);
    spec.mshr_entries = 2;
    RIG_OK(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), err));
    RIG_OK(ls_engine_create(1, &engine, err));
    RIG_OK(ls_domain_create(engine, "d", clock, &domain, err));
    client.region = ls_domain_region(domain, 0);
    RIG_OK(ls_block_create(client.region, "hole", &hole_type, NULL, &hole, err));
    rig_block(client.region, "stuck", LINE_CACHE_SLOT, "cycle", &spec, &cache);
    assert_int_equal(line_cache_set_below(hole, cache, &error), LS_ERR_USAGE);
    assert_non_null(strstr(error.what,
                           "block 'hole' (test/hole) provides no port of interface 'line-cache/4'"));
    RIG_OK(line_cache_set_below(cache, hole, err));
    RIG_OK(ls_line_join(cache, &rig_client_ops, &client, &client.port, err));
    ls_event_init(&client.event, rig_event, &client);
    for (uint32_t i = 0; i < 3; i++)
        ops[i] = rig_read(LS_WINDOW_BASE + i * 64);
    client.ops = ops;
    client.count = 3;
    ls_schedule(client.region, &client.event, 1);
    ls_domain_pending(domain, 1);
    assert_int_equal(ls_run(engine, &(ls_run_options){ .threads = 1 }, NULL, &error), LS_ERR_DEADLOCK);
    assert_non_null(strstr(ls_engine_report(engine), "stuck"));
    assert_non_null(strstr(ls_engine_report(engine),
                           "2 lines and 0 requests below, 0 to send, 1 requesters refused"));
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_are_sums),
        cmocka_unit_test(more_levels_are_longer_sums),
        cmocka_unit_test(a_page_leaves_caches),
        cmocka_unit_test(lines_of_moving_pages_pass_l2),
        cmocka_unit_test(ports_and_banks_limit_the_rate),
        cmocka_unit_test(narrow_paths_limit_the_rate),
        cmocka_unit_test(the_port_is_shared_in_turn),
        cmocka_unit_test(one_line_on_its_way_serves_all),
        cmocka_unit_test(policies_differ_in_what_stays),
        cmocka_unit_test(order_is_kept_at_a_line_on_its_way),
        cmocka_unit_test(invalidation_reaches_lines_on_their_way),
        cmocka_unit_test(flush_writes_back_and_keeps),
        cmocka_unit_test(faults_have_no_data),
        cmocka_unit_test(atomics_happen_at_home),
        cmocka_unit_test(atomics_take_time),
        cmocka_unit_test(lines_of_two_sizes_do_not_meet),
        cmocka_unit_test(a_stuck_cache_says_what_it_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
