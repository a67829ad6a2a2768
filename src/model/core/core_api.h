/* core_api.h: what the machine builder and the dispatcher know of a core. */
#ifndef MODEL_CORE_API_H
#define MODEL_CORE_API_H

#include "isa/stream.h"
#include "lockstep/block.h"
#include "model/memory/mem.h"

/* A thread block on its way to a core: belongs to the core until core_done brings the ls_cta back. */
typedef struct core_launch {
    ls_cta *cta;
    const ls_inst *insts;
    const ls_kernel_info *info;
    uint32_t kernel;        /* the dispatcher's number */
    uint32_t ctas_per_core; /* most at once, for the carve-out and for the layout of local memory */
} core_launch;

typedef struct core_done {
    ls_cta *cta;
    uint32_t kernel;
    uint16_t core;
    ls_cycle cycle; /* of the core's clock */
} core_done;

/* What limits how many thread blocks fit. */
typedef struct core_capacity {
    uint64_t warp_slots, cta_slots, registers, shared_bytes, register_unit;
} core_capacity;
core_capacity core_get_capacity(const ls_block *core);

/* Wiring, before the run. */
ls_status core_attach(ls_block *core, uint32_t id, uint32_t core_count, const mem_map *map,
                      ls_link *const *to_memory, uint32_t replies_max, ls_link *to_dispatch, ls_error *err);
void core_receive_launch(void *state, ls_link *link, const void *payload, ls_cycle now);
void core_receive_reply(void *state, ls_link *link, const void *payload, ls_cycle now);

#endif
