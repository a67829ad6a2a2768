/* tlb.h: address translation of machine `amd`: L1 TLBs in front of the caches of a cluster, and the MMU (L2 TLB
 * and page-table walkers) in a domain of its own. Links join them.
 *
 * In a system whose pages move (slot `migrate`), answers have pages of any size and pages that may only be read, and
 * the MMU has TLBs forget pages: a shootdown. Its messages travel over the links of questions and answers, so they
 * keep their order.
 *
 * A model of slot "tlb" provides the ports "memory" (lockstep/line.h) and "tlb"; one of slot "mmu" the port
 * "mmu". docs/add-a-block.md builds a TLB from nothing. */
#ifndef LOCKSTEP_TLB_H
#define LOCKSTEP_TLB_H

#include "lockstep/line.h"

#define LS_TLB_SLOT "tlb"
#define LS_TLB_PORT "tlb"
#define LS_TLB_INTERFACE "line-tlb/2"
#define LS_MMU_SLOT "mmu"
#define LS_MMU_PORT "mmu"
#define LS_MMU_INTERFACE "line-mmu/2"

/* Where a page lies. */
typedef struct ls_page {
    uint64_t physical; /* address of the page */
    uint32_t
        gpu; /* the GPU whose memory holds it. A question to the MMU: number of its request, for timelines */
    uint8_t size_log2; /* in bytes; 0: the page size of the MMU */
    uint8_t read_only; /* a write needs another answer, to a question with LS_WALK_WRITE */
    uint16_t unused;
} ls_page;

/* A page table, which does not change while the machine runs. */
typedef struct ls_pages {
    ls_page (*look)(void *self, uint64_t address); /* address: of the page */
    void *self;
} ls_pages;

typedef enum ls_walk_kind {
    LS_WALK_PAGE,  /* a question, and its answer */
    LS_WALK_SHOOT, /* to a TLB: forget the translations of the range that begins at `address` */
    LS_WALK_SHOT, /* its answer: no request that used them is in flight, and no cache below has a line of the page */
    LS_WALK_TAKEN, /* from the MMU to the host: an answer is in effect */
} ls_walk_kind;

enum {                            /* ls_page_walk.flags */
       LS_WALK_WRITE = 1u << 0,   /* a question for a write or an atomic */
       LS_WALK_STAY = 1u << 1,    /* of a copy engine: the page need not come here */
       LS_WALK_MANAGED = 1u << 2, /* an answer of the host: the page can move, LS_WALK_TAKEN is awaited */
};

/* The payload of the links between TLBs and the MMU, and between the MMU and the way to the host. */
typedef struct ls_page_walk {
    uint64_t address; /* a question: of the access, or of its page. An answer and a shootdown: of the page */
    ls_page
        page; /* the answer; LS_WALK_SHOOT: size_log2, and physical: where the page lies in this GPU's memory */
    uint32_t token; /* of the sender of a question or a shootdown; comes back */
    uint8_t kind;   /* ls_walk_kind */
    uint8_t flags;  /* LS_WALK_* */
    uint16_t unused;
} ls_page_walk;

typedef struct ls_tlb_shape {
    uint32_t questions;  /* open requests at once, at most; 0: it never uses an MMU and gets no links */
    uint64_t page_bytes; /* must be the MMU's, if it uses one */
} ls_tlb_shape;

typedef struct ls_tlb_ops {
    /* Before requesters join it. */
    ls_status (*set_below)(void *self, ls_block *cache, ls_error *err);
    void (*describe)(const void *self, ls_tlb_shape *out);
    /* The link for requests. Not called if it never uses an MMU. */
    void (*set_mmu)(void *self, ls_link *link);
    /* An answer: releases the link's buffer entry. */
    void (*receive)(void *self, ls_link *link, const void *payload, ls_cycle now);
    /* Between runs: forgets the pages of freed memory. */
    void (*discard)(void *self, uint64_t address, uint64_t bytes);
    /* In a system whose pages move, before requesters join it: answers may have any size and may be read-only, and
     * shootdowns come. levels: caches below that have lines of it, each with the next one below it; an invalidate
     * with LS_LINE_PAGE makes them forget a page. flags: LS_WALK_STAY for a copy engine, whose questions have it. NULL:
     * the model does not know shootdowns, and is refused in such a system. */
    ls_status (*set_shootdowns)(void *self, uint32_t levels, uint32_t flags, ls_error *err);
} ls_tlb_ops;

typedef struct ls_mmu_ops {
    /* For `links` TLBs with up to `questions` open each. The table is copied. */
    ls_status (*attach)(void *self, const ls_pages *pages, uint32_t links, uint32_t questions, ls_error *err);
    /* First argument of receive() for the questions of TLB i. */
    void *(*receiver)(void *self, uint32_t i);
    /* A question, or the answer to a shootdown: releases the link's buffer entry. Questions are answered over the link
     * of set_reply(). */
    void (*receive)(void *receiver, ls_link *link, const void *payload, ls_cycle now);
    void (*set_reply)(void *self, uint32_t i, ls_link *link);
    uint64_t (*page_bytes)(const void *self);
    /* Between runs: forgets the pages of freed memory. */
    void (*discard)(void *self, uint64_t address, uint64_t bytes);
    /* Whether its configuration says that walks go to the host. NULL: they do not. */
    bool (*walks_host)(const void *self);
    /* After attach(): page walks go over this link to the host, and answers and shootdowns come back. A shootdown goes to
     * every TLB and is answered when all have answered. `walks`: open at once, at most. NULL: the model cannot. */
    ls_status (*set_host)(void *self, ls_link *link, uint32_t *walks, ls_error *err);
    /* A message of the host: releases the link's buffer entry. */
    void (*receive_host)(void *self, ls_link *link, const void *payload, ls_cycle now);
} ls_mmu_ops;

#endif
