/* context.c: contexts: some devices, and the driver's context that has their memory and code. */
#include "opencl/ocl.h"

#include <stdlib.h>

typedef void(CL_CALLBACK *context_notify)(const char *text, const void *info, size_t bytes, void *user_data);
typedef void(CL_CALLBACK *context_destructor)(cl_context context, void *user_data);

bool ocl_context_has(cl_context context, cl_device_id device)
{
    for (cl_uint i = 0; i < context->device_count; i++)
        if (context->devices[i] == device)
            return true;
    return false;
}

void ocl_context_notify(cl_context context, const char *text)
{
    if (context->notify)
        context->notify(text, NULL, 0, context->notify_data);
}

/* ----------------------------------------------------------------------------------------------- creating */

static cl_int check_properties(const cl_context_properties *properties, size_t *count)
{
    bool has_platform = false, has_sync = false;
    size_t n = 0;
    for (; properties && properties[n]; n += 2)
        switch (properties[n]) {
        case CL_CONTEXT_PLATFORM:
            if (has_platform)
                return CL_INVALID_PROPERTY;
            if (!ocl_is((void *)properties[n + 1], OCL_PLATFORM))
                return CL_INVALID_PLATFORM;
            has_platform = true;
            break;
        case CL_CONTEXT_INTEROP_USER_SYNC:
            if (has_sync || (properties[n + 1] != CL_TRUE && properties[n + 1] != CL_FALSE))
                return CL_INVALID_PROPERTY;
            has_sync = true;
            break;
        default:
            return CL_INVALID_PROPERTY;
        }
    *count = properties ? n + 1 : 0;
    return CL_SUCCESS;
}

static cl_int create(const cl_context_properties *properties, cl_uint device_count,
                     const cl_device_id *devices, context_notify notify, void *user_data, cl_context *out)
{
    size_t property_count;
    cl_int status = check_properties(properties, &property_count);
    cl_context context;
    ls_error err;
    if (status != CL_SUCCESS)
        return status;
    if (device_count == 0 || !devices || (!notify && user_data))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < device_count; i++)
        if (!ocl_is(devices[i], OCL_DEVICE))
            return CL_INVALID_DEVICE;
    context = calloc(1, sizeof *context);
    if (!context)
        return CL_OUT_OF_HOST_MEMORY;
    ocl_object_init(&context->base, OCL_CONTEXT);
    for (cl_uint i = 0; i < device_count; i++)
        if (!ocl_context_has(context, devices[i])) {
            if (context->device_count == OCL_GPUS_MAX) { /* many sub-devices */
                free(context);
                return CL_OUT_OF_RESOURCES;
            }
            context->devices[context->device_count++] = devices[i];
        }
    context->properties = property_count ? malloc(property_count * sizeof *properties) : NULL;
    status = property_count && !context->properties ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    if (status == CL_SUCCESS)
        status = ocl_code_of(ls_gpu_context_create(ocl.system, &context->gpu, &err), CL_OUT_OF_RESOURCES);
    if (status != CL_SUCCESS) {
        free(context->properties);
        free(context);
        return status;
    }
    for (cl_uint i = 0; i < context->device_count; i++)
        ocl_device_retain(context->devices[i]);
    if (property_count)
        memcpy(context->properties, properties, property_count * sizeof *properties);
    context->property_count = property_count;
    context->notify = notify;
    context->notify_data = user_data;
    *out = context;
    return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint device_count,
                           const cl_device_id *devices, context_notify notify, void *user_data, cl_int *error)
{
    cl_context context = NULL;
    cl_int status = create(properties, device_count, devices, notify, user_data, &context);
    if (error)
        *error = status;
    return context;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                   context_notify notify, void *user_data, cl_int *error)
{
    cl_device_id devices[OCL_GPUS_MAX];
    cl_context context = NULL;
    cl_uint count;
    size_t property_count;
    cl_int status = ocl_start();
    if (status == CL_SUCCESS)
        status = check_properties(properties, &property_count);
    if (status == CL_SUCCESS)
        status = clGetDeviceIDs(&ocl.platform, type, OCL_GPUS_MAX, devices, &count);
    if (status == CL_SUCCESS)
        status = create(properties, count, devices, notify, user_data, &context);
    if (error)
        *error = status;
    return context;
}

/* ----------------------------------------------------------------------------------------------- lifetime */

void ocl_context_release(cl_context context)
{
    if (!ocl_drop(context))
        return;
    while (context->destructors) {
        ocl_callback *one = context->destructors;
        context->destructors = one->next;
        ((context_destructor)(uintptr_t)one->function)(context, one->user_data);
        free(one);
    }
    pthread_mutex_lock(&ocl.gpu_lock);
    ls_gpu_context_destroy(context->gpu);
    pthread_mutex_unlock(&ocl.gpu_lock);
    for (cl_uint i = 0; i < context->device_count; i++)
        ocl_device_release(context->devices[i]);
    free(context->properties);
    free(context);
}

cl_int ocl_callback_add(ocl_callback **list, void *function, void *user_data)
{
    ocl_callback *one = malloc(sizeof *one);
    if (!one)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&ocl.lock);
    *one = (ocl_callback){ *list, function, user_data };
    *list = one;
    pthread_mutex_unlock(&ocl.lock);
    return CL_SUCCESS;
}

cl_int clRetainContext(cl_context context)
{
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    ocl_retain(context);
    return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context context)
{
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    ocl_context_release(context);
    return CL_SUCCESS;
}

cl_int clSetContextDestructorCallback(cl_context context, context_destructor function, void *user_data)
{
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!function)
        return CL_INVALID_VALUE;
    return ocl_callback_add(&context->destructors, (void *)(uintptr_t)function, user_data);
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(context));
    case CL_CONTEXT_NUM_DEVICES:
        OCL_GIVE(to, cl_uint, context->device_count);
    case CL_CONTEXT_DEVICES:
        return ocl_give(to, context->devices, context->device_count * sizeof(cl_device_id));
    case CL_CONTEXT_PROPERTIES:
        return ocl_give(to, context->properties, context->property_count * sizeof *context->properties);
    default:
        return CL_INVALID_VALUE;
    }
}
