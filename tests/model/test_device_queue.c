/* test_device_queue.c: the commands of one GPU, alone: delays and waits end when they should, from the beginning and from a
 * position, where signals have come already. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/gpu/device_queue.h"

static void resume(void *self, ls_cycle now)
{
    (void)now;
    ++*(uint32_t *)self;
}

static const ls_dispatch_ops dispatch_ops = { .resume = resume };

static const device_command commands[] = {
    { .kind = DEVICE_DELAY, .cycles = 10 }, { .kind = DEVICE_WAIT, .number = 1, .count = 2 },
    { .kind = DEVICE_DELAY, .cycles = 20 }, { .kind = DEVICE_WAIT, .number = 0, .count = 1 },
    { .kind = DEVICE_DELAY, .cycles = 5 },
};
#define COUNT 5u

typedef struct queue_run {
    ls_status status;
    ls_cycle end[COUNT];
    bool is_done;
    uint32_t resumed; /* the dispatcher was told so often */
} queue_run;

/* Signals come in no other way than with the program. */
static queue_run run(uint32_t first, const uint32_t *received)
{
    const device_program program = { .commands = commands,
                                     .count = COUNT,
                                     .signal_count = 2,
                                     .text = "",
                                     .first = first,
                                     .received = received };
    queue_run out = { 0 };
    ls_engine *engine;
    ls_domain *domain;
    ls_block *queue;
    ls_clock clock;
    ls_error err;
    assert_int_equal(ls_clock_init(&clock, ls_ratio_make(1000000000, 1), NULL), LS_OK);
    assert_int_equal(ls_engine_create(1, &engine, NULL), LS_OK);
    assert_int_equal(ls_domain_create(engine, "gpu0", clock, &domain, NULL), LS_OK);
    assert_int_equal(device_queue_create(ls_domain_region(domain, 0), "gpu0.queue", &queue, NULL), LS_OK);
    device_queue_attach(queue, NULL, (ls_port){ .ops = &dispatch_ops, .self = &out.resumed });
    assert_int_equal(device_queue_start(queue, &program, NULL), LS_OK);
    out.status = ls_run(engine, &(ls_run_options){ .threads = 1 }, NULL, &err);
    for (uint32_t i = 0; i < COUNT; i++)
        out.end[i] = device_queue_end(queue, i);
    out.is_done = device_queue_is_done(queue);
    ls_engine_destroy(engine);
    return out;
}

static void from_the_beginning(void **state)
{
    (void)state;
    const uint32_t all[] = { 1, 2 };
    queue_run r = run(0, all);
    assert_int_equal(r.status, LS_OK);
    assert_true(r.is_done);
    assert_int_equal(r.end[0], 10);
    assert_int_equal(r.end[1], 10);
    assert_int_equal(r.end[2], 30);
    assert_int_equal(r.end[4], 35);
    assert_int_equal(r.resumed, 1);
}

static void a_signal_that_does_not_come(void **state)
{
    (void)state;
    const uint32_t one_of_two[] = { 1, 1 };
    queue_run r = run(0, one_of_two);
    assert_int_equal(r.status, LS_ERR_DEADLOCK);
    assert_int_equal(r.end[0], 10);
    assert_int_equal(r.end[1], LS_CYCLE_MAX);
    assert_int_equal(run(0, NULL).status, LS_ERR_DEADLOCK);
}

/* Commands before the first take no time and wait for nothing. */
static void from_a_position(void **state)
{
    (void)state;
    const uint32_t other[] = { 1, 0 };
    queue_run r = run(2, other);
    assert_int_equal(r.status, LS_OK);
    assert_int_equal(r.end[1], 0);
    assert_int_equal(r.end[2], 20);
    assert_int_equal(r.end[3], 20);
    assert_int_equal(r.end[4], 25);
    r = run(COUNT, NULL);
    assert_int_equal(r.status, LS_OK);
    assert_true(r.is_done);
    assert_int_equal(r.resumed, 1); /* no kernel comes any more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_beginning),
        cmocka_unit_test(a_signal_that_does_not_come),
        cmocka_unit_test(from_a_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
