/* kernel_info.c: information about kernels, their arguments, and their work-groups on a device. */
#include "opencl/ocl.h"

#include <inttypes.h>
#include <stdio.h>

/* The attributes in the order of the standard's examples, with blanks between them. */
static void give_attributes(const ls_gpu_kernel_info *info, char *text, size_t room)
{
    const struct {
        const char *name;
        const uint32_t *group;
    } sizes[] = { { "reqd_work_group_size", info->required_group },
                  { "work_group_size_hint", info->hinted_group } };
    int n = 0;
    if (*info->vector_hint)
        n = snprintf(text, room, "vec_type_hint(%.100s)", info->vector_hint);
    for (size_t i = 0; i < LS_COUNT_OF(sizes); i++)
        if (sizes[i].group[0])
            n += snprintf(text + n, room - (size_t)n, "%s%s(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")",
                          n > 0 ? " " : "", sizes[i].name, sizes[i].group[0], sizes[i].group[1],
                          sizes[i].group[2]);
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    char text[256] = "";
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME:
        return ocl_give_text(to, kernel->name);
    case CL_KERNEL_NUM_ARGS:
        OCL_GIVE(to, cl_uint, (cl_uint)kernel->info->arg_count);
    case CL_KERNEL_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(kernel));
    case CL_KERNEL_CONTEXT:
        OCL_GIVE(to, cl_context, kernel->program->context);
    case CL_KERNEL_PROGRAM:
        OCL_GIVE(to, cl_program, kernel->program);
    case CL_KERNEL_ATTRIBUTES:
        give_attributes(kernel->info, text, sizeof text);
        return ocl_give_text(to, text);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---------------------------------------------------------------------------------------------- arguments */

static cl_kernel_arg_address_qualifier space_of(const ls_gpu_arg_info *arg)
{
    if (arg->kind == LS_GPU_ARG_IMAGE || strcmp(arg->space, "global") == 0)
        return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    if (strcmp(arg->space, "constant") == 0)
        return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    if (strcmp(arg->space, "local") == 0)
        return CL_KERNEL_ARG_ADDRESS_LOCAL;
    return CL_KERNEL_ARG_ADDRESS_PRIVATE;
}

static cl_kernel_arg_access_qualifier access_of(const ls_gpu_arg_info *arg)
{
    if (arg->kind != LS_GPU_ARG_IMAGE)
        return CL_KERNEL_ARG_ACCESS_NONE;
    if (strcmp(arg->access, "write_only") == 0)
        return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
    return strcmp(arg->access, "read_write") == 0 ? CL_KERNEL_ARG_ACCESS_READ_WRITE
                                                  : CL_KERNEL_ARG_ACCESS_READ_ONLY;
}

/* Memory in the constant space cannot be written, whether the source says const or not. */
static cl_kernel_arg_type_qualifier qualifiers_of(const ls_gpu_arg_info *arg)
{
    cl_kernel_arg_type_qualifier q = 0;
    /* The memory of images is constant for the compiler; the program did not say so. */
    if (arg->is_const || (arg->kind != LS_GPU_ARG_IMAGE && strcmp(arg->space, "constant") == 0))
        q |= CL_KERNEL_ARG_TYPE_CONST;
    if (arg->is_restrict)
        q |= CL_KERNEL_ARG_TYPE_RESTRICT;
    if (arg->is_volatile)
        q |= CL_KERNEL_ARG_TYPE_VOLATILE;
    if (arg->is_pipe)
        q |= CL_KERNEL_ARG_TYPE_PIPE;
    return q;
}

/* The code object always has argument info. The standard returns it only if the program was built with
 * -cl-kernel-arg-info. */
static bool has_arg_info(cl_kernel kernel)
{
    for (cl_uint i = 0; i < kernel->program->device_count; i++)
        if (kernel->of_device[i])
            return kernel->program->builds[i].has_arg_info;
    return false;
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t room, void *value,
                          size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    const ls_gpu_arg_info *arg;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (index >= kernel->info->arg_count)
        return CL_INVALID_ARG_INDEX;
    arg = &kernel->info->args[index];
    if (!has_arg_info(kernel))
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        OCL_GIVE(to, cl_kernel_arg_address_qualifier, space_of(arg));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        OCL_GIVE(to, cl_kernel_arg_access_qualifier, access_of(arg));
    case CL_KERNEL_ARG_TYPE_NAME:
        return *arg->type_name ? ocl_give_text(to, arg->type_name) : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        OCL_GIVE(to, cl_kernel_arg_type_qualifier, qualifiers_of(arg));
    case CL_KERNEL_ARG_NAME:
        return *arg->name ? ocl_give_text(to, arg->name) : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    default:
        return CL_INVALID_VALUE;
    }
}

/* -------------------------------------------------------------------------------------------- work-groups */

/* The kernel's information for a device; device may be NULL if there is only one. */
static cl_int info_on(cl_kernel kernel, cl_device_id *device, const ls_gpu_kernel_info **out)
{
    cl_program program = kernel->program;
    if (!*device && program->device_count > 1)
        return CL_INVALID_DEVICE;
    if (*device && !ocl_is(*device, OCL_DEVICE))
        return CL_INVALID_DEVICE;
    for (cl_uint i = 0; i < program->device_count; i++)
        if (kernel->of_device[i] && (!*device || program->devices[i] == *device)) {
            *device = program->devices[i];
            *out = ls_gpu_kernel_get_info(kernel->of_device[i]);
            return CL_SUCCESS;
        }
    return CL_INVALID_DEVICE;
}

static cl_ulong local_bytes(cl_kernel kernel, const ls_gpu_kernel_info *info)
{
    cl_ulong all = info->lds_bytes;
    pthread_mutex_lock(&ocl.lock);
    for (size_t i = 0; i < info->arg_count; i++)
        all += kernel->args[i].local_bytes;
    pthread_mutex_unlock(&ocl.lock);
    return all;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    const ls_gpu_kernel_info *info;
    cl_int status;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    status = info_on(kernel, &device, &info);
    if (status != CL_SUCCESS)
        return status;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        OCL_GIVE(to, size_t, info->group_size_max);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: {
        const size_t sizes[3] = { info->required_group[0], info->required_group[1], info->required_group[2] };
        return ocl_give(to, sizes, sizeof sizes);
    }
    case CL_KERNEL_LOCAL_MEM_SIZE:
        OCL_GIVE(to, cl_ulong, local_bytes(kernel, info));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        OCL_GIVE(to, size_t, info->wave_size);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        OCL_GIVE(to, cl_ulong, info->scratch_bytes);
    default: /* CL_KERNEL_GLOBAL_WORK_SIZE is for built-in kernels */
        return CL_INVALID_VALUE;
    }
}

static size_t product(const size_t *sizes, size_t count)
{
    size_t all = 1;
    for (size_t i = 0; i < count; i++)
        all *= sizes[i];
    return all;
}

cl_int clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info what,
                               size_t input_bytes, const void *input, size_t room, void *value,
                               size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    const ls_gpu_kernel_info *info;
    const size_t dims = input_bytes / sizeof(size_t);
    size_t wave, sizes[3] = { 0 };
    cl_int status;
    if (!ocl_is(kernel, OCL_KERNEL))
        return CL_INVALID_KERNEL;
    status = info_on(kernel, &device, &info);
    if (status != CL_SUCCESS)
        return status;
    wave = info->wave_size;
    switch (what) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        if (!input || input_bytes % sizeof(size_t) != 0 || dims < 1 || dims > 3)
            return CL_INVALID_VALUE;
        if (what == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE)
            return ocl_give(to, &wave, sizeof wave);
        OCL_GIVE(to, size_t, (product(input, dims) + wave - 1) / wave);
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
        if (!input || input_bytes != sizeof(size_t) || (value && (room % sizeof(size_t) != 0 || room == 0)))
            return CL_INVALID_VALUE;
        memcpy(sizes, input, sizeof *sizes);
        sizes[0] = sizes[0] <= info->group_size_max / wave ? sizes[0] * wave : 0;
        sizes[1] = sizes[2] = sizes[0] ? 1 : 0;
        return ocl_give(to, sizes, value && room < sizeof sizes ? room : sizeof sizes);
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        OCL_GIVE(to, size_t, info->group_size_max / wave);
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
        OCL_GIVE(to, size_t, 0);
    default:
        return CL_INVALID_VALUE;
    }
}
