/* test_sim.c: the library interface: traces and programs, results by name, many simulations in one process,
 * refusals. Small machines: results are compared with each other and with the known contents of the trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "lockstep/sim.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLATFORMS LS_SOURCE_DIR "/platforms"

static const char *const dirs[] = { PLATFORMS };
static ls_error err;

static int use_kernels(void **state)
{
    (void)state;
    return setenv("LOCKSTEP_KERNELS", LS_BINARY_DIR "/share/lockstep/kernels", 1);
}

static ls_sim_options gemm(void)
{
    return (ls_sim_options){ LS_SIM_OPTIONS,          .platform = "rtx2060",    .platform_dirs = dirs,
                             .platform_dir_count = 1, .workload = "synth:gemm", .cta_limit = 2 };
}

static ls_sim *open_ok(const ls_sim_options *options)
{
    ls_sim *sim;
    if (ls_sim_open(options, &sim, &err) != LS_OK)
        fail_msg("%s", err.what);
    return sim;
}

static void run_ok(ls_sim *sim, uint32_t threads)
{
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = threads };
    if (ls_sim_run(sim, &how, &err) != LS_OK)
        fail_msg("%s", err.what);
}

static uint64_t value(ls_sim *sim, size_t scope, const char *type, const char *name)
{
    ls_sim_metric m;
    if (ls_sim_find_metric(sim, scope, type, NULL, name, &m, &err) != LS_OK)
        fail_msg("%s", err.what);
    return m.value;
}

/* --------------------------------------------------------------------------------------------------- runs */

static void test_a_trace_has_kernels_streams_and_metrics(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim = open_ok(&options);
    run_ok(sim, 1);
    ls_sim_result r = ls_sim_get_result(sim);
    assert_true(r.has_cycles && !r.partial && r.cycles > 100);
    assert_string_equal(r.partial_reason, "");
    assert_string_equal(ls_sim_platform(sim), "rtx2060");

    uint64_t sum = 0, cycles = 0;
    size_t kernels = ls_sim_kernel_count(sim);
    assert_true(kernels > 0);
    for (size_t i = 0; i < kernels; i++) {
        ls_sim_kernel k;
        assert_int_equal(ls_sim_get_kernel(sim, i, &k, &err), LS_OK);
        assert_int_equal(k.number, i + 1);
        cycles += k.end_cycle - k.begin_cycle;
        sum += value(sim, i, "core/*", "warp_instructions");
    }
    assert_int_equal(cycles, r.cycles); /* one stream: no two at a time */
    assert_int_equal(sum, value(sim, LS_SIM_RUN, "core/*", "warp_instructions"));

    ls_sim_stream stream;
    assert_int_equal(ls_sim_stream_count(sim), 1);
    assert_int_equal(ls_sim_get_stream(sim, 0, &stream, &err), LS_OK);
    assert_int_equal(stream.kernels, kernels);
    assert_int_equal(stream.cycles, r.cycles);
    ls_sim_close(sim);
}

static void test_metrics_by_index_are_those_by_name(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim = open_ok(&options);
    run_ok(sim, 1);
    size_t with_unit = 0;
    assert_true(ls_sim_metric_count(sim) > 50);
    for (size_t i = 0; i < ls_sim_metric_count(sim); i++) {
        ls_sim_metric a, b;
        assert_int_equal(ls_sim_get_metric(sim, 0, i, &a, &err), LS_OK);
        assert_int_equal(ls_sim_find_metric(sim, 0, a.type, NULL, a.name, &b, &err), LS_OK);
        assert_string_equal(a.unit, b.unit);
        assert_true(a.present == b.present && a.value == b.value && a.real == b.real && a.kind == b.kind);
        with_unit += *a.unit != '\0';
    }
    assert_true(with_unit > 30);
    ls_sim_close(sim);
}

static void test_stalls_of_a_core_are_all_issue_slots(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim = open_ok(&options);
    run_ok(sim, 1);
    uint64_t sum = 0;
    double share = 0;
    bool has_memory = false;
    for (size_t i = 0; i < ls_sim_stall_count(sim); i++) {
        ls_sim_stall s;
        assert_int_equal(ls_sim_get_stall(sim, LS_SIM_RUN, i, &s, &err), LS_OK);
        sum += s.value;
        share += s.share;
        has_memory |= strcmp(s.reason, "memory") == 0 && s.value > 0;
    }
    assert_true(has_memory);
    assert_int_equal(sum, value(sim, LS_SIM_RUN, "core/*", "issue_slots"));
    assert_true(fabs(share - 1) < 1e-9);
    ls_sim_close(sim);
}

static void test_a_program_is_verified(void **state)
{
    (void)state;
    const ls_sim_setting size = { NULL, 2048 };
    const ls_sim_options options = { LS_SIM_OPTIONS,     .platform = "r9nano",    .platform_dirs = dirs,
                                     .workload = "fir",  .platform_dir_count = 1, .settings = &size,
                                     .setting_count = 1, .verify = true };
    ls_sim *sim = open_ok(&options);
    run_ok(sim, 2);
    ls_sim_kernel k;
    ls_sim_stall stall;
    assert_int_equal(ls_sim_kernel_count(sim), 1);
    assert_int_equal(ls_sim_get_kernel(sim, 0, &k, &err), LS_OK);
    assert_string_equal(k.name, "fir");
    assert_int_equal(k.end_cycle - k.begin_cycle, ls_sim_get_result(sim).cycles);
    assert_true(value(sim, 0, "cu/*", "instructions") > 1000);
    assert_int_equal(ls_sim_get_stall(sim, 0, 0, &stall, &err), LS_OK);
    assert_string_equal(stall.reason, "active");
    ls_sim_close(sim);
}

/* One GPU of three has the work: the same cycles as alone, and a key of it changes them. */
static void test_a_gpu_of_a_system_is_as_it_is_alone(void **state)
{
    (void)state;
    static const char *const sets[] = { "gpus.memory.channels=4", "gpu1.core.scheduler=lrr" };
    static const char *const alone_sets[] = { "memory.channels=4", "core.scheduler=lrr" };
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    ls_sim_options options = gemm();
    options.sets = alone_sets;
    options.set_count = 2;
    ls_sim *alone = open_ok(&options);
    run_ok(alone, 1);
    options.sets = sets;
    options.gpus = 3;
    options.on = "gpu1";
    for (size_t i = 0; i < LS_COUNT_OF(threads); i++) {
        ls_sim *sim = open_ok(&options);
        ls_sim_metric busy, idle;
        run_ok(sim, threads[i]);
        assert_int_equal(ls_sim_get_result(sim).cycles, ls_sim_get_result(alone).cycles);
        assert_int_equal(value(sim, 0, "core/*", "warp_instructions"),
                         value(alone, 0, "core/*", "warp_instructions"));
        assert_int_equal(ls_sim_find_metric(sim, LS_SIM_RUN, "core/*", "gpu1.*", "warp_instructions", &busy,
                                            &err),
                         LS_OK);
        assert_int_equal(ls_sim_find_metric(sim, LS_SIM_RUN, "core/*", "gpu2.*", "warp_instructions", &idle,
                                            &err),
                         LS_OK);
        assert_int_equal(busy.value, value(alone, LS_SIM_RUN, "core/*", "warp_instructions"));
        assert_int_equal(idle.value, 0);
        assert_string_equal(ls_sim_platform(sim), "3 x rtx2060");
        ls_sim_close(sim);
    }
    ls_sim_close(alone);
    options.on = "gpu3";
    ls_sim *none;
    assert_int_equal(ls_sim_open(&options, &none, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there is no GPU 3: platform '3 x rtx2060' has 3, from gpu0 to gpu2");
}

/* ------------------------------------------------------------------------------------------- many at once */

typedef struct job {
    const char *set;
    uint32_t threads;
    uint64_t cycles, events;
} job;

static void *run_job(void *self)
{
    job *j = self;
    ls_sim_options options = gemm();
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = j->threads };
    ls_sim *sim;
    options.sets = &j->set;
    options.set_count = 1;
    if (ls_sim_open(&options, &sim, NULL) == LS_OK && ls_sim_run(sim, &how, NULL) == LS_OK) {
        j->cycles = ls_sim_get_result(sim).cycles;
        j->events = ls_sim_get_result(sim).events;
    }
    ls_sim_close(sim);
    return NULL;
}

static void test_simulations_at_the_same_time_do_not_meet(void **state)
{
    (void)state;
    job alone[] = { { .set = "core.scheduler=gto", .threads = 1 },
                    { .set = "core.shared_latency_cycles=60", .threads = 1 } };
    job together[] = { { .set = "core.scheduler=gto", .threads = 2 },
                       { .set = "core.shared_latency_cycles=60", .threads = 1 },
                       { .set = "core.scheduler=gto", .threads = 3 } };
    pthread_t threads[LS_COUNT_OF(together)];
    for (size_t i = 0; i < LS_COUNT_OF(alone); i++)
        run_job(&alone[i]);
    for (size_t i = 0; i < LS_COUNT_OF(together); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_job, &together[i]), 0);
    for (size_t i = 0; i < LS_COUNT_OF(together); i++)
        pthread_join(threads[i], NULL);
    assert_true(alone[0].cycles > 0 && alone[0].cycles < alone[1].cycles);
    for (size_t i = 0; i < LS_COUNT_OF(together); i++) {
        assert_int_equal(together[i].cycles, alone[i % 2].cycles);
        assert_int_equal(together[i].events, alone[i % 2].events);
    }
}

/* ---------------------------------------------------------------------------------------- progress and stop */

static void stop_at_once(void *self, const ls_run_progress *now)
{
    (void)now;
    ls_sim_stop(self);
}

static void test_a_stopped_run_has_partial_results(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    options.cta_limit = 0;
    options.workload = "synth:gemm,m=2048,n=2048,k=2048"; /* far longer than the first call of progress */
    ls_sim *sim = open_ok(&options);
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .progress = stop_at_once, .progress_self = sim };
    assert_int_equal(ls_sim_run(sim, &how, &err), LS_OK);
    ls_sim_result r = ls_sim_get_result(sim);
    assert_true(r.partial && r.stopped && !r.wrong);
    assert_string_equal(r.partial_reason, "stopped by its caller");
    assert_int_equal(ls_sim_run(sim, &how, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "a simulation runs once: open it again");
    ls_sim_close(sim);
}

static void test_until_limits_the_run(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim = open_ok(&options);
    const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .until = LS_FS_PER_SECOND / 1000000 };
    assert_int_equal(ls_sim_run(sim, &how, &err), LS_OK);
    ls_sim_result r = ls_sim_get_result(sim);
    assert_true(r.partial && !r.stopped && r.end_time <= how.until);
    assert_non_null(strstr(r.partial_reason, "with work left"));
    ls_sim_close(sim);
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void refuse(const ls_sim_options *options, ls_status status, const char *what)
{
    ls_sim *sim = (ls_sim *)&err;
    assert_int_equal(ls_sim_open(options, &sim, &err), status);
    assert_null(sim);
    if (!strstr(err.what, what))
        fail_msg("'%s' is not in: %s", what, err.what);
}

static void test_what_cannot_be_is_refused(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    options.platform = NULL;
    refuse(&options, LS_ERR_USAGE, "a platform is missing");
    options = gemm();
    options.verify = true;
    refuse(&options, LS_ERR_USAGE, "the option verify is for workloads that are executed");
    options = gemm();
    options.fidelity = "basics";
    refuse(&options, LS_ERR_USAGE, "there is no fidelity 'basics'");
    assert_string_equal(err.nearest, "basic");
    options = gemm();
    options.workload = NULL;
    options.cta_limit = 0;
    refuse(&options, LS_ERR_USAGE, "a trace is missing");
    options = gemm();
    options.size += 8;
    refuse(&options, LS_ERR_USAGE, "this library (ABI");
    options = gemm();
    options.plugins = (const char *const[]){ "no-such-plugin.so" };
    options.plugin_count = 1;
    assert_int_not_equal(ls_sim_open(&options, &(ls_sim *){ NULL }, &err), LS_OK);
}

static void test_an_older_struct_is_taken(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    options.dump_count = 7; /* past the end of an older struct without it */
    options.size = offsetof(ls_sim_options, dump_count);
    ls_sim *sim = open_ok(&options);
    ls_sim_close(sim);
}

static void test_results_need_a_run(void **state)
{
    (void)state;
    ls_sim_options options = gemm();
    ls_sim *sim = open_ok(&options);
    ls_sim_metric m;
    ls_sim_kernel k;
    assert_int_equal(ls_sim_export(sim, "x.json", NULL, &err), LS_ERR_USAGE);
    assert_int_equal(ls_sim_get_metric(sim, LS_SIM_RUN, 0, &m, &err), LS_ERR_USAGE);
    assert_int_equal(ls_sim_get_kernel(sim, 0, &k, &err), LS_ERR_USAGE);
    run_ok(sim, 1);
    assert_int_equal(ls_sim_get_metric(sim, LS_SIM_RUN, ls_sim_metric_count(sim), &m, &err), LS_ERR_USAGE);
    assert_int_equal(ls_sim_find_metric(sim, LS_SIM_RUN, NULL, NULL, "no_such", &m, &err), LS_ERR_USAGE);
    ls_sim_close(sim);
}

/* ------------------------------------------------------------------------------------------------- exports */

static void test_exports_are_those_of_the_command(void **state)
{
    (void)state;
    char dir[] = P_tmpdir "/lockstep-sim-XXXXXX", *text;
    size_t bytes;
    mem_arena arena = { 0 };
    assert_non_null(mkdtemp(dir));
    ls_sim_options options = gemm();
    ls_sim *sim = open_ok(&options);
    const char *path = arena_printf(&arena, "%s/r.json", dir);
    assert_int_equal(ls_sim_check_exports(&path, 1, NULL, &err), LS_OK);
    run_ok(sim, 1);
    const ls_sim_export_options how = { LS_SIM_EXPORT_OPTIONS, .run_id = "mine" };
    assert_int_equal(ls_sim_export(sim, path, &how, &err), LS_OK);
    assert_int_equal(file_read(&arena, path, 1 << 26, &text, &bytes, &err), LS_OK);
    assert_non_null(strstr(text, "\"mine\""));
    assert_non_null(strstr(text, ls_sim_config_hash(sim)));
    assert_int_equal(file_read(&arena, arena_printf(&arena, "%s.platform.yaml", path), 1 << 20, &text, &bytes,
                               &err),
                     LS_OK);
    assert_string_equal(text, ls_sim_config(sim));
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(ls_sim_print(sim, to, &err), LS_OK);
    fclose(to);
    assert_non_null(strstr(text, "costliest kernels"));
    free(text);
    ls_sim_close(sim);
    assert_int_equal(system(arena_printf(&arena, "rm -r %s", dir)), 0);
    arena_fini(&arena);
}

static void test_a_profile_is_made_and_used(void **state)
{
    (void)state;
    char path[] = P_tmpdir "/lockstep-sim-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    ls_sim_options options = gemm();
    const ls_sim_profile_options reuse = { LS_SIM_PROFILE_OPTIONS, .method = "reuse" };
    const ls_sim_profile_options wrong = { LS_SIM_PROFILE_OPTIONS, .method = "cash" };
    assert_int_equal(ls_sim_profile(&options, &wrong, path, &err), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "cache");
    assert_int_equal(ls_sim_profile(&options, &reuse, path, &err), LS_OK);
    options.fidelity = "memory";
    options.profile = path;
    ls_sim *sim = open_ok(&options);
    run_ok(sim, 1);
    assert_true(ls_sim_get_result(sim).cycles > 100);
    FILE *to;
    char *text;
    size_t bytes;
    assert_non_null(to = open_memstream(&text, &bytes));
    assert_int_equal(ls_sim_print(sim, to, &err), LS_OK);
    fclose(to);
    assert_non_null(strstr(text, "method reuse"));
    free(text);
    ls_sim_close(sim);
    /* Of other thread blocks: it does not fit. */
    options.cta_limit = 3;
    refuse(&options, LS_ERR_INPUT, "of another trace, choice of kernels or platform");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_trace_has_kernels_streams_and_metrics),
        cmocka_unit_test(test_metrics_by_index_are_those_by_name),
        cmocka_unit_test(test_stalls_of_a_core_are_all_issue_slots),
        cmocka_unit_test(test_a_program_is_verified),
        cmocka_unit_test(test_a_gpu_of_a_system_is_as_it_is_alone),
        cmocka_unit_test(test_simulations_at_the_same_time_do_not_meet),
        cmocka_unit_test(test_a_stopped_run_has_partial_results),
        cmocka_unit_test(test_until_limits_the_run),
        cmocka_unit_test(test_what_cannot_be_is_refused),
        cmocka_unit_test(test_an_older_struct_is_taken),
        cmocka_unit_test(test_results_need_a_run),
        cmocka_unit_test(test_exports_are_those_of_the_command),
        cmocka_unit_test(test_a_profile_is_made_and_used),
    };
    return cmocka_run_group_tests(tests, use_kernels, NULL);
}
