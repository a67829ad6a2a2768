/* ranks_impl.h: the engine's side of ranks.h, for the files of src/engine only. */
#ifndef ENGINE_RANKS_IMPL_H
#define ENGINE_RANKS_IMPL_H

#include "engine/ranks.h"
#include "engine/save.h"

/* A link between this rank and another one. */
typedef struct rank_link {
    ls_link *link;
    uint32_t peer;
    bool sends;           /* this rank has the sender's half, else the receiver's */
    uint64_t packed;      /* messages that were given to the peer */
    uint32_t packed_back; /* position in the credit ring: those before were given to the peer */
} rank_link;

/* Bytes of rank_state.kept. */
typedef struct rank_span {
    size_t at, bytes;
} rank_span;

typedef struct rank_state {
    rank_transport transport;
    uint32_t *owner; /* by group */
    LS_VEC(rank_link) links;
    uint8_t *with;    /* by rank: some link leads there */
    bytes_out *out;   /* by rank: bytes of this call */
    rank_bytes *send; /* by rank: the same for the transport */
    rank_bytes *in;   /* by rank */
    /* Rank 0 after ranks_collect(): saved states of blocks that other ranks run, by block; of those here: no bytes. */
    bytes_out kept;
    LS_VEC(rank_span) kept_at;
    bool started;     /* the links' positions are known */
    ls_status broken; /* LS_OK, or why the transport failed: no call is made after that */
    ls_error why;
    uint64_t wait_ns; /* in the transport, in runs and between them */
    rank_counts n;
} rank_state;

/* What one rank has seen between two meetings, and what counts for all after ranks_meet(). */
typedef struct rank_news {
    ls_time start, until;
    bool is_stopped, is_failed;
    bool is_paused;   /* a checkpoint is due */
    bool is_stopping; /* a stop of a domain is on its way */
} rank_news;

/* ranks.c. All of these are called by all ranks. */
ls_status ranks_start(ls_engine *engine, ls_error *err);    /* of a run */
ls_status ranks_exchange(ls_engine *engine, ls_error *err); /* at the end of a meeting */
ls_status ranks_meet(ls_engine *engine, rank_news *news, ls_error *err);
/* A run has ended with `status` here: the same status and line on all ranks, the sum of results, and rank 0's
 * counters. failing: the first domain of this rank that failed, or UINT32_MAX. */
ls_status ranks_finish(ls_engine *engine, ls_status status, uint32_t failing, ls_run_result *result,
                       ls_error *err);
/* Of one rank each; without ranks they return their argument. A failed transport shows in the next meeting. */
bool ranks_any(ls_engine *engine, bool here);
uint64_t ranks_total(ls_engine *engine, uint64_t here);
uint64_t ranks_most(ls_engine *engine, uint64_t here);
/* For reports of waiters: buffer entries that receivers on other ranks hold. */
void ranks_share_held(ls_engine *engine);
void ranks_free(ls_engine *engine);
/* The saved state of a block that another rank runs, after ranks_collect(); false: there is none. */
bool ranks_kept(const ls_block *block, size_t index, rank_bytes *out);
/* rank_state.out goes to the ranks of `with` (NULL: all others); in[] has the answers. */
ls_status ranks_send(rank_state *ranks, const uint8_t *with, ls_error *err);

#endif
