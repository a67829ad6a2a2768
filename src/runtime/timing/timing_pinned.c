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
    timing_share(t, ranks_owner(t->host->memory), to, bytes);
}

/* The buffer has the offset in a line that the GPU's side has, so that each line is one of the host, too. */
ls_status timing_stage(timing *t, const timing_gpu *g, ls_dma_job *job, uint64_t wanted, uint64_t *staged,
                       ls_error *err)
{
    bool in = job->kind == LS_DMA_IN;
    uint64_t offset = (in ? job->to : job->from) % LINE_BYTES_MAX;
    if (!t->host || job->bytes == 0 || (!in && job->kind != LS_DMA_OUT))
        return LS_OK;
    uint64_t page = LS_PAGE_BYTES - 1, bytes = (offset + job->bytes + page) & ~page;
    *staged = mem_place_frame(wanted) & ~page;
    if (wanted != 0 &&
        address_space_map(t->host_space, *staged, bytes, LS_PAGE_READ | LS_PAGE_WRITE, NULL) == LS_OK) {
        job->host = wanted;
        return LS_OK;
    }
    ls_status status =
        address_space_alloc(t->host_space, bytes, LS_PAGE_BYTES, LS_PAGE_READ | LS_PAGE_WRITE, staged, err);
    if (status != LS_OK) {
        *staged = 0;
        return ls_error_prefix(err, "a copy with the host");
    }
    if (in && job->host_from)
        timing_host_write(t, *staged + offset, job->host_from, job->bytes);
    job->host = mem_place_physical(g->number, MEM_PLACE_HOST, *staged + offset);
    return LS_OK;
}

void timing_unstage(timing *t, const ls_dma_job *job, uint64_t *staged)
{
    if (*staged == 0)
        return;
    if (job->uses_host && job->kind == LS_DMA_OUT && job->host_to)
        timing_host_read(t, mem_place_frame(job->host), job->host_to, job->bytes);
    (void)address_space_free(t->host_space, *staged, NULL);
    *staged = 0;
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
    if (timing_is_skipping(t))
        return ls_fail(
            err, LS_ERR_UNSUPPORTED,
            "a program that goes to a position has no memory of the host that GPUs use: it allocates "
            "%llu bytes before the position",
            (unsigned long long)bytes);
    pthread_mutex_lock(&t->lock);
    ls_status status =
        address_space_alloc(t->host_space, bytes, t->page_bytes, LS_PAGE_READ | LS_PAGE_WRITE, &frame, err);
    pthread_mutex_unlock(&t->lock);
    if (status == LS_OK)
        status = timing_record_pages(t, AMD_FILE_MAP, MEM_PLACE_HOST, frame, 0, bytes, err);
    if (status == LS_OK)
        *address = mem_place_virtual(MEM_PLACE_HOST, frame);
    return status;
}
