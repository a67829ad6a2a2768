/* cache_state.h: the state of a cache, shared by its files (cache_take.c: requests, cache.c: everything later,
 * cache_setup.c: keys, counters, wiring). Private to them. */
#ifndef MODEL_AMD_MEMORY_CACHE_STATE_H
#define MODEL_AMD_MEMORY_CACHE_STATE_H

#include "model/amd_memory/line_tap.h"
#include "base/list.h"
#include "model/amd_memory/cache.h"
#include "model/amd_memory/place_memory.h"
#include "model/amd_memory/line_store.h"

#define CACHE_CLIENTS_MAX 256
#define CACHE_FRACTION 16

/* A request inside: waiting for its line, on its way below, or on its way back up. */
typedef struct cache_node {
    ls_cycle at;    /* in a list of answers: when it leaves */
    ls_cycle taken; /* when it came */
    uint32_t next;
    uint32_t token; /* the requester's, while the message has ours */
    uint16_t source, client;
    ls_line_message m;
} cache_node;

typedef struct cache_answers {
    index_list list; /* of nodes */
    ls_cycle due;    /* at of the first; LS_CYCLE_MAX: there is none */
} cache_answers;

/* A line on its way from below. Everything that comes for it in the meantime waits in order. */
typedef struct cache_fetch {
    index_list targets;         /* nodes */
    uint32_t count, line, next; /* next: of the free ones */
    uint16_t flags;             /* of the request that began it */
    bool closed;                /* its line is too old for requests from now on */
} cache_fetch;

/* Something to send below. */
typedef struct cache_send {
    ls_cycle at;
    uint32_t node; /* INDEX_NONE: a fetch */
    uint32_t fetch;
} cache_send;

#define CACHE_FETCH 0x80000000u     /* token: a fetch */
#define CACHE_WRITEBACK 0x7fffffffu /* token: an evicted line; no requester waits for the answer */

typedef struct cache_client {
    const ls_line_client_ops *ops;
    void *self;
    uint32_t delay; /* cycles until its requests are here */
    bool waiting;
    uint8_t needs;  /* while it waits: CACHE_TIME and its like */
    ls_cycle again; /* CACHE_TIME: until then */
} cache_client;

/* Resources that a refused requester waits for. */
enum {
    CACHE_TIME = 1u << 0, /* a port or a bank */
    CACHE_LINE = 1u << 1, /* a line to come: its MSHR, or its place in the set */
    CACHE_ROOM = 1u << 2, /* a message below to leave or to be answered, or an answer to leave */
};

typedef struct cache_waiter {
    ls_cycle since;
    uint32_t client;
} cache_waiter;

/* Invariants: a line with lines[].mshr set has exactly one fetch. A node is in exactly one place: free,
 * targets of a fetch, the way below (listed in sends, or sent), hits, fills, or the flush. Answers leave in
 * the order of their lists, whose times never decrease. */
typedef struct line_cache {
    ls_line_port below;
    const line_cache_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    line_cache_counters n;
    store store;
    prefetcher *prefetch; /* NULL: none */

    uint32_t width, policy, passing, directory_cycles, hit_cycles;
    bool home, mapped, attached;
    uint16_t hit_flags;      /* LS_LINE_FROM_* of answers to hits */
    uint16_t fill_flags;     /* the same of lines that came from below */
    bool passes_invalidates; /* line_cache_pass_invalidates() */
    const ls_memory *memory; /* of a home and of a die's L2: for the states of pages; else NULL */
    mem_map map;
    bool plain; /* the map's local address is the address without plain_shift bits above those of plain_low */
    uint32_t plain_shift;
    uint64_t plain_low;

    cache_node *nodes;
    index_pool node_pool;
    uint32_t nodes_left;
    cache_fetch *fetches;
    index_pool fetch_pool;
    uint32_t fetch_count;
    cache_answers hits, fills;
    ls_cycle hits_last, fills_last; /* no answer leaves before these */

    cache_send *sends; /* ring */
    uint32_t send_head, send_tail, send_mask, send_room;
    ls_cycle send_due; /* at of the first of sends; LS_CYCLE_MAX: there is none, or it was refused */
    bool below_refused;

    uint64_t lead;       /* delay of the request that is being taken */
    ls_cycle cycle;      /* of the last request */
    uint32_t taken;      /* in that cycle */
    ls_cycle busy_until; /* the data path is busy: with a line, or (without banks) with an atomic */
    uint64_t line_cost;  /* of the port per request, in 1 / 2^CACHE_FRACTION cycles; 0: a cycle or less */
    uint64_t port_time;  /* until then the port is taken, in the same unit: fractions of cycles add up */
    ls_cycle *bank_free;
    uint32_t bank_mask;

    uint32_t forwarded;  /* nodes on their way below that will be answered */
    uint32_t writes_out; /* writes and write-backs below that were not answered yet */
    uint32_t flush_node; /* INDEX_NONE: no flush */
    uint32_t flush_next;

    ls_event event;
    bool stepping;
    uint8_t freed;  /* since waiters were called: CACHE_LINE, CACHE_ROOM */
    ls_cycle again; /* while stepping: a waiter must be called again then */

    uint32_t client_count, wait_head, wait_count;
    uint32_t wait_needs;   /* resources that waiters wait for, */
    ls_cycle wait_due;     /* and the first time that one waits for; LS_CYCLE_MAX: none does */
    uint32_t client_mask;  /* there is room for so many clients and one more: a power of two */
    cache_waiter *waiters; /* ring, in the order of being refused */
    cache_client *clients;
} line_cache;

bool line_cache_take(void *self, uint32_t client, const ls_line_message *m, ls_cycle now);
extern const ls_line_memory_ops line_cache_memory;
extern const ls_line_client_ops line_cache_client;
void line_cache_event(void *self, ls_cycle now);
void line_cache_waits(const void *self, ls_wait_sink *sink);

/* The address without its channel and slice. */
static inline uint64_t cache_address_index(line_cache *c, uint64_t address)
{
    if (c->plain)
        return (address & c->plain_low) | (address >> c->plain_shift & ~c->plain_low);
    return c->mapped ? mem_map_place_again(&c->map, address).local : address;
}

static inline uint32_t cache_set_of(line_cache *c, uint64_t address)
{
    return store_set_of(&c->store, cache_address_index(c, address));
}

/* --- nodes, lists, the event: for both files --- */

static inline uint32_t cache_node_take(line_cache *c)
{
    c->nodes_left--;
    return index_pool_take(&c->node_pool, INDEX_LINKS(c->nodes, next));
}

static inline void cache_node_give(line_cache *c, uint32_t node)
{
    index_pool_give(&c->node_pool, INDEX_LINKS(c->nodes, next), node);
    c->nodes_left++;
}

static inline void cache_list_put(line_cache *c, index_list *list, uint32_t node)
{
    index_list_append(list, INDEX_LINKS(c->nodes, next), node);
}

/* Relative: the engine is quicker with that. */
static inline void cache_arm(line_cache *c, ls_cycle at, ls_cycle now)
{
    if (c->stepping) {
        c->again = at < c->again ? at : c->again;
        return;
    }
    if (ls_event_scheduled(&c->event)) {
        if (c->event.cycle <= at)
            return;
        ls_cancel(&c->event);
    }
    ls_schedule(c->region, &c->event, at - now);
}

/* Something that a refused requester may wait for is free again. */
static inline void cache_free(line_cache *c, uint32_t what, ls_cycle now)
{
    c->freed |= (uint8_t)what;
    if (c->wait_count > 0 || c->flush_node != INDEX_NONE)
        cache_arm(c, now, now);
}

/* again: the cycle from which on it can be otherwise, if that is known; else 0. */
static inline bool cache_refuse(line_cache *c, uint32_t client, uint64_t *counter, ls_cycle now,
                                ls_cycle again)
{
    cache_client *who = &c->clients[client];
    (*counter)++;
    if (!who->waiting) {
        who->waiting = true;
        who->needs = 0;
        c->waiters[(c->wait_head + c->wait_count++) & c->client_mask] =
            (cache_waiter){ .since = now, .client = client };
    }
    if (again != 0) {
        who->again = (who->needs & CACHE_TIME) == 0 || again < who->again ? again : who->again;
        who->needs |= CACHE_TIME;
        c->wait_due = who->again < c->wait_due ? who->again : c->wait_due;
        cache_arm(c, again, now);
    } else {
        uint32_t needs = counter == &c->n.refused_room ? CACHE_ROOM : CACHE_LINE;
        who->needs |= (uint8_t)needs;
        c->wait_needs |= needs;
    }
    return false;
}

static inline void cache_answer(line_cache *c, cache_answers *answers, uint32_t node, ls_cycle at,
                                ls_cycle now)
{
    c->nodes[node].at = at;
    if (index_list_empty(&answers->list))
        answers->due = at;
    cache_list_put(c, &answers->list, node);
    cache_arm(c, at, now);
}

/* An answer after `delay` cycles. */
static inline void cache_answer_hit(line_cache *c, uint32_t node, ls_cycle now, uint64_t extra)
{
    ls_cycle at = now + c->lead + c->hit_cycles + extra;
    c->hits_last = at > c->hits_last ? at : c->hits_last;
    cache_answer(c, &c->hits, node, c->hits_last, now);
}

static inline void cache_answer_fill(line_cache *c, uint32_t node, ls_cycle now, uint64_t extra)
{
    ls_cycle at = now + c->spec->fill_cycles;
    c->fills_last = (at > c->fills_last ? at : c->fills_last) + extra;
    cache_answer(c, &c->fills, node, c->fills_last, now);
}

static inline uint32_t cache_new_node(line_cache *c, uint32_t client, const ls_line_message *m, ls_cycle now,
                                      uint32_t data_bytes)
{
    uint32_t i = cache_node_take(c);
    cache_node *node = &c->nodes[i];
    node->taken = now + c->lead;
    node->token = m->token;
    node->source = m->source;
    node->client = (uint16_t)client;
    ls_line_copy(&node->m, m, data_bytes);
    return i;
}

/* --- the way below --- */

static inline bool cache_sends_free(const line_cache *c, uint32_t count)
{
    return c->send_tail - c->send_head + count <= c->send_room;
}

static inline void cache_send_below(line_cache *c, uint32_t node, uint32_t fetch, ls_cycle now)
{
    ls_cycle at = now + c->lead + c->directory_cycles;
    bool first = c->send_head == c->send_tail;
    cache_send *send = &c->sends[c->send_tail++ & c->send_mask];
    send->at = at;
    send->node = node;
    send->fetch = fetch;
    if (c->below_refused)
        return;
    if (first)
        c->send_due = at;
    cache_arm(c, at, now);
}

/* Dirty bytes of a line go below; the line stays, clean. The caller has looked for a node and a send. */
static inline void cache_write_back(line_cache *c, uint32_t line, ls_cycle now)
{
    store_line *l = &c->store.lines[line];
    uint32_t node = cache_node_take(c);
    ls_line_message *m = &c->nodes[node].m;
    *m = (ls_line_message){ .address = store_address(&c->store, line),
                            .mask = { l->dirty[0], l->dirty[1] },
                            .token = CACHE_WRITEBACK,
                            .flags = c->home ? LS_LINE_SYSTEM : 0,
                            .kind = LS_LINE_WRITE,
                            .born = (uint32_t)now };
    ls_line_copy_data(m->data, store_bytes(&c->store, line), c->store.line_bytes);
    l->dirty[0] = l->dirty[1] = 0;
    c->n.writebacks++;
    c->writes_out++;
    cache_send_below(c, node, 0, now);
}

#endif
