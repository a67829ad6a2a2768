/* Platforms, devices, contexts and queues: their information and refusals. */
#include "opencl/fixture.h"

#include <stdlib.h>
#include <string.h>

static void test_platform(void **state)
{
    char text[256];
    cl_uint count;
    size_t bytes;
    (void)state;
    assert_int_equal(clGetPlatformIDs(0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clGetPlatformIDs(0, NULL, &count));
    fx_ok(clGetPlatformInfo(fx_platform, CL_PLATFORM_VERSION, sizeof text, text, &bytes));
    assert_memory_equal(text, "OpenCL 3.0 ", 11);
    assert_int_equal(bytes, strlen(text) + 1);
    assert_int_equal(clGetPlatformInfo(fx_platform, CL_PLATFORM_VERSION, 3, text, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetPlatformInfo(fx_platform, 0, sizeof text, text, NULL), CL_INVALID_VALUE);
    fx_ok(clGetPlatformInfo(fx_platform, CL_PLATFORM_ICD_SUFFIX_KHR, sizeof text, text, NULL));
    assert_string_equal(text, "LOCKSTEP");
    assert_int_equal(clUnloadPlatformCompiler(fx_platform), CL_SUCCESS);
    assert_null(clGetExtensionFunctionAddressForPlatform(fx_platform, "clNoSuchThing"));
}

static void test_device_list(void **state)
{
    cl_device_id device;
    cl_uint count = 77;
    (void)state;
    assert_int_equal(clGetDeviceIDs(fx_platform, CL_DEVICE_TYPE_CPU, 1, &device, &count), CL_DEVICE_NOT_FOUND);
    assert_int_equal(clGetDeviceIDs(fx_platform, 0, 1, &device, NULL), CL_INVALID_DEVICE_TYPE);
    assert_int_equal(clGetDeviceIDs(fx_platform, CL_DEVICE_TYPE_GPU, 0, &device, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceIDs(fx_platform, CL_DEVICE_TYPE_GPU, 0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clGetDeviceIDs(fx_platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(device, fx_device);
    fx_ok(clRetainDevice(device));
    fx_ok(clReleaseDevice(device));
    assert_int_equal(clCreateSubDevices(device, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
}

/* Questions of each type have an answer of the right size. */
static void test_device_info(void **state)
{
    static const struct {
        cl_device_info what;
        size_t bytes;
    } known[] = {
        { CL_DEVICE_TYPE, 8 },
        { CL_DEVICE_VENDOR_ID, 4 },
        { CL_DEVICE_MAX_COMPUTE_UNITS, 4 },
        { CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4 },
        { CL_DEVICE_MAX_WORK_ITEM_SIZES, 24 },
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, 8 },
        { CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8 },
        { CL_DEVICE_IMAGE_SUPPORT, 4 },
        { CL_DEVICE_IMAGE2D_MAX_WIDTH, 8 },
        { CL_DEVICE_MAX_SAMPLERS, 4 },
        { CL_DEVICE_MAX_PARAMETER_SIZE, 8 },
        { CL_DEVICE_SINGLE_FP_CONFIG, 8 },
        { CL_DEVICE_DOUBLE_FP_CONFIG, 8 },
        { CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4 },
        { CL_DEVICE_GLOBAL_MEM_SIZE, 8 },
        { CL_DEVICE_LOCAL_MEM_TYPE, 4 },
        { CL_DEVICE_LOCAL_MEM_SIZE, 8 },
        { CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4 },
        { CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8 },
        { CL_DEVICE_EXECUTION_CAPABILITIES, 8 },
        { CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, 8 },
        { CL_DEVICE_PLATFORM, 8 },
        { CL_DEVICE_PRINTF_BUFFER_SIZE, 8 },
        { CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4 },
        { CL_DEVICE_SVM_CAPABILITIES, 8 },
        { CL_DEVICE_MAX_NUM_SUB_GROUPS, 4 },
        { CL_DEVICE_NUMERIC_VERSION, 4 },
        { CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, 8 },
        { CL_DEVICE_PIPE_SUPPORT, 4 },
        { CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 8 },
    };
    unsigned char value[64];
    size_t bytes;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        fx_ok(clGetDeviceInfo(fx_device, known[i].what, 0, NULL, &bytes));
        assert_int_equal(bytes, known[i].bytes);
        fx_ok(clGetDeviceInfo(fx_device, known[i].what, sizeof value, value, NULL));
        assert_int_equal(clGetDeviceInfo(fx_device, known[i].what, bytes - 1, value, NULL), CL_INVALID_VALUE);
    }
    assert_int_equal(clGetDeviceInfo(fx_device, 0x9999, 0, NULL, &bytes), CL_INVALID_VALUE);
}

static void test_timers(void **state)
{
    cl_ulong device, host, again;
    (void)state;
    fx_ok(clGetDeviceAndHostTimer(fx_device, &device, &host));
    fx_ok(clGetHostTimer(fx_device, &again));
    assert_true(again >= host);
    assert_int_equal(clGetHostTimer(fx_device, NULL), CL_INVALID_VALUE);
}

/* ----------------------------------------------------------------------------------------------- contexts */

static int destroyed;

static void CL_CALLBACK note_context(cl_context context, void *user_data)
{
    (void)context;
    destroyed = destroyed * 10 + (int)(intptr_t)user_data;
}

static void test_context(void **state)
{
    cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)fx_platform, 0 };
    cl_context_properties wrong[] = { 4711, 1, 0 }, back[3];
    cl_context context;
    cl_device_id device;
    cl_uint count;
    size_t bytes;
    cl_int error;
    (void)state;
    assert_null(clCreateContext(wrong, 1, &fx_device, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_PROPERTY);
    assert_null(clCreateContext(properties, 1, &fx_device, NULL, &error, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateContextFromType(properties, CL_DEVICE_TYPE_CPU, NULL, NULL, &error));
    assert_int_equal(error, CL_DEVICE_NOT_FOUND);
    context = clCreateContextFromType(properties, CL_DEVICE_TYPE_GPU, NULL, NULL, &error);
    fx_ok(error);
    fx_ok(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof back, back, &bytes));
    assert_int_equal(bytes, sizeof properties);
    assert_memory_equal(back, properties, sizeof back);
    fx_ok(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof count, &count, NULL));
    assert_int_equal(count, fx_device_count);
    fx_ok(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &bytes));
    assert_int_equal(bytes, fx_device_count * sizeof device);
    fx_ok(clRetainContext(context));
    fx_ok(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 2);
    fx_ok(clSetContextDestructorCallback(context, note_context, (void *)1));
    fx_ok(clSetContextDestructorCallback(context, note_context, (void *)2));
    assert_int_equal(clSetContextDestructorCallback(context, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clReleaseContext(context));
    assert_int_equal(destroyed, 0);
    fx_ok(clReleaseContext(context));
    assert_int_equal(destroyed, 21); /* the last one first */
}

/* ------------------------------------------------------------------------------------------------- queues */

static void test_queue(void **state)
{
    const cl_queue_properties on_device[] = { CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
    const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
    cl_queue_properties back[3];
    cl_command_queue_properties properties, old;
    cl_command_queue queue;
    cl_device_id device;
    size_t bytes;
    cl_uint count;
    cl_int error;
    (void)state;
    assert_null(clCreateCommandQueue(fx_context, fx_device, (cl_command_queue_properties)1 << 40, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateCommandQueueWithProperties(fx_context, fx_device, on_device, &error));
    assert_int_equal(error, CL_INVALID_QUEUE_PROPERTIES);
    queue = clCreateCommandQueueWithProperties(fx_context, fx_device, list, &error);
    fx_ok(error);
    fx_ok(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    assert_int_equal(properties, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    fx_ok(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof back, back, &bytes));
    assert_memory_equal(back, list, sizeof list);
    fx_ok(clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL));
    assert_ptr_equal(device, fx_device);
    assert_int_equal(clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof count, &count, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    fx_ok(clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &old));
    assert_int_equal(old, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    fx_ok(clRetainCommandQueue(queue));
    fx_ok(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 2);
    fx_ok(clReleaseCommandQueue(queue));
    fx_ok(clFlush(queue));
    fx_ok(clFinish(queue));
    fx_ok(clReleaseCommandQueue(queue));
}

static void test_null_objects(void **state)
{
    cl_int error;
    (void)state;
    assert_null(clCreateBuffer(NULL, 0, 1, NULL, &error));
    assert_int_equal(error, CL_INVALID_CONTEXT);
    assert_int_equal(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clReleaseMemObject(NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clReleaseKernel(NULL), CL_INVALID_KERNEL);
    assert_int_equal(clReleaseProgram(NULL), CL_INVALID_PROGRAM);
    assert_int_equal(clReleaseEvent(NULL), CL_INVALID_EVENT);
    assert_int_equal(clReleaseContext(NULL), CL_INVALID_CONTEXT);
    assert_null(clCreatePipe(fx_context, 0, 4, 4, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueNativeKernel(fx_queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL),
                     CL_INVALID_OPERATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_platform),     cmocka_unit_test(test_device_list),
        cmocka_unit_test(test_device_info),  cmocka_unit_test(test_timers),
        cmocka_unit_test(test_context),      cmocka_unit_test(test_queue),
        cmocka_unit_test(test_null_objects),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
