/* sampler.c: sampler objects and their descriptors, which are the same for all targets. */
#include "isa/amd/exec/image.h"
#include "opencl/ocl.h"

#include <stdlib.h>

static bool wrap_of(cl_addressing_mode mode, cl_bool normalized, amd_wrap *out)
{
    switch (mode) {
    case CL_ADDRESS_NONE: /* outside is undefined: the nearest texel is as good as any */
    case CL_ADDRESS_CLAMP_TO_EDGE:
        *out = AMD_WRAP_EDGE;
        return true;
    case CL_ADDRESS_CLAMP:
        *out = AMD_WRAP_BORDER;
        return true;
    case CL_ADDRESS_REPEAT:
        *out = AMD_WRAP_REPEAT;
        return normalized != CL_FALSE;
    case CL_ADDRESS_MIRRORED_REPEAT:
        *out = AMD_WRAP_MIRROR;
        return normalized != CL_FALSE;
    default:
        return false;
    }
}

static cl_int describe(cl_sampler sampler)
{
    amd_wrap wrap;
    bool is_linear = sampler->filter == CL_FILTER_LINEAR;
    if (!wrap_of(sampler->addressing, sampler->normalized, &wrap) ||
        (!is_linear && sampler->filter != CL_FILTER_NEAREST) || sampler->normalized > CL_TRUE)
        return CL_INVALID_VALUE;
    amd_sampler record = { .unnormalized = !sampler->normalized, .linear = is_linear, .linear_z = is_linear };
    for (unsigned i = 0; i < 3; i++)
        record.wrap[i] = (uint8_t)wrap;
    amd_sampler_pack(&record, sampler->descriptor);
    cl_int code = ocl_gpu_alloc(sampler->context, sizeof sampler->descriptor, &sampler->descriptor_address);
    if (code != CL_SUCCESS)
        return code;
    ls_status status = ls_gpu_copy_in(sampler->context->gpu, sampler->descriptor_address, sampler->descriptor,
                                      sizeof sampler->descriptor, NULL);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

cl_int ocl_sampler_argument(cl_sampler sampler, cl_device_id device, uint64_t *out)
{
    (void)device;
    *out = sampler->descriptor_address;
    return *out != 0 ? CL_SUCCESS : CL_INVALID_SAMPLER;
}

void ocl_sampler_release(cl_sampler sampler)
{
    if (!ocl_drop(sampler))
        return;
    ocl_gpu_free(sampler->context, sampler->descriptor_address);
    ocl_context_release(sampler->context);
    free(sampler->properties);
    ocl_unwatch(sampler);
}

/* ----------------------------------------------------------------------------------------------- creation */

/* Reads pairs of name and value; each may be there once. */
static cl_int read_properties(cl_sampler sampler, const cl_sampler_properties *properties)
{
    unsigned seen = 0, bit;
    size_t count = 0;
    for (; properties[count] != 0; count += 2) {
        cl_sampler_properties value = properties[count + 1];
        switch (properties[count]) {
        case CL_SAMPLER_NORMALIZED_COORDS:
            sampler->normalized = (cl_bool)value;
            bit = 1;
            break;
        case CL_SAMPLER_ADDRESSING_MODE:
            sampler->addressing = (cl_addressing_mode)value;
            bit = 2;
            break;
        case CL_SAMPLER_FILTER_MODE:
            sampler->filter = (cl_filter_mode)value;
            bit = 4;
            break;
        default:
            return CL_INVALID_VALUE;
        }
        if (seen & bit)
            return CL_INVALID_VALUE;
        seen |= bit;
    }
    sampler->properties = calloc(count + 1, sizeof *sampler->properties);
    if (!sampler->properties)
        return CL_OUT_OF_HOST_MEMORY;
    memcpy(sampler->properties, properties, count * sizeof *properties);
    sampler->property_count = count + 1;
    return CL_SUCCESS;
}

static cl_sampler create(cl_context context, const cl_sampler_properties *properties, cl_bool normalized,
                         cl_addressing_mode addressing, cl_filter_mode filter, cl_int *error)
{
    cl_sampler sampler = NULL;
    cl_int code = ocl_is(context, OCL_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (code == CL_SUCCESS) {
        sampler = calloc(1, sizeof *sampler);
        code = sampler ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (code == CL_SUCCESS) {
        ocl_object_init(&sampler->base, OCL_SAMPLER);
        ocl_retain(context);
        sampler->context = context;
        sampler->normalized = normalized;
        sampler->addressing = addressing;
        sampler->filter = filter;
        if (properties)
            code = read_properties(sampler, properties);
        if (code == CL_SUCCESS)
            code = describe(sampler);
        if (code != CL_SUCCESS) {
            ocl_sampler_release(sampler);
            sampler = NULL;
        }
    }
    if (error)
        *error = code;
    return sampler;
}

cl_sampler clCreateSampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                           cl_filter_mode filter, cl_int *error)
{
    return create(context, NULL, normalized, addressing, filter, error);
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties *properties,
                                         cl_int *error)
{
    return create(context, properties, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, error);
}

cl_int clRetainSampler(cl_sampler sampler)
{
    if (!ocl_is(sampler, OCL_SAMPLER))
        return CL_INVALID_SAMPLER;
    ocl_retain(sampler);
    return CL_SUCCESS;
}

cl_int clReleaseSampler(cl_sampler sampler)
{
    if (!ocl_is(sampler, OCL_SAMPLER))
        return CL_INVALID_SAMPLER;
    ocl_sampler_release(sampler);
    return CL_SUCCESS;
}

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    if (!ocl_is(sampler, OCL_SAMPLER))
        return CL_INVALID_SAMPLER;
    switch (what) {
    case CL_SAMPLER_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(sampler));
    case CL_SAMPLER_CONTEXT:
        OCL_GIVE(to, cl_context, sampler->context);
    case CL_SAMPLER_NORMALIZED_COORDS:
        OCL_GIVE(to, cl_bool, sampler->normalized);
    case CL_SAMPLER_ADDRESSING_MODE:
        OCL_GIVE(to, cl_addressing_mode, sampler->addressing);
    case CL_SAMPLER_FILTER_MODE:
        OCL_GIVE(to, cl_filter_mode, sampler->filter);
    case CL_SAMPLER_PROPERTIES:
        return ocl_give(to, sampler->properties, sampler->property_count * sizeof *sampler->properties);
    default:
        return CL_INVALID_VALUE;
    }
}
