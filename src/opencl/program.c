/* program.c: programs: creation, lifetime and information. build.c builds them. */
#include "opencl/build.h"

#include <stdlib.h>

typedef void(CL_CALLBACK *program_destructor)(cl_program program, void *user_data);

/* ----------------------------------------------------------------------------------------------- creating */

cl_program ocl_program_create(cl_context context, cl_uint device_count, const cl_device_id *devices)
{
    cl_program program = calloc(1, sizeof *program);
    bool ok = program != NULL;
    if (!ok)
        return NULL;
    for (cl_uint i = 0; i < device_count; i++) {
        ocl_build *build = &program->builds[i];
        program->devices[i] = devices[i];
        build->status = CL_BUILD_NONE;
        build->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
        build->options = strdup("");
        build->log = strdup("");
        ok = ok && build->options && build->log;
    }
    program->device_count = device_count;
    ocl_object_init(&program->base, OCL_PROGRAM);
    pthread_mutex_init(&program->lock, NULL);
    ocl_retain(context);
    program->context = context;
    if (!ok) {
        ocl_program_release(program);
        return NULL;
    }
    return program;
}

static size_t length_of(const char *text, const size_t *lengths, cl_uint i)
{
    return lengths && lengths[i] ? lengths[i] : strlen(text);
}

static cl_int create_from_source(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                 cl_program *out)
{
    size_t all = 1, at = 0;
    cl_program program;
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (count == 0 || !texts)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!texts[i])
            return CL_INVALID_VALUE;
        all += length_of(texts[i], lengths, i);
    }
    program = ocl_program_create(context, context->device_count, context->devices);
    if (!program)
        return CL_OUT_OF_HOST_MEMORY;
    program->source = malloc(all);
    if (!program->source) {
        ocl_program_release(program);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < count; i++) {
        size_t length = length_of(texts[i], lengths, i);
        memcpy(program->source + at, texts[i], length);
        at += length;
    }
    program->source[at] = '\0';
    *out = program;
    return CL_SUCCESS;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *error)
{
    cl_program program = NULL;
    cl_int status = create_from_source(context, count, texts, lengths, &program);
    if (error)
        *error = status;
    return program;
}

static cl_int create_from_binaries(cl_context context, cl_uint count, const cl_device_id *devices,
                                   const size_t *lengths, const unsigned char **binaries, cl_int *of_device,
                                   cl_program *out)
{
    cl_int status = CL_SUCCESS;
    cl_program program;
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (count == 0 || !devices || !lengths || !binaries)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!ocl_is(devices[i], OCL_DEVICE) || !ocl_context_has(context, devices[i]))
            return CL_INVALID_DEVICE;
        for (cl_uint k = 0; k < i; k++)
            if (devices[k] == devices[i])
                return CL_INVALID_DEVICE;
    }
    program = ocl_program_create(context, count, devices);
    if (!program)
        return CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < count; i++) {
        cl_int one = !binaries[i] || lengths[i] == 0 ? CL_INVALID_VALUE
                                                     : ocl_build_adopt(program, i, binaries[i], lengths[i]);
        if (of_device)
            of_device[i] = one;
        if (one != CL_SUCCESS && status == CL_SUCCESS)
            status = one;
    }
    if (status == CL_SUCCESS)
        *out = program;
    else
        ocl_program_release(program);
    return status;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries, cl_int *of_device,
                                     cl_int *error)
{
    cl_program program = NULL;
    cl_int status = create_from_binaries(context, count, devices, lengths, binaries, of_device, &program);
    if (error)
        *error = status;
    return program;
}

/* No device has built-in kernels, and none takes SPIR-V: the requested kernel never exists. */
cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                             const char *names, cl_int *error)
{
    cl_int status = !ocl_is(context, OCL_CONTEXT) ? CL_INVALID_CONTEXT : CL_INVALID_VALUE;
    for (cl_uint i = 0; status == CL_INVALID_VALUE && devices && i < count; i++)
        if (!ocl_is(devices[i], OCL_DEVICE) || !ocl_context_has(context, devices[i]))
            status = CL_INVALID_DEVICE;
    (void)names;
    if (error)
        *error = status;
    return NULL;
}

cl_program clCreateProgramWithIL(cl_context context, const void *il, size_t bytes, cl_int *error)
{
    (void)il, (void)bytes;
    if (error)
        *error = ocl_is(context, OCL_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
    return NULL;
}

cl_int clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t bytes, const void *value)
{
    (void)id, (void)bytes, (void)value;
    return ocl_is(program, OCL_PROGRAM) ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM;
}

/* ----------------------------------------------------------------------------------------------- lifetime */

void ocl_program_release(cl_program program)
{
    cl_context context = program->context;
    if (!ocl_drop(program))
        return;
    while (program->destructors) {
        ocl_callback *one = program->destructors;
        program->destructors = one->next;
        ((program_destructor)(uintptr_t)one->function)(program, one->user_data);
        free(one);
    }
    for (cl_uint i = 0; i < program->device_count; i++)
        ocl_build_fini(&program->builds[i]);
    pthread_mutex_destroy(&program->lock);
    free(program->source);
    free(program);
    ocl_context_release(context);
}

cl_int clRetainProgram(cl_program program)
{
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    ocl_retain(program);
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program program)
{
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    ocl_program_release(program);
    return CL_SUCCESS;
}

/* Never called: it needs program-scope destructors, which only came with SPIR-V. */
cl_int clSetProgramReleaseCallback(cl_program program, program_destructor function, void *user_data)
{
    (void)user_data;
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    return function ? CL_INVALID_OPERATION : CL_INVALID_VALUE;
}

/* ------------------------------------------------------------------------------------------------- asking */

ocl_build *ocl_program_build(cl_program program, cl_device_id device)
{
    for (cl_uint i = 0; i < program->device_count; i++)
        if (program->devices[i] == device)
            return &program->builds[i];
    return NULL;
}

static cl_int give_kernel_names(cl_program program, const ocl_answer *to, bool only_count)
{
    ls_gpu_module *module = NULL;
    size_t count, bytes = 1;
    char *text;
    cl_int status;
    for (cl_uint i = 0; i < program->device_count && !module; i++)
        module = program->builds[i].status == CL_BUILD_SUCCESS ? program->builds[i].module : NULL;
    if (!module)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    count = ls_gpu_module_kernel_count(module);
    if (only_count)
        return ocl_give(to, &count, sizeof count);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(ls_gpu_kernel_get_info(ls_gpu_module_kernel(module, i))->name) + 1;
    text = calloc(1, bytes);
    if (!text)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            strcat(text, ";");
        strcat(text, ls_gpu_kernel_get_info(ls_gpu_module_kernel(module, i))->name);
    }
    status = ocl_give_text(to, text);
    free(text);
    return status;
}

/* An array of pointers of the program, each with room for its device's binary, or NULL. */
static cl_int give_binaries(cl_program program, const ocl_answer *to)
{
    unsigned char **places = to->value;
    size_t bytes = program->device_count * sizeof *places;
    if (places && to->room < bytes)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; places && i < program->device_count; i++)
        if (places[i] && program->builds[i].binary_bytes > 0)
            memcpy(places[i], program->builds[i].binary, program->builds[i].binary_bytes);
    if (to->size_ret)
        *to->size_ret = bytes;
    return CL_SUCCESS;
}

static cl_int program_info(cl_program program, cl_program_info what, const ocl_answer *to)
{
    size_t sizes[OCL_GPUS_MAX];
    switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(program));
    case CL_PROGRAM_CONTEXT:
        OCL_GIVE(to, cl_context, program->context);
    case CL_PROGRAM_NUM_DEVICES:
        OCL_GIVE(to, cl_uint, program->device_count);
    case CL_PROGRAM_DEVICES:
        return ocl_give(to, program->devices, program->device_count * sizeof(cl_device_id));
    case CL_PROGRAM_SOURCE:
        return ocl_give_text(to, program->source ? program->source : "");
    case CL_PROGRAM_IL:
        return ocl_give(to, NULL, 0);
    case CL_PROGRAM_BINARY_SIZES:
        for (cl_uint i = 0; i < program->device_count; i++)
            sizes[i] = program->builds[i].binary_bytes;
        return ocl_give(to, sizes, program->device_count * sizeof *sizes);
    case CL_PROGRAM_BINARIES:
        return give_binaries(program, to);
    case CL_PROGRAM_NUM_KERNELS:
        return give_kernel_names(program, to, true);
    case CL_PROGRAM_KERNEL_NAMES:
        return give_kernel_names(program, to, false);
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
        OCL_GIVE(to, cl_bool, CL_FALSE);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *value, size_t *size_ret)
{
    cl_int status;
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    pthread_mutex_lock(&program->lock);
    status = program_info(program, what, OCL_ANSWER(room, value, size_ret));
    pthread_mutex_unlock(&program->lock);
    return status;
}

static cl_int build_info(const ocl_build *build, cl_program_build_info what, const ocl_answer *to)
{
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS:
        OCL_GIVE(to, cl_build_status, build->status);
    case CL_PROGRAM_BUILD_OPTIONS:
        return ocl_give_text(to, build->options);
    case CL_PROGRAM_BUILD_LOG:
        return ocl_give_text(to, build->log);
    case CL_PROGRAM_BINARY_TYPE:
        OCL_GIVE(to, cl_program_binary_type, build->binary_type);
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        OCL_GIVE(to, size_t, build->module ? (size_t)ls_gpu_module_variable_bytes(build->module) : 0);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                             void *value, size_t *size_ret)
{
    const ocl_build *build;
    cl_int status;
    if (!ocl_is(program, OCL_PROGRAM))
        return CL_INVALID_PROGRAM;
    build = ocl_is(device, OCL_DEVICE) ? ocl_program_build(program, device) : NULL;
    if (!build)
        return CL_INVALID_DEVICE;
    pthread_mutex_lock(&program->lock);
    status = build_info(build, what, OCL_ANSWER(room, value, size_ret));
    pthread_mutex_unlock(&program->lock);
    return status;
}
