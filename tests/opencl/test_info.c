/* Every clGet*Info of OpenCL 1.2 with every name of the standard: the size alone, exact room, too little room,
 * invalid names, and objects of another kind. */
#include "opencl/fixture.h"

#include <string.h>

#define TEXT SIZE_MAX /* the size of an answer that is text: its length and one */
#define UNKNOWN 0x7bad
#define COUNT(table_) (sizeof(table_) / sizeof *(table_))

typedef struct question {
    cl_uint what;
    size_t bytes;
} question;

/* The queried object, with the function's other arguments. */
typedef struct subject {
    void *object;
    cl_uint index; /* of an argument */
} subject;
typedef cl_int (*asker)(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes);

static cl_program program;
static cl_kernel kernel;

static void ask_one(asker ask, const subject *s, const question *q)
{
    unsigned char value[2048];
    size_t bytes = SIZE_MAX, again = 0;
    fx_ok(ask(s, q->what, 0, NULL, &bytes));
    if (q->bytes != TEXT && bytes != q->bytes)
        fail_msg("0x%x has %zu bytes, not %zu", q->what, bytes, q->bytes);
    assert_true(bytes <= sizeof value);
    memset(value, 0xa5, sizeof value);
    fx_ok(ask(s, q->what, bytes, value, &again));
    assert_int_equal(again, bytes);
    assert_int_equal(value[bytes], 0xa5); /* nothing written past the answer */
    if (q->bytes == TEXT)
        assert_int_equal(strlen((const char *)value) + 1, bytes);
    fx_ok(ask(s, q->what, sizeof value, value, NULL));
    fx_ok(ask(s, q->what, 0, NULL, NULL));
    if (bytes > 0)
        assert_int_equal(ask(s, q->what, bytes - 1, value, &again), CL_INVALID_VALUE);
}

/* wrong: an object of another kind, or NULL if the loader itself would fall over it. */
static void ask_all(asker ask, const subject *s, const question *list, size_t count, void *wrong, cl_int code)
{
    unsigned char value[64];
    size_t bytes;
    for (size_t i = 0; i < count; i++)
        ask_one(ask, s, &list[i]);
    assert_int_equal(ask(s, UNKNOWN, sizeof value, value, &bytes), CL_INVALID_VALUE);
    if (wrong)
        assert_int_equal(ask(&(subject){ wrong, 0 }, list[0].what, sizeof value, value, &bytes), code);
}

/* ------------------------------------------------------------------------------ platform, device, context */

static cl_int ask_platform(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetPlatformInfo(s->object, what, room, value, bytes);
}

static void test_platform(void **state)
{
    static const question all[] = {
        { CL_PLATFORM_PROFILE, TEXT }, { CL_PLATFORM_VERSION, TEXT },    { CL_PLATFORM_NAME, TEXT },
        { CL_PLATFORM_VENDOR, TEXT },  { CL_PLATFORM_EXTENSIONS, TEXT }, { CL_PLATFORM_ICD_SUFFIX_KHR, TEXT },
    };
    (void)state;
    ask_all(ask_platform, &(subject){ fx_platform, 0 }, all, COUNT(all), fx_device, CL_INVALID_PLATFORM);
}

static cl_int ask_device(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetDeviceInfo(s->object, what, room, value, bytes);
}

static void test_device(void **state)
{
    static const question all[] = {
        { CL_DEVICE_TYPE, 8 },
        { CL_DEVICE_VENDOR_ID, 4 },
        { CL_DEVICE_MAX_COMPUTE_UNITS, 4 },
        { CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4 },
        { CL_DEVICE_MAX_WORK_ITEM_SIZES, 24 },
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, 8 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 4 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 4 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 4 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4 },
        { CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 4 },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 4 },
        { CL_DEVICE_MAX_CLOCK_FREQUENCY, 4 },
        { CL_DEVICE_ADDRESS_BITS, 4 },
        { CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8 },
        { CL_DEVICE_IMAGE_SUPPORT, 4 },
        { CL_DEVICE_MAX_READ_IMAGE_ARGS, 4 },
        { CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4 },
        { CL_DEVICE_IMAGE2D_MAX_WIDTH, 8 },
        { CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8 },
        { CL_DEVICE_IMAGE3D_MAX_WIDTH, 8 },
        { CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8 },
        { CL_DEVICE_IMAGE3D_MAX_DEPTH, 8 },
        { CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8 },
        { CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8 },
        { CL_DEVICE_MAX_SAMPLERS, 4 },
        { CL_DEVICE_MAX_PARAMETER_SIZE, 8 },
        { CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4 },
        { CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4 },
        { CL_DEVICE_SINGLE_FP_CONFIG, 8 },
        { CL_DEVICE_DOUBLE_FP_CONFIG, 8 },
        { CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4 },
        { CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4 },
        { CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8 },
        { CL_DEVICE_GLOBAL_MEM_SIZE, 8 },
        { CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8 },
        { CL_DEVICE_MAX_CONSTANT_ARGS, 4 },
        { CL_DEVICE_LOCAL_MEM_TYPE, 4 },
        { CL_DEVICE_LOCAL_MEM_SIZE, 8 },
        { CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4 },
        { CL_DEVICE_HOST_UNIFIED_MEMORY, 4 },
        { CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8 },
        { CL_DEVICE_ENDIAN_LITTLE, 4 },
        { CL_DEVICE_AVAILABLE, 4 },
        { CL_DEVICE_COMPILER_AVAILABLE, 4 },
        { CL_DEVICE_LINKER_AVAILABLE, 4 },
        { CL_DEVICE_EXECUTION_CAPABILITIES, 8 },
        { CL_DEVICE_QUEUE_PROPERTIES, 8 },
        { CL_DEVICE_BUILT_IN_KERNELS, TEXT },
        { CL_DEVICE_PLATFORM, 8 },
        { CL_DEVICE_NAME, TEXT },
        { CL_DEVICE_VENDOR, TEXT },
        { CL_DRIVER_VERSION, TEXT },
        { CL_DEVICE_PROFILE, TEXT },
        { CL_DEVICE_VERSION, TEXT },
        { CL_DEVICE_OPENCL_C_VERSION, TEXT },
        { CL_DEVICE_EXTENSIONS, TEXT },
        { CL_DEVICE_PRINTF_BUFFER_SIZE, 8 },
        { CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4 },
        { CL_DEVICE_PARENT_DEVICE, 8 },
        { CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4 },
        { CL_DEVICE_PARTITION_PROPERTIES, 16 },
        { CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 8 },
        { CL_DEVICE_PARTITION_TYPE, 0 },
        { CL_DEVICE_REFERENCE_COUNT, 4 },
    };
    (void)state;
    ask_all(ask_device, &(subject){ fx_device, 0 }, all, COUNT(all), fx_context, CL_INVALID_DEVICE);
}

/* The standard's minimum of a device of the full profile (OpenCL 1.2, table 4.3). */
static void test_minima(void **state)
{
    static const struct {
        cl_device_info what;
        cl_ulong least;
    } minima[] = {
        { CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3 },
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, 1 },
        { CL_DEVICE_MAX_READ_IMAGE_ARGS, 128 },
        { CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 8 },
        { CL_DEVICE_IMAGE2D_MAX_WIDTH, 8192 },
        { CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8192 },
        { CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048 },
        { CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048 },
        { CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 65536 },
        { CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048 },
        { CL_DEVICE_MAX_SAMPLERS, 16 },
        { CL_DEVICE_MAX_PARAMETER_SIZE, 1024 },
        { CL_DEVICE_MAX_MEM_ALLOC_SIZE, 128 << 20 },
        { CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 64 << 10 },
        { CL_DEVICE_MAX_CONSTANT_ARGS, 8 },
        { CL_DEVICE_LOCAL_MEM_SIZE, 32 << 10 },
        { CL_DEVICE_PRINTF_BUFFER_SIZE, 1 << 20 },
        { CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024 },
    };
    const cl_device_fp_config single = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
    const cl_device_fp_config full =
        single | CL_FP_FMA | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_DENORM;
    cl_device_fp_config config;
    (void)state;
    for (size_t i = 0; i < COUNT(minima); i++) {
        cl_ulong value = 0; /* the host is little-endian: the answer may be shorter */
        fx_ok(clGetDeviceInfo(fx_device, minima[i].what, sizeof value, &value, NULL));
        if (value < minima[i].least)
            fail_msg("0x%x is %llu", minima[i].what, (unsigned long long)value);
    }
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL));
    assert_int_equal(config & single, single);
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL));
    assert_int_equal(config & full, full);
}

static cl_int ask_context(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetContextInfo(s->object, what, room, value, bytes);
}

static cl_int ask_queue(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetCommandQueueInfo(s->object, what, room, value, bytes);
}

static void test_context_and_queue(void **state)
{
    const question of_context[] = {
        { CL_CONTEXT_REFERENCE_COUNT, 4 },
        { CL_CONTEXT_NUM_DEVICES, 4 },
        { CL_CONTEXT_DEVICES, fx_device_count * sizeof(cl_device_id) },
        { CL_CONTEXT_PROPERTIES, 0 },
    };
    static const question of_queue[] = {
        { CL_QUEUE_CONTEXT, 8 },
        { CL_QUEUE_DEVICE, 8 },
        { CL_QUEUE_REFERENCE_COUNT, 4 },
        { CL_QUEUE_PROPERTIES, 8 },
    };
    (void)state;
    ask_all(ask_context, &(subject){ fx_context, 0 }, of_context, COUNT(of_context), fx_queue,
            CL_INVALID_CONTEXT);
    ask_all(ask_queue, &(subject){ fx_queue, 0 }, of_queue, COUNT(of_queue), fx_context,
            CL_INVALID_COMMAND_QUEUE);
}

/* ------------------------------------------------------------------------------------------------- memory */

static cl_int ask_mem(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetMemObjectInfo(s->object, what, room, value, bytes);
}

static cl_int ask_image(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetImageInfo(s->object, what, room, value, bytes);
}

static cl_int ask_sampler(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetSamplerInfo(s->object, what, room, value, bytes);
}

static void test_mem(void **state)
{
    static const question all[] = {
        { CL_MEM_TYPE, 4 },      { CL_MEM_FLAGS, 8 },
        { CL_MEM_SIZE, 8 },      { CL_MEM_HOST_PTR, 8 },
        { CL_MEM_MAP_COUNT, 4 }, { CL_MEM_REFERENCE_COUNT, 4 },
        { CL_MEM_CONTEXT, 8 },   { CL_MEM_ASSOCIATED_MEMOBJECT, 8 },
        { CL_MEM_OFFSET, 8 },
    };
    cl_mem mem = fx_buffer(0, 64, NULL);
    (void)state;
    ask_all(ask_mem, &(subject){ mem, 0 }, all, COUNT(all), fx_context, CL_INVALID_MEM_OBJECT);
    assert_int_equal(clGetImageInfo(mem, CL_IMAGE_WIDTH, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    fx_ok(clReleaseMemObject(mem));
}

static size_t image_size(cl_mem image, cl_image_info what)
{
    size_t value = SIZE_MAX;
    fx_ok(clGetImageInfo(image, what, sizeof value, &value, NULL));
    return value;
}

static void test_image(void **state)
{
    static const question all[] = {
        { CL_IMAGE_FORMAT, sizeof(cl_image_format) },
        { CL_IMAGE_ELEMENT_SIZE, 8 },
        { CL_IMAGE_ROW_PITCH, 8 },
        { CL_IMAGE_SLICE_PITCH, 8 },
        { CL_IMAGE_WIDTH, 8 },
        { CL_IMAGE_HEIGHT, 8 },
        { CL_IMAGE_DEPTH, 8 },
        { CL_IMAGE_ARRAY_SIZE, 8 },
        { CL_IMAGE_BUFFER, 8 },
        { CL_IMAGE_NUM_MIP_LEVELS, 4 },
        { CL_IMAGE_NUM_SAMPLES, 4 },
    };
    const cl_image_format format = { CL_RGBA, CL_FLOAT };
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 5, .image_height = 3, .image_array_size = 2
    };
    cl_int error;
    cl_mem image = clCreateImage(fx_context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    (void)state;
    fx_ok(error);
    ask_all(ask_image, &(subject){ image, 0 }, all, COUNT(all), fx_context, CL_INVALID_MEM_OBJECT);
    assert_int_equal(image_size(image, CL_IMAGE_ELEMENT_SIZE), 16);
    assert_int_equal(image_size(image, CL_IMAGE_ROW_PITCH), 80);
    assert_int_equal(image_size(image, CL_IMAGE_SLICE_PITCH), 240);
    assert_int_equal(image_size(image, CL_IMAGE_WIDTH), 5);
    assert_int_equal(image_size(image, CL_IMAGE_HEIGHT), 3);
    assert_int_equal(image_size(image, CL_IMAGE_DEPTH), 0);
    assert_int_equal(image_size(image, CL_IMAGE_ARRAY_SIZE), 2);
    fx_ok(clReleaseMemObject(image));
}

static void test_sampler(void **state)
{
    static const question all[] = {
        { CL_SAMPLER_REFERENCE_COUNT, 4 }, { CL_SAMPLER_CONTEXT, 8 },     { CL_SAMPLER_NORMALIZED_COORDS, 4 },
        { CL_SAMPLER_ADDRESSING_MODE, 4 }, { CL_SAMPLER_FILTER_MODE, 4 },
    };
    cl_addressing_mode mode;
    cl_int error;
    cl_sampler sampler = clCreateSampler(fx_context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
    (void)state;
    fx_ok(error);
    ask_all(ask_sampler, &(subject){ sampler, 0 }, all, COUNT(all), fx_context, CL_INVALID_SAMPLER);
    fx_ok(clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof mode, &mode, NULL));
    assert_int_equal(mode, CL_ADDRESS_REPEAT);
    fx_ok(clReleaseSampler(sampler));
}

/* ----------------------------------------------------------------------------------- programs and kernels */

static cl_int ask_program(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetProgramInfo(s->object, what, room, value, bytes);
}

static cl_int ask_build(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetProgramBuildInfo(s->object, fx_device, what, room, value, bytes);
}

static void test_program(void **state)
{
    const question all[] = {
        { CL_PROGRAM_REFERENCE_COUNT, 4 }, { CL_PROGRAM_CONTEXT, 8 },
        { CL_PROGRAM_NUM_DEVICES, 4 },     { CL_PROGRAM_DEVICES, fx_device_count * sizeof(cl_device_id) },
        { CL_PROGRAM_SOURCE, TEXT },       { CL_PROGRAM_BINARY_SIZES, fx_device_count * sizeof(size_t) },
        { CL_PROGRAM_NUM_KERNELS, 8 },     { CL_PROGRAM_KERNEL_NAMES, TEXT },
    };
    static const question of_build[] = {
        { CL_PROGRAM_BUILD_STATUS, 4 },
        { CL_PROGRAM_BUILD_OPTIONS, TEXT },
        { CL_PROGRAM_BUILD_LOG, TEXT },
        { CL_PROGRAM_BINARY_TYPE, 4 },
        { CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, 8 },
    };
    unsigned char *none[16] = { NULL };
    cl_build_status status;
    size_t bytes;
    (void)state;
    ask_all(ask_program, &(subject){ program, 0 }, all, COUNT(all), fx_context, CL_INVALID_PROGRAM);
    ask_all(ask_build, &(subject){ program, 0 }, of_build, COUNT(of_build), fx_context, CL_INVALID_PROGRAM);
    /* An array of places; NULL: not this one. */
    fx_ok(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof none, none, &bytes));
    assert_int_equal(bytes, fx_device_count * sizeof *none);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARIES, 1, none, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetProgramBuildInfo(program, NULL, CL_PROGRAM_BUILD_LOG, 0, NULL, NULL),
                     CL_INVALID_DEVICE);
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_BUILD_SUCCESS);
}

static cl_int ask_kernel(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetKernelInfo(s->object, what, room, value, bytes);
}

static cl_int ask_argument(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetKernelArgInfo(s->object, s->index, what, room, value, bytes);
}

static cl_int ask_group(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetKernelWorkGroupInfo(s->object, fx_device, what, room, value, bytes);
}

static void test_kernel(void **state)
{
    static const question all[] = {
        { CL_KERNEL_FUNCTION_NAME, TEXT }, { CL_KERNEL_NUM_ARGS, 4 }, { CL_KERNEL_REFERENCE_COUNT, 4 },
        { CL_KERNEL_CONTEXT, 8 },          { CL_KERNEL_PROGRAM, 8 },  { CL_KERNEL_ATTRIBUTES, TEXT },
    };
    static const question of_argument[] = {
        { CL_KERNEL_ARG_ADDRESS_QUALIFIER, 4 }, { CL_KERNEL_ARG_ACCESS_QUALIFIER, 4 },
        { CL_KERNEL_ARG_TYPE_NAME, TEXT },      { CL_KERNEL_ARG_TYPE_QUALIFIER, 8 },
        { CL_KERNEL_ARG_NAME, TEXT },
    };
    static const question of_group[] = {
        { CL_KERNEL_WORK_GROUP_SIZE, 8 },  { CL_KERNEL_COMPILE_WORK_GROUP_SIZE, 24 },
        { CL_KERNEL_LOCAL_MEM_SIZE, 8 },   { CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, 8 },
        { CL_KERNEL_PRIVATE_MEM_SIZE, 8 },
    };
    size_t sizes[3];
    (void)state;
    ask_all(ask_kernel, &(subject){ kernel, 0 }, all, COUNT(all), fx_context, CL_INVALID_KERNEL);
    for (cl_uint i = 0; i < 2; i++)
        ask_all(ask_argument, &(subject){ kernel, i }, of_argument, COUNT(of_argument), fx_context,
                CL_INVALID_KERNEL);
    assert_int_equal(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_NAME, 0, NULL, NULL), CL_INVALID_ARG_INDEX);
    ask_all(ask_group, &(subject){ kernel, 0 }, of_group, COUNT(of_group), fx_context, CL_INVALID_KERNEL);
    assert_int_equal(clGetKernelWorkGroupInfo(kernel, (cl_device_id)(void *)fx_context,
                                              CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, NULL),
                     CL_INVALID_DEVICE);
    /* Only for kernels that are built into a device, and custom devices. */
    assert_int_equal(clGetKernelWorkGroupInfo(kernel, fx_device, CL_KERNEL_GLOBAL_WORK_SIZE, sizeof sizes,
                                              sizes, NULL),
                     CL_INVALID_VALUE);
}

/* Without the build option programs must not rely on it. */
static void test_no_argument_info(void **state)
{
    cl_program plain = fx_build("kernel void k(global int *o) { *o = 1; }", "");
    cl_kernel k = fx_kernel(plain, "k");
    char text[64];
    (void)state;
    assert_int_equal(clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, sizeof text, text, NULL),
                     CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
    fx_ok(clReleaseKernel(k));
    fx_ok(clReleaseProgram(plain));
}

/* ------------------------------------------------------------------------------------------------- events */

static cl_int ask_event(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetEventInfo(s->object, what, room, value, bytes);
}

static cl_int ask_profile(const subject *s, cl_uint what, size_t room, void *value, size_t *bytes)
{
    return clGetEventProfilingInfo(s->object, what, room, value, bytes);
}

static void test_event(void **state)
{
    static const question all[] = {
        { CL_EVENT_COMMAND_QUEUE, 8 },   { CL_EVENT_CONTEXT, 8 },
        { CL_EVENT_COMMAND_TYPE, 4 },    { CL_EVENT_COMMAND_EXECUTION_STATUS, 4 },
        { CL_EVENT_REFERENCE_COUNT, 4 },
    };
    static const question of_profile[] = {
        { CL_PROFILING_COMMAND_QUEUED, 8 },
        { CL_PROFILING_COMMAND_SUBMIT, 8 },
        { CL_PROFILING_COMMAND_START, 8 },
        { CL_PROFILING_COMMAND_END, 8 },
    };
    cl_event event, user;
    cl_ulong time;
    cl_int error;
    (void)state;
    fx_ok(clEnqueueMarkerWithWaitList(fx_queue, 0, NULL, &event));
    fx_ok(clWaitForEvents(1, &event));
    ask_all(ask_event, &(subject){ event, 0 }, all, COUNT(all), fx_context, CL_INVALID_EVENT);
    ask_all(ask_profile, &(subject){ event, 0 }, of_profile, COUNT(of_profile), fx_context, CL_INVALID_EVENT);
    user = clCreateUserEvent(fx_context, &error);
    fx_ok(error);
    assert_int_equal(clGetEventProfilingInfo(user, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    fx_ok(clReleaseEvent(user));
    fx_ok(clReleaseEvent(event));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    fx_need_compiler();
    if (result == 0) {
        program =
            fx_build("kernel void k(global const int * restrict in, float4 v) {}", "-cl-kernel-arg-info");
        kernel = fx_kernel(program, "k");
    }
    return result;
}

static int teardown(void **state)
{
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return fx_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_platform), cmocka_unit_test(test_device),
        cmocka_unit_test(test_minima),   cmocka_unit_test(test_context_and_queue),
        cmocka_unit_test(test_mem),      cmocka_unit_test(test_image),
        cmocka_unit_test(test_sampler),  cmocka_unit_test(test_program),
        cmocka_unit_test(test_kernel),   cmocka_unit_test(test_no_argument_info),
        cmocka_unit_test(test_event),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
