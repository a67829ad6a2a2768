/* execute.c: execution of commands. A device has one executor at a time: its own worker thread, or a thread of
 * the program that waits anyway. The latter saves a switch between threads.
 *
 * In simulated time commands run side by side, and the time at which each begins is part of the result. A
 * worker would make that time depend on the host, so there is none. Commands begin when the program waits or
 * queries: all ready commands begin before time passes. Only a program with callbacks gets a worker, because
 * it may never wait. */
#include "opencl/ocl.h"

#include "opencl/svm.h"

#include <stdlib.h>

#define CLOCK_START_NS 1000u /* 0 would look like "never" */

/* -------------------------------------------------------------------------------------------- one command */

static void start_command(cl_event command)
{
    ocl_event_callback *callbacks;
    command->status = CL_RUNNING;
    callbacks = ocl_take_callbacks(command, CL_RUNNING);
    pthread_mutex_unlock(&ocl.lock);
    ocl_call_back(command, CL_RUNNING, callbacks);
}

uint64_t ocl_now(const struct _cl_device_id *device)
{
    return CLOCK_START_NS + (ocl.is_timed ? ls_gpu_system_now(ocl.system) : device->busy_ns);
}

uint64_t ocl_host_now(void)
{
    if (ocl.is_timed)
        return CLOCK_START_NS + ls_gpu_system_now(ocl.system);
    return ocl.host_ns > CLOCK_START_NS ? ocl.host_ns : CLOCK_START_NS;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* An emulated command begins when it is queued and everything before it has ended: what it waits for, and in its queue
 * the commands before it, or the last barrier. So the estimate is the same in every run. */
static void estimate_times(cl_event command)
{
    const struct _cl_command_queue *queue = command->queue;
    bool is_order = command->type == CL_COMMAND_MARKER || command->type == CL_COMMAND_BARRIER;
    uint64_t before = ocl_is_in_order(queue) || is_order ? queue->end_ns : queue->barrier_ns;
    command->start_ns = later(later(command->queued_ns, command->earliest_ns), before);
    command->end_ns = command->start_ns + command->cost_ns;
    queue->device->root->busy_ns = later(queue->device->root->busy_ns, command->end_ns - CLOCK_START_NS);
}

/* Of a command that is over; began: when it began to run, by the clock. */
static void set_times(cl_event command, uint64_t began)
{
    if (!ocl.is_timed) {
        estimate_times(command);
        return;
    }
    command->start_ns = began;
    command->end_ns = ocl_now(command->queue->device->root);
    if (command->under_way) {
        uint64_t queued, ended;
        ls_gpu_event_get_times(command->under_way, &queued, &began, &ended);
        command->start_ns = CLOCK_START_NS + began;
        command->end_ns = CLOCK_START_NS + ended;
    }
}

static void report(cl_event command, const ls_error *err)
{
    char text[1024];
    if (err->status == LS_OK)
        return;
    if (err->status == LS_ERR_CHECK)
        atomic_store(&client.has_finding, true);
    client_complain("%s", ls_error_text(err, text, sizeof text));
    ocl_context_notify(command->context, text);
}

static bool may_run(const struct _cl_event *command)
{
    return command->inherited == CL_SUCCESS &&
           !(command->queue->is_poisoned && ocl_is_in_order(command->queue));
}

static void become_executor(cl_device_id device)
{
    device->is_executing = true;
    device->executor = pthread_self();
}

/* Runs a command that was started (with status CL_SUCCESS), or finishes a command that has begun, and ends it.
 * Without the lock; returns with it. */
static void run_to_end(cl_event command, cl_int status, ls_error *err)
{
    uint64_t began = ocl_now(command->queue->device->root);
    ls_gpu_event *under_way = command->under_way;
    bool is_refused = status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (status == CL_SUCCESS && command->run && !under_way)
        status = ocl_svm_fine_give(command->context, err);
    if (status == CL_SUCCESS && command->run)
        status = command->run(command, err);
    if (status == CL_SUCCESS && command->run)
        status = ocl_svm_fine_take(command->context, err);
    if (command->finish)
        command->finish(command);
    if (status < 0 && !is_refused)
        report(command, err);
    if (!ocl.is_ending) /* its callbacks would be called */
        ocl_command_let_go(command);
    pthread_mutex_lock(&ocl.lock);
    command->queue->device->root->is_executing = false;
    if (status < 0 && !is_refused && (command->poisons || ocl.is_ending))
        command->queue->is_poisoned = true;
    set_times(command, began);
    ocl_event_complete(command, status);
    pthread_mutex_unlock(&ocl.lock);
    ls_gpu_event_release(under_way);
    ocl_event_release(command);
    pthread_mutex_lock(&ocl.lock);
}

static void run_at_once(cl_event command)
{
    ls_error err = { .status = LS_OK };
    cl_int status = may_run(command) ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    become_executor(command->queue->device->root);
    start_command(command);
    run_to_end(command, status, &err);
}

/* ----------------------------------------------------------------------------------------- simulated time */

static bool can_begin(const struct _cl_event *command)
{
    /* When the process ends, host memory may be gone: these commands check it themselves. */
    return command->begin && may_run(command) && !ocl.is_ending;
}

static bool reserve_begun(cl_device_id device)
{
    if (device->begun_count < device->begun_room)
        return true;
    size_t room = device->begun_room ? 2 * device->begun_room : 8;
    cl_event *begun = realloc(device->begun, room * sizeof *begun);
    if (begun)
        device->begun = begun;
    ls_gpu_event **under_way = realloc(device->under_way, room * sizeof(ls_gpu_event *));
    if (under_way)
        device->under_way = under_way;
    if (begun && under_way)
        device->begun_room = room;
    return begun && under_way;
}

/* Begins a ready command. If it must be executed at once after all, it goes back to its list. */
static void begin_one(cl_device_id device, cl_event command)
{
    ls_error err = { .status = LS_OK };
    become_executor(device);
    start_command(command);
    cl_int status = ocl_svm_fine_give(command->context, &err);
    if (status == CL_SUCCESS)
        status = command->begin(command, command->queue->gpu_queue, &command->under_way, &err);
    if (status != CL_SUCCESS) {
        run_to_end(command, status, &err);
        return;
    }
    pthread_mutex_lock(&ocl.lock);
    device->is_executing = false;
    if (command->under_way) {
        device->begun[device->begun_count] = command;
        device->under_way[device->begun_count++] = command->under_way;
    } else {
        command->begin = NULL;
        command->ready_next = device->ready;
        device->ready = command;
        if (!device->ready_tail)
            device->ready_tail = command;
    }
    if (ocl.waiters > 0)
        pthread_cond_broadcast(&ocl.done);
}

/* Advances time until one of the begun commands is over, and ends it. */
static void end_one(cl_device_id device)
{
    ls_error err = { .status = LS_OK };
    become_executor(device);
    pthread_mutex_unlock(&ocl.lock);
    size_t at = ls_gpu_event_wait_any(device->under_way, device->begun_count);
    pthread_mutex_lock(&ocl.lock);
    cl_event command = device->begun[at];
    device->begun_count--;
    for (size_t i = at; i < device->begun_count; i++) {
        device->begun[i] = device->begun[i + 1];
        device->under_way[i] = device->under_way[i + 1];
    }
    pthread_mutex_unlock(&ocl.lock);
    run_to_end(command, CL_SUCCESS, &err);
}

/* -------------------------------------------------------------------------------------------------- steps */

static bool is_any(const struct _cl_event *command)
{
    (void)command;
    return true;
}

/* The first of the device's ready commands that is wanted; NULL: none. */
static cl_event take_ready(cl_device_id device, bool (*wanted)(const struct _cl_event *command))
{
    cl_event before = NULL, command = device->ready;
    while (command && !wanted(command)) {
        before = command;
        command = command->ready_next;
    }
    if (!command)
        return NULL;
    *(before ? &before->ready_next : &device->ready) = command->ready_next;
    if (device->ready_tail == command)
        device->ready_tail = before;
    return command;
}

bool ocl_step(cl_device_id device)
{
    cl_event command = NULL;
    if (device->is_executing || ocl.is_stopping || ocl.is_forking)
        return false;
    if (ocl.is_timed && reserve_begun(device) && (command = take_ready(device, can_begin)) != NULL)
        begin_one(device, command);
    else if ((command = take_ready(device, is_any)) != NULL)
        run_at_once(command);
    else if (device->begun_count > 0)
        end_one(device);
    else
        return false;
    return true;
}

/* ------------------------------------------------------------------------------------------------ workers */

static bool has_use_for_workers(void)
{
    return !ocl.is_timed || ocl.callbacks > 0;
}

static void *work(void *self)
{
    cl_device_id device = self;
    pthread_mutex_lock(&ocl.lock);
    while (!ocl.is_stopping)
        if (has_use_for_workers() && ocl_step(device)) {
            ocl_wake_workers(); /* the newly ready command may belong to another device */
        } else {
            device->worker_sleeps = true;
            pthread_cond_wait(&device->work, &ocl.lock);
            device->worker_sleeps = false;
        }
    pthread_mutex_unlock(&ocl.lock);
    return NULL;
}

void ocl_wake_workers(void)
{
    for (cl_uint i = 0; i < ocl.device_count && has_use_for_workers(); i++) {
        cl_device_id device = &ocl.devices[i];
        if ((!device->ready && device->begun_count == 0) || device->is_executing)
            continue;
        if (!device->has_worker) {
            device->has_worker = pthread_create(&device->worker, NULL, work, device) == 0;
            if (device->has_worker)
                pthread_detach(device->worker);
        } else if (device->worker_sleeps) {
            device->worker_sleeps = false;
            pthread_cond_signal(&device->work);
        }
    }
}

void ocl_move_on(const struct _cl_event *event)
{
    ocl_wake_workers();
    if (ocl.is_timed && event->queue && event->status > CL_COMPLETE)
        ocl_step(event->queue->device->root);
}
