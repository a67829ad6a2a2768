/* queue.c: the order and the thread of commands: submission, executors, workers, waiting. drv.h explains it. */
#include "runtime/driver/drv.h"

#include <stdlib.h>
#include <time.h>

uint64_t drv_now(const ls_gpu_system *system)
{
    struct timespec t;
    if (system->backend->now)
        return system->backend->now(system->machine);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ----------------------------------------------------------------------------------------------- commands */

drv_command *drv_command_create(ls_gpu_queue *queue, drv_run_fn run, size_t tail_bytes)
{
    drv_command *command = malloc(sizeof *command + tail_bytes);
    if (!command)
        return NULL;
    command->next = NULL;
    command->run = run;
    command->queue = queue;
    command->waits = NULL;
    command->work = NULL;
    command->event = drv_event_create(queue->context->system);
    if (!command->event) {
        free(command);
        return NULL;
    }
    return command;
}

/* ---------------------------------------------------------------------------------------------- executing */

bool drv_is_ready(const drv_command *command)
{
    const ls_gpu_event *waits = command->waits;
    if (command->event->state != LS_GPU_PENDING)
        return false;
    return !waits || drv_event_is_over(waits) || (command->queue->is_closing && waits->is_users);
}

static drv_command *next_ready(const drv_gpu *gpu)
{
    drv_command *best = NULL;
    for (ls_gpu_queue *q = gpu->queues; q; q = q->next_of_gpu)
        for (drv_command *c = drv_offered(q, NULL); c; c = drv_offered(q, c))
            if (drv_is_ready(c) && (!best || c->sequence < best->sequence))
                best = c;
    return best;
}

/* Why a command must not run; LS_OK if it may. */
ls_status drv_refusal(const drv_command *command, ls_error *err)
{
    if (command->queue->has_failed && !command->queue->is_unordered) {
        *err = command->queue->failure;
        return ls_error_prefix(err, "an earlier command of the queue failed");
    }
    if (command->waits && command->waits->state == LS_GPU_FAILED) {
        *err = command->waits->failure;
        return ls_error_prefix(err, "the event that the queue waits for failed");
    }
    if (command->waits && !drv_event_is_over(command->waits))
        return ls_fail(err, LS_ERR_INTERRUPTED,
                       "the queue was destroyed while it waited for an event of the host");
    return LS_OK;
}

static void take_out(const drv_command *command)
{
    ls_gpu_queue *queue = command->queue;
    drv_command *before = NULL;
    for (drv_command *c = queue->head; c != command; c = c->next)
        before = c;
    *(before ? &before->next : &queue->head) = command->next;
    if (queue->tail == command)
        queue->tail = before;
    queue->context->system->gpus[queue->gpu].pending--;
}

void drv_finish(drv_command *command, ls_status status)
{
    ls_gpu_queue *queue = command->queue;
    ls_gpu_system *system = queue->context->system;
    ls_gpu_event *event = command->event;
    if (command->work == NULL) {
        event->ended_ns = drv_now(system);
        event->counts.host_ns = command->run ? event->ended_ns - event->began_ns : 0;
    }
    event->state = status == LS_OK ? LS_GPU_DONE : LS_GPU_FAILED;
    ls_gpu_counts_add(&queue->context->counts, &event->counts);
    if (status != LS_OK && !queue->is_default && !queue->has_failed) {
        queue->has_failed = true;
        queue->failure = event->failure;
    }
    take_out(command);
    ls_gpu_event_release(command->waits);
    ls_gpu_event_release(event);
    free(command);
}

/* Runs one command of the GPU; false if none is ready or another thread executes. */
static bool step_locked(ls_gpu_system *system, drv_gpu *gpu)
{
    drv_command *command = gpu->is_executing ? NULL : next_ready(gpu);
    ls_status status;
    if (!command)
        return false;
    command->event->began_ns = drv_now(system);
    status = drv_refusal(command, &command->event->failure);
    if (status == LS_OK && command->run) {
        command->event->state = LS_GPU_RUNNING;
        gpu->is_executing = true;
        pthread_mutex_unlock(&system->lock);
        status = command->run(command, &command->event->counts, &command->event->failure);
        pthread_mutex_lock(&system->lock);
        gpu->is_executing = false;
    }
    drv_finish(command, status);
    if (system->waiters > 0)
        pthread_cond_broadcast(&system->done);
    return true;
}

bool drv_step_locked(ls_gpu_system *system)
{
    if (system->backend->advance)
        return drv_time_step_locked(system);
    for (size_t i = 0; i < system->gpu_count; i++)
        if (step_locked(system, &system->gpus[i]))
            return true;
    return false;
}

static void sleep_locked(ls_gpu_system *system)
{
    system->waiters++;
    pthread_cond_wait(&system->done, &system->lock);
    system->waiters--;
}

/* Wakes a thread for every GPU that may have a command that just became ready. */
void drv_wake_locked(ls_gpu_system *system)
{
    for (size_t i = 0; i < system->gpu_count; i++)
        if (system->gpus[i].has_worker && system->gpus[i].pending > 0 && !system->gpus[i].is_executing)
            pthread_cond_signal(&system->gpus[i].work);
    if (system->waiters > 0)
        pthread_cond_broadcast(&system->done);
}

bool drv_step_or_sleep_locked(ls_gpu_system *system)
{
    if (drv_step_locked(system))
        return true;
    sleep_locked(system);
    return false;
}

void drv_wait_locked(ls_gpu_system *system, const ls_gpu_event *event)
{
    bool helped = false;
    while (!drv_event_is_over(event))
        helped |= drv_step_or_sleep_locked(system);
    /* The role of the executor is free again: others' commands must not lie there. */
    if (helped)
        drv_wake_locked(system);
}

static void *work(void *self)
{
    drv_gpu *gpu = ((void **)self)[0];
    ls_gpu_system *system = ((void **)self)[1];
    free(self);
    pthread_mutex_lock(&system->lock);
    while (!system->is_stopping)
        if (step_locked(system, gpu))
            drv_wake_locked(system);
        else
            pthread_cond_wait(&gpu->work, &system->lock);
    pthread_mutex_unlock(&system->lock);
    return NULL;
}

/* Without a worker, commands run in the thread that waits for them: slower, not wrong. */
static void start_worker_locked(ls_gpu_system *system, drv_gpu *gpu)
{
    void **self = malloc(2 * sizeof *self);
    if (!self)
        return;
    self[0] = gpu;
    self[1] = system;
    gpu->has_worker = pthread_create(&gpu->worker, NULL, work, self) == 0;
    if (!gpu->has_worker)
        free(self);
}

void drv_stop_workers(ls_gpu_system *system)
{
    pthread_mutex_lock(&system->lock);
    system->is_stopping = true;
    for (size_t i = 0; i < system->gpu_count; i++)
        pthread_cond_signal(&system->gpus[i].work);
    pthread_mutex_unlock(&system->lock);
    for (size_t i = 0; i < system->gpu_count; i++)
        if (system->gpus[i].has_worker)
            pthread_join(system->gpus[i].worker, NULL);
}

/* -------------------------------------------------------------------------------------------- submitting */

static void append_locked(drv_command *command)
{
    ls_gpu_queue *queue = command->queue;
    ls_gpu_system *system = queue->context->system;
    command->sequence = system->sequence++;
    if (queue->tail)
        queue->tail->next = command;
    else
        queue->head = command;
    queue->tail = command;
    system->gpus[queue->gpu].pending++;
}

void drv_submit(drv_command *command, ls_gpu_event **event)
{
    ls_gpu_system *system = command->queue->context->system;
    drv_gpu *gpu = &system->gpus[command->queue->gpu];
    if (event) {
        *event = command->event;
        ls_gpu_event_retain(*event);
    }
    pthread_mutex_lock(&system->lock);
    append_locked(command);
    if (!gpu->has_worker && !system->backend->advance)
        start_worker_locked(system, gpu);
    drv_wake_locked(system);
    pthread_mutex_unlock(&system->lock);
}

ls_status drv_submit_wait(drv_command *command, ls_error *err)
{
    ls_gpu_event *event = command->event;
    ls_gpu_system *system = event->system;
    ls_status status = LS_OK;
    ls_gpu_event_retain(event);
    pthread_mutex_lock(&system->lock);
    append_locked(command);
    drv_wait_locked(system, event);
    if (event->state == LS_GPU_FAILED) {
        status = event->failure.status;
        if (err)
            *err = event->failure;
    }
    pthread_mutex_unlock(&system->lock);
    ls_gpu_event_release(event);
    return status;
}

/* ---------------------------------------------------------------------------------------- queues as such */

void drv_queue_init(ls_gpu_queue *queue, ls_gpu_context *context, size_t gpu)
{
    ls_gpu_system *system = context->system;
    queue->context = context;
    queue->gpu = gpu;
    pthread_mutex_lock(&system->lock);
    queue->next_of_gpu = system->gpus[gpu].queues;
    system->gpus[gpu].queues = queue;
    pthread_mutex_unlock(&system->lock);
}

static void empty_locked(ls_gpu_queue *queue)
{
    ls_gpu_system *system = queue->context->system;
    bool helped = false;
    while (queue->head)
        helped |= drv_step_or_sleep_locked(system);
    if (helped)
        drv_wake_locked(system);
}

void drv_queue_fini(ls_gpu_queue *queue)
{
    ls_gpu_system *system = queue->context->system;
    ls_gpu_queue **link = &system->gpus[queue->gpu].queues;
    pthread_mutex_lock(&system->lock);
    queue->is_closing = true;
    empty_locked(queue);
    while (*link != queue)
        link = &(*link)->next_of_gpu;
    *link = queue->next_of_gpu;
    pthread_mutex_unlock(&system->lock);
}

void drv_drain(ls_gpu_context *context)
{
    pthread_mutex_lock(&context->system->lock);
    for (size_t i = 0; i < context->system->gpu_count; i++)
        empty_locked(&context->defaults[i]);
    for (ls_gpu_queue *q = context->queues; q; q = q->next)
        empty_locked(q);
    pthread_mutex_unlock(&context->system->lock);
}

static ls_status create(ls_gpu_context *context, bool is_unordered, ls_gpu_queue **out, ls_error *err)
{
    ls_gpu_queue *queue = calloc(1, sizeof *queue);
    *out = queue;
    if (!queue)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    queue->is_unordered = is_unordered;
    drv_queue_init(queue, context, ls_gpu_selected(context));
    pthread_mutex_lock(&context->system->lock);
    queue->next = context->queues;
    context->queues = queue;
    pthread_mutex_unlock(&context->system->lock);
    return LS_OK;
}

ls_status ls_gpu_queue_create(ls_gpu_context *context, ls_gpu_queue **out, ls_error *err)
{
    return create(context, false, out, err);
}

ls_status ls_gpu_queue_create_unordered(ls_gpu_context *context, ls_gpu_queue **out, ls_error *err)
{
    return create(context, true, out, err);
}

void ls_gpu_queue_destroy(ls_gpu_queue *queue)
{
    ls_gpu_queue **link;
    if (!queue)
        return;
    drv_queue_fini(queue);
    pthread_mutex_lock(&queue->context->system->lock);
    link = &queue->context->queues;
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    pthread_mutex_unlock(&queue->context->system->lock);
    free(queue);
}

static ls_status sync_locked(ls_gpu_queue *queue, ls_error *err)
{
    empty_locked(queue);
    if (!queue->has_failed)
        return LS_OK;
    queue->has_failed = false;
    if (err)
        *err = queue->failure;
    return queue->failure.status;
}

ls_status ls_gpu_queue_sync(ls_gpu_queue *queue, ls_error *err)
{
    ls_status status;
    pthread_mutex_lock(&queue->context->system->lock);
    status = sync_locked(queue, err);
    pthread_mutex_unlock(&queue->context->system->lock);
    return status;
}

ls_status ls_gpu_sync(ls_gpu_context *context, ls_error *err)
{
    ls_status status = LS_OK;
    pthread_mutex_lock(&context->system->lock);
    for (ls_gpu_queue *q = context->queues; q; q = q->next) {
        ls_error one;
        ls_status of_queue = sync_locked(q, &one);
        if (of_queue != LS_OK && status == LS_OK) {
            status = of_queue;
            if (err)
                *err = one;
        }
    }
    pthread_mutex_unlock(&context->system->lock);
    return status;
}
