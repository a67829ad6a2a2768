/* test_fidelity_threads.c: with every choice of models, neither times nor counters depend on the number of
 * threads, on windows or on who runs what. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fidelity_rig.h"

static const char *const detailed[] = { "core.alu=cycle", NULL };
static const char *const basic[] = { "core.alu=issue", NULL };
static const char *const memory[] = { "core.alu=issue", "core.memory=analytic", NULL };
static const char *const formula[] = { "core.alu=cycle", "core.memory=analytic", NULL };
static const char *const turns[] = { "core.alu=issue", "core.memory=analytic", "core.scheduler=lrr", NULL };
static const char *const *const presets[] = { detailed, basic, memory, formula, turns };

/* Every kind of generated kernel, small. Streams, barriers and shared memory, atomics, asynchronous copies,
 * scattered accesses, several launches. */
static const char *const kernels[] = {
    "vector-add,n=4096",       "gemm,m=64,n=128,k=16",         "gemm-tensor,m=128,n=128,k=32",
    "gather,n=2048",           "atomics,target=spread,ctas=8", "graph-walk,nodes=512,levels=2",
    "reduction,n=8192,ctas=8", "vector-add,n=65536,block=64", /* blocks sent ahead */
};

static void test_threads(void **state)
{
    (void)state;
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; p++)
        for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
            static const uint32_t threads[] = { 2, 3, 8 };
            rig_outcome one = rig_run(kernels[k], presets[p], &(ls_run_options){ .threads = 1 });
            assert_true(one.cycles > 100 && one.warp_instructions > 0);
            for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
                rig_outcome many = rig_run(kernels[k], presets[p], &(ls_run_options){ .threads = threads[t] });
                assert_int_equal(many.cycles, one.cycles);
                assert_int_equal(many.digest, one.digest);
            }
        }
}

static void test_windows(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        rig_outcome whole = rig_run(kernels[k], memory, &(ls_run_options){ .threads = 1 });
        rig_outcome small =
            rig_run(kernels[k], memory, &(ls_run_options){ .threads = 2, .window_fs = 7000000 });
        assert_int_equal(small.cycles, whole.cycles);
        assert_int_equal(small.digest, whole.digest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
