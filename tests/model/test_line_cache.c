/* test_line_cache.c: caches that hold bytes, in closed form: latencies of hits and misses through all levels, requests
 * per cycle, merging, policies, flush and invalidate, atomics, faults. */
#include "line_rig.h"

#include "isa/amd/exec/memory.h"
#include "model/line/atomic.h"

/* Of the default shape: directory 2, data 10, fill 3, links 20, DRAM 100 for 64 bytes at 2 atoms per cycle. */
enum {
    HIT = 2 + 10,
    L2_PATH = 2 + 20 + 20 + 3, /* L0's directory, links, L0's fill */
    L2_HIT = L2_PATH + HIT,
};

static void fill_memory(rig *r, uint64_t bytes)
{
    uint8_t *at = ls_window_host(r->window, r->base, bytes);
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
        ops[2].m.flags = LINE_GLC;
        rig_script(r, 0, ops, 4);
        rig_run(r);
        /* DRAM: a request reaches it at the next edge, its last atom starts at once, and its answer is in the caches'
         * region at the next edge after. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_are_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
