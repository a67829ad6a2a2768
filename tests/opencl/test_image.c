/* test_image.c: images and samplers through the OpenCL interface, on all targets: moving texels, kernels that
 * read, write and query them, and the codes of wrong calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS 3

static cl_device_id devices[GPUS];
static cl_context context;
static cl_command_queue queues[GPUS];

static const cl_image_format rgba8 = { CL_RGBA, CL_UNORM_INT8 }, r32 = { CL_R, CL_UNSIGNED_INT32 },
                             rgba32f = { CL_RGBA, CL_FLOAT };

#define OK(call_) assert_int_equal((call_), CL_SUCCESS)

static int set_up(void **state)
{
    cl_platform_id platform;
    cl_int code;
    (void)state;
    setenv("LOCKSTEP_GPU", "gfx803,gfx1010,gfx1030", 1);
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, GPUS, devices, NULL) != CL_SUCCESS)
        return -1;
    context = clCreateContext(NULL, GPUS, devices, NULL, NULL, &code);
    for (unsigned i = 0; i < GPUS && code == CL_SUCCESS; i++)
        queues[i] = clCreateCommandQueue(context, devices[i], 0, &code);
    return code;
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < GPUS; i++)
        clReleaseCommandQueue(queues[i]);
    return clReleaseContext(context);
}

static cl_mem create(cl_mem_object_type type, const cl_image_format *format, size_t width, size_t height,
                     size_t depth, cl_mem_flags flags, void *host)
{
    cl_int code;
    cl_image_desc desc = { .image_type = type, .image_width = width, .image_height = height };
    bool is_array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    if (is_array)
        desc.image_array_size = depth;
    else
        desc.image_depth = depth;
    cl_mem image = clCreateImage(context, flags, format, &desc, host, &code);
    assert_int_equal(code, CL_SUCCESS);
    return image;
}

/* Builds for one device; NULL where there is no compiler, which the caller skips for. */
static cl_kernel build(unsigned gpu, const char *source, const char *name)
{
    cl_int code;
    char log[2000] = "";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    code = clBuildProgram(program, 1, &devices[gpu], "", NULL, NULL);
    if (code == CL_COMPILER_NOT_AVAILABLE) {
        clReleaseProgram(program);
        return NULL;
    }
    clGetProgramBuildInfo(program, devices[gpu], CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    if (code != CL_SUCCESS)
        fail_msg("%s", log);
    cl_kernel kernel = clCreateKernel(program, name, &code);
    assert_int_equal(code, CL_SUCCESS);
    clReleaseProgram(program);
    return kernel;
}

/* ------------------------------------------------------------------------------------------ moving texels */

static void boxes(void **state)
{
    (void)state;
    uint32_t in[4][5][7], out[2][3][8], color[4] = { 77, 0, 0, 0 };
    for (uint32_t i = 0; i < 4 * 5 * 7; i++)
        (&in[0][0][0])[i] = i;
    cl_mem image = create(CL_MEM_OBJECT_IMAGE3D, &r32, 7, 5, 4, CL_MEM_COPY_HOST_PTR, in);
    cl_mem other = create(CL_MEM_OBJECT_IMAGE2D_ARRAY, &r32, 9, 6, 3, 0, NULL);
    size_t from[3] = { 2, 1, 1 }, to[3] = { 1, 2, 0 }, region[3] = { 4, 3, 2 };
    size_t corner[3] = { 3, 3, 1 }, one[3] = { 2, 1, 1 };
    memset(out, 0xff, sizeof out);
    OK(clEnqueueCopyImage(queues[0], image, other, from, to, region, 0, NULL, NULL));
    OK(clEnqueueFillImage(queues[0], other, color, corner, one, 0, NULL, NULL));
    OK(clEnqueueReadImage(queues[0], other, CL_TRUE, to, region, sizeof out[0][0], sizeof out[0], out, 0, NULL,
                          NULL));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            for (unsigned x = 0; x < 4; x++) {
                bool is_filled = z == 1 && y == 1 && (x == 2 || x == 3);
                assert_int_equal(out[z][y][x], is_filled ? 77 : in[z + 1][y + 1][x + 2]);
            }
    assert_int_equal(out[0][0][4], UINT32_MAX); /* between the rows */
    clReleaseMemObject(image);
    clReleaseMemObject(other);
}

static void buffers(void **state)
{
    (void)state;
    uint8_t in[64], out[64] = { 0 };
    cl_int code;
    for (unsigned i = 0; i < 64; i++)
        in[i] = (uint8_t)(i * 3);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 64, in, &code);
    cl_mem image = create(CL_MEM_OBJECT_IMAGE1D_ARRAY, &rgba8, 4, 0, 3, 0, NULL);
    size_t origin[3] = { 1, 1, 0 }, region[3] = { 2, 2, 1 };
    OK(clEnqueueCopyBufferToImage(queues[1], buffer, image, 8, origin, region, 0, NULL, NULL));
    OK(clEnqueueCopyImageToBuffer(queues[1], image, buffer, origin, region, 40, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queues[1], buffer, CL_TRUE, 0, 64, out, 0, NULL, NULL));
    assert_memory_equal(out, in, 40);
    assert_memory_equal(out + 40, in + 8, 16);
    assert_memory_equal(out + 56, in + 56, 8);
    clReleaseMemObject(buffer);
    clReleaseMemObject(image);
}

static void maps(void **state)
{
    (void)state;
    uint8_t host[6][32], out[4];
    cl_int code;
    size_t row = 0, origin[3] = { 2, 3, 0 }, region[3] = { 3, 2, 1 }, one[3] = { 1, 1, 1 };
    memset(host, 5, sizeof host);
    cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 6, .image_height = 6, .image_row_pitch = 32
    };
    for (unsigned own = 0; own < 2; own++) {
        desc.image_row_pitch = own ? 0 : 32;
        cl_mem image = clCreateImage(context, own ? CL_MEM_READ_WRITE : CL_MEM_USE_HOST_PTR, &rgba8, &desc,
                                     own ? NULL : host, &code);
        assert_int_equal(code, CL_SUCCESS);
        uint8_t *at = clEnqueueMapImage(queues[0], image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region,
                                        &row, NULL, 0, NULL, NULL, &code);
        assert_int_equal(code, CL_SUCCESS);
        assert_int_equal(at[0], own ? 0 : 5);
        assert_int_equal(row, own ? 12 : 32);
        assert_true(own || at == &host[3][8]);
        memcpy(at + row + 4, "\1\2\3\4", 4);
        OK(clEnqueueUnmapMemObject(queues[0], image, at, 0, NULL, NULL));
        size_t place[3] = { 3, 4, 0 };
        OK(clEnqueueReadImage(queues[0], image, CL_TRUE, place, one, 0, 0, out, 0, NULL, NULL));
        assert_memory_equal(out, "\1\2\3\4", 4);
        clReleaseMemObject(image);
    }
}

/* ------------------------------------------------------------------------------------------------ kernels */

static const char kernels[] =
    "kernel void turn(read_only image2d_t from, write_only image2d_t to, sampler_t s) {\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    write_imagef(to, (int2)(get_image_width(to) - 1 - at.x, at.y), read_imagef(from, s, at) * 0.5f);\n"
    "}\n"
    "kernel void ask(read_only image2d_t a, read_only image3d_t b, read_only image2d_array_t c,\n"
    "                read_only image1d_array_t d, read_only image1d_buffer_t e, global int *out) {\n"
    "    out[0] = get_image_width(a); out[1] = get_image_height(a);\n"
    "    out[2] = get_image_channel_data_type(a) == CLK_UNORM_INT8; "
    "out[3] = get_image_channel_order(a) == CLK_RGBA;\n"
    "    out[4] = get_image_depth(b); out[5] = (int)get_image_array_size(c); "
    "out[6] = (int)get_image_array_size(d);\n"
    "    out[7] = get_image_width(e); out[8] = read_imageui(e, 5).x; "
    "out[9] = get_image_channel_order(e) == CLK_R;\n"
    "    out[10] = get_image_channel_data_type(e) == CLK_UNSIGNED_INT32;\n"
    "}\n"
    "kernel void sample(read_only image2d_t a, sampler_t s, float x, float y, global float4 *out) {\n"
    "    const sampler_t own = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;\n"
    "    out[0] = read_imagef(a, s, (float2)(x, y));\n"
    "    out[1] = read_imagef(a, own, (float2)(x, y));\n"
    "    const sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "    out[2] = read_imagef(a, edge, (int2)(-1, 2)) + read_imagef(a, edge, (int2)(2, 2));\n"
    "}\n"
    "kernel void deep(write_only image2d_array_t a, write_only image1d_array_t b, global uint *out,\n"
    "                 read_only image3d_t c) {\n"
    "    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n"
    "    write_imageui(a, (int4)(1, 2, 3, 0), (uint4)(11, 0, 0, 0));\n"
    "    write_imageui(b, (int2)(2, 1), (uint4)(22, 0, 0, 0));\n"
    "    out[0] = read_imageui(c, s, (int4)(3, 1, 2, 0)).x;\n"
    "}\n";

static void set_mem(cl_kernel kernel, cl_uint index, cl_mem mem)
{
    OK(clSetKernelArg(kernel, index, sizeof mem, &mem));
}

static void run(unsigned gpu, cl_kernel kernel, size_t width, size_t height)
{
    size_t size[2] = { width, height };
    OK(clEnqueueNDRangeKernel(queues[gpu], kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    OK(clFinish(queues[gpu]));
}

static void turns(void **state)
{
    (void)state;
    uint8_t in[5][9][4], out[5][9][4];
    size_t origin[3] = { 0, 0, 0 }, region[3] = { 9, 5, 1 };
    cl_int code;
    for (unsigned i = 0; i < sizeof in; i++)
        (&in[0][0][0])[i] = (uint8_t)(2 * i);
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        cl_kernel kernel = build(gpu, kernels, "turn");
        if (!kernel)
            skip();
        cl_mem from = create(CL_MEM_OBJECT_IMAGE2D, &rgba8, 9, 5, 0, CL_MEM_COPY_HOST_PTR, in);
        cl_mem to = create(CL_MEM_OBJECT_IMAGE2D, &rgba8, 9, 5, 0, CL_MEM_WRITE_ONLY, NULL);
        /* Normalized coordinates have no integer form: the kernel's are clamped. */
        cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
        assert_int_equal(code, CL_SUCCESS);
        set_mem(kernel, 0, from);
        set_mem(kernel, 1, to);
        OK(clSetKernelArg(kernel, 2, sizeof sampler, &sampler));
        run(gpu, kernel, 9, 5);
        OK(clEnqueueReadImage(queues[gpu], to, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
        for (unsigned y = 0; y < 5; y++)
            for (unsigned x = 0; x < 9; x++)
                for (unsigned c = 0; c < 4; c++)
                    assert_int_equal(out[y][8 - x][c], in[y][x][c] / 2);
        clReleaseSampler(sampler);
        clReleaseMemObject(from);
        clReleaseMemObject(to);
        clReleaseKernel(kernel);
    }
}

static void asks(void **state)
{
    (void)state;
    static const int want[11] = { 21, 13, 1, 1, 6, 7, 8, 30, 105, 1, 1 };
    uint32_t numbers[30];
    int out[11];
    cl_int code;
    for (uint32_t i = 0; i < 30; i++)
        numbers[i] = 100 + i;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &code);
    cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                           .image_width = 30,
                           .mem_object = buffer };
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        cl_kernel kernel = build(gpu, kernels, "ask");
        if (!kernel)
            skip();
        cl_mem images[6] = { create(CL_MEM_OBJECT_IMAGE2D, &rgba8, 21, 13, 0, 0, NULL),
                             create(CL_MEM_OBJECT_IMAGE3D, &rgba8, 3, 3, 6, 0, NULL),
                             create(CL_MEM_OBJECT_IMAGE2D_ARRAY, &rgba8, 3, 3, 7, 0, NULL),
                             create(CL_MEM_OBJECT_IMAGE1D_ARRAY, &rgba8, 3, 0, 8, 0, NULL),
                             clCreateImage(context, 0, &r32, &desc, NULL, &code),
                             clCreateBuffer(context, 0, sizeof out, NULL, NULL) };
        assert_int_equal(code, CL_SUCCESS);
        for (cl_uint i = 0; i < 6; i++)
            set_mem(kernel, i, images[i]);
        run(gpu, kernel, 1, 1);
        OK(clEnqueueReadBuffer(queues[gpu], images[5], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
        for (unsigned i = 0; i < 11; i++)
            assert_int_equal(out[i], want[i]);
        for (unsigned i = 0; i < 6; i++)
            clReleaseMemObject(images[i]);
        clReleaseKernel(kernel);
    }
    clReleaseMemObject(buffer);
}

static void samples(void **state)
{
    (void)state;
    static const struct {
        cl_bool normalized;
        cl_addressing_mode addressing;
        cl_filter_mode filter;
        float x, y, want;
    } rows[] = {
        { CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, 1.9f, 1.1f, 11 },
        { CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, -3, 7, 30 },
        { CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, -3, 1, 0 },
        { CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, 2, 1.5f, 11.5f },
        { CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, 4, 0.5f, 1.5f },
        { CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, 1.375f, 0.125f, 1 },
        { CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, 1.125f, 0.125f, 3 },
        { CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, 0, 0.125f, 1.5f },
    };
    float texels[4][4][4], out[12];
    cl_int code;
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 4; x++)
            for (unsigned c = 0; c < 4; c++)
                texels[y][x][c] = (float)(10 * y + x);
    cl_mem image = create(CL_MEM_OBJECT_IMAGE2D, &rgba32f, 4, 4, 0, CL_MEM_COPY_HOST_PTR, texels);
    cl_mem buffer = clCreateBuffer(context, 0, sizeof out, NULL, &code);
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        cl_kernel kernel = build(gpu, kernels, "sample");
        if (!kernel)
            skip();
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            cl_sampler sampler =
                clCreateSampler(context, rows[i].normalized, rows[i].addressing, rows[i].filter, &code);
            assert_int_equal(code, CL_SUCCESS);
            set_mem(kernel, 0, image);
            OK(clSetKernelArg(kernel, 1, sizeof sampler, &sampler));
            OK(clSetKernelArg(kernel, 2, sizeof(float), &rows[i].x));
            OK(clSetKernelArg(kernel, 3, sizeof(float), &rows[i].y));
            set_mem(kernel, 4, buffer);
            run(gpu, kernel, 1, 1);
            OK(clEnqueueReadBuffer(queues[gpu], buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
            if (out[0] != rows[i].want)
                fail_msg("row %zu on GPU %u: %g, not %g", i, gpu, (double)out[0], (double)rows[i].want);
            if (rows[i].normalized && rows[i].filter == CL_FILTER_NEAREST &&
                rows[i].addressing == CL_ADDRESS_REPEAT)
                assert_true(out[4] == rows[i].want);
            for (unsigned c = 0; c < 4; c++)
                assert_true(out[8 + c] == 22); /* the border is 0 in all components, alpha too */
            clReleaseSampler(sampler);
        }
        clReleaseKernel(kernel);
    }
    clReleaseMemObject(image);
    clReleaseMemObject(buffer);
}

static void deep(void **state)
{
    (void)state;
    uint32_t numbers[4 * 4 * 4], one, out;
    size_t at[3] = { 1, 2, 3 }, flat[3] = { 2, 1, 0 }, single[3] = { 1, 1, 1 };
    for (uint32_t i = 0; i < 64; i++)
        numbers[i] = i;
    for (unsigned gpu = 0; gpu < GPUS; gpu++) {
        cl_kernel kernel = build(gpu, kernels, "deep");
        if (!kernel)
            skip();
        cl_mem mems[4] = { create(CL_MEM_OBJECT_IMAGE2D_ARRAY, &r32, 4, 4, 4, 0, NULL),
                           create(CL_MEM_OBJECT_IMAGE1D_ARRAY, &r32, 4, 0, 4, 0, NULL),
                           clCreateBuffer(context, 0, 4, NULL, NULL),
                           create(CL_MEM_OBJECT_IMAGE3D, &r32, 4, 4, 4, CL_MEM_COPY_HOST_PTR, numbers) };
        for (cl_uint i = 0; i < 4; i++)
            set_mem(kernel, i, mems[i]);
        run(gpu, kernel, 1, 1);
        OK(clEnqueueReadImage(queues[gpu], mems[0], CL_TRUE, at, single, 0, 0, &one, 0, NULL, NULL));
        assert_int_equal(one, 11);
        OK(clEnqueueReadImage(queues[gpu], mems[1], CL_TRUE, flat, single, 0, 0, &one, 0, NULL, NULL));
        assert_int_equal(one, 22);
        OK(clEnqueueReadBuffer(queues[gpu], mems[2], CL_TRUE, 0, 4, &out, 0, NULL, NULL));
        assert_int_equal(out, 2 * 16 + 1 * 4 + 3);
        for (unsigned i = 0; i < 4; i++)
            clReleaseMemObject(mems[i]);
        clReleaseKernel(kernel);
    }
}

/* ------------------------------------------------------------------------------------------------- errors */

static cl_int create_code(const cl_image_format *format, const cl_image_desc *desc, cl_mem_flags flags,
                          void *host)
{
    cl_int code;
    assert_null(clCreateImage(context, flags, format, desc, host, &code));
    return code;
}

static void wrong_images(void **state)
{
    (void)state;
    uint8_t host[64];
    cl_image_format odd = { CL_RGB, CL_FLOAT };
    cl_image_desc good = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4 },
                  bad = good;
    cl_int code;
    assert_int_equal(create_code(NULL, &good, 0, NULL), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(create_code(&odd, &good, 0, NULL), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(create_code(&rgba8, NULL, 0, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
    bad.image_width = 16385;
    assert_int_equal(create_code(&rgba8, &bad, 0, NULL), CL_INVALID_IMAGE_SIZE);
    bad.image_width = 0;
    assert_int_equal(create_code(&rgba8, &bad, 0, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
    bad = good;
    bad.image_row_pitch = 64; /* without memory to describe */
    assert_int_equal(create_code(&rgba8, &bad, 0, NULL), CL_INVALID_IMAGE_DESCRIPTOR);
    bad.image_row_pitch = 12; /* too small */
    assert_int_equal(create_code(&rgba8, &bad, CL_MEM_COPY_HOST_PTR, host), CL_INVALID_IMAGE_DESCRIPTOR);
    assert_int_equal(create_code(&rgba8, &good, 0, host), CL_INVALID_HOST_PTR);
    assert_int_equal(create_code(&rgba8, &good, CL_MEM_USE_HOST_PTR, NULL), CL_INVALID_HOST_PTR);
    assert_null(clCreateImage2D(context, 0, &rgba8, 0, 4, 0, NULL, &code));
    assert_int_equal(code, CL_INVALID_IMAGE_SIZE);
    assert_null(clCreateSampler(context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &code));
    assert_int_equal(code, CL_INVALID_VALUE);
    assert_null(clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, 7, &code));
    assert_int_equal(code, CL_INVALID_VALUE);
}

static void wrong_commands(void **state)
{
    (void)state;
    uint8_t host[64];
    size_t zero[3] = { 0, 0, 0 }, one[3] = { 1, 1, 1 }, wide[3] = { 5, 1, 1 }, far[3] = { 4, 0, 0 }, row;
    cl_int code;
    cl_mem image = create(CL_MEM_OBJECT_IMAGE2D, &rgba8, 4, 4, 0, CL_MEM_HOST_READ_ONLY, NULL);
    cl_mem other = create(CL_MEM_OBJECT_IMAGE2D, &r32, 4, 4, 0, 0, NULL);
    cl_mem buffer = clCreateBuffer(context, 0, 8, NULL, &code);
    cl_command_queue q = queues[0];
    assert_int_equal(clEnqueueReadImage(q, buffer, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadImage(q, image, CL_TRUE, zero, wide, 0, 0, host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(q, image, CL_TRUE, far, one, 0, 0, host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(q, image, CL_TRUE, zero, zero, 0, 0, host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(q, image, CL_TRUE, zero, one, 2, 0, host, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueWriteImage(q, image, CL_TRUE, zero, one, 0, 0, host, 0, NULL, NULL),
                     CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueCopyImage(q, image, other, zero, zero, one, 0, NULL, NULL),
                     CL_IMAGE_FORMAT_MISMATCH);
    assert_int_equal(clEnqueueCopyImage(q, image, image, zero, zero, one, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    size_t row_of_four[3] = { 4, 1, 1 };
    assert_int_equal(clEnqueueCopyImageToBuffer(q, image, buffer, zero, row_of_four, 0, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_null(clEnqueueMapImage(q, image, CL_TRUE, CL_MAP_WRITE, zero, one, &row, NULL, 0, NULL, NULL,
                                  &code));
    assert_int_equal(code, CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueFillImage(q, image, NULL, zero, one, 0, NULL, NULL), CL_INVALID_VALUE);
    clReleaseMemObject(image);
    clReleaseMemObject(other);
    clReleaseMemObject(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes), cmocka_unit_test(buffers),      cmocka_unit_test(maps),
        cmocka_unit_test(turns), cmocka_unit_test(asks),         cmocka_unit_test(samples),
        cmocka_unit_test(deep),  cmocka_unit_test(wrong_images), cmocka_unit_test(wrong_commands),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
