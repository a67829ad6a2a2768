/* queue.c: user-mode queues: rings of packets that programs fill and doorbells that they ring. step.c takes the packets. */
#include "hsa/rt.h"

#include "isa/amd/exec/start.h"

#include <stdlib.h>
#include <string.h>

#define PACKET_BYTES 64u

static rt_queue *queue_of(const hsa_queue_t *queue)
{
    for (size_t i = 0; i < rt.queues.count; i++)
        if (&rt.queues.at[i]->shared->hsa == queue)
            return rt.queues.at[i];
    return NULL;
}

/* With the lock held. */
static hsa_status_t fill(rt_queue *queue, uint32_t size, uint32_t type)
{
    uint8_t *memory = rt_host_alloc(sizeof(amd_queue) + (uint64_t)size * PACKET_BYTES, &rt.agents[0].pools[1]);
    const uint16_t invalid = PACKET_INVALID;
    if (!memory)
        return HSA_OUT_OF_RESOURCES;
    queue->shared = (amd_queue *)(void *)memory;
    uint8_t *packets = memory + sizeof(amd_queue);
    for (uint32_t i = 0; i < size; i++)
        memcpy(packets + (size_t)i * PACKET_BYTES, &invalid, sizeof invalid);
    queue->shared->hsa = (hsa_queue_t){
        .type = type, .features = 1, .base_address = packets, .size = size, .id = rt.next_queue_id++
    };
    queue->shared->shared_base_hi = AMD_SHARED_BASE_HI;
    queue->shared->private_base_hi = AMD_PRIVATE_BASE_HI;
    queue->shared->max_cu_id = queue->agent->compute_units - 1;
    queue->shared->max_wave_id = 31;
    queue->shared->read_index_offset = offsetof(amd_queue, read_index);
    return HSA_OK;
}

HSA_API hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, uint32_t type,
                                      hsa_queue_callback callback, void *data, uint32_t private_bytes,
                                      uint32_t group_bytes, hsa_queue_t **out)
{
    rt_agent *a = rt_agent_of(agent);
    (void)private_bytes; /* hints */
    (void)group_bytes;
    if (!a)
        return HSA_INVALID_AGENT;
    if (!a->is_gpu)
        return HSA_INVALID_QUEUE_CREATION;
    if (!out || size == 0 || (size & (size - 1)) != 0 || type > 2)
        return HSA_INVALID_ARGUMENT;
    rt_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return HSA_OUT_OF_RESOURCES;
    queue->agent = a;
    queue->callback = callback;
    queue->data = data;
    hsa_signal_t doorbell;
    hsa_status_t status = rt_signal_create(0, SIGNAL_DOORBELL, &doorbell);
    pthread_mutex_lock(&rt.lock);
    rt_active();
    if (status == HSA_OK)
        status = fill(queue, size, type);
    if (status == HSA_OK && !vec_push(&rt.queues, queue))
        status = HSA_OUT_OF_RESOURCES;
    pthread_mutex_unlock(&rt.lock);
    if (status != HSA_OK) {
        free(queue);
        return status;
    }
    queue->shared->hsa.doorbell_signal = doorbell;
    rt_signal(doorbell)->queue = (uint64_t)(uintptr_t)queue->shared;
    *out = &queue->shared->hsa;
    return HSA_OK;
}

HSA_API hsa_status_t hsa_queue_destroy(hsa_queue_t *handle)
{
    pthread_mutex_lock(&rt.lock);
    rt_active();
    rt_queue *queue = queue_of(handle);
    if (!queue) {
        pthread_mutex_unlock(&rt.lock);
        return HSA_INVALID_QUEUE;
    }
    while (queue->unfinished > 0) /* packets that have begun still use it */
        if (!rt_step())
            pthread_cond_wait(&rt.changed, &rt.lock);
    for (size_t i = 0; i < rt.queues.count; i++)
        if (rt.queues.at[i] == queue) {
            memmove(&rt.queues.at[i], &rt.queues.at[i + 1],
                    (rt.queues.count - i - 1) * sizeof rt.queues.at[0]);
            rt.queues.count--;
            break;
        }
    const hsa_signal_t doorbell = queue->shared->hsa.doorbell_signal;
    (void)rt_range_free((uint64_t)(uintptr_t)queue->shared);
    pthread_mutex_unlock(&rt.lock);
    free(queue);
    return hsa_signal_destroy(doorbell);
}

/* ---------------------------------------------------------------------------------------------------- indices */

static amd_queue *shared_of(const hsa_queue_t *queue)
{
    return (amd_queue *)(uintptr_t)queue;
}

/* A program that looks at the read index of a full ring waits for room. */
static uint64_t read_index(const hsa_queue_t *queue)
{
    amd_queue *q = shared_of(queue);
    uint64_t read = atomic_load(&q->read_index);
    if (atomic_load(&q->write_index) - read < q->hsa.size)
        return read;
    pthread_mutex_lock(&rt.lock);
    (void)rt_step();
    pthread_mutex_unlock(&rt.lock);
    return atomic_load(&q->read_index);
}

HSA_API uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue_t *queue)
{
    return read_index(queue);
}

HSA_API uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t *queue)
{
    return read_index(queue);
}

HSA_API uint64_t hsa_queue_load_write_index_relaxed(const hsa_queue_t *queue)
{
    return atomic_load(&shared_of(queue)->write_index);
}

HSA_API uint64_t hsa_queue_load_write_index_scacquire(const hsa_queue_t *queue)
{
    return atomic_load(&shared_of(queue)->write_index);
}

HSA_API void hsa_queue_store_write_index_relaxed(const hsa_queue_t *queue, uint64_t value)
{
    atomic_store(&shared_of(queue)->write_index, value);
}

HSA_API void hsa_queue_store_write_index_screlease(const hsa_queue_t *queue, uint64_t value)
{
    atomic_store(&shared_of(queue)->write_index, value);
}

#define ADD(order)                                                                                            \
    HSA_API uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value)              \
    {                                                                                                         \
        return atomic_fetch_add(&shared_of(queue)->write_index, value);                                       \
    }
ADD(relaxed)
ADD(scacquire)
ADD(screlease)
ADD(scacq_screl)

/* ------------------------------------------------------------------------------------------------------ hints */

HSA_API hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t count, const uint32_t *mask)
{
    for (uint32_t i = 0; queue && mask && i < count / 32; i++)
        if (mask[i] != UINT32_MAX)
            return rt_refuse("hsa_amd_queue_cu_set_mask",
                             "kernels of a queue use all compute units: the mask has no effect");
    return queue ? HSA_OK : HSA_INVALID_QUEUE;
}

/* All queues run side by side; there is nothing to prefer. */
HSA_API hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, uint32_t priority)
{
    if (!queue)
        return HSA_INVALID_QUEUE;
    return priority <= 2 ? HSA_OK : HSA_INVALID_ARGUMENT;
}
