/* test_analytic.c: memory by formula: a chain of loads takes the time of the formula, and counters equal those
 * of the machine with simulated memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fidelity_rig.h"

static const char *const detailed[] = { "core.alu=cycle", NULL };
static const char *const drawn[] = { "core.alu=issue", "core.memory=analytic", NULL };
static const char *const expected[] = { "core.alu=issue", "core.memory=analytic",
                                        "core.analytic_latency=expected", NULL };

static rig_outcome run(const char *kernel, const char *const *sets)
{
    return rig_run(kernel, sets, &(ls_run_options){ .threads = 1 });
}

/* Cycles of 1024 more loads; each needs the one before it. */
static uint64_t chain(uint32_t footprint_kib, const char *const *sets)
{
    char shorter[96], longer[96];
    snprintf(shorter, sizeof shorter, "pointer-chase,loads=1024,footprint_kib=%u", (unsigned)footprint_kib);
    snprintf(longer, sizeof longer, "pointer-chase,loads=2048,footprint_kib=%u", (unsigned)footprint_kib);
    return run(longer, sets).cycles - run(shorter, sets).cycles;
}

/* Every load goes to DRAM, or after the first few to L1: then the mean of the latencies is one of them. */
static void test_levels(void **state)
{
    (void)state;
    /* A DRAM without rows has one latency. */
    const char *const one[] = { "core.alu=issue", "core.memory=analytic", "dram=fixed", NULL };
    const char *const mean[] = { "core.alu=issue", "core.memory=analytic", "dram=fixed",
                                 "core.analytic_latency=expected", NULL };
    const rates_machine m = run("pointer-chase,loads=1024", one).machine;
    /* The few that fill L1 are drawn, one more or less. */
    uint64_t l1 = (chain(4, one) + 512) / 1024, dram = chain(16384, one);
    assert_int_equal(dram % 1024, 0);
    /* A sector takes a cycle of the port to the network and parts of one in L2 and DRAM: two, as cycles are
     * whole. */
    assert_int_equal(dram / 1024 - l1, m.request_cycles + m.reply_cycles + m.dram_cycles + 2);
    assert_int_equal(chain(16384, mean), dram);
}

static void test_l1_latency(void **state)
{
    (void)state;
    const char *const slow[] = { "core.alu=issue", "core.memory=analytic", "core.l1.latency_cycles=45", NULL };
    assert_int_equal(chain(4, slow) - chain(4, drawn), 1024 * (45 - 20));
}

/* Equation 1: drawn one by one or all alike, the sum is that of the levels. */
static void test_mean(void **state)
{
    (void)state;
    static const uint32_t footprints[] = { 4, 16, 64 };
    for (size_t i = 0; i < sizeof footprints / sizeof footprints[0]; i++) {
        char kernel[96];
        snprintf(kernel, sizeof kernel, "pointer-chase,loads=4096,footprint_kib=%u", (unsigned)footprints[i]);
        double one = (double)run(kernel, drawn).cycles, all = (double)run(kernel, expected).cycles;
        assert_true(all / one > 0.98 && all / one < 1.02);
    }
}

/* The same sectors, and as many of them at L2 and DRAM as with simulated caches, in cases without chance. */
static void test_counts(void **state)
{
    (void)state;
    static const char *const kernels[] = { "vector-add,n=65536", "saxpy,n=65536", "stencil,nx=256,ny=128",
                                           "transpose,n=256" };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        rig_outcome real = run(kernels[i], detailed), ours = run(kernels[i], drawn);
        assert_int_equal(ours.warp_instructions, real.warp_instructions);
        assert_int_equal(ours.l1_accesses, real.l1_accesses);
        assert_true((double)ours.l2_sectors > 0.9 * (double)real.l2_sectors);
        assert_true((double)ours.l2_sectors < 1.1 * (double)real.l2_sectors);
        assert_true((double)ours.dram_sectors > 0.85 * (double)real.dram_sectors);
        assert_true((double)ours.dram_sectors < 1.15 * (double)real.dram_sectors);
        assert_true(ours.sampled > 0);
        assert_true(real.sampled == 0);
    }
}

/* Every issue slot has issued or has a reason why not. */
static void test_slots(void **state)
{
    (void)state;
    static const char *const kernels[] = { "gemm,m=128,n=128,k=32", "gather,n=8192", "barrier-storm,ctas=12" };
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        rig_outcome o = run(kernels[i], drawn);
        assert_int_equal(o.accounted, o.slots);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels), cmocka_unit_test(test_l1_latency), cmocka_unit_test(test_mean),
        cmocka_unit_test(test_counts), cmocka_unit_test(test_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
