/* tlb_impl.h: the state of an L1 TLB, for tlb.c (requests, misses) and tlb_moves.c (pages that move: their sizes,
 * read-only pages, shootdowns). */
#ifndef MODEL_AMD_MEMORY_TLB_IMPL_H
#define MODEL_AMD_MEMORY_TLB_IMPL_H

#include "base/list.h"
#include "model/amd_memory/line_tap.h"
#include "model/amd_memory/mmu_impl.h"
#include "model/amd_memory/page_tags.h"
#include "model/amd_memory/tlb.h"

#define TLB_CLIENTS_MAX 16

typedef struct tlb_node {
    ls_cycle at; /* when it may go to the cache */
    uint32_t next, client;
    ls_line_message m;
} tlb_node;

typedef struct tlb_miss {
    uint64_t page;
    uint64_t address; /* of the question */
    ls_cycle asked;
    index_list waiting;
    uint32_t next;   /* of the free ones, or of those to be requested */
    uint32_t chain;  /* the next of its hash, as heads */
    uint32_t number; /* of the request that asked, for timelines; 0: nobody listens */
    uint8_t flags;   /* LS_WALK_* of the question */
} tlb_miss;

typedef struct tlb_client {
    const ls_line_client_ops *ops;
    void *self;
    struct tlb *tlb;
    ls_line_port below;
    bool refused;
} tlb_client;

typedef struct tlb {
    const line_tlb_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    line_tlb_counters n;
    ls_block *cache;
    ls_link *to_mmu;
    uint32_t page_shift, client_count, turn; /* turn: the client to call first */
    uint64_t latency;                        /* that requests wait here: 0 where the cache adds it itself */
    tag_store l1;
    uint64_t *physical; /* by entry of l1 */
    uint64_t last_page; /* the newest in l1: it needs no look */
    uint64_t last_physical;
    tlb_miss *misses;
    uint32_t *heads; /* of pages on their way, by hash: index in misses + 1 */
    uint32_t head_mask, miss_count;
    index_pool miss_pool;
    index_list unsent; /* misses whose request has not left */
    tlb_node *nodes;
    index_pool node_pool;
    uint32_t inside;
    index_list ready;
    ls_cycle ready_last;
    bool cache_refused; /* the first of ready */
    ls_event event, link_event;
    bool link_waits;
    struct tlb_moves *moves; /* NULL: pages stay where they are */
    tlb_client clients[TLB_CLIENTS_MAX];
} tlb;

/* --- pages that move: tlb_moves.c --- */

/* A request that has its page and is not answered. Its number is its token below. */
typedef struct tlb_flight {
    uint64_t address;  /* virtual; UINT64_MAX: it is free, or has no page */
    uint64_t sequence; /* by the order of beginning */
    uint32_t next, token;
} tlb_flight;

/* A page that is being forgotten, by the MMU's number. */
typedef struct tlb_shootdown {
    uint64_t address, bytes, sequence; /* of requests that began before it */
    uint64_t physical[2];              /* where its lines lie, and where else a translation said */
    ls_cycle begun;
    uint32_t left;       /* requests in flight to it */
    uint8_t step, steps; /* invalidates that were sent, and that there are */
    bool is_open, waits; /* waits: its next invalidate was refused */
    uint8_t unused[4];
} tlb_shootdown;

typedef struct tlb_moves {
    tlb *tlb;
    ls_line_port cache; /* for invalidates */
    uint32_t levels, flags;
    page_tags known;
    ls_page *frames; /* by entry of known */
    tlb_flight *flights;
    uint32_t flight_count, in_flight;
    index_pool flight_pool;
    uint64_t sequence;
    bool starved; /* a requester was refused because too many were in flight */
    uint32_t open;
    uint32_t acks; /* shootdowns to be answered: bits by number */
    tlb_shootdown shootdowns[MMU_SHOOTDOWNS];
} tlb_moves;

ls_status tlb_set_shootdowns(void *self, uint32_t levels, uint32_t flags, ls_error *err);
void tlb_moves_receive(tlb *t, ls_link *link, const ls_page_walk *walk, ls_cycle now);
/* Sends answers to shootdowns. False: the link is busy. */
bool tlb_moves_send(tlb *t);
void tlb_moves_waits(const tlb *t, ls_wait_sink *sink);
bool tlb_moves_request(void *self, uint32_t client, const ls_line_message *m, ls_cycle now);
extern const ls_line_client_ops tlb_moves_client;
#define TLB_MOVES_ROWS 6
extern const ls_state_row tlb_moves_rows[TLB_MOVES_ROWS];

/* --- tlb.c, for tlb_moves.c --- */

void tlb_keep(tlb *t, index_list *list, uint32_t client, const ls_line_message *m, ls_cycle at);
bool tlb_refuse(tlb *t, uint32_t client);
void tlb_arm(tlb *t, ls_cycle at);
bool tlb_drain(tlb *t, ls_cycle now);
void tlb_call_refused(tlb *t, ls_cycle now);
void tlb_cache_retry(void *self, ls_cycle now);
void tlb_forget_miss(tlb *t, uint32_t number);
void tlb_send_requests(tlb *t);
/* A new one; the caller has looked for room. */
tlb_miss *tlb_new_miss(tlb *t, uint64_t page, ls_cycle now);

static inline void tlb_put(tlb *t, index_list *list, uint32_t i)
{
    index_list_append(list, INDEX_LINKS(t->nodes, next), i);
}

static inline bool tlb_is_full(const tlb *t)
{
    return t->inside == t->spec->queue_entries;
}

static inline uint32_t *tlb_head_of(const tlb *t, uint64_t page)
{
    return &t->heads[(page ^ page >> 5) & t->head_mask];
}

static inline tlb_miss *tlb_find_miss(const tlb *t, uint64_t page)
{
    for (uint32_t i = *tlb_head_of(t, page); i != 0; i = t->misses[i - 1].chain)
        if (t->misses[i - 1].page == page)
            return &t->misses[i - 1];
    return NULL;
}

#endif
