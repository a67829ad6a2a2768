/* event.c: the state of commands, as their users see it. */
#include "runtime/driver/drv.h"

#include <stdlib.h>

ls_gpu_event *drv_event_create(ls_gpu_system *system)
{
    ls_gpu_event *event = malloc(sizeof *event);
    if (!event)
        return NULL;
    event->system = system;
    atomic_init(&event->references, 1);
    event->is_users = false;
    event->state = LS_GPU_PENDING;
    event->counts = (ls_gpu_counts){ 0 };
    event->queued_ns = drv_now(system);
    event->began_ns = event->ended_ns = 0;
    return event;
}

ls_gpu_event_state ls_gpu_event_get_state(const ls_gpu_event *event)
{
    ls_gpu_event_state state;
    pthread_mutex_lock(&event->system->lock);
    /* With timing only a question lets time pass: a program that polls must see an end. */
    if (event->system->backend->advance && !event->is_users && !drv_event_is_over(event))
        drv_step_locked(event->system);
    state = event->state;
    pthread_mutex_unlock(&event->system->lock);
    return state;
}

bool ls_gpu_event_is_over(const ls_gpu_event *event)
{
    pthread_mutex_lock(&event->system->lock);
    bool over = drv_event_is_over(event);
    pthread_mutex_unlock(&event->system->lock);
    return over;
}

ls_status ls_gpu_event_wait(ls_gpu_event *event, ls_error *err)
{
    ls_status status = LS_OK;
    pthread_mutex_lock(&event->system->lock);
    drv_wait_locked(event->system, event);
    if (event->state == LS_GPU_FAILED) {
        status = event->failure.status;
        if (err)
            *err = event->failure;
    }
    pthread_mutex_unlock(&event->system->lock);
    return status;
}

static size_t first_over(ls_gpu_event *const *events, size_t count)
{
    size_t i = 0;
    while (i < count && !drv_event_is_over(events[i]))
        i++;
    return i;
}

size_t ls_gpu_event_wait_any(ls_gpu_event *const *events, size_t count)
{
    ls_gpu_system *system = events[0]->system;
    size_t first;
    pthread_mutex_lock(&system->lock);
    while ((first = first_over(events, count)) == count)
        drv_step_or_sleep_locked(system);
    drv_wake_locked(system); /* the role of the executor is free again */
    pthread_mutex_unlock(&system->lock);
    return first;
}

void ls_gpu_event_get_counts(const ls_gpu_event *event, ls_gpu_counts *out)
{
    pthread_mutex_lock(&event->system->lock);
    *out = event->counts;
    pthread_mutex_unlock(&event->system->lock);
}

void ls_gpu_event_get_times(const ls_gpu_event *event, uint64_t *queued, uint64_t *began, uint64_t *ended)
{
    pthread_mutex_lock(&event->system->lock);
    *queued = event->queued_ns;
    *began = event->began_ns;
    *ended = event->ended_ns;
    pthread_mutex_unlock(&event->system->lock);
}

void ls_gpu_event_retain(ls_gpu_event *event)
{
    atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
}

void ls_gpu_event_release(ls_gpu_event *event)
{
    if (event && atomic_fetch_sub_explicit(&event->references, 1, memory_order_acq_rel) == 1)
        free(event);
}

ls_status ls_gpu_event_create(ls_gpu_context *context, ls_gpu_event **out, ls_error *err)
{
    *out = drv_event_create(context->system);
    if (!*out)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    (*out)->is_users = true;
    return LS_OK;
}

ls_status ls_gpu_event_set(ls_gpu_event *event, const ls_error *failure, ls_error *err)
{
    ls_status status = LS_OK;
    if (!event->is_users)
        return ls_fail(err, LS_ERR_USAGE, "the event of a command cannot be set by the host");
    if (failure && failure->status == LS_OK)
        return ls_fail(err, LS_ERR_USAGE, "an event cannot fail without an error");
    pthread_mutex_lock(&event->system->lock);
    if (drv_event_is_over(event)) {
        status = ls_fail(err, LS_ERR_USAGE, "the event is set already");
    } else {
        event->began_ns = event->ended_ns = drv_now(event->system);
        event->state = failure ? LS_GPU_FAILED : LS_GPU_DONE;
        if (failure)
            event->failure = *failure;
        drv_wake_locked(event->system);
    }
    pthread_mutex_unlock(&event->system->lock);
    return status;
}
