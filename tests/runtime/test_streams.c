/* test_streams.c: kernels of several streams on one GPU: those of different streams overlap, those of one
 * keep their order, and neither times nor counters depend on threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/gpu/roofline.h"
#include "platform/config.h"
#include "platform/machine.h"
#include "runtime/replay.h"
#include "workload/synth/synth.h"

#include <stdio.h>
#include <string.h>

#define KERNELS_MAX 8

static const char platform[] = "machine: gpu\n"
                               "cores: 4\n"
                               "clock: {core_mhz: 1000, l2_mhz: 900, dram_mhz: 1500}\n"
                               "dispatch: {launch_latency_cycles: 100}\n"
                               "memory: {channels: 4, slice_hash: none}\n"
                               "core:\n"
                               "  class:\n"
                               "    load: {unit: memory}\n"
                               "    store: {unit: memory}\n"
                               "    atomic: {unit: memory}\n"
                               "    async_copy: {unit: memory}\n"
                               "    fence: {unit: memory}\n";

/* A trace of the same generated kernel, once per stream given. */
typedef struct streams {
    sass_trace trace;
    sass_trace *inner;
    uint64_t inner_kernel; /* the kernel's place in its list */
    trace_cmd commands[KERNELS_MAX];
    uint64_t of[KERNELS_MAX];
} streams;

static ls_status open_kernel(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err)
{
    streams *s = (streams *)(void *)trace;
    ls_status status = trace_open_kernel(s->inner, s->inner_kernel, out, err);
    if (status == LS_OK)
        (*out)->info.stream = s->of[index];
    return status;
}

static void close_streams(sass_trace *trace)
{
    trace_close(((streams *)(void *)trace)->inner);
}

static void open_streams(streams *s, const char *kernel, const char *of)
{
    static const trace_source_ops ops = { .open_kernel = open_kernel, .close = close_streams };
    ls_error err = { 0 };
    *s = (streams){ .trace = { .ops = &ops, .commands = s->commands, .command_count = strlen(of) } };
    assert_true(strlen(of) <= KERNELS_MAX);
    if (synth_open(kernel, &(trace_options){ 0 }, &s->inner, &err) != LS_OK)
        fail_msg("%s", err.what);
    while (trace_command_at(s->inner, s->inner_kernel)->kind != LS_COMMAND_KERNEL)
        s->inner_kernel++;
    for (size_t i = 0; of[i] != 0; i++) {
        s->commands[i] = (trace_cmd){ .kind = LS_COMMAND_KERNEL, .text = "kernel" };
        s->of[i] = (uint64_t)(of[i] - '0');
    }
}

typedef struct outcome {
    uint64_t kernels;
    replay_kernel at[KERNELS_MAX]; /* by their place in the list */
    ls_cycle end;
    uint64_t digest;
    uint64_t time_ns; /* with a kernel launched, at 1 GHz */
} outcome;

static uint64_t digest(ls_engine *engine)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t i = 0; i < ls_engine_block_count(engine); i++) {
        ls_block *block = ls_engine_block(engine, i);
        const ls_block_type *type = ls_block_type_of(block);
        const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
        for (size_t m = 0; m < type->metric_count; m++)
            if (type->metrics[m].kind == LS_METRIC_KIND_COUNTER)
                hash = (hash ^ *(const uint64_t *)(const void *)(counters + type->metrics[m].offset)) *
                       1099511628211u;
    }
    return hash;
}

#define MORE_MAX 4
static const char *more[MORE_MAX]; /* further settings of the next runs */
static size_t more_count;

static void with(const char *a, const char *b, const char *c)
{
    const char *const all[] = { a, b, c };
    more_count = 0;
    for (size_t i = 0; i < LS_COUNT_OF(all); i++)
        if (all[i] != NULL)
            more[more_count++] = all[i];
}

/* of: the stream of each kernel, a digit each. */
static outcome run(const char *kernel, const char *of, uint32_t concurrent, uint32_t threads)
{
    char set[64];
    const char *sets[1 + MORE_MAX] = { set };
    for (size_t i = 0; i < more_count; i++)
        sets[1 + i] = more[i];
    ls_error err = { 0 };
    platform_config *config;
    ls_machine *machine = NULL;
    trace_replay *replay;
    ls_run_result result;
    streams s;
    outcome o = { 0 };
    snprintf(set, sizeof set, "dispatch.concurrent_kernels=%u", concurrent);
    config_request request = { .platform = "tests/streams",
                               .sets = sets,
                               .set_count = 1 + more_count,
                               .text = platform,
                               .text_bytes = strlen(platform) };
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK)
        fail_msg("%s", err.what);
    config_destroy(config);
    open_streams(&s, kernel, of);
    ls_engine *engine = ls_machine_engine(machine);
    if (replay_create(engine, &s.trace, NULL, &replay, &err) != LS_OK ||
        replay_run(replay, &(ls_run_options){ .threads = threads }, &result, &err) != LS_OK)
        fail_msg("%s", err.what);
    o.kernels = replay_kernel_count(replay);
    assert_int_equal(o.kernels, strlen(of));
    for (uint64_t i = 0; i < o.kernels; i++) {
        const replay_kernel *k = replay_kernel_at(replay, i);
        assert_int_equal(k->stream, of[k->command] - '0');
        assert_true(k->begin < k->end);
        o.at[k->command] = *k;
        o.at[k->command].name = NULL;
        o.end = k->end > o.end ? k->end : o.end;
    }
    o.digest = digest(engine);
    gpu_roofline roofline;
    assert_int_equal(gpu_roofline_init(&roofline, gpu_at(engine, 0), &err), LS_OK);
    gpu_roofline_update(&roofline);
    o.time_ns = roofline.n.time_ns;
    replay_destroy(replay);
    trace_close(&s.trace);
    machine_destroy(machine);
    return o;
}

/* Two blocks on four cores: two kernels side by side do not even share a core. */
#define SMALL "chain,op=FFMA,count=2000,ctas=2"

static bool overlap(const replay_kernel *a, const replay_kernel *b)
{
    return a->begin < b->end && b->begin < a->end;
}

static void test_two_streams_overlap(void **state)
{
    (void)state;
    outcome alone = run(SMALL, "1", 2, 1), both = run(SMALL, "12", 2, 1);
    assert_true(overlap(&both.at[0], &both.at[1]));
    /* The second one starts at once: the whole takes what one takes, and a little for its launch. */
    assert_true(both.end < alone.end + alone.end / 4);
    /* Their common time counts once. */
    ls_cycle begin = both.at[0].begin < both.at[1].begin ? both.at[0].begin : both.at[1].begin;
    assert_int_equal(both.time_ns, both.end - begin);
}

static void test_one_at_a_time_without_leave(void **state)
{
    (void)state;
    outcome alone = run(SMALL, "1", 1, 1), both = run(SMALL, "12", 1, 1);
    assert_false(overlap(&both.at[0], &both.at[1]));
    assert_true(both.end > 2 * (alone.end - 200));
    assert_int_equal(both.time_ns, both.at[0].end - both.at[0].begin + (both.at[1].end - both.at[1].begin));
}

static void test_a_stream_keeps_its_order(void **state)
{
    (void)state;
    outcome o = run(SMALL, "121212", 8, 1);
    for (int i = 0; i < 6; i++)
        for (int k = i + 2; k < 6; k += 2)
            assert_true(o.at[i].end <= o.at[k].begin);
    assert_true(overlap(&o.at[0], &o.at[1]));
    assert_true(overlap(&o.at[2], &o.at[3]));
    outcome same = run(SMALL, "111", 8, 1);
    assert_true(same.at[0].end <= same.at[1].begin && same.at[1].end <= same.at[2].begin);
}

static void test_no_more_than_allowed(void **state)
{
    (void)state;
    outcome o = run(SMALL, "1234", 2, 1);
    for (int i = 0; i < 4; i++) {
        int beside = 0;
        for (int k = 0; k < 4; k++)
            beside += k != i && o.at[k].begin <= o.at[i].begin && o.at[i].begin < o.at[k].end;
        assert_true(beside <= 1);
    }
    outcome all = run(SMALL, "1234", 4, 1);
    assert_true(all.end < o.end);
}

/* With memory, so that kernels interact in L2 and DRAM. */
static void test_threads_do_not_matter(void **state)
{
    (void)state;
    static const char memory[] = "bandwidth,mode=copy,ctas=6,block=128,footprint_kib=96";
    static const uint32_t threads[] = { 2, 3, 8 };
    outcome one = run(memory, "12132", 3, 1);
    assert_true(overlap(&one.at[0], &one.at[1]));
    for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
        outcome o = run(memory, "12132", 3, threads[t]);
        assert_int_equal(o.digest, one.digest);
        for (uint64_t i = 0; i < o.kernels; i++) {
            assert_int_equal(o.at[i].begin, one.at[i].begin);
            assert_int_equal(o.at[i].end, one.at[i].end);
        }
    }
}

/* ------------------------------------------------------------------------------- window, sharing, priorities */

static void test_window(void **state)
{
    (void)state;
    outcome held = run(SMALL, "1123", 4, 1);
    assert_true(held.at[2].begin >= held.at[0].end); /* behind a kernel that waits for its stream */
    with("dispatch.window=4", NULL, NULL);
    outcome o = run(SMALL, "1123", 4, 1);
    assert_true(overlap(&o.at[0], &o.at[2]) && overlap(&o.at[0], &o.at[3]));
    assert_true(o.at[1].begin >= o.at[0].end);
    assert_true(o.end <= held.end && o.at[3].end < held.at[3].end);
    with("dispatch.window=2", NULL, NULL); /* the third is known, the fourth is not */
    outcome two = run(SMALL, "1123", 4, 1);
    assert_true(overlap(&two.at[0], &two.at[2]));
    with(NULL, NULL, NULL);
}

/* Long blocks that fill the cores, then a kernel of the other stream. */
#define LARGE "chain,op=FFMA,count=1000,ctas=40,warps=16"

static void test_leftover(void **state)
{
    (void)state;
    with("dispatch.sharing=leftover", NULL, NULL);
    outcome o = run(LARGE, "12", 2, 1);
    assert_true(overlap(&o.at[0], &o.at[1]));
    assert_true(o.at[0].end <= o.at[1].end);
    with("dispatch.sharing=exclusive", NULL, NULL);
    outcome alone = run(LARGE, "12", 2, 1);
    assert_true(alone.at[0].end <= alone.at[1].end);
    assert_true(alone.end >= o.end); /* cores wait until they are empty */
    with(NULL, NULL, NULL);
}

static void test_priorities(void **state)
{
    (void)state;
    with("dispatch.sharing=leftover", NULL, NULL);
    outcome equal = run(LARGE, "12", 2, 1);
    with("dispatch.sharing=leftover", "dispatch.priority_streams=[2]", NULL);
    outcome second = run(LARGE, "12", 2, 1);
    assert_true(equal.at[0].end < equal.at[1].end);
    assert_true(second.at[1].end <
                second.at[0].end); /* launched at the same time, the second one goes first */
    with(NULL, NULL, NULL);
}

static void test_sharing_with_threads(void **state)
{
    (void)state;
    static const char memory[] = "bandwidth,mode=copy,ctas=6,block=128,footprint_kib=96";
    static const uint32_t threads[] = { 2, 3, 8 };
    with("dispatch.sharing=leftover", "dispatch.window=8", "dispatch.priority_streams=[3,2]");
    outcome one = run(memory, "1121323", 3, 1);
    for (size_t t = 0; t < LS_COUNT_OF(threads); t++)
        assert_int_equal(run(memory, "1121323", 3, threads[t]).digest, one.digest);
    with(NULL, NULL, NULL);
}

/* ---------------------------------------------------------------------------------------- memory switches */

#define COPY "bandwidth,mode=read,ctas=8,block=128,footprint_kib=256"

static uint64_t cycles(const outcome *o, int i)
{
    return o->at[i].end - o->at[i].begin;
}

static void test_l2_flush(void **state)
{
    (void)state;
    outcome keeps = run(COPY, "11", 1, 1);
    assert_true(cycles(&keeps, 1) < cycles(&keeps, 0)); /* the second launch finds the data in L2 */
    with("l2.flush=true", NULL, NULL);
    outcome flushed = run(COPY, "11", 1, 1), threads = run(COPY, "11", 1, 3);
    assert_true(cycles(&flushed, 1) > cycles(&keeps, 1));
    assert_int_equal(threads.digest, flushed.digest);
    with(NULL, NULL, NULL);
}

static void test_ideal_memory(void **state)
{
    (void)state;
    outcome real = run(COPY, "1", 1, 1);
    with("l2.ideal=true", NULL, NULL);
    outcome ideal = run(COPY, "1", 1, 1);
    with("core.perfect_memory=true", NULL, NULL);
    outcome perfect = run(COPY, "1", 1, 1), threads = run(COPY, "1", 1, 3);
    assert_true(cycles(&ideal, 0) < cycles(&real, 0));
    assert_true(cycles(&perfect, 0) < cycles(&ideal, 0)); /* not even the network takes time */
    assert_int_equal(threads.digest, perfect.digest);
    with(NULL, NULL, NULL);
}

static void test_bypass_l1(void **state)
{
    (void)state;
    static const char again[] = "pointer-chase,footprint_kib=4,loads=800";
    outcome cached = run(again, "1", 1, 1);
    with("core.bypass_l1=true", NULL, NULL);
    outcome past = run(again, "1", 1, 1);
    assert_true(cycles(&past, 0) > cycles(&cached, 0) + cycles(&cached, 0) / 2);
    with(NULL, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_streams_overlap),
        cmocka_unit_test(test_one_at_a_time_without_leave),
        cmocka_unit_test(test_a_stream_keeps_its_order),
        cmocka_unit_test(test_no_more_than_allowed),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_leftover),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_sharing_with_threads),
        cmocka_unit_test(test_l2_flush),
        cmocka_unit_test(test_ideal_memory),
        cmocka_unit_test(test_bypass_l1),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
