/* options.h: parts of a core that a platform switches on: instruction caches, constant caches, address
 * translation. A part that is off costs one test of a pointer where the core would call it.
 *
 *   readonly.c    two levels of read-only cache: what the first two are made of
 *   icache.c      fetch: cycle         instructions come through L0 and L1 instruction caches
 *   ccache.c      constant: cycle      loads of constants come through two levels of constant cache
 *   translate.c   translation: cycle   global and local accesses pass a TLB
 *   fences.c      rdma.at: memory      fences of system scope empty the part of L2 for other GPUs' memory
 *   cga*.c      cluster.gpcs: not 0  blocks of a cluster reach each other over a network between cores
 *   wgmma.c       tensor.groups: lockstep  matrix instructions of warp groups, over all sub-cores together
 *   options.c     all of them together, as the core sees them */
#ifndef MODEL_CORE_OPTIONS_H
#define MODEL_CORE_OPTIONS_H

#include "model/core/readonly.h"
#include "model/memory/mem.h"
#include "model/tlb/tlb.h"

struct core;
struct core_spec;

typedef enum options_model { OPTION_OFF, OPTION_CYCLE } options_model;
typedef enum translate_place { TRANSLATE_BEFORE_L2, TRANSLATE_BEFORE_L1 } translate_place;

typedef struct options_spec {
    uint32_t fetch, constant, translation; /* options_model */
    readonly_spec icache, ccache;
    tlb_spec tlb;
    uint32_t tlb_place;   /* translate_place */
    uint64_t tlb_waiting; /* requests that wait for translations while others pass them */
} options_spec;

typedef struct cga_counters {
    uint64_t loads, stores, atomics, reductions; /* messages of accesses to other blocks */
    uint64_t bytes;                              /* of data that left the core to others of its cluster */
    uint64_t messages;                           /* of all kinds that arrived */
    uint64_t barriers;                           /* phases of cluster barriers that ended, by block */
    uint64_t late;                               /* messages for blocks that had ended */
    uint64_t wait_cycles;                        /* that messages waited for the port to the network */
} cga_counters;

typedef struct options_counters {
    readonly_counters icache, ccache;
    tlb_counters tlb;
    cga_counters cga;
    uint64_t
        wgmma_port_cycles; /* matrix instructions took longer because others had the port of shared memory */
} options_counters;

typedef struct icache icache;
typedef struct ccache ccache;
typedef struct translate translate;
typedef struct fences fences;
typedef struct cga cga;
typedef struct wgmma wgmma;

/* In the hot paths of a core: most machines have none of these parts. */
#define OPTION_ON(part) __builtin_expect((part) != 0, 0)

/* NULL: the part is off. */
typedef struct core_options {
    bool any;      /* some part has something to do in a cycle */
    bool requests; /* some part sends requests of its own through the load/store unit */
    ls_cycle due;  /* alu: cycle: options_cycle() has nothing to do before */
    icache *icache;
    ccache *ccache;
    translate *translate;
    fences *fences;
    cga *cga;
    wgmma *wgmma;
} core_options;

/* options.c */
ls_status options_check(const options_spec *spec, ls_error *err);
bool options_init(struct core *c);
void options_start_cta(struct core *c, uint32_t slot);
void options_end_warp(struct core *c, uint32_t warp);
void options_cycle(struct core *c); /* after write-back */
void options_reply(struct core *c, uint32_t token);
ls_cycle options_next(const struct core *c); /* as ldst_next() */

/* icache.c */
bool icache_init(struct core *c);
void icache_start_cta(struct core *c, uint32_t slot);
/* True: the warp's next instructions are there. False: it waits; need_fetch names it again when they are. */
bool icache_fetch(struct core *c, uint32_t warp);
/* The warp's next two instructions lie in two lines: they come with two fetches. */
bool icache_splits(const struct core *c, uint32_t warp);
readonly *icache_levels(struct core *c);

/* ccache.c */
bool ccache_init(struct core *c);
void ccache_start_cta(struct core *c, uint32_t slot);
/* At the end of an instruction. True: its constant is not there; it ends when it is. */
bool ccache_holds(struct core *c, uint16_t flight_index);
readonly *ccache_levels(struct core *c);

/* translate.c */
bool translate_init(struct core *c);
/* A request on its way to the network. True: it waits here for its translation and goes on by itself. */
bool translate_holds(struct core *c, const ls_sector_message *message, uint16_t channel);
bool translate_full(const struct core *c); /* no request may come: one more could not wait */
/* When a sector may begin its way to L1; false: not even that is known, try again. */
bool translate_before_l1(struct core *c, uint64_t address, ls_cycle *known);
bool translate_at_l1(const struct core *c); /* requests of L1 are already translated */
void translate_cycle(struct core *c);
ls_cycle translate_next(const struct core *c);

/* fences.c */
#define FENCE_TOKEN 0x7f000000u /* of requests and their answers, with the warp */
bool fences_init(struct core *c);
/* An instruction issues in cycle `at`: its warp waits, if it is a fence of system scope. */
void fences_begin(struct core *c, uint32_t warp, const ls_inst *inst, ls_cycle at);
void fences_cycle(struct core *c);
void fences_reply(struct core *c, uint32_t warp);
ls_cycle fences_next(const struct core *c);

#endif
