/* Simulated time: commands that run side by side, the times that events say, and that none of it depends on
 * when the host did what. */
#include "opencl/fixture.h"

#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 64, TURNS = 400 };

static cl_program program;
static char own_path[4096];

static const char source[] = "kernel void chase(global int *o, int n) {\n"
                             "    int at = get_global_id(0);\n"
                             "    for (int i = 0; i < n; i++) at = o[at];\n"
                             "    o[get_global_id(0)] = at; }\n";

typedef struct span {
    cl_ulong queued, start, end;
} span;

static span times_of(cl_event event)
{
    span s;
    cl_ulong submit;
    fx_ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof s.queued, &s.queued, NULL));
    fx_ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_SUBMIT, sizeof submit, &submit, NULL));
    fx_ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof s.start, &s.start, NULL));
    fx_ok(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof s.end, &s.end, NULL));
    assert_true(s.queued <= submit && submit <= s.start && s.start < s.end);
    fx_ok(clReleaseEvent(event));
    return s;
}

static bool are_side_by_side(span a, span b)
{
    return a.start < b.end && b.start < a.end;
}

static cl_command_queue new_queue(cl_command_queue_properties more)
{
    cl_int error;
    cl_command_queue queue =
        clCreateCommandQueue(fx_context, fx_device, CL_QUEUE_PROFILING_ENABLE | more, &error);
    fx_ok(error);
    return queue;
}

/* Each item's place points to itself, so that a chase ends where it began. */
static cl_mem new_chain(void)
{
    int chain[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        chain[i] = i;
    return fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof chain, chain);
}

static void check_chain(cl_mem mem)
{
    int chain[ITEMS];
    fx_read(mem, chain, sizeof chain);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(chain[i], i);
    fx_ok(clReleaseMemObject(mem));
}

static cl_event chase(cl_command_queue queue, cl_mem chain, int turns, cl_uint waits, const cl_event *list)
{
    const size_t items = ITEMS;
    cl_kernel kernel = fx_kernel(program, "chase");
    cl_event event;
    fx_set(kernel, 0, chain);
    fx_set(kernel, 1, turns);
    fx_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, waits, list, &event));
    fx_ok(clReleaseKernel(kernel));
    return event;
}

static void test_in_order(void **state)
{
    cl_mem a = new_chain();
    (void)state;
    cl_event events[3];
    for (int i = 0; i < 3; i++)
        events[i] = chase(fx_queue, a, TURNS, 0, NULL);
    fx_ok(clFinish(fx_queue));
    span last = times_of(events[0]);
    for (int i = 1; i < 3; i++) {
        span s = times_of(events[i]);
        assert_true(s.start >= last.end);
        last = s;
    }
    check_chain(a);
}

static void test_two_queues(void **state)
{
    cl_command_queue queues[2] = { new_queue(0), new_queue(0) };
    cl_mem chains[2] = { new_chain(), new_chain() };
    span alone, s[2];
    (void)state;
    cl_event event = chase(queues[0], chains[0], TURNS, 0, NULL);
    fx_ok(clFinish(queues[0]));
    alone = times_of(event);
    cl_event events[2];
    for (int i = 0; i < 2; i++) {
        events[i] = chase(queues[i], chains[i], TURNS, 0, NULL);
        fx_ok(clFlush(queues[i])); /* says that it may begin, not that it must have */
    }
    for (int i = 0; i < 2; i++)
        fx_ok(clFinish(queues[i]));
    for (int i = 0; i < 2; i++)
        s[i] = times_of(events[i]);
    assert_true(are_side_by_side(s[0], s[1]));
    cl_ulong from = s[0].start < s[1].start ? s[0].start : s[1].start;
    cl_ulong to = s[0].end > s[1].end ? s[0].end : s[1].end;
    assert_true(to - from < (alone.end - alone.start) * 3 / 2);
    for (int i = 0; i < 2; i++) {
        check_chain(chains[i]);
        fx_ok(clReleaseCommandQueue(queues[i]));
    }
}

/* b waits for a, c for nothing, d for both. */
static void test_out_of_order(void **state)
{
    cl_command_queue queue = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_mem chains[2] = { new_chain(), new_chain() };
    (void)state;
    cl_event a = chase(queue, chains[0], TURNS, 0, NULL);
    cl_event b = chase(queue, chains[0], TURNS, 1, &a);
    cl_event c = chase(queue, chains[1], 3 * TURNS, 0, NULL);
    const cl_event both[] = { b, c };
    cl_event d = chase(queue, chains[1], TURNS, 2, both);
    fx_ok(clWaitForEvents(1, &d));
    span sa = times_of(a), sb = times_of(b), sc = times_of(c), sd = times_of(d);
    assert_true(sb.start >= sa.end);
    assert_true(are_side_by_side(sa, sc));
    assert_true(are_side_by_side(sb, sc));
    assert_true(sd.start >= sb.end && sd.start >= sc.end);
    for (int i = 0; i < 2; i++)
        check_chain(chains[i]);
    fx_ok(clReleaseCommandQueue(queue));
}

/* Writes, reads and fills beside a kernel; the host's memory may be on the stack. */
static void test_transfers(void **state)
{
    enum { INTS = 16384 };
    static int in[INTS], out[INTS];
    cl_command_queue queue = new_queue(0);
    cl_mem chain = new_chain(), plain = fx_buffer(0, sizeof in, NULL), filled = fx_buffer(0, sizeof in, NULL);
    const int seven = 7;
    cl_event write, copy, fill, read;
    (void)state;
    for (int i = 0; i < INTS; i++)
        in[i] = i * 3;
    cl_event kernel = chase(fx_queue, chain, 40 * TURNS, 0, NULL);
    fx_ok(clEnqueueWriteBuffer(queue, plain, CL_FALSE, 0, sizeof in, in, 0, NULL, &write));
    fx_ok(clEnqueueFillBuffer(queue, filled, &seven, sizeof seven, 0, sizeof in, 0, NULL, &fill));
    fx_ok(clEnqueueCopyBuffer(queue, plain, filled, 0, sizeof in / 2, sizeof in / 2, 0, NULL, &copy));
    fx_ok(clEnqueueReadBuffer(queue, filled, CL_FALSE, 0, sizeof out, out, 0, NULL, &read));
    fx_ok(clWaitForEvents(1, &read));
    for (int i = 0; i < INTS; i++)
        assert_int_equal(out[i], i < INTS / 2 ? 7 : (i - INTS / 2) * 3);
    fx_ok(clFinish(fx_queue));
    span beside = times_of(kernel), last = times_of(write);
    assert_true(are_side_by_side(beside, last));
    cl_event rest[] = { fill, copy, read };
    for (int i = 0; i < 3; i++) {
        span s = times_of(rest[i]);
        assert_true(s.start >= last.end);
        last = s;
    }
    check_chain(chain);
    fx_ok(clReleaseMemObject(plain));
    fx_ok(clReleaseMemObject(filled));
    fx_ok(clReleaseCommandQueue(queue));
}

static cl_int status_of(cl_event event)
{
    cl_int status;
    fx_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

/* A program that only polls sees the end too; a command that waits for the host does not begin. */
static void test_asking(void **state)
{
    cl_int error;
    cl_command_queue queue = new_queue(0);
    cl_mem chains[2] = { new_chain(), new_chain() };
    cl_event gate = clCreateUserEvent(fx_context, &error);
    (void)state;
    cl_event gated = chase(queue, chains[0], TURNS, 1, &gate),
             open = chase(fx_queue, chains[1], TURNS, 0, NULL);
    while (status_of(open) != CL_COMPLETE)
        ;
    assert_int_equal(status_of(gated), CL_SUBMITTED);
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    while (status_of(gated) != CL_COMPLETE)
        ;
    assert_true(times_of(gated).start >= times_of(open).end);
    for (int i = 0; i < 2; i++)
        check_chain(chains[i]);
    fx_ok(clReleaseEvent(gate));
    fx_ok(clReleaseCommandQueue(queue));
}

static void CL_CALLBACK post(cl_event event, cl_int status, void *data)
{
    (void)event;
    if (status == CL_COMPLETE)
        sem_post(data);
}

/* A program that waits for its callback alone. */
static void test_called_back(void **state)
{
    sem_t called;
    struct timespec until;
    cl_mem chain = new_chain();
    (void)state;
    assert_int_equal(sem_init(&called, 0, 0), 0);
    cl_event first = chase(fx_queue, chain, TURNS, 0, NULL), second = chase(fx_queue, chain, TURNS, 0, NULL);
    fx_ok(clSetEventCallback(second, CL_COMPLETE, post, &called));
    fx_ok(clFlush(fx_queue));
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 120;
    assert_int_equal(sem_timedwait(&called, &until), 0);
    assert_true(times_of(second).start >= times_of(first).end);
    check_chain(chain);
    sem_destroy(&called);
}

/* --------------------------------------------------------------------------------------------- repeatable */

/* Output of the child: times of commands of three queues, with pauses of the host between the calls. */
static void print_times(long pause_us)
{
    cl_command_queue queues[3] = { new_queue(0), new_queue(0),
                                   new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) };
    cl_mem chains[3] = { new_chain(), new_chain(), new_chain() };
    cl_event events[12];
    int data[ITEMS];
    for (int i = 0; i < 12; i++) {
        if (i % 4 == 3)
            fx_ok(clEnqueueReadBuffer(queues[i % 3], chains[i % 3], CL_FALSE, 0, sizeof data, data, 0, NULL,
                                      &events[i]));
        else
            events[i] = chase(queues[i % 3], chains[i % 3], 50 + 37 * i, 0, NULL);
        usleep((useconds_t)(pause_us * (i % 3)));
        if (i == 7)
            fx_ok(clFinish(queues[1]));
        else
            fx_ok(clFlush(queues[i % 3]));
    }
    for (int i = 0; i < 3; i++)
        fx_ok(clFinish(queues[i]));
    for (int i = 0; i < 12; i++) {
        span s = times_of(events[i]);
        printf("time %d %llu %llu %llu\n", i, (unsigned long long)s.queued, (unsigned long long)s.start,
               (unsigned long long)s.end);
    }
}

static size_t times_of_child(const char *pause_us, const char *threads, char *out, size_t room)
{
    char line[4352];
    size_t used = 0;
    snprintf(line, sizeof line, "LOCKSTEP_THREADS=%s '%s' %s", threads, own_path, pause_us);
    FILE *from = popen(line, "r");
    assert_non_null(from);
    while (fgets(line, sizeof line, from))
        if (strncmp(line, "time ", 5) == 0 && used + strlen(line) < room) {
            memcpy(out + used, line, strlen(line) + 1);
            used += strlen(line);
        }
    assert_int_equal(pclose(from), 0);
    return used;
}

static void test_repeatable(void **state)
{
    static char first[8192], again[8192];
    (void)state;
    assert_true(times_of_child("0", "1", first, sizeof first) > 200);
    times_of_child("4000", "1", again, sizeof again);
    assert_string_equal(first, again);
    times_of_child("700", "3", again, sizeof again);
    assert_string_equal(first, again);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),     cmocka_unit_test(test_two_queues),
        cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_transfers),
        cmocka_unit_test(test_asking),       cmocka_unit_test(test_called_back),
        cmocka_unit_test(test_repeatable),
    };
    setenv("LOCKSTEP_PLATFORM", "rx5500xt", 1);
    fx_need_compiler();
    if (fx_setup(NULL) != 0)
        return 1;
    program = fx_build(source, "");
    if (argc > 1) {
        print_times(strtol(argv[1], NULL, 10));
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    if (length <= 0)
        return 1;
    int failed = cmocka_run_group_tests_name("time", tests, NULL, NULL);
    clReleaseProgram(program);
    return fx_teardown(NULL) != 0 || failed != 0;
}
