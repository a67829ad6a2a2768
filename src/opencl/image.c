/* image.c: image objects: checks of their parameters, the layout of their texels, and the descriptors that
 * kernels read. Texels lie in rows of whole 256 bytes, as the descriptors of all targets can express. */
#include "opencl/image_format.h"
#include "opencl/ocl.h"

#include <stdlib.h>

/* Kernels find an image by the address of these words; the words from the ninth on answer queries of the
 * kernel (format, size). One block per target, so that devices of a context may differ. */
#define BLOCK_WORDS 16u
#define BLOCK_BYTES (BLOCK_WORDS * 4u)

/* The dimensions that a type of image has beside its width. */
typedef struct image_shape {
    bool height, depth, layers;
    amd_image_kind kind;
} image_shape;

static bool shape_of(cl_mem_object_type type, image_shape *out)
{
    switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
        *out = (image_shape){ .kind = AMD_IMAGE_1D };
        return true;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        *out = (image_shape){ .layers = true, .kind = AMD_IMAGE_1D_ARRAY };
        return true;
    case CL_MEM_OBJECT_IMAGE2D:
        *out = (image_shape){ .height = true, .kind = AMD_IMAGE_2D };
        return true;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        *out = (image_shape){ .height = true, .layers = true, .kind = AMD_IMAGE_2D_ARRAY };
        return true;
    case CL_MEM_OBJECT_IMAGE3D:
        *out = (image_shape){ .height = true, .depth = true, .kind = AMD_IMAGE_3D };
        return true;
    default:
        return false;
    }
}

/* -------------------------------------------------------------------------------------------- descriptors */

/* The words of a typed buffer, the form of image1d_buffer_t. */
static bool pack_buffer(amd_target target, const struct _cl_mem *image, const ocl_texel *texel,
                        uint32_t words[8])
{
    unsigned data_format, num_format, format;
    words[0] = (uint32_t)image->address;
    words[1] = (uint32_t)(image->address >> 32 & 0xffff) | (uint32_t)image->element_bytes << 16;
    words[2] = (uint32_t)image->desc.image_width;
    for (unsigned i = 0; i < 4; i++)
        words[3] |= (uint32_t)texel->select[i] << i * 3;
    if (target == AMD_GFX803) {
        if (!amd_format_code_gcn3(&texel->texel, &data_format, &num_format) || data_format > 15 ||
            num_format > 7)
            return false;
        words[3] |= num_format << 12 | data_format << 15;
        return true;
    }
    if (!amd_format_code_gfx10(&texel->texel, &format) || format > 127)
        return false;
    words[3] |= format << 12 | 1u << 24; /* bounds by records, since it has a stride */
    return true;
}

static bool pack(amd_target target, const struct _cl_mem *image, const ocl_texel *texel,
                 uint32_t words[BLOCK_WORDS])
{
    image_shape shape;
    if (!shape_of(image->type, &shape))
        return false;
    words[8] = texel->type;
    words[9] = texel->order;
    words[10] = (uint32_t)image->desc.image_width;
    if (image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
        return pack_buffer(target, image, texel, words);
    amd_image record = { .address = image->address,
                         .texel = texel->texel,
                         .kind = (uint8_t)shape.kind,
                         .width = (uint32_t)image->desc.image_width,
                         .height = shape.height ? (uint32_t)image->desc.image_height : 1,
                         .depth = 1,
                         .pitch = (uint32_t)(image->row_pitch / image->element_bytes) };
    if (shape.depth)
        record.depth = (uint32_t)image->desc.image_depth;
    if (shape.layers)
        record.depth = (uint32_t)image->desc.image_array_size;
    memcpy(record.select, texel->select, sizeof record.select);
    return amd_image_pack(target, &record, words);
}

static cl_int describe(cl_mem image, const ocl_texel *texel)
{
    uint32_t blocks[AMD_TARGET_COUNT][BLOCK_WORDS] = { { 0 } };
    for (unsigned target = 0; target < AMD_TARGET_COUNT; target++)
        if (!pack((amd_target)target, image, texel, blocks[target]))
            return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    memcpy(image->descriptor, blocks[0], sizeof image->descriptor);
    cl_int code = ocl_gpu_alloc(image->context, sizeof blocks, &image->descriptor_address);
    if (code != CL_SUCCESS)
        return code;
    ls_status status =
        ls_gpu_copy_in(image->context->gpu, image->descriptor_address, blocks, sizeof blocks, NULL);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

cl_int ocl_image_argument(cl_mem image, cl_device_id device, uint64_t *out)
{
    amd_target target;
    if (image->descriptor_address == 0 || !amd_target_find(device->model->target, &target)) {
        *out = 0;
        return CL_INVALID_ARG_VALUE;
    }
    *out = image->descriptor_address + (uint64_t)target * BLOCK_BYTES;
    return CL_SUCCESS;
}

void ocl_image_fini(cl_mem image)
{
    ocl_gpu_free(image->context, image->descriptor_address);
    image->descriptor_address = 0;
}

/* ----------------------------------------------------------------------------------------------- creation */

static cl_int check_size(size_t size, size_t largest)
{
    return size == 0 ? CL_INVALID_IMAGE_DESCRIPTOR : size > largest ? CL_INVALID_IMAGE_SIZE : CL_SUCCESS;
}

static cl_int check_sizes(const cl_image_desc *desc, const image_shape *shape)
{
    bool is_buffer = desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    cl_int code = check_size(desc->image_width, is_buffer ? OCL_IMAGE_BUFFER_MAX : OCL_IMAGE_SIDE_MAX);
    if (code == CL_SUCCESS && shape->height)
        code = check_size(desc->image_height, OCL_IMAGE_SIDE_MAX);
    if (code == CL_SUCCESS && shape->depth)
        code = check_size(desc->image_depth, OCL_IMAGE_DEPTH_MAX);
    if (code == CL_SUCCESS && shape->layers)
        code = check_size(desc->image_array_size, OCL_IMAGE_LAYERS_MAX);
    return code;
}

/* The pitches of the program's memory: given or the smallest; must fit the texels. */
static cl_int host_pitches(cl_mem image, const image_shape *shape, const void *host_ptr)
{
    const cl_image_desc *desc = &image->desc;
    size_t row = desc->image_width * image->element_bytes;
    size_t rows = shape->height ? desc->image_height : 1;
    bool has_slices = shape->depth || shape->layers;
    if (!host_ptr && (desc->image_row_pitch != 0 || desc->image_slice_pitch != 0))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (desc->image_row_pitch != 0 &&
        (desc->image_row_pitch < row || desc->image_row_pitch % image->element_bytes != 0))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    image->host_row_pitch = desc->image_row_pitch != 0 ? desc->image_row_pitch : row;
    size_t slice = image->host_row_pitch * rows;
    if (has_slices && desc->image_slice_pitch != 0 &&
        (desc->image_slice_pitch < slice || desc->image_slice_pitch % image->host_row_pitch != 0))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    image->host_slice_pitch = !has_slices ? 0 : desc->image_slice_pitch ? desc->image_slice_pitch : slice;
    return CL_SUCCESS;
}

/* A buffer whose bytes are the texels. */
static cl_int adopt_buffer(cl_mem image)
{
    cl_mem buffer = image->desc.mem_object;
    size_t bytes = image->desc.image_width * image->element_bytes;
    if (!ocl_is(buffer, OCL_MEM) || buffer->type != CL_MEM_OBJECT_BUFFER || buffer->context != image->context)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (bytes > buffer->bytes)
        return CL_INVALID_IMAGE_SIZE;
    ocl_retain(buffer);
    image->parent = buffer;
    image->address = buffer->address;
    image->row_pitch = image->slice_pitch = image->bytes = bytes;
    if (!(image->flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)))
        image->flags |= buffer->flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY);
    return CL_SUCCESS;
}

static cl_int fill_storage(cl_mem image, const image_shape *shape, void *host_ptr)
{
    const cl_image_desc *desc = &image->desc;
    size_t rows = shape->height ? desc->image_height : 1;
    size_t slices = shape->depth ? desc->image_depth : shape->layers ? desc->image_array_size : 1;
    image->row_pitch = (size_t)amd_image_pitch((uint32_t)desc->image_width, (uint32_t)image->element_bytes) *
                       image->element_bytes;
    image->slice_pitch = image->row_pitch * rows;
    image->bytes = image->slice_pitch * slices;
    cl_int code = ocl_gpu_alloc(image->context, image->bytes, &image->address);
    if (code != CL_SUCCESS || !(image->flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)))
        return code;
    if (image->flags & CL_MEM_USE_HOST_PTR)
        image->host_ptr = host_ptr;
    ocl_box to = { .address = image->address,
                   .row_pitch = image->row_pitch,
                   .slice_pitch = image->slice_pitch };
    ocl_box from = { .host = host_ptr,
                     .row_pitch = image->host_row_pitch,
                     .slice_pitch =
                         image->host_slice_pitch ? image->host_slice_pitch : image->host_row_pitch * rows };
    size_t region[3] = { desc->image_width * image->element_bytes, rows, slices };
    return ocl_code_of(ocl_box_copy(image->context->gpu, &to, &from, region, NULL), CL_OUT_OF_RESOURCES);
}

static cl_int fill_image(cl_mem image, const cl_image_format *format, const cl_image_desc *desc,
                         void *host_ptr)
{
    image_shape shape;
    ocl_texel texel;
    cl_int code = ocl_texel_find(format, &texel);
    bool is_buffer = desc && desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if (code == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
        return code;
    if (!desc || !shape_of(desc->image_type, &shape) || desc->num_mip_levels != 0 || desc->num_samples != 0)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (desc->mem_object && desc->image_type == CL_MEM_OBJECT_IMAGE2D && ocl_is(desc->mem_object, OCL_MEM) &&
        desc->mem_object->type == CL_MEM_OBJECT_BUFFER)
        return CL_INVALID_OPERATION; /* the devices say that they have no 2D images of buffers */
    if ((desc->mem_object != NULL) != is_buffer)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (code == CL_SUCCESS && !ocl_texel_allowed(format, desc->image_type, image->flags))
        code = CL_IMAGE_FORMAT_NOT_SUPPORTED;
    if (code != CL_SUCCESS)
        return code;
    image->format = *format;
    image->desc = *desc;
    image->element_bytes = texel.texel.bytes;
    code = check_sizes(desc, &shape);
    if (code == CL_SUCCESS)
        code = host_pitches(image, &shape, host_ptr);
    if (code == CL_SUCCESS)
        code = is_buffer ? adopt_buffer(image) : fill_storage(image, &shape, host_ptr);
    return code == CL_SUCCESS ? describe(image, &texel) : code;
}

static cl_mem answer(cl_mem image, cl_int code, cl_int *error)
{
    if (error)
        *error = code;
    return image;
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                   const cl_image_format *format, const cl_image_desc *desc, void *host_ptr,
                                   cl_int *error)
{
    if (!ocl_is(context, OCL_CONTEXT))
        return answer(NULL, CL_INVALID_CONTEXT, error);
    if (properties && properties[0] != 0)
        return answer(NULL, CL_INVALID_PROPERTY, error);
    bool is_buffer = desc && desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    cl_int code = ocl_check_mem_flags(flags & ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE, host_ptr);
    if (code != CL_SUCCESS)
        return answer(NULL, code, error);
    if (!(flags & access) && !is_buffer)
        flags |= CL_MEM_READ_WRITE;
    cl_mem image = ocl_mem_create(context, desc ? desc->image_type : 0, flags);
    if (!image)
        return answer(NULL, CL_OUT_OF_HOST_MEMORY, error);
    code = fill_image(image, format, desc, host_ptr);
    if (code == CL_SUCCESS && properties) {
        image->properties = calloc(1, sizeof *image->properties);
        image->property_count = image->properties ? 1 : 0;
        code = image->properties ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (code != CL_SUCCESS) {
        ocl_mem_release(image);
        return answer(NULL, code, error);
    }
    return answer(image, CL_SUCCESS, error);
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                     const cl_image_desc *desc, void *host_ptr, cl_int *error)
{
    return clCreateImageWithProperties(context, NULL, flags, format, desc, host_ptr, error);
}

/* Before 1.2 all that is wrong with sizes and pitches had one code. */
static cl_mem create_old(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                         const cl_image_desc *desc, void *host_ptr, cl_int *error)
{
    cl_int code;
    cl_mem image = clCreateImage(context, flags, format, desc, host_ptr, &code);
    return answer(image, code == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : code, error);
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                       size_t height, size_t row_pitch, void *host_ptr, cl_int *error)
{
    cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D,
                           .image_width = width,
                           .image_height = height,
                           .image_row_pitch = row_pitch };
    return create_old(context, flags, format, &desc, host_ptr, error);
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                       size_t height, size_t depth, size_t row_pitch, size_t slice_pitch, void *host_ptr,
                       cl_int *error)
{
    cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE3D,
                           .image_width = width,
                           .image_height = height,
                           .image_depth = depth,
                           .image_row_pitch = row_pitch,
                           .image_slice_pitch = slice_pitch };
    return create_old(context, flags, format, &desc, host_ptr, error);
}

/* -------------------------------------------------------------------------------------------- information */

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                  cl_uint room, cl_image_format *formats, cl_uint *count)
{
    image_shape shape;
    cl_image_format format;
    cl_uint found = 0;
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!shape_of(type, &shape) || (room == 0 && formats) ||
        ocl_check_mem_flags(flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY), NULL) !=
            CL_SUCCESS)
        return CL_INVALID_VALUE;
    for (size_t i = 0; ocl_texel_at(i, &format); i++) {
        if (!ocl_texel_allowed(&format, type, flags))
            continue;
        if (formats && found < room)
            formats[found] = format;
        found++;
    }
    if (count)
        *count = found;
    return CL_SUCCESS;
}

cl_int clGetImageInfo(cl_mem image, cl_image_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    image_shape shape;
    if (!ocl_is(image, OCL_MEM) || !shape_of(image->type, &shape))
        return CL_INVALID_MEM_OBJECT;
    const cl_image_desc *desc = &image->desc;
    switch (what) {
    case CL_IMAGE_FORMAT:
        OCL_GIVE(to, cl_image_format, image->format);
    case CL_IMAGE_ELEMENT_SIZE:
        OCL_GIVE(to, size_t, image->element_bytes);
    case CL_IMAGE_ROW_PITCH:
        OCL_GIVE(to, size_t, image->host_row_pitch);
    case CL_IMAGE_SLICE_PITCH:
        OCL_GIVE(to, size_t, image->host_slice_pitch);
    case CL_IMAGE_WIDTH:
        OCL_GIVE(to, size_t, desc->image_width);
    case CL_IMAGE_HEIGHT:
        OCL_GIVE(to, size_t, shape.height ? desc->image_height : 0);
    case CL_IMAGE_DEPTH:
        OCL_GIVE(to, size_t, shape.depth ? desc->image_depth : 0);
    case CL_IMAGE_ARRAY_SIZE:
        OCL_GIVE(to, size_t, shape.layers ? desc->image_array_size : 0);
    case CL_IMAGE_BUFFER:
        OCL_GIVE(to, cl_mem, image->parent);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
        OCL_GIVE(to, cl_uint, 0);
    default:
        return CL_INVALID_VALUE;
    }
}
