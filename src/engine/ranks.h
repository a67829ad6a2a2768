/* ranks.h: one machine divided over several processes, called ranks, which may run on several hosts.
 *
 * Every rank builds the whole machine and runs only the groups that it owns. Links between groups of two ranks become
 * messages: at the end of each meeting the ranks exchange what was sent and which credits returned, and agree on the
 * earliest next time. A link's payload is plain data. So results are the same bits as those of one process.
 *
 * All ranks call the same functions in the same order: ls_run(), and those below that are marked "all ranks". After
 * ls_run() rank 0 has the counters of all blocks. A transport carries the bytes; the engine knows nothing of MPI. */
#ifndef ENGINE_RANKS_H
#define ENGINE_RANKS_H

#include "lockstep/block.h"

#define RANKS_MAX 1024u

typedef struct rank_bytes {
    const uint8_t *at;
    size_t count;
} rank_bytes;

/* Every call is made by all ranks. It returns when the answers are there. A failed call means that the others cannot be
 * reached any more. */
typedef struct rank_transport {
    void *self;
    uint32_t rank, ranks;
    /* Sends out[r] to each rank r with with[r] != 0 and receives in[r] from it; with NULL: all other ranks. The relation
     * is symmetric. in[] is valid until the next call. */
    ls_status (*exchange)(void *self, const rank_bytes *out, rank_bytes *in, const uint8_t *with,
                          ls_error *err);
    /* Each value becomes the least, or the sum, of the ranks' values. */
    ls_status (*least)(void *self, uint64_t *values, size_t count, ls_error *err);
    ls_status (*sum)(void *self, uint64_t *values, size_t count, ls_error *err);
} rank_transport;

/* Work and traffic of one rank, of all runs so far. Host side, except for messages and credits. */
typedef struct rank_counts {
    uint64_t groups, domains; /* that it runs */
    uint64_t meetings;        /* the same for all */
    uint64_t windows;
    uint64_t run_ns;                  /* in ls_run() */
    uint64_t wait_ns;                 /* of that: in the transport, at the ends of meetings */
    uint64_t messages, credits;       /* of links, to other ranks */
    uint64_t link_bytes, other_bytes; /* to other ranks; other: counters and states */
} rank_counts;

/* --- ranks_divide.c --- */

/* owner[group]: the rank that runs it. Heavy groups (GPUs) are spread evenly, neighbours together; light ones (switches,
 * the host) go where most of their bandwidth leads. Fails if there are fewer groups than ranks. */
ls_status ranks_divide(const ls_engine *engine, uint32_t ranks, uint32_t *owner, ls_error *err);

/* --- ranks.c --- */

/* Before the first run. The transport outlives the engine's last run. */
ls_status ranks_attach(ls_engine *engine, const rank_transport *transport, ls_error *err);
uint32_t ranks_count(const ls_engine *engine); /* 1 without a transport */
uint32_t ranks_here(const ls_engine *engine);  /* 0 without */
uint32_t ranks_owner(const ls_block *block);
bool ranks_runs(const ls_block *block); /* here */
/* The transport has failed: the other ranks cannot be reached. */
bool ranks_lost(const ls_engine *engine);
/* All ranks: in[r] is what rank r gave as `out`; in[] has ranks_count() entries, is NULL for one rank, and is valid until
 * the next call. */
ls_status ranks_tell(ls_engine *engine, rank_bytes out, const rank_bytes **in, ls_error *err);
/* The same, but only rank `to` gets the bytes of the others. */
ls_status ranks_give(ls_engine *engine, uint32_t to, rank_bytes out, const rank_bytes **in, ls_error *err);
/* All ranks: a failure of one of them, with its line, is one of all. */
ls_status ranks_agree(ls_engine *engine, ls_status status, ls_error *err);
/* All ranks: the numbers of every rank; out has ranks_count() entries. */
ls_status ranks_report(ls_engine *engine, rank_counts *out, ls_error *err);

/* --- ranks_gather.c: all ranks --- */

/* The counters of all blocks, on rank 0. ls_run() has done it at its end. */
ls_status ranks_gather_counters(ls_engine *engine, ls_error *err);
/* The whole state of one block, as its state table has it, from its owner to all others. */
ls_status ranks_copy_block(ls_block *block, ls_error *err);

/* --- ranks_collect.c: all ranks --- */

/* Between runs: the state of the whole machine, on rank 0. ls_engine_save() there has the bytes of one process then. A
 * rank goes on from them with ranks_attach() and then ls_engine_load(). */
ls_status ranks_collect(ls_engine *engine, ls_error *err);
/* The same for machines whose blocks point to memory of the host, as ls_engine_save_with(). All ranks list the same
 * objects in the same order. */
struct ls_state_objects;
ls_status ranks_collect_with(ls_engine *engine, const struct ls_state_objects *objects, ls_error *err);

#endif
