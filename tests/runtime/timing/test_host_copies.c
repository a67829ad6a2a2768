/* test_host_copies.c: copies with a host that is on the fabric, and memory of the host that kernels use. Copies take the
 * time of the links, share them, and deliver every byte. */
#include "runtime/driver/driver_test.h"

#include "lockstep/random.h"
#include "runtime/timing/timing.h"

#define NANO LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define GPUS_MAX 4u
#define BYTES (256u << 10)

typedef struct rig {
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_module *modules[GPUS_MAX];
    ls_gpu_queue *queues[GPUS_MAX];
} rig;

static rig open_rig(uint32_t gpus, uint32_t threads, const char *const *more, size_t more_count)
{
    const char *sets[16] = { "gpus.clusters=1", "fabric.model=pcie", "host.model=cpu" };
    rig r = { 0 };
    const char *path = bench_object("gfx803", 5);
    for (size_t i = 0; i < more_count; i++)
        sets[3 + i] = more[i];
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO,
                                               .platform_gpus = gpus,
                                               .sets = sets,
                                               .set_count = 3 + more_count,
                                               .memory_bytes = 16 << 20,
                                               .check_memory = true,
                                               .threads = threads },
                            &r.system, &err));
    OK(ls_gpu_context_create(r.system, &r.context, &err));
    for (uint32_t i = 0; i < gpus; i++) {
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_module_load_file(r.context, path, &r.modules[i], &err));
        OK(ls_gpu_queue_create(r.context, &r.queues[i], &err));
    }
    OK(ls_gpu_select(r.context, 0, &err));
    return r;
}

static void close_rig(rig *r)
{
    assert_no_races(r->system);
    ls_gpu_context_destroy(r->context);
    ls_gpu_system_destroy(r->system);
}

static uint64_t count_of(const rig *r, const char *block, const char *name)
{
    const ls_block *b = ls_engine_find_block(timing_engine(r->system), block);
    assert_non_null(b);
    const ls_block_type *type = ls_block_type_of(b);
    for (uint32_t i = 0; i < type->metric_count; i++)
        if (strcmp(type->metrics[i].name, name) == 0) {
            uint64_t value;
            memcpy(&value,
                   (const char *)ls_block_state((ls_block *)b) + type->counters_offset +
                       type->metrics[i].offset,
                   8);
            return value;
        }
    fail_msg("%s has no counter %s", block, name);
    return 0;
}

static uint64_t time_of(ls_gpu_event *event)
{
    uint64_t queued, began, ended;
    ls_gpu_event_get_times(event, &queued, &began, &ended);
    ls_gpu_event_release(event);
    return ended - began;
}

static uint64_t copy(const rig *r, uint32_t gpu, bool in, ls_gpu_address at, uint8_t *data, size_t bytes)
{
    ls_gpu_event *event;
    if (in)
        OK(ls_gpu_queue_copy_in(r->queues[gpu], at, data, bytes, &event, &err));
    else
        OK(ls_gpu_queue_copy_out(r->queues[gpu], data, at, bytes, &event, &err));
    OK(ls_gpu_queue_sync(r->queues[gpu], &err));
    return time_of(event);
}

static void near(uint64_t got, uint64_t wanted)
{
    uint64_t gap = got > wanted ? got - wanted : wanted - got;
    if (gap * 100 > 3 * wanted)
        fail_msg("%lu ns instead of %lu", (unsigned long)got, (unsigned long)wanted);
}

/* PCI Express 3 at 1 GHz has flits of 17 bytes. A line to the GPU is an answer of 68 bytes, 5 flits with 25 %; a line from
 * it is a request of 76 bytes, 6 flits. The way of one line: two links of the GPU's network, one cycle in the RDMA engine,
 * two ports and 280 ns to the host, its memory, and all of it back; then L2 or DRAM of the GPU. */
static void copies_take_the_time_of_links(void **unused)
{
    static uint8_t data[BYTES], got[BYTES];
    static const char *const more[] = { "fabric.port_latency_ns=20" };
    rig r = open_rig(2, 1, more, 1);
    ls_gpu_address at;
    (void)unused;
    for (uint32_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 7 + (i >> 8));
    OK(ls_gpu_alloc(r.context, BYTES, &at, &err));
    const uint64_t way = 84 + 2 + 2 * (2 * 20 + 280) + 91;
    for (uint32_t in = 0; in < 2; in++) {
        uint64_t setup = in ? 14500 : 8500, flits = in ? 5 : 6;
        uint64_t line = copy(&r, 0, in, at, data, 64);
        assert_in_range(line - setup, way, way + 500);
        near(copy(&r, 0, in, at, data, BYTES), line + BYTES / 64 * flits);
    }
    (void)copy(&r, 0, true, at, data, BYTES);
    (void)copy(&r, 0, false, at, got, BYTES);
    assert_memory_equal(data, got, BYTES);
    uint64_t lines = 2 * (BYTES / 64) + 1;
    assert_int_equal(count_of(&r, "fabric.host-root", "copy_bytes"),
                     85 * lines + 5 * lines); /* data, and answers to writes */
    assert_int_equal(count_of(&r, "fabric.root-host", "copy_bytes"), 15 * lines + 95 * lines);
    assert_int_equal(count_of(&r, "fabric.root-host", "request_bytes"), 0);
    assert_int_equal(count_of(&r, "fabric.host-root", "data_bytes"), 0);
    assert_int_equal(count_of(&r, "host", "reads"), lines);
    assert_int_equal(count_of(&r, "host", "writes"), lines);
    close_rig(&r);
}

/* Both GPUs are at one switch, which has one link with the root: two copies take twice the time of the link. */
static void two_gpus_share_the_root_link(void **unused)
{
    static uint8_t data[2][BYTES];
    rig r = open_rig(2, 1, NULL, 0);
    ls_gpu_address at[2];
    ls_gpu_event *events[2];
    (void)unused;
    for (uint32_t i = 0; i < 2; i++) {
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_alloc(r.context, BYTES, &at[i], &err));
    }
    uint64_t line = copy(&r, 0, true, at[0], data[0], 64), link = BYTES / 64 * 5;
    near(copy(&r, 0, true, at[0], data[0], BYTES), line + link);
    for (uint32_t i = 0; i < 2; i++)
        OK(ls_gpu_queue_copy_in(r.queues[i], at[i], data[i], BYTES, &events[i], &err));
    OK(ls_gpu_sync(r.context, &err));
    for (uint32_t i = 0; i < 2; i++)
        near(time_of(events[i]), line + 2 * link);
    close_rig(&r);
}

/* From one GPU to another: a stream of lines, of class copy both ways, at the rate of the link. */
static void copies_between_gpus(void **unused)
{
    static uint8_t data[BYTES], got[BYTES];
    rig r = open_rig(2, 1, NULL, 0);
    ls_gpu_address at[2];
    ls_gpu_event *event;
    uint64_t times[2];
    (void)unused;
    for (uint32_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 11 + (i >> 9));
    for (uint32_t i = 0; i < 2; i++) {
        OK(ls_gpu_select(r.context, i, &err));
        OK(ls_gpu_alloc(r.context, BYTES, &at[i], &err));
    }
    OK(ls_gpu_poke(r.context, at[0], data, BYTES, &err));
    for (uint32_t i = 0; i < 2; i++) {
        OK(ls_gpu_queue_copy(r.queues[1], at[1], at[0], i == 0 ? 64 : BYTES, &event, &err));
        OK(ls_gpu_queue_sync(r.queues[1], &err));
        times[i] = time_of(event);
    }
    near(times[1], times[0] + BYTES / 64 * 5);
    OK(ls_gpu_peek(r.context, got, at[1], BYTES, &err));
    assert_memory_equal(data, got, BYTES);
    assert_int_equal(count_of(&r, "fabric.gpu0-switch0", "copy_bytes"), 85 * (BYTES / 64 + 1));
    assert_int_equal(count_of(&r, "fabric.gpu1-switch0", "copy_bytes"), 15 * (BYTES / 64 + 1));
    assert_int_equal(count_of(&r, "fabric.gpu0-switch0", "data_bytes"), 0);
    assert_int_equal(count_of(&r, "fabric.gpu1-switch0", "request_bytes"), 0);
    close_rig(&r);
}

/* ------------------------------------------------------------------------------------------ memory of the host */

#define COUNT 1024u

static void run_on(const rig *r, uint32_t gpu, const char *name, const ls_gpu_arg *args, size_t count)
{
    ls_gpu_kernel *kernel;
    OK(ls_gpu_module_find(r->modules[gpu], name, &kernel, &err));
    OK(ls_gpu_run(r->context, kernel,
                  &(ls_gpu_launch){ .grid = { COUNT }, .group = { 64 }, .args = args, .arg_count = count },
                  &err));
}

/* Kernels of both GPUs increment host memory one after another. Returns the time at the end. */
static uint64_t use_host_memory(uint32_t threads, const char *const *more, size_t more_count)
{
    static uint32_t data[COUNT], got[COUNT];
    rig r = open_rig(2, threads, more, more_count);
    uint32_t count = COUNT;
    ls_gpu_address pinned, own;
    assert_true(ls_gpu_system_has_host(r.system));
    OK(ls_gpu_alloc_host(r.context, sizeof data, &pinned, &err));
    OK(ls_gpu_alloc(r.context, sizeof data, &own, &err));
    for (uint32_t i = 0; i < COUNT; i++)
        data[i] = 5 * i;
    OK(ls_gpu_copy_in(r.context, pinned, data, sizeof data, &err));
    assert_int_equal(ls_gpu_system_now(r.system), 0); /* the CPU's own memory */
    const ls_gpu_arg args[] = { LS_GPU_ARG(pinned), LS_GPU_ARG(count) };
    for (uint32_t i = 0; i < 4; i++)
        run_on(&r, i % 2, "increment", args, 2);
    OK(ls_gpu_copy_out(r.context, got, pinned, sizeof got, &err));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(got[i], data[i] + 4);
    assert_true(count_of(&r, "host", "reads") >= 4 * COUNT * 4 / 64);
    assert_true(count_of(&r, "host", "writes") >= 4 * COUNT * 4 / 64);
    /* By the DMA engines, to a GPU and back; fills are the CPU's. */
    OK(ls_gpu_copy(r.context, own, pinned, sizeof got, &err));
    OK(ls_gpu_fill(r.context, pinned, "abc", 3, 3 * 100, &err));
    OK(ls_gpu_copy(r.context, pinned + 1000, own + 8, 1500, &err));
    OK(ls_gpu_copy_out(r.context, got, pinned, sizeof got, &err));
    assert_memory_equal(got, "abcabcab", 8);
    for (uint32_t i = 0; i < 1500 / 4; i++)
        assert_int_equal(got[250 + i], data[2 + i] + 4);
    REFUSED(ls_gpu_place(r.context, pinned, ls_gpu_page_bytes(r.system), 1, &err), LS_ERR_USAGE,
            "it is memory of the host");
    assert_true(ls_gpu_place_of(r.context, pinned) == LS_GPU_ON_HOST);
    OK(ls_gpu_free(r.context, pinned, &err));
    uint64_t end = ls_gpu_system_now(r.system);
    close_rig(&r);
    return end;
}

static void kernels_use_host_memory(void **unused)
{
    static const char *const shapes[][2] = {
        { "gpus.rdma.at=memory", "gpus.rdma.cache=partitioned" },
        { "gpus.tlb.model=none", "fabric.model=full" },
    };
    (void)unused;
    uint64_t end = use_host_memory(1, NULL, 0);
    assert_int_equal(use_host_memory(2, NULL, 0), end);
    assert_int_equal(use_host_memory(3, NULL, 0), end);
    assert_int_equal(use_host_memory(8, NULL, 0), end);
    for (uint32_t i = 0; i < 2; i++)
        (void)use_host_memory(1, shapes[i], 2);
}

/* ------------------------------------------------------------------------------------------------ random copies */

/* Copies of any size and alignment between the program, the host's memory and two GPUs. */
static uint64_t random_copies(const char *platform, uint32_t threads)
{
    enum { SIZE = 9000, PLACES = 3 };
    static uint8_t mirror[PLACES][SIZE], got[SIZE], data[SIZE];
    static const char *const sets[] = { "gpus.clusters=2", "fabric.model=full", "host.model=cpu",
                                        "host.copies=7" };
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_address buffers[PLACES];
    ls_random random;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = platform,
                                               .platform_gpus = 2,
                                               .sets = sets,
                                               .set_count = 4,
                                               .memory_bytes = 16 << 20,
                                               .check_memory = true,
                                               .threads = threads },
                            &system, &err));
    OK(ls_gpu_context_create(system, &context, &err));
    ls_random_init(&random, 11);
    memset(mirror, 0, sizeof mirror);
    for (uint32_t i = 0; i < 2; i++) {
        OK(ls_gpu_select(context, i, &err));
        OK(ls_gpu_alloc(context, SIZE, &buffers[i], &err));
    }
    OK(ls_gpu_alloc_host(context, SIZE, &buffers[2], &err));
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t a = (uint32_t)ls_random_below(&random, PLACES),
                 b = (uint32_t)ls_random_below(&random, PLACES);
        size_t from = (size_t)ls_random_below(&random, SIZE - 1),
               to = (size_t)ls_random_below(&random, SIZE - 1);
        size_t bytes = 1 + (size_t)ls_random_below(&random, SIZE - (from > to ? from : to));
        if (i % 4 == 0) {
            for (size_t k = 0; k < bytes; k++)
                data[k] = (uint8_t)ls_random_next(&random);
            OK(ls_gpu_copy_in(context, buffers[a] + to, data, bytes, &err));
            memcpy(mirror[a] + to, data, bytes);
        } else if (i % 4 == 1) {
            OK(ls_gpu_copy_out(context, got, buffers[a] + from, bytes, &err));
            assert_memory_equal(got, mirror[a] + from, bytes);
        } else {
            OK(ls_gpu_copy(context, buffers[a] + to, buffers[b] + from, bytes, &err));
            memmove(mirror[a] + to, mirror[b] + from, bytes);
        }
    }
    for (uint32_t i = 0; i < PLACES; i++) {
        OK(ls_gpu_copy_out(context, got, buffers[i], SIZE, &err));
        assert_memory_equal(got, mirror[i], SIZE);
    }
    uint64_t end = ls_gpu_system_now(system);
    assert_no_races(system);
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
    return end;
}

static void bytes_arrive(void **unused)
{
    static const char *const platforms[] = { NANO, LS_SOURCE_DIR "/platforms/rx5500xt.yaml" };
    (void)unused;
    for (uint32_t i = 0; i < 2; i++) { /* lines of 64 and of 128 bytes */
        uint64_t end = random_copies(platforms[i], 1);
        assert_int_equal(random_copies(platforms[i], 3), end);
    }
}

static void without_a_host(void **unused)
{
    ls_gpu_system *system;
    ls_gpu_context *context;
    ls_gpu_address pinned;
    (void)unused;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO }, &system, &err));
    OK(ls_gpu_context_create(system, &context, &err));
    assert_false(ls_gpu_system_has_host(system));
    REFUSED(ls_gpu_alloc_host(context, 4096, &pinned, &err), LS_ERR_UNSUPPORTED,
            "platform 'r9nano' has no memory of the host that GPUs reach");
    assert_no_races(system);
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
}

/* The emulator that goes to a position knows the memory of GPUs only. */
static void none_before_a_position(void **unused)
{
    rig r = open_rig(2, 1, NULL, 0);
    const source_position to = { .kind = POSITION_PROGRAM,
                                 .command = 1,
                                 .device_count = timing_device_count(r.system),
                                 .devices = { { .command = 1 } } };
    ls_gpu_address pinned;
    uint32_t word = 9;
    (void)unused;
    assert_int_equal(to.device_count, 2);
    OK(timing_skip(r.system, &to, &err));
    REFUSED(ls_gpu_alloc_host(r.context, 4096, &pinned, &err), LS_ERR_UNSUPPORTED,
            "a program that goes to a position has no memory of the host that GPUs use");
    OK(ls_gpu_alloc(r.context, 4096, &pinned, &err));
    OK(ls_gpu_copy_in(r.context, pinned, &word, sizeof word, &err)); /* at the position */
    OK(ls_gpu_alloc_host(r.context, 4096, &pinned, &err));
    assert_int_equal(ls_gpu_system_now(r.system), 0);
    close_rig(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_take_the_time_of_links),
        cmocka_unit_test(two_gpus_share_the_root_link),
        cmocka_unit_test(copies_between_gpus),
        cmocka_unit_test(kernels_use_host_memory),
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(without_a_host),
        cmocka_unit_test(none_before_a_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
