/* test_kernel_places.c: kernels whose programs have equal pcs, perhaps in the same memory of the host, one
 * after another and side by side. A core that caches decoded instructions must not mix them up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fidelity_rig.h"

#define KERNELS_MAX 8

/* As many instructions at the same pcs, of other units and latencies: multiply-adds, special functions,
 * moves. */
static const char *const programs[] = { "chain,op=FFMA,count=300,ctas=6", "chain,op=MUFU,count=300,ctas=6",
                                        "throughput,op=MOV,count=300,ctas=6,warps=4" };

static const char *const detailed[] = { "core.alu=cycle", NULL };
static const char *const basic[] = { "core.alu=issue", NULL };
static const char *const memory[] = { "core.alu=issue", "core.memory=analytic", NULL };
static const char *const *const presets[] = { detailed, basic, memory };

/* A list of the programs above: a letter each, and the stream of each kernel. */
typedef struct medley {
    sass_trace trace;
    sass_trace *inner[LS_COUNT_OF(programs)];
    trace_cmd commands[KERNELS_MAX];
    const char *letters, *streams;
} medley;

static ls_status open_kernel(sass_trace *trace, uint64_t index, trace_kernel **out, ls_error *err)
{
    medley *m = (medley *)(void *)trace;
    sass_trace *inner = m->inner[m->letters[index] - 'A'];
    uint64_t place = 0;
    while (trace_command_at(inner, place)->kind != LS_COMMAND_KERNEL)
        place++;
    ls_status status = trace_open_kernel(inner, place, out, err);
    if (status == LS_OK)
        (*out)->info.stream = (uint64_t)(m->streams[index] - '0');
    return status;
}

static void close_medley(sass_trace *trace)
{
    medley *m = (medley *)(void *)trace;
    for (size_t i = 0; i < LS_COUNT_OF(programs); i++)
        trace_close(m->inner[i]);
}

typedef struct outcome {
    ls_cycle cycles[KERNELS_MAX];
    uint64_t fp32, sfu, move, issued;
} outcome;

static outcome run(const char *const *preset, const char *letters, const char *streams, uint32_t threads)
{
    static const trace_source_ops ops = { .open_kernel = open_kernel, .close = close_medley };
    const char *sets[RIG_SETS_MAX] = { "dispatch.concurrent_kernels=2", "core.class.sfu.latency_cycles=30",
                                       "core.class.fp32.interval_cycles=3" };
    size_t count = 3;
    for (size_t i = 0; preset[i] != NULL; i++)
        sets[count++] = preset[i];
    const config_request request = { .platform = "tests/places",
                                     .sets = sets,
                                     .set_count = count,
                                     .text = rig_platform,
                                     .text_bytes = strlen(rig_platform) };
    medley m = { .letters = letters, .streams = streams };
    m.trace = (sass_trace){ .ops = &ops, .commands = m.commands, .command_count = strlen(letters) };
    ls_error err = { 0 };
    platform_config *config;
    ls_machine *machine = NULL;
    trace_replay *replay;
    ls_run_result result;
    outcome o = { 0 };
    for (size_t i = 0; i < LS_COUNT_OF(programs); i++)
        if (synth_open(programs[i], &(trace_options){ 0 }, &m.inner[i], &err) != LS_OK)
            fail_msg("%s", err.what);
    for (size_t i = 0; letters[i] != 0; i++)
        m.commands[i] = (trace_cmd){ .kind = LS_COMMAND_KERNEL, .text = "kernel" };
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK)
        fail_msg("%s", err.what);
    config_destroy(config);
    ls_engine *engine = ls_machine_engine(machine);
    if (replay_create(engine, &m.trace, NULL, &replay, &err) != LS_OK ||
        replay_run(replay, &(ls_run_options){ .threads = threads }, &result, &err) != LS_OK)
        fail_msg("%s", err.what);
    for (uint64_t i = 0; i < replay_kernel_count(replay); i++) {
        const replay_kernel *k = replay_kernel_at(replay, i);
        o.cycles[k->command] = k->end - k->begin;
    }
    o.fp32 = rig_counter(engine, "core", "issued_fp32");
    o.sfu = rig_counter(engine, "core", "issued_sfu");
    o.move = rig_counter(engine, "core", "issued_move");
    o.issued = rig_counter(engine, "core", "issued");
    replay_destroy(replay);
    trace_close(&m.trace);
    machine_destroy(machine);
    return o;
}

static void assert_sum(const outcome *all, const outcome *a, const outcome *b, uint64_t times)
{
    assert_int_equal(all->fp32, times * (a->fp32 + b->fp32));
    assert_int_equal(all->sfu, times * (a->sfu + b->sfu));
    assert_int_equal(all->move, times * (a->move + b->move));
    assert_int_equal(all->issued, times * (a->issued + b->issued));
}

/* They touch no memory: after another kernel each takes the time that it takes after itself. */
static void test_in_sequence(void **state)
{
    (void)state;
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        outcome a = run(presets[p], "A", "0", 1), b = run(presets[p], "B", "0", 1),
                c = run(presets[p], "C", "0", 1);
        assert_int_equal(a.fp32, 6 * 300);
        assert_int_equal(b.sfu, 6 * 300);
        assert_int_equal(c.move, 6 * 4 * 300);
        assert_int_not_equal(a.cycles[0], b.cycles[0]);
        assert_int_not_equal(a.cycles[0], c.cycles[0]);
        outcome aa = run(presets[p], "AA", "00", 1), bb = run(presets[p], "BB", "00", 1);
        outcome ab = run(presets[p], "ABAB", "0000", 1), ca = run(presets[p], "CACA", "0000", 1);
        assert_sum(&ab, &a, &b, 2);
        assert_sum(&ca, &c, &a, 2);
        assert_int_equal(ab.cycles[0], a.cycles[0]);
        assert_int_equal(ab.cycles[1], bb.cycles[1]);
        assert_int_equal(ab.cycles[2], aa.cycles[1]);
        assert_int_equal(ab.cycles[3], bb.cycles[1]);
        assert_int_equal(ca.cycles[1], aa.cycles[1]);
        assert_int_equal(ca.cycles[3], aa.cycles[1]);
        assert_true(aa.cycles[1] * 2 < bb.cycles[1]);
    }
}

/* Side by side on the same cores: each instruction still counts for its own kernel, for any number of
 * threads. */
static void test_side_by_side(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 2, 3, 8 };
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        outcome a = run(presets[p], "A", "1", 1), b = run(presets[p], "B", "1", 1);
        /* Two at a time: a new kernel gets the slot of an ended one while another still runs. */
        outcome both = run(presets[p], "ABBABA", "123123", 1);
        assert_sum(&both, &a, &b, 3);
        for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
            outcome again = run(presets[p], "ABBABA", "123123", threads[t]);
            assert_sum(&again, &a, &b, 3);
            for (int i = 0; i < 6; i++)
                assert_int_equal(again.cycles[i], both.cycles[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_in_sequence),
                                        cmocka_unit_test(test_side_by_side) };
    return cmocka_run_group_tests_name("kernels at the same places", tests, NULL, NULL);
}
