/* test_roofline.c: roofs follow from the platform. A kernel's achieved rates follow from its own operations,
 * bytes and time, in every choice of models. Kernels of several streams: test_streams.c. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/gpu/roofline.h"
#include "runtime/fidelity_rig.h"

#define SETS_MAX 16

static const char *const presets[][4] = {
    { "core.alu=cycle", "core.memory=cycle", NULL },
    { "core.alu=issue", "core.memory=cycle", NULL },
    { "core.alu=issue", "core.memory=analytic", NULL },
};

/* The roofline after a run; `kernel` receives the last kernel, if it is not NULL. */
static gpu_roofline_counters run(const char *trace_name, const char *const *preset, const char *const *more,
                                 replay_kernel *kernel)
{
    const char *sets[SETS_MAX] = { "core.class.fp32.interval_cycles=2", "core.class.half.interval_cycles=4",
                                   "core.class.fp64.interval_cycles=8", "dram=fixed",
                                   "dram.atoms_per_cycle=0.5" };
    size_t count = 5;
    for (; *preset != NULL; preset++)
        sets[count++] = *preset;
    for (; more != NULL && *more != NULL; more++)
        sets[count++] = *more;
    const config_request request = { .platform = "tests/roofline",
                                     .sets = sets,
                                     .set_count = count,
                                     .text = rig_platform,
                                     .text_bytes = strlen(rig_platform) };
    ls_error err = { 0 };
    platform_config *config = NULL;
    ls_machine *machine = NULL;
    trace_replay *replay = NULL;
    sass_trace *trace = NULL;
    ls_run_result result;
    gpu_roofline roofline;
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK ||
        synth_open(trace_name, &(trace_options){ 0 }, &trace, &err) != LS_OK)
        fail_msg("%s", err.what);
    config_destroy(config);
    ls_engine *engine = ls_machine_engine(machine);
    if (replay_create(engine, trace, NULL, &replay, &err) != LS_OK ||
        gpu_roofline_init(&roofline, gpu_at(engine, 0), &err) != LS_OK ||
        replay_run(replay, &(ls_run_options){ .threads = 1 }, &result, &err) != LS_OK)
        fail_msg("%s", err.what);
    gpu_roofline_update(&roofline);
    if (kernel != NULL)
        *kernel = *replay_kernel_at(replay, replay_kernel_count(replay) - 1);
    assert_int_equal(roofline.n.dram_bytes,
                     32 * (rig_counter(engine, "dram", "reads") + rig_counter(engine, "dram", "writes") +
                           rig_counter(engine, "core", "expected_dram_sectors")));
    replay_destroy(replay);
    trace_close(trace);
    machine_destroy(machine);
    return roofline.n;
}

/* 6 cores of 4 sub-cores at 1 GHz; 4 channels that move half an atom in each of 1.5 cycles per ns. */
static void test_roofs(void **state)
{
    (void)state;
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        replay_kernel kernel;
        gpu_roofline_counters n = run("gemm,m=64,n=128,k=32", presets[p], NULL, &kernel);
        assert_int_equal(n.time_ns, kernel.end - kernel.begin);
        assert_int_equal(n.possible_single, n.time_ns * 6 * 4 * 64 / 2);
        assert_int_equal(n.possible_half, n.time_ns * 6 * 4 * 128 / 4);
        assert_int_equal(n.possible_double, n.time_ns * 6 * 4 * 64 / 8);
        assert_int_equal(n.possible_bytes, n.time_ns * 4 * 16 * 3 / 2);
        assert_int_equal(n.flops_single, 2 * 64 * 128 * 32);
        assert_int_equal(n.flops, n.flops_single + n.flops_half);
        assert_in_range(n.dram_bytes, 4 * (64 * 32 + 32 * 128), n.possible_bytes);
    }
}

/* A kernel of nothing but multiply-adds on all cores stays below its roof and comes near it. */
static void test_arithmetic(void **state)
{
    (void)state;
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        gpu_roofline_counters n = run("throughput,op=FFMA,count=2048,warps=16,ctas=6", presets[p], NULL, NULL);
        assert_in_range(n.flops_single, n.possible_single / 2, n.possible_single);
    }
}

/* A kernel that reads as fast as it can reaches the roof of memory, but not more. */
static void test_memory(void **state)
{
    (void)state;
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        gpu_roofline_counters n =
            run("bandwidth,mode=read,block=256,ctas=48,footprint_kib=4096", presets[p], NULL, NULL);
        assert_in_range(n.dram_bytes, UINT64_C(4096) * 1024, n.possible_bytes);
        assert_true(n.dram_bytes > n.possible_bytes * 7 / 10);
    }
}

/* Matrix instructions: time of their units, for any shape. */
static void test_tensor(void **state)
{
    (void)state;
    static const char *const units[] = { "core.class.tensor_half.unit=tensor",
                                         "core.class.tensor_half.interval_cycles=16", NULL };
    for (size_t p = 0; p < LS_COUNT_OF(presets); p++) {
        replay_kernel kernel;
        gpu_roofline_counters n = run("gemm-tensor,m=128,n=128,k=64", presets[p], units, &kernel);
        assert_int_equal(n.flops_tensor, 2 * 128 * 128 * 64);
        assert_int_equal(n.tensor_cycles, n.flops_tensor / 4096 * 16); /* HMMA.16816 */
        assert_int_equal(n.possible_tensor_cycles, (kernel.end - kernel.begin) * 6 * 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_roofs), cmocka_unit_test(test_arithmetic),
                                        cmocka_unit_test(test_memory), cmocka_unit_test(test_tensor) };
    return cmocka_run_group_tests_name("roofline", tests, NULL, NULL);
}
