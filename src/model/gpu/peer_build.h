/* peer_build.h: the blocks of a GPU that join it to a fabric: its way to other GPUs and its device queue. */
#ifndef MODEL_GPU_PEER_BUILD_H
#define MODEL_GPU_PEER_BUILD_H

#include "model/gpu/gpu.h"
#include "model/gpu/network.h"

typedef struct gpu_peer_plan {
    ls_machine *machine;
    gpu_instance *gpu;
    const char *prefix; /* "gpu0." */
    ls_clock clock;     /* of L2 */
    ls_region *dispatch_region, *const *core_regions, *const *l2_regions;
    const ls_noc_shape *noc;
} gpu_peer_plan;

/* Links of other blocks to the new ones; credits come on top of those that these blocks have anyway. */
typedef struct gpu_peer_links {
    ls_link **from_core;   /* by core: requests, or fences if L2 takes the requests; may be NULL */
    ls_link **from_memory; /* by channel */
    ls_link **from_part;   /* by channel: requests of L2's part for other GPUs; NULL: it has none */
    uint32_t reply_credits, request_credits; /* answers to a core, requests to a channel */
} gpu_peer_links;

/* After all other blocks and links, so that these are as in a GPU without a fabric. */
ls_status gpu_peer_build(const gpu_peer_plan *plan, gpu_peer_links *out, ls_error *err);

#endif
