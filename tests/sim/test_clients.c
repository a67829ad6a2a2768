/* test_clients.c: comparisons, hit rates, sweeps and forms of output through lockstep/sim.h. Small machines: rows are
 * compared with what the simulations themselves say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lockstep/block.h"
#include "lockstep/sim.h"
#include "lockstep/version.h"
#include "workload/temp_dir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const dirs[] = { LS_SOURCE_DIR "/platforms" };
static const char worker[] = LS_BINARY_DIR "/lockstep";
static ls_error err;

static ls_sim_options gemm(void)
{
    return (ls_sim_options){ LS_SIM_OPTIONS,          .platform = "rtx2060",    .platform_dirs = dirs,
                             .platform_dir_count = 1, .workload = "synth:gemm", .cta_limit = 2 };
}

static void ok(ls_status status)
{
    char text[1024];
    if (status != LS_OK)
        fail_msg("%s", ls_error_text(&err, text, sizeof text));
}

static void assert_error(ls_status got, ls_status status, const char *part)
{
    char text[1024];
    assert_int_equal(got, status);
    ls_error_text(&err, text, sizeof text);
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

static ls_sim *simulate(const char *set)
{
    ls_sim_options options = gemm();
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 1 };
    ls_sim *sim;
    options.sets = &set;
    options.set_count = 1;
    ok(ls_sim_open(&options, &sim, &err));
    ok(ls_sim_run(sim, &how, &err));
    return sim;
}

/* ------------------------------------------------------------------------------------------------ workloads */

static void test_options_belong_to_kinds_of_workloads(void **state)
{
    (void)state;
    const char *called = "";
    assert_int_equal(ls_sim_kind_of(NULL), LS_SIM_NOTHING);
    assert_int_equal(ls_sim_kind_of("synth:gemm"), LS_SIM_TRACE);
    assert_int_equal(ls_sim_kind_of("fir"), LS_SIM_WORKLOAD);
    assert_string_equal(ls_sim_kind_name(LS_SIM_TRACE), "a trace");
    assert_string_equal(ls_sim_kind_name(LS_SIM_KINDS), "");
    assert_true(ls_sim_takes("synth:gemm", "ctas", &called));
    assert_true(ls_sim_takes("synth:gemm", "threads", NULL));
    assert_false(ls_sim_takes("synth:gemm", "grid", &called));
    assert_string_equal(called, "code objects");
    assert_false(ls_sim_takes("fir", "ctas", &called));
    assert_string_equal(called, "traces");
    assert_true(ls_sim_takes("nowhere/at/all", "grid", NULL));
}

static void test_a_simulation_names_its_machine(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim;
    ok(ls_sim_open(&options, &sim, &err));
    assert_string_equal(ls_sim_machine(sim), "gpu");
    assert_non_null(strstr(ls_sim_platform_file(sim), "rtx2060.yaml"));
    assert_true(ls_engine_block_count(ls_sim_engine(sim)) > 30);
    ls_sim_close(sim);
}

static char *printed(ls_sim *sim, const ls_sim_print_options *options)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    ok(ls_sim_print_as(sim, options, to, &err));
    fclose(to);
    return text;
}

static void test_results_are_printed_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *format, *part;
    } forms[] = { { NULL, "kernel" },
                  { "json", "\"config_hash\"" },
                  { "csv", "kernel," },
                  { "tidy", "scope," },
                  { "accelsim", "gpu_sim_cycle = " } };
    ls_sim *sim = simulate("l2.ways=16");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *text = printed(sim, &(ls_sim_print_options){ LS_SIM_PRINT_OPTIONS, .format = forms[i].format });
        if (!strstr(text, forms[i].part))
            fail_msg("format %s has no '%s': %.200s", forms[i].format, forms[i].part, text);
        free(text);
    }
    assert_error(ls_sim_check_format(sim, "cvs", &err), LS_ERR_USAGE, "nearest: csv");
    assert_error(ls_sim_print_scaling(sim, stderr, &err), LS_ERR_USAGE, "scaling");
    ls_sim_close(sim);
}

static void test_accelsim_is_for_traces_with_caches(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim;
    options.fidelity = "memory";
    ok(ls_sim_open(&options, &sim, &err));
    assert_int_equal(ls_sim_check_format(sim, "accelsim", &err), LS_ERR_USAGE);
    assert_int_equal(ls_sim_check_format(sim, "json", &err), LS_OK);
    ls_sim_close(sim);
}

/* ---------------------------------------------------------------------------------------------- comparisons */

static void test_a_comparison_has_what_the_runs_say(void **state)
{
    (void)state;
    ls_sim *sims[2] = { simulate("l2.ways=16"), simulate("l2.delay_cycles=300") };
    ls_sim_diff *diff;
    ok(ls_sim_export(sims[0], "a.json", NULL, &err));
    ok(ls_sim_export(sims[1], "b.json", NULL, &err));
    const ls_sim_compare_options options = { LS_SIM_COMPARE_OPTIONS, .metric = "core/*.resident_cycles" };
    ok(ls_sim_compare("a.json", "b.json", &options, &diff, &err));
    ls_sim_diff_info info = ls_sim_diff_get(diff);
    assert_string_equal(info.a.path, "a.json");
    assert_string_equal(info.b.platform, "rtx2060");
    assert_int_equal(info.compared, 1);
    assert_int_equal(info.metrics, 1);

    ls_sim_diff_row row;
    ok(ls_sim_get_diff(diff, LS_SIM_DIFF_METRICS, 0, &row, &err));
    double values[2];
    for (int i = 0; i < 2; i++) {
        ls_sim_metric m;
        ok(ls_sim_find_metric(sims[i], LS_SIM_RUN, "core/*", NULL, "resident_cycles", &m, &err));
        values[i] = (double)m.value;
    }
    assert_true(values[0] < values[1]);
    assert_true(row.a == values[0] && row.b == values[1]);
    assert_true(fabs(row.difference - (values[1] - values[0]) / values[1]) < 1e-12);
    assert_null(row.block);

    ok(ls_sim_get_diff(diff, LS_SIM_DIFF_TIMES, 0, &row, &err));
    assert_int_equal(row.kernel, 0);
    assert_true(row.a == (double)ls_sim_get_result(sims[0]).end_time / 1e6);
    assert_error(ls_sim_get_diff(diff, LS_SIM_DIFF_METRICS, 1, &row, &err), LS_ERR_USAGE, "no row 1");

    bool found = false;
    ls_sim_diff_key key;
    for (size_t i = 0; ls_sim_get_diff_key(diff, i, &key, &err) == LS_OK; i++)
        found |= strcmp(key.key, "l2.delay_cycles") == 0 && strcmp(key.b, "300") == 0;
    assert_true(found && info.keys > 0);
    ls_sim_diff_close(diff);
    ls_sim_close(sims[0]);
    ls_sim_close(sims[1]);
}

static void test_a_run_does_not_differ_from_itself(void **state)
{
    (void)state;
    ls_sim_diff *diff;
    ok(ls_sim_compare("a.json", "a.json", NULL, &diff, &err));
    ls_sim_diff_info info = ls_sim_diff_get(diff);
    assert_true(info.compared > 50);
    assert_int_equal(info.metrics + info.keys + info.only_a + info.only_b, 0);
    ls_sim_diff_close(diff);
}

static void test_comparisons_of_nothing_are_refused(void **state)
{
    (void)state;
    ls_sim_diff *diff = (ls_sim_diff *)&diff;
    assert_error(ls_sim_compare("a.json", "c.json", NULL, &diff, &err), LS_ERR_IO, "c.json");
    assert_null(diff);
    const ls_sim_compare_options name = { LS_SIM_COMPARE_OPTIONS, .metric = "nothing-like-it" };
    assert_error(ls_sim_compare("a.json", "b.json", &name, &diff, &err), LS_ERR_USAGE, "nothing-like-it");
    const ls_sim_compare_options share = { LS_SIM_COMPARE_OPTIONS, .threshold = 1.5 };
    assert_error(ls_sim_compare("a.json", "b.json", &share, &diff, &err), LS_ERR_USAGE, "threshold");
    ls_sim_diff_close(NULL);
}

/* ---------------------------------------------------------------------------------------------------- rates */

static void count_warning(void *self, const char *text)
{
    assert_non_null(strstr(text, "l2.prefetch_degree"));
    ++*(int *)self;
}

static void test_rates_of_instructions_add_up(void **state)
{
    (void)state;
    const char *const sets[] = { "l2.prefetch=none", "l2.prefetch_degree=9" };
    int warnings = 0;
    ls_sim_options options = gemm();
    const ls_sim_profile_options how = { LS_SIM_PROFILE_OPTIONS, .warn = count_warning,
                                         .warn_self = &warnings };
    ls_sim_rates *rates;
    ls_sim_rate sum, part, parts = { 0 };
    options.sets = sets;
    options.set_count = 2;
    ok(ls_sim_rates_make(&options, &how, &rates, &err));
    assert_int_equal(warnings, 1);
    assert_int_equal(ls_sim_rates_kernel_count(rates), 1);
    ok(ls_sim_get_rate(rates, 0, LS_SIM_RUN, &sum, &err));
    assert_true(sum.accesses > 0 && sum.kernel == 1 && sum.pc == 0);
    assert_int_equal(sum.at[0] + sum.at[1] + sum.at[2] + sum.at[3], sum.accesses);
    for (size_t i = 0; i < ls_sim_rates_inst_count(rates, 0); i++) {
        ok(ls_sim_get_rate(rates, 0, i, &part, &err));
        parts.accesses += part.accesses;
        parts.sectors += part.sectors;
        parts.dram_sectors += part.dram_sectors;
    }
    assert_int_equal(parts.accesses, sum.accesses);
    assert_int_equal(parts.sectors, sum.sectors);
    assert_int_equal(parts.dram_sectors, sum.dram_sectors);
    assert_error(ls_sim_get_rate(rates, 1, 0, &part, &err), LS_ERR_USAGE, "no kernel 1");
    assert_error(ls_sim_get_rate(rates, 0, 9999, &part, &err), LS_ERR_USAGE, "no 9999");
    const char *written;
    ok(ls_sim_rates_write(rates, "rates.prof", &written, &err));
    assert_string_equal(written, "rates.prof");
    assert_int_equal(access("rates.prof", R_OK), 0);
    ls_sim_rates_close(rates);
    ls_sim_rates_close(NULL);
}

/* --------------------------------------------------------------------------------------------------- sweeps */

static const char *const workloads[] = { "synth:gemm" };
static const char *const vary[] = { "l2.delay_cycles=100,300" };
static const char *const columns[] = { "core/*.resident_cycles" };

static ls_sim_sweep_options grid(const ls_sim_options *base, const char *database)
{
    return (ls_sim_sweep_options){ LS_SIM_SWEEP_OPTIONS, .base = base,       .workloads = workloads,
                                   .workload_count = 1,  .vary = vary,       .vary_count = 1,
                                   .database = database, .metrics = columns, .metric_count = 1,
                                   .worker = worker };
}

typedef struct seen {
    ls_sim_sweep *sweep;
    size_t calls, points, failed;
    double cycles[2];
    bool stop;
} seen;

static void on_progress(void *self, const ls_sim_sweep_progress *now)
{
    seen *s = self;
    s->calls++;
    assert_true(now->finished <= now->to_run && now->done_before + now->to_run == now->points);
    if (s->stop)
        ls_sim_sweep_stop(s->sweep);
}

static void on_point(void *self, size_t index, const ls_sim_point *point)
{
    seen *s = self;
    s->points++;
    s->failed += point->error != NULL;
    assert_int_equal(point->done, point->error == NULL);
    s->cycles[index] = point->cycles;
}

static ls_sim_sweep_run_options told(seen *s)
{
    return (ls_sim_sweep_run_options){ LS_SIM_SWEEP_RUN_OPTIONS, .jobs = 2, .progress = on_progress,
                                       .point = on_point, .self = s };
}

static void test_a_sweep_runs_every_point_once(void **state)
{
    (void)state;
    const ls_sim_options base = gemm();
    const ls_sim_sweep_options options = grid(&base, "sweep.db");
    for (int round = 0; round < 2; round++) {
        seen s = { 0 };
        const ls_sim_sweep_run_options how = told(&s);
        ls_sim_point points[2];
        ok(ls_sim_sweep_open(&options, &s.sweep, &err));
        assert_int_equal(ls_sim_sweep_point_count(s.sweep), 2);
        assert_string_equal(ls_sim_sweep_key(s.sweep, 0), "l2.delay_cycles");
        assert_null(ls_sim_sweep_key(s.sweep, 1));
        ok(ls_sim_sweep_run(s.sweep, &how, &err));
        ls_sim_sweep_progress end = ls_sim_sweep_get_progress(s.sweep);
        assert_int_equal(end.done_before, round == 0 ? 0 : 2);
        assert_int_equal(s.points, round == 0 ? 2 : 0);
        assert_true(s.calls > 0);
        for (size_t i = 0; i < 2; i++) {
            ok(ls_sim_get_point(s.sweep, i, &points[i], &err));
            assert_true(points[i].done && points[i].run > 0 && !points[i].error);
            if (round == 0)
                assert_true(points[i].cycles == s.cycles[i]);
        }
        assert_string_equal(points[1].values[0], "300");
        assert_true(points[0].cycles < points[1].cycles);
        assert_string_equal(ls_sim_sweep_column(s.sweep, 0), "core/cycle.resident_cycles");
        assert_true(ls_sim_sweep_value(s.sweep, 0, 0) < ls_sim_sweep_value(s.sweep, 1, 0));
        assert_true(isnan(ls_sim_sweep_value(s.sweep, 0, 1)));
        ok(ls_sim_sweep_write(s.sweep, "sweep.csv", &err));
        ok(ls_sim_sweep_write(s.sweep, "sweep.html", &err));
        assert_error(ls_sim_sweep_write(s.sweep, "sweep.txt", &err), LS_ERR_USAGE, ".csv or .html");
        ls_sim_sweep_close(s.sweep);
    }
}

static void test_a_point_of_a_sweep_is_the_simulation_itself(void **state)
{
    (void)state;
    ls_sim *sim = simulate("l2.delay_cycles=300");
    const ls_sim_options base = gemm();
    const ls_sim_sweep_options options = grid(&base, "sweep.db"); /* of the test before */
    const ls_sim_sweep_run_options how = { LS_SIM_SWEEP_RUN_OPTIONS };
    ls_sim_sweep *sweep;
    ls_sim_point point;
    ok(ls_sim_sweep_open(&options, &sweep, &err));
    ok(ls_sim_sweep_run(sweep, &how, &err));
    ok(ls_sim_get_point(sweep, 1, &point, &err));
    assert_true(point.cycles == (double)ls_sim_get_result(sim).cycles);
    ls_sim_sweep_close(sweep);
    ls_sim_close(sim);
}

static void write_script(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
    assert_int_equal(chmod(path, 0755), 0);
}

static void test_a_failed_point_has_its_reason(void **state)
{
    (void)state;
    const ls_sim_options base = gemm();
    ls_sim_sweep_options options = grid(&base, "bad.db");
    seen s = { 0 };
    const ls_sim_sweep_run_options how = told(&s);
    ls_sim_point point;
    write_script("false.sh", "#!/bin/sh\n[ \"$1\" = --version ] && { echo lockstep " LS_VERSION_STRING
                             "; exit; }\necho 'lockstep: no luck' >&2\nexit 3\n");
    options.worker = "./false.sh";
    options.metric_count = 0;
    ok(ls_sim_sweep_open(&options, &s.sweep, &err));
    ok(ls_sim_sweep_run(s.sweep, &how, &err));
    assert_int_equal(ls_sim_sweep_get_progress(s.sweep).failed, 2);
    assert_int_equal(s.failed, 2);
    ok(ls_sim_get_point(s.sweep, 0, &point, &err));
    assert_string_equal(point.error, "no luck");
    ls_sim_sweep_close(s.sweep);
}

static void test_a_stopped_sweep_goes_on(void **state)
{
    (void)state;
    const ls_sim_options base = gemm();
    const ls_sim_sweep_options options = grid(&base, "stop.db");
    seen s = { .stop = true };
    const ls_sim_sweep_run_options how = told(&s);
    ok(ls_sim_sweep_open(&options, &s.sweep, &err));
    assert_error(ls_sim_sweep_run(s.sweep, &how, &err), LS_ERR_INTERRUPTED, "of 2 points done");
    s.stop = false;
    ok(ls_sim_sweep_run(s.sweep, &how, &err));
    assert_int_equal(ls_sim_sweep_get_progress(s.sweep).failed, 0);
    ls_sim_sweep_close(s.sweep);
}

static void test_sweeps_that_cannot_be_are_refused(void **state)
{
    (void)state;
    ls_sim_options base = gemm();
    ls_sim_sweep_options options = grid(&base, "sweep.json");
    const ls_sim_sweep_run_options how = { LS_SIM_SWEEP_RUN_OPTIONS };
    ls_sim_sweep *sweep;
    assert_error(ls_sim_sweep_open(&options, &sweep, &err), LS_ERR_USAGE, "database");
    assert_null(sweep);
    options.database = "bad.db";
    options.vary = (const char *const[]){ "l2.wais=3" };
    assert_error(ls_sim_sweep_open(&options, &sweep, &err), LS_ERR_INPUT, "l2.ways");
    options.vary = (const char *const[]){ "l2.ways" };
    assert_error(ls_sim_sweep_open(&options, &sweep, &err), LS_ERR_USAGE, "vary: ");
    options.vary_count = 0;
    assert_error(ls_sim_sweep_open(&options, &sweep, &err), LS_ERR_USAGE, "nothing is varied");
    options = grid(&base, "bad.db");
    base.record = "x.lspk";
    assert_error(ls_sim_sweep_open(&options, &sweep, &err), LS_ERR_USAGE, "record");
    base.record = NULL;
    base.grid = "64";
    assert_error(ls_sim_sweep_open(&options, &sweep, &err), LS_ERR_USAGE, "grid is for code objects");
    base.grid = NULL;
    write_script("old.sh", "#!/bin/sh\necho lockstep 0.0.1\n");
    options.worker = "./old.sh";
    ok(ls_sim_sweep_open(&options, &sweep, &err));
    assert_error(ls_sim_sweep_run(sweep, &how, &err), LS_ERR_USAGE, "lockstep 0.0.1");
    ls_sim_sweep_close(sweep);
    options.worker = "./nowhere";
    ok(ls_sim_sweep_open(&options, &sweep, &err));
    assert_error(ls_sim_sweep_run(sweep, &how, &err), LS_ERR_IO, "./nowhere");
    ls_sim_sweep_close(sweep);
    ls_sim_sweep_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_belong_to_kinds_of_workloads),
        cmocka_unit_test(test_a_simulation_names_its_machine),
        cmocka_unit_test(test_results_are_printed_in_every_form),
        cmocka_unit_test(test_accelsim_is_for_traces_with_caches),
        cmocka_unit_test(test_a_comparison_has_what_the_runs_say),
        cmocka_unit_test(test_a_run_does_not_differ_from_itself),
        cmocka_unit_test(test_comparisons_of_nothing_are_refused),
        cmocka_unit_test(test_rates_of_instructions_add_up),
        cmocka_unit_test(test_a_sweep_runs_every_point_once),
        cmocka_unit_test(test_a_point_of_a_sweep_is_the_simulation_itself),
        cmocka_unit_test(test_a_failed_point_has_its_reason),
        cmocka_unit_test(test_a_stopped_sweep_goes_on),
        cmocka_unit_test(test_sweeps_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, temp_dir_enter, temp_dir_leave);
}
