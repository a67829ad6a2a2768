/* test_two_gpus.c: GPUs of different kinds in one engine, without a link between them: each does what it does
 * alone, its blocks are named from its number, and nothing depends on threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fidelity_rig.h"
#include "model/gpu/gpu.h"

#define GPUS 3u

/* A GPU and its work. */
static const struct kind {
    const char *trace;
    const char *sets[5];
} kinds[GPUS] = {
    { "gemm,m=128,n=128,k=32", { "cores=6" } },
    { "gather,n=4096,table_kib=256", { "cores=3", "memory.channels=2", "clock.core_mhz=1410" } },
    { "gemm,m=64,n=64,k=64", { "cores=2", "core.scheduler=lrr", "core.memory=analytic" } },
};

typedef struct outcome {
    ls_cycle begin, end; /* of its kernel */
    uint64_t kernels, digest;
} outcome;

static void check(ls_status status, const ls_error *err)
{
    if (status != LS_OK)
        fail_msg("%s", err->what);
}

static uint64_t add_block(uint64_t hash, ls_block *block)
{
    const ls_block_type *type = ls_block_type_of(block);
    const char *counters = (const char *)ls_block_state(block) + type->counters_offset;
    for (size_t m = 0; m < type->metric_count; m++)
        if (type->metrics[m].kind == LS_METRIC_KIND_COUNTER)
            hash = (hash ^ *(const uint64_t *)(const void *)(counters + type->metrics[m].offset)) *
                   1099511628211u;
    return hash;
}

static uint64_t digest(const gpu_instance *gpu)
{
    uint64_t hash = add_block(14695981039346656037u, gpu->dispatch);
    for (uint32_t i = 0; i < gpu->core_count; i++)
        hash = add_block(hash, gpu->cores[i]);
    for (uint32_t i = 0; i < gpu->channel_count; i++)
        hash = add_block(add_block(hash, gpu->l2[i]), gpu->dram[i]);
    return hash;
}

/* The GPUs of `which` (a bit for each kind) in one engine, in that order. */
static void run(uint32_t which, uint32_t threads, outcome out[GPUS])
{
    ls_engine *engine = NULL;
    ls_machine *machines[GPUS] = { NULL };
    platform_config *configs[GPUS] = { NULL };
    sass_trace *traces[GPUS] = { NULL };
    trace_replay *replays[GPUS] = { NULL };
    uint32_t count = 0;
    ls_error err = { 0 };
    check(ls_engine_create(1, &engine, &err), &err);
    for (uint32_t kind = 0; kind < GPUS; kind++) {
        if ((which >> kind & 1) == 0)
            continue;
        size_t sets = 0;
        while (kinds[kind].sets[sets] != NULL)
            sets++;
        const config_request request = { .platform = "tests/gpus",
                                         .sets = kinds[kind].sets,
                                         .set_count = sets,
                                         .text = rig_platform,
                                         .text_bytes = strlen(rig_platform) };
        check(config_load(&request, &configs[count], NULL, &err), &err);
        check(machine_add(configs[count], engine, count, &machines[count], &err), &err);
        check(synth_open(kinds[kind].trace, &(trace_options){ 0 }, &traces[count], &err), &err);
        const replay_options options = { .gpu = count };
        check(replay_create(engine, traces[count], &options, &replays[count], &err), &err);
        count++;
    }
    assert_null(gpu_at(engine, count));
    ls_run_result result;
    check(replay_run_all(replays, count, &(ls_run_options){ .threads = threads }, &result, &err), &err);
    for (uint32_t i = 0; i < count; i++) {
        const gpu_instance *gpu = gpu_at(engine, i);
        const replay_kernel *kernel = replay_kernel_at(replays[i], 0);
        char name[32];
        assert_int_equal(gpu->number, i);
        snprintf(name, sizeof name, "gpu%u.core%u", i, gpu->core_count - 1);
        assert_string_equal(ls_block_name(gpu->cores[gpu->core_count - 1]), name);
        assert_ptr_equal(ls_engine_find_block(engine, name), gpu->cores[gpu->core_count - 1]);
        snprintf(name, sizeof name, "gpu%u.mem0", i);
        assert_string_equal(ls_domain_name(ls_region_domain(ls_block_region(gpu->l2[0]))), name);
        assert_non_null(kernel);
        out[i] = (outcome){ kernel->begin, kernel->end, replay_kernel_count(replays[i]), digest(gpu) };
    }
    for (uint32_t i = 0; i < count; i++) {
        replay_destroy(replays[i]);
        trace_close(traces[i]);
    }
    ls_engine_destroy(engine);
    for (uint32_t i = 0; i < count; i++) {
        machine_destroy(machines[i]);
        config_destroy(configs[i]);
    }
}

static void same(const outcome *a, const outcome *b)
{
    assert_int_equal(a->begin, b->begin);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->kernels, b->kernels);
    assert_int_equal(a->digest, b->digest);
}

static void each_does_what_it_does_alone(void **state)
{
    (void)state;
    outcome alone[GPUS], together[GPUS], pair[GPUS];
    for (uint32_t kind = 0; kind < GPUS; kind++) {
        run(1u << kind, 1, &alone[kind]);
        assert_true(alone[kind].kernels >= 1 && alone[kind].end > alone[kind].begin);
    }
    assert_true(alone[0].digest != alone[1].digest && alone[0].end != alone[1].end);
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    for (size_t t = 0; t < LS_COUNT_OF(threads); t++) {
        run(7, threads[t], together);
        for (uint32_t kind = 0; kind < GPUS; kind++)
            same(&together[kind], &alone[kind]);
    }
    run(6, 1, pair); /* with other numbers */
    same(&pair[0], &alone[1]);
    same(&pair[1], &alone[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_does_what_it_does_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
