/* timing_flat.c: the memory in which the emulator runs the commands before a position. One GPU whose addresses are frames
 * lends its own memory, and bytes go through its channels. Several GPUs get one memory beside theirs, with every byte at
 * its virtual address; at the position each page goes through the channels of the GPU that holds it. */
#include "runtime/timing/timing_impl.h"

#include <stdlib.h>
#include <string.h>

static bool needs_flat(const timing *t)
{
    return t->gpu_count > 1 || t->unified || t->gpus[0].home != 0;
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* The caller frees *out. */
static ls_status list_extents(memory_space *space, memory_extent **out, size_t *count, ls_error *err)
{
    *count = address_space_extents(space, NULL, 0);
    *out = malloc((*count + 1) * sizeof **out);
    if (*out == NULL)
        return no_memory(err);
    *count = address_space_extents(space, *out, *count);
    return LS_OK;
}

/* Allocations that were there before the program. */
static ls_status mirror_gpu(const timing_gpu *g, memory_space *flat, ls_error *err)
{
    memory_extent *extents;
    size_t count;
    ls_status status = list_extents(g->space, &extents, &count, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        uint64_t at = mem_place_virtual(g->home, extents[i].start), bytes = extents[i].end - extents[i].start;
        status = address_space_map(flat, at, bytes, extents[i].state, err);
        if (status == LS_OK)
            status =
                amd_gpu_copy_out(g->gpu, address_space_host(flat, at, bytes), extents[i].start, bytes, err);
    }
    free(extents);
    return status;
}

ls_status timing_flat_begin(timing *t, ls_error *err)
{
    memory_space *flat;
    uint64_t bytes = 0;
    if (!needs_flat(t))
        return LS_OK;
    for (size_t i = 0; i < t->gpu_count; i++) {
        uint64_t end = mem_place_virtual(t->gpus[i].home, address_space_bytes(t->gpus[i].space));
        bytes = end > bytes ? end : bytes;
    }
    ls_status status = address_space_create(bytes, &flat, err);
    for (size_t i = 0; i < t->gpu_count && status == LS_OK; i++) {
        t->gpus[i].flat = flat;
        status = mirror_gpu(&t->gpus[i], flat, err);
    }
    return status;
}

void timing_flat_fini(timing *t)
{
    if (t->gpu_count > 0)
        address_space_destroy(t->gpus[0].flat);
    for (size_t i = 0; i < t->gpu_count; i++)
        t->gpus[i].flat = NULL;
}

memory_space *timing_flat_memory(const timing_gpu *g)
{
    return g->flat ? g->flat : g->space;
}

ls_status timing_flat_read(const timing_gpu *g, uint64_t from, void *to, uint64_t bytes, ls_error *err)
{
    return g->flat ? address_space_read(g->flat, from, to, bytes, err)
                   : amd_gpu_copy_out(g->gpu, to, timing_frame(from), bytes, err);
}

ls_status timing_flat_write(const timing_gpu *g, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    return g->flat ? address_space_write(g->flat, to, from, bytes, err)
                   : amd_gpu_load(g->gpu, timing_frame(to), from, bytes, err);
}

/* A page goes to the frame that it has now. An equal page stays untouched, so that the host keeps no copy of zeros. */
static ls_status deliver_page(const timing *t, uint64_t address, const uint8_t *bytes, ls_error *err)
{
    uint8_t now[LS_PAGE_BYTES];
    page_place at = page_table_find(t->pages, address);
    const timing_gpu *g = &t->gpus[t->index_of[at.place]];
    ls_status status = amd_gpu_copy_out(g->gpu, now, at.frame, LS_PAGE_BYTES, err);
    if (status != LS_OK || memcmp(now, bytes, LS_PAGE_BYTES) == 0)
        return status;
    return amd_gpu_load(g->gpu, at.frame, bytes, LS_PAGE_BYTES, err);
}

ls_status timing_flat_deliver(timing *t, ls_error *err)
{
    memory_space *flat = t->gpus[0].flat;
    memory_extent *extents;
    size_t count;
    if (flat == NULL)
        return LS_OK;
    ls_status status = list_extents(flat, &extents, &count, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        const uint8_t *bytes = address_space_host(flat, extents[i].start, extents[i].end - extents[i].start);
        for (uint64_t at = extents[i].start; at < extents[i].end && status == LS_OK; at += LS_PAGE_BYTES)
            status = deliver_page(t, at, bytes + (at - extents[i].start), err);
    }
    free(extents);
    return status;
}
