/* remote_build.h: L2 slices of a GPU, with a part for other GPUs' memory where the way to them is behind L2. */
#ifndef MODEL_GPU_REMOTE_BUILD_H
#define MODEL_GPU_REMOTE_BUILD_H

#include "model/gpu/gpu.h"
#include "model/memory/rdma_keys.h"

typedef struct gpu_remote_plan {
    ls_machine *machine;
    gpu_instance *gpu;
    bool behind; /* rdma.at is memory, and there is a fabric */
    uint32_t cache;
    uint64_t ways;
} gpu_remote_plan;

/* The slices of one channel, as gpu->l2[], and their part for other GPUs, as gpu->remote_l2[]. */
ls_status gpu_remote_slices(const gpu_remote_plan *plan, ls_region *region, const char *name, uint32_t channel,
                            ls_error *err);
/* wiring: of the slices. */
ls_status gpu_remote_attach(const gpu_instance *gpu, const ls_l2_wiring *wiring, ls_link *to_peer,
                            ls_error *err);

#endif
