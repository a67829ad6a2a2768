/* test_grid_barrier.c: work-groups that wait for each other in simulated time: a full GPU, two such launches at once, a fault
 * of one of them, launches that would wait for ever. Times are the same for any number of threads. */
#include "runtime/driver/driver_test.h"

#define NANO LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define RDNA LS_SOURCE_DIR "/platforms/w6800.yaml"
#define GROUP 256u
#define ROUNDS 3u
#define NO_STRAY UINT32_MAX

typedef struct machine {
    const char *target, *platform, *set;
    uint32_t room; /* work-groups of GROUP work-items */
} machine;
/* 4 compute units with 40 waves of 64 lanes each; 6 dual ones with 64 waves of 32 lanes each. */
static const machine machines[2] = { { "gfx803", NANO, "clusters=1", 40 },
                                     { "gfx1030", RDNA, "clusters=6", 48 } };

static bench timed(const machine *m, uint32_t threads, bool check)
{
    char path[512];
    ls_gpu_options options = { .platform = m->platform,
                               .gpus = &m->target,
                               .gpu_count = 1,
                               .threads = threads,
                               .check_memory = check,
                               .sets = &m->set,
                               .set_count = 1,
                               .max_instructions = 20000 };
    bench b = { 0 };
    (void)bench_object(m->target, 5);
    snprintf(path, sizeof path, LS_BINARY_DIR "/tests/kernels/%s-v5/grid.co", m->target);
    OK(ls_gpu_system_create(&options, &b.system, &err));
    OK(ls_gpu_context_create(b.system, &b.context, &err));
    OK(ls_gpu_module_load_file(b.context, path, &b.module, &err));
    return b;
}

typedef struct launch_of {
    ls_gpu_queue *queue;
    ls_gpu_address sums, out;
    ls_gpu_event *event;
    uint32_t first_unit, unit_count;
} launch_of;

static void prepare(const bench *b, launch_of *l, uint32_t groups)
{
    static const uint32_t zeros[ROUNDS];
    OK(ls_gpu_queue_create(b->context, &l->queue, &err));
    l->sums = bench_buffer(b, sizeof zeros);
    l->out = bench_buffer(b, (size_t)groups * ROUNDS * 4);
    OK(ls_gpu_copy_in(b->context, l->sums, zeros, sizeof zeros, &err));
}

static ls_status submit(const bench *b, launch_of *l, uint32_t groups, uint32_t stray)
{
    uint32_t count = ROUNDS;
    ls_gpu_arg args[] = { LS_GPU_ARG(l->sums), LS_GPU_ARG(l->out), LS_GPU_ARG(count), LS_GPU_ARG(stray) };
    ls_gpu_launch launch = { .grid = { groups * GROUP },
                             .group = { GROUP },
                             .args = args,
                             .arg_count = 4,
                             .first_unit = l->first_unit,
                             .unit_count = l->unit_count };
    return ls_gpu_queue_launch(l->queue, bench_kernel(b, "rounds"), &launch, &l->event, &err);
}

static ls_status begin(const bench *b, launch_of *l, uint32_t groups, uint32_t stray)
{
    prepare(b, l, groups);
    return submit(b, l, groups, stray);
}

/* Every work-group saw what all of them had added. */
static void assert_met(const bench *b, const launch_of *l, uint32_t groups)
{
    static uint32_t out[4096];
    assert_true(groups * ROUNDS <= LS_COUNT_OF(out));
    OK(ls_gpu_copy_out(b->context, out, l->out, (size_t)groups * ROUNDS * 4, &err));
    for (uint32_t i = 0; i < groups * ROUNDS; i++)
        assert_int_equal(out[i], groups * (groups + 1) / 2);
}

/* One work-group more than there is room for. */
static void refuses_more(const machine *m)
{
    bench b = timed(m, 1, false);
    launch_of l = { 0 };
    char expect[160];
    snprintf(
        expect, sizeof expect,
        "kernel rounds: a barrier over the grid needs all of its work-groups at once: it has %u, and gpu0 has "
        "room for %u",
        m->room + 1, m->room);
    ls_status status = begin(&b, &l, m->room + 1, NO_STRAY);
    if (status == LS_OK)
        status = ls_gpu_sync(b.context, &err);
    assert_int_equal(status, LS_ERR_UNSUPPORTED);
    assert_string_equal(err.what, expect);
    ls_gpu_context_destroy(b.context);
    ls_gpu_system_destroy(b.system);
}

static void times_of(const machine *m, uint32_t threads, uint32_t groups, uint64_t times[2])
{
    bench b = timed(m, threads, false);
    launch_of l = { 0 };
    uint64_t queued;
    OK(begin(&b, &l, groups, NO_STRAY));
    OK(ls_gpu_sync(b.context, &err));
    assert_met(&b, &l, groups);
    ls_gpu_event_get_times(l.event, &queued, &times[0], &times[1]);
    ls_gpu_event_release(l.event);
    bench_close(&b);
}

static void full_gpu(void **unused)
{
    static const uint32_t threads[] = { 2, 3, 8 };
    (void)unused;
    for (uint32_t i = 0; i < 2; i++) {
        const machine *m = &machines[i];
        uint64_t one[2], more[2];
        refuses_more(m);
        times_of(m, 1, m->room, one);
        for (uint32_t k = 0; k < 3; k++) {
            times_of(m, threads[k], m->room, more);
            assert_memory_equal(one, more, sizeof one);
        }
    }
}

/* Each needs more than half of the GPU: the second begins when the first has ended, and both do. */
static void two_launches(void **unused)
{
    const machine *m = &machines[0];
    bench b = timed(m, 1, false);
    launch_of l[2] = { 0 };
    uint64_t queued, began[2], ended[2];
    (void)unused;
    for (uint32_t i = 0; i < 2; i++)
        prepare(&b, &l[i], 30);
    for (uint32_t i = 0; i < 2; i++)
        OK(submit(&b, &l[i], 30, NO_STRAY));
    OK(ls_gpu_sync(b.context, &err));
    for (uint32_t i = 0; i < 2; i++) {
        assert_met(&b, &l[i], 30);
        ls_gpu_event_get_times(l[i].event, &queued, &began[i], &ended[i]);
        ls_gpu_event_release(l[i].event);
    }
    assert_true(ended[0] <= began[1] || ended[1] <= began[0]);
    bench_close(&b);
}

/* Two of four compute units have room for half as many, and times do not depend on threads. */
static void some_units(void **unused)
{
    static const uint32_t threads[] = { 1, 2, 3, 8 };
    const machine *m = &machines[0];
    uint64_t queued, first[2], times[2];
    (void)unused;
    for (uint32_t i = 0; i < 4; i++) {
        bench b = timed(m, threads[i], false);
        launch_of l = { .first_unit = 1, .unit_count = 2 }, more = l,
                  beyond = { .first_unit = 3, .unit_count = 2 };
        prepare(&b, &more, 21);
        prepare(&b, &beyond, 8);
        REFUSED(submit(&b, &beyond, 8, NO_STRAY), LS_ERR_USAGE, "compute units 3 to 4, but the GPU has 4");
        OK(begin(&b, &l, 20, NO_STRAY));
        OK(ls_gpu_sync(b.context, &err));
        assert_met(&b, &l, 20);
        ls_gpu_event_get_times(l.event, &queued, &times[0], &times[1]);
        ls_gpu_event_release(l.event);
        if (i == 0)
            memcpy(first, times, sizeof first);
        assert_memory_equal(first, times, sizeof first);
        ls_status status = submit(&b, &more, 21, NO_STRAY);
        if (status == LS_OK)
            status = ls_gpu_sync(b.context, &err);
        assert_int_equal(status, LS_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.what, "it has 21, and gpu0 has room for 20"));
        ls_gpu_context_destroy(b.context);
        ls_gpu_system_destroy(b.system);
    }
}

/* The others wait at the barrier and are ended. */
static void fault(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 2; i++) {
        bench b = timed(&machines[i], 1, false);
        launch_of l = { 0 };
        OK(begin(&b, &l, 8, 5));
        REFUSED(ls_gpu_sync(b.context, &err), LS_ERR_CHECK, "work-group 5,0,0");
        ls_gpu_event_release(l.event);
        ls_gpu_context_destroy(b.context);
        ls_gpu_system_destroy(b.system);
    }
}

static void checked(void **unused)
{
    bench b = timed(&machines[0], 1, true);
    launch_of l = { 0 };
    (void)unused;
    ls_status status = begin(&b, &l, 8, NO_STRAY);
    if (status == LS_OK)
        status = ls_gpu_sync(b.context, &err);
    assert_int_equal(status, LS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.what, "kernel rounds: the memory check knows no barriers over the grid"));
    ls_gpu_context_destroy(b.context);
    ls_gpu_system_destroy(b.system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_gpu), cmocka_unit_test(two_launches), cmocka_unit_test(some_units),
        cmocka_unit_test(fault),    cmocka_unit_test(checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
