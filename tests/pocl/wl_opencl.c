/* wl_opencl.c: the host side of workload.h on PoCL instead of the simulator: the workloads' hosts and kernels
 * run unchanged, so a failure here is a defect of the workload. */
#include "ocl.h"
#include "wl_opencl.h"

#include "base/arena.h"
#include "base/file.h"
#include "lockstep/random.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BUFFERS_MAX 64

struct wl_run {
    const wl_workload *workload;
    const uint64_t *values;
    mem_arena arena;
    ls_random random;
    ocl_device *device;
    ocl_program *program;
    void *buffers[BUFFERS_MAX];
    size_t buffer_count;
    uint64_t compared;
    ls_error *err;
    ls_status status;
};

ls_status wl_opencl_run(const wl_workload *w, const char *directory, ocl_device *device,
                        const uint64_t *values, uint64_t *compared, ls_error *err)
{
    wl_run r = { .workload = w, .values = values, .device = device, .err = err };
    ls_random_init(&r.random, 1);
    char *source;
    size_t bytes;
    const char *name = w->kernels ? w->kernels : w->name;
    const char *path = arena_printf(&r.arena, "%s/%s/%s.cl", directory, name, name);
    if (!file_exists(path))
        path = arena_printf(&r.arena, "%s/%s/%s.cl", directory, w->suite ? w->suite : "micro", name);
    r.status = file_read(&r.arena, path, 1 << 20, &source, &bytes, err);
    if (r.status == LS_OK)
        r.status = ocl_build(device, source, bytes, "", &r.program, err);
    if (r.status == LS_OK)
        w->run(&r);
    for (size_t i = 0; i < r.buffer_count; i++)
        ocl_free(device, r.buffers[i]);
    ocl_program_free(r.program);
    arena_fini(&r.arena);
    *compared = r.compared;
    return r.status;
}

uint64_t wl_u64(wl_run *r, const char *option)
{
    for (size_t i = 0; i < r->workload->option_count; i++)
        if (strcmp(r->workload->options[i].name, option) == 0)
            return r->values[i];
    wl_fail(r, LS_ERR_INTERNAL, "no option '%s'", option);
    return 1;
}

uint32_t wl_u32(wl_run *r, const char *option)
{
    return (uint32_t)wl_u64(r, option);
}

bool wl_failed(const wl_run *r)
{
    return r->status != LS_OK;
}

void wl_fail(wl_run *r, ls_status status, const char *fmt, ...)
{
    if (r->status != LS_OK)
        return;
    va_list args;
    va_start(args, fmt);
    r->status = ls_failv(r->err, status, fmt, args);
    va_end(args);
}

bool wl_checking(const wl_run *r)
{
    return r->status == LS_OK;
}

/* ---------------------------------------------------------------------------------- arrays and buffers */

void *wl_zeros(wl_run *r, size_t count, size_t element_bytes)
{
    if (r->status != LS_OK)
        return NULL;
    void *array = arena_array(&r->arena, count ? count : 1, element_bytes);
    if (!array)
        wl_fail(r, LS_ERR_NOMEM, "no memory for %zu elements", count);
    return array;
}

double *wl_random_f64(wl_run *r, size_t count, double low, double high)
{
    double *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = low + (high - low) * ls_random_real(&r->random);
    return array;
}

float *wl_random_f32(wl_run *r, size_t count, float low, float high)
{
    float *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = (float)((double)low + ((double)high - (double)low) * ls_random_real(&r->random));
    return array;
}

uint32_t *wl_random_u32(wl_run *r, size_t count, uint32_t limit)
{
    uint32_t *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = (uint32_t)ls_random_below(&r->random, limit ? limit : UINT64_C(1) << 32);
    return array;
}

uint8_t *wl_random_u8(wl_run *r, size_t count)
{
    uint8_t *array = wl_zeros(r, count, sizeof *array);
    for (size_t i = 0; array && i < count; i++)
        array[i] = (uint8_t)ls_random_below(&r->random, 256);
    return array;
}

uint64_t wl_random(wl_run *r, uint64_t limit)
{
    return ls_random_below(&r->random, limit);
}

ls_gpu_address wl_buffer(wl_run *r, size_t bytes)
{
    if (r->status != LS_OK)
        return 0;
    void *buffer = r->buffer_count < BUFFERS_MAX ? ocl_alloc(r->device, bytes) : NULL;
    if (!buffer) {
        wl_fail(r, LS_ERR_NOMEM, "no buffer of %zu bytes", bytes);
        return 0;
    }
    r->buffers[r->buffer_count++] = buffer;
    return (ls_gpu_address)(uintptr_t)buffer;
}

/* One device: the work has one part. */

void wl_divide(wl_run *r, uint32_t units)
{
    (void)r, (void)units;
}

uint32_t wl_parts(const wl_run *r)
{
    (void)r;
    return 1;
}

uint32_t wl_part_begin(const wl_run *r, uint32_t part)
{
    (void)r;
    return part;
}

ls_gpu_address wl_divided(wl_run *r, size_t bytes, size_t unit_bytes, size_t before, size_t after)
{
    (void)unit_bytes, (void)before, (void)after;
    return wl_buffer(r, bytes);
}

ls_gpu_address wl_shared(wl_run *r, size_t bytes)
{
    return wl_buffer(r, bytes);
}

ls_gpu_address wl_read_by_all(wl_run *r, size_t bytes)
{
    return wl_buffer(r, bytes);
}

void wl_exchange(wl_run *r, ls_gpu_address shared, uint32_t part, size_t offset, size_t bytes)
{
    (void)r, (void)shared, (void)part, (void)offset, (void)bytes;
}

void wl_download_part(wl_run *r, uint32_t part, void *to, ls_gpu_address from, size_t bytes)
{
    (void)part;
    wl_download(r, to, from, bytes);
}

bool wl_reaches(const wl_run *r)
{
    (void)r;
    return true;
}

ls_gpu_address wl_of(const wl_run *r, uint32_t part, ls_gpu_address address)
{
    (void)r, (void)part;
    return address;
}

void wl_write_on(wl_run *r, uint32_t part, ls_gpu_address to, const void *from, size_t bytes)
{
    (void)part;
    wl_write(r, to, from, bytes);
}

void wl_read_on(wl_run *r, uint32_t part, void *to, ls_gpu_address from, size_t bytes)
{
    (void)part;
    wl_download(r, to, from, bytes);
}

wl_event wl_copy_on(wl_run *r, uint32_t part, ls_gpu_address to, ls_gpu_address from, size_t bytes)
{
    (void)part;
    if (r->status == LS_OK)
        memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

wl_event wl_launch_on_args(wl_run *r, uint32_t part, const char *kernel, wl_size grid, wl_size group,
                           const ls_gpu_arg *args, size_t arg_count)
{
    (void)part;
    wl_launch_args(r, kernel, grid, group, args, arg_count);
    return 0;
}

void wl_wait_on(wl_run *r, uint32_t part, wl_event event)
{
    (void)r, (void)part, (void)event;
}

void wl_measure(wl_run *r)
{
    (void)r;
}

uint64_t wl_measured_ns(wl_run *r)
{
    (void)r;
    return 0;
}

void wl_report(wl_run *r, const wl_transfer *transfer)
{
    (void)r, (void)transfer;
}

void wl_report_region(wl_run *r, const wl_region *region)
{
    (void)r, (void)region;
}

bool wl_is_timed(const wl_run *r)
{
    (void)r;
    return false;
}

uint64_t wl_now_ns(const wl_run *r)
{
    (void)r;
    return 0;
}

ls_gpu_address wl_zeroed(wl_run *r, size_t bytes)
{
    ls_gpu_address buffer = wl_buffer(r, bytes);
    if (buffer)
        memset((void *)(uintptr_t)buffer, 0, bytes);
    return buffer;
}

void wl_write(wl_run *r, ls_gpu_address to, const void *from, size_t bytes)
{
    if (r->status == LS_OK && bytes && to)
        memcpy((void *)(uintptr_t)to, from, bytes);
}

void wl_download(wl_run *r, void *to, ls_gpu_address from, size_t bytes)
{
    if (r->status == LS_OK && bytes)
        memcpy(to, (const void *)(uintptr_t)from, bytes);
}

void wl_preset(wl_run *r, ls_gpu_address to, const void *from, size_t bytes)
{
    wl_write(r, to, from, bytes);
}

void wl_look(wl_run *r, void *to, ls_gpu_address from, size_t bytes)
{
    wl_download(r, to, from, bytes);
}

ls_gpu_address wl_upload(wl_run *r, const void *data, size_t bytes)
{
    const ls_gpu_address buffer = wl_buffer(r, bytes);
    wl_write(r, buffer, data, bytes);
    return buffer;
}

uint32_t wl_round_up(uint32_t n, uint32_t group)
{
    return (n + group - 1) / group * group;
}

void wl_launch_args(wl_run *r, const char *kernel, wl_size grid, wl_size group, const ls_gpu_arg *args,
                    size_t arg_count)
{
    const uint32_t g[3] = { grid.x, grid.y, grid.z }, l[3] = { group.x, group.y, group.z };
    if (r->status == LS_OK)
        r->status = ocl_run(r->program, kernel, g, l, args, arg_count, r->err);
}

/* Samples belong to simulated time: PoCL runs whole grids. */
void wl_launch_groups_args(wl_run *r, ls_groups groups, const char *kernel, wl_size grid, wl_size group,
                           const ls_gpu_arg *args, size_t arg_count)
{
    (void)groups;
    wl_launch_args(r, kernel, grid, group, args, arg_count);
}

/* ------------------------------------------------------------------------------------------ comparing */

bool wl_expect_f64(wl_run *r, const char *array, size_t index, double got, double want, double tolerance)
{
    r->compared++;
    if (!(fabs(got - want) <= tolerance * fmax(1, fabs(want))) && !(isnan(got) && isnan(want)))
        wl_fail(r, LS_ERR_CHECK, "%s[%zu] is %.9g, expected %.9g", array, index, got, want);
    return r->status == LS_OK;
}

bool wl_expect_f32(wl_run *r, const char *array, size_t index, float got, float want, float tolerance)
{
    return wl_expect_f64(r, array, index, (double)got, (double)want, (double)tolerance);
}

bool wl_expect_u64(wl_run *r, const char *array, size_t index, uint64_t got, uint64_t want)
{
    r->compared++;
    if (got != want)
        wl_fail(r, LS_ERR_CHECK, "%s[%zu] is %" PRIu64 ", expected %" PRIu64, array, index, got, want);
    return r->status == LS_OK;
}

bool wl_expect_u32(wl_run *r, const char *array, size_t index, uint32_t got, uint32_t want)
{
    return wl_expect_u64(r, array, index, got, want);
}

bool wl_expect_bytes(wl_run *r, const char *array, const void *got, const void *want, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!wl_expect_u64(r, array, i, ((const uint8_t *)got)[i], ((const uint8_t *)want)[i]))
            return false;
    return r->status == LS_OK;
}

bool wl_expect_f32s(wl_run *r, const char *array, const float *got, const float *want, size_t count,
                    float tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!wl_expect_f32(r, array, i, got[i], want[i], tolerance))
            return false;
    return r->status == LS_OK;
}
