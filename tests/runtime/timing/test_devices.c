/* test_devices.c: the GPUs of a system as devices of the driver: each with its own memory, commands and times. They work
 * at the same time, a kernel takes as long as on one GPU alone, and nothing depends on threads. */
#include "runtime/driver/driver_test.h"

#include "lockstep/random.h"

#define NANO LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define COUNT 4096u
#define GPUS_MAX 4u

typedef struct system_rig {
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_module *modules[GPUS_MAX];
    uint32_t gpus;
} system_rig;

static system_rig open_rig(uint32_t gpus, uint32_t threads)
{
    const char *set = "gpus.clusters=4", *single = "clusters=4";
    system_rig r = { .gpus = gpus };
    const char *path = bench_object("gfx803", 5);
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO,
                                               .platform_gpus = gpus > 1 ? gpus : 0,
                                               .sets = gpus > 1 ? &set : &single,
                                               .set_count = 1,
                                               .memory_bytes = 16 << 20,
                                               .max_instructions = 20000,
                                               .check_memory = true,
                                               .threads = threads },
                            &r.system, &err));
    assert_int_equal(ls_gpu_system_gpu_count(r.system), gpus);
    OK(ls_gpu_context_create(r.system, &r.context, &err));
    for (uint32_t i = 0; i < gpus; i++) {
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_module_load_file(r.context, path, &r.modules[i], &err));
    }
    return r;
}

static void close_rig(system_rig *r)
{
    assert_no_races(r->system);
    ls_gpu_context_destroy(r->context);
    ls_gpu_system_destroy(r->system);
}

static ls_gpu_kernel *kernel_of(const system_rig *r, uint32_t gpu, const char *name)
{
    ls_gpu_kernel *kernel;
    OK(ls_gpu_module_find(r->modules[gpu], name, &kernel, &err));
    return kernel;
}

typedef struct span {
    uint64_t began, ended;
} span;

/* Each GPU increments a buffer of its own, `times` times. */
static void increment_all(uint32_t gpus, uint32_t threads, span *out)
{
    system_rig r = open_rig(gpus, threads);
    ls_gpu_queue *queues[GPUS_MAX];
    ls_gpu_event *events[GPUS_MAX];
    ls_gpu_address buffers[GPUS_MAX];
    static uint32_t data[GPUS_MAX][COUNT], got[COUNT];
    for (uint32_t g = 0; g < gpus; g++) {
        OK(ls_gpu_select(r.context, g, &err));
        OK(ls_gpu_alloc(r.context, sizeof data[g], &buffers[g], &err));
        OK(ls_gpu_queue_create(r.context, &queues[g], &err));
        assert_int_equal(buffers[g] >> 40, g); /* an address says where it is at home */
        for (uint32_t i = 0; i < COUNT; i++)
            data[g][i] = 1000 * g + i;
    }
    for (uint32_t g = 0; g < gpus; g++) {
        uint32_t count = COUNT;
        ls_gpu_arg args[] = { LS_GPU_ARG(buffers[g]), LS_GPU_ARG(count) };
        ls_gpu_launch l = { .grid = { COUNT }, .group = { 64 }, .args = args, .arg_count = 2 };
        OK(ls_gpu_queue_copy_in(queues[g], buffers[g], data[g], sizeof data[g], NULL, &err));
        OK(ls_gpu_queue_launch(queues[g], kernel_of(&r, g, "increment"), &l, &events[g], &err));
    }
    OK(ls_gpu_sync(r.context, &err));
    for (uint32_t g = 0; g < gpus; g++) {
        uint64_t queued;
        ls_gpu_event_get_times(events[g], &queued, &out[g].began, &out[g].ended);
        ls_gpu_event_release(events[g]);
        OK(ls_gpu_copy_out(r.context, got, buffers[g], sizeof got, &err));
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(got[i], data[g][i] + 1);
    }
    close_rig(&r);
}

/* Kernels of all GPUs run at the same time and take as long as the kernel of a GPU alone. */
static void beside(void **unused)
{
    span alone[1], spans[GPUS_MAX];
    (void)unused;
    increment_all(1, 1, alone);
    for (uint32_t gpus = 2; gpus <= GPUS_MAX; gpus *= 2) {
        increment_all(gpus, 1, spans);
        for (uint32_t g = 0; g < gpus; g++) {
            assert_int_equal(spans[g].began, spans[0].began);
            assert_int_equal(spans[g].ended - spans[g].began, alone[0].ended - alone[0].began);
        }
    }
}

static void threads(void **unused)
{
    static const uint32_t counts[] = { 2, 3, 8 };
    span one[GPUS_MAX], more[GPUS_MAX];
    (void)unused;
    increment_all(GPUS_MAX, 1, one);
    for (uint32_t i = 0; i < 3; i++) {
        increment_all(GPUS_MAX, counts[i], more);
        assert_memory_equal(one, more, sizeof one);
    }
}

/* Random copies and fills of buffers on two GPUs, and between them: through the host, for there is no fabric. */
static uint64_t random_copies(uint32_t threads_now)
{
    enum { BYTES = 20000 };
    static uint8_t mirror[2][BYTES], got[BYTES], data[BYTES];
    system_rig r = open_rig(2, threads_now);
    ls_gpu_address buffers[2];
    ls_random random;
    uint64_t end;
    ls_random_init(&random, 7);
    memset(mirror, 0, sizeof mirror);
    for (uint32_t g = 0; g < 2; g++) {
        OK(ls_gpu_select(r.context, g, &err));
        OK(ls_gpu_alloc(r.context, BYTES, &buffers[g], &err));
    }
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t a = (uint32_t)ls_random_below(&random, 2), b = (uint32_t)ls_random_below(&random, 2);
        size_t from = (size_t)ls_random_below(&random, BYTES - 1),
               to = (size_t)ls_random_below(&random, BYTES - 1);
        size_t bytes = 1 + (size_t)ls_random_below(&random, BYTES - (from > to ? from : to));
        if (i % 4 == 0) {
            for (size_t k = 0; k < bytes; k++)
                data[k] = (uint8_t)ls_random_next(&random);
            OK(ls_gpu_copy_in(r.context, buffers[a] + to, data, bytes, &err));
            memcpy(mirror[a] + to, data, bytes);
        } else if (i % 4 == 1) {
            OK(ls_gpu_poke(r.context, buffers[a] + to, mirror[b] + from, bytes, &err));
            memmove(mirror[a] + to, mirror[b] + from, bytes);
        } else {
            OK(ls_gpu_copy(r.context, buffers[a] + to, buffers[b] + from, bytes, &err));
            memmove(mirror[a] + to, mirror[b] + from, bytes);
        }
    }
    for (uint32_t g = 0; g < 2; g++) {
        OK(ls_gpu_copy_out(r.context, got, buffers[g], BYTES, &err));
        assert_memory_equal(got, mirror[g], BYTES);
        OK(ls_gpu_peek(r.context, got, buffers[g], BYTES, &err));
        assert_memory_equal(got, mirror[g], BYTES);
    }
    end = ls_gpu_system_now(r.system);
    close_rig(&r);
    return end;
}

static void copies(void **unused)
{
    uint64_t one = random_copies(1);
    (void)unused;
    assert_int_equal(random_copies(2), one);
    assert_int_equal(random_copies(3), one);
}

/* A kernel that follows an address of another GPU: one line that names both. */
static void out_of_reach(void **unused)
{
    system_rig r = open_rig(2, 1);
    ls_gpu_address far;
    uint32_t count = 64;
    (void)unused;
    OK(ls_gpu_select(r.context, 1, &err));
    OK(ls_gpu_alloc(r.context, 4096, &far, &err));
    ls_gpu_arg args[] = { LS_GPU_ARG(far), LS_GPU_ARG(count) };
    ls_gpu_launch l = { .grid = { 64 }, .group = { 64 }, .args = args, .arg_count = 2 };
    REFUSED(ls_gpu_run(r.context, kernel_of(&r, 0, "increment"), &l, &err), LS_ERR_CHECK, "GPU 1 has 0x10100");
    REFUSED(ls_gpu_run(r.context, kernel_of(&r, 0, "increment"), &l, &err), LS_ERR_CHECK,
            "no fabric joins it with GPU 0");
    OK(ls_gpu_run(r.context, kernel_of(&r, 1, "increment"), &l, &err));
    close_rig(&r);
}

/* Memory that was freed and allocated again reads 0 on each GPU, whatever caches had of it. */
static void freed(void **unused)
{
    static uint32_t got[COUNT], ones[COUNT];
    system_rig r = open_rig(2, 1);
    (void)unused;
    memset(ones, 0xff, sizeof ones);
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t g = 0; g < 2; g++) {
            ls_gpu_address buffer;
            OK(ls_gpu_select(r.context, g, &err));
            OK(ls_gpu_alloc(r.context, sizeof got, &buffer, &err));
            OK(ls_gpu_copy_out(r.context, got, buffer, sizeof got, &err));
            for (uint32_t i = 0; i < COUNT; i++)
                assert_int_equal(got[i], 0);
            OK(ls_gpu_copy_in(r.context, buffer, ones, sizeof ones, &err));
            OK(ls_gpu_free(r.context, buffer, &err));
        }
    close_rig(&r);
}

/* One GPU of a system: programs see that one only, and its addresses are those of a GPU alone. */
static void one_of_them(void **unused)
{
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_address buffer;
    (void)unused;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO, .platform_gpus = 3, .on = "gpu2" }, &system,
                            &err));
    assert_int_equal(ls_gpu_system_gpu_count(system), 1);
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_alloc(context, 4096, &buffer, &err));
    assert_int_equal(buffer >> 40, 0);
    REFUSED(ls_gpu_select(context, 1, &err), LS_ERR_USAGE, "there is no GPU 1: the system has 1");
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside),       cmocka_unit_test(threads), cmocka_unit_test(copies),
        cmocka_unit_test(out_of_reach), cmocka_unit_test(freed),   cmocka_unit_test(one_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
