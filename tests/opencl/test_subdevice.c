/* Sub-devices: equal parts and parts by count, what they say, kernels on them, errors. */
#include "opencl/fixture.h"

#include <string.h>

static cl_uint units_of(cl_device_id device)
{
    cl_uint units;
    fx_ok(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    return units;
}

static void parts(void **state)
{
    const cl_uint units = units_of(fx_device);
    const cl_device_partition_property halves[] = { CL_DEVICE_PARTITION_EQUALLY, units / 2, 0 };
    const cl_device_partition_property counts[] = { CL_DEVICE_PARTITION_BY_COUNTS, 1, 3,
                                                    CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0 };
    cl_device_partition_property ways[4] = { 0 }, how[8];
    cl_device_id out[16], parent;
    cl_uint count, most, references;
    size_t bytes;
    (void)state;
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_PARTITION_PROPERTIES, sizeof ways, ways, NULL));
    assert_int_equal(ways[0], CL_DEVICE_PARTITION_EQUALLY);
    assert_int_equal(ways[1], CL_DEVICE_PARTITION_BY_COUNTS);
    fx_ok(clGetDeviceInfo(fx_device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof most, &most, NULL));
    assert_true(most >= 2 && most <= units);
    fx_ok(clCreateSubDevices(fx_device, halves, 0, NULL, &count));
    assert_int_equal(count, 2);
    fx_ok(clCreateSubDevices(fx_device, halves, 16, out, NULL));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(units_of(out[i]), units / 2);
        fx_ok(clGetDeviceInfo(out[i], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL));
        assert_ptr_equal(parent, fx_device);
        fx_ok(clGetDeviceInfo(out[i], CL_DEVICE_PARTITION_TYPE, sizeof how, how, &bytes));
        assert_int_equal(bytes, sizeof halves);
        assert_memory_equal(how, halves, sizeof halves);
        fx_ok(clRetainDevice(out[i]));
        fx_ok(clGetDeviceInfo(out[i], CL_DEVICE_REFERENCE_COUNT, sizeof references, &references, NULL));
        assert_int_equal(references, 2);
        fx_ok(clReleaseDevice(out[i]));
        fx_ok(clReleaseDevice(out[i]));
    }
    fx_ok(clCreateSubDevices(fx_device, counts, 2, out, &count));
    assert_int_equal(count, 2);
    assert_int_equal(units_of(out[0]), 1);
    assert_int_equal(units_of(out[1]), 3);
    /* A part of a part; one compute unit cannot be divided. */
    const cl_device_partition_property ones[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
    fx_refused(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(out[0], ones, 16, out + 2, NULL));
    fx_ok(clCreateSubDevices(out[1], ones, 16, out + 2, &count));
    assert_int_equal(count, 3);
    for (cl_uint i = 0; i < 5; i++)
        fx_ok(clReleaseDevice(out[i]));
}

static void errors(void **state)
{
    const cl_uint units = units_of(fx_device);
    const cl_device_partition_property none[] = { 0 }, zero[] = { CL_DEVICE_PARTITION_EQUALLY, 0, 0 },
                                       whole[] = { CL_DEVICE_PARTITION_EQUALLY, units, 0 },
                                       large[] = { CL_DEVICE_PARTITION_EQUALLY, units + 1, 0 },
                                       domain[] = { CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN,
                                                    CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0 },
                                       many[] = { CL_DEVICE_PARTITION_BY_COUNTS, units, 1, 0 },
                                       halves[] = { CL_DEVICE_PARTITION_EQUALLY, units / 2, 0 };
    cl_device_id out[2];
    (void)state;
    fx_refused(CL_INVALID_VALUE, clCreateSubDevices(fx_device, NULL, 2, out, NULL));
    fx_refused(CL_INVALID_VALUE, clCreateSubDevices(fx_device, none, 2, out, NULL));
    fx_refused(CL_INVALID_VALUE, clCreateSubDevices(fx_device, zero, 2, out, NULL));
    fx_refused(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(fx_device, large, 2, out, NULL));
    fx_refused(CL_INVALID_VALUE, clCreateSubDevices(fx_device, domain, 2, out, NULL));
    fx_refused(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(fx_device, many, 2, out, NULL));
    fx_refused(CL_INVALID_VALUE, clCreateSubDevices(fx_device, halves, 1, out, NULL));
    fx_refused(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(fx_device, whole, 2, out, NULL));
    fx_refused(CL_INVALID_DEVICE, clCreateSubDevices((cl_device_id)fx_queue, halves, 2, out, NULL));
}

/* Two parts share a buffer and divide its work. The estimated time of a part is that of its compute units. */
static void work(void **state)
{
    const cl_uint units = units_of(fx_device);
    const cl_device_partition_property counts[] = { CL_DEVICE_PARTITION_BY_COUNTS, 1, units - 1, 0 };
    static const char source[] = "kernel void k(global int *p) { int i = get_global_id(0), s = 0;\n"
                                 "    for (int n = 0; n < 500; n++) s += (i * n) ^ s;\n"
                                 "    p[i] = s == 12345 ? 1 : i * 3; }\n";
    enum { ITEMS = 4096 };
    cl_device_id out[2];
    cl_event events[2];
    cl_ulong spent[2];
    static int values[ITEMS];
    cl_int error;
    (void)state;
    fx_ok(clCreateSubDevices(fx_device, counts, 2, out, NULL));
    cl_context context = clCreateContext(NULL, 2, out, NULL, NULL, &error);
    fx_ok(error);
    fx_ok(clReleaseDevice(out[0])); /* the context keeps them */
    fx_ok(clReleaseDevice(out[1]));
    cl_program program = clCreateProgramWithSource(context, 1, &(const char *){ source }, NULL, &error);
    fx_ok(error);
    fx_ok(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    fx_ok(error);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof values, NULL, &error);
    fx_ok(error);
    fx_set(kernel, 0, buffer);
    for (int i = 0; i < 2; i++) {
        cl_command_queue queue = clCreateCommandQueue(context, out[i], CL_QUEUE_PROFILING_ENABLE, &error);
        const size_t offset = (size_t)i * ITEMS / 2, grid = ITEMS / 2, group = 64;
        cl_ulong start, end;
        fx_ok(error);
        fx_ok(clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &grid, &group, 0, NULL, &events[i]));
        fx_ok(clFinish(queue));
        fx_ok(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
        fx_ok(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
        spent[i] = end - start;
        fx_ok(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
        fx_ok(clReleaseEvent(events[i]));
        fx_ok(clReleaseCommandQueue(queue));
    }
    for (int i = 0; i < ITEMS; i++)
        assert_true(values[i] == i * 3 || values[i] == 1);
    assert_true(spent[0] > 2 * spent[1]);
    fx_ok(clReleaseMemObject(buffer));
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseProgram(program));
    fx_ok(clReleaseContext(context));
}

static int setup(void **state)
{
    int result = fx_setup(state);
    fx_need_compiler();
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(errors),
        cmocka_unit_test(work),
    };
    return cmocka_run_group_tests(tests, setup, fx_teardown);
}
