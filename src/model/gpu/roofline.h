/* roofline.h: how near a GPU came to the roofs of its arithmetic and of its DRAM. Has sums of its blocks'
 * counts, beside the possible work in the time that kernels took. Reads counters and specs of built blocks and
 * writes only its own numbers. */
#ifndef MODEL_GPU_ROOFLINE_H
#define MODEL_GPU_ROOFLINE_H

#include "model/gpu/gpu.h"

/* All since the start of the run. "Possible" is the largest work of a unit in time_ns. */
typedef struct gpu_roofline_counters {
    uint64_t time_ns; /* with a kernel launched */
    uint64_t flops, dram_bytes;
    uint64_t flops_half, flops_single, flops_double, flops_tensor;
    uint64_t possible_half, possible_single, possible_double, possible_bytes;
    uint64_t tensor_cycles, possible_tensor_cycles; /* of the units of matrix instructions */
} gpu_roofline_counters;

typedef struct gpu_roofline {
    gpu_roofline_counters n;
    const gpu_instance *gpu;
    char path[24];                                    /* of its metrics: "gpu0.roofline" */
    const ls_clock *clock;                            /* of the cores */
    uint64_t units;                                   /* sub-cores of all cores: each has one of every kind */
    double half_per_ns, single_per_ns, double_per_ns; /* FLOP of all units */
    double bytes_per_ns; /* of all channels; 0: a model of DRAM with unknown bandwidth */
} gpu_roofline;

#define GPU_ROOFLINE_TYPE "roofline/gpu"

/* For the registry of metrics: a table over gpu_roofline_counters. */
extern const ls_metric gpu_roofline_metrics[];
extern const size_t gpu_roofline_metric_count;

/* The GPU outlives it. */
ls_status gpu_roofline_init(gpu_roofline *r, const gpu_instance *gpu, ls_error *err);
/* Brings the numbers up to date; while nothing runs. */
void gpu_roofline_update(gpu_roofline *r);

#endif
