/* copy.c: copies that programs ask for, with signals before and after them. One side or both may be memory of a GPU; the
 * DMA engine of that GPU then makes the copy. */
#include "hsa/rt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COPY_NS 1000u        /* estimated, to begin with */
#define COPY_BYTES_PER_NS 16 /* of the host link */

/* One side of a copy: an address of a GPU, or a pointer of the program. With the lock held. */
typedef struct side {
    uint64_t address;
    uint8_t *host;
    rt_agent *agent; /* NULL: the host */
} side;

static side side_of(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const rt_range *r = rt_range_at(address);
    if (!r)
        return (side){ .host = (uint8_t *)(uintptr_t)pointer };
    if (r->kind == RT_HOST || r->kind == RT_LOCKED)
        return (side){ .host = r->host + (address - r->address) };
    return (side){ .address = address, .agent = r->pool->agent };
}

/* ----------------------------------------------------------------------------------------------------- rows */

static ls_status copy_row(const rt_job *job, uint64_t to_at, uint64_t from_at, ls_gpu_event **event,
                          ls_error *err)
{
    const rt_copy *c = &job->copy;
    ls_gpu_queue *queue = job->agent->commands;
    const size_t bytes = (size_t)c->bytes;
    *event = NULL;
    if (c->is_fill && c->to)
        return ls_gpu_queue_fill(queue, c->to + to_at, &c->pattern, sizeof c->pattern, bytes, event, err);
    for (size_t i = 0; c->is_fill && i < bytes; i += sizeof c->pattern)
        memcpy(c->host_to + to_at + i, &c->pattern, sizeof c->pattern);
    if (c->is_fill)
        return LS_OK;
    if (c->to && c->from)
        return ls_gpu_queue_copy(queue, c->to + to_at, c->from + from_at, bytes, event, err);
    if (c->to)
        return ls_gpu_queue_copy_in(queue, c->to + to_at, c->host_from + from_at, bytes, event, err);
    if (c->from)
        return ls_gpu_queue_copy_out(queue, c->host_to + to_at, c->from + from_at, bytes, event, err);
    memmove(c->host_to + to_at, c->host_from + from_at, bytes);
    return LS_OK;
}

/* Rows without a gap are one. */
static void join_rows(rt_copy *c)
{
    if (c->rows > 1 && c->to_row == c->bytes && c->from_row == c->bytes) {
        c->bytes *= c->rows;
        c->rows = 1;
    }
    if (c->rows == 1 && c->slices > 1 && c->to_slice == c->bytes && c->from_slice == c->bytes) {
        c->bytes *= c->slices;
        c->slices = 1;
    }
}

/* Begins a copy. False: it was the host's, and is over. */
bool rt_copy_begin(rt_job *job)
{
    rt_copy *c = &job->copy;
    ls_status status = LS_OK;
    ls_error err;
    join_rows(c);
    job->cost_ns = COPY_NS + c->bytes * c->rows * c->slices / COPY_BYTES_PER_NS;
    for (uint64_t z = 0; z < c->slices && status == LS_OK; z++)
        for (uint64_t y = 0; y < c->rows && status == LS_OK; y++) {
            ls_gpu_event *event;
            status = copy_row(job, z * c->to_slice + y * c->to_row, z * c->from_slice + y * c->from_row,
                              &event, &err);
            if (status == LS_OK && event && !vec_push(&job->events, event))
                status = ls_fail(&err, LS_ERR_NOMEM, "the host has no memory left");
        }
    if (status != LS_OK) {
        (void)ls_error_prefix(&err, "a copy of the program");
        rt_die(&err);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ calls */

static hsa_status_t add(const rt_copy *copy, rt_agent *agent, uint32_t count, const hsa_signal_t *waits,
                        hsa_signal_t completion)
{
    rt_job *job = rt_job_create(agent ? agent : &rt.agents[1]);
    bool good = job != NULL;
    for (uint32_t i = 0; i < count && good; i++)
        if (waits[i].handle != 0)
            good = vec_push(&job->waits, waits[i]);
    if (!good) {
        if (job)
            rt_job_free(job);
        return HSA_OUT_OF_RESOURCES;
    }
    job->copy = *copy;
    job->completion = completion;
    *rt.copies_end = job;
    rt.copies_end = &job->next;
    return HSA_OK;
}

static hsa_status_t queue_copy(void *to, const void *from, size_t bytes, uint32_t count,
                               const hsa_signal_t *waits, hsa_signal_t completion)
{
    pthread_mutex_lock(&rt.lock);
    rt_active();
    const side t = side_of(to), f = side_of(from);
    const rt_copy copy = { .to = t.address,
                           .from = f.address,
                           .host_to = t.host,
                           .host_from = f.host,
                           .bytes = bytes,
                           .rows = 1,
                           .slices = 1 };
    hsa_status_t status = add(&copy, t.agent ? t.agent : f.agent, count, waits, completion);
    pthread_mutex_unlock(&rt.lock);
    return status;
}

HSA_API hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from,
                                               hsa_agent_t from_agent, size_t bytes, uint32_t count,
                                               const hsa_signal_t *waits, hsa_signal_t completion)
{
    if (!to || !from || (count > 0 && !waits))
        return HSA_INVALID_ARGUMENT;
    if (!rt_agent_of(to_agent) || !rt_agent_of(from_agent))
        return HSA_INVALID_AGENT;
    return queue_copy(to, from, bytes, count, waits, completion);
}

HSA_API hsa_status_t hsa_amd_memory_async_copy_on_engine(void *to, hsa_agent_t to_agent, const void *from,
                                                         hsa_agent_t from_agent, size_t bytes, uint32_t count,
                                                         const hsa_signal_t *waits, hsa_signal_t completion,
                                                         uint32_t engine, bool force)
{
    (void)engine; /* a GPU has one */
    (void)force;
    return hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, count, waits, completion);
}

HSA_API hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t *mask)
{
    if (!rt_agent_of(to) || !rt_agent_of(from))
        return HSA_INVALID_AGENT;
    if (!mask)
        return HSA_INVALID_ARGUMENT;
    *mask = 1;
    return HSA_OK;
}

HSA_API hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                                                    const hsa_pitched_ptr_t *from,
                                                    const hsa_dim3_t *from_offset, const hsa_dim3_t *range,
                                                    hsa_agent_t agent, uint32_t direction, uint32_t count,
                                                    const hsa_signal_t *waits, hsa_signal_t completion)
{
    (void)direction;
    if (!to || !to_offset || !from || !from_offset || !range || (count > 0 && !waits))
        return HSA_INVALID_ARGUMENT;
    rt_agent *a = rt_agent_of(agent);
    if (!a)
        return HSA_INVALID_AGENT;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    const uint64_t to_at = to_offset->x + to_offset->y * to->pitch + to_offset->z * to->slice;
    const uint64_t from_at = from_offset->x + from_offset->y * from->pitch + from_offset->z * from->slice;
    const side t = side_of((uint8_t *)to->base + to_at), f = side_of((uint8_t *)from->base + from_at);
    const rt_copy copy = { .to = t.address,
                           .from = f.address,
                           .host_to = t.host,
                           .host_from = f.host,
                           .bytes = range->x,
                           .rows = range->y ? range->y : 1,
                           .slices = range->z ? range->z : 1,
                           .to_row = to->pitch,
                           .to_slice = to->slice,
                           .from_row = from->pitch,
                           .from_slice = from->slice };
    hsa_status_t status = add(&copy,
                              t.agent     ? t.agent
                              : f.agent   ? f.agent
                              : a->is_gpu ? a
                                          : NULL,
                              count, waits, completion);
    pthread_mutex_unlock(&rt.lock);
    return status;
}

/* Waits for a copy that has no signal of the program. */
static hsa_status_t wait_for(hsa_signal_t signal)
{
    pthread_mutex_lock(&rt.lock);
    while (rt_signal_value(signal) > 0)
        if (!rt_step())
            pthread_cond_wait(&rt.changed, &rt.lock);
    pthread_mutex_unlock(&rt.lock);
    return hsa_signal_destroy(signal);
}

HSA_API hsa_status_t hsa_memory_copy(void *to, const void *from, size_t bytes)
{
    hsa_signal_t done;
    if (!to || !from)
        return HSA_INVALID_ARGUMENT;
    if (bytes == 0)
        return HSA_OK;
    hsa_status_t status = rt_signal_create(1, SIGNAL_USER, &done);
    if (status == HSA_OK)
        status = queue_copy(to, from, bytes, 0, NULL, done);
    return status == HSA_OK ? wait_for(done) : status;
}

HSA_API hsa_status_t hsa_amd_memory_fill(void *to, uint32_t value, size_t count)
{
    hsa_signal_t done;
    if (!to)
        return HSA_INVALID_ARGUMENT;
    if (count == 0)
        return HSA_OK;
    hsa_status_t status = rt_signal_create(1, SIGNAL_USER, &done);
    if (status != HSA_OK)
        return status;
    pthread_mutex_lock(&rt.lock);
    rt_active();
    const side t = side_of(to);
    const rt_copy copy = { .to = t.address,
                           .host_to = t.host,
                           .bytes = count * sizeof value,
                           .rows = 1,
                           .slices = 1,
                           .is_fill = true,
                           .pattern = value };
    status = add(&copy, t.agent, 0, NULL, done);
    pthread_mutex_unlock(&rt.lock);
    return status == HSA_OK ? wait_for(done) : status;
}
