/* tma_requests.h: between the files of the engine of bulk copies. Included by these only. */
#ifndef MODEL_CORE_TMA_REQUESTS_H
#define MODEL_CORE_TMA_REQUESTS_H

#include "model/core/cga.h"

/* The core's queue to the network can take a request, and the TLB one more that waits for its page. */
static inline bool tma_has_room(const core *c)
{
    return !c->ldst.network_waiting && ring_count(&c->ldst.out_ring) < TMA_AHEAD &&
           !ring_full(&c->ldst.out_ring) && !(OPTION_ON(c->options.translate) && translate_full(c));
}

/* As many requests of a copy, which is the engine's `index`, as are made at once: at least one. Returns their sectors. */
uint32_t tma_send_requests(core *c, tma_op *op, uint32_t index);

#endif
