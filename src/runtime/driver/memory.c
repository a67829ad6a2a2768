/* memory.c: which addresses a context has, on which device, and how much is left. */
#include "runtime/driver/drv.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

uint64_t drv_page_bytes(const ls_gpu_system *system)
{
    return system->backend->page_bytes ? system->backend->page_bytes(system->machine) : 4096;
}

static uint64_t whole_pages(const ls_gpu_system *system, uint64_t bytes)
{
    uint64_t page = drv_page_bytes(system), whole = (bytes + page - 1) / page * page;
    return whole < bytes ? UINT64_MAX : whole;
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

/* The range that has the address; NULL: none. */
static drv_range *range_of(const ls_gpu_context *context, uint64_t address)
{
    size_t at = range_after(context, address);
    drv_range *range = at > 0 ? &context->ranges.at[at - 1] : NULL;
    return range && address - range->address < range->bytes ? range : NULL;
}

/* ------------------------------------------------------------------------------------------------- places */

/* The GPU of each page of a new allocation on the unified device. */
static void plan_pages(ls_gpu_system *system, size_t pages, uint16_t *out)
{
    size_t gpus = drv_gpus(system), part = pages / gpus, turn = 1; /* pages that go to a GPU in turn */
    if (system->backend->turn_bytes)
        turn = (size_t)(system->backend->turn_bytes(system->machine) / drv_page_bytes(system));
    for (size_t i = 0; i < pages; i++) {
        size_t gpu = 0;
        if (system->pages == DRV_PAGES_INTERLEAVED)
            gpu = (system->next_page + i / turn) % gpus;
        else if (system->pages == DRV_PAGES_BLOCKED && part > 0)
            gpu = i / part < gpus ? i / part : gpus - 1;
        out[i] = (uint16_t)gpu;
    }
    system->next_page = (system->next_page + (pages + turn - 1) / turn) % gpus;
}

/* Adds the pages of a range to its GPUs, or takes them away. */
static void account(ls_gpu_system *system, const drv_range *range, bool add)
{
    uint64_t page = drv_page_bytes(system), whole = whole_pages(system, range->bytes);
    if (range->is_host)
        return;
    if (!range->places) {
        system->gpus[range->gpu].used_bytes += add ? whole : 0 - whole;
        return;
    }
    for (size_t i = 0; i < whole / page; i++)
        system->gpus[range->places[i]].used_bytes += add ? page : 0 - page;
}

static ls_status check_room(const ls_gpu_system *system, size_t gpu, uint64_t bytes, ls_error *err)
{
    const drv_gpu *g = &system->gpus[gpu];
    char want[LS_FORMAT_BYTES], left[LS_FORMAT_BYTES], all[LS_FORMAT_BYTES];
    if (bytes <= g->memory_bytes - g->used_bytes)
        return LS_OK;
    return ls_fail(err, LS_ERR_UNSUPPORTED, "GPU %zu (%s) has no room for %s bytes: %s of %s are free", gpu,
                   g->model->name, format_count(bytes, want, sizeof want),
                   format_count(g->memory_bytes - g->used_bytes, left, sizeof left),
                   format_count(g->memory_bytes, all, sizeof all));
}

/* How many pages of a list go to a GPU. */
static uint64_t pages_on(const uint16_t *places, size_t count, size_t gpu)
{
    uint64_t pages = 0;
    for (size_t i = 0; i < count; i++)
        pages += places[i] == gpu;
    return pages;
}

/* Checks that there is room, and fills the places of a range of the unified device. */
static ls_status reserve_locked(ls_gpu_context *context, drv_range *range, ls_error *err)
{
    ls_gpu_system *system = context->system;
    uint64_t page = drv_page_bytes(system), whole = whole_pages(system, range->bytes);
    ls_status status = LS_OK;
    if (!vec_reserve(&context->ranges, 1))
        return no_memory(err);
    if (range->is_host)
        return LS_OK;
    if (range->gpu != system->unified || range->is_module)
        return check_room(system, range->gpu == system->unified ? 0 : range->gpu, whole, err);
    uint64_t all = 0;
    for (size_t i = 0; i < drv_gpus(system); i++)
        all += system->gpus[i].memory_bytes;
    if (whole > all)
        return check_room(system, 0, whole, err);
    range->places = malloc((size_t)(whole / page) * sizeof *range->places);
    if (!range->places)
        return no_memory(err);
    plan_pages(system, (size_t)(whole / page), range->places);
    for (size_t i = 0; i < drv_gpus(system) && status == LS_OK; i++)
        status = check_room(system, i, page * pages_on(range->places, (size_t)(whole / page), i), err);
    return status;
}

/* Pages of the unified device are placed before the first use. */
static ls_status place_fresh(ls_gpu_system *system, const drv_range *range, ls_error *err)
{
    const drv_placement placement = { .address = range->address,
                                      .pages =
                                          (size_t)(whole_pages(system, range->bytes) / drv_page_bytes(system)),
                                      .gpus = range->places,
                                      .is_fresh = true };
    if (!range->places || !system->backend->place)
        return LS_OK;
    return system->backend->place(system->machine, &placement, err);
}

/* -------------------------------------------------------------------------------------- taken and given back */

static ls_status take(ls_gpu_context *context, drv_range range, uint64_t *out, ls_error *err)
{
    ls_gpu_system *system = context->system;
    const drv_backend *backend = system->backend;
    uint64_t bytes = range.bytes, whole = whole_pages(system, bytes);
    size_t gpu = range.gpu;
    *out = 0;
    range.launches = context->launches;
    pthread_mutex_lock(&system->lock);
    ls_status status = reserve_locked(context, &range, err);
    if (status == LS_OK && range.is_host && backend->host_alloc)
        status = backend->host_alloc(system->machine, whole, &range.address, err);
    else if (status == LS_OK)
        status = backend->alloc(system->machine, gpu, whole, &range.address, err);
    if (status == LS_OK) {
        if (backend->bound)
            status = backend->bound(system->machine, range.address, bytes, err);
        bool touched = gpu == system->unified && system->pages == DRV_PAGES_FIRST_TOUCH;
        if (status == LS_OK && !range.is_module && !range.is_host && backend->manage)
            status = backend->manage(system->machine, range.address, bytes, touched, err);
        if (status == LS_OK && !touched)
            status = place_fresh(system, &range, err);
        if (status != LS_OK)
            (void)backend->free(system->machine, range.address, NULL);
    }
    if (status == LS_OK) {
        size_t at = range_after(context, range.address);
        drv_range *ranges = context->ranges.at;
        if (gpu == system->unified && range.is_module)
            range.gpu = 0; /* where its image is; other GPUs have copies of the code */
        memmove(&ranges[at + 1], &ranges[at], (context->ranges.count - at) * sizeof *ranges);
        ranges[at] = range;
        context->ranges.count++;
        account(system, &range, true);
        *out = range.address;
    } else {
        free(range.places);
    }
    pthread_mutex_unlock(&system->lock);
    return status;
}

ls_status drv_take(ls_gpu_context *context, size_t gpu, uint64_t bytes, bool is_module, uint64_t *out,
                   ls_error *err)
{
    return take(context, (drv_range){ .bytes = bytes, .gpu = gpu, .is_module = is_module }, out, err);
}

ls_status drv_give_back(ls_gpu_context *context, uint64_t address, bool is_module, ls_error *err)
{
    ls_gpu_system *system = context->system;
    drv_range *range;
    ls_status status;
    pthread_mutex_lock(&system->lock);
    range = range_of(context, address);
    if (!range || range->address != address || range->is_module != is_module) {
        status = ls_fail(err, LS_ERR_USAGE,
                         "0x%" PRIx64 " is not the address of an allocation of this context", address);
    } else {
        status = system->backend->free(system->machine, address, err);
        if (status == LS_OK) {
            account(system, range, false);
            free(range->places);
            memmove(range, range + 1, (context->ranges.count - range_after(context, address)) * sizeof *range);
            context->ranges.count--;
        }
    }
    pthread_mutex_unlock(&system->lock);
    return status;
}

/* ------------------------------------------------------------------------------------------------- looking */

ls_status drv_check_range(ls_gpu_context *context, uint64_t address, uint64_t bytes, const char *what,
                          size_t *gpu, ls_error *err)
{
    ls_status status = LS_OK;
    const drv_range *range;
    if (bytes == 0)
        return LS_OK;
    pthread_mutex_lock(&context->system->lock);
    range = range_of(context, address);
    if (!range)
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

void drv_mark_written(ls_gpu_context *context, uint64_t address)
{
    pthread_mutex_lock(&context->system->lock);
    drv_range *range = range_of(context, address);
    if (range)
        range->is_written = true;
    pthread_mutex_unlock(&context->system->lock);
}

uint64_t ls_gpu_reach(ls_gpu_context *context, ls_gpu_address address)
{
    uint64_t reach = 0;
    pthread_mutex_lock(&context->system->lock);
    const drv_range *range = range_of(context, address);
    if (range)
        reach = range->bytes - (address - range->address);
    pthread_mutex_unlock(&context->system->lock);
    return reach;
}

/* -------------------------------------------------------------------------------------------- for programs */

ls_status ls_gpu_alloc(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    *out = 0;
    if (bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "an allocation needs at least one byte");
    return drv_take(context, ls_gpu_selected(context), bytes, false, out, err);
}

bool ls_gpu_system_has_host(const ls_gpu_system *system)
{
    return !system->backend->has_host || system->backend->has_host(system->machine);
}

ls_status ls_gpu_alloc_host(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    *out = 0;
    if (bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "an allocation needs at least one byte");
    return take(context, (drv_range){ .bytes = bytes, .is_host = true }, out, err);
}

ls_status ls_gpu_alloc_zeroed(ls_gpu_context *context, uint64_t bytes, ls_gpu_address *out, ls_error *err)
{
    ls_gpu_system *system = context->system;
    ls_status status = ls_gpu_alloc(context, bytes, out, err); /* fresh pages read 0 */
    if (status == LS_OK && system->backend->zeroed)
        status = system->backend->zeroed(system->machine, *out, bytes, err);
    if (status == LS_OK)
        drv_mark_written(context, *out); /* its zeros must move with its pages */
    return status;
}

ls_status ls_gpu_free(ls_gpu_context *context, ls_gpu_address address, ls_error *err)
{
    if (address == 0)
        return LS_OK;
    drv_drain(context);
    return drv_give_back(context, address, false, err);
}

/* ------------------------------------------------------------------------------------------ moved to places */

static size_t place_of(const ls_gpu_system *system, const drv_range *range, uint64_t address)
{
    return range->places ? range->places[(address - range->address) / drv_page_bytes(system)] : range->gpu;
}

/* Checks a range of pages that is to be moved; the lock is held. */
static ls_status check_pages(ls_gpu_context *context, uint64_t address, uint64_t bytes, size_t gpu,
                             drv_range **out, ls_error *err)
{
    const ls_gpu_system *system = context->system;
    uint64_t page = drv_page_bytes(system);
    drv_range *range = range_of(context, address);
    *out = range;
    if (gpu >= drv_gpus(system))
        return ls_fail(err, LS_ERR_USAGE, "memory cannot lie on GPU %zu: the system has %zu, counted from 0",
                       gpu, drv_gpus(system));
    if (bytes == 0 || (address | bytes) % page != 0)
        return ls_fail(err, LS_ERR_USAGE,
                       "0x%" PRIx64 " with %" PRIu64 " bytes is no range of whole pages of %" PRIu64
                       " bytes; the nearest is 0x%" PRIx64 " with %" PRIu64,
                       address, bytes, page, address / page * page,
                       ((address + bytes + page - 1) / page - address / page) * page);
    if (!range || range->is_module || range->is_host)
        return ls_fail(err, LS_ERR_USAGE, "0x%" PRIx64 " cannot be placed: %s", address,
                       !range             ? "nothing is allocated there"
                       : range->is_module ? "it is a code object's"
                                          : "it is memory of the host");
    uint64_t left = whole_pages(system, range->bytes) - (address - range->address);
    if (bytes > left)
        return ls_fail(err, LS_ERR_USAGE,
                       "cannot place %" PRIu64 " bytes at 0x%" PRIx64 ": the allocation ends after %" PRIu64,
                       bytes, address, left);
    return LS_OK;
}

/* The pages of a range get their own list of places. */
static ls_status list_places(const ls_gpu_system *system, drv_range *range, ls_error *err)
{
    size_t pages = (size_t)(whole_pages(system, range->bytes) / drv_page_bytes(system));
    if (range->places)
        return LS_OK;
    range->places = malloc(pages * sizeof *range->places);
    for (size_t i = 0; range->places && i < pages; i++)
        range->places[i] = (uint16_t)range->gpu;
    return range->places ? LS_OK : no_memory(err);
}

static ls_status move(ls_gpu_context *context, uint64_t address, uint64_t bytes, const uint16_t *gpus,
                      drv_range *range, ls_error *err)
{
    ls_gpu_system *system = context->system;
    uint64_t page = drv_page_bytes(system);
    size_t pages = (size_t)(bytes / page), first = (size_t)((address - range->address) / page);
    const drv_placement placement = { .address = address,
                                      .pages = pages,
                                      .gpus = gpus,
                                      .is_fresh = !range->is_written && range->launches == context->launches };
    ls_status status = list_places(system, range, err);
    for (size_t i = 0; i < drv_gpus(system) && status == LS_OK; i++) {
        uint64_t come = 0;
        for (size_t k = 0; k < pages; k++)
            come += gpus[k] == i && range->places[first + k] != i;
        status = check_room(system, i, come * page, err);
    }
    if (status == LS_OK && system->backend->place)
        status = system->backend->place(system->machine, &placement, err);
    if (status != LS_OK)
        return status;
    account(system, range, false);
    memcpy(range->places + first, gpus, pages * sizeof *gpus);
    account(system, range, true);
    return LS_OK;
}

ls_status ls_gpu_place(ls_gpu_context *context, ls_gpu_address address, uint64_t bytes, size_t gpu,
                       ls_error *err)
{
    ls_gpu_system *system = context->system;
    drv_range *range;
    uint16_t *gpus = NULL;
    drv_drain(context);
    pthread_mutex_lock(&system->lock);
    ls_status status = check_pages(context, address, bytes, gpu, &range, err);
    size_t pages = (size_t)(bytes / drv_page_bytes(system));
    if (status == LS_OK) {
        gpus = malloc(pages * sizeof *gpus);
        status = gpus ? LS_OK : no_memory(err);
    }
    for (size_t i = 0; status == LS_OK && i < pages; i++)
        gpus[i] = (uint16_t)gpu;
    if (status == LS_OK)
        status = move(context, address, bytes, gpus, range, err);
    pthread_mutex_unlock(&system->lock);
    free(gpus);
    return status;
}

ls_status ls_gpu_distribute(ls_gpu_context *context, ls_gpu_address address, uint64_t *out, ls_error *err)
{
    ls_gpu_system *system = context->system;
    size_t count = drv_gpus(system);
    uint64_t page = drv_page_bytes(system), bytes = ls_gpu_reach(context, address);
    uint64_t pages = (bytes + page - 1) / page, part = pages / count;
    uint64_t at = address;
    ls_status status = LS_OK;
    if (bytes == 0)
        return ls_fail(err, LS_ERR_USAGE, "0x%" PRIx64 " cannot be distributed: nothing is allocated there",
                       address);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        uint64_t here = part == 0 ? (i == 0 ? pages : 0) : i + 1 == count ? pages - part * i : part;
        if (here > 0)
            status = ls_gpu_place(context, at, here * page, i, err);
        uint64_t before = at - address < bytes ? at - address : bytes;
        at += here * page;
        if (out)
            out[i] = (at - address < bytes ? at - address : bytes) - before;
    }
    return status;
}

size_t ls_gpu_place_of(ls_gpu_context *context, ls_gpu_address address)
{
    pthread_mutex_lock(&context->system->lock);
    const drv_backend *backend = context->system->backend;
    const drv_range *range = range_of(context, address);
    size_t gpu = range && range->is_host ? LS_GPU_ON_HOST : SIZE_MAX;
    if (range && !range->is_host && backend->place_now)
        gpu = backend->place_now(context->system->machine, address);
    if (range && gpu == SIZE_MAX)
        gpu = place_of(context->system, range, address);
    pthread_mutex_unlock(&context->system->lock);
    return gpu;
}

bool ls_gpu_system_reaches(const ls_gpu_system *system)
{
    return !system->backend->reaches || system->backend->reaches(system->machine);
}

uint64_t ls_gpu_page_bytes(const ls_gpu_system *system)
{
    return drv_page_bytes(system);
}
