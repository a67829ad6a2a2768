/* test_central.c: the unified device with GPU 0's dispatcher for the compute units of all GPUs (spread central). Work-groups of
 * two queues and kernels of a GPU's own run side by side or wait for each other, a fault on any GPU ends the launch on
 * all, and nothing depends on threads. */
#include "runtime/driver/driver_test.h"

#define NANO LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define GPUS 3u
#define WORDS (64u * 300u) /* more work-groups than the 120 that 3 compute units hold */

typedef struct rig {
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_module *modules[GPUS + 1]; /* the last one is that of the unified device */
} rig;

static rig open_rig(uint32_t threads)
{
    static const char *const sets[] = { "gpus.clusters=1", "gpus.cus_per_cluster=1", "fabric.model=pcie" };
    const char *path = bench_object("gfx803", 5);
    rig r;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO,
                                               .platform_gpus = GPUS,
                                               .sets = sets,
                                               .set_count = 3,
                                               .unified = true,
                                               .spread = "central",
                                               .memory_bytes = 16 << 20,
                                               .max_instructions = 20000,
                                               .check_memory = true,
                                               .threads = threads },
                            &r.system, &err));
    OK(ls_gpu_context_create(r.system, &r.context, &err));
    for (uint32_t i = 0; i <= GPUS; i++) {
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_module_load_file(r.context, path, &r.modules[i], &err));
    }
    return r;
}

static void close_rig(rig *r)
{
    assert_no_races(r->system);
    ls_gpu_context_destroy(r->context);
    ls_gpu_system_destroy(r->system);
}

static ls_gpu_kernel *kernel_of(const rig *r, uint32_t gpu, const char *name)
{
    ls_gpu_kernel *kernel;
    OK(ls_gpu_module_find(r->modules[gpu], name, &kernel, &err));
    return kernel;
}

static void launch(const rig *r, ls_gpu_queue *queue, uint32_t gpu, ls_gpu_address buffer, uint32_t words)
{
    ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(words) };
    ls_gpu_launch l = { .grid = { words }, .group = { 64 }, .args = args, .arg_count = 2 };
    OK(ls_gpu_queue_launch(queue, kernel_of(r, gpu, "increment"), &l, NULL, &err));
}

/* Two queues of the unified device and one of GPU 1, three launches each. */
static uint64_t mixed(uint32_t threads)
{
    static const uint32_t device[] = { GPUS, GPUS, 1 };
    static uint32_t data[WORDS], got[WORDS];
    rig r = open_rig(threads);
    ls_gpu_queue *queues[3];
    ls_gpu_address buffers[3];
    for (uint32_t q = 0; q < 3; q++) {
        OK(ls_gpu_select(r.context, device[q], &err));
        OK(ls_gpu_queue_create(r.context, &queues[q], &err));
        OK(ls_gpu_alloc(r.context, sizeof data, &buffers[q], &err));
        for (uint32_t i = 0; i < WORDS; i++)
            data[i] = q * 1000000 + i;
        OK(ls_gpu_copy_in(r.context, buffers[q], data, sizeof data, &err));
    }
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t q = 0; q < 3; q++)
            launch(&r, queues[q], device[q], buffers[q], round == 1 ? 64 * 7 + 5 : WORDS - 3);
    OK(ls_gpu_sync(r.context, &err));
    for (uint32_t q = 0; q < 3; q++) {
        OK(ls_gpu_copy_out(r.context, got, buffers[q], sizeof got, &err));
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(got[i], q * 1000000 + i + (i < 64 * 7 + 5 ? 1u : 0u) + (i < WORDS - 3 ? 2u : 0u));
    }
    uint64_t end = ls_gpu_system_now(r.system);
    close_rig(&r);
    return end;
}

static void queues_beside(void **unused)
{
    (void)unused;
    uint64_t one = mixed(1);
    for (uint32_t threads = 2; threads <= 8; threads = threads == 3 ? 8 : threads + 1)
        assert_int_equal(mixed(threads), one);
}

/* Parts of a grid are dispatched centrally as well. */
static void parts_of_a_grid(void **unused)
{
    static uint32_t got[WORDS];
    (void)unused;
    rig r = open_rig(1);
    ls_gpu_address buffer;
    uint32_t words = WORDS;
    OK(ls_gpu_select(r.context, GPUS, &err));
    OK(ls_gpu_alloc_zeroed(r.context, sizeof got, &buffer, &err));
    ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(words) };
    ls_gpu_launch l = { .grid = { WORDS },
                        .group = { 64 },
                        .args = args,
                        .arg_count = 2,
                        .groups = { .first = 3, .count = 140, .stride = 2 } };
    OK(ls_gpu_run(r.context, kernel_of(&r, GPUS, "increment"), &l, &err));
    OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(got[i], i / 64 >= 3 && i / 64 < 283 && i / 64 % 2 == 1);
    close_rig(&r);
}

/* Every work-group faults, on all GPUs at nearly the same time; the launch ends, and others run after it. */
static void a_fault_ends_it_everywhere(void **unused)
{
    (void)unused;
    rig r = open_rig(2);
    ls_gpu_address buffer;
    uint64_t distance = UINT64_C(1) << 50;
    uint32_t words = 64;
    OK(ls_gpu_select(r.context, GPUS, &err));
    OK(ls_gpu_alloc_zeroed(r.context, 4096, &buffer, &err));
    ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(distance) };
    ls_gpu_launch l = { .grid = { WORDS }, .group = { 64 }, .args = args, .arg_count = 2 };
    assert_int_not_equal(ls_gpu_run(r.context, kernel_of(&r, GPUS, "stray"), &l, &err), LS_OK);
    assert_non_null(strstr(err.what, "stray"));
    ls_gpu_context_destroy(r.context);
    OK(ls_gpu_context_create(r.system, &r.context, &err));
    OK(ls_gpu_select(r.context, GPUS, &err));
    OK(ls_gpu_module_load_file(r.context, bench_object("gfx803", 5), &r.modules[GPUS], &err));
    OK(ls_gpu_alloc_zeroed(r.context, 4096, &buffer, &err));
    ls_gpu_arg again[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(words) };
    l = (ls_gpu_launch){ .grid = { 640 }, .group = { 64 }, .args = again, .arg_count = 2 };
    OK(ls_gpu_run(r.context, kernel_of(&r, GPUS, "increment"), &l, &err));
    OK(ls_gpu_copy_out(r.context, &words, buffer + 63 * 4, 4, &err));
    assert_int_equal(words, 1);
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_beside),
        cmocka_unit_test(parts_of_a_grid),
        cmocka_unit_test(a_fault_ends_it_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
