/* cache_state.h: the state of a cache, shared by its two files (cache.c: what it does, cache_setup.c: keys, counters,
 * wiring) and by nobody else. */
#ifndef MODEL_LINE_CACHE_STATE_H
#define MODEL_LINE_CACHE_STATE_H

#include "model/line/cache.h"
#include "model/line/store.h"

#define CACHE_CLIENTS_MAX 256

/* A request inside: waiting for its line, on its way below, or on its way back up. */
typedef struct cache_node {
    ls_cycle at;    /* in a list of answers: when it leaves */
    ls_cycle taken; /* when it came */
    uint32_t next;
    uint32_t token; /* the requester's, while the message has ours */
    uint16_t source, client;
    line_message m;
} cache_node;

typedef struct cache_list {
    uint32_t first, last; /* STORE_NONE: empty */
} cache_list;

/* A line on its way from below. Everything that comes for it in the meantime waits in order. */
typedef struct cache_fetch {
    cache_list targets;
    uint32_t count, line, next; /* next: of the free ones */
    uint16_t flags;             /* of the request that began it */
    bool closed;                /* what it brings is too old for requests from now on */
} cache_fetch;

/* Something to send below. */
typedef struct cache_send {
    ls_cycle at;
    uint32_t what; /* a node, or a fetch with CACHE_FETCH set */
} cache_send;

#define CACHE_FETCH 0x80000000u     /* token or cache_send.what: a fetch */
#define CACHE_WRITEBACK 0x7fffffffu /* token: an evicted line; nobody waits for the answer */

typedef struct cache_client {
    const line_client_ops *ops;
    void *self;
    bool waiting;
} cache_client;

typedef struct cache_waiter {
    ls_cycle since;
    uint32_t client;
} cache_waiter;

/* Invariants: a line with lines[].mshr set has exactly one fetch; nodes are in exactly one place: free, targets of a
 * fetch, the way below (listed in sends, or sent), hits, fills, or the flush. Answers leave in the order of their
 * lists, whose times never decrease. */
typedef struct line_cache {
    line_port below;
    const line_cache_spec *spec;
    const char *name;
    ls_region *region;
    line_cache_counters n;
    store store;

    uint32_t width, policy, passing;
    bool home, mapped, attached;
    ls_window_view view; /* of a home */
    mem_map map;

    cache_node *nodes;
    uint32_t node_free, nodes_left;
    cache_fetch *fetches;
    uint32_t fetch_free, fetch_count;
    cache_list hits, fills;
    ls_cycle hits_last, fills_last; /* no answer leaves before these */

    cache_send *sends; /* ring */
    uint32_t send_head, send_tail, send_mask, send_room;
    bool below_refused;

    ls_cycle cycle;      /* of the last request */
    uint32_t taken;      /* in that cycle */
    ls_cycle busy_until; /* without banks: the data array is busy with atomics */
    ls_cycle *bank_free;
    uint32_t bank_mask;

    uint32_t forwarded;  /* nodes on their way below that will be answered */
    uint32_t writes_out; /* writes and write-backs below that were not answered yet */
    uint32_t flush_node, flush_next;

    ls_event event;
    bool stepping;
    ls_cycle again; /* while stepping: somebody must be called again then */

    uint32_t client_count, wait_head, wait_count;
    cache_waiter waiters[CACHE_CLIENTS_MAX]; /* ring, in the order of being refused */
    cache_client clients[CACHE_CLIENTS_MAX];
} line_cache;

extern const line_memory_ops line_cache_memory;
extern const line_client_ops line_cache_client;
void line_cache_event(void *self, ls_cycle now);
void line_cache_waits(const void *self, ls_wait_sink *sink);

#endif
