/* mmu_impl.h: the state of an MMU, for mmu.c (requests, own page-table walkers) and mmu_host.c (walks to the host,
 * shootdowns). */
#ifndef MODEL_AMD_MEMORY_MMU_IMPL_H
#define MODEL_AMD_MEMORY_MMU_IMPL_H

#include "base/list.h"
#include "model/amd_memory/line_tap.h"
#include "model/amd_memory/mmu.h"
#include "model/amd_memory/page_tags.h"

#define MMU_SHOOTDOWNS 32u /* at once */

typedef enum mmu_walks { MMU_WALKS_GPU, MMU_WALKS_HOST } mmu_walks;

typedef struct mmu_node {
    ls_cycle at;
    uint32_t next, link;
    ls_page_walk walk;
} mmu_node;

/* A page that is walked for, or that waits for a walker. */
typedef struct mmu_miss {
    uint64_t address;
    ls_cycle begun, done; /* done: once it has a walker */
    index_list waiting;
    uint32_t next; /* walks to the host: of the free ones */
    bool open;     /* likewise: the host has not answered */
    uint8_t flags; /* LS_WALK_* */
} mmu_miss;

typedef struct mmu_link {
    struct mmu *mmu;
    ls_link *out;
    ls_event event; /* while answers wait for the link */
    index_list answers;
} mmu_link;

/* A page that TLBs forget. */
typedef struct mmu_shootdown {
    uint32_t left; /* TLBs that have not answered; 0: the entry is free */
    uint32_t token;
} mmu_shootdown;

typedef struct mmu {
    const line_mmu_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    line_mmu_counters n;
    ls_pages pages;
    uint32_t page_shift, link_count;
    mmu_link *links;
    mmu_node *nodes;
    uint32_t node_count;
    index_pool pool;    /* of nodes */
    index_list arrived; /* in order of `at`; requests without a miss entry stay */
    mmu_miss *misses;   /* ring: walks take equally long, so that they end in the order of their beginning */
    uint32_t miss_head, miss_tail, miss_mask, walking; /* the first `walking` have a walker */
    bool blocked;                                      /* the first of arrived waits for a miss entry */
    page_tags l2;
    ls_event event;

    /* Walks to the host: `misses` are no ring then, but have numbers. */
    ls_link *host;
    ls_page *frames; /* by entry of l2 */
    index_pool miss_pool;
    ls_page_walk *out; /* ring: to the host */
    uint32_t out_head, out_tail, out_size;
    ls_event host_event;
    bool host_waits;
    mmu_shootdown shootdowns[MMU_SHOOTDOWNS];
} mmu;

/* A question of a request that is told: its number is in the place of the answer. */
static inline void mmu_tell(const mmu *m, const ls_page_walk *walk, ls_tap_step step)
{
    if (LS_UNLIKELY(walk->page.gpu != 0))
        line_tap_step(m->tap, m->region, walk->page.gpu, LS_TAP_STEP, step);
}

/* mmu.c: sends an answer that has its page; and requests that wait may be looked up again. */
void mmu_answer(mmu *m, uint32_t node);
void mmu_arm(mmu *m, ls_cycle at);

/* mmu_host.c: a request is looked up. False: there is no miss entry for it. */
bool mmu_host_look_up(mmu *m, uint32_t node, ls_cycle now);
/* The answer of a TLB to a shootdown. */
void mmu_host_shot(mmu *m, const ls_page_walk *walk);
ls_status mmu_set_host(void *self, ls_link *link, uint32_t *walks, ls_error *err);
void mmu_receive_host(void *self, ls_link *link, const void *payload, ls_cycle now);

#endif
