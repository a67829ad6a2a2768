/* peers.c: GPUs of a run that do different things: commands of single parts, events between them, measured time. */
#include "workloads/run.h"

#include <string.h>

static void check(wl_run *r, ls_status status)
{
    if (r->status == LS_OK)
        r->status = status;
}

static void wait_for_all(wl_run *r)
{
    if (!wl_failed(r) && r->parts > 1)
        check(r, ls_gpu_sync(r->context, r->err));
}

void peers_release(wl_run *r)
{
    for (size_t i = 0; i < r->events.count; i++)
        ls_gpu_event_release(r->events.at[i]);
    vec_fini(&r->events);
}

bool wl_reaches(const wl_run *r)
{
    return r->parts == 1 || ls_gpu_system_reaches(r->system);
}

ls_gpu_address wl_of(const wl_run *r, uint32_t part, ls_gpu_address address)
{
    const wl_array *a = r->parts > 1 ? divide_array(r, address) : NULL;
    return a ? address + (a->on[part] - a->on[0]) : address;
}

/* The event of a command that was queued. Numbers begin with 1. */
static wl_event remember(wl_run *r, ls_gpu_event *event)
{
    if (wl_failed(r))
        return 0;
    if (!vec_push(&r->events, event)) {
        ls_gpu_event_release(event);
        wl_fail(r, LS_ERR_NOMEM, "the host has no memory left");
        return 0;
    }
    return r->first_event + (uint32_t)r->events.count;
}

void wl_write_on(wl_run *r, uint32_t part, ls_gpu_address to, const void *from, size_t bytes)
{
    if (wl_failed(r) || bytes == 0)
        return;
    check(r, r->parts == 1 ? ls_gpu_copy_in(r->context, to, from, bytes, r->err)
                           : ls_gpu_queue_copy_in(r->queues[part], to, from, bytes, NULL, r->err));
}

void wl_read_on(wl_run *r, uint32_t part, void *to, ls_gpu_address from, size_t bytes)
{
    if (r->parts == 1) {
        wl_download(r, to, from, bytes);
        return;
    }
    wait_for_all(r);
    if (wl_failed(r))
        return;
    check(r, ls_gpu_queue_copy_out(r->queues[part], to, from, bytes, NULL, r->err));
    wait_for_all(r);
    if (!wl_failed(r))
        hasher_add_field(r->downloads, to, bytes);
}

wl_event wl_copy_on(wl_run *r, uint32_t part, ls_gpu_address to, ls_gpu_address from, size_t bytes)
{
    ls_gpu_event *event = NULL;
    if (wl_failed(r) || bytes == 0)
        return 0;
    if (r->parts == 1) {
        check(r, ls_gpu_copy(r->context, to, from, bytes, r->err));
        return 0;
    }
    check(r, ls_gpu_queue_copy(r->queues[part], to, from, bytes, &event, r->err));
    return remember(r, event);
}

wl_event wl_launch_on_args(wl_run *r, uint32_t part, const char *kernel, wl_size grid, wl_size group,
                           const ls_gpu_arg *args, size_t arg_count)
{
    const ls_gpu_launch launch = { .grid = { grid.x, grid.y, grid.z },
                                   .group = { group.x, group.y, group.z },
                                   .args = args,
                                   .arg_count = arg_count };
    ls_gpu_kernel *found;
    ls_gpu_event *event = NULL;
    if (wl_failed(r))
        return 0;
    if (r->parts == 1) {
        wl_launch_args(r, kernel, grid, group, args, arg_count);
        return 0;
    }
    check(r, ls_gpu_module_find(r->modules[part], kernel, &found, r->err));
    if (!wl_failed(r))
        check(r, ls_gpu_queue_launch(r->queues[part], found, &launch, &event, r->err));
    return remember(r, event);
}

void wl_wait_on(wl_run *r, uint32_t part, wl_event event)
{
    if (!wl_failed(r) && event > r->first_event) /* earlier ones are over */
        check(r, ls_gpu_queue_wait(r->queues[part], r->events.at[event - r->first_event - 1], r->err));
}

void wl_measure(wl_run *r)
{
    wait_for_all(r);
    for (size_t i = 0; i < r->events.count; i++)
        ls_gpu_event_release(r->events.at[i]);
    r->first_event += (uint32_t)r->events.count;
    r->events.count = 0;
    r->measured_from_ns = ls_gpu_system_now(r->system);
}

uint64_t wl_measured_ns(wl_run *r)
{
    uint64_t begin = UINT64_MAX, end = 0;
    wait_for_all(r);
    if (wl_failed(r) || !ls_gpu_system_is_timed(r->system))
        return 0;
    if (r->parts == 1)
        return ls_gpu_system_now(r->system) - r->measured_from_ns;
    for (size_t i = 0; i < r->events.count; i++) {
        uint64_t queued, began, ended;
        ls_gpu_event_get_times(r->events.at[i], &queued, &began, &ended);
        begin = began < begin ? began : begin;
        end = ended > end ? ended : end;
    }
    return end > begin ? end - begin : 0;
}

void wl_report(wl_run *r, const wl_transfer *transfer)
{
    if (!wl_failed(r))
        r->transfer = *transfer;
}
