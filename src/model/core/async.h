/* async.h: the asynchronous machine of Hopper in a core: mbarriers and the engine of bulk copies. A platform switches it
 * on (core.async: cycle). A core without it has a NULL pointer in its place.
 *
 *   async.c      the queue of coming effects, warps that sleep and wake, instructions that reach the machine
 *   mbarrier.c   mbarriers (mbarrier.h)
 *   tma.c        bulk copies (tma.h)
 *
 * It has an event of its own, so that a core whose kernels do not use it does no work for it. Effects of one cycle come
 * before the core's pipeline runs in that cycle. */
#ifndef MODEL_CORE_ASYNC_H
#define MODEL_CORE_ASYNC_H

#include "lockstep/engine.h"
#include "lockstep/metric.h"
#include "lockstep/sector.h"
#include "lockstep/stream.h"

#include "model/core/mbarrier.h"
#include "model/core/tma.h"

struct core;
struct flight;

typedef enum async_model { ASYNC_OFF, ASYNC_CYCLE } async_model;

typedef struct async_spec {
    uint32_t model; /* async_model */
    mbarrier_spec mbarrier;
    tma_spec tma;
} async_spec;

typedef struct async_counters {
    mbarrier_counters mbarrier;
    tma_counters tma;
} async_counters;

/* What happens to a warp or a copy in a later cycle. */
typedef enum async_what {
    ASYNC_OPERATE, /* an mbarrier instruction takes effect */
    ASYNC_WAKE,    /* a warp goes on */
    ASYNC_FILLED,  /* `dyn` is a copy: its bytes are there */
} async_what;

typedef struct async_act {
    ls_cycle at;
    uint32_t dyn; /* of the warp's block */
    uint8_t warp, what;
} async_act;
#define ASYNC_ACTS 2048u /* a power of two; an instruction has one at most, and few cycles pass */

/* Asynchronous copies (LDGSTS) of a warp between two asynchronous arrivals are a batch. */
typedef struct async_warp {
    uint32_t mbarrier;                  /* index of the one that it waits for, + 1; 0: none */
    uint8_t batch;                      /* that is filled */
    uint8_t head, tail;                 /* arrivals that wait for their batch and all before it */
    uint16_t copies[MBARRIER_COPIES];   /* under way, by batch */
    uint32_t arrivals[MBARRIER_COPIES]; /* dyns, by batch */
} async_warp;

typedef struct core_async {
    const async_spec *spec;
    ls_event event;
    mbarriers mbarriers;
    tma tma;
    async_warp warps[64];
    uint8_t batch[2048]; /* of asynchronous copies, by flight */
    char failure[160];   /* of the run: ls_domain_fail() does not copy it */
    bool running;        /* its event is being handled */
    uint32_t act_head, act_tail;
    async_act acts[ASYNC_ACTS]; /* ring, by cycle; in the order of their coming within one */
} core_async;

/* Answers for bulk copies. Reads and reductions are among the tokens of optional parts, writes behind those of stores. */
#define TMA_TOKEN 0x7e000000u
#define TMA_STORE_TOKEN 0xe0000000u
#define TMA_TOKEN_OP 0x0000ffffu

/* async.c */
/* Ends the run; the first reason of a core counts. */
void async_fail(struct core *c, const char *fmt, ...) LS_PRINTF(2, 3);
bool async_init(struct core *c); /* false: the host has no memory left */
void async_start_cta(struct core *c, uint32_t slot);
void async_end_cta(struct core *c, uint32_t slot);
bool async_models(const struct core *c, const ls_inst *inst); /* the core has the unit for the instruction */
/* An instruction with LS_INST_MBARRIER or LS_INST_BULK issues in cycle `at`. */
void async_issue(struct core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle at);
/* All effects of an instruction on this machine; true if no other wait is to begin for it. flight: of an asynchronous copy. */
bool async_effects(struct core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, uint16_t flight,
                   ls_cycle at);
void async_later(struct core *c, ls_cycle at, async_what what, uint32_t warp, uint32_t dyn);
void async_look(struct core *c, ls_cycle at); /* the event comes in this cycle, or before */
void async_sleep(struct core *c, uint32_t warp, bool mbarrier);
void async_resume(struct core *c, uint32_t warp, ls_cycle now);
/* The warp cannot end between these two. */
void async_hold(struct core *c, uint32_t warp);
void async_release(struct core *c, uint32_t warp);
uint32_t async_dyn(const struct core *c, uint32_t warp, const ls_dyn *dyn);
const ls_dyn *async_dyn_at(const struct core *c, uint32_t warp, uint32_t dyn);
/* An effect on an mbarrier of another block of the cluster: `rank` in it. written: bytes that come with it. */
void async_remote(struct core *c, uint32_t slot, uint32_t rank, uint32_t address, ls_mbarrier_op op,
                  uint64_t value, uint64_t written, ls_cycle now);
void async_attach(struct core *c); /* the network between cores is there, if the machine has one */

/* mbarrier.c */
/* An instruction takes effect. */
void mbarrier_operate(struct core *c, uint32_t warp, const ls_dyn *dyn, ls_cycle now);
/* One effect on an mbarrier of a block of this core. value: arrivals or bytes; INIT: arrivals. */
void mbarrier_apply(struct core *c, uint32_t slot, uint32_t address, ls_mbarrier_op op, uint64_t value,
                    ls_cycle now);
void mbarrier_end_cta(struct core *c, uint32_t slot);
void mbarrier_copy_begins(struct core *c, uint32_t warp, uint16_t flight); /* an asynchronous copy issues */
void mbarrier_copy_ends(struct core *c, uint32_t warp, uint16_t flight);
/* ARRIVES: the operation takes effect when earlier copies of the warp have ended. */
void mbarrier_arrive_later(struct core *c, uint32_t warp, const ls_dyn *dyn, ls_cycle at);
const char *mbarrier_describe(const struct core *c, uint32_t warp, char *out, size_t bytes);

/* tma.c */
void tma_init(struct core *c);
void tma_issue(struct core *c, uint32_t warp, const ls_inst *inst, const ls_dyn *dyn, ls_cycle at);
/* DEPBAR: true if it is for groups of bulk stores; the warp sleeps if they are under way. */
bool tma_wait_groups(struct core *c, uint32_t warp, const ls_inst *inst);
/* Makes addresses; returns when it is to be called again. LS_CYCLE_MAX: something else comes first. */
ls_cycle tma_cycle(struct core *c, ls_cycle now);
void tma_reply(struct core *c, uint32_t op); /* one sector is there, or written */
/* Several sectors of a line are. They come past the core's queue of answers. */
void tma_line_reply(struct core *c, const ls_sector_message *message, ls_cycle now);
void tma_use_lines(struct core *c); /* requests are for several sectors, where these lie in one line */
void tma_filled(struct core *c, uint32_t op, ls_cycle now);
/* An access takes the port of shared memory for so many cycles; returns how long it waits before. */
uint32_t tma_take_port(struct core *c, uint32_t cycles);

#endif
