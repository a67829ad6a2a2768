/* queue.c: command queues, and the commands that only order others: markers, barriers, migrations, host
 * functions. */
#include "opencl/ocl.h"

#include <stdlib.h>

#define PROPERTIES (CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)
#define DEVICE_PROPERTIES (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT)

/* ----------------------------------------------------------------------------------------------- creating */

/* For simulated time. Commands enter it when they are ready, so it need not keep their order. */
static cl_int create_gpu_queue(cl_command_queue queue)
{
    ls_gpu_context *gpu = queue->context->gpu;
    ls_error err;
    pthread_mutex_lock(&ocl.gpu_lock);
    ls_status status = ls_gpu_select(gpu, queue->device->gpu, &err);
    if (status == LS_OK)
        status = ls_gpu_queue_create_unordered(gpu, &queue->gpu_queue, &err);
    pthread_mutex_unlock(&ocl.gpu_lock);
    return ocl_code_of(status, CL_OUT_OF_RESOURCES);
}

static cl_int create(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                     const cl_queue_properties *list, size_t list_count, cl_command_queue *out)
{
    cl_command_queue queue;
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(context, device))
        return CL_INVALID_DEVICE;
    if (properties & ~(cl_command_queue_properties)(PROPERTIES | DEVICE_PROPERTIES))
        return CL_INVALID_VALUE;
    if (properties & DEVICE_PROPERTIES)
        return CL_INVALID_QUEUE_PROPERTIES; /* kernels cannot enqueue kernels here */
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return CL_OUT_OF_HOST_MEMORY;
    ocl_object_init(&queue->base, OCL_QUEUE);
    if (list_count > 0) {
        queue->property_list = malloc(list_count * sizeof *list);
        if (!queue->property_list) {
            free(queue);
            return CL_OUT_OF_HOST_MEMORY;
        }
        memcpy(queue->property_list, list, list_count * sizeof *list);
        queue->property_count = list_count;
    }
    ocl_retain(context);
    queue->context = context;
    queue->device = device;
    queue->properties = properties;
    cl_int status = ocl.is_timed ? create_gpu_queue(queue) : CL_SUCCESS;
    if (status == CL_SUCCESS)
        *out = queue;
    else
        ocl_queue_release(queue);
    return status;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *error)
{
    cl_command_queue queue = NULL;
    cl_int status = create(context, device, properties, NULL, 0, &queue);
    if (error)
        *error = status;
    return queue;
}

static cl_int read_properties(const cl_queue_properties *list, cl_command_queue_properties *out, size_t *count)
{
    size_t n = 0;
    for (; list && list[n]; n += 2) {
        if (list[n] == CL_QUEUE_SIZE)
            return CL_INVALID_QUEUE_PROPERTIES; /* of queues on the device */
        if (list[n] != CL_QUEUE_PROPERTIES)
            return CL_INVALID_VALUE;
        *out = list[n + 1];
    }
    *count = list ? n + 1 : 0;
    return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties *list, cl_int *error)
{
    cl_command_queue_properties properties = 0;
    cl_command_queue queue = NULL;
    size_t count = 0;
    cl_int status = ocl_is(context, OCL_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (status == CL_SUCCESS && (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(context, device)))
        status = CL_INVALID_DEVICE;
    if (status == CL_SUCCESS)
        status = read_properties(list, &properties, &count);
    if (status == CL_SUCCESS)
        status = create(context, device, properties, list, count, &queue);
    if (error)
        *error = status;
    return queue;
}

/* Deprecated since 1.1: profiling may still be changed. The order of execution may not: devices after OpenCL 1.0 may
 * refuse it as an operation. */
cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
                                 cl_bool enable, cl_command_queue_properties *old)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (properties & ~(cl_command_queue_properties)PROPERTIES)
        return CL_INVALID_VALUE;
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return CL_INVALID_OPERATION;
    pthread_mutex_lock(&ocl.lock);
    if (old)
        *old = queue->properties;
    queue->properties = enable ? queue->properties | properties : queue->properties & ~properties;
    pthread_mutex_unlock(&ocl.lock);
    return CL_SUCCESS;
}

cl_int clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device, cl_command_queue queue)
{
    if (!ocl_is(context, OCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(context, device))
        return CL_INVALID_DEVICE;
    (void)queue; /* no device has a replaceable default queue */
    return CL_INVALID_OPERATION;
}

/* ----------------------------------------------------------------------------------------------- lifetime */

/* Every command holds a reference to its queue, so the queue has no commands here. */
void ocl_queue_release(cl_command_queue queue)
{
    cl_context context = queue->context;
    if (!ocl_drop(queue))
        return;
    ls_gpu_queue_destroy(queue->gpu_queue);
    free(queue->property_list);
    free(queue);
    ocl_context_release(context);
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    ocl_retain(queue);
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    ocl_queue_release(queue);
    return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room, void *value,
                             size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT:
        OCL_GIVE(to, cl_context, queue->context);
    case CL_QUEUE_DEVICE:
        OCL_GIVE(to, cl_device_id, queue->device);
    case CL_QUEUE_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(queue));
    case CL_QUEUE_PROPERTIES:
        OCL_GIVE(to, cl_command_queue_properties, queue->properties);
    case CL_QUEUE_PROPERTIES_ARRAY:
        return ocl_give(to, queue->property_list, queue->property_count * sizeof *queue->property_list);
    case CL_QUEUE_DEVICE_DEFAULT:
        OCL_GIVE(to, cl_command_queue, NULL);
    case CL_QUEUE_SIZE: /* of queues on the device only */
        return CL_INVALID_COMMAND_QUEUE;
    default:
        return CL_INVALID_VALUE;
    }
}

/* ------------------------------------------------------------------------------------------------ waiting */

cl_int clFlush(cl_command_queue queue)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    pthread_mutex_lock(&ocl.lock);
    ocl_wake_workers();
    pthread_mutex_unlock(&ocl.lock);
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue queue)
{
    bool failed;
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    pthread_mutex_lock(&ocl.lock);
    ocl_wait_queue(queue);
    failed = queue->is_poisoned;
    queue->is_poisoned = false;
    pthread_mutex_unlock(&ocl.lock);
    return failed ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

/* ----------------------------------------------------------------------------------- markers and barriers */

static cl_int enqueue_order(cl_command_queue queue, cl_command_type type, cl_uint wait_count,
                            const cl_event *wait_list, cl_event *event)
{
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    cl_event command;
    if (status != CL_SUCCESS)
        return status;
    command = ocl_command_create(queue, type, NULL, 0);
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list,
                                   cl_event *event)
{
    return enqueue_order(queue, CL_COMMAND_MARKER, wait_count, wait_list, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list,
                                    cl_event *event)
{
    return enqueue_order(queue, CL_COMMAND_BARRIER, wait_count, wait_list, event);
}

cl_int clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    return event ? enqueue_order(queue, CL_COMMAND_MARKER, 0, NULL, event) : CL_INVALID_VALUE;
}

cl_int clEnqueueBarrier(cl_command_queue queue)
{
    return enqueue_order(queue, CL_COMMAND_BARRIER, 0, NULL, NULL);
}

cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    cl_int status;
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (count == 0 || !events)
        return CL_INVALID_VALUE;
    status = enqueue_order(queue, CL_COMMAND_BARRIER, count, events, NULL);
    return status == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : status;
}

typedef struct migration {
    cl_uint count;
    ocl_object *mems[]; /* ends with NULL */
} migration;

static cl_int run_migration(cl_event command, ls_error *err)
{
    const migration *m = ocl_payload(command);
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < m->count && code == CL_SUCCESS; i++)
        code = ocl_mem_move((cl_mem)(void *)m->mems[i], command->queue->device, err);
    return code;
}

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *mems,
                                  cl_mem_migration_flags flags, cl_uint wait_count, const cl_event *wait_list,
                                  cl_event *event)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (count == 0 || !mems ||
        (flags &
         ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!ocl_is(mems[i], OCL_MEM))
            return CL_INVALID_MEM_OBJECT;
        else if (mems[i]->context != queue->context)
            return CL_INVALID_CONTEXT;
    if (queue->context->device_count == 1 || (flags & CL_MIGRATE_MEM_OBJECT_HOST))
        return enqueue_order(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wait_count, wait_list, event);
    cl_int status = ocl_check_enqueue(queue, wait_count, wait_list);
    if (status != CL_SUCCESS)
        return status;
    cl_event command = ocl_command_create(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, run_migration,
                                          sizeof(migration) + (count + 1) * sizeof(ocl_object *));
    if (!command)
        return CL_OUT_OF_HOST_MEMORY;
    migration *m = ocl_payload(command);
    for (; m->count < count; m->count++) {
        m->mems[m->count] = &mems[m->count]->base;
        ocl_retain(m->mems[m->count]);
    }
    command->more_held = m->mems;
    return ocl_command_submit(command, wait_count, wait_list, false, event);
}

/* The device says that it has no CL_EXEC_NATIVE_KERNEL. */
cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *args,
                             size_t args_bytes, cl_uint mem_count, const cl_mem *mems, const void **mem_places,
                             cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    (void)function, (void)args, (void)args_bytes, (void)mem_count, (void)mems, (void)mem_places;
    (void)wait_count, (void)wait_list, (void)event;
    return ocl_is(queue, OCL_QUEUE) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}
