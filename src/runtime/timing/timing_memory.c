/* timing_memory.c: where programs' addresses lie: allocations at home on a GPU, pages, and what caches still hold of freed
 * memory. Nothing here takes simulated time. */
#include "runtime/timing/timing_impl.h"

#include <stdio.h>

timing_gpu *timing_home(const timing *t, uint64_t address)
{
    uint32_t place = page_table_home(t->pages, address);
    uint32_t index = place < MEM_PLACES ? t->index_of[place] : UINT32_MAX;
    return index == UINT32_MAX ? NULL : &t->gpus[index];
}

ls_status timing_alloc(timing_gpu *g, uint64_t bytes, uint64_t align, uint64_t *address, ls_error *err)
{
    uint64_t frame;
    ls_status status = address_space_alloc(g->space, bytes, align, LS_PAGE_READ | LS_PAGE_WRITE, &frame, err);
    if (status != LS_OK)
        return status;
    *address = mem_place_virtual(g->home, frame);
    bytes = bytes > 0 ? (bytes + LS_PAGE_BYTES - 1) & ~(uint64_t)(LS_PAGE_BYTES - 1) : LS_PAGE_BYTES;
    return g->flat ? address_space_map(g->flat, *address, bytes, LS_PAGE_READ | LS_PAGE_WRITE, err) : LS_OK;
}

/* ------------------------------------------------------------------------------------------------ discards */

/* Lines of a run of frames: in all caches of the GPU that has them, and in those of other GPUs that reach it. */
void timing_discard_frames(timing *t, page_place at, uint64_t bytes)
{
    for (size_t i = 0; i < t->gpu_count; i++) {
        const timing_gpu *g = &t->gpus[i];
        if (g->number == at.place || t->has_fabric)
            amd_gpu_discard_lines(g->gpu, mem_place_physical(g->number, at.place, at.frame), bytes);
    }
}

static void discard(timing *t, const timing_piece *piece)
{
    uint64_t run;
    for (uint64_t at = 0; at < piece->bytes; at += run) {
        page_place place = page_table_run(t->pages, piece->address + at, piece->bytes - at, &run);
        timing_discard_frames(t, place, run);
    }
    for (size_t i = 0; i < t->gpu_count; i++)
        amd_gpu_discard_pages(t->gpus[i].gpu, piece->address, piece->bytes);
}

void timing_discard_freed(timing *t)
{
    for (size_t i = 0; i < t->freed.count; i++)
        discard(t, &t->freed.at[i]);
    t->freed.count = 0;
}

/* --------------------------------------------------------------------------------------------- for the driver */

ls_status timing_mem_alloc(void *self, size_t gpu, uint64_t bytes, uint64_t *address, ls_error *err)
{
    timing *t = self;
    gpu = gpu < t->gpu_count ? gpu : 0; /* the unified device's memory has its addresses there */
    pthread_mutex_lock(&t->lock);
    timing_gpu *g = &t->gpus[gpu];
    uint64_t align = t->directory ? TIMING_RANGE_ALIGN : g->align; /* its pages may move */
    if (t->directory)
        bytes = (bytes + align - 1) & -align;
    ls_status status = timing_alloc(g, bytes, align, address, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* The driver has waited for everything that could still use it. */
ls_status timing_mem_free(void *self, uint64_t address, ls_error *err)
{
    timing *t = self;
    memory_extent extent;
    pthread_mutex_lock(&t->lock);
    bool of_host = t->host && mem_place_home(address) == MEM_PLACE_HOST;
    timing_gpu *g = of_host ? NULL : timing_home(t, address);
    memory_space *space = of_host ? t->host_space : g ? g->space : NULL;
    ls_status status = of_host ? LS_OK : timing_unmanage(t, address, err);
    if (status != LS_OK) {
        pthread_mutex_unlock(&t->lock);
        return status;
    }
    if (space && address_space_find(space, timing_frame(address), &extent)) {
        timing_piece piece = { .address = mem_place_virtual(mem_place_home(address), extent.start),
                               .bytes = extent.end - extent.start };
        if (!vec_push(&t->freed, piece))
            discard(t, &piece);
        timing_forget_places(t, piece.address, piece.bytes);
        if (t->check)
            memcheck_forget(t->check, piece.address, piece.bytes);
        if (g && g->flat)
            (void)address_space_free(g->flat, address, NULL);
    }
    status = space
                 ? address_space_free(space, timing_frame(address), err)
                 : ls_fail(err, LS_ERR_USAGE, "nothing was allocated at 0x%llx", (unsigned long long)address);
    pthread_mutex_unlock(&t->lock);
    return status;
}

ls_status timing_mem_protect(void *self, uint64_t address, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    const timing_gpu *g = timing_home(t, address);
    ls_status status = address_space_protect(g->space, timing_frame(address), bytes, LS_PAGE_READ, err);
    if (status == LS_OK && g->flat)
        status = address_space_protect(g->flat, address, bytes, LS_PAGE_READ, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* Fresh memory, of which no cache has a line. */
ls_status timing_mem_load(void *self, size_t gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    const timing_gpu *g = &t->gpus[gpu < t->gpu_count ? gpu : 0];
    ls_status status = amd_gpu_load(g->gpu, timing_frame(to), from, bytes, err);
    if (status == LS_OK && g->flat)
        status = timing_flat_write(g, to, from, bytes, err);
    if (status == LS_OK && t->check && !timing_is_skipping(t))
        memcheck_write(t->check, 0, to, from, bytes);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* -------------------------------------------------------------------------------------------------- faults */

bool timing_explain_reach(const timing *t, const timing_gpu *g, uint64_t address, char *out, size_t out_bytes)
{
    page_place at = page_table_find(t->pages, address);
    uint32_t index = at.place < MEM_PLACES ? t->index_of[at.place] : UINT32_MAX;
    if (at.place == g->number || index == UINT32_MAX || t->has_fabric)
        return false;
    const address_space_view view = address_space_look(t->gpus[index].space);
    if (address_space_state(&view, at.frame) == 0)
        return false;
    snprintf(out, out_bytes, "GPU %u has 0x%llx in its memory, and no fabric joins it with GPU %u", at.place,
             (unsigned long long)address, g->number);
    return true;
}
