/* helpers.c: functions that hosts call inside of run(): options, host arrays, buffers, launches, comparisons.
 * After a failure each of them does nothing. */
#include "workloads/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- failures */

bool wl_failed(const wl_run *r)
{
    return r->status != LS_OK;
}

bool wl_checking(const wl_run *r)
{
    return r->check && r->status == LS_OK;
}

void wl_fail(wl_run *r, ls_status status, const char *fmt, ...)
{
    va_list args;
    if (wl_failed(r))
        return;
    va_start(args, fmt);
    r->status = ls_failv(r->err, status, fmt, args);
    va_end(args);
}

/* ------------------------------------------------------------------------------------------------ options */

uint64_t wl_u64(wl_run *r, const char *option)
{
    for (size_t i = 0; i < r->workload->option_count; i++)
        if (strcmp(r->workload->options[i].name, option) == 0)
            return r->values[i];
    wl_fail(r, LS_ERR_INTERNAL, "workload %s asks for its option '%s', which it does not declare",
            r->workload->name, option);
    return 0;
}

uint32_t wl_u32(wl_run *r, const char *option)
{
    uint64_t value = wl_u64(r, option);
    if (value > UINT32_MAX) {
        wl_fail(r, LS_ERR_USAGE, "option '%s' of workload %s is too large: %" PRIu64, option,
                r->workload->name, value);
        return 0;
    }
    return (uint32_t)value;
}

/* ------------------------------------------------------------------------------------------------- arrays */

void *wl_zeros(wl_run *r, size_t count, size_t element_bytes)
{
    void *array;
    if (wl_failed(r))
        return NULL;
    array = arena_array(&r->arena, count ? count : 1, element_bytes);
    if (!array)
        wl_fail(r, LS_ERR_NOMEM, "the host has no memory for %zu elements of %zu bytes", count, element_bytes);
    return array;
}

/* In [0, 1), with all the bits that a double holds. */
static double unit(wl_run *r)
{
    return (double)(ls_random_next(&r->random) >> 11) * 0x1p-53;
}

double *wl_random_f64(wl_run *r, size_t count, double low, double high)
{
    double *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = low + (high - low) * unit(r);
    return array;
}

float *wl_random_f32(wl_run *r, size_t count, float low, float high)
{
    float *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = (float)((double)low + ((double)high - (double)low) * unit(r));
    return array;
}

uint32_t *wl_random_u32(wl_run *r, size_t count, uint32_t limit)
{
    uint32_t *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = (uint32_t)(limit ? ls_random_below(&r->random, limit) : ls_random_next(&r->random) >> 32);
    return array;
}

uint8_t *wl_random_u8(wl_run *r, size_t count)
{
    uint8_t *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = (uint8_t)(ls_random_next(&r->random) >> 56);
    return array;
}

uint64_t wl_random(wl_run *r, uint64_t limit)
{
    return limit ? ls_random_below(&r->random, limit) : ls_random_next(&r->random);
}

/* ------------------------------------------------------------------------------------------------ buffers */

ls_gpu_address wl_buffer(wl_run *r, size_t bytes)
{
    ls_gpu_address address = 0;
    if (r->parts > 1)
        return divide_alloc(r, (wl_array){ .share = WL_COPIES, .bytes = bytes }, false);
    if (!wl_failed(r))
        r->status = ls_gpu_alloc(r->context, bytes ? bytes : 1, &address, r->err);
    return address;
}

ls_gpu_address wl_zeroed(wl_run *r, size_t bytes)
{
    ls_gpu_address address = 0;
    if (r->parts > 1)
        return divide_alloc(r, (wl_array){ .share = WL_COPIES, .bytes = bytes }, true);
    if (!wl_failed(r))
        r->status = ls_gpu_alloc_zeroed(r->context, bytes ? bytes : 1, &address, r->err);
    return address;
}

ls_gpu_address wl_upload(wl_run *r, const void *data, size_t bytes)
{
    ls_gpu_address address = wl_buffer(r, bytes);
    wl_write(r, address, data, bytes);
    return address;
}

void wl_write(wl_run *r, ls_gpu_address to, const void *from, size_t bytes)
{
    if (r->parts > 1)
        divide_write(r, to, from, bytes);
    else if (!wl_failed(r))
        r->status = ls_gpu_copy_in(r->context, to, from, bytes, r->err);
}

void wl_download(wl_run *r, void *to, ls_gpu_address from, size_t bytes)
{
    if (wl_failed(r))
        return;
    if (r->parts > 1)
        divide_download(r, to, from, bytes);
    else
        r->status = ls_gpu_copy_out(r->context, to, from, bytes, r->err);
    if (!wl_failed(r))
        hasher_add_field(r->downloads, to, bytes);
}

void wl_preset(wl_run *r, ls_gpu_address to, const void *from, size_t bytes)
{
    if (!wl_failed(r) && bytes > 0)
        r->status = ls_gpu_patch(r->context, to, from, bytes, r->err);
}

void wl_look(wl_run *r, void *to, ls_gpu_address from, size_t bytes)
{
    if (wl_failed(r))
        return;
    r->status = ls_gpu_look(r->context, to, from, bytes, r->err);
    if (!wl_failed(r))
        hasher_add_field(r->downloads, to, bytes);
}

bool wl_is_timed(const wl_run *r)
{
    return ls_gpu_system_is_timed(r->system);
}

uint64_t wl_now_ns(const wl_run *r)
{
    return ls_gpu_system_now(r->system);
}

void wl_report_region(wl_run *r, const wl_region *region)
{
    if (!wl_failed(r))
        r->region = *region;
}

/* ----------------------------------------------------------------------------------------------- launches */

uint32_t wl_round_up(uint32_t n, uint32_t group)
{
    uint32_t rest = n % group;
    return rest ? n + (group - rest) : n;
}

void wl_launch_args(wl_run *r, const char *kernel, wl_size grid, wl_size group, const ls_gpu_arg *args,
                    size_t arg_count)
{
    wl_launch_groups_args(r, (ls_groups){ 0 }, kernel, grid, group, args, arg_count);
}

void wl_launch_groups_args(wl_run *r, ls_groups groups, const char *kernel, wl_size grid, wl_size group,
                           const ls_gpu_arg *args, size_t arg_count)
{
    ls_gpu_launch launch = { .grid = { grid.x, grid.y, grid.z },
                             .group = { group.x, group.y, group.z },
                             .groups = groups,
                             .args = args,
                             .arg_count = arg_count };
    ls_gpu_kernel *found;
    if (wl_failed(r))
        return;
    if (r->parts > 1) {
        divide_launch(r, kernel, &launch);
        return;
    }
    r->status = ls_gpu_module_find(r->module, kernel, &found, r->err);
    if (!wl_failed(r))
        r->status = ls_gpu_run(r->context, found, &launch, r->err);
}

/* -------------------------------------------------------------------------------------------- comparisons */

static bool differs(wl_run *r, const char *array, size_t index, const char *got, const char *want)
{
    r->is_wrong = true;
    wl_fail(r, LS_ERR_CHECK, "wrong result of %s: %s[%zu] is %s, the reference says %s", r->workload->name,
            array, index, got, want);
    return false;
}

bool wl_expect_f64(wl_run *r, const char *array, size_t index, double got, double want, double tolerance)
{
    char a[64], b[64];
    double scale = fabs(want) > 1 ? fabs(want) : 1;
    if (wl_failed(r))
        return false;
    r->compared++;
    if (got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance * scale)
        return true;
    snprintf(a, sizeof a, "%.17g", got);
    snprintf(b, sizeof b, "%.17g", want);
    return differs(r, array, index, a, b);
}

bool wl_expect_f32(wl_run *r, const char *array, size_t index, float got, float want, float tolerance)
{
    return wl_expect_f64(r, array, index, (double)got, (double)want, (double)tolerance);
}

bool wl_expect_u64(wl_run *r, const char *array, size_t index, uint64_t got, uint64_t want)
{
    char a[32], b[32];
    if (wl_failed(r))
        return false;
    r->compared++;
    if (got == want)
        return true;
    snprintf(a, sizeof a, "%" PRIu64, got);
    snprintf(b, sizeof b, "%" PRIu64, want);
    return differs(r, array, index, a, b);
}

bool wl_expect_u32(wl_run *r, const char *array, size_t index, uint32_t got, uint32_t want)
{
    return wl_expect_u64(r, array, index, got, want);
}

bool wl_expect_bytes(wl_run *r, const char *array, const void *got, const void *want, size_t bytes)
{
    const uint8_t *g = got, *w = want;
    if (wl_failed(r))
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (g[i] != w[i])
            return wl_expect_u64(r, array, i, g[i], w[i]);
    r->compared += bytes;
    return true;
}

bool wl_expect_f32s(wl_run *r, const char *array, const float *got, const float *want, size_t count,
                    float tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!wl_expect_f32(r, array, i, got[i], want[i], tolerance))
            return false;
    return !wl_failed(r);
}
