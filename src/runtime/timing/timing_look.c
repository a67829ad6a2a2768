/* timing_look.c: bytes of simulated memory as they are now, read and changed in no simulated time: for the debugger, and for
 * memory that a program and kernels share. The engine rests, or stands inside a cycle. */
#include "runtime/timing/timing_impl.h"

#include "runtime/driver/drv.h"

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

/* Bytes of one page. */
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
    if (index == UINT32_MAX)
        return false;
    uint64_t mapped = amd_gpu_look(t->gpus[index].gpu, at.frame, to, bytes);
    timing_share(t, timing_rank_of(t, index), &mapped, sizeof mapped);
    timing_share(t, timing_rank_of(t, index), to, bytes);
    return mapped != 0;
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

static uint64_t piece_of(uint64_t address, uint64_t left, uint64_t unit)
{
    uint64_t room = unit - address % unit;
    return room < left ? room : left;
}

/* From the address on: the bytes that lie in one memory, one after another. */
static uint64_t run_of(const timing *t, uint64_t address, uint64_t left)
{
    uint64_t run;
    if (page_table_find(t->pages, address).place == MEM_PLACE_HOST)
        return piece_of(address, left, LS_PAGE_BYTES);
    (void)page_table_run(t->pages, address, left, &run);
    return run;
}

ls_status timing_look_bytes(const timing *t, uint64_t address, void *to, uint64_t bytes, ls_error *err)
{
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        piece = run_of(t, address + done, bytes - done);
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

/* Before the first command no cache has a line: whole pages go to the memory. */
static bool is_untouched(const timing *t)
{
    return t->commands == 0 && t->gpu_count == 1 && !t->host && !t->check;
}

static ls_status patch_memory(timing *t, uint64_t to, const uint8_t *from, uint64_t bytes, ls_error *err)
{
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        page_place at = page_table_find(t->pages, to + done);
        piece = run_of(t, to + done, bytes - done);
        if (at.place >= MEM_PLACES || t->index_of[at.place] == UINT32_MAX ||
            amd_gpu_load(t->gpus[0].gpu, at.frame, from + done, piece, NULL) != LS_OK)
            return not_mapped(to + done, err);
    }
    return LS_OK;
}

static ls_status patch(timing *t, uint64_t to, const uint8_t *from, uint64_t bytes, ls_error *err)
{
    if (is_untouched(t))
        return patch_memory(t, to, from, bytes, err);
    for (uint64_t done = 0, piece; done < bytes; done += piece) {
        piece = piece_of(to + done, bytes - done, LOOK_BYTES);
        if (!patch_piece(t, to + done, from + done, piece))
            return not_mapped(to + done, err);
    }
    if (t->check)
        memcheck_write(t->check, 0, to, from, bytes);
    return LS_OK;
}

ls_status timing_patch(void *self, uint64_t to, const void *from, uint64_t bytes, ls_error *err)
{
    timing *t = self;
    pthread_mutex_lock(&t->lock);
    timing_discard_freed(t);
    ls_status status = patch(t, to, from, bytes, err);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* ------------------------------------------------------------------------------------------- between windows */

static timing *of(const ls_gpu_system *system)
{
    return system->backend == &drv_backend_time ? system->machine : NULL;
}

ls_status timing_look_between(ls_gpu_system *system, void *to, uint64_t from, uint64_t bytes, ls_error *err)
{
    return timing_look_bytes(of(system), from, to, bytes, err);
}

ls_status timing_patch_between(ls_gpu_system *system, uint64_t to, const void *from, uint64_t bytes,
                               ls_error *err)
{
    return patch(of(system), to, from, bytes, err);
}
