/* mmu.h: model "cycle" of slot "mmu": the L2 TLB of a GPU and its page-table walkers, in a domain of their own.
 * L1 TLBs (tlb.h) reach it over links. */
#ifndef MODEL_AMD_MEMORY_MMU_H
#define MODEL_AMD_MEMORY_MMU_H

#include "lockstep/block.h"
#include "model/amd_memory/pages.h"

typedef struct line_mmu_spec {
    uint32_t walks;         /* mmu_walks: gpu or host */
    uint64_t entries, ways; /* 0 entries: every question walks */
    uint64_t page_kib;
    uint64_t latency_cycles; /* to know whether the L2 TLB has it */
    uint64_t walk_latency_cycles;
    uint64_t walkers;      /* walks at once */
    uint64_t mshr_entries; /* pages that are walked for or wait for a walker */
} line_mmu_spec;

typedef struct line_mmu_counters {
    uint64_t requests, hits, misses, mshr_hits;
    uint64_t walks, walk_cycles, walk_wait_cycles; /* walk_wait: before walks, for a free walker */
    uint64_t queued;                               /* requests that found all miss entries taken */
    uint64_t again; /* requests that the answer of a walk did not serve: another walk is needed */
    uint64_t shootdowns;
} line_mmu_counters;

/* Wiring of any model of slot "mmu", by interface: lockstep/tlb.h says more. */
ls_status line_mmu_attach(ls_block *mmu, const ls_pages *pages, uint32_t links, uint32_t questions,
                          ls_error *err);
void *line_mmu_receiver(ls_block *mmu, uint32_t i);
const ls_mmu_ops *line_mmu_ops(const ls_block *mmu);
void line_mmu_set_reply(ls_block *mmu, uint32_t i, ls_link *link);
uint64_t line_mmu_page_bytes(const ls_block *mmu);
/* Whether its keys send walks to the host. */
bool line_mmu_walks_host(const ls_block *mmu);
/* Fails, naming the model, if it cannot. */
ls_status line_mmu_set_host(ls_block *mmu, ls_link *link, uint32_t *walks, ls_error *err);
void line_mmu_discard(ls_block *mmu, uint64_t address, uint64_t bytes);

#endif
