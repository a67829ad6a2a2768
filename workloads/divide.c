/* divide.c: runs on several GPUs: parts of the work, buffers in parts or in copies, launches on all GPUs at once. */
#include "workloads/run.h"

#include <string.h>

/* Frees nothing: arrays are the arena's, GPU memory, modules and queues the context's. */

static void check(wl_run *r, ls_status status)
{
    if (r->status == LS_OK)
        r->status = status;
}

ls_status divide_open(wl_run *r, const char *path, ls_error *err)
{
    ls_status status = LS_OK;
    r->modules = arena_array(&r->arena, r->parts, sizeof(ls_gpu_module *));
    r->queues = arena_array(&r->arena, r->parts, sizeof(ls_gpu_queue *));
    if (!r->modules || !r->queues)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (uint32_t i = 0; i < r->parts && status == LS_OK; i++) {
        status = ls_gpu_select(r->context, i, err);
        if (status == LS_OK)
            status = ls_gpu_module_load_file(r->context, path, &r->modules[i], err);
        if (status == LS_OK)
            status = ls_gpu_queue_create(r->context, &r->queues[i], err);
    }
    return status == LS_OK ? ls_gpu_select(r->context, 0, err) : status;
}

void wl_divide(wl_run *r, uint32_t units)
{
    r->units = units;
}

/* Every GPU has the whole problem. */
static bool is_whole(const wl_run *r)
{
    return r->devices == WL_DUPLICATED;
}

uint32_t wl_parts(const wl_run *r)
{
    return is_whole(r) ? 1 : r->parts;
}

uint32_t wl_part_begin(const wl_run *r, uint32_t part)
{
    return (uint32_t)((uint64_t)r->units * part / wl_parts(r));
}

/* ------------------------------------------------------------------------------------------------ buffers */

wl_array *divide_array(const wl_run *r, ls_gpu_address address)
{
    for (size_t i = 0; i < r->arrays.count; i++)
        if (address - r->arrays.at[i]->on[0] < r->arrays.at[i]->bytes)
            return r->arrays.at[i];
    return NULL;
}

/* Whether there is one per GPU. */
static bool has_copies(const wl_run *r, const wl_array *a)
{
    return r->devices == WL_DISCRETE || is_whole(r) || a->share == WL_COPIES;
}

/* The first byte of a part. */
static size_t part_byte(const wl_run *r, const wl_array *a, uint32_t part)
{
    size_t byte = wl_part_begin(r, part) * a->unit_bytes;
    return byte < a->bytes && part < r->parts ? byte : a->bytes;
}

/* Each page lies on the GPU of the part that its first byte belongs to. */
static ls_status place_parts(wl_run *r, const wl_array *a, ls_gpu_system *system)
{
    uint64_t page = ls_gpu_page_bytes(system);
    ls_status status = LS_OK;
    for (uint32_t i = 1; i < r->parts && status == LS_OK; i++) {
        uint64_t begin = (part_byte(r, a, i) + page - 1) / page,
                 end = (part_byte(r, a, i + 1) + page - 1) / page;
        if (begin < end)
            status = ls_gpu_place(r->context, a->on[0] + begin * page, (end - begin) * page, i, r->err);
    }
    return status;
}

static ls_status place_in_turn(wl_run *r, const wl_array *a, ls_gpu_system *system)
{
    uint64_t page = ls_gpu_page_bytes(system), pages = (a->bytes + page - 1) / page;
    ls_status status = LS_OK;
    for (uint64_t i = 0; i < pages && status == LS_OK; i++)
        if (i % r->parts != 0)
            status = ls_gpu_place(r->context, a->on[0] + i * page, page, (uint32_t)(i % r->parts), r->err);
    return status;
}

static ls_status place_array(wl_run *r, const wl_array *a)
{
    if (a->share == WL_SHARED)
        return ls_gpu_distribute(r->context, a->on[0], NULL, r->err);
    return (a->share == WL_IN_TURN ? place_in_turn : place_parts)(r, a, r->system);
}

ls_gpu_address divide_alloc(wl_run *r, wl_array array, bool zeroed)
{
    wl_array *a = wl_zeros(r, 1, sizeof *a);
    if (!a)
        return 0;
    *a = array;
    a->bytes = array.bytes ? array.bytes : 1;
    for (uint32_t i = 0; i < (has_copies(r, a) ? r->parts : 1) && !wl_failed(r); i++) {
        check(r, ls_gpu_select(r->context, i, r->err));
        if (!wl_failed(r))
            check(r, (zeroed ? ls_gpu_alloc_zeroed : ls_gpu_alloc)(r->context, a->bytes, &a->on[i], r->err));
    }
    for (uint32_t i = 1; i < r->parts && !has_copies(r, a); i++)
        a->on[i] = a->on[0];
    if (!wl_failed(r))
        check(r, ls_gpu_select(r->context, 0, r->err));
    if (!wl_failed(r) && !has_copies(r, a))
        check(r, place_array(r, a));
    if (!wl_failed(r) && !vec_push(&r->arrays, a))
        wl_fail(r, LS_ERR_NOMEM, "the host has no memory left");
    return a->on[0];
}

ls_gpu_address wl_divided(wl_run *r, size_t bytes, size_t unit_bytes, size_t before, size_t after)
{
    const wl_array array = {
        .share = WL_DIVIDED, .bytes = bytes, .unit_bytes = unit_bytes, .before = before, .after = after
    };
    return r->parts > 1 ? divide_alloc(r, array, false) : wl_buffer(r, bytes);
}

ls_gpu_address wl_shared(wl_run *r, size_t bytes)
{
    return r->parts > 1 ? divide_alloc(r, (wl_array){ .share = WL_SHARED, .bytes = bytes }, false)
                        : wl_buffer(r, bytes);
}

ls_gpu_address wl_read_by_all(wl_run *r, size_t bytes)
{
    return r->parts > 1 ? divide_alloc(r, (wl_array){ .share = WL_IN_TURN, .bytes = bytes }, false)
                        : wl_buffer(r, bytes);
}

/* ------------------------------------------------------------------------------------------------- copies */

static void wait_for_all(wl_run *r)
{
    if (!wl_failed(r))
        check(r, ls_gpu_sync(r->context, r->err));
}

/* The bytes of [offset, offset + bytes) that a part needs, or that are its own. */
static size_t clip(const wl_run *r, const wl_array *a, uint32_t part, bool own, size_t offset, size_t *bytes)
{
    size_t begin = 0, end = a->bytes, last = offset + *bytes;
    if (a->share == WL_DIVIDED && !is_whole(r)) {
        begin = part_byte(r, a, part);
        end = part_byte(r, a, part + 1);
        if (!own && begin < end) {
            begin -= a->before < begin ? a->before : begin;
            end = a->bytes - end < a->after ? a->bytes : end + a->after;
        }
    }
    begin = begin > offset ? begin : offset;
    end = end < last ? end : last;
    *bytes = begin < end ? end - begin : 0;
    return begin;
}

void divide_write(wl_run *r, ls_gpu_address to, const void *from, size_t bytes)
{
    wl_array *a = divide_array(r, to);
    if (wl_failed(r) || bytes == 0)
        return;
    if (!has_copies(r, a)) {
        check(r, ls_gpu_copy_in(r->context, to, from, bytes, r->err));
        return;
    }
    size_t offset = (size_t)(to - a->on[0]);
    for (uint32_t i = 0; i < r->parts && !wl_failed(r); i++) {
        size_t here = bytes, begin = clip(r, a, i, false, offset, &here);
        if (here > 0)
            check(r, ls_gpu_queue_copy_in(r->queues[i], a->on[i] + begin,
                                          (const uint8_t *)from + (begin - offset), here, NULL, r->err));
    }
    wait_for_all(r);
}

/* From every GPU; all have the same. */
static void download_whole(wl_run *r, const wl_array *a, void *to, ls_gpu_address from, size_t bytes)
{
    uint8_t *others = wl_zeros(r, r->parts - 1, bytes);
    for (uint32_t i = 0; i < r->parts && !wl_failed(r); i++)
        check(r, ls_gpu_queue_copy_out(r->queues[i], i == 0 ? to : others + (i - 1) * bytes,
                                       a->on[i] + (from - a->on[0]), bytes, NULL, r->err));
    wait_for_all(r);
    for (uint32_t i = 1; i < r->parts && !wl_failed(r); i++)
        if (memcmp(to, others + (i - 1) * bytes, bytes) != 0)
            wl_fail(r, LS_ERR_INTERNAL, "workload %s: GPUs 0 and %u have different results", r->workload->name,
                    i);
}

void divide_download(wl_run *r, void *to, ls_gpu_address from, size_t bytes)
{
    wl_array *a = divide_array(r, from);
    wait_for_all(r);
    if (wl_failed(r) || bytes == 0)
        return;
    if (is_whole(r)) {
        download_whole(r, a, to, from, bytes);
        return;
    }
    if (!has_copies(r, a) || a->share != WL_DIVIDED) {
        check(r, ls_gpu_copy_out(r->context, to, from, bytes, r->err));
        return;
    }
    size_t offset = (size_t)(from - a->on[0]);
    for (uint32_t i = 0; i < r->parts && !wl_failed(r); i++) {
        size_t here = bytes, begin = clip(r, a, i, true, offset, &here);
        if (here > 0)
            check(r, ls_gpu_queue_copy_out(r->queues[i], (uint8_t *)to + (begin - offset), a->on[i] + begin,
                                           here, NULL, r->err));
    }
    wait_for_all(r);
}

void wl_download_part(wl_run *r, uint32_t part, void *to, ls_gpu_address from, size_t bytes)
{
    const wl_array *a = divide_array(r, from);
    ls_gpu_address own = a ? a->on[part] + (from - a->on[0]) : from;
    if (!a || !has_copies(r, a) || is_whole(r)) {
        wl_download(r, to, from, bytes);
        return;
    }
    wait_for_all(r);
    if (wl_failed(r))
        return;
    check(r, ls_gpu_copy_out(r->context, to, own, bytes, r->err));
    if (!wl_failed(r))
        hasher_add_field(r->downloads, to, bytes);
}

/* On the queue of the GPU that gets the bytes; it begins after what that GPU has to do before. */
void wl_exchange(wl_run *r, ls_gpu_address shared, uint32_t part, size_t offset, size_t bytes)
{
    const wl_array *a = wl_failed(r) || r->devices != WL_DISCRETE ? NULL : divide_array(r, shared);
    for (uint32_t i = 0; a && bytes > 0 && i < r->parts && !wl_failed(r); i++)
        if (i != part)
            check(r, ls_gpu_queue_copy(r->queues[i], a->on[i] + offset, a->on[part] + offset, bytes, NULL,
                                       r->err));
}

/* ----------------------------------------------------------------------------------------------- launches */

/* Buffers of the host's names become those of a GPU. */
static void take_own(const wl_run *r, uint32_t part, ls_gpu_arg *args, ls_gpu_address *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!args[i].data || args[i].bytes != sizeof values[i])
            continue;
        memcpy(&values[i], args[i].data, sizeof values[i]);
        const wl_array *a = divide_array(r, values[i]);
        if (!a)
            continue;
        values[i] += a->on[part] - a->on[0];
        args[i].data = &values[i];
    }
}

void divide_launch(wl_run *r, const char *kernel, ls_gpu_launch *launch)
{
    enum { ARGS_MAX = 32 };
    ls_gpu_arg args[ARGS_MAX];
    ls_gpu_address values[ARGS_MAX];
    uint64_t groups = 1;
    const ls_gpu_arg *given = launch->args;
    for (uint32_t i = 0; i < 3; i++)
        groups *= (launch->grid[i] + launch->group[i] - 1) / launch->group[i];
    if (launch->arg_count > ARGS_MAX || r->units == 0 || groups % r->units != 0) {
        wl_fail(r, LS_ERR_INTERNAL,
                "workload %s: %llu work-groups of kernel %s are no whole parts of %u units", r->workload->name,
                (unsigned long long)groups, kernel, r->units);
        return;
    }
    wait_for_all(r);
    for (uint32_t i = 0; i < r->parts && !wl_failed(r); i++) {
        ls_gpu_kernel *found;
        uint64_t per_unit = groups / r->units, first = wl_part_begin(r, i) * per_unit;
        launch->groups = (ls_groups){ .first = first, .count = wl_part_begin(r, i + 1) * per_unit - first };
        if (is_whole(r))
            launch->groups = (ls_groups){ 0 };
        else if (launch->groups.count == 0)
            continue;
        memcpy(args, given, launch->arg_count * sizeof *args);
        take_own(r, i, args, values, launch->arg_count);
        launch->args = args;
        check(r, ls_gpu_module_find(r->modules[i], kernel, &found, r->err));
        if (!wl_failed(r))
            check(r, ls_gpu_queue_launch(r->queues[i], found, launch, NULL, r->err));
    }
    wait_for_all(r);
}
