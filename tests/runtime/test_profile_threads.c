/* test_profile_threads.c: a profile does not depend on the number of threads: kernel after kernel, of a sample
 * or of everything, with caches or with reuse distances. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fidelity_rig.h"
#include "workload/profile/profile.h"

#include <stdlib.h>

#define KERNELS_MAX 16u

typedef struct profiles {
    kernel_profile at[KERNELS_MAX];
    uint32_t count;
    uint64_t blocks, given_back;
} profiles;

typedef struct reader {
    trace_kernel *kernel;
    profiles *of;
} reader;

static ls_status next_block(void *self, const ls_cta **out, ls_error *err)
{
    reader *r = self;
    bool end = false;
    ls_cta *cta = calloc(1, sizeof *cta);
    assert_non_null(cta);
    ls_status status = kernel_next_cta(r->kernel, cta, &end, err);
    r->of->blocks += !end;
    *out = end ? NULL : cta;
    if (end)
        free(cta);
    return status;
}

static void block_done(void *self, const ls_cta *cta)
{
    reader *r = self;
    ls_cta *own = (ls_cta *)(uintptr_t)cta;
    r->of->given_back++;
    ls_cta_fini(own);
    free(own);
}

/* All kernels of these programs, in sequence on the same caches. `threads` 0: without a pool. */
static profiles walk(const char *const *programs, profile_method method, uint64_t sample, uint32_t threads)
{
    static const char *const sets[] = { "core.alu=issue", "core.memory=analytic", "l2.sets=16",
                                        "l2.mshr_merge=2", "l2.merge_stall=slice" };
    ls_error err = { 0 };
    platform_config *config;
    ls_machine *machine = NULL;
    gpu_shape shape;
    trace_profiler *profiler = NULL;
    thread_pool *pool = NULL;
    profiles out = { 0 };
    config_request request = { .platform = "tests/fidelity",
                               .sets = sets,
                               .set_count = LS_COUNT_OF(sets),
                               .text = rig_platform,
                               .text_bytes = strlen(rig_platform) };
    if (config_load(&request, &config, NULL, &err) != LS_OK ||
        machine_create(config, 1, &machine, &err) != LS_OK ||
        gpu_get_shape(ls_machine_engine(machine), &shape, &err) != LS_OK ||
        profiler_create(&shape, method, &profiler, &err) != LS_OK)
        fail_msg("%s", err.what);
    if (threads > 0) {
        assert_int_equal(pool_create(threads, &pool, &err), LS_OK);
        assert_int_equal(profiler_use(profiler, pool, &err), LS_OK);
    }
    for (size_t i = 0; programs[i] != NULL; i++) {
        sass_trace *trace;
        if (synth_open(programs[i], &(trace_options){ 0 }, &trace, &err) != LS_OK)
            fail_msg("%s: %s", programs[i], err.what);
        for (uint64_t command = 0; command < trace_command_count(trace); command++) {
            if (trace_command_at(trace, command)->kind != LS_COMMAND_KERNEL)
                continue;
            reader r = { .of = &out };
            assert_int_equal(trace_open_kernel(trace, command, &r.kernel, &err), LS_OK);
            const profile_request of = { .info = kernel_get_info(r.kernel),
                                         .insts = kernel_inst_table(r.kernel),
                                         .ctas = ls_kernel_cta_count(kernel_get_info(r.kernel)),
                                         .source = { .self = &r, .next = next_block, .done = block_done },
                                         .sample = sample };
            assert_true(out.count < KERNELS_MAX);
            if (profiler_run(profiler, &of, &out.at[out.count++], &err) != LS_OK)
                fail_msg("%s: %s", programs[i], err.what);
            kernel_close(r.kernel);
        }
        trace_close(trace);
    }
    profiler_destroy(profiler);
    pool_destroy(pool);
    machine_destroy(machine);
    config_destroy(config);
    return out;
}

static void dispose(profiles *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        profile_kernel_fini(&p->at[i]);
}

static void assert_same(const profiles *a, const profiles *b)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        const kernel_profile *x = &a->at[i], *y = &b->at[i];
        assert_int_equal(x->count, y->count);
        assert_memory_equal(x->at, y->at, x->count * sizeof *x->at);
        assert_int_equal(x->l2_sectors, y->l2_sectors);
        assert_int_equal(x->slice_sectors, y->slice_sectors);
        assert_int_equal(x->dram_atoms, y->dram_atoms);
        assert_int_equal(x->channel_cycles, y->channel_cycles);
        assert_int_equal(x->reads, y->reads);
        assert_int_equal(x->closed, y->closed);
        assert_int_equal(x->conflicts, y->conflicts);
        assert_int_equal(x->slice_stalls, y->slice_stalls);
        assert_int_equal(x->walked, y->walked);
        assert_int_equal(x->insts, y->insts);
    }
    assert_int_equal(a->blocks, a->given_back);
    assert_int_equal(b->blocks, b->given_back);
}

/* Streams that fill L2, cores that contend there, scattered accesses, copies past L1, atomics. */
static const char *const programs[] = {
    "vector-add,n=131072",          "gemm,m=256,n=256,k=32",         "gather,n=16384",
    "gemm-tensor,m=128,n=128,k=64", "atomics,target=spread,ctas=24", NULL
};

static void test_threads(void **state)
{
    (void)state;
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    static const uint64_t samples[] = { 0, 1000, 20000 };
    for (size_t s = 0; s < sizeof samples / sizeof samples[0]; s++) {
        profiles alone = walk(programs, LS_PROFILE_CACHE, samples[s], 0);
        uint64_t atoms = 0, stalls = 0;
        for (uint32_t i = 0; i < alone.count; i++) {
            atoms += alone.at[i].dram_atoms;
            stalls += alone.at[i].slice_stalls;
        }
        assert_true(atoms > 10000 && stalls > 0);
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            profiles team = walk(programs, LS_PROFILE_CACHE, samples[s], threads[t]);
            assert_same(&alone, &team);
            dispose(&team);
        }
        dispose(&alone);
    }
}

static void test_reuse(void **state)
{
    (void)state;
    profiles alone = walk(programs, LS_PROFILE_REUSE, 5000, 0),
             team = walk(programs, LS_PROFILE_REUSE, 5000, 3);
    assert_same(&alone, &team);
    dispose(&alone);
    dispose(&team);
}

/* More threads than there are warps to share, and a kernel without accesses. */
static void test_little(void **state)
{
    (void)state;
    static const char *const little[] = { "vector-add,n=256", "throughput,op=FFMA,count=64,warps=2,ctas=2",
                                          NULL };
    profiles alone = walk(little, LS_PROFILE_CACHE, 0, 0), team = walk(little, LS_PROFILE_CACHE, 0, 8);
    assert_same(&alone, &team);
    dispose(&alone);
    dispose(&team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
