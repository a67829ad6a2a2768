/* test_printf.c: printf of kernels, from the source to standard output, on all targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPUS 3

static cl_device_id devices[GPUS];

static int set_up(void **state)
{
    cl_platform_id platform;
    (void)state;
    setenv("LOCKSTEP_GPU", "gfx803,gfx1010,gfx1030", 1);
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS)
        return -1;
    return clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, GPUS, devices, NULL);
}

/* Runs the kernel "f" with count work-items in one group; `text` receives its output. False: no compiler. */
static int run(unsigned gpu, const char *source, const char *options, size_t count, char *text, size_t room)
{
    cl_int code;
    char log[2000] = "";
    cl_context context = clCreateContext(NULL, 1, &devices[gpu], NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_command_queue queue = clCreateCommandQueue(context, devices[gpu], 0, &code);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    code = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (code == CL_SUCCESS) {
        cl_kernel kernel = clCreateKernel(program, "f", &code);
        assert_int_equal(code, CL_SUCCESS);
        FILE *file = tmpfile();
        assert_non_null(file);
        fflush(stdout);
        int saved = dup(STDOUT_FILENO);
        dup2(fileno(file), STDOUT_FILENO);
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, &count, 0, NULL, NULL);
        cl_int finished = clFinish(queue);
        fflush(stdout);
        dup2(saved, STDOUT_FILENO);
        close(saved);
        assert_int_equal(code, CL_SUCCESS);
        assert_int_equal(finished, CL_SUCCESS);
        rewind(file);
        text[fread(text, 1, room - 1, file)] = '\0';
        fclose(file);
        clReleaseKernel(kernel);
    } else if (code != CL_COMPILER_NOT_AVAILABLE) {
        clGetProgramBuildInfo(program, devices[gpu], CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("%s", log);
    }
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return code == CL_SUCCESS;
}

static void conversions(void **state)
{
    (void)state;
    static const char source[] =
        "constant char format[] = \"%s %c|\\n\";\n"
        "void helper(int n) { printf(\"help %d\\n\", n); }\n"
        "kernel void f(void) {\n"
        "    char c = -3; uchar u = 200; short s = -300; ulong l = 1ul << 40; float x = 1.5f;\n"
        "    printf(\"plain\\n\");\n"
        "    printf(\"%d %u %d %lu %x %5.2f\\n\", c, u, s, l, 0xbeef, x);\n"
        "    printf(\"%v4hlf %v2d %v3hhd\\n\", (float4)(1, 2, 3, 4), (int2)(-1, 7), (char3)(1, 2, -3));\n"
        "    printf(format, \"word\", 'z');\n"
        "    helper(printf(\"100%%\\n\") + 9);\n"
        "}\n";
    char text[1000];
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        if (!run(gpu, source, "-Werror", 1, text, sizeof text))
            skip();
        assert_string_equal(text, "plain\n-3 200 -300 1099511627776 beef  1.50\n"
                                  "1.000000,2.000000,3.000000,4.000000 -1,7 1,2,-3\nword z|\n100%\nhelp 9\n");
    }
}

/* Each work-item's line is there, and divergent ones too. */
static void lanes(void **state)
{
    (void)state;
    static const char source[] =
        "kernel void f(void) { int i = get_global_id(0); if (i % 3 == 1) printf(\"<%d>\", i); }\n";
    char text[2000], want[16];
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        if (!run(gpu, source, "-cl-std=CL2.0", 100, text, sizeof text))
            skip();
        size_t bytes = 0;
        for (int i = 1; i < 100; i += 3) {
            snprintf(want, sizeof want, "<%d>", i);
            assert_non_null(strstr(text, want));
            bytes += strlen(want);
        }
        assert_int_equal(strlen(text), bytes);
    }
}

/* Output beyond the buffer's size is lost, and printf returns an error to the kernel. */
static void flood(void **state)
{
    (void)state;
    static const char source[] = "kernel void f(void) {\n"
                                 "    int lost = 0;\n"
                                 "    for (int i = 0; i < 60000; i++) lost += printf(\"\", i) != 0;\n"
                                 "    if (lost == 0 || lost > 30000) printf(\"%d\\n\", lost);\n"
                                 "}\n";
    char text[100];
    if (!run(1, source, "", 1, text, sizeof text))
        skip();
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversions),
        cmocka_unit_test(lanes),
        cmocka_unit_test(flood),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
