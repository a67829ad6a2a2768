/* Errors of platforms, devices, contexts, queues and events: each code that OpenCL 1.2 names and that can be
 * provoked. */
#include "opencl/fixture.h"

#include <string.h>

#define AS_CONTEXT(object_) ((cl_context)(void *)(object_))
#define AS_DEVICE(object_) ((cl_device_id)(void *)(object_))
#define AS_QUEUE(object_) ((cl_command_queue)(void *)(object_))
#define AS_EVENT(object_) ((cl_event)(void *)(object_))

static cl_context other;
static cl_event foreign;

static void test_platform_and_device(void **state)
{
    const cl_device_partition_property equally[] = { CL_DEVICE_PARTITION_EQUALLY, 2, 0 };
    const cl_device_type strange = (cl_device_type)1 << 40;
    cl_platform_id platform;
    cl_device_id device;
    cl_uint count;
    (void)state;
    fx_refused(CL_INVALID_VALUE, clGetPlatformIDs(0, &platform, NULL));
    fx_refused(CL_INVALID_VALUE, clGetPlatformIDs(1, NULL, NULL));
    fx_refused(CL_INVALID_PLATFORM,
               clGetDeviceIDs((cl_platform_id)(void *)fx_device, CL_DEVICE_TYPE_GPU, 1, &device, &count));
    fx_refused(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(fx_platform, strange, 1, &device, &count));
    fx_refused(CL_DEVICE_NOT_FOUND,
               clGetDeviceIDs(fx_platform, CL_DEVICE_TYPE_ACCELERATOR, 1, &device, &count));
    fx_refused(CL_INVALID_DEVICE, clCreateSubDevices(AS_DEVICE(fx_context), equally, 1, &device, &count));
    fx_refused(CL_INVALID_VALUE, clCreateSubDevices(fx_device, equally, 1, &device,
                                                    &count)); /* more parts than there is room for */
    fx_refused(CL_INVALID_DEVICE, clRetainDevice(AS_DEVICE(fx_context)));
    fx_refused(CL_INVALID_DEVICE, clReleaseDevice(AS_DEVICE(fx_context)));
    assert_null(clGetExtensionFunctionAddress("clNoSuchFunctionOfOurs"));
    assert_null(clGetExtensionFunctionAddressForPlatform(fx_platform, "clNoSuchFunctionOfOurs"));
    assert_non_null(clGetExtensionFunctionAddressForPlatform(fx_platform, "clGetKernelSubGroupInfoKHR"));
}

static void test_context(void **state)
{
    const cl_context_properties platform = CL_CONTEXT_PLATFORM, ours = (cl_context_properties)fx_platform;
    const cl_context_properties twice[] = { platform, ours, platform, ours, 0 };
    const cl_context_properties wrong[] = { platform, (cl_context_properties)fx_device, 0 };
    const cl_context_properties good[] = { platform, ours, 0 };
    cl_device_id no_device = AS_DEVICE(fx_context);
    int data = 0;
    (void)state;
    fx_nothing(CL_INVALID_VALUE, clCreateContext(NULL, 0, &fx_device, NULL, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateContext(good, 1, NULL, NULL, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateContext(NULL, 1, &fx_device, NULL, &data, &error));
    fx_nothing(CL_INVALID_PROPERTY, clCreateContext(twice, 1, &fx_device, NULL, NULL, &error));
    fx_nothing(CL_INVALID_PLATFORM, clCreateContext(wrong, 1, &fx_device, NULL, NULL, &error));
    fx_nothing(CL_INVALID_DEVICE,
               clCreateContext(good, 2, ((cl_device_id[]){ fx_device, no_device }), NULL, NULL, &error));
    fx_nothing(CL_INVALID_DEVICE_TYPE, clCreateContextFromType(good, 0, NULL, NULL, &error));
    fx_nothing(CL_DEVICE_NOT_FOUND, clCreateContextFromType(good, CL_DEVICE_TYPE_CPU, NULL, NULL, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateContextFromType(good, CL_DEVICE_TYPE_GPU, NULL, &data, &error));
    fx_refused(CL_INVALID_CONTEXT, clRetainContext(AS_CONTEXT(fx_queue)));
    fx_refused(CL_INVALID_CONTEXT, clReleaseContext(AS_CONTEXT(fx_queue)));
}

static void test_queue(void **state)
{
    (void)state;
    fx_nothing(CL_INVALID_CONTEXT, clCreateCommandQueue(AS_CONTEXT(fx_queue), fx_device, 0, &error));
    fx_nothing(CL_INVALID_DEVICE, clCreateCommandQueue(fx_context, AS_DEVICE(fx_queue), 0, &error));
    fx_nothing(CL_INVALID_VALUE, clCreateCommandQueue(fx_context, fx_device, 1 << 20, &error));
    fx_refused(CL_INVALID_COMMAND_QUEUE,
               clSetCommandQueueProperty(AS_QUEUE(fx_context), CL_QUEUE_PROFILING_ENABLE, CL_TRUE, NULL));
    fx_refused(CL_INVALID_VALUE, clSetCommandQueueProperty(fx_queue, 1 << 20, CL_TRUE, NULL));
    fx_refused(CL_INVALID_OPERATION,
               clSetCommandQueueProperty(fx_queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_TRUE, NULL));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue(AS_QUEUE(fx_context)));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(AS_QUEUE(fx_context)));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clFlush(AS_QUEUE(fx_context)));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clFinish(AS_QUEUE(fx_context)));
}

static void test_markers_and_barriers(void **state)
{
    cl_event none = AS_EVENT(fx_queue), event, gate;
    cl_int code;
    (void)state;
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(AS_QUEUE(fx_context), 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueMarkerWithWaitList(fx_queue, 1, &foreign, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(fx_queue, 1, NULL, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(fx_queue, 1, &none, NULL));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrierWithWaitList(AS_QUEUE(fx_context), 0, NULL, NULL));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueBarrierWithWaitList(fx_queue, 1, &foreign, NULL));
    fx_refused(CL_INVALID_EVENT_WAIT_LIST, clEnqueueBarrierWithWaitList(fx_queue, 0, &none, NULL));
    /* Those of 1.1. */
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueMarker(AS_QUEUE(fx_context), &event));
    fx_refused(CL_INVALID_VALUE, clEnqueueMarker(fx_queue, NULL));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrier(AS_QUEUE(fx_context)));
    fx_refused(CL_INVALID_COMMAND_QUEUE, clEnqueueWaitForEvents(AS_QUEUE(fx_context), 1, &none));
    fx_refused(CL_INVALID_VALUE, clEnqueueWaitForEvents(fx_queue, 0, NULL));
    fx_refused(CL_INVALID_EVENT, clEnqueueWaitForEvents(fx_queue, 1, &none));
    fx_refused(CL_INVALID_CONTEXT, clEnqueueWaitForEvents(fx_queue, 1, &foreign));
    /* They wait for their events, and for each other. */
    gate = clCreateUserEvent(fx_context, &code);
    fx_ok(code);
    fx_ok(clEnqueueWaitForEvents(fx_queue, 1, &gate));
    fx_ok(clEnqueueBarrier(fx_queue));
    fx_ok(clEnqueueMarker(fx_queue, &event));
    fx_ok(clFlush(fx_queue));
    fx_ok(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof code, &code, NULL));
    assert_true(code > CL_COMPLETE);
    fx_ok(clSetUserEventStatus(gate, CL_COMPLETE));
    fx_ok(clWaitForEvents(1, &event));
    fx_ok(clReleaseEvent(event));
    fx_ok(clReleaseEvent(gate));
}

static void CL_CALLBACK never(cl_event event, cl_int status, void *user_data)
{
    (void)event, (void)status, (void)user_data;
}

static void test_events(void **state)
{
    cl_event event, none = AS_EVENT(fx_queue), marker, mixed[2];
    cl_ulong time;
    cl_uint references;
    cl_int code;
    (void)state;
    fx_nothing(CL_INVALID_CONTEXT, clCreateUserEvent(AS_CONTEXT(fx_queue), &error));
    event = clCreateUserEvent(fx_context, &code);
    fx_ok(code);
    fx_ok(clRetainEvent(event));
    fx_ok(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, 2);
    fx_ok(clReleaseEvent(event));
    fx_refused(CL_INVALID_EVENT, clRetainEvent(AS_EVENT(fx_queue)));
    fx_refused(CL_INVALID_EVENT, clReleaseEvent(AS_EVENT(fx_queue)));
    fx_refused(CL_INVALID_VALUE, clWaitForEvents(0, &event));
    fx_refused(CL_INVALID_VALUE, clWaitForEvents(1, NULL));
    fx_refused(CL_INVALID_EVENT, clWaitForEvents(1, &none));
    mixed[0] = event;
    mixed[1] = foreign;
    fx_refused(CL_INVALID_CONTEXT, clWaitForEvents(2, mixed));
    fx_ok(clEnqueueMarker(fx_queue, &marker));
    fx_refused(CL_INVALID_EVENT, clSetUserEventStatus(marker, CL_COMPLETE));
    fx_refused(CL_INVALID_VALUE, clSetUserEventStatus(event, CL_RUNNING));
    fx_refused(CL_INVALID_EVENT, clSetEventCallback(AS_EVENT(fx_queue), CL_COMPLETE, never, NULL));
    fx_refused(CL_INVALID_VALUE, clSetEventCallback(event, CL_QUEUED, never, NULL));
    fx_refused(CL_INVALID_VALUE, clSetEventCallback(event, CL_COMPLETE, NULL, NULL));
    fx_ok(clSetUserEventStatus(event, -5));
    fx_refused(CL_INVALID_OPERATION, clSetUserEventStatus(event, CL_COMPLETE));
    fx_refused(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
    fx_refused(CL_PROFILING_INFO_NOT_AVAILABLE,
               clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL));
    fx_ok(clWaitForEvents(1, &marker));
    fx_ok(clReleaseEvent(marker));
    fx_ok(clReleaseEvent(event));
}

/* A blocking command after a failed event fails too. */
static void test_failed_wait_list(void **state)
{
    cl_mem mem = fx_buffer(0, 4, NULL);
    int value = 42;
    cl_event event;
    cl_int code;
    (void)state;
    event = clCreateUserEvent(fx_context, &code);
    fx_ok(clSetUserEventStatus(event, -1));
    fx_refused(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
               clEnqueueReadBuffer(fx_queue, mem, CL_TRUE, 0, 4, &value, 1, &event, NULL));
    assert_int_equal(value, 42);
    fx_ok(clReleaseEvent(event));
    fx_ok(clReleaseMemObject(mem));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    cl_int code;
    if (result != 0)
        return result;
    other = clCreateContext(NULL, 1, &fx_device, NULL, NULL, &code);
    foreign = clCreateUserEvent(other, &code);
    return code == CL_SUCCESS ? 0 : -1;
}

static int teardown(void **state)
{
    clReleaseEvent(foreign);
    clReleaseContext(other);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_platform_and_device),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_markers_and_barriers),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_failed_wait_list),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
