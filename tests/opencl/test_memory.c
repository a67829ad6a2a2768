/* Buffers: creating, reading, writing, copying, filling, boxes, mapping, sub-buffers; and their refusals. */
#include "opencl/fixture.h"

#include <stdlib.h>
#include <string.h>

static void fill_iota(unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(i * 7 + 1);
}

static cl_int create_error(cl_mem_flags flags, size_t bytes, void *host)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(fx_context, flags, bytes, host, &error);
    if (mem)
        clReleaseMemObject(mem);
    return error;
}

static void test_create(void **state)
{
    unsigned char data[64], back[64];
    cl_mem_flags flags;
    cl_mem_object_type type;
    size_t bytes;
    void *host;
    cl_mem mem;
    (void)state;
    assert_int_equal(create_error(0, 0, NULL), CL_INVALID_BUFFER_SIZE);
    assert_int_equal(create_error(0, SIZE_MAX, NULL), CL_INVALID_BUFFER_SIZE);
    assert_int_equal(create_error(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 4, NULL), CL_INVALID_VALUE);
    assert_int_equal(create_error(CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 4, NULL), CL_INVALID_VALUE);
    assert_int_equal(create_error(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 4, data), CL_INVALID_VALUE);
    assert_int_equal(create_error(CL_MEM_USE_HOST_PTR, 4, NULL), CL_INVALID_HOST_PTR);
    assert_int_equal(create_error(0, 4, data), CL_INVALID_HOST_PTR);
    assert_int_equal(create_error((cl_mem_flags)1 << 50, 4, NULL), CL_INVALID_VALUE);
    fill_iota(data, sizeof data);
    mem = fx_buffer(CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, sizeof data, data);
    fx_read(mem, back, sizeof back);
    assert_memory_equal(back, data, sizeof back);
    fx_ok(clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL));
    assert_int_equal(type, CL_MEM_OBJECT_BUFFER);
    fx_ok(clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    assert_int_equal(flags, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR);
    fx_ok(clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL));
    assert_int_equal(bytes, 64);
    fx_ok(clGetMemObjectInfo(mem, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    assert_null(host);
    assert_int_equal(clGetMemObjectInfo(mem, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clReleaseMemObject(mem));
}

static void test_read_write(void **state)
{
    unsigned char data[100], back[100] = { 0 };
    cl_mem mem = fx_buffer(CL_MEM_READ_WRITE, 100, NULL), closed = fx_buffer(CL_MEM_HOST_NO_ACCESS, 100, NULL);
    cl_event event;
    (void)state;
    fill_iota(data, sizeof data);
    fx_ok(clEnqueueWriteBuffer(fx_queue, mem, CL_FALSE, 10, 50, data, 0, NULL, &event));
    fx_ok(clEnqueueReadBuffer(fx_queue, mem, CL_TRUE, 0, 100, back, 1, &event, NULL));
    assert_memory_equal(back + 10, data, 50);
    assert_int_equal(back[9] | back[60], 0);
    fx_ok(clReleaseEvent(event));
    assert_int_equal(clEnqueueReadBuffer(fx_queue, mem, CL_TRUE, 51, 50, back, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBuffer(fx_queue, mem, CL_TRUE, 0, 4, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBuffer(fx_queue, NULL, CL_TRUE, 0, 4, back, 0, NULL, NULL),
                     CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadBuffer(fx_queue, mem, CL_TRUE, 0, 4, back, 1, NULL, NULL),
                     CL_INVALID_EVENT_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(fx_queue, closed, CL_TRUE, 0, 4, back, 0, NULL, NULL),
                     CL_INVALID_OPERATION);
    assert_int_equal(clEnqueueWriteBuffer(fx_queue, closed, CL_TRUE, 0, 4, back, 0, NULL, NULL),
                     CL_INVALID_OPERATION);
    fx_ok(clReleaseMemObject(mem));
    fx_ok(clReleaseMemObject(closed));
}

static void test_copy_fill(void **state)
{
    unsigned char data[256], back[256];
    const uint32_t pattern = 0x04030201;
    cl_mem a, b = fx_buffer(CL_MEM_READ_WRITE, 256, NULL);
    (void)state;
    fill_iota(data, sizeof data);
    a = fx_buffer(CL_MEM_COPY_HOST_PTR, 256, data);
    fx_ok(clEnqueueCopyBuffer(fx_queue, a, b, 16, 32, 100, 0, NULL, NULL));
    fx_read(b, back, 256);
    assert_memory_equal(back + 32, data + 16, 100);
    assert_int_equal(clEnqueueCopyBuffer(fx_queue, a, a, 0, 50, 100, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyBuffer(fx_queue, a, b, 200, 0, 100, 0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clEnqueueFillBuffer(fx_queue, b, &pattern, 4, 8, 16, 0, NULL, NULL));
    fx_read(b, back, 256);
    for (unsigned i = 8; i < 24; i++)
        assert_int_equal(back[i], i % 4 + 1);
    assert_int_equal(back[24], 0);
    assert_int_equal(clEnqueueFillBuffer(fx_queue, b, &pattern, 3, 0, 3, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(fx_queue, b, &pattern, 4, 2, 4, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueFillBuffer(fx_queue, b, &pattern, 4, 0, 6, 0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clEnqueueMigrateMemObjects(fx_queue, 1, &b, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    assert_int_equal(clEnqueueMigrateMemObjects(fx_queue, 0, NULL, 0, 0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clFinish(fx_queue));
    fx_ok(clReleaseMemObject(a));
    fx_ok(clReleaseMemObject(b));
}

/* An 8 x 6 x 4 box of bytes; element (x, y, z) is at z * 48 + y * 8 + x. */
static void test_rect(void **state)
{
    unsigned char data[192], back[192] = { 0 };
    const size_t at[3] = { 2, 1, 1 }, zero[3] = { 0, 0, 0 }, region[3] = { 3, 2, 2 }, wide[3] = { 9, 1, 1 };
    const size_t beside[3] = { 5, 1, 1 }, near[3] = { 4, 2, 1 };
    cl_mem a, b;
    (void)state;
    fill_iota(data, sizeof data);
    a = fx_buffer(CL_MEM_COPY_HOST_PTR, 192, data);
    b = fx_buffer(CL_MEM_READ_WRITE, 192, NULL);
    fx_ok(clEnqueueReadBufferRect(fx_queue, a, CL_TRUE, at, zero, region, 8, 48, 0, 0, back, 0, NULL, NULL));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 2; y++)
            for (size_t x = 0; x < 3; x++)
                assert_int_equal(back[z * 6 + y * 3 + x], data[(z + 1) * 48 + (y + 1) * 8 + x + 2]);
    fx_ok(clEnqueueWriteBufferRect(fx_queue, b, CL_TRUE, at, zero, region, 8, 48, 0, 0, back, 0, NULL, NULL));
    fx_ok(clEnqueueCopyBufferRect(fx_queue, b, b, at, beside, region, 8, 48, 8, 48, 0, NULL, NULL));
    fx_read(b, back, 192);
    assert_int_equal(back[48 + 8 + 2], data[48 + 8 + 2]);
    assert_int_equal(back[96 + 16 + 7], data[96 + 16 + 4]);
    assert_int_equal(back[48 + 8 + 1], 0);
    assert_int_equal(clEnqueueCopyBufferRect(fx_queue, b, b, at, near, region, 8, 48, 8, 48, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueCopyBufferRect(fx_queue, b, b, at, beside, region, 8, 48, 16, 48, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBufferRect(fx_queue, a, CL_TRUE, at, zero, wide, 8, 48, 0, 0, back, 0, NULL,
                                             NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadBufferRect(fx_queue, a, CL_TRUE, (size_t[]){ 0, 0, 3 }, zero, region, 8, 48,
                                             0, 0, back, 0, NULL, NULL),
                     CL_INVALID_VALUE);
    fx_ok(clReleaseMemObject(a));
    fx_ok(clReleaseMemObject(b));
}

static void test_map(void **state)
{
    unsigned char data[64], back[64];
    cl_mem a, used, read_only = fx_buffer(CL_MEM_HOST_READ_ONLY, 64, NULL);
    unsigned char *p;
    cl_uint count;
    cl_int error;
    (void)state;
    fill_iota(data, sizeof data);
    a = fx_buffer(CL_MEM_COPY_HOST_PTR, 64, data);
    p = clEnqueueMapBuffer(fx_queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 8, 16, 0, NULL, NULL, &error);
    fx_ok(error);
    assert_memory_equal(p, data + 8, 16);
    fx_ok(clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 1);
    memset(p, 0xee, 16);
    assert_int_equal(clEnqueueUnmapMemObject(fx_queue, a, p + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    fx_ok(clEnqueueUnmapMemObject(fx_queue, a, p, 0, NULL, NULL));
    fx_read(a, back, 64);
    assert_int_equal(back[7], data[7]);
    assert_int_equal(back[8], 0xee);
    assert_int_equal(back[24], data[24]);
    fx_ok(clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 0);
    assert_null(clEnqueueMapBuffer(fx_queue, a, CL_TRUE, CL_MAP_READ, 60, 8, 0, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clEnqueueMapBuffer(fx_queue, read_only, CL_TRUE, CL_MAP_WRITE, 0, 8, 0, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_OPERATION);
    /* A mapping returns the program's own memory, with the device's bytes. */
    used = fx_buffer(CL_MEM_USE_HOST_PTR, 64, data);
    fx_ok(clEnqueueCopyBuffer(fx_queue, a, used, 0, 0, 64, 0, NULL, NULL));
    p = clEnqueueMapBuffer(fx_queue, used, CL_TRUE, CL_MAP_READ, 4, 60, 0, NULL, NULL, &error);
    fx_ok(error);
    assert_ptr_equal(p, data + 4);
    assert_int_equal(p[4], 0xee);
    fx_ok(clEnqueueUnmapMemObject(fx_queue, used, p, 0, NULL, NULL));
    fx_ok(clFinish(fx_queue));
    fx_ok(clReleaseMemObject(a));
    fx_ok(clReleaseMemObject(used));
    fx_ok(clReleaseMemObject(read_only));
}

static int gone;

static void CL_CALLBACK note_mem(cl_mem mem, void *user_data)
{
    (void)mem;
    gone = gone * 10 + (int)(intptr_t)user_data;
}

static void test_sub_buffer(void **state)
{
    unsigned char data[512], back[128];
    cl_buffer_region region = { 128, 128 }, off = { 100, 100 }, large = { 384, 256 }, none = { 0, 0 };
    cl_mem parent, sub, found;
    size_t origin;
    cl_int error;
    (void)state;
    fill_iota(data, sizeof data);
    parent = fx_buffer(CL_MEM_COPY_HOST_PTR | CL_MEM_READ_ONLY, 512, data);
    assert_null(clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &off, &error));
    assert_int_equal(error, CL_MISALIGNED_SUB_BUFFER_OFFSET);
    assert_null(clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &large, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
    assert_null(clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    sub = clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    fx_ok(error);
    assert_null(clCreateSubBuffer(sub, 0, CL_BUFFER_CREATE_TYPE_REGION, &none, &error));
    assert_int_equal(error, CL_INVALID_MEM_OBJECT);
    fx_ok(clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof found, &found, NULL));
    assert_ptr_equal(found, parent);
    fx_ok(clGetMemObjectInfo(sub, CL_MEM_OFFSET, sizeof origin, &origin, NULL));
    assert_int_equal(origin, 128);
    assert_int_equal(clEnqueueCopyBuffer(fx_queue, parent, sub, 100, 0, 64, 0, NULL, NULL),
                     CL_MEM_COPY_OVERLAP);
    /* The sub-buffer keeps its parent alive; the parent's callback comes last. */
    fx_ok(clSetMemObjectDestructorCallback(parent, note_mem, (void *)1));
    fx_ok(clSetMemObjectDestructorCallback(sub, note_mem, (void *)2));
    fx_ok(clReleaseMemObject(parent));
    fx_read(sub, back, 128);
    assert_memory_equal(back, data + 128, 128);
    assert_int_equal(gone, 0);
    fx_ok(clReleaseMemObject(sub));
    assert_int_equal(gone, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create), cmocka_unit_test(test_read_write), cmocka_unit_test(test_copy_fill),
        cmocka_unit_test(test_rect),   cmocka_unit_test(test_map),        cmocka_unit_test(test_sub_buffer),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
