/* test_sample.c: the statistics of sampled simulation in closed form, plans, steady states and warm caches. */
#include "kernel_text.h"

#include "workload/sample/sample.h"
#include "workload/sample/sample_blocks.h"
#include "workload/sample/sample_stats.h"
#include "workload/sample/sample_warm.h"

#include <math.h>

static void assert_near(double value, double expected, double within)
{
    if (!(fabs(value - expected) <= within))
        fail_msg("%.9g is not %.9g", value, expected);
}

/* ---------------------------------------------------------------------------------------------- statistics */

static void test_student(void **state)
{
    (void)state;
    assert_near(sample_student(1), 12.706, 1e-3);
    assert_near(sample_student(0.3), 12.706, 1e-3);
    assert_near(sample_student(NAN), 12.706, 1e-3);
    assert_near(sample_student(2.9), 4.303, 1e-3);
    assert_near(sample_student(9), 2.262, 1e-3);
    assert_near(sample_student(10), 2.228, 1e-3);
    assert_near(sample_student(30), 2.042, 1e-3);
    assert_near(sample_student(1e6), 1.960, 1e-3);
}

/* Values are 2 and 4 of sizes 1 and 1, and 10 units: r = 3, s^2 = 2, variance 100 * 0.8 * 2 / 2. */
static void test_one_stratum(void **state)
{
    (void)state;
    sample_stratum s = { .units = 10, .size = 10 };
    sample_stratum_add(&s, 1, 2, 0);
    sample_stratum_add(&s, 1, 4, 0);
    assert_near(sample_stratum_value(&s), 30, 1e-9);
    assert_near(sample_stratum_spread(&s), 2, 1e-9);
    sample_total t = sample_estimate(&s, 1);
    assert_near(t.value, 30, 1e-9);
    assert_near(t.freedom, 1, 1e-9);
    assert_near(t.half, 12.7062 * sqrt(80), 1e-3);
    assert_near(t.guessed, 24, 1e-9);
    assert_near(t.pooled_cv, sqrt(2.0 / 9), 1e-9);
}

/* Values in the ratio of their sizes have no spread, whatever the sizes are. */
static void test_ratio(void **state)
{
    (void)state;
    sample_stratum s = { .units = 4, .size = 100 };
    sample_stratum_add(&s, 10, 50, 0);
    sample_stratum_add(&s, 30, 150, 0);
    assert_near(sample_stratum_value(&s), 500, 1e-9);
    assert_near(sample_stratum_spread(&s), 0, 1e-9);
    assert_near(sample_estimate(&s, 1).half, 0, 1e-9);
}

/* All units are measured: exact, but for what their own extrapolation leaves open. */
static void test_census(void **state)
{
    (void)state;
    sample_stratum s = { .units = 2, .size = 7 };
    sample_stratum_add(&s, 3, 5, 0);
    sample_stratum_add(&s, 4, 90, 9);
    sample_total t = sample_estimate(&s, 1);
    assert_near(t.value, 95, 1e-9);
    assert_near(t.half, 4.3027 * 3, 1e-3);
    assert_near(t.guessed, 0, 1e-9);
}

/* The stratum with one measured unit has the relative variance of the other: 2 / 9 of its mean squared. */
static void test_pooled(void **state)
{
    (void)state;
    sample_stratum s[2] = { { .units = 2, .size = 2 }, { .units = 3, .size = 3 } };
    sample_stratum_add(&s[0], 1, 2, 0);
    sample_stratum_add(&s[0], 1, 4, 0); /* a census: only its spread counts */
    sample_stratum_add(&s[1], 1, 6, 0);
    sample_total t = sample_estimate(s, 2);
    double variance = 9 * (2.0 / 3) * (36 * 2.0 / 9) / 1;
    assert_near(t.value, 6 + 18, 1e-9);
    assert_near(t.freedom, 1, 1e-9);
    assert_near(t.half, 12.7062 * sqrt(variance), 1e-3);
    assert_true(isnan(sample_stratum_spread(&s[1])));
}

/* Two equal units are no proof that all are: the pooled variance, 1 % of the mean squared, counts as one observation more. */
static void test_equal_by_chance(void **state)
{
    (void)state;
    sample_stratum s[2] = { { .units = 10, .size = 10 }, { .units = 4, .size = 4 } };
    for (int i = 0; i < 2; i++) {
        sample_stratum_add(&s[0], 1, 10, 0);
        sample_stratum_add(&s[1], 1, i == 0 ? 9 : 11, 0);
    }
    sample_total t = sample_estimate(s, 2);
    double first = 100 * 0.8 * ((0 + 1) / 2.0) / 2, second = 16 * 0.5 * ((2 + 1) / 2.0) / 2;
    assert_near(t.value, 140, 1e-9);
    assert_near(t.freedom, (first + second) * (first + second) / (first * first + second * second), 1e-9);
    assert_near(t.half, 12.7062 * sqrt(first + second), 1e-3);
}

/* Neyman: the stratum with three times the deviation gets three times as many. */
static void test_allocation(void **state)
{
    (void)state;
    sample_stratum s[2] = { { .units = 1000, .size = 1000 }, { .units = 1000, .size = 1000 } };
    for (int i = 0; i < 100; i++) {
        sample_stratum_add(&s[0], 1, 100 + (i % 2 ? 1 : -1), 0);
        sample_stratum_add(&s[1], 1, 100 + (i % 2 ? 3 : -3), 0);
    }
    uint64_t wanted[2];
    assert_int_equal(sample_allocate(s, 2, 0.01, wanted), 0);
    assert_int_equal(wanted[0], 100);
    /* goal 0.0005 * 200000 = 100: V = (100 / 1.97)^2; n = 1000 d * 4000 / (V + 10000), about 100 d * 3.2 */
    uint64_t more = sample_allocate(s, 2, 0.0005, wanted);
    assert_true(more == wanted[0] + wanted[1] - 200);
    assert_true(wanted[1] >= 395 && wanted[1] <= 400); /* at most four times what was measured */
    assert_true(wanted[0] >= 315 && wanted[0] <= 330);
    /* Nothing is left to measure. */
    sample_stratum all = { .units = 2, .size = 2 };
    sample_stratum_add(&all, 1, 1, 0);
    sample_stratum_add(&all, 1, 9, 100);
    assert_int_equal(sample_allocate(&all, 1, 0.01, wanted), 0);
}

/* ---------------------------------------------------------------------------------------------------- plans */

static sample_plan *plan_of(const char *text, const uint64_t *instructions, size_t count)
{
    sample_spec spec;
    sample_plan *plan;
    ls_error err;
    assert_int_equal(sample_spec_read(text, &spec, &err), LS_OK);
    assert_int_equal(sample_plan_create(&spec, &plan, &err), LS_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(sample_plan_add(plan, "k", 1, instructions[i], &err), LS_OK);
    assert_int_equal(sample_plan_begin(plan, &err), LS_OK);
    return plan;
}

static size_t run_wanted(sample_plan *plan, double rate)
{
    size_t ran = 0;
    for (size_t i = 0; i < sample_plan_count(plan); i++)
        if (sample_plan_wants(plan, i)) {
            double cycles = rate * (double)sample_plan_instructions(plan, i);
            sample_plan_measured(plan, i,
                                 &(sample_measure){ .cycles = cycles, .cycles_simulated = (uint64_t)cycles });
            ran++;
        }
    return ran;
}

/* The first launch is alone; 100 to 125 are one stratum, 126 begins the next. */
static void test_strata(void **state)
{
    (void)state;
    const uint64_t counts[] = { 100, 100, 125, 110, 126, 126, 126, 400 };
    sample_plan *plan = plan_of("sieve", counts, LS_COUNT_OF(counts));
    sample_result r;
    assert_true(sample_plan_stratum(plan, 1) == sample_plan_stratum(plan, 2));
    assert_true(sample_plan_stratum(plan, 0) != sample_plan_stratum(plan, 1));
    assert_true(sample_plan_stratum(plan, 2) != sample_plan_stratum(plan, 4));
    assert_true(sample_plan_stratum(plan, 6) != sample_plan_stratum(plan, 7));
    assert_true(sample_plan_wants(plan, 0) && sample_plan_wants(plan, 7));
    run_wanted(plan, 3);
    sample_plan_estimate(plan, &r);
    assert_int_equal(r.strata, 4);
    assert_int_equal(r.kernels, 8);
    assert_int_equal(r.instructions, 1213);
    assert_near(r.cycles, 3 * 1213, 1e-6);
    assert_true(r.low <= r.cycles && r.cycles <= r.high);
    sample_plan_destroy(plan);
}

/* Equal kernels: a few stand for 10,000, always the same ones, spread over the run. */
static void test_representatives(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static uint64_t counts[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        counts[i] = 50;
    sample_plan *a = plan_of("sieve", counts, COUNT), *b = plan_of("sieve", counts, COUNT);
    size_t chosen = 0, late = 0;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(sample_plan_wants(a, i), sample_plan_wants(b, i));
        chosen += sample_plan_wants(a, i);
        late += sample_plan_wants(a, i) && i >= COUNT / 2;
    }
    assert_int_equal(chosen, 5);
    assert_true(late >= 2);
    assert_false(sample_plan_more(a));
    sample_plan_destroy(a);
    sample_plan_destroy(b);
}

static uint64_t noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 40;
}

/* Values with a deviation of 20 %: more are chosen until the goal is reached, and the truth is within. */
static void test_goal(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static uint64_t counts[COUNT];
    static double values[COUNT];
    uint64_t seed = 7, rounds = 0;
    double truth = 0;
    for (size_t i = 0; i < COUNT; i++) {
        counts[i] = 1000;
        values[i] = 1000 + 700 * ((double)(noise(&seed) % 1000) / 1000 - 0.5);
        truth += values[i];
    }
    sample_plan *plan = plan_of("error=3%", counts, COUNT);
    sample_result r;
    do {
        for (size_t i = 0; i < COUNT; i++)
            if (sample_plan_wants(plan, i))
                sample_plan_measured(plan, i, &(sample_measure){ .cycles = values[i] });
    } while (sample_plan_more(plan) && ++rounds < 50);
    sample_plan_estimate(plan, &r);
    assert_true(r.error <= 0.03 && r.goal == 0.03);
    assert_true(r.simulated_kernels > 100 && r.simulated_kernels < 1500);
    assert_true(truth >= r.low && truth <= r.high);
    sample_plan_destroy(plan);
}

/* A goal that nothing but all kernels reaches: each is chosen once, and none is left out. */
static void test_strict_goal(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    uint64_t counts[COUNT], seed = 3;
    for (size_t i = 0; i < COUNT; i++)
        counts[i] = 1000;
    sample_plan *plan = plan_of("error=0.1%", counts, COUNT);
    sample_result r;
    do {
        for (size_t i = 0; i < COUNT; i++)
            if (sample_plan_wants(plan, i))
                sample_plan_measured(plan, i,
                                     &(sample_measure){ .cycles = 1000 + (double)(noise(&seed) % 700) });
    } while (sample_plan_more(plan));
    sample_plan_estimate(plan, &r);
    assert_int_equal(r.simulated_kernels, COUNT);
    sample_plan_destroy(plan);
}

/* Kernels that come once: those that were passed are not chosen any more. */
static void test_in_order(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    sample_spec spec;
    sample_plan *plan;
    sample_result r;
    ls_error err;
    uint64_t seed = 3;
    assert_int_equal(sample_spec_read("error=5%", &spec, &err), LS_OK);
    spec.in_order = true;
    assert_int_equal(sample_plan_create(&spec, &plan, &err), LS_OK);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(sample_plan_add(plan, "k", 1, 100, &err), LS_OK);
    assert_int_equal(sample_plan_begin(plan, &err), LS_OK);
    for (size_t i = 0; i < COUNT; i++)
        if (sample_plan_wants(plan, i)) {
            sample_plan_measured(plan, i, &(sample_measure){ .cycles = 1000 + (double)(noise(&seed) % 400) });
            sample_plan_look(plan, i + 1);
            for (size_t k = 0; k <= i; k++)
                assert_false(sample_plan_wants(plan, k));
        }
    sample_plan_estimate(plan, &r);
    assert_true(r.simulated_kernels >= 5 && r.simulated_kernels < 150 && r.error <= 0.05);
    sample_plan_destroy(plan);
}

static void test_option(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says, *nearest;
    } bad[] = {
        { "sive", "--sample cannot be 'sive'", "sieve" },
        { "sieve,block", "--sample cannot be 'block'", "blocks" },
        { "", "--sample cannot be ''", "" },
        { "error=2", "error=2: the error is 0.1% to 50%", "" },
        { "error=0%", "the error is", "" },
        { "error=60%", "the error is", "" },
        { "cold", "add sieve or error=2%", "" },
    };
    sample_spec spec;
    ls_error err;
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++) {
        assert_int_equal(sample_spec_read(bad[i].text, &spec, &err), LS_ERR_USAGE);
        if (strstr(err.what, bad[i].says) == NULL)
            fail_msg("'%s': %s", bad[i].text, err.what);
        if (bad[i].nearest[0] != '\0')
            assert_string_equal(err.nearest, bad[i].nearest);
    }
    assert_int_equal(sample_spec_read("blocks,error=1.5%", &spec, &err), LS_OK);
    assert_true(spec.blocks && spec.kernels && !spec.cold);
    assert_near(spec.error, 0.015, 1e-12);
    assert_int_equal(sample_spec_read(NULL, &spec, &err), LS_OK);
    assert_false(sample_is_on(&spec));
}

/* ------------------------------------------------------------------------------------------- steady states */

/* A GPU that holds 10 blocks, each of which takes 50 cycles: a window in 50 cycles. */
static uint64_t run_blocks(sample_blocks *s, uint64_t total, uint64_t (*cycles)(uint64_t block))
{
    uint64_t sent = 0, now = 0, skipped = 0;
    sample_blocks_begin(s, total, 10);
    while (sent + skipped < total) {
        skipped += sample_blocks_skip(s, sent + skipped);
        uint64_t wave = total - sent - skipped < 10 ? total - sent - skipped : 10, longest = 0;
        for (uint64_t i = 0; i < wave; i++, sent++) {
            uint64_t took = cycles(sent);
            sample_blocks_touch(s, 100 + sent * 5, 300);
            longest = took > longest ? took : longest;
        }
        for (uint64_t i = 0; i < wave; i++)
            sample_blocks_end(s, now, now + longest);
        now += longest;
    }
    return now;
}

static uint64_t constant(uint64_t block)
{
    (void)block;
    return 50;
}

static uint64_t changing(uint64_t block)
{
    return 50 + block / 10 % 3 * 20 + block / 20;
}

/* 100 waves less 3 take 4850 cycles and 3 blocks; whole waves are left out, and the sum is exact. */
static void test_steady(void **state)
{
    (void)state;
    sample_blocks s;
    double variance;
    uint64_t cycles = run_blocks(&s, 1003, constant);
    assert_true(s.skipped > 800 && s.skipped % 10 == 0);
    assert_near((double)cycles + sample_blocks_cycles(&s, &variance), 101 * 50, 1e-9);
    assert_near(variance, 0, 1e-9);
    assert_true(s.stop_ended >= 40); /* 40 blocks touch as much as the cache holds */
}

static void test_not_steady(void **state)
{
    (void)state;
    sample_blocks s;
    double variance;
    (void)run_blocks(&s, 400, changing);
    assert_int_equal(s.skipped, 0);
    assert_near(sample_blocks_cycles(&s, &variance), 0, 1e-9);
    (void)run_blocks(&s, 60, constant); /* too few waves */
    assert_int_equal(s.skipped, 0);
}

/* -------------------------------------------------------------------------------------------- warm caches */

static uint64_t taken[64];
static size_t taken_count;

static void take(void *self, uint64_t address)
{
    (void)self;
    if (taken_count < LS_COUNT_OF(taken))
        taken[taken_count] = address;
    taken_count++;
}

/* vector-add of 64 elements: 8 sectors of each array. A second kernel that touches the same adds none; of a cache of 10
 * sectors only 10 are filled. */
static void test_warm(void **state)
{
    (void)state;
    sass_trace *trace;
    ls_error err;
    sample_warm w = { 0 };
    bool enough;
    assert_int_equal(trace_open("synth:vector-add,n=64,repeat=2,block=64", NULL, &trace, &err), LS_OK);
    for (int room = 100; room >= 10; room -= 90) {
        assert_int_equal(sample_warm_begin(&w, (uint64_t)room, &err), LS_OK);
        for (uint64_t i = trace_command_count(trace); i-- > 2;) {
            trace_kernel *kernel;
            assert_int_equal(trace_open_kernel(trace, i, &kernel, &err), LS_OK);
            assert_int_equal(sample_warm_kernel(&w, kernel, &enough, &err), LS_OK);
            kernel_close(kernel);
        }
        taken_count = 0;
        sample_warm_each(&w, take, NULL);
        assert_int_equal(taken_count, room == 100 ? 24 : 10);
        assert_int_equal(enough, room == 10);
        assert_int_equal(taken[0] % 32, 0);
        assert_true(taken[0] != taken[1]);
    }
    sample_warm_fini(&w);
    trace_close(trace);
}

/* Generators and packed files know what a scan of the blocks finds. */
static void test_describe(void **state)
{
    (void)state;
    sass_trace *trace;
    ls_error err;
    assert_int_equal(trace_open("synth:application,kernels=24,kinds=12,blocks=2", NULL, &trace, &err), LS_OK);
    for (uint64_t i = 0; i < trace_command_count(trace); i++) {
        ls_kernel_info info;
        uint64_t said, found = 0;
        trace_kernel *kernel;
        ls_cta cta = { 0 };
        bool end = false;
        assert_int_equal(trace_describe(trace, i, &info, &said, &err), LS_OK);
        assert_int_equal(trace_open_kernel(trace, i, &kernel, &err), LS_OK);
        assert_string_equal(info.name, kernel_get_info(kernel)->name);
        while (kernel_next_cta(kernel, &cta, &end, &err) == LS_OK && !end)
            found += cta.dyn_count;
        assert_int_equal(said, found);
        ls_cta_fini(&cta);
        kernel_close(kernel);
    }
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),         cmocka_unit_test(test_one_stratum),
        cmocka_unit_test(test_ratio),           cmocka_unit_test(test_census),
        cmocka_unit_test(test_pooled),          cmocka_unit_test(test_equal_by_chance),
        cmocka_unit_test(test_allocation),      cmocka_unit_test(test_strata),
        cmocka_unit_test(test_representatives), cmocka_unit_test(test_goal),
        cmocka_unit_test(test_strict_goal),     cmocka_unit_test(test_in_order),
        cmocka_unit_test(test_option),          cmocka_unit_test(test_steady),
        cmocka_unit_test(test_not_steady),      cmocka_unit_test(test_warm),
        cmocka_unit_test(test_describe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
