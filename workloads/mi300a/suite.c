/* suite.c: see suite.h. */
#include "workloads/mi300a/suite.h"

#include <math.h>

/* Parts of a sampled region: one, two and three of the same size, after one that warms up. */
#define PARTS 3
#define PARTS_IN_ALL 7

/* Arrays that are larger than all caches: each call of the whole region finds them in memory. */
#define CACHED_BYTES (256ull << 20)
/* Those that are larger than the L2s of all dies are found in the Infinity Cache. */
#define L2_BYTES (24ull << 20)

static double limit_of(wl_run *r)
{
    uint64_t limit = wl_u64(r, "limit");
    return limit == 0 ? INFINITY : 1e6 * (double)limit;
}

bool suite_is_sampled(wl_run *r, const suite_bench *bench)
{
    const uint64_t least = bench->least > 1 ? bench->least : 1;
    return wl_is_timed(r) && bench->units >= PARTS_IN_ALL * least &&
           (double)bench->units * bench->instructions > limit_of(r);
}

/* Short regions run as often as the measured ones had to until every compute unit had their code, but not for long. */
#define CALLS_MAX 16.0
#define CALLS_INSTRUCTIONS 5e5

uint32_t suite_calls(wl_run *r, const suite_bench *bench)
{
    const double whole = (double)bench->units * bench->instructions;
    if (!wl_is_timed(r) || bench->bytes > 4 * CACHED_BYTES) /* nothing of a call is left in caches */
        return 1;
    return 1 + (uint32_t)fmin(fmax(CALLS_INSTRUCTIONS / fmax(whole, 1), 1), CALLS_MAX);
}

static double time_part(wl_run *r, const suite_bench *bench, uint64_t first, uint64_t units)
{
    const uint64_t begin = wl_now_ns(r);
    bench->region(r, bench->self, first, units);
    return (double)(wl_now_ns(r) - begin);
}

static uint64_t part_size(wl_run *r, const suite_bench *bench)
{
    const uint64_t multiple = bench->multiple > 1 ? bench->multiple : 1;
    double units = limit_of(r) / bench->instructions / PARTS_IN_ALL;
    uint64_t size = units < 1 ? 1 : (uint64_t)units;
    if (size < bench->least)
        size = bench->least;
    size = (size + multiple - 1) / multiple * multiple;
    return size * PARTS > bench->units ? bench->units / PARTS : size;
}

/* The whole region does not stay in the L2s, but parts of it would. */
static bool parts_fit_l2(const suite_bench *bench, uint64_t size)
{
    return bench->bytes > L2_BYTES && bench->bytes <= CACHED_BYTES &&
           bench->bytes / bench->units * PARTS * size <= L2_BYTES;
}

/* Parts of a region that caches do not hold use different units, so that none finds lines of another one. */
static uint64_t first_of_part(const suite_bench *bench, uint64_t size, uint64_t part)
{
    const bool apart = bench->bytes > CACHED_BYTES || parts_fit_l2(bench, size);
    return apart && bench->units >= PARTS_IN_ALL * size ? size * (1 + part * (part + 1) / 2) : 0;
}

/* Time grows by as much from the second part to the third as from the third to the whole, if it is even. The difference
 * of both slopes says how even it is: it bounds the interval. */
static void time_sampled(wl_run *r, const suite_bench *bench)
{
    const uint64_t size = part_size(r, bench);
    const bool spread = parts_fit_l2(bench, size) && bench->units >= PARTS_IN_ALL * size;
    double ns[PARTS];
    (void)time_part(r, bench, 0, spread ? PARTS_IN_ALL * size : size);
    for (uint64_t i = 0; i < PARTS; i++)
        ns[i] = time_part(r, bench, first_of_part(bench, size, i), size * (i + 1));
    const double slope = (ns[2] - ns[1]) / (double)size, before = (ns[1] - ns[0]) / (double)size;
    const double rest = (double)(bench->units - PARTS * size);
    const double whole = ns[2] + slope * rest, apart = fabs(slope - before) * rest;
    wl_report_region(r, &(wl_region){ .ns = whole,
                                      .low_ns = whole - apart,
                                      .high_ns = whole + apart,
                                      .simulated = (double)(PARTS * size) / (double)bench->units });
}

void suite_time(wl_run *r, const suite_bench *bench)
{
    if (wl_failed(r))
        return;
    if (suite_is_sampled(r, bench)) {
        time_sampled(r, bench);
        return;
    }
    const uint32_t calls = suite_calls(r, bench);
    double ns = time_part(r, bench, 0, bench->units);
    for (uint32_t i = 1; i < calls; i++) { /* the first one warms up */
        const double again = time_part(r, bench, 0, bench->units);
        ns = i == 1 || again < ns ? again : ns;
    }
    wl_report_region(r, &(wl_region){ .ns = ns, .low_ns = ns, .high_ns = ns, .simulated = 1 });
}

uint64_t suite_most(wl_run *r, const suite_bench *bench)
{
    return suite_is_sampled(r, bench) ? PARTS_IN_ALL * part_size(r, bench) : bench->units;
}

static double time_launch(wl_run *r, const suite_launches *l, uint32_t index)
{
    const uint64_t begin = wl_now_ns(r);
    l->launch(r, l->self, index);
    return (double)(wl_now_ns(r) - begin);
}

/* The first launch runs twice: how far both are apart bounds the interval. */
void suite_time_launches(wl_run *r, const suite_launches *l)
{
    double sum = 0, all = 0, apart = 0;
    const uint64_t begin = wl_now_ns(r);
    if (l->begin)
        l->begin(r, l->self);
    sum = (double)(wl_now_ns(r) - begin);
    const double first = time_launch(r, l, 0);
    for (uint32_t i = 0; i < l->count; i++) {
        const double ns = time_launch(r, l, i);
        sum += l->weights[i] * ns;
        all += l->weights[i];
        if (i == 0 && ns > 0)
            apart = fabs(first / ns - 1);
    }
    wl_report_region(r, &(wl_region){ .ns = sum,
                                      .low_ns = sum * (1 - apart),
                                      .high_ns = sum * (1 + apart),
                                      .simulated = all > 0 ? (double)l->count / all : 0 });
}

ls_gpu_address suite_input(wl_run *r, const void *data, size_t bytes)
{
    const ls_gpu_address address = wl_buffer(r, bytes);
    wl_preset(r, address, data, bytes);
    return address;
}

void suite_output(wl_run *r, void *to, ls_gpu_address from, size_t bytes)
{
    wl_look(r, to, from, bytes);
}

/* Grids of copies and fills: at most what the GPU holds at once. Assumption: as HIP's run time chooses them. */
#define BLIT_GROUP 256u
#define BLIT_GROUPS_MAX 1824u /* 8 per compute unit of an MI300A: all of its wave slots */

static uint32_t blit_grid(uint64_t items)
{
    const uint64_t groups = (items + BLIT_GROUP - 1) / BLIT_GROUP;
    return (uint32_t)(groups < BLIT_GROUPS_MAX ? groups : BLIT_GROUPS_MAX) * BLIT_GROUP;
}

void suite_copy(wl_run *r, ls_gpu_address to, ls_gpu_address from, size_t bytes)
{
    const uint64_t count = bytes / 16;
    wl_launch(r, "blit_copy", WL_1D(blit_grid(count)), WL_1D(BLIT_GROUP), WL_ARG(from), WL_ARG(to),
              WL_ARG(count));
}

void suite_fill(wl_run *r, ls_gpu_address to, uint32_t value, size_t bytes)
{
    const uint64_t count = bytes / 4;
    wl_launch(r, "blit_fill", WL_1D(blit_grid(count)), WL_1D(BLIT_GROUP), WL_ARG(to), WL_ARG(value),
              WL_ARG(count));
}
