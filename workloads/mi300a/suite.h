/* suite.h: the MI300A suite: benchmarks with one timed region each, as they were measured on that GPU. A benchmark
 * prepares its arrays in no simulated time and gives its region to suite_time(), which calls it as the measured
 * programs did: once to warm up, then between two events, several times if it is short; the shortest time counts.
 *
 * A region consists of equal units: work-groups of its launches, steps of a loop, or launches. If all of them are more
 * instructions than the option `limit` allows, three parts of it are simulated, and the rest follows from the slope between them. */
#ifndef WORKLOADS_MI300A_SUITE_H
#define WORKLOADS_MI300A_SUITE_H

#include "workloads/workload.h"

/* The last option of every benchmark. */
#define SUITE_LIMIT                                                                                           \
    {                                                                                                         \
        "limit", 200, 0, 0, "million wavefront instructions; a longer region is sampled (0: never)"           \
    }

typedef struct suite_bench {
    /* Runs so many units of the region, from the first on. */
    void (*region)(wl_run *r, void *self, uint64_t first, uint64_t units);
    void *self;
    uint64_t units;      /* of the whole region */
    double instructions; /* of wavefronts in one unit, about */
    uint64_t least;      /* units below which the time does not grow evenly; 0: 1 */
    uint64_t multiple;   /* parts are multiples of it; 0: 1 */
    uint64_t bytes;      /* that all units use, if each has its own; 0: they share them */
} suite_bench;

/* Times the region and reports it. In emulation the region runs once. */
void suite_time(wl_run *r, const suite_bench *bench);
/* A region of launches that repeat: the time of launch i counts weights[i] times. What else the region has comes first, as `begin`
 * (NULL: nothing). For regions above the limit. */
typedef struct suite_launches {
    void (*begin)(wl_run *r, void *self);
    void (*launch)(wl_run *r, void *self, uint32_t index);
    void *self;
    uint32_t count;
    const double *weights;
} suite_launches;
void suite_time_launches(wl_run *r, const suite_launches *launches);

/* Whether suite_time() will not run all of the region: the host need not fill all of its arrays, and nothing is compared. */
bool suite_is_sampled(wl_run *r, const suite_bench *bench);
/* The units that suite_time() runs, from the first on. */
uint64_t suite_most(wl_run *r, const suite_bench *bench);
/* How often suite_time() runs the whole region. */
uint32_t suite_calls(wl_run *r, const suite_bench *bench);

/* A new buffer with this content, in no simulated time: inputs that were there before the first event. */
ls_gpu_address suite_input(wl_run *r, const void *data, size_t bytes);
/* The content of a buffer, in no simulated time. */
void suite_output(wl_run *r, void *to, ls_gpu_address from, size_t bytes);
/* A copy and a fill on the GPU as HIP's run time does them: with kernels. Bytes are a multiple of 4. */
void suite_copy(wl_run *r, ls_gpu_address to, ls_gpu_address from, size_t bytes);
void suite_fill(wl_run *r, ls_gpu_address to, uint32_t value, size_t bytes);

/* The work-groups of a launch whose units they are. */
static inline ls_groups suite_groups(uint64_t first, uint64_t units)
{
    return (ls_groups){ .first = first, .count = units };
}

/* Instructions of a launch: items / 64 waves with so many each. */
static inline double suite_waves(uint64_t items, double each)
{
    return (double)((items + 63) / 64) * each;
}

#endif
