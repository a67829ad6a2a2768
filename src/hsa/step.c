/* step.c: the packet processors of all queues, and the copies. A step begins all that is ready, in the order of queues and
 * calls, then lets the driver run until something is over. In emulation a GPU has one command at a time. */
#include "hsa/rt.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- jobs */

rt_job *rt_job_create(rt_agent *agent)
{
    rt_job *job = calloc(1, sizeof *job);
    if (job)
        job->agent = agent;
    return job;
}

void rt_job_free(rt_job *job)
{
    for (size_t i = 0; i < job->events.count; i++)
        ls_gpu_event_release(job->events.at[i]);
    vec_fini(&job->events);
    vec_fini(&job->reached);
    vec_fini(&job->waits);
    free(job);
}

void rt_job_begun(rt_job *job)
{
    job->next = NULL;
    *rt.running_end = job;
    rt.running_end = &job->next;
    job->agent->running++;
    if (job->queue)
        job->queue->unfinished++;
}

/* Whether the GPU can take another command. */
static bool has_room(const rt_agent *agent)
{
    return rt.is_timed || agent->running == 0;
}

/* --------------------------------------------------------------------------------------------------- packets */

static uint8_t *packet_at(const rt_queue *queue, uint64_t index)
{
    const hsa_queue_t *q = &queue->shared->hsa;
    return (uint8_t *)q->base_address + (index & (q->size - 1)) * 64;
}

/* The slot is free again, and the queue goes on. */
static void take(rt_queue *queue, uint8_t *packet)
{
    const uint16_t invalid = PACKET_INVALID;
    __atomic_store(((uint16_t *)(void *)packet), &invalid, __ATOMIC_RELEASE);
    queue->next++;
    atomic_store(&queue->shared->read_index, queue->next);
}

static bool dependences_hold(const aql_barrier *barrier, bool any)
{
    bool given = false;
    for (size_t i = 0; i < LS_COUNT_OF(barrier->dependence); i++) {
        if (barrier->dependence[i].handle == 0)
            continue;
        given = true;
        bool is_zero = rt_signal_value(barrier->dependence[i]) == 0;
        if (is_zero == any)
            return any;
    }
    return !any || !given;
}

static void finish_barrier(const rt_queue *queue, hsa_signal_t completion)
{
    const uint64_t now = rt_now(queue->agent);
    rt_signal_complete(completion, now, now);
}

static bool begin_barrier(rt_queue *queue, uint8_t *packet, uint32_t type)
{
    aql_barrier barrier;
    memcpy(&barrier, packet, sizeof barrier);
    if (!dependences_hold(&barrier, type == PACKET_BARRIER_OR))
        return false;
    take(queue, packet);
    finish_barrier(queue, barrier.completion);
    return true;
}

static _Noreturn void die_of_packet(const rt_queue *queue, uint32_t type, uint32_t format)
{
    ls_error err;
    ls_fail(&err, LS_ERR_UNSUPPORTED,
            "queue %llu, packet %llu: packets of type %u, format %u are not supported",
            (unsigned long long)queue->shared->hsa.id, (unsigned long long)queue->next, type, format);
    rt_die(&err);
}

static bool begin_value_barrier(rt_queue *queue, uint8_t *packet)
{
    aql_barrier_value barrier;
    memcpy(&barrier, packet, sizeof barrier);
    if (barrier.format != VENDOR_BARRIER_VALUE)
        die_of_packet(queue, PACKET_VENDOR, barrier.format);
    if (barrier.signal.handle != 0 &&
        !rt_condition_holds(barrier.condition, rt_signal_value(barrier.signal) & barrier.mask, barrier.value))
        return false;
    take(queue, packet);
    finish_barrier(queue, barrier.completion);
    return true;
}

/* The queue's next packet, if it may begin. */
static bool begin_packet(rt_queue *queue)
{
    uint8_t *packet = packet_at(queue, queue->next);
    uint16_t header;
    if (queue->next >= atomic_load(&queue->shared->write_index))
        return false;
    __atomic_load(((uint16_t *)(void *)packet), &header, __ATOMIC_ACQUIRE);
    const uint32_t type = header & PACKET_TYPE_MASK;
    if (type == PACKET_INVALID || ((header & PACKET_BARRIER_BIT) && queue->unfinished > 0))
        return false;
    switch (type) {
    case PACKET_DISPATCH: {
        aql_dispatch dispatch;
        if (!has_room(queue->agent))
            return false;
        memcpy(&dispatch, packet, sizeof dispatch);
        take(queue, packet);
        rt_dispatch_begin(queue, &dispatch);
        return true;
    }
    case PACKET_BARRIER_AND:
    case PACKET_BARRIER_OR:
        return begin_barrier(queue, packet, type);
    case PACKET_VENDOR:
        return begin_value_barrier(queue, packet);
    default:
        die_of_packet(queue, type, 0);
    }
}

/* ---------------------------------------------------------------------------------------------------- copies */

static bool is_ready(const rt_job *job)
{
    for (size_t i = 0; i < job->waits.count; i++)
        if (rt_signal_value(job->waits.at[i]) != 0)
            return false;
    return has_room(job->agent);
}

static bool begin_copy(void)
{
    for (rt_job **link = &rt.copies; *link; link = &(*link)->next) {
        rt_job *job = *link;
        if (!is_ready(job))
            continue;
        *link = job->next;
        if (rt.copies_end == &job->next)
            rt.copies_end = link;
        if (rt_copy_begin(job))
            rt_job_begun(job);
        return true;
    }
    return false;
}

static bool begin_ready(void)
{
    bool any = false, again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < rt.queues.count; i++)
            while (begin_packet(rt.queues.at[i]))
                again = true;
        while (begin_copy())
            again = true;
        any |= again;
    }
    return any;
}

/* ------------------------------------------------------------------------------------------------------ ends */

/* Begin and end: simulated, or on the estimated clock of the GPU. */
static void times_of(const rt_job *job, uint64_t *start, uint64_t *end)
{
    *start = UINT64_MAX;
    *end = 0;
    if (rt.is_timed)
        for (size_t i = 0; i < job->events.count; i++) {
            uint64_t queued, began, ended;
            ls_gpu_event_get_times(job->events.at[i], &queued, &began, &ended);
            *start = began < *start ? began : *start;
            *end = ended > *end ? ended : *end;
        }
    if (*start != UINT64_MAX)
        return;
    uint64_t cost = job->cost_ns;
    for (size_t i = 0; i < job->events.count && job->queue; i++) {
        ls_gpu_counts counts;
        ls_gpu_event_get_counts(job->events.at[i], &counts);
        cost += rt_dispatch_ns(job->agent, &counts);
    }
    *start = rt_now(job->agent);
    job->agent->busy_ns += rt.is_timed ? 0 : cost;
    *end = rt_now(job->agent);
}

static void finish(rt_job *job)
{
    uint64_t start, end;
    ls_error err;
    for (size_t i = 0; i < job->events.count; i++) {
        ls_gpu_counts counts;
        if (ls_gpu_event_wait(job->events.at[i], &err) != LS_OK)
            rt_die(&err);
        ls_gpu_event_get_counts(job->events.at[i], &counts);
        if (client.has_counts && job->queue)
            ls_gpu_counts_add(&client.counts, &counts);
    }
    times_of(job, &start, &end);
    rt_mirror_out(job);
    job->agent->running--;
    if (job->queue)
        job->queue->unfinished--;
    rt_signal_complete(job->completion, start, end);
    rt_job_free(job);
}

static bool is_over(const rt_job *job)
{
    for (size_t i = 0; i < job->events.count; i++)
        if (!ls_gpu_event_is_over(job->events.at[i]))
            return false;
    return true;
}

static bool finish_over(void)
{
    bool any = false;
    for (rt_job **link = &rt.running; *link;) {
        rt_job *job = *link;
        if (!is_over(job)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        if (rt.running_end == &job->next)
            rt.running_end = link;
        finish(job);
        any = true;
    }
    return any;
}

/* Waits for the first event that is not over. */
static void run(void)
{
    LS_VEC(ls_gpu_event *) events = { 0 };
    for (rt_job *job = rt.running; job; job = job->next)
        for (size_t i = 0; i < job->events.count; i++)
            if (!ls_gpu_event_is_over(job->events.at[i]) && vec_push(&events, job->events.at[i]))
                ls_gpu_event_retain(job->events.at[i]);
    if (events.count > 0) {
        pthread_mutex_unlock(&rt.lock);
        (void)ls_gpu_event_wait_any(events.at, events.count);
        pthread_mutex_lock(&rt.lock);
    }
    for (size_t i = 0; i < events.count; i++)
        ls_gpu_event_release(events.at[i]);
    vec_fini(&events);
}

/* ------------------------------------------------------------------------------------------------------ steps */

bool rt_has_work(void)
{
    bool any = rt.copies || rt.running;
    for (size_t i = 0; i < rt.queues.count && !any; i++)
        any = rt.queues.at[i]->next < atomic_load(&rt.queues.at[i]->shared->write_index);
    return any;
}

bool rt_step(void)
{
    if (rt.is_stepping || rt.is_ending)
        return false;
    rt.is_stepping = true;
    rt.polls = 0;
    bool any = begin_ready();
    if (rt.running) {
        run();
        any |= finish_over();
    }
    rt.is_stepping = false;
    pthread_cond_broadcast(&rt.changed);
    return any;
}
