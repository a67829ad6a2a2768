/* network.h: the network between the cores and the L2 slices of a GPU, as its model of slot `noc` sees it. */
#ifndef MODEL_GPU_NETWORK_H
#define MODEL_GPU_NETWORK_H

#include "lockstep/noc.h"
#include "model/gpu/gpu.h"

enum { GPU_REQUEST, GPU_REPLY, GPU_MESSAGE_CLASSES };

typedef struct gpu_network {
    const ls_noc_ops *ops;
    const void *spec; /* of the model */
    ls_noc_plan plan; /* by GPU_REQUEST and GPU_REPLY, as is the shape */
    ls_noc_shape shape;
} gpu_network;

/* After the blocks, before the links. prefix: of all names, "gpu0."; it must stay until the network is built. */
ls_status gpu_network_plan(gpu_network *network, ls_machine *machine, const gpu_instance *gpu,
                           const char *prefix, ls_clock clock, ls_region *const *core_regions,
                           ls_region *const *l2_regions, ls_error *err);
/* to_memory: [core * channels + channel], to_core: [channel * cores + core]. */
ls_status gpu_network_build(const gpu_network *network, ls_link **to_memory, ls_link **to_core, ls_error *err);

#endif
