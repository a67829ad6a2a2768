/* event.c: the state of commands as programs see it: waiting, asking, callbacks, and events that the program
 * sets. */
#include "opencl/ocl.h"

#include <stdlib.h>

void ocl_event_release(cl_event event)
{
    if (!ocl_drop(event))
        return;
    if (event->dependent_count > 0) { /* a user event that can never be set now: release its waiters */
        pthread_mutex_lock(&ocl.lock);
        ocl_event_complete(event, CL_INVALID_EVENT);
        ocl_wake_workers();
        pthread_mutex_unlock(&ocl.lock);
    }
    while (event->callbacks) {
        ocl_event_callback *next = event->callbacks->next;
        free(event->callbacks);
        event->callbacks = next;
        pthread_mutex_lock(&ocl.lock);
        ocl.callbacks--;
        pthread_mutex_unlock(&ocl.lock);
    }
    free(event->dependents);
    if (event->queue)
        ocl_queue_release(event->queue);
    else
        ocl_context_release(event->context);
    free(event);
}

cl_int clRetainEvent(cl_event event)
{
    if (!ocl_is(event, OCL_EVENT))
        return CL_INVALID_EVENT;
    ocl_retain(event);
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event event)
{
    if (!ocl_is(event, OCL_EVENT))
        return CL_INVALID_EVENT;
    ocl_event_release(event);
    return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int status = CL_SUCCESS;
    if (count == 0 || !events)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!ocl_is(events[i], OCL_EVENT))
            return CL_INVALID_EVENT;
    for (cl_uint i = 1; i < count; i++)
        if (events[i]->context != events[0]->context)
            return CL_INVALID_CONTEXT;
    pthread_mutex_lock(&ocl.lock);
    for (cl_uint i = 0; i < count; i++) {
        ocl_wait_event(events[i]);
        if (events[i]->status < 0) {
            status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            if (events[i]->queue)
                events[i]->queue->is_poisoned = false;
        }
    }
    pthread_mutex_unlock(&ocl.lock);
    return status;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value, size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    cl_int status;
    if (!ocl_is(event, OCL_EVENT))
        return CL_INVALID_EVENT;
    switch (what) {
    case CL_EVENT_COMMAND_QUEUE:
        OCL_GIVE(to, cl_command_queue, event->queue);
    case CL_EVENT_CONTEXT:
        OCL_GIVE(to, cl_context, event->context);
    case CL_EVENT_COMMAND_TYPE:
        OCL_GIVE(to, cl_command_type, event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        ocl_retain(event); /* a callback may release it */
        pthread_mutex_lock(&ocl.lock);
        ocl_move_on(event);
        status = event->status;
        pthread_mutex_unlock(&ocl.lock);
        ocl_event_release(event);
        return ocl_give(to, &status, sizeof status);
    case CL_EVENT_REFERENCE_COUNT:
        OCL_GIVE(to, cl_uint, ocl_references(event));
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value,
                               size_t *size_ret)
{
    const ocl_answer *to = OCL_ANSWER(room, value, size_ret);
    cl_int status;
    if (!ocl_is(event, OCL_EVENT))
        return CL_INVALID_EVENT;
    pthread_mutex_lock(&ocl.lock);
    status = event->status;
    pthread_mutex_unlock(&ocl.lock);
    if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 || status != CL_COMPLETE)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    switch (what) {
    case CL_PROFILING_COMMAND_QUEUED:
        OCL_GIVE(to, cl_ulong, event->queued_ns);
    case CL_PROFILING_COMMAND_SUBMIT:
        OCL_GIVE(to, cl_ulong, event->submit_ns);
    case CL_PROFILING_COMMAND_START:
        OCL_GIVE(to, cl_ulong, event->start_ns);
    case CL_PROFILING_COMMAND_END:
    case CL_PROFILING_COMMAND_COMPLETE: /* kernels have no children */
        OCL_GIVE(to, cl_ulong, event->end_ns);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clSetEventCallback(cl_event event, cl_int when, void(CL_CALLBACK *function)(cl_event, cl_int, void *),
                          void *user_data)
{
    ocl_event_callback *callback;
    cl_int status;
    if (!ocl_is(event, OCL_EVENT))
        return CL_INVALID_EVENT;
    if (!function || (when != CL_SUBMITTED && when != CL_RUNNING && when != CL_COMPLETE))
        return CL_INVALID_VALUE;
    callback = malloc(sizeof *callback);
    if (!callback)
        return CL_OUT_OF_HOST_MEMORY;
    *callback = (ocl_event_callback){ .when = when, .function = function, .user_data = user_data };
    pthread_mutex_lock(&ocl.lock);
    status = event->status;
    if (status > when) {
        ocl_event_callback **link = &event->callbacks;
        while (*link)
            link = &(*link)->next;
        *link = callback;
        callback = NULL;
        ocl.callbacks++;
        ocl_wake_workers();
    }
    pthread_mutex_unlock(&ocl.lock);
    if (callback) /* it happened already */
        function(event, status < 0 ? status : when, user_data);
    free(callback);
    return CL_SUCCESS;
}

/* -------------------------------------------------------------------------------------------- user events */

cl_event clCreateUserEvent(cl_context context, cl_int *error)
{
    cl_event event = NULL;
    cl_int status = CL_SUCCESS;
    if (!ocl_is(context, OCL_CONTEXT))
        status = CL_INVALID_CONTEXT;
    else if (!(event = calloc(1, sizeof *event)))
        status = CL_OUT_OF_HOST_MEMORY;
    if (event) {
        ocl_object_init(&event->base, OCL_EVENT);
        ocl_retain(context);
        event->context = context;
        event->type = CL_COMMAND_USER;
        event->status = CL_SUBMITTED;
    }
    if (error)
        *error = status;
    return event;
}

cl_int clSetUserEventStatus(cl_event event, cl_int status)
{
    cl_int result = CL_SUCCESS;
    if (!ocl_is(event, OCL_EVENT) || event->queue)
        return CL_INVALID_EVENT;
    if (status > CL_COMPLETE)
        return CL_INVALID_VALUE;
    ocl_retain(event); /* a callback may release it */
    pthread_mutex_lock(&ocl.lock);
    if (event->status <= CL_COMPLETE) {
        result = CL_INVALID_OPERATION;
    } else {
        ocl_event_complete(event, status);
        ocl_wake_workers();
    }
    pthread_mutex_unlock(&ocl.lock);
    ocl_event_release(event);
    return result;
}
