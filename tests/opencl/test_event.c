/* Events: dependences, out-of-order queues, user events, callbacks, profiling, faults, threads, fork and
 * exit. */
#include "opencl/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define CAN_FORK 0 /* its runtime starts no threads in a copy of a process that has some */
#else
#define CAN_FORK 1
#endif

static cl_program program;

static const char source[] = "kernel void add(global int *o, int x) { o[0] = o[0] * 10 + x; }\n"
                             "kernel void fault(global int *o) { o[1 << 28] = 1; }\n"
                             "kernel void busy(global int *o, int n) { int s = 0;\n"
                             "    for (int i = 0; i < n; i++) s += o[i & 1]; o[2] = s; }\n";

static cl_int status_of(cl_event event)
{
    cl_int status;
    fx_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static void enqueue_add(cl_command_queue queue, cl_mem out, int x, cl_uint waits, const cl_event *list,
                        cl_event *event)
{
    const size_t one = 1;
    cl_kernel kernel = fx_kernel(program, "add");
    fx_set(kernel, 0, out);
    fx_set(kernel, 1, x);
    fx_ok(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, waits, list, event));
    fx_ok(clReleaseKernel(kernel));
}

static int first_of(cl_mem out)
{
    int value;
    fx_read(out, &value, sizeof value);
    return value;
}

/* The order is that of the events, not of the calls. */
static void test_out_of_order(void **state)
{
    int zero = 0;
    cl_int error;
    cl_command_queue queue =
        clCreateCommandQueue(fx_context, fx_device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    cl_event gate = clCreateUserEvent(fx_context, &error), first, second, marker;
    (void)state;
    enqueue_add(queue, out, 2, 1, &gate, &second);
    enqueue_add(queue, out, 1, 0, NULL, &first);
    fx_ok(clWaitForEvents(1, &first)); /* not held back by the one before it */
    assert_int_equal(status_of(second), CL_SUBMITTED);
    fx_ok(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    enqueue_add(queue, out, 3, 0, NULL, NULL);
    fx_ok(clEnqueueMarkerWithWaitList(queue, 1, &first, &marker));
    assert_int_equal(status_of(marker), CL_SUBMITTED); /* after the barrier */
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    fx_ok(clFinish(queue));
    assert_int_equal(status_of(marker), CL_COMPLETE);
    assert_int_equal(first_of(out), 123);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
    assert_int_equal(clSetUserEventStatus(first, CL_COMPLETE), CL_INVALID_EVENT);
    fx_ok(clReleaseEvent(gate));
    fx_ok(clReleaseEvent(first));
    fx_ok(clReleaseEvent(second));
    fx_ok(clReleaseEvent(marker));
    fx_ok(clReleaseCommandQueue(queue));
    fx_ok(clReleaseMemObject(out));
}

static void test_in_order_between_queues(void **state)
{
    int zero = 0;
    cl_int error;
    cl_command_queue other = clCreateCommandQueue(fx_context, fx_device, 0, &error);
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    cl_event gate = clCreateUserEvent(fx_context, &error), event;
    (void)state;
    enqueue_add(fx_queue, out, 1, 1, &gate, NULL);
    enqueue_add(fx_queue, out, 2, 0, NULL, &event);
    enqueue_add(other, out, 3, 1, &event, NULL);
    fx_ok(clEnqueueBarrier(other));
    fx_ok(clReleaseEvent(event));
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    fx_ok(clFinish(other));
    assert_int_equal(first_of(out), 123);
    fx_ok(clReleaseEvent(gate));
    fx_ok(clReleaseCommandQueue(other));
    fx_ok(clReleaseMemObject(out));
}

static atomic_int seen[4]; /* by status, counted in the order of the calls */
static atomic_int order;

static void CL_CALLBACK note(cl_event event, cl_int status, void *user_data)
{
    (void)event;
    (void)user_data;
    seen[status < 0 ? 3 : status] = ++order;
}

static void test_callbacks(void **state)
{
    cl_int error, zero = 0;
    cl_event gate = clCreateUserEvent(fx_context, &error), event;
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    (void)state;
    enqueue_add(fx_queue, out, 1, 1, &gate, &event);
    assert_int_equal(clSetEventCallback(event, CL_QUEUED, note, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clSetEventCallback(event, CL_COMPLETE, note, NULL));
    fx_ok(clSetEventCallback(event, CL_RUNNING, note, NULL));
    fx_ok(clSetEventCallback(event, CL_SUBMITTED, note, NULL));
    assert_int_equal(seen[CL_SUBMITTED], 1);
    assert_int_equal(seen[CL_COMPLETE], 0);
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    fx_ok(clFinish(fx_queue));
    while (!seen[CL_COMPLETE]) /* may come a moment later */
        usleep(100);
    assert_int_equal(seen[CL_RUNNING], 2);
    assert_int_equal(seen[CL_COMPLETE], 3);
    fx_ok(clSetEventCallback(gate, CL_COMPLETE, note, NULL));
    assert_int_equal(seen[CL_COMPLETE], 4);
    fx_ok(clReleaseEvent(event));
    fx_ok(clReleaseEvent(gate));
    fx_ok(clReleaseMemObject(out));
}

static void test_failed_wait(void **state)
{
    cl_int error, zero = 0;
    cl_event gate = clCreateUserEvent(fx_context, &error), event;
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    (void)state;
    enqueue_add(fx_queue, out, 1, 1, &gate, &event);
    assert_int_equal(clSetUserEventStatus(gate, CL_SUBMITTED), CL_INVALID_VALUE);
    fx_ok(clSetUserEventStatus(gate, -5));
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_true(status_of(event) < 0);
    assert_int_equal(first_of(out), 0);
    fx_ok(clReleaseEvent(event));
    fx_ok(clReleaseEvent(gate));
    /* It can never be set now: its waiters fail instead of waiting for ever. */
    gate = clCreateUserEvent(fx_context, &error);
    enqueue_add(fx_queue, out, 1, 1, &gate, &event);
    fx_ok(clReleaseEvent(gate));
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    fx_ok(clReleaseEvent(event));
    assert_int_equal(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    fx_ok(clReleaseMemObject(out));
}

static void test_fault(void **state)
{
    const size_t one = 1;
    int value = 0;
    cl_kernel kernel = fx_kernel(program, "fault");
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof value, &value);
    cl_event event;
    (void)state;
    fx_set(kernel, 0, out);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event));
    /* Later commands of the queue must not succeed silently. */
    assert_int_equal(clEnqueueReadBuffer(fx_queue, out, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(status_of(event), CL_OUT_OF_RESOURCES);
    fx_ok(clReleaseEvent(event));
    enqueue_add(fx_queue, out, 5, 0, NULL, NULL); /* and the queue works again */
    assert_int_equal(first_of(out), 5);
    fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    assert_int_equal(clFinish(fx_queue), CL_OUT_OF_RESOURCES);
    fx_ok(clFinish(fx_queue));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(out));
}

static cl_ulong when(cl_event event, cl_profiling_info what)
{
    cl_ulong ns;
    fx_ok(clGetEventProfilingInfo(event, what, sizeof ns, &ns, NULL));
    return ns;
}

static void test_profiling(void **state)
{
    const size_t one = 1;
    int data[3] = { 0 }, n[2] = { 1000, 10000 };
    cl_kernel kernel = fx_kernel(program, "busy");
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof data, data);
    cl_event events[2], user;
    cl_command_type type;
    cl_ulong times[2], ns;
    cl_int error;
    (void)state;
    fx_set(kernel, 0, out);
    for (int i = 0; i < 2; i++) {
        fx_set(kernel, 1, n[i]);
        fx_ok(clEnqueueNDRangeKernel(fx_queue, kernel, 1, NULL, &one, NULL, 0, NULL, &events[i]));
    }
    fx_ok(clWaitForEvents(2, events));
    for (int i = 0; i < 2; i++) {
        times[i] = when(events[i], CL_PROFILING_COMMAND_END) - when(events[i], CL_PROFILING_COMMAND_START);
        assert_true(when(events[i], CL_PROFILING_COMMAND_QUEUED) <=
                    when(events[i], CL_PROFILING_COMMAND_SUBMIT));
        assert_true(when(events[i], CL_PROFILING_COMMAND_SUBMIT) <=
                    when(events[i], CL_PROFILING_COMMAND_START));
    }
    assert_true(times[1] > times[0]);
    assert_true(when(events[1], CL_PROFILING_COMMAND_START) >= when(events[0], CL_PROFILING_COMMAND_END));
    fx_ok(clGetEventInfo(events[0], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_COMMAND_NDRANGE_KERNEL);
    user = clCreateUserEvent(fx_context, &error);
    assert_int_equal(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof ns, &ns, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    fx_ok(clReleaseEvent(user));
    fx_ok(clReleaseEvent(events[0]));
    fx_ok(clReleaseEvent(events[1]));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(out));
}

/* ---------------------------------------------------------------------------------- threads and processes */

static void *many(void *self)
{
    cl_mem out = self;
    cl_int error;
    cl_command_queue queue = clCreateCommandQueue(fx_context, fx_device, 0, &error);
    const size_t one = 1;
    const int zero = 0;
    for (int i = 0; i < 50 && error == CL_SUCCESS; i++) {
        cl_event event;
        cl_int status = CL_QUEUED;
        cl_kernel kernel = clCreateKernel(program, "add", &error);
        clSetKernelArg(kernel, 0, sizeof out, &out);
        clSetKernelArg(kernel, 1, sizeof zero, &zero);
        error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event);
        while (error == CL_SUCCESS && status > CL_COMPLETE) /* polls without flushing */
            error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        clReleaseEvent(event);
        clReleaseKernel(kernel);
    }
    clReleaseCommandQueue(queue);
    return (void *)(intptr_t)error;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    cl_mem outs[4];
    int zero = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        outs[i] = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
        assert_int_equal(pthread_create(&threads[i], NULL, many, outs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *error;
        pthread_join(threads[i], &error);
        assert_int_equal((intptr_t)error, CL_SUCCESS);
        fx_ok(clReleaseMemObject(outs[i]));
    }
}

static int exit_code(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* A copy of the process has its own GPU; both go on. */
static void test_fork(void **state)
{
    int zero = 0;
    cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
    pid_t child;
    (void)state;
    enqueue_add(fx_queue, out, 1, 0, NULL, NULL);
    fx_ok(clFlush(fx_queue));
    child = fork();
    enqueue_add(fx_queue, out, child == 0 ? 2 : 3, 0, NULL, NULL);
    if (child == 0)
        _exit(first_of(out) == 12 ? 0 : 1);
    assert_int_equal(first_of(out), 13);
    assert_int_equal(exit_code(child), 0);
    fx_ok(clReleaseMemObject(out));
}

/* Leaving with work that can never run, and with work under way. */
static void test_early_exit(void **state)
{
    pid_t child = fork();
    (void)state;
    if (child == 0) {
        cl_int error, zero = 0;
        cl_mem out = fx_buffer(CL_MEM_COPY_HOST_PTR, sizeof zero, &zero);
        cl_event gate = clCreateUserEvent(fx_context, &error);
        enqueue_add(fx_queue, out, 1, 0, NULL, NULL);
        enqueue_add(fx_queue, out, 1, 1, &gate, NULL);
        fx_ok(clFlush(fx_queue));
        exit(7);
    }
    assert_int_equal(exit_code(child), 7);
}

static int setup(void **state)
{
    int result = fx_setup(state);
    fx_need_compiler();
    if (result == 0)
        program = fx_build(source, "");
    return result;
}

static int teardown(void **state)
{
    clReleaseProgram(program);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_order), cmocka_unit_test(test_in_order_between_queues),
        cmocka_unit_test(test_callbacks),    cmocka_unit_test(test_failed_wait),
        cmocka_unit_test(test_fault),        cmocka_unit_test(test_profiling),
        cmocka_unit_test(test_threads),
    };
    const struct CMUnitTest with_processes[] = { cmocka_unit_test(test_fork),
                                                 cmocka_unit_test(test_early_exit) };
    int failed = cmocka_run_group_tests(tests, setup, teardown);
    return CAN_FORK ? failed + cmocka_run_group_tests(with_processes, setup, teardown) : failed;
}
