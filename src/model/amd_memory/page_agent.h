/* page_agent.h: the page agent of a GPU: between its MMU and the directory of the host, at the GPU's end of the fabric
 * (src/model/migrate/migrate.h). It sends page walks, has pages shot down, sends the lines of pages that leave and writes
 * those of pages that come, and counts accesses to pages of other memories. It lives in the domain of the RDMA engine. */
#ifndef MODEL_AMD_MEMORY_PAGE_AGENT_H
#define MODEL_AMD_MEMORY_PAGE_AGENT_H

#include "lockstep/rdma.h"
#include "engine/fabric_ends.h"

typedef struct page_agent_spec {
    uint64_t lines_in_flight; /* of pages that leave: read and not yet on the fabric */
    uint64_t buffer_pieces;   /* of pages that come: not yet in memory */
    uint64_t counters;        /* pages of other memories whose accesses are counted; a power of two */
    bool moves;               /* pages move: else it only sends walks */
} page_agent_spec;

typedef struct page_agent_counters {
    uint64_t walks, walk_cycles, walk_waits; /* walk_waits: the host had no room for more of this GPU */
    uint64_t taken, counted;
    uint64_t shootdowns, shootdown_cycles; /* from the host's message to the answer of all TLBs */
    uint64_t pages_out, pages_in, pieces_out, pieces_in, bytes_out, bytes_in;
    uint64_t send_cycles; /* of pages, from the first read to the last piece that left */
    uint64_t fabric_waits;
    uint64_t walks_peak, shootdowns_peak, arrivals_peak;
} page_agent_counters;

typedef struct page_agent_wiring {
    uint32_t line_bytes, walks; /* walks: of the MMU, open at once at most */
    ls_fabric_end *end;
    ls_link *mmu;     /* to the MMU */
    ls_block *memory; /* where lines of pages are read and written: the hub of the RDMA engine */
} page_agent_wiring;

ls_status page_agent_create(ls_region *region, const char *name, const page_agent_spec *spec, ls_block **out,
                            ls_error *err);
ls_status page_agent_attach(ls_block *agent, const page_agent_wiring *wiring, ls_error *err);
/* For the RDMA engine. */
ls_page_agent page_agent_port(ls_block *agent);
/* A message of classes WALK, INVALIDATE and MIGRATE from the fabric; self is the state of the block. */
void page_agent_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
/* The room that it has for messages, by class; 0 for others. */
uint32_t page_agent_credits(const ls_block *agent, ls_fabric_class class);
/* A message of the MMU: an ls_page_walk; self as before. */
void page_agent_receive_mmu(void *self, ls_link *link, const void *payload, ls_cycle now);
/* A program's request for a line of another memory goes out; self as before. */
void page_agent_used(void *self, uint64_t physical);

#endif
