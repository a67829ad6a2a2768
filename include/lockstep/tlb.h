/* tlb.h: address translation of machine `amd`: L1 TLBs in front of the caches of a cluster, and the MMU (L2 TLB
 * and page-table walkers) in a domain of its own. Links join them.
 *
 * A model of slot "tlb" provides the ports "memory" (lockstep/line.h) and "tlb"; one of slot "mmu" the port
 * "mmu". docs/add-a-block.md builds a TLB from nothing. */
#ifndef LOCKSTEP_TLB_H
#define LOCKSTEP_TLB_H

#include "lockstep/line.h"

#define LS_TLB_SLOT "tlb"
#define LS_TLB_PORT "tlb"
#define LS_TLB_INTERFACE "line-tlb/1"
#define LS_MMU_SLOT "mmu"
#define LS_MMU_PORT "mmu"
#define LS_MMU_INTERFACE "line-mmu/1"

/* Where a page lies. */
typedef struct ls_page {
    uint64_t physical; /* address of the page */
    uint32_t gpu;      /* the GPU whose memory holds it */
    uint32_t unused;
} ls_page;

/* A page table, which does not change while the machine runs. */
typedef struct ls_pages {
    ls_page (*look)(void *self, uint64_t address); /* address: of the page */
    void *self;
} ls_pages;

/* A question and its answer: the payload of the links between TLBs and the MMU. */
typedef struct ls_page_walk {
    uint64_t address; /* of the page */
    ls_page page;     /* the answer */
    uint32_t token;   /* the TLB's */
    uint32_t unused;
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
} ls_tlb_ops;

typedef struct ls_mmu_ops {
    /* For `links` TLBs with up to `questions` open each. The table is copied. */
    ls_status (*attach)(void *self, const ls_pages *pages, uint32_t links, uint32_t questions, ls_error *err);
    /* First argument of receive() for the questions of TLB i. */
    void *(*receiver)(void *self, uint32_t i);
    /* A question: releases the link's buffer entry, and answers over the link of set_reply(). */
    void (*receive)(void *receiver, ls_link *link, const void *payload, ls_cycle now);
    void (*set_reply)(void *self, uint32_t i, ls_link *link);
    uint64_t (*page_bytes)(const void *self);
    /* Between runs: forgets the pages of freed memory. */
    void (*discard)(void *self, uint64_t address, uint64_t bytes);
} ls_mmu_ops;

#endif
