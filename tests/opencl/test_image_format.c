/* test_image_format.c: the pairs of channel orders and types, and colors as bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opencl/image_format.h"

#include <string.h>

static cl_int find(cl_channel_order order, cl_channel_type type, ocl_texel *out)
{
    cl_image_format format = { order, type };
    return ocl_texel_find(&format, out);
}

static void codes(void **state)
{
    (void)state;
    ocl_texel t;
    assert_int_equal(find(CL_RGBA, CL_FLOAT, &t), CL_SUCCESS);
    assert_int_equal(t.texel.bytes, 16);
    assert_int_equal(t.texel.number, AMD_NUMBER_FLOAT);
    assert_int_equal(find(CL_RG, CL_SIGNED_INT16, &t), CL_SUCCESS);
    assert_int_equal(t.texel.bytes, 4);
    assert_memory_equal(t.select, ((uint8_t[]){ 4, 5, 0, 1 }), 4);
    assert_int_equal(find(CL_RGB, CL_UNORM_SHORT_565, &t), CL_SUCCESS);
    assert_int_equal(t.texel.bytes, 2);
    /* Formats that the standard does not know, does not allow, or that only we do not have. */
    assert_int_equal(find(0, CL_FLOAT, &t), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(find(CL_RGBA, 7, &t), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(find(CL_RGBA, CL_UNORM_SHORT_565, &t), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(find(CL_RGB, CL_FLOAT, &t), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(find(CL_LUMINANCE, CL_SIGNED_INT8, &t), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_int_equal(find(CL_RGB, CL_UNORM_SHORT_555, &t), CL_IMAGE_FORMAT_NOT_SUPPORTED);
    assert_int_equal(ocl_texel_find(NULL, &t), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
}

/* Every format in the list can be found, and both generations can describe it. */
static void listed(void **state)
{
    (void)state;
    cl_image_format format;
    size_t count = 0;
    for (; ocl_texel_at(count, &format); count++) {
        ocl_texel t;
        unsigned a, b;
        assert_int_equal(ocl_texel_find(&format, &t), CL_SUCCESS);
        assert_true(amd_format_code_gcn3(&t.texel, &a, &b));
        assert_true(amd_format_code_gfx10(&t.texel, &a));
        assert_true(ocl_texel_allowed(&format, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY));
    }
    assert_in_range(count, 60, 120);
    format = (cl_image_format){ CL_sRGBA, CL_UNORM_INT8 };
    assert_false(ocl_texel_allowed(&format, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE));
    format = (cl_image_format){ CL_DEPTH, CL_FLOAT };
    assert_false(ocl_texel_allowed(&format, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_ONLY));
}

static void colors(void **state)
{
    (void)state;
    ocl_texel t;
    uint8_t out[16];
    const float color[4] = { 1.0f, 0.5f, 0.25f, 0.0f };
    const int32_t whole[4] = { -1, 300, 3, 4 };
    assert_int_equal(find(CL_BGRA, CL_UNORM_INT8, &t), CL_SUCCESS);
    assert_int_equal(ocl_texel_pack(&t, color, out), 4);
    assert_memory_equal(out, ((uint8_t[]){ 64, 128, 255, 0 }), 4);
    assert_int_equal(find(CL_ARGB, CL_SIGNED_INT8, &t), CL_SUCCESS);
    assert_int_equal(ocl_texel_pack(&t, whole, out), 4);
    assert_memory_equal(out, ((uint8_t[]){ 4, 255, 127, 3 }), 4);
    assert_int_equal(find(CL_INTENSITY, CL_FLOAT, &t), CL_SUCCESS);
    assert_int_equal(ocl_texel_pack(&t, color, out), 4);
    assert_memory_equal(out, &color[0], 4); /* red */
    assert_int_equal(find(CL_A, CL_FLOAT, &t), CL_SUCCESS);
    assert_int_equal(ocl_texel_pack(&t, color, out), 4);
    assert_memory_equal(out, &color[3], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes),
        cmocka_unit_test(listed),
        cmocka_unit_test(colors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
