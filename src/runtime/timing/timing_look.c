/* timing_look.c: bytes of simulated memory as they are now, read and changed in no simulated time: for the debugger, and for
 * memory that a program and kernels share. The engine rests, or stands inside a cycle. */
#include "runtime/timing/timing_impl.h"

#define LOOK_BYTES 64u /* no line is smaller */

static ls_status not_mapped(uint64_t address, ls_error *err)
{
    return ls_fail(err, LS_ERR_USAGE, "0x%llx is not mapped", (unsigned long long)address);
}

static bool host_is_mapped(const timing *t, uint64_t frame)
{
    const address_space_view view = address_space_look(t->host_space);
    return address_space_state(&view, frame) != 0;
}

/* Bytes of one line. */
static bool read_piece(const timing *t, uint64_t address, uint8_t *to, uint64_t bytes)
{
    page_place at = page_table_find(t->pages, address);
    uint32_t index = at.place < MEM_PLACES ? t->index_of[at.place] : UINT32_MAX;
    if (at.place == MEM_PLACE_HOST && t->host) {
        if (!host_is_mapped(t, at.frame))
            return false;
        timing_host_read(t, at.frame, to, bytes);
        return true;
    }
    return index != UINT32_MAX && amd_gpu_look(t->gpus[index].gpu, at.frame, to, bytes);
}

/* The memory, and every cache that has the line. */
static bool patch_piece(const timing *t, uint64_t address, const uint8_t *from, uint64_t bytes)
{
    page_place at = page_table_find(t->pages, address);
    uint32_t index = at.place < MEM_PLACES ? t->index_of[at.place] : UINT32_MAX;
    bool of_host = at.place == MEM_PLACE_HOST && t->host;
    if (of_host ? !host_is_mapped(t, at.frame) : index == UINT32_MAX)
        return false;
    if (of_host)
        timing_host_write(t, at.frame, from, bytes);
    for (size_t i = 0; i < t->gpu_count; i++) {
        const timing_gpu *g = &t->gpus[i];
        if ((g->number == at.place || t->has_fabric) &&
            !amd_gpu_patch(g->gpu, mem_place_physical(g->number, at.place, at.frame), from, bytes))
            return false;
    }
    return true;
}

static uint64_t piece_of(uint64_t address, uint64_t left)
{
    uint64_t room = LOOK_BYTES - address % LOOK_BYTES;
    return room < left ? room : left;
}

ls_status timing_look_bytes(const timing *t, uint64_t address, void *to, uint64_t bytes, ls_error *err)
{
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        piece = piece_of(address + done, bytes - done);
        if (!read_piece(t, address + done, (uint8_t *)to + done, piece))
            return not_mapped(address + done, err);
    }
    return LS_OK;
}

ls_status timing_look(void *self, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    ls_status status = timing_look_bytes(t, from, to, bytes, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

ls_status timing_patch(void *self, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    ls_status status = LS_OK;
    pthread_mutex_lock(&t->lock);
    timing_discard_freed(t);
    for (uint64_t done = 0, piece; done < bytes && status == LS_OK; done += piece) {
        piece = piece_of(to + done, bytes - done);
        if (!patch_piece(t, to + done, (const uint8_t *)from + done, piece))
            status = not_mapped(to + done, err);
    }
    if (status == LS_OK && t->check)
        memcheck_write(t->check, 0, to, from, bytes);
    pthread_mutex_unlock(&t->lock);
    return status;
}
