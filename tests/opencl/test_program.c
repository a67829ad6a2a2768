/* Programs: building with options, logs, binaries, compiling and linking, headers, and the cache. */
#include "opencl/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int run_one(cl_program program, const char *name)
{
    int value = -1;
    cl_kernel kernel = fx_kernel(program, name);
    cl_mem out = fx_buffer(0, sizeof value, NULL);
    fx_set(kernel, 0, out);
    fx_run(kernel, 1, 1);
    fx_read(out, &value, sizeof value);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clReleaseMemObject(out));
    return value;
}

static cl_program create(const char *text)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(fx_context, 1, &text, NULL, &error);
    fx_ok(error);
    return program;
}

static void test_sources(void **state)
{
    const char *texts[] = { "kernel void k(glob", "al int *o) {@@@", " o[0] = 7; }" };
    const size_t lengths[] = { 0, 12, 0 };
    cl_program program;
    char text[128];
    cl_uint count;
    size_t kernels;
    cl_int error;
    (void)state;
    program = clCreateProgramWithSource(fx_context, 3, texts, lengths, &error);
    fx_ok(error);
    assert_null(clCreateProgramWithSource(fx_context, 0, texts, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateKernel(program, "k", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL),
                     CL_INVALID_PROGRAM_EXECUTABLE);
    fx_ok(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    assert_int_equal(run_one(program, "k"), 7);
    fx_ok(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, NULL));
    assert_string_equal(text, "kernel void k(global int *o) { o[0] = 7; }");
    fx_ok(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    assert_string_equal(text, "k");
    fx_ok(clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, NULL));
    assert_int_equal(count, fx_device_count);
    assert_null(clCreateKernel(program, "other", &error));
    assert_int_equal(error, CL_INVALID_KERNEL_NAME);
    fx_ok(clCreateKernelsInProgram(program, 0, NULL, &count));
    assert_int_equal(count, 1);
    fx_ok(clReleaseProgram(program));
}

static void test_options(void **state)
{
    static const char text[] = "kernel void k(global int *o) { o[0] = A + B; }";
    cl_program program = create(text);
    cl_build_status status;
    char back[128];
    (void)state;
    fx_ok(clBuildProgram(program, 1, &fx_device, "-D A=40 -DB=2 -cl-fast-relaxed-math -w", NULL, NULL));
    assert_int_equal(run_one(program, "k"), 42);
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_OPTIONS, sizeof back, back, NULL));
    assert_string_equal(back, "-D A=40 -DB=2 -cl-fast-relaxed-math -w");
    fx_ok(clBuildProgram(program, 0, NULL, "-D \"A=(1 + 1)\" -DB=3 -cl-opt-disable", NULL, NULL));
    assert_int_equal(run_one(program, "k"), 5);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-cl-fast-relaxed-maths", NULL, NULL),
                     CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-cl-std=CL9.9", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-D", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(clBuildProgram(program, 0, &fx_device, "", NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_BUILD_ERROR);
    fx_ok(clReleaseProgram(program));
}

static int called;

static void CL_CALLBACK note_build(cl_program program, void *user_data)
{
    (void)program;
    called += *(int *)user_data;
}

static void test_log(void **state)
{
    cl_program program = create("kernel void k(global int *o) { o[0] = missing; }");
    cl_program warns = create("kernel void k(global int *o) { int unused; o[0] = 1; }\n#warning careful\n");
    cl_program undefined = create("int f(int); kernel void k(global int *o) { o[0] = f(1); }");
    cl_build_status status;
    char log[2048];
    int one = 1;
    (void)state;
    assert_int_equal(clBuildProgram(program, 0, NULL, "", note_build, &one), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(called, 1);
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    assert_int_equal(status, CL_BUILD_ERROR);
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "undeclared identifier 'missing'"));
    for (int again = 0; again < 2; again++) { /* the second time from the cache */
        fx_ok(clBuildProgram(warns, 0, NULL, "", NULL, NULL));
        fx_ok(clGetProgramBuildInfo(warns, fx_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
        assert_non_null(strstr(log, "careful"));
    }
    assert_int_equal(clBuildProgram(warns, 0, NULL, "-Werror", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(clBuildProgram(undefined, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    fx_ok(clGetProgramBuildInfo(undefined, fx_device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    assert_non_null(strstr(log, "undefined"));
    fx_ok(clReleaseProgram(program));
    fx_ok(clReleaseProgram(warns));
    fx_ok(clReleaseProgram(undefined));
}

static void test_rebuild_with_kernels(void **state)
{
    cl_program program = fx_build("kernel void k(global int *o) { o[0] = 1; }", "");
    cl_kernel kernel = fx_kernel(program, "k");
    (void)state;
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_INVALID_OPERATION);
    fx_ok(clReleaseKernel(kernel));
    fx_ok(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    fx_ok(clReleaseProgram(program));
}

static void test_binary(void **state)
{
    cl_program built = fx_build("kernel void k(global int *o) { o[0] = 99; }", ""), program;
    unsigned char *binaries[16] = { NULL };
    const unsigned char *given, *bad = (const unsigned char *)"not a program at all";
    size_t sizes[16], bad_bytes = 20;
    cl_int status, error;
    (void)state;
    fx_ok(clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL));
    assert_true(sizes[0] > 100);
    binaries[0] = malloc(sizes[0]);
    fx_ok(clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL));
    given = binaries[0];
    program = clCreateProgramWithBinary(fx_context, 1, &fx_device, sizes, &given, &status, &error);
    fx_ok(error);
    fx_ok(status);
    fx_ok(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    assert_int_equal(run_one(program, "k"), 99);
    assert_null(clCreateProgramWithBinary(fx_context, 1, &fx_device, &bad_bytes, &bad, &status, &error));
    assert_int_equal(error, CL_INVALID_BINARY);
    assert_int_equal(status, CL_INVALID_BINARY);
    sizes[0] /= 2; /* cut off */
    assert_null(clCreateProgramWithBinary(fx_context, 1, &fx_device, sizes, &given, &status, &error));
    assert_int_equal(error, CL_INVALID_BINARY);
    free(binaries[0]);
    fx_ok(clReleaseProgram(program));
    fx_ok(clReleaseProgram(built));
}

static void test_compile_link(void **state)
{
    cl_program main_part = create("#include \"part.h\"\nkernel void k(global int *o) { o[0] = twice(BASE); }");
    cl_program other =
        create("int twice(int x) { return 2 * x; } kernel void second(global int *o) { *o = 3; }");
    cl_program header = create("#define BASE 21\nint twice(int x);\n"), parts[2], linked, library;
    const char *name = "part.h";
    cl_program_binary_type type;
    cl_int error;
    (void)state;
    assert_int_equal(clCompileProgram(main_part, 0, NULL, "", 1, &header, NULL, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clCompileProgram(main_part, 0, NULL, "-create-library", 1, &header, &name, NULL, NULL),
                     CL_INVALID_COMPILER_OPTIONS);
    assert_int_equal(clCompileProgram(main_part, 0, NULL, "", 0, NULL, NULL, NULL, NULL),
                     CL_COMPILE_PROGRAM_FAILURE);
    fx_ok(clCompileProgram(main_part, 0, NULL, "", 1, &header, &name, NULL, NULL));
    fx_ok(clGetProgramBuildInfo(main_part, fx_device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    parts[0] = main_part;
    parts[1] = other;
    assert_null(clLinkProgram(fx_context, 0, NULL, "", 2, parts, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION); /* one is not compiled yet */
    fx_ok(clCompileProgram(other, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
    linked = clLinkProgram(fx_context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    fx_ok(error);
    assert_int_equal(run_one(linked, "k"), 42);
    assert_int_equal(run_one(linked, "second"), 3);
    fx_ok(clReleaseProgram(linked));
    assert_null(clLinkProgram(fx_context, 0, NULL, "-x", 2, parts, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_LINKER_OPTIONS);
    library = clLinkProgram(fx_context, 0, NULL, "-create-library", 1, &other, NULL, NULL, &error);
    fx_ok(error);
    fx_ok(clGetProgramBuildInfo(library, fx_device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_LIBRARY);
    parts[1] = library;
    linked = clLinkProgram(fx_context, 0, NULL, "", 2, parts, NULL, NULL, &error);
    fx_ok(error);
    assert_int_equal(run_one(linked, "k"), 42);
    fx_ok(clReleaseProgram(linked));
    linked = clLinkProgram(fx_context, 0, NULL, "", 1, &main_part, NULL, NULL, &error);
    assert_int_equal(error, CL_LINK_PROGRAM_FAILURE); /* twice is missing */
    fx_ok(clReleaseProgram(linked));
    fx_ok(clReleaseProgram(library));
    fx_ok(clReleaseProgram(main_part));
    fx_ok(clReleaseProgram(other));
    fx_ok(clReleaseProgram(header));
}

/* Variables of the program: initialised, not, and of one file only; constants and unbuilt programs have
 * none. */
static void test_variables(void **state)
{
    static const char text[] = "global int counter = 5;\n"
                               "global int table[10];\n"
                               "constant int primes[4] = { 2, 3, 5, 7 };\n"
                               "static global char bytes[3];\n"
                               "kernel void k(global int *o)\n"
                               "{\n"
                               "    table[o[0] & 7] = counter++;\n"
                               "    bytes[o[0] & 1] = (char)primes[o[0] & 3];\n"
                               "    o[0] = table[o[1] & 7] + bytes[o[1] & 1];\n"
                               "}\n";
    cl_program program = create(text);
    size_t bytes = 99;
    (void)state;
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes,
                                &bytes, NULL));
    assert_int_equal(bytes, 0);
    fx_ok(clBuildProgram(program, 0, NULL, "-cl-std=CL2.0", NULL, NULL));
    fx_ok(clGetProgramBuildInfo(program, fx_device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof bytes,
                                &bytes, NULL));
    assert_int_equal(bytes, 4 + 40 + 3);
    fx_ok(clReleaseProgram(program));
}

/* A file that is included may change under a cached program. */
static void test_includes(void **state)
{
    static const char text[] = "#include \"value.h\"\nkernel void k(global int *o) { o[0] = VALUE; }";
    char folder[] = P_tmpdir "/lockstep-test-XXXXXX", path[64], options[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/value.h", folder);
    snprintf(options, sizeof options, "-I %s", folder);
    for (int value = 1; value <= 3; value++) {
        FILE *file = fopen(path, "w");
        cl_program program;
        assert_non_null(file);
        fprintf(file, "#define VALUE %d\n", value);
        fclose(file);
        program = fx_build(text, options);
        assert_int_equal(run_one(program, "k"), value);
        fx_ok(clReleaseProgram(program));
    }
    unlink(path);
    rmdir(folder);
}

static int setup(void **state)
{
    fx_need_compiler();
    return fx_setup(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources),  cmocka_unit_test(test_options),
        cmocka_unit_test(test_log),      cmocka_unit_test(test_rebuild_with_kernels),
        cmocka_unit_test(test_binary),   cmocka_unit_test(test_compile_link),
        cmocka_unit_test(test_includes), cmocka_unit_test(test_variables),
    };
    return cmocka_run_group_tests(tests, setup, fx_teardown);
}
