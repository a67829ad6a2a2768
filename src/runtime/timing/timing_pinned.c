/* timing_pinned.c: memory of the host that GPUs use over the fabric: allocations of programs, whose home is the host, and
 * buffers of copies with the program's own memory, which exist while the copy runs. */
#include "runtime/timing/timing_impl.h"

#include "model/amd_memory/place_memory.h"

#include <assert.h>

#define LINE_BYTES_MAX 128u

/* The pages are mapped: the driver or this file allocated them. */
void timing_host_write(const timing *t, uint64_t frame, const void *from, uint64_t bytes)
{
    bool good = line_memory_load(t->host->memory, frame, from, bytes);
    assert(good);
    (void)good;
}

void timing_host_read(const timing *t, uint64_t frame, void *to, uint64_t bytes)
{
    bool good = line_memory_copy_out(t->host->memory, frame, to, bytes);
    assert(good);
    (void)good;
}

/* The buffer has the offset in a line that the GPU's side has, so that each line is one of the host, too. */
ls_status timing_stage(timing *t, timing_slot *slot, ls_error *err)
{
    ls_dma_job *job = &slot->packet.transfer;
    bool in = job->kind == LS_DMA_IN;
    uint64_t offset = (in ? job->to : job->from) % LINE_BYTES_MAX;
    if (!t->host || job->bytes == 0 || (!in && job->kind != LS_DMA_OUT))
        return LS_OK;
    ls_status status = address_space_alloc(t->host_space, offset + job->bytes, LS_PAGE_BYTES,
                                           LS_PAGE_READ | LS_PAGE_WRITE, &slot->staged, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "a copy with the host");
    if (in && job->host_from)
        timing_host_write(t, slot->staged + offset, job->host_from, job->bytes);
    job->host = mem_place_physical(t->gpus[slot->gpu].number, MEM_PLACE_HOST, slot->staged + offset);
    return LS_OK;
}

void timing_unstage(timing *t, timing_slot *slot)
{
    const ls_dma_job *job = &slot->packet.transfer;
    if (slot->staged == 0)
        return;
    if (job->uses_host && job->kind == LS_DMA_OUT && job->host_to)
        timing_host_read(t, mem_place_frame(job->host), job->host_to, job->bytes);
    (void)address_space_free(t->host_space, slot->staged, NULL);
    slot->staged = 0;
}

/* --------------------------------------------------------------------------------------------- allocations */

bool timing_has_host(void *self)
{
    return ((timing *)self)->host != NULL;
}

ls_status timing_host_alloc(void *self, uint64_t bytes, uint64_t *address, ls_error *err)
{
    timing *t = self;
    uint64_t frame;
    if (!t->host)
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "platform '%s' has no memory of the host that GPUs reach: that needs a fabric and host.model "
            "cpu",
            config_name(t->config));
    pthread_mutex_lock(&t->lock);
    ls_status status =
        address_space_alloc(t->host_space, bytes, t->page_bytes, LS_PAGE_READ | LS_PAGE_WRITE, &frame, err);
    pthread_mutex_unlock(&t->lock);
    if (status == LS_OK)
        *address = mem_place_virtual(MEM_PLACE_HOST, frame);
    return status;
}
