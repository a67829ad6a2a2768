/* test_starts.c: the cost of starting blocks and warps and of a taken branch, with every pipeline: closed
 * forms of kernels that do almost nothing else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fidelity_rig.h"

#define PIPELINES 4u
static const char *const pipelines[PIPELINES][2] = {
    { "core.alu=cycle", "core.memory=cycle" },
    { "core.alu=issue", "core.memory=cycle" },
    { "core.alu=issue", "core.memory=analytic" },
    { "core.alu=cycle", "core.memory=analytic" },
};

static rig_outcome run(uint32_t pipeline, const char *kernel, const char *a, const char *b, uint32_t threads)
{
    const char *const sets[] = { pipelines[pipeline][0], pipelines[pipeline][1], a, b, NULL };
    rig_outcome o = rig_run(kernel, sets, &(ls_run_options){ .threads = threads });
    assert_int_equal(o.accounted, o.slots);
    return o;
}

#define ANY "cores=6" /* as it is */
#define LOOP "bandwidth,mode=read,ctas=1,block=32,footprint_kib=16,unroll=1,"
#define LOOP_TAKEN 32u /* 31 times back to the next 512 bytes, and once to the next pass */
#define EMPTY "throughput,op=MOV,count=1,"

/* One block of eight warps: the last starts seven intervals after the first. */
static void warps_start_in_turn(void **state)
{
    (void)state;
    for (uint32_t p = 0; p < PIPELINES; p++) {
        ls_cycle once = run(p, EMPTY "warps=8", "core.warp_start_cycles=20", ANY, 1).cycles;
        ls_cycle twice = run(p, EMPTY "warps=8", "core.warp_start_cycles=40", ANY, 1).cycles;
        assert_int_equal(twice - once, 7 * 20);
    }
}

/* The first block of a core waits, later ones on the same core do not: 6 cores with 32 places each. */
static void the_first_block_is_cold(void **state)
{
    (void)state;
    for (uint32_t p = 0; p < PIPELINES; p++) {
        ls_cycle warm = run(p, EMPTY "ctas=1", "core.cold_start_cycles=0", ANY, 1).cycles;
        ls_cycle cold = run(p, EMPTY "ctas=1", "core.cold_start_cycles=300", ANY, 1).cycles;
        assert_int_equal(cold - warm, 300);
        /* At one block in ten cycles the last of 192 arrives after 1910: the cold start is over. */
        const char *rate = "dispatch.block_interval_cycles=10";
        warm = run(p, EMPTY "ctas=192", "core.cold_start_cycles=0", rate, 1).cycles;
        cold = run(p, EMPTY "ctas=192", "core.cold_start_cycles=300", rate, 1).cycles;
        assert_int_equal(cold, warm);
    }
}

static void blocks_come_at_a_rate(void **state)
{
    (void)state;
    for (uint32_t p = 0; p < PIPELINES; p++) {
        const char *rate = "dispatch.block_interval_cycles=5.5";
        ls_cycle few = run(p, EMPTY "ctas=2000", rate, "dispatch_latency_cycles=20", 1).cycles;
        ls_cycle many = run(p, EMPTY "ctas=6000", rate, "dispatch_latency_cycles=20", 1).cycles;
        assert_int_equal(many - few, 4000 * 11 / 2);
    }
}

/* One place on each of 6 cores: 600 blocks follow each other 99 times, so long after the end of the one before
 * as the key says. There and back to the dispatcher takes 180 cycles; with that nothing is sent ahead, but by
 * the core that goes from issue to issue. */
static void a_place_is_taken_again(void **state)
{
    (void)state;
    static const uint64_t refills[] = { 1, 30, 179, 180, 181, 400 };
    static const char *const keys[] = { "refill_latency_cycles=1",   "refill_latency_cycles=30",
                                        "refill_latency_cycles=179", "refill_latency_cycles=180",
                                        "refill_latency_cycles=181", "refill_latency_cycles=400" };
    static const char *const kernels[] = { EMPTY "ctas=600", "chain,op=FFMA,count=64,ctas=600" };
    for (uint32_t p = 0; p < PIPELINES; p++)
        for (size_t k = 0; k < LS_COUNT_OF(kernels); k++) {
            ls_cycle first = run(p, kernels[k], keys[0], "core.cta_slots=1", 1).cycles;
            for (size_t i = 1; i < LS_COUNT_OF(refills); i++)
                assert_int_equal(run(p, kernels[k], keys[i], "core.cta_slots=1", 1).cycles - first,
                                 99 * (refills[i] - 1));
            assert_int_equal(run(p, kernels[k], keys[3], "core.cta_slots=1", 1).cycles,
                             run(p, kernels[k], "refill_latency_cycles=0", "core.cta_slots=1", 1).cycles);
        }
}

/* A pass over what L1 holds: between the second and the third nothing but the loop's own time. */
static ls_cycle pass(uint32_t pipeline, const char *branch)
{
    return run(pipeline, LOOP "passes=3", branch, ANY, 1).cycles -
           run(pipeline, LOOP "passes=2", branch, ANY, 1).cycles;
}

static void a_taken_branch_waits(void **state)
{
    (void)state;
    for (uint32_t p = 0; p < PIPELINES; p++) {
        ls_cycle none = pass(p, "core.branch_cycles=0"), high = pass(p, "core.branch_cycles=200");
        assert_int_equal(pass(p, "core.branch_cycles=1"), none);
        assert_int_equal(high - pass(p, "core.branch_cycles=100"), LOOP_TAKEN * 100);
        /* Branches that fall through wait for nothing. */
        assert_int_equal(run(p, "throughput,op=BRA,count=64", "core.branch_cycles=0", ANY, 1).cycles,
                         run(p, "throughput,op=BRA,count=64", "core.branch_cycles=200", ANY, 1).cycles);
    }
}

/* Everything at once: neither times nor counters depend on the number of threads. */
static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const kernels[] = { "vector-add,n=16384,block=64", "reduction,n=8192,ctas=8",
                                           EMPTY "warps=2,ctas=400" };
    static const char *const refills[] = { "refill_latency_cycles=0", "refill_latency_cycles=1" };
    static const uint32_t threads[] = { 2, 3, 8 };
    for (uint32_t p = 0; p < PIPELINES; p++)
        for (size_t n = 0; n < 2 * LS_COUNT_OF(kernels); n++) {
            size_t k = n / 2, r = n % 2;
            const char *const sets[] = { pipelines[p][0],
                                         pipelines[p][1],
                                         "core.branch_cycles=12",
                                         "core.warp_start_cycles=7",
                                         "core.cold_start_cycles=90",
                                         "dispatch.block_interval_cycles=1.15",
                                         refills[r],
                                         NULL };
            rig_outcome one = rig_run(kernels[k], sets, &(ls_run_options){ .threads = 1 });
            assert_int_equal(one.accounted, one.slots);
            for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
                rig_outcome more = rig_run(kernels[k], sets, &(ls_run_options){ .threads = threads[t] });
                assert_int_equal(more.cycles, one.cycles);
                assert_int_equal(more.digest, one.digest);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_start_in_turn),    cmocka_unit_test(the_first_block_is_cold),
        cmocka_unit_test(blocks_come_at_a_rate),  cmocka_unit_test(a_taken_branch_waits),
        cmocka_unit_test(a_place_is_taken_again), cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
