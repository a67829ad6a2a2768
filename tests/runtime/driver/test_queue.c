/* test_queue.c: queues and events: order, waiting, failures, calls of the host, several threads at once. */
#include "runtime/driver/driver_test.h"

#include <pthread.h>

static ls_gpu_launch increment_launch(const ls_gpu_arg *args)
{
    return (ls_gpu_launch){ .grid = { 64 }, .group = { 64 }, .args = args, .arg_count = 2 };
}

static void in_order(void **state)
{
    bench b = bench_open("gfx1030", 5, NULL);
    uint32_t values[64], count = 64, start = 5;
    ls_gpu_address p = bench_buffer(&b, sizeof values), q = bench_buffer(&b, sizeof values);
    const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
    const ls_gpu_launch launch = increment_launch(args);
    ls_gpu_kernel *increment = bench_kernel(&b, "increment");
    ls_gpu_queue *queue;
    ls_gpu_event *event, *copied;
    ls_gpu_counts counts;
    uint64_t queued, began, ended;
    (void)state;
    OK(ls_gpu_queue_create(b.context, &queue, &err));
    OK(ls_gpu_queue_fill(queue, p, &start, 4, sizeof values, NULL, &err));
    for (int i = 0; i < 20; i++)
        OK(ls_gpu_queue_launch(queue, increment, &launch, i == 19 ? &event : NULL, &err));
    OK(ls_gpu_queue_copy(queue, q, p, sizeof values, NULL, &err));
    OK(ls_gpu_queue_copy_out(queue, values, q, sizeof values, &copied, &err));
    OK(ls_gpu_event_wait(copied, &err));
    for (int i = 0; i < 64; i++)
        assert_int_equal(values[i], 25);
    assert_int_equal(ls_gpu_event_get_state(event), LS_GPU_DONE);
    ls_gpu_event_get_counts(event, &counts);
    assert_int_equal(counts.launches, 1);
    assert_int_equal(counts.wavefronts, 2);
    ls_gpu_event_get_times(event, &queued, &began, &ended);
    assert_true(queued <= began && began <= ended && queued > 0);
    ls_gpu_context_counts(b.context, &counts);
    assert_int_equal(counts.launches, 20);
    OK(ls_gpu_queue_sync(queue, &err));
    ls_gpu_event_release(event);
    ls_gpu_event_release(copied);
    ls_gpu_queue_destroy(queue);
    bench_close(&b);
}

static void waits_across_queues(void **state)
{
    bench b = bench_open("gfx803", 4, NULL);
    uint32_t value = 0, start = 41;
    ls_gpu_address p = bench_buffer(&b, 4);
    const uint32_t count = 1;
    const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(count) };
    const ls_gpu_launch launch = increment_launch(args);
    ls_gpu_queue *one, *two;
    ls_gpu_event *host, *filled, *last;
    (void)state;
    OK(ls_gpu_queue_create(b.context, &one, &err));
    OK(ls_gpu_queue_create(b.context, &two, &err));
    OK(ls_gpu_event_create(b.context, &host, &err));
    OK(ls_gpu_queue_wait(one, host, &err));
    OK(ls_gpu_queue_copy_in(one, p, &start, 4, &filled, &err));
    OK(ls_gpu_queue_wait(two, filled, &err));
    OK(ls_gpu_queue_launch(two, bench_kernel(&b, "increment"), &launch, NULL, &err));
    OK(ls_gpu_queue_copy_out(two, &value, p, 4, &last, &err));
    assert_int_equal(ls_gpu_event_get_state(last), LS_GPU_PENDING);
    /* Blocking calls do not wait for queues. */
    OK(ls_gpu_copy_out(b.context, &value, p, 4, &err));
    assert_int_equal(value, 0);
    OK(ls_gpu_event_set(host, NULL, &err));
    REFUSED(ls_gpu_event_set(host, NULL, &err), LS_ERR_USAGE, "set already");
    REFUSED(ls_gpu_event_set(last, NULL, &err), LS_ERR_USAGE, "cannot be set by the host");
    OK(ls_gpu_sync(b.context, &err));
    assert_int_equal(ls_gpu_event_get_state(last), LS_GPU_DONE);
    assert_int_equal(value, 42);
    ls_gpu_event_release(host);
    ls_gpu_event_release(filled);
    ls_gpu_event_release(last);
    bench_close(&b); /* with its queues */
}

/* One of two queues is held back: the other's command is over first, in either place. */
static void waits_for_any(void **state)
{
    bench b = bench_open("gfx803", 4, NULL);
    uint32_t values[2] = { 0 };
    ls_gpu_address p = bench_buffer(&b, 8);
    ls_gpu_queue *queues[2];
    ls_gpu_event *host, *over[2];
    ls_error failure;
    (void)state;
    OK(ls_gpu_event_create(b.context, &host, &err));
    for (int i = 0; i < 2; i++) {
        OK(ls_gpu_queue_create(b.context, &queues[i], &err));
        if (i == 0)
            OK(ls_gpu_queue_wait(queues[i], host, &err));
        OK(ls_gpu_queue_copy_out(queues[i], &values[i], p, 4, &over[i], &err));
    }
    assert_int_equal(ls_gpu_event_wait_any(over, 2), 1);
    assert_int_equal(ls_gpu_event_get_state(over[0]), LS_GPU_PENDING);
    ls_fail(&failure, LS_ERR_IO, "no");
    OK(ls_gpu_event_set(host, &failure, &err));
    assert_int_equal(ls_gpu_event_wait_any(over, 1), 0); /* a failure is an end too */
    assert_int_equal(ls_gpu_event_get_state(over[0]), LS_GPU_FAILED);
    assert_int_equal(ls_gpu_event_wait_any(over, 2), 0);
    ls_gpu_event_release(host);
    for (int i = 0; i < 2; i++)
        ls_gpu_event_release(over[i]);
    bench_close(&b);
}

static void failures(void **state)
{
    bench b = bench_open("gfx1010", 5, NULL);
    uint64_t distance = (uint64_t)1 << 42;
    uint32_t value = 9;
    ls_gpu_address p = bench_buffer(&b, 4);
    const ls_gpu_arg args[] = { LS_GPU_ARG(p), LS_GPU_ARG(distance) };
    const ls_gpu_launch launch = { .grid = { 1 }, .group = { 1 }, .args = args, .arg_count = 2 };
    ls_gpu_queue *queue, *other;
    ls_gpu_event *fault, *after, *elsewhere;
    (void)state;
    OK(ls_gpu_queue_create(b.context, &queue, &err));
    OK(ls_gpu_queue_create(b.context, &other, &err));
    OK(ls_gpu_queue_launch(queue, bench_kernel(&b, "stray"), &launch, &fault, &err));
    OK(ls_gpu_queue_copy_in(queue, p, &value, 4, &after, &err));
    OK(ls_gpu_queue_wait(other, fault, &err));
    OK(ls_gpu_queue_mark(other, &elsewhere, &err));
    REFUSED(ls_gpu_event_wait(fault, &err), LS_ERR_CHECK, "kernel stray");
    REFUSED(ls_gpu_event_wait(after, &err), LS_ERR_CHECK,
            "an earlier command of the queue failed: kernel stray");
    assert_int_equal(ls_gpu_event_get_state(after), LS_GPU_FAILED);
    REFUSED(ls_gpu_event_wait(elsewhere, &err), LS_ERR_CHECK, "the event that the queue waits for failed");
    REFUSED(ls_gpu_queue_sync(queue, &err), LS_ERR_CHECK, "kernel stray");
    OK(ls_gpu_queue_sync(queue, &err)); /* reported once */
    OK(ls_gpu_queue_copy_in(queue, p, &value, 4, NULL, &err));
    OK(ls_gpu_queue_sync(queue, &err));
    REFUSED(ls_gpu_sync(b.context, &err), LS_ERR_CHECK, "the event that the queue waits for failed");
    OK(ls_gpu_sync(b.context, &err));
    ls_gpu_event_release(fault);
    ls_gpu_event_release(after);
    ls_gpu_event_release(elsewhere);
    bench_close(&b);
}

static void host_event_that_fails_or_never_comes(void **state)
{
    bench b = bench_open("gfx1010", 5, NULL);
    ls_error failure;
    ls_gpu_queue *queue;
    ls_gpu_event *host, *never, *marked;
    (void)state;
    OK(ls_gpu_queue_create(b.context, &queue, &err));
    OK(ls_gpu_event_create(b.context, &host, &err));
    OK(ls_gpu_queue_wait(queue, host, &err));
    ls_fail(&failure, LS_ERR_IO, "the disk is full");
    OK(ls_gpu_event_set(host, &failure, &err));
    REFUSED(ls_gpu_queue_sync(queue, &err), LS_ERR_IO, "the disk is full");
    OK(ls_gpu_event_create(b.context, &never, &err));
    OK(ls_gpu_queue_wait(queue, never, &err));
    OK(ls_gpu_queue_mark(queue, &marked, &err));
    ls_gpu_queue_destroy(queue); /* does not hang */
    REFUSED(ls_gpu_event_wait(marked, &err), LS_ERR_INTERRUPTED, "waited for an event of the host");
    ls_gpu_event_release(host);
    ls_gpu_event_release(never);
    ls_gpu_event_release(marked);
    bench_close(&b);
}

static ls_status add_one(void *self, ls_error *e)
{
    (void)e;
    ++*(int *)self;
    return LS_OK;
}

static ls_status refuse(void *self, ls_error *e)
{
    (void)self;
    return ls_fail(e, LS_ERR_INPUT, "not today");
}

static void calls_of_the_host(void **state)
{
    bench b = bench_open("gfx1010", 5, NULL);
    ls_gpu_queue *queue;
    int called = 0;
    (void)state;
    OK(ls_gpu_queue_create(b.context, &queue, &err));
    OK(ls_gpu_queue_call(queue, add_one, &called, NULL, &err));
    OK(ls_gpu_queue_call(queue, refuse, NULL, NULL, &err));
    OK(ls_gpu_queue_call(queue, add_one, &called, NULL, &err));
    REFUSED(ls_gpu_queue_sync(queue, &err), LS_ERR_INPUT, "not today");
    assert_int_equal(called, 1);
    bench_close(&b);
}

typedef struct client {
    const bench *b;
    ls_gpu_address sum;
    int failed;
} client;

/* Each with a queue of its own and blocking calls in between. */
static void *work(void *self)
{
    client *c = self;
    ls_error e;
    ls_gpu_queue *queue;
    ls_gpu_kernel *kernel;
    ls_gpu_address mine;
    const ls_gpu_launch launch = {
        .grid = { 64, 2 }, .group = { 32, 2 }, .packed = &c->sum, .packed_bytes = 8
    };
    c->failed += ls_gpu_queue_create(c->b->context, &queue, &e) != LS_OK;
    c->failed += ls_gpu_module_find(c->b->module, "required", &kernel, &e) != LS_OK;
    for (int i = 0; i < 25; i++) {
        uint32_t in = (uint32_t)i, out = 0;
        c->failed += ls_gpu_queue_launch(queue, kernel, &launch, NULL, &e) != LS_OK;
        c->failed += ls_gpu_alloc(c->b->context, 4, &mine, &e) != LS_OK;
        c->failed += ls_gpu_copy_in(c->b->context, mine, &in, 4, &e) != LS_OK;
        c->failed += ls_gpu_run(c->b->context, kernel, &launch, &e) != LS_OK;
        c->failed += ls_gpu_copy_out(c->b->context, &out, mine, 4, &e) != LS_OK || out != in;
        c->failed += i % 5 == 0 && ls_gpu_queue_sync(queue, &e) != LS_OK;
    }
    c->failed += ls_gpu_queue_sync(queue, &e) != LS_OK;
    return NULL;
}

static void many_threads(void **state)
{
    bench b = bench_open("gfx1010", 5, NULL);
    ls_gpu_address sum = bench_buffer(&b, 4);
    client clients[4];
    pthread_t threads[4];
    uint32_t total = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        clients[i] = (client){ .b = &b, .sum = sum };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &clients[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(clients[i].failed, 0);
    }
    OK(ls_gpu_copy_out(b.context, &total, sum, 4, &err));
    assert_int_equal(total, 4 * 25 * 2 * 128);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order),          cmocka_unit_test(waits_across_queues),
        cmocka_unit_test(failures),          cmocka_unit_test(host_event_that_fails_or_never_comes),
        cmocka_unit_test(calls_of_the_host), cmocka_unit_test(many_threads),
        cmocka_unit_test(waits_for_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
