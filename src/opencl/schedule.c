/* schedule.c: commands: their dependences, their completion, and waiting for them.
 *
 * A command is an event with work. When the last event that it waits for is over, it moves to its device's
 * list, from which execute.c takes it. */
#include "opencl/ocl.h"

#include <stdlib.h>

/* ----------------------------------------------------------------------------------------------- commands */

cl_event ocl_command_create(cl_command_queue queue, cl_command_type type, ocl_run run, size_t payload_bytes)
{
    cl_event command = calloc(1, sizeof *command + payload_bytes);
    if (!command)
        return NULL;
    ocl_object_init(&command->base, OCL_EVENT);
    command->context = queue->context;
    command->queue = queue;
    ocl_retain(queue); /* which has the context */
    command->type = type;
    command->status = CL_QUEUED;
    command->run = run;
    return command;
}

void ocl_command_hold(cl_event command, void *object)
{
    if (!object)
        return;
    ocl_retain(object);
    command->held[command->held_count++] = object;
}

void ocl_command_let_go(cl_event command)
{
    for (unsigned i = 0; i < command->held_count; i++)
        ocl_release_any(command->held[i]);
    for (ocl_object **o = command->more_held; o && *o; o++)
        ocl_release_any(*o);
    command->held_count = 0;
    command->more_held = NULL;
}

void ocl_command_discard(cl_event command)
{
    ocl_command_let_go(command);
    ocl_event_release(command);
}

void ocl_release_any(void *object)
{
    switch ((ocl_magic)((ocl_object *)object)->magic) {
    case OCL_CONTEXT:
        ocl_context_release(object);
        break;
    case OCL_QUEUE:
        ocl_queue_release(object);
        break;
    case OCL_MEM:
        ocl_mem_release(object);
        break;
    case OCL_SAMPLER:
        ocl_sampler_release(object);
        break;
    case OCL_PROGRAM:
        ocl_program_release(object);
        break;
    case OCL_KERNEL:
        ocl_kernel_release(object);
        break;
    case OCL_EVENT:
        ocl_event_release(object);
        break;
    default:
        break;
    }
}

/* -------------------------------------------------------------------------------------------- dependences */

static bool is_over(const struct _cl_event *event)
{
    return event->status <= CL_COMPLETE;
}

static bool reserve_dependent(cl_event on)
{
    if (on->dependent_count == on->dependent_room) {
        size_t room = on->dependent_room ? 2 * on->dependent_room : 4;
        ocl_dependent *more = realloc(on->dependents, room * sizeof *more);
        if (!more)
            return false;
        on->dependents = more;
        on->dependent_room = room;
    }
    return true;
}

/* Emulated times follow from the order of commands and their events. They do not depend on the host's speed. */
static void follow(cl_event command, const struct _cl_event *on)
{
    if (on->end_ns > command->earliest_ns)
        command->earliest_ns = on->end_ns;
}

static bool depend(cl_event command, cl_event on, bool is_explicit)
{
    if (is_over(on)) {
        follow(command, on);
        if (is_explicit && on->status < 0)
            command->inherited = on->status;
        return true;
    }
    if (!reserve_dependent(on))
        return false;
    on->dependents[on->dependent_count++] = (ocl_dependent){ command, is_explicit };
    command->missing++;
    return true;
}

/* Removes a command from the list of an event that it waits for. */
static void forget(cl_event command, cl_event on)
{
    for (size_t i = on->dependent_count; i-- > 0;)
        if (on->dependents[i].event == command)
            on->dependents[i] = on->dependents[--on->dependent_count];
}

bool ocl_is_in_order(const struct _cl_command_queue *queue)
{
    return (queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
}

static bool depend_on_all(cl_event command, cl_uint wait_count, const cl_event *wait_list)
{
    cl_command_queue queue = command->queue;
    bool waits_for_queue =
        (command->type == CL_COMMAND_MARKER || command->type == CL_COMMAND_BARRIER) && wait_count == 0;
    for (cl_uint i = 0; i < wait_count; i++)
        if (!depend(command, wait_list[i], true))
            return false;
    if (ocl_is_in_order(queue))
        return !queue->last || depend(command, queue->last, false);
    if (queue->barrier && !depend(command, queue->barrier, false))
        return false;
    for (cl_event e = waits_for_queue ? queue->first : NULL; e; e = e->next)
        if (!depend(command, e, false))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------- lists */

static void make_ready(cl_event command)
{
    cl_device_id device = command->queue->device->root;
    command->ready_next = NULL;
    if (device->ready_tail)
        device->ready_tail->ready_next = command;
    else
        device->ready = command;
    device->ready_tail = command;
}

static void append(cl_event command)
{
    cl_command_queue queue = command->queue;
    command->previous = queue->last;
    command->next = NULL;
    if (queue->last)
        queue->last->next = command;
    else
        queue->first = command;
    queue->last = command;
    if (command->type == CL_COMMAND_BARRIER)
        queue->barrier = command;
}

static void take_out(cl_event command)
{
    cl_command_queue queue = command->queue;
    if (command->previous)
        command->previous->next = command->next;
    else
        queue->first = command->next;
    if (command->next)
        command->next->previous = command->previous;
    else
        queue->last = command->previous;
    if (queue->barrier == command)
        queue->barrier = NULL;
}

void ocl_call_back(cl_event event, cl_int status, ocl_event_callback *list)
{
    while (list) {
        ocl_event_callback *next = list->next;
        if (!ocl.is_ending)
            list->function(event, status < 0 ? status : list->when, list->user_data);
        free(list);
        list = next;
    }
}

ocl_event_callback *ocl_take_callbacks(cl_event event, cl_int status)
{
    ocl_event_callback *taken = NULL, **end = &taken, **link = &event->callbacks;
    while (*link) {
        ocl_event_callback *one = *link;
        if (status <= one->when) {
            *link = one->next;
            one->next = NULL;
            ocl.callbacks--;
            *end = one;
            end = &one->next;
        } else {
            link = &one->next;
        }
    }
    return taken;
}

/* Gives up the lock for a moment if the program wants to be called. The caller has a reference. */
void ocl_event_complete(cl_event event, cl_int status)
{
    ocl_event_callback *callbacks = ocl_take_callbacks(event, CL_COMPLETE);
    bool is_elsewhere = false; /* something is ready of a device whose worker may sleep */
    event->status = status;
    for (size_t i = 0; i < event->dependent_count; i++) {
        cl_event dependent = event->dependents[i].event;
        follow(dependent, event);
        if (event->dependents[i].is_explicit && status < 0)
            dependent->inherited = status;
        if (--dependent->missing == 0) {
            make_ready(dependent);
            is_elsewhere |= event->queue && event->queue->device->root != dependent->queue->device->root;
        }
    }
    if (is_elsewhere)
        ocl_wake_workers();
    free(event->dependents);
    event->dependents = NULL;
    event->dependent_count = event->dependent_room = 0;
    if (event->queue) {
        cl_command_queue queue = event->queue;
        take_out(event);
        queue->end_ns = event->end_ns > queue->end_ns ? event->end_ns : queue->end_ns;
        if (event->type == CL_COMMAND_BARRIER && event->end_ns > queue->barrier_ns)
            queue->barrier_ns = event->end_ns;
    }
    if (ocl.waiters > 0)
        pthread_cond_broadcast(&ocl.done);
    if (callbacks) {
        ocl_wake_workers();
        pthread_mutex_unlock(&ocl.lock);
        ocl_call_back(event, status, callbacks);
        pthread_mutex_lock(&ocl.lock);
    }
}

/* ------------------------------------------------------------------------------------------------ waiting */

/* One step of the device that the caller waits for, or of any device without a worker. */
static bool help(cl_device_id preferred)
{
    if (preferred && ocl_step(preferred))
        return true;
    for (cl_uint i = 0; i < ocl.device_count; i++)
        if ((ocl.is_timed || !ocl.devices[i].has_worker) && ocl_step(&ocl.devices[i]))
            return true;
    return false;
}

static void sleep_until_done(void)
{
    ocl.waiters++;
    pthread_cond_wait(&ocl.done, &ocl.lock);
    ocl.waiters--;
}

/* Whether the calling thread executes a command: waiting for another one of the device would never end. */
static bool is_executor(cl_device_id device)
{
    return device && device->is_executing && pthread_equal(device->executor, pthread_self());
}

/* The program has seen the end of its commands up to this time. */
static void host_learns(uint64_t end_ns)
{
    ocl.host_ns = end_ns > ocl.host_ns ? end_ns : ocl.host_ns;
}

void ocl_wait_event(cl_event event)
{
    cl_device_id device = event->queue ? event->queue->device->root : NULL;
    bool helped = false;
    while (!is_over(event) && !is_executor(device) && !ocl.is_stopping) {
        if (help(device))
            helped = true;
        else
            sleep_until_done();
    }
    host_learns(event->end_ns);
    if (helped)
        ocl_wake_workers();
}

void ocl_wait_queue(cl_command_queue queue)
{
    cl_event last = queue->last;
    bool helped = false;
    /* Only commands enqueued before the call count: others may go on enqueuing. */
    if (ocl_is_in_order(queue)) {
        if (last) {
            ocl_retain(last);
            ocl_wait_event(last);
            pthread_mutex_unlock(&ocl.lock);
            ocl_event_release(last);
            pthread_mutex_lock(&ocl.lock);
        }
        host_learns(queue->end_ns);
        return;
    }
    while (queue->first && !is_executor(queue->device->root) && !ocl.is_stopping) {
        if (help(queue->device->root))
            helped = true;
        else
            sleep_until_done();
    }
    host_learns(queue->end_ns);
    if (helped)
        ocl_wake_workers();
}

/* --------------------------------------------------------------------------------------------- submitting */

cl_int ocl_check_waits(cl_context context, cl_uint wait_count, const cl_event *wait_list)
{
    if ((wait_count == 0) != (wait_list == NULL))
        return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < wait_count; i++)
        if (!ocl_is(wait_list[i], OCL_EVENT))
            return CL_INVALID_EVENT_WAIT_LIST;
    for (cl_uint i = 0; i < wait_count; i++)
        if (wait_list[i]->context != context)
            return CL_INVALID_CONTEXT;
    return CL_SUCCESS;
}

cl_int ocl_check_enqueue(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list)
{
    if (!ocl_is(queue, OCL_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    return ocl_check_waits(queue->context, wait_count, wait_list);
}

static void undo(cl_event command, cl_uint wait_count, const cl_event *wait_list)
{
    cl_command_queue queue = command->queue;
    for (cl_uint i = 0; i < wait_count; i++)
        forget(command, wait_list[i]);
    for (cl_event e = queue->first; e; e = e->next)
        forget(command, e);
}

static cl_int wait_for_own(cl_event command)
{
    cl_int status;
    ocl_wait_event(command);
    status = command->status;
    if (status < 0)
        command->queue->is_poisoned = false; /* the program knows now */
    return status > CL_COMPLETE ? CL_OUT_OF_RESOURCES /* the process ends */ : status;
}

cl_int ocl_command_submit(cl_event command, cl_uint wait_count, const cl_event *wait_list, bool is_blocking,
                          cl_event *event)
{
    cl_int status = CL_SUCCESS;
    pthread_mutex_lock(&ocl.lock);
    command->missing = 1;
    if (!depend_on_all(command, wait_count, wait_list)) {
        undo(command, wait_count, wait_list);
        pthread_mutex_unlock(&ocl.lock);
        ocl_command_discard(command);
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (event || is_blocking)
        ocl_retain(command);
    if (event)
        *event = command;
    append(command);
    command->status = CL_SUBMITTED;
    command->queued_ns = command->submit_ns = ocl_host_now();
    if (--command->missing == 0)
        make_ready(command);
    if (is_blocking)
        status = wait_for_own(command);
    else
        ocl_wake_workers();
    pthread_mutex_unlock(&ocl.lock);
    if (is_blocking && !event)
        ocl_event_release(command);
    return status;
}

/* 16 GB/s and a microsecond to begin with: the order of magnitude of the bus. */
uint64_t ocl_copy_ns(uint64_t bytes)
{
    return 1000 + bytes / 16;
}
