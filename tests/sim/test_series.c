/* test_series.c: metrics over time through the library: sums equal the run's counters, threads and windows do not
 * matter, files have them, the run itself does not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORMS LS_SOURCE_DIR "/platforms"

static const char *const dirs[] = { PLATFORMS };
static ls_error err;

static int use_kernels(void **state)
{
    (void)state;
    return setenv("LOCKSTEP_KERNELS", LS_BINARY_DIR "/share/lockstep/kernels", 1);
}

static const ls_sim_setting small = { NULL, 4096 };

static ls_sim_options options_of(int kind)
{
    ls_sim_options o = { LS_SIM_OPTIONS, .platform_dirs = dirs, .platform_dir_count = 1 };
    o.platform = kind == 0 ? "rtx2060" : "r9nano";
    o.workload = kind == 0 ? "synth:gemm" : "fir";
    o.cta_limit = kind == 0 ? 2 : 0;
    o.settings = kind == 0 ? NULL : &small;
    o.setting_count = kind == 0 ? 0 : 1;
    o.gpus = kind == 2 ? 2 : 0;
    o.devices = kind == 2 ? "discrete" : NULL;
    return o;
}

static ls_sim *run(int kind, const ls_sim_run_options *how)
{
    ls_sim_options o = options_of(kind);
    ls_sim *sim;
    if (ls_sim_open(&o, &sim, &err) != LS_OK || ls_sim_run(sim, how, &err) != LS_OK)
        fail_msg("%s", err.what);
    return sim;
}

static uint64_t counter(ls_sim *sim, const ls_sim_series_column *c)
{
    ls_sim_metric m;
    char path[16];
    snprintf(path, sizeof path, "gpu%d.*", (int)c->gpu);
    assert_int_equal(ls_sim_find_metric(sim, LS_SIM_RUN, c->type, c->gpu < 0 ? NULL : path, c->name, &m, &err),
                     LS_OK);
    return m.value;
}

static void test_sums_are_the_counters(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .series_every = "500cycles" };
        const ls_sim_run_options plain = { LS_SIM_RUN_OPTIONS };
        ls_sim *sim = run(kind, &how), *without = run(kind, &plain);
        ls_sim_series s = ls_sim_get_series(sim);
        assert_true(s.columns > 8 && s.intervals > 4 && s.intervals <= 1024);
        assert_int_equal(ls_sim_get_series(without).columns, 0);
        assert_int_equal(ls_sim_get_result(sim).end_time, ls_sim_get_result(without).end_time);
        assert_int_equal(ls_sim_get_result(sim).events, ls_sim_get_result(without).events);
        size_t moving = 0;
        for (size_t c = 0; c < s.columns; c++) {
            ls_sim_series_column column;
            assert_int_equal(ls_sim_get_series_column(sim, c, &column, &err), LS_OK);
            assert_int_equal(column.kind, LS_METRIC_KIND_COUNTER);
            double sum = 0;
            for (size_t i = 0; i < s.intervals; i++)
                sum += ls_sim_series_value(sim, i, c);
            if (sum != (double)counter(without, &column))
                fail_msg("%s.%s: %.0f over time, %llu in the run", column.type, column.name, sum,
                         (unsigned long long)counter(without, &column));
            moving += sum > 0;
        }
        assert_true(moving > 4);
        assert_true(isnan(ls_sim_series_value(sim, s.intervals, 0)));
        assert_true(isnan(ls_sim_series_value(sim, 0, s.columns)));
        ls_sim_close(without);
        ls_sim_close(sim);
    }
}

static void test_same_for_any_threads_and_window(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .series_every = "333ns", .threads = 1 };
        ls_sim *first = run(kind, &how);
        ls_sim_series s = ls_sim_get_series(first);
        static const uint32_t threads[] = { 2, 3, 8 };
        for (size_t t = 0; t < 3; t++) {
            how.threads = threads[t];
            how.window_fs = t == 1 ? 3000000 : 0;
            ls_sim *sim = run(kind, &how);
            ls_sim_series got = ls_sim_get_series(sim);
            assert_memory_equal(&got, &s, sizeof s);
            for (size_t c = 0; c < s.columns; c++)
                for (size_t i = 0; i < s.intervals; i++)
                    assert_true(ls_sim_series_value(sim, i, c) == ls_sim_series_value(first, i, c));
            ls_sim_close(sim);
        }
        ls_sim_close(first);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const wrong[] = { "isued" };
    const struct {
        ls_sim_run_options how;
        const char *says;
    } cases[] = {
        { { LS_SIM_RUN_OPTIONS, .series_every = "5cyc" }, "'5cyc' is no interval" },
        { { LS_SIM_RUN_OPTIONS, .series_every = "cycles" }, "'cycles' is no interval" },
        { { LS_SIM_RUN_OPTIONS, .series_every = "0ns" }, "longer than 0 s" },
        { { LS_SIM_RUN_OPTIONS, .series = wrong, .series_count = 1 }, "--series-every" },
        { { LS_SIM_RUN_OPTIONS, .series_every = "1us", .series = wrong, .series_count = 1 }, "'isued'" },
    };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        ls_sim_options o = options_of(0);
        ls_sim *sim;
        assert_int_equal(ls_sim_open(&o, &sim, &err), LS_OK);
        assert_int_equal(ls_sim_run(sim, &cases[i].how, &err), LS_ERR_USAGE);
        if (!strstr(err.what, cases[i].says))
            fail_msg("%s", err.what);
        ls_sim_close(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_the_counters),
        cmocka_unit_test(test_same_for_any_threads_and_window),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, use_kernels, NULL);
}
