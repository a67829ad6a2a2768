/* image_format.h: image formats of OpenCL and their formats on the simulated GPU. Tables only. */
#ifndef OPENCL_IMAGE_FORMAT_H
#define OPENCL_IMAGE_FORMAT_H

#include "isa/amd/exec/image.h"
#include "opencl/object.h"

#define OCL_IMAGE_SIDE_MAX 16384u  /* texels */
#define OCL_IMAGE_DEPTH_MAX 8192u  /* slices of 3D images */
#define OCL_IMAGE_LAYERS_MAX 8192u /* of arrays */
#define OCL_IMAGE_BUFFER_MAX (1u << 27)

typedef struct ocl_texel {
    amd_texel texel;
    uint8_t select[4];    /* AMD_SELECT_* of red, green, blue, alpha */
    uint32_t type, order; /* as kernels query them: the numbers of the HSA image interface */
} ocl_texel;

/* CL_SUCCESS, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR for a format that no device can have, or
 * CL_IMAGE_FORMAT_NOT_SUPPORTED. */
cl_int ocl_texel_find(const cl_image_format *format, ocl_texel *out);
/* Whether images of a type and with these flags may have a format that ocl_texel_find() knows. */
bool ocl_texel_allowed(const cl_image_format *format, cl_mem_object_type type, cl_mem_flags flags);
/* All formats by index; false beyond the last. */
bool ocl_texel_at(size_t index, cl_image_format *out);
/* Color (four floats, ints or unsigned ints, as the format wants) -> bytes; at most 16. Their number. */
size_t ocl_texel_pack(const ocl_texel *texel, const void *color, uint8_t out[16]);

#endif
