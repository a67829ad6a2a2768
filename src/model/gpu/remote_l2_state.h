/* remote_l2_state.h: the state of the block of remote_l2.h, for remote_l2.c (requests) and remote_l2_block.c (set-up,
 * counters and saved state). */
#ifndef MODEL_GPU_REMOTE_L2_STATE_H
#define MODEL_GPU_REMOTE_L2_STATE_H

#include "base/list.h"
#include "lockstep/timeline.h"
#include "model/gpu/remote_l2.h"

#define REMOTE_L2_SLICES 4u /* of a channel, at most */

typedef struct remote_request {
    ls_sector_message m;
    ls_link *link; /* whose buffer entry it has until the cache takes it */
    ls_cycle ready;
    uint32_t next;
} remote_request;

typedef struct remote_queue {
    index_list list; /* of requests */
    uint32_t count;
} remote_queue;

typedef struct remote_slice {
    struct remote_l2 *owner;
    ls_event output_ready; /* while an answer waits for its link */
    sector_cache cache;
    remote_queue delay, input, output;
    ls_cycle last_arrival; /* arrivals: `width` per cycle */
    ls_cycle next;         /* nothing to do before this cycle */
    ls_cycle flush_since;
    uint32_t arrived;
    uint32_t passing;     /* requests at their owners */
    uint32_t write_backs; /* not acknowledged */
    uint32_t cursor;      /* of a flush: lines before it are clean */
    bool flushing, output_waits;
} remote_slice;

typedef struct remote_l2 {
    const remote_l2_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    ls_domain *domain;
    ls_ticker ticker;
    ls_port l2;
    uint32_t channel, slice_count, request_total, requester_count;
    const ls_address_owners *owners;
    ls_link **to_core, *to_peer;
    ls_event timer, peer_ready;
    ls_cycle now;
    remote_slice slices[REMOTE_L2_SLICES];
    remote_request *requests;
    index_pool pool;
    uint32_t turn; /* the slice whose requests leave first */
    bool awake; /* it ticks; else the timer stands at the first of the slices' next cycles, if there is any */
    bool peer_waits;
    remote_l2_counters n;
} remote_l2;

/* remote_l2.c */
bool remote_l2_tick(void *self, ls_cycle now);
void remote_l2_timer(void *self, ls_cycle now);
void remote_l2_output_ready(void *self, ls_cycle now);
void remote_l2_peer_ready(void *self, ls_cycle now);

#endif
