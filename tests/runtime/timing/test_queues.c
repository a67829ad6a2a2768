/* test_queues.c: launches in simulated time: order inside a queue, kernels of several queues side by side,
 * waiting, faults. Counts are as in emulation, and times are the same for any number of threads. */
#include "runtime/driver/driver_test.h"

#include <stdlib.h>
#include <sys/resource.h>

#define NANO LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define NAVI LS_SOURCE_DIR "/platforms/rx5500xt.yaml"

static bench timed(const char *target, const char *platform, uint32_t threads, const char *set)
{
    ls_gpu_options options = { .platform = platform,
                               .threads = threads,
                               .check_memory = threads == 1, /* it changes no time */
                               .sets = &set,
                               .set_count = set != NULL,
                               .max_instructions = 20000 };
    return bench_open(target, 5, &options);
}

static void launch(const bench *b, ls_gpu_queue *queue, ls_gpu_address buffer, uint32_t count,
                   ls_gpu_event **event)
{
    ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(count) };
    ls_gpu_launch l = { .grid = { count }, .group = { 64 }, .args = args, .arg_count = 2 };
    OK(ls_gpu_queue_launch(queue, bench_kernel(b, "increment"), &l, event, &err));
}

typedef struct span {
    uint64_t began, ended;
} span;

static span span_of(ls_gpu_event *event)
{
    uint64_t queued;
    span s;
    ls_gpu_event_get_times(event, &queued, &s.began, &s.ended);
    ls_gpu_event_release(event);
    assert_true(queued <= s.began && s.began < s.ended);
    return s;
}

#define QUEUES 10u
#define COUNT 4096u

/* Every queue increments its own buffer twice. */
static void side_by_side(uint32_t threads, const char *platform, const char *target, const char *set,
                         span out[QUEUES][2])
{
    bench b = timed(target, platform, threads, set);
    ls_gpu_queue *queues[QUEUES];
    ls_gpu_address buffers[QUEUES];
    ls_gpu_event *events[QUEUES][2];
    static uint32_t got[COUNT];
    for (uint32_t i = 0; i < QUEUES; i++) {
        OK(ls_gpu_queue_create(b.context, &queues[i], &err));
        buffers[i] = bench_buffer(&b, sizeof got);
    }
    for (uint32_t i = 0; i < QUEUES; i++)
        for (uint32_t k = 0; k < 2; k++)
            launch(&b, queues[i], buffers[i], COUNT, &events[i][k]);
    OK(ls_gpu_sync(b.context, &err));
    for (uint32_t i = 0; i < QUEUES; i++) {
        for (uint32_t k = 0; k < 2; k++)
            out[i][k] = span_of(events[i][k]);
        assert_true(out[i][0].ended <= out[i][1].began);
        OK(ls_gpu_copy_out(b.context, got, buffers[i], sizeof got, &err));
        for (uint32_t k = 0; k < COUNT; k++)
            assert_int_equal(got[k], 2);
    }
    bench_close(&b);
}

/* Eight dispatchers: eight kernels begin together, the others when one of them ends. */
static void concurrent(void **unused)
{
    span spans[QUEUES][2], alone[QUEUES][2];
    uint64_t last = 0, first_end = UINT64_MAX, serial = 0;
    (void)unused;
    side_by_side(1, NANO, "gfx803", NULL, spans);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(spans[i][0].began, spans[0][0].began);
        first_end = spans[i][0].ended < first_end ? spans[i][0].ended : first_end;
    }
    for (uint32_t i = 8; i < QUEUES; i++)
        assert_true(spans[i][0].began >= first_end);
    side_by_side(1, NANO, "gfx803", "command.dispatchers=1", alone);
    for (uint32_t i = 0; i < QUEUES; i++)
        for (uint32_t k = 0; k < 2; k++) {
            last = spans[i][k].ended > last ? spans[i][k].ended : last;
            serial = alone[i][k].ended > serial ? alone[i][k].ended : serial;
            for (uint32_t j = 0; j < QUEUES; j++)
                if (j != i)
                    assert_true(alone[i][k].ended <= alone[j][k].began ||
                                alone[j][k].ended <= alone[i][k].began);
        }
    assert_true(last * 3 < serial);
}

/* On a GPU that is too small for either, two equal kernels get equal parts of it: they end together, and both
 * take longer than one alone. */
static void fair(void **unused)
{
    enum { ITEMS = 64 * 1024 };
    uint64_t took[2] = { 0, 0 };
    (void)unused;
    for (uint32_t kernels = 1; kernels <= 2; kernels++) {
        bench b = timed("gfx803", NANO, 1, "clusters=1");
        ls_gpu_queue *queues[2];
        ls_gpu_event *events[2];
        span spans[2];
        for (uint32_t i = 0; i < kernels; i++) {
            OK(ls_gpu_queue_create(b.context, &queues[i], &err));
            launch(&b, queues[i], bench_buffer(&b, ITEMS * 4), ITEMS, &events[i]);
        }
        OK(ls_gpu_sync(b.context, &err));
        for (uint32_t i = 0; i < kernels; i++) {
            spans[i] = span_of(events[i]);
            took[kernels - 1] = spans[i].ended - spans[i].began;
        }
        if (kernels == 2) {
            uint64_t apart = spans[0].ended > spans[1].ended ? spans[0].ended - spans[1].ended
                                                             : spans[1].ended - spans[0].ended;
            assert_true(apart * 20 < took[1]);
        }
        bench_close(&b);
    }
    assert_true(took[1] * 4 > took[0] * 5);
}

static void threads(void **unused)
{
    static const uint32_t counts[] = { 2, 3, 8 };
    static const char *const platforms[] = { NANO, NAVI }, *const targets[] = { "gfx803", "gfx1010" };
    (void)unused;
    for (uint32_t p = 0; p < 2; p++) {
        span one[QUEUES][2], more[QUEUES][2];
        side_by_side(1, platforms[p], targets[p], NULL, one);
        for (uint32_t i = 0; i < 3; i++) {
            side_by_side(counts[i], platforms[p], targets[p], NULL, more);
            assert_memory_equal(one, more, sizeof one);
        }
    }
}

static ls_status note(void *self, ls_error *error)
{
    (void)error;
    ++*(uint32_t *)self;
    return LS_OK;
}

/* Events across queues, calls of the host in between, and a host that only polls. */
static void waiting(void **unused)
{
    bench b = timed("gfx803", NANO, 1, NULL);
    ls_gpu_queue *first, *second;
    ls_gpu_event *produced, *consumed, *user;
    ls_gpu_address buffer = bench_buffer(&b, 4096);
    uint32_t called = 0, value = 0, asked = 0;
    (void)unused;
    OK(ls_gpu_queue_create(b.context, &first, &err));
    OK(ls_gpu_queue_create(b.context, &second, &err));
    OK(ls_gpu_event_create(b.context, &user, &err));
    OK(ls_gpu_queue_wait(first, user, &err));
    launch(&b, first, buffer, 64, &produced);
    OK(ls_gpu_queue_wait(second, produced, &err));
    OK(ls_gpu_queue_call(second, note, &called, NULL, &err));
    launch(&b, second, buffer, 64, &consumed);
    assert_int_equal(ls_gpu_event_get_state(produced), LS_GPU_PENDING);
    OK(ls_gpu_event_set(user, NULL, &err));
    while (ls_gpu_event_get_state(consumed) != LS_GPU_DONE && asked++ < 100)
        ;
    assert_true(asked > 1 && asked < 100);
    assert_int_equal(called, 1);
    OK(ls_gpu_copy_out(b.context, &value, buffer, sizeof value, &err));
    assert_int_equal(value, 2);
    span p = span_of(produced), c = span_of(consumed);
    assert_true(p.ended <= c.began);
    ls_gpu_event_release(user);
    bench_close(&b);
}

/* The counts of a launch do not depend on the back end. */
static void counts(void **unused)
{
    static const char *const targets[] = { "gfx803", "gfx1010" }, *const platforms[] = { NANO, NAVI };
    (void)unused;
    for (uint32_t i = 0; i < 2; i++) {
        ls_gpu_counts by[2];
        for (uint32_t mode = 0; mode < 2; mode++) {
            bench b = mode == 0 ? bench_open(targets[i], 5, NULL) : timed(targets[i], platforms[i], 1, NULL);
            ls_gpu_address buffer = bench_buffer(&b, 4000);
            uint32_t count = 1000;
            ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(count) };
            OK(ls_gpu_run_counted(b.context, bench_kernel(&b, "increment"),
                                  &(ls_gpu_launch){
                                      .grid = { 1010 }, .group = { 100 }, .args = args, .arg_count = 2 },
                                  &by[mode], &err));
            bench_close(&b);
            assert_true(mode == 0 ? by[0].simulated_ns == 0 : by[1].simulated_ns > 1000);
            by[mode].host_ns = by[mode].simulated_ns = 0;
        }
        assert_int_equal(by[0].work_groups, 11);
        assert_memory_equal(&by[0], &by[1], sizeof by[0]);
    }
}

/* The sentence about a fault without the numbers in it. */
static void fault_text(const bench *b, const char *kernel, char out[256])
{
    ls_gpu_address buffer = bench_buffer(b, 4096);
    uint64_t distance = (uint64_t)1 << 30;
    ls_gpu_arg args[] = { LS_GPU_ARG(buffer), LS_GPU_ARG(distance) };
    size_t count = strcmp(kernel, "stray") == 0 ? 2 : 1, length = 0;
    ls_status status =
        ls_gpu_run(b->context, bench_kernel(b, kernel),
                   &(ls_gpu_launch){ .grid = { 1024 }, .group = { 64 }, .args = args, .arg_count = count },
                   &err);
    assert_int_equal(status, LS_ERR_CHECK);
    for (const char *at = err.what; *at && length < 255; at++)
        if (*at == '0' && at[1] == 'x')
            at += strspn(at + 2, "0123456789abcdef") + 1;
        else
            out[length++] = *at;
    out[length] = 0;
}

static void faults(void **unused)
{
    static const char *const targets[] = { "gfx803", "gfx1010" }, *const platforms[] = { NANO, NAVI };
    static const char *const kernels[] = { "stray", "forever" };
    (void)unused;
    for (uint32_t i = 0; i < 4; i++) {
        char emulated[256], simulated[256];
        bench b = bench_open(targets[i / 2], 5, &(ls_gpu_options){ .max_instructions = 20000 });
        fault_text(&b, kernels[i % 2], emulated);
        bench_close(&b);
        b = timed(targets[i / 2], platforms[i / 2], 1, NULL);
        fault_text(&b, kernels[i % 2], simulated);
        /* Where the limit strikes in a loop is a matter of turns. */
        if (i % 2 == 0)
            assert_string_equal(simulated, emulated);
        assert_non_null(strstr(simulated,
                               i % 2 == 0 ? "which is not mapped" : "more instructions than the limit"));
        /* The machine goes on. */
        ls_gpu_queue *queue;
        ls_gpu_event *event;
        ls_gpu_address buffer = bench_buffer(&b, 4096);
        uint32_t value = 0;
        OK(ls_gpu_queue_create(b.context, &queue, &err));
        launch(&b, queue, buffer, 64, &event);
        OK(ls_gpu_queue_sync(queue, &err));
        ls_gpu_event_release(event);
        OK(ls_gpu_copy_out(b.context, &value, buffer, sizeof value, &err));
        assert_int_equal(value, 1);
        bench_close(&b);
    }
}

/* A kernel that fails leaves the others of the same time alone. */
static void fault_beside(void **unused)
{
    bench b = timed("gfx803", NANO, 2, NULL);
    ls_gpu_queue *good, *bad;
    ls_gpu_event *event;
    ls_gpu_address buffer = bench_buffer(&b, COUNT * 4), other = bench_buffer(&b, 4096);
    static uint32_t got[COUNT];
    ls_gpu_arg args[] = { LS_GPU_ARG(other) };
    (void)unused;
    OK(ls_gpu_queue_create(b.context, &good, &err));
    OK(ls_gpu_queue_create(b.context, &bad, &err));
    OK(ls_gpu_queue_launch(bad, bench_kernel(&b, "forever"),
                           &(ls_gpu_launch){ .grid = { 4096 }, .group = { 64 }, .args = args, .arg_count = 1 },
                           NULL, &err));
    launch(&b, good, buffer, COUNT, &event);
    OK(ls_gpu_event_wait(event, &err));
    ls_gpu_event_release(event);
    assert_int_equal(ls_gpu_queue_sync(bad, &err), LS_ERR_CHECK);
    OK(ls_gpu_copy_out(b.context, got, buffer, sizeof got, &err));
    for (uint32_t k = 0; k < COUNT; k++)
        assert_int_equal(got[k], 1);
    bench_close(&b);
}

/* Launches of one unordered queue have the times of launches of two queues; failures stay alone. */
static void unordered(void **unused)
{
    span spans[2][2];
    (void)unused;
    for (uint32_t mode = 0; mode < 2; mode++) {
        bench b = timed("gfx803", NANO, 1, NULL);
        ls_gpu_queue *queues[2];
        ls_gpu_event *events[2], *none;
        ls_gpu_address other = bench_buffer(&b, 4096), buffer = bench_buffer(&b, 4096);
        uint32_t value = 0;
        OK(ls_gpu_queue_create_unordered(b.context, &queues[0], &err));
        queues[1] = queues[0];
        if (mode == 1)
            OK(ls_gpu_queue_create(b.context, &queues[1], &err));
        for (uint32_t i = 0; i < 2; i++)
            launch(&b, queues[i], bench_buffer(&b, COUNT * 4), COUNT, &events[i]);
        OK(ls_gpu_sync(b.context, &err));
        for (uint32_t i = 0; i < 2; i++)
            spans[mode][i] = span_of(events[i]);
        assert_true(spans[mode][1].began < spans[mode][0].ended);
        REFUSED(ls_gpu_queue_wait(queues[0], NULL, &err), LS_ERR_USAGE, "unordered");
        REFUSED(ls_gpu_queue_mark(queues[0], &none, &err), LS_ERR_USAGE, "unordered");
        assert_null(none);
        ls_gpu_arg args[] = { LS_GPU_ARG(other) };
        OK(ls_gpu_queue_launch(queues[0], bench_kernel(&b, "forever"),
                               &(ls_gpu_launch){
                                   .grid = { 64 }, .group = { 64 }, .args = args, .arg_count = 1 },
                               &events[0], &err));
        assert_int_equal(ls_gpu_event_wait(events[0], &err), LS_ERR_CHECK);
        ls_gpu_event_release(events[0]);
        launch(&b, queues[0], buffer, 64, &events[1]);
        OK(ls_gpu_event_wait(events[1], &err));
        ls_gpu_event_release(events[1]);
        REFUSED(ls_gpu_queue_sync(queues[0], &err), LS_ERR_CHECK, "limit");
        OK(ls_gpu_queue_sync(queues[0], &err));
        OK(ls_gpu_copy_out(b.context, &value, buffer, sizeof value, &err));
        assert_int_equal(value, 1);
        bench_close(&b);
    }
    assert_memory_equal(spans[0], spans[1], sizeof spans[0]);
}

static void refusals(void **unused)
{
    ls_gpu_system *system;
    const char *pair[] = { "gfx803", "gfx803" }, *set = "command.dispatchrs=2";
    (void)unused;
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO, .gpus = pair, .gpu_count = 2 }, &system,
                                 &err),
            LS_ERR_UNSUPPORTED, "one instruction set is given, not 2");
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .platform = LS_SOURCE_DIR "/platforms/rtx2060.yaml" },
                                 &system, &err),
            LS_ERR_USAGE, "executes no programs");
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO, .sets = &set, .set_count = 1 }, &system,
                                 &err),
            LS_ERR_INPUT, "command.dispatchrs");
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO, .trace_path = "x" }, &system, &err),
            LS_ERR_UNSUPPORTED, "emulation");
    set = "vector_cache.line_bytes=128";
    REFUSED(ls_gpu_system_create(&(ls_gpu_options){ .platform = NANO, .sets = &set, .set_count = 1 }, &system,
                                 &err),
            LS_ERR_INPUT, "line_bytes must be the same");
}

/* 4 GiB of DRAM cost what is touched. */
static void small(void **unused)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss < 300 * 1024);
#endif
    (void)unused;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent),   cmocka_unit_test(fair),      cmocka_unit_test(threads),
        cmocka_unit_test(waiting),      cmocka_unit_test(counts),    cmocka_unit_test(faults),
        cmocka_unit_test(fault_beside), cmocka_unit_test(unordered), cmocka_unit_test(refusals),
        cmocka_unit_test(small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
