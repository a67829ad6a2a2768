/* test_amd_pair.c: two AMD GPUs of different kinds in one engine, without a link between them. Each runs a
 * fill, a kernel and a copy out. All of it takes the same time and gives the same numbers as on the GPU alone,
 * on any number of threads. Blocks and domains are named by their instance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "amd_rig.h"

static void run(ls_engine *engine, uint32_t threads, rig_gpu *const *gpus, uint32_t count)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++)
        submit(gpus[i]);
    for (uint32_t runs = 0; taken < count * PACKETS; runs++) {
        assert_true(runs < 100);
        OK(ls_run(engine, &(ls_run_options){ .threads = threads }, NULL, &err));
        for (uint32_t i = 0; i < count; i++)
            taken += take_packets(gpus[i]);
    }
}

static const char *const no_sets[] = { NULL };

static void two_gpus_are_as_each_alone(void **state)
{
    (void)state;
    static rig_gpu alone[2], pair[2];
    for (uint32_t i = 0; i < 2; i++) {
        open_gpu(&alone[i], &amd_kinds[i], no_sets, NULL, 0, 0);
        run(ls_machine_engine(alone[i].machine), 1, (rig_gpu *[]){ &alone[i] }, 1);
        is_right(&alone[i]);
    }
    assert_int_not_equal(alone[0].packets[1].end, alone[1].packets[1].end);
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    for (uint32_t k = 0; k < LS_COUNT_OF(threads); k++) {
        ls_engine *engine;
        OK(ls_engine_create(1, &engine, &err));
        for (uint32_t i = 0; i < 2; i++)
            open_gpu(&pair[i], &amd_kinds[i], no_sets, engine, i, i);
        assert_non_null(ls_engine_find_block(engine, "gpu0.cluster0.cu0"));
        assert_non_null(ls_engine_find_block(engine, "gpu1.cluster0.cu0"));
        assert_null(ls_engine_find_block(engine, "gpu0.array0.l1"));
        assert_non_null(ls_engine_find_block(engine, "gpu1.array0.l1"));
        run(engine, threads[k], (rig_gpu *[]){ &pair[0], &pair[1] }, 2);
        for (uint32_t i = 0; i < 2; i++)
            is_same(&alone[i], &pair[i]);
        ls_engine_destroy(engine);
        for (uint32_t i = 0; i < 2; i++)
            close_gpu(&pair[i]);
    }
    for (uint32_t i = 0; i < 2; i++)
        close_gpu(&alone[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(two_gpus_are_as_each_alone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
