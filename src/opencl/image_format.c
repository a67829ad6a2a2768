/* image_format.c: channel orders and types, which pairs of them exist, and how the simulated GPU names
 * them. */
#include "opencl/image_format.h"

#include <string.h>

enum { NO = AMD_SELECT_0, ONE, X = AMD_SELECT_X, Y, Z, W };

/* Which types go with an order. */
enum {
    ANY = 1,    /* all that are not packed */
    BYTES = 2,  /* 8-bit ones */
    NORMAL = 4, /* fractions and floats */
    PACKED = 8, /* several components in one number */
    SRGB = 16,
    DEPTH = 32,
};

typedef struct order_row {
    cl_channel_order order;
    uint8_t components, types;
    uint8_t select[4];
    uint8_t hsa;
} order_row;

static const order_row order_rows[] = {
    { CL_RGBA, 4, ANY, { X, Y, Z, W }, 8 },          { CL_BGRA, 4, BYTES, { Z, Y, X, W }, 9 },
    { CL_ARGB, 4, BYTES, { Y, Z, W, X }, 10 },       { CL_ABGR, 4, BYTES, { W, Z, Y, X }, 11 },
    { CL_RG, 2, ANY, { X, Y, NO, ONE }, 3 },         { CL_RA, 2, ANY, { X, NO, NO, Y }, 5 },
    { CL_R, 1, ANY, { X, NO, NO, ONE }, 1 },         { CL_A, 1, ANY, { NO, NO, NO, X }, 0 },
    { CL_INTENSITY, 1, NORMAL, { X, X, X, X }, 16 }, { CL_LUMINANCE, 1, NORMAL, { X, X, X, ONE }, 17 },
    { CL_DEPTH, 1, DEPTH, { X, NO, NO, ONE }, 18 },  { CL_sRGBA, 4, SRGB, { X, Y, Z, W }, 14 },
    { CL_sBGRA, 4, SRGB, { Z, Y, X, W }, 15 },       { CL_RGB, 3, PACKED, { Z, Y, X, ONE }, 6 },
};
#define ORDERS (sizeof order_rows / sizeof order_rows[0])

typedef struct type_row {
    cl_channel_type type;
    uint8_t bits; /* of a component; 0: packed */
    uint8_t number;
    uint8_t hsa;
} type_row;

static const type_row type_rows[] = {
    { CL_UNORM_INT8, 8, AMD_NUMBER_UNORM, 2 },      { CL_UNORM_INT16, 16, AMD_NUMBER_UNORM, 3 },
    { CL_SNORM_INT8, 8, AMD_NUMBER_SNORM, 0 },      { CL_SNORM_INT16, 16, AMD_NUMBER_SNORM, 1 },
    { CL_SIGNED_INT8, 8, AMD_NUMBER_SINT, 8 },      { CL_SIGNED_INT16, 16, AMD_NUMBER_SINT, 9 },
    { CL_SIGNED_INT32, 32, AMD_NUMBER_SINT, 10 },   { CL_UNSIGNED_INT8, 8, AMD_NUMBER_UINT, 11 },
    { CL_UNSIGNED_INT16, 16, AMD_NUMBER_UINT, 12 }, { CL_UNSIGNED_INT32, 32, AMD_NUMBER_UINT, 13 },
    { CL_HALF_FLOAT, 16, AMD_NUMBER_FLOAT, 14 },    { CL_FLOAT, 32, AMD_NUMBER_FLOAT, 15 },
    { CL_UNORM_SHORT_565, 0, AMD_NUMBER_UNORM, 6 },
};
#define TYPES (sizeof type_rows / sizeof type_rows[0])

static bool type_fits(const order_row *order, const type_row *type)
{
    bool fraction = type->number == AMD_NUMBER_UNORM || type->number == AMD_NUMBER_SNORM;
    switch (order->types) {
    case ANY:
        return type->bits != 0;
    case BYTES:
        return type->bits == 8;
    case NORMAL:
        return type->bits != 0 && (fraction || type->number == AMD_NUMBER_FLOAT);
    case PACKED:
        return type->bits == 0;
    case SRGB:
        return type->type == CL_UNORM_INT8;
    default:
        return type->type == CL_UNORM_INT16 || type->type == CL_FLOAT;
    }
}

/* Whether the standard has the order or type at all: an unknown pair of known ones is only not supported. */
static bool is_known(const cl_image_format *format)
{
    cl_channel_order order = format->image_channel_order;
    cl_channel_type type = format->image_channel_data_type;
    return order >= CL_R && order <= CL_ABGR && type >= CL_SNORM_INT8 && type <= CL_UNORM_INT_101010_2;
}

/* Packed types have one meaning only, with RGB and RGBx; some orders want certain types by the standard. */
static bool is_legal(const cl_image_format *format)
{
    cl_channel_order order = format->image_channel_order;
    cl_channel_type type = format->image_channel_data_type;
    bool is_packed = type == CL_UNORM_SHORT_565 || type == CL_UNORM_SHORT_555 || type == CL_UNORM_INT_101010;
    bool is_rgb = order == CL_RGB || order == CL_RGBx;
    if (is_packed != is_rgb)
        return false;
    if (order == CL_INTENSITY || order == CL_LUMINANCE)
        return type == CL_UNORM_INT8 || type == CL_UNORM_INT16 || type == CL_SNORM_INT8 ||
               type == CL_SNORM_INT16 || type == CL_HALF_FLOAT || type == CL_FLOAT;
    if (order == CL_ARGB || order == CL_BGRA || order == CL_ABGR)
        return type == CL_UNORM_INT8 || type == CL_SNORM_INT8 || type == CL_SIGNED_INT8 ||
               type == CL_UNSIGNED_INT8;
    return true;
}

cl_int ocl_texel_find(const cl_image_format *format, ocl_texel *out)
{
    if (!format || !is_known(format) || !is_legal(format))
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    for (size_t i = 0; i < ORDERS; i++) {
        const order_row *order = &order_rows[i];
        if (order->order != format->image_channel_order)
            continue;
        for (size_t j = 0; j < TYPES; j++) {
            const type_row *type = &type_rows[j];
            if (type->type != format->image_channel_data_type || !type_fits(order, type))
                continue;
            *out = (ocl_texel){ .type = type->hsa, .order = order->hsa };
            memcpy(out->select, order->select, sizeof out->select);
            out->texel.number = order->types == SRGB ? AMD_NUMBER_SRGB : type->number;
            if (type->bits == 0)
                out->texel = (amd_texel){ .bits = { 5, 6, 5 }, .bytes = 2, .number = AMD_NUMBER_UNORM };
            for (unsigned k = 0; k < order->components && type->bits != 0; k++) {
                out->texel.bits[k] = type->bits;
                out->texel.bytes = (uint8_t)(out->texel.bytes + type->bits / 8);
            }
            return CL_SUCCESS;
        }
    }
    return CL_IMAGE_FORMAT_NOT_SUPPORTED;
}

bool ocl_texel_allowed(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags)
{
    cl_channel_order order = format->image_channel_order;
    bool is_srgb = order == CL_sRGBA || order == CL_sBGRA;
    /* Stores would have to convert, which the hardware's do not. */
    if (is_srgb && !(flags & CL_MEM_READ_ONLY))
        return false;
    if (order == CL_DEPTH)
        return type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    /* Descriptors of buffers have less room for the format. */
    return type != CL_MEM_OBJECT_IMAGE1D_BUFFER || (!is_srgb && order != CL_RGB);
}

bool ocl_texel_at(size_t index, cl_image_format *out)
{
    for (size_t i = 0; i < ORDERS; i++)
        for (size_t j = 0; j < TYPES; j++)
            if (type_fits(&order_rows[i], &type_rows[j]) && index-- == 0) {
                out->image_channel_order = order_rows[i].order;
                out->image_channel_data_type = type_rows[j].type;
                return true;
            }
    return false;
}

size_t ocl_texel_pack(const ocl_texel *texel, const void *color, uint8_t out[16])
{
    uint32_t in[4], component[4] = { 0 };
    memcpy(in, color, sizeof in);
    for (unsigned i = 4; i-- > 0;) /* red last: it counts where several name one component */
        if (texel->select[i] >= AMD_SELECT_X)
            component[texel->select[i] - AMD_SELECT_X] = in[i];
    amd_format_write(&texel->texel, component, out);
    return texel->texel.bytes;
}
