/* test_copies.c: memory through the DMA engine in simulated time: any alignment, overlaps, fills; how long it
 * takes; the same for any number of threads. */
#include "runtime/driver/driver_test.h"

#include "lockstep/random.h"

#define PLATFORM LS_SOURCE_DIR "/platforms/r9nano.yaml"
#define BYTES 20000u

static ls_gpu_system *make(uint32_t threads)
{
    ls_gpu_system *system;
    OK(ls_gpu_system_create(&(ls_gpu_options){ .platform = PLATFORM,
                                               .threads = threads,
                                               .check_memory = true,
                                               .memory_bytes = 64 << 20 },
                            &system, &err));
    return system;
}

/* Random operations on a buffer of the GPU and on an array of the host; both must stay the same. */
static uint64_t random_operations(uint32_t threads, uint64_t seed)
{
    static uint8_t mirror[BYTES], got[BYTES], data[BYTES];
    ls_gpu_system *system = make(threads);
    ls_gpu_context *context;
    ls_gpu_queue *queue;
    ls_gpu_event *event;
    ls_gpu_address buffer;
    ls_random random;
    uint64_t queued, began, ended;
    ls_random_init(&random, seed);
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_queue_create(context, &queue, &err));
    OK(ls_gpu_alloc(context, BYTES, &buffer, &err));
    memset(mirror, 0, sizeof mirror);
    for (uint32_t i = 0; i < 60; i++) {
        size_t from = (size_t)ls_random_below(&random, BYTES - 1),
               to = (size_t)ls_random_below(&random, BYTES - 1);
        size_t most = BYTES - (from > to ? from : to), bytes = 1 + (size_t)ls_random_below(&random, most);
        const uint64_t before = ls_gpu_system_now(system);
        switch (ls_random_below(&random, 6)) {
        case 0:
            for (size_t k = 0; k < bytes; k++)
                data[k] = (uint8_t)ls_random_next(&random);
            OK(ls_gpu_copy_in(context, buffer + to, data, bytes, &err));
            memcpy(mirror + to, data, bytes);
            break;
        case 1:
            OK(ls_gpu_copy(context, buffer + to, buffer + from, bytes, &err));
            memmove(mirror + to, mirror + from, bytes);
            break;
        case 2: {
            size_t pattern = 1 + (size_t)ls_random_below(&random, 7);
            bytes -= bytes % pattern;
            for (size_t k = 0; k < pattern; k++)
                data[k] = (uint8_t)ls_random_next(&random);
            if (bytes > 0)
                OK(ls_gpu_fill(context, buffer + to, data, pattern, bytes, &err));
            for (size_t k = 0; k < bytes; k++)
                mirror[to + k] = data[k % pattern];
            break;
        }
        case 3: /* as if by magic: caches have other bytes from now on, and no time passes */
            for (size_t k = 0; k < bytes; k++)
                data[k] = (uint8_t)ls_random_next(&random);
            OK(ls_gpu_patch(context, buffer + to, data, bytes, &err));
            memcpy(mirror + to, data, bytes);
            assert_int_equal(ls_gpu_system_now(system), before);
            break;
        case 4:
            memset(got, 0xee, sizeof got);
            OK(ls_gpu_look(context, got, buffer + from, bytes, &err));
            assert_memory_equal(got, mirror + from, bytes);
            assert_int_equal(ls_gpu_system_now(system), before);
            break;
        default:
            memset(got, 0xee, sizeof got);
            OK(ls_gpu_copy_out(context, got, buffer + from, bytes, &err));
            assert_memory_equal(got, mirror + from, bytes);
        }
    }
    OK(ls_gpu_queue_copy_out(queue, got, buffer, BYTES, &event, &err));
    OK(ls_gpu_event_wait(event, &err));
    assert_memory_equal(got, mirror, BYTES);
    ls_gpu_event_get_times(event, &queued, &began, &ended);
    assert_true(queued <= began && began < ended);
    ls_gpu_event_release(event);
    assert_no_races(system);
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
    return ended;
}

static void any_alignment(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 3; seed++)
        (void)random_operations(1, seed);
}

static void threads(void **unused)
{
    uint64_t one = random_operations(1, 9);
    (void)unused;
    assert_int_equal(random_operations(2, 9), one);
    assert_int_equal(random_operations(3, 9), one);
    assert_int_equal(random_operations(8, 9), one);
}

static uint64_t copy_ns(ls_gpu_context *context, ls_gpu_queue *queue, ls_gpu_address buffer, size_t bytes,
                        bool in)
{
    static uint8_t data[1 << 20];
    ls_gpu_event *event;
    uint64_t queued, began, ended;
    (void)context;
    if (in)
        OK(ls_gpu_queue_copy_in(queue, buffer, data, bytes, &event, &err));
    else
        OK(ls_gpu_queue_copy_out(queue, data, buffer, bytes, &event, &err));
    OK(ls_gpu_queue_sync(queue, &err));
    ls_gpu_event_get_times(event, &queued, &began, &ended);
    ls_gpu_event_release(event);
    return ended - began;
}

/* A large copy runs at the host link's rate: 15.75 bytes per nanosecond; a small one costs its set-up. */
static void rate(void **unused)
{
    ls_gpu_system *system = make(1);
    ls_gpu_context *context;
    ls_gpu_queue *queue;
    ls_gpu_address buffer;
    (void)unused;
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_queue_create(context, &queue, &err));
    OK(ls_gpu_alloc(context, 1 << 20, &buffer, &err));
    for (int in = 0; in < 2; in++) {
        uint64_t small = copy_ns(context, queue, buffer, 1 << 18, in == 1);
        uint64_t large = copy_ns(context, queue, buffer, 1 << 20, in == 1);
        double bytes_per_ns = (double)((1 << 20) - (1 << 18)) / (double)(large - small);
        assert_true(bytes_per_ns > 15.4 && bytes_per_ns < 15.9);
        uint64_t none = copy_ns(context, queue, buffer, 1, in == 1);
        assert_true(none > (in ? 14500u : 8500u) && none < (in ? 16500u : 10500u));
    }
    assert_no_races(system);
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
}

/* Freed memory comes back as zeros, also if caches had lines of it. */
static void freed_memory(void **unused)
{
    static uint8_t data[8192], got[8192];
    ls_gpu_system *system = make(1);
    ls_gpu_context *context;
    ls_gpu_address first, second;
    (void)unused;
    memset(data, 0x5a, sizeof data);
    OK(ls_gpu_context_create(system, &context, &err));
    OK(ls_gpu_alloc(context, sizeof data, &first, &err));
    OK(ls_gpu_copy_in(context, first, data, sizeof data, &err));
    OK(ls_gpu_free(context, first, &err));
    OK(ls_gpu_alloc(context, sizeof data, &second, &err));
    assert_int_equal(second, first);
    OK(ls_gpu_copy_out(context, got, second, sizeof got, &err));
    for (size_t i = 0; i < sizeof got; i++)
        assert_int_equal(got[i], 0);
    /* Past all queues. */
    OK(ls_gpu_poke(context, second + 100, data, 1000, &err));
    OK(ls_gpu_peek(context, got, second, sizeof got, &err));
    for (size_t i = 0; i < sizeof got; i++)
        assert_int_equal(got[i], i >= 100 && i < 1100 ? 0x5a : 0);
    assert_no_races(system);
    ls_gpu_context_destroy(context);
    ls_gpu_system_destroy(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_alignment),
        cmocka_unit_test(threads),
        cmocka_unit_test(rate),
        cmocka_unit_test(freed_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
