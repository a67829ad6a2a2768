/* tlb.h: the models of slot "tlb": an L1 TLB between requesters and their cache. Model "cycle" looks pages up
 * and sends misses to the MMU (mmu.h) over links. With model "none" there is no block: requesters are
 * connected to the cache itself. Both provide LS_LINE_MEMORY_PORT. Answers carry physical addresses, not the
 * requested ones. */
#ifndef MODEL_AMD_MEMORY_TLB_H
#define MODEL_AMD_MEMORY_TLB_H

#include "lockstep/line.h"
#include "model/amd_memory/mmu.h"

typedef struct line_tlb_spec {
    uint64_t entries, ways, page_kib;
    uint64_t latency_cycles; /* that it adds to each request */
    uint64_t mshr_entries;   /* pages on their way */
    uint64_t queue_entries;  /* requests that wait for pages or for the cache */
} line_tlb_spec;

typedef struct line_tlb_counters {
    uint64_t accesses, hits, misses, mshr_hits;
    uint64_t refused;     /* tries that found no room */
    uint64_t walk_cycles; /* from questions to answers of the MMU */
    uint64_t again;       /* requests that an answer did not serve: another question */
    uint64_t shootdowns, drain_cycles;
} line_tlb_counters;

/* Wiring of any model of slot "tlb", by interface: lockstep/tlb.h says more. */
ls_status line_tlb_set_below(ls_block *tlb, ls_block *cache, ls_error *err);
const ls_tlb_ops *line_tlb_ops(const ls_block *tlb);
void line_tlb_set_mmu(ls_block *tlb, ls_link *link);
/* How many questions it can have open at once; 0: it needs no links. */
uint32_t line_tlb_questions(const ls_block *tlb);
uint64_t line_tlb_page_bytes(const ls_block *tlb);
/* Pages migrate: before requesters join it. Fails, naming the model, if it cannot. */
ls_status line_tlb_set_shootdowns(ls_block *tlb, uint32_t levels, uint32_t flags, ls_error *err);
void line_tlb_discard(ls_block *tlb, uint64_t address, uint64_t bytes);

#endif
