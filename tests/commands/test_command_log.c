/* test_command_log.c: the log of a program's commands: counters of launches that run alone and side by side add up to
 * those of the run, and facts alone are the same as those of the intervals. */
#include "runtime/driver/driver_test.h"

#include "commands/command_log.h"

#include <math.h>
#include <stdlib.h>

#define PLATFORM LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define ITEMS 4096u
#define WAVES (ITEMS / 64)

typedef struct rig {
    bench b;
    ls_gpu_address p, q;
    mem_arena arena;
    metric_store *metrics;
    command_log log;
} rig;

static rig rig_open(bool facts_only)
{
    rig r = { .b = bench_open("gfx803", 4,
                              &(ls_gpu_options){ .platform = PLATFORM, .memory_bytes = 64 << 20 }) };
    r.p = bench_buffer(&r.b, ITEMS * 4);
    r.q = bench_buffer(&r.b, ITEMS * 4);
    OK(metrics_create(&r.metrics, &err));
    OK(metrics_add_engine(r.metrics, timing_engine(r.b.system), &err));
    r.log.metrics = r.metrics;
    if (facts_only)
        OK(launch_facts_create(r.metrics, config_yaml(timing_config(r.b.system)), &r.log.facts, &err));
    return r;
}

static void rig_close(rig *r)
{
    launch_facts_destroy(r->log.facts);
    command_log_fini(&r->log);
    bench_close(&r->b);
    metrics_destroy(r->metrics);
    arena_fini(&r->arena);
}

/* A fill, a launch by itself, and two launches side by side. */
static void run_commands(rig *r)
{
    const uint32_t count = ITEMS, start = 0;
    const ls_gpu_arg args_p[] = { LS_GPU_ARG(r->p), LS_GPU_ARG(count) },
                     args_q[] = { LS_GPU_ARG(r->q), LS_GPU_ARG(count) };
    const ls_gpu_launch to_p = { .grid = { ITEMS }, .group = { 64 }, .args = args_p, .arg_count = 2 };
    const ls_gpu_launch to_q = { .grid = { ITEMS }, .group = { 64 }, .args = args_q, .arg_count = 2 };
    ls_gpu_kernel *increment = bench_kernel(&r->b, "increment");
    ls_gpu_queue *one, *two;
    ls_gpu_event *go;
    OK(ls_gpu_queue_create(r->b.context, &one, &err));
    OK(ls_gpu_queue_create(r->b.context, &two, &err));
    OK(ls_gpu_queue_fill(one, r->p, &start, 4, ITEMS * 4, NULL, &err));
    OK(ls_gpu_queue_launch(one, increment, &to_p, NULL, &err));
    OK(ls_gpu_sync(r->b.context, &err));
    OK(ls_gpu_event_create(r->b.context, &go, &err));
    OK(ls_gpu_queue_wait(one, go, &err));
    OK(ls_gpu_queue_wait(two, go, &err));
    OK(ls_gpu_queue_launch(one, increment, &to_p, NULL, &err));
    OK(ls_gpu_queue_launch(two, increment, &to_q, NULL, &err));
    OK(ls_gpu_event_set(go, NULL, &err));
    OK(ls_gpu_sync(r->b.context, &err));
    ls_gpu_event_release(go);
    OK(command_log_end(&r->log, timing_result(r->b.system).end_time, &err));
}

static uint64_t waves(const rig *r, size_t scope)
{
    metric_value value;
    OK(metrics_get(r->metrics, scope, "cu/*", NULL, "waves", &value, &err));
    return value.value;
}

static void counters_add_up(void **unused)
{
    rig r = rig_open(false);
    summary_launch *launches;
    size_t count;
    (void)unused;
    command_log_begin(&r.log, r.b.system, &r.arena);
    run_commands(&r);
    assert_int_equal(r.log.records.count, 4);
    OK(command_log_launches(&r.log, &launches, &count, &err));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(launches[i].name, "increment");
        assert_int_equal(launches[i].number, i + 1);
        assert_int_equal(waves(&r, launches[i].scope), WAVES);
    }
    assert_true(launches[2].begin_fs < launches[1].end_fs);
    /* The two that overlap leave an interval with the values that they share. */
    assert_int_equal(metrics_interval_count(r.metrics), 4);
    assert_int_equal(waves(&r, 3), 0);
    assert_int_equal(waves(&r, LS_METRICS_RUN), 3 * WAVES);
    double busy = summary_busy(launches, count, LS_METRICS_NONE);
    assert_true(busy >= (double)ls_clock_span(r.log.clock, r.log.busy.total - 2));
    assert_true(busy <= (double)ls_clock_span(r.log.clock, r.log.busy.total + 2));
    assert_int_equal(command_log_gpus(&r.log), 1);
    free(launches);
    rig_close(&r);
}

static void read_facts(const fact_reader *reader, const summary_launch *launch, fact_set *out)
{
    const summary_input in = { .reader = *reader, .launches = launch, .launch_count = 1 };
    summary_launch_facts(&in, launch, out);
}

/* The first launch runs alone: what the facts of its interval say, the facts without intervals say, too. */
static void facts_alone_are_the_same(void **unused)
{
    fact_set expected = { 0 }, found = { 0 };
    (void)unused;
    for (int facts_only = 0; facts_only < 2; facts_only++) {
        rig r = rig_open(facts_only);
        summary_launch *launches;
        size_t count;
        command_log_begin(&r.log, r.b.system, &r.arena);
        run_commands(&r);
        OK(command_log_launches(&r.log, &launches, &count, &err));
        assert_int_equal(count, 3);
        assert_int_equal(launches[0].scope, 0);
        fact_reader reader = facts_only ? launch_facts_reader(r.log.facts)
                                        : facts_of_store(r.metrics, config_yaml(timing_config(r.b.system)));
        read_facts(&reader, &launches[0], facts_only ? &found : &expected);
        if (facts_only) { /* the others ran side by side */
            assert_int_equal(launches[1].scope, SUMMARY_NO_SCOPE);
            assert_int_equal(launches[2].scope, SUMMARY_NO_SCOPE);
            assert_int_equal(metrics_interval_count(r.metrics), 0);
        }
        assert_int_equal(waves(&r, LS_METRICS_RUN), 3 * WAVES);
        free(launches);
        rig_close(&r);
    }
    assert_int_equal(expected.machine, FACTS_AMD);
    assert_int_equal(found.machine, FACTS_AMD);
    assert_true(expected.at[FACT_instructions] > 0);
    for (size_t i = 0; i < FACT_COUNT; i++)
        if (isnan(expected.at[i]))
            assert_true(isnan(found.at[i]));
        else
            assert_true(expected.at[i] == found.at[i]);
}

/* Of two launches of one name the longer one has facts, and only of itself. */
static void the_longest_launch_counts(void **unused)
{
    rig r = rig_open(true);
    const uint32_t few = ITEMS / 4, many = ITEMS;
    const ls_gpu_arg args[2][2] = { { LS_GPU_ARG(r.p), LS_GPU_ARG(few) },
                                    { LS_GPU_ARG(r.p), LS_GPU_ARG(many) } };
    ls_gpu_kernel *increment = bench_kernel(&r.b, "increment");
    ls_gpu_queue *queue;
    summary_launch *launches;
    size_t count;
    double a, b;
    (void)unused;
    command_log_begin(&r.log, r.b.system, &r.arena);
    OK(ls_gpu_queue_create(r.b.context, &queue, &err));
    for (int i = 0; i < 3; i++) {
        const ls_gpu_launch launch = {
            .grid = { i == 1 ? many : few }, .group = { 64 }, .args = args[i == 1], .arg_count = 2
        };
        OK(ls_gpu_queue_launch(queue, increment, &launch, NULL, &err));
    }
    OK(ls_gpu_sync(r.b.context, &err));
    OK(command_log_launches(&r.log, &launches, &count, &err));
    assert_int_equal(count, 3);
    size_t longest = 0;
    for (size_t i = 1; i < count; i++)
        longest =
            launches[i].end_fs - launches[i].begin_fs > launches[longest].end_fs - launches[longest].begin_fs
                ? i
                : longest;
    for (size_t i = 0; i < count; i++)
        assert_int_equal(launches[i].scope, i == longest ? 0 : SUMMARY_NO_SCOPE);
    fact_reader reader = launch_facts_reader(r.log.facts);
    assert_true(reader.metric(reader.self, 0, "cu/*", NULL, "work_groups", &a, &b));
    assert_true(a == (longest == 1 ? many : few) / 64.0);
    assert_false(reader.metric(reader.self, 0, "cu/*", NULL, "no_such_metric", &a, &b));
    free(launches);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_add_up),
        cmocka_unit_test(facts_alone_are_the_same),
        cmocka_unit_test(the_longest_launch_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
