/* time.c: commands on a back end that simulates time. Time advances only while a thread waits. Each turn
 * submits the ready commands, lets time pass until one is over, and finishes all that are over. So the order
 * depends on the program alone. */
#include "runtime/driver/drv.h"

#include <stdlib.h>

/* Ready commands that the host itself executes: marks, calls, commands that must not run. */
static bool finish_on_host(ls_gpu_system *system, drv_command *command)
{
    drv_work work;
    ls_status status = drv_refusal(command, &command->event->failure);
    if (status == LS_OK && command->run && drv_command_work(command, &work))
        return false;
    command->event->began_ns = drv_now(system);
    if (status == LS_OK && command->run) {
        command->event->state = LS_GPU_RUNNING;
        pthread_mutex_unlock(&system->lock);
        status = command->run(command, &command->event->counts, &command->event->failure);
        pthread_mutex_lock(&system->lock);
    }
    drv_finish(command, status);
    return true;
}

static void submit(ls_gpu_system *system, drv_command *command)
{
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
        drv_finish(command, status);
        return;
    }
    command->work = work;
    event->state = LS_GPU_RUNNING;
    system->in_flight++;
}

static void finish_work(ls_gpu_system *system, drv_command *command, const ls_error *failure)
{
    drv_work *work = command->work;
    ls_gpu_event *event = command->event;
    ls_status status = failure ? failure->status : work->status;
    if (status != LS_OK)
        event->failure = failure ? *failure : work->failure;
    event->counts = work->counts;
    event->began_ns = work->began_ns;
    event->ended_ns = failure ? drv_now(system) : work->ended_ns;
    system->in_flight--;
    drv_finish(command, status);
    free(work);
}

/* The oldest command that a queue offers and for which `wanted` holds. */
static drv_command *oldest(ls_gpu_system *system, bool (*wanted)(const drv_command *command))
{
    drv_command *best = NULL;
    for (size_t i = 0; i < system->gpu_count; i++)
        for (ls_gpu_queue *q = system->gpus[i].queues; q; q = q->next_of_gpu)
            for (drv_command *c = drv_offered(q, NULL); c; c = drv_offered(q, c))
                if (wanted(c) && (!best || c->sequence < best->sequence))
                    best = c;
    return best;
}

static bool is_over(const drv_command *command)
{
    return command->work && command->work->is_over;
}

static bool is_in_flight(const drv_command *command)
{
    return command->work != NULL;
}

bool drv_time_step_locked(ls_gpu_system *system)
{
    bool moved = false;
    drv_command *command;
    ls_error err;
    ls_status status;
    if (system->is_advancing)
        return false;
    system->is_advancing = true;
    while ((command = oldest(system, drv_is_ready)) != NULL) {
        if (!finish_on_host(system, command))
            submit(system, command);
        moved = true;
    }
    /* A command that the host finished may be the one that a thread waits for, so the caller checks again
     * before time passes. */
    if (!moved && system->in_flight > 0) {
        moved = true;
        pthread_mutex_unlock(&system->lock);
        status = system->backend->advance(system->machine, &err);
        pthread_mutex_lock(&system->lock);
        while ((command = oldest(system, status == LS_OK ? is_over : is_in_flight)) != NULL)
            finish_work(system, command, status == LS_OK ? NULL : &err);
    }
    system->is_advancing = false;
    if (moved && system->waiters > 0)
        pthread_cond_broadcast(&system->done);
    return moved;
}
