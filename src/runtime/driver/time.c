/* time.c: commands on a back end that simulates time. Time advances only while a thread waits. Each turn
 * submits the ready commands, lets time pass until one is over, and finishes all that are over. So the order
 * depends on the program alone. */
#include "runtime/driver/drv.h"

#include <stdlib.h>

/* Commands that the host itself executes at the head of a queue: marks, calls, commands that must not run. */
static bool finish_on_host(ls_gpu_system *system, ls_gpu_queue *queue)
{
    drv_command *command = queue->head;
    drv_work work;
    ls_status status = drv_refusal(queue, command, &command->event->failure);
    if (status == LS_OK && command->run && drv_command_work(command, &work))
        return false;
    command->event->began_ns = drv_now(system);
    if (status == LS_OK && command->run) {
        command->event->state = LS_GPU_RUNNING;
        queue->is_running = true;
        pthread_mutex_unlock(&system->lock);
        status = command->run(command, &command->event->counts, &command->event->failure);
        pthread_mutex_lock(&system->lock);
    }
    drv_finish(queue, command, status);
    return true;
}

static void submit(ls_gpu_system *system, ls_gpu_queue *queue)
{
    drv_command *command = queue->head;
    ls_gpu_event *event = command->event;
    drv_work *work = malloc(sizeof *work);
    ls_status status;
    event->began_ns = drv_now(system);
    if (!work) {
        status = ls_fail(&event->failure, LS_ERR_NOMEM, "the host has no memory left");
    } else {
        drv_command_work(command, work);
        status = system->backend->submit(system->machine, work, &event->failure);
    }
    if (status != LS_OK) {
        free(work);
        drv_finish(queue, command, status);
        return;
    }
    command->work = work;
    event->state = LS_GPU_RUNNING;
    queue->is_running = true;
    system->in_flight++;
}

static void finish_work(ls_gpu_system *system, ls_gpu_queue *queue, const ls_error *failure)
{
    drv_command *command = queue->head;
    drv_work *work = command->work;
    ls_gpu_event *event = command->event;
    ls_status status = failure ? failure->status : work->status;
    if (status != LS_OK)
        event->failure = failure ? *failure : work->failure;
    event->counts = work->counts;
    event->began_ns = work->began_ns;
    event->ended_ns = failure ? drv_now(system) : work->ended_ns;
    system->in_flight--;
    drv_finish(queue, command, status);
    free(work);
}

/* The first queue, by age of its command, for which `wanted` holds. */
static ls_gpu_queue *oldest(ls_gpu_system *system, bool (*wanted)(const ls_gpu_queue *queue))
{
    ls_gpu_queue *best = NULL;
    for (size_t i = 0; i < system->gpu_count; i++)
        for (ls_gpu_queue *q = system->gpus[i].queues; q; q = q->next_of_gpu)
            if (wanted(q) && (!best || q->head->sequence < best->head->sequence))
                best = q;
    return best;
}

static bool is_over(const ls_gpu_queue *queue)
{
    return queue->head && queue->head->work && queue->head->work->is_over;
}

static bool is_in_flight(const ls_gpu_queue *queue)
{
    return queue->head && queue->head->work;
}

bool drv_time_step_locked(ls_gpu_system *system)
{
    bool moved = false;
    ls_gpu_queue *queue;
    ls_error err;
    ls_status status;
    if (system->is_advancing)
        return false;
    system->is_advancing = true;
    while ((queue = oldest(system, drv_is_ready)) != NULL) {
        if (!finish_on_host(system, queue))
            submit(system, queue);
        moved = true;
    }
    /* A command that the host finished may be the one that a thread waits for, so the caller checks again
     * before time passes. */
    if (!moved && system->in_flight > 0) {
        moved = true;
        pthread_mutex_unlock(&system->lock);
        status = system->backend->advance(system->machine, &err);
        pthread_mutex_lock(&system->lock);
        while ((queue = oldest(system, status == LS_OK ? is_over : is_in_flight)) != NULL)
            finish_work(system, queue, status == LS_OK ? NULL : &err);
    }
    system->is_advancing = false;
    if (moved && system->waiters > 0)
        pthread_cond_broadcast(&system->done);
    return moved;
}
