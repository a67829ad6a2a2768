/* memory.c: which addresses a context has, on which GPU, and how much is left. */
#include "runtime/driver/drv.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define PAGE 4096u

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* The first range that begins after the address. */
static size_t range_after(const ls_gpu_context *context, uint64_t address)
{
    size_t low = 0, high = context->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (context->ranges.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static ls_status reserve_locked(ls_gpu_context *context, size_t gpu, uint64_t bytes, ls_error *err)
{
    drv_gpu *g = &context->system->gpus[gpu];
    char want[LS_FORMAT_BYTES], left[LS_FORMAT_BYTES], all[LS_FORMAT_BYTES];
    if (bytes > g->memory_bytes - g->used_bytes)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "GPU %zu (%s) has no room for %s bytes: %s of %s are free",
                       gpu, g->model->name, format_count(bytes, want, sizeof want),
                       format_count(g->memory_bytes - g->used_bytes, left, sizeof left),
                       format_count(g->memory_bytes, all, sizeof all));
    if (!vec_reserve(&context->ranges, 1))
        return no_memory(err);
    g->used_bytes += bytes;
    return LS_OK;
}

ls_status drv_take(ls_gpu_context *context, size_t gpu, uint64_t bytes, bool is_module, uint64_t *out,
                   ls_error *err)
{
    ls_gpu_system *system = context->system;
    uint64_t whole = (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    ls_status status;
    *out = 0;
    if (whole < bytes)
        whole = UINT64_MAX;
    pthread_mutex_lock(&system->lock);
    status = reserve_locked(context, gpu, whole, err);
    if (status == LS_OK) {
        status = system->backend->alloc(system->machine, gpu, whole, out, err);
        if (status == LS_OK && system->backend->bound)
            status = system->backend->bound(system->machine, *out, bytes, err);
        if (status != LS_OK)
            system->gpus[gpu].used_bytes -= whole;
    }
    if (status == LS_OK) {
        size_t at = range_after(context, *out);
        drv_range *ranges = context->ranges.at;
        memmove(&ranges[at + 1], &ranges[at], (context->ranges.count - at) * sizeof *ranges);
        ranges[at] = (drv_range){ .address = *out, .bytes = bytes, .gpu = gpu, .is_module = is_module };
        context->ranges.count++;
    }
    pthread_mutex_unlock(&system->lock);
    return status;
}

ls_status drv_give_back(ls_gpu_context *context, uint64_t address, bool is_module, ls_error *err)
{
    ls_gpu_system *system = context->system;
    drv_range *ranges, *range;
    size_t at;
    ls_status status;
    pthread_mutex_lock(&system->lock);
    at = range_after(context, address);
    ranges = context->ranges.at;
    range = at > 0 ? &ranges[at - 1] : NULL;
    if (!range || range->address != address || range->is_module != is_module) {
        status = ls_fail(err, LS_ERR_USAGE,
                         "0x%" PRIx64 " is not the address of an allocation of this context", address);
    } else {
        system->gpus[range->gpu].used_bytes -= (range->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        memmove(range, range + 1, (context->ranges.count - at) * sizeof *range);
        context->ranges.count--;
        status = system->backend->free(system->machine, address, err);
    }
    pthread_mutex_unlock(&system->lock);
    return status;
}

ls_status drv_check_range(ls_gpu_context *context, uint64_t address, uint64_t bytes, const char *what,
                          size_t *gpu, ls_error *err)
{
    ls_status status = LS_OK;
    const drv_range *range;
    size_t at;
    if (bytes == 0)
        return LS_OK;
    pthread_mutex_lock(&context->system->lock);
    at = range_after(context, address);
    range = at > 0 ? &context->ranges.at[at - 1] : NULL;
    if (!range || address - range->address >= range->bytes)
        status = ls_fail(err, LS_ERR_USAGE,
                         "cannot %s %" PRIu64 " bytes at 0x%" PRIx64 ": nothing is allocated there", what,
                         bytes, address);
    else if (bytes > range->bytes - (address - range->address))
        status = ls_fail(err, LS_ERR_USAGE,
                         "cannot %s %" PRIu64 " bytes at 0x%" PRIx64 ": the allocation ends after %" PRIu64,
                         what, bytes, address, range->bytes - (address - range->address));
    else
        *gpu = range->gpu;
    pthread_mutex_unlock(&context->system->lock);
    return status;
}

uint64_t ls_gpu_reach(ls_gpu_context *context, ls_gpu_address address)
{
    uint64_t reach = 0;
    size_t at;
    pthread_mutex_lock(&context->system->lock);
    at = range_after(context, address);
    if (at > 0) {
        const drv_range *range = &context->ranges.at[at - 1];
        if (address - range->address < range->bytes)
            reach = range->bytes - (address - range->address);
    }
    pthread_mutex_unlock(&context->system->lock);
    return reach;
}

ls_status ls_gpu_alloc(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    *out = 0;
    if (bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "an allocation needs at least one byte");
    return drv_take(context, ls_gpu_selected(context), bytes, false, out, err);
}

ls_status ls_gpu_alloc_zeroed(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    ls_gpu_system *system = context->system;
    ls_status status = ls_gpu_alloc(context, bytes, out, err); /* fresh pages read 0 */
    if (status == LS_OK && system->backend->zeroed)
        status = system->backend->zeroed(system->machine, *out, bytes, err);
    return status;
}

ls_status ls_gpu_free(ls_gpu_context *context, ls_gpu_address address, ls_error *err)
{
    if (address == 0)
        return LS_OK;
    drv_drain(context);
    return drv_give_back(context, address, false, err);
}
