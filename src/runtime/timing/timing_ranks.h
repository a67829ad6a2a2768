/* timing_ranks.h: programs on a machine that is divided over ranks (engine/ranks.h). Every rank has the whole back end; its
 * own GPUs run, the others stand still. All ranks do the same commands in the same order, so addresses, packets and
 * programs are the same everywhere. Values that only one rank knows are shared: results of packets, bytes of a GPU's or the
 * host's memory, answers of the directory of pages.
 *
 * The host program runs on rank 0. Each of its requests to the back end is told to the other ranks, which serve it
 * (timing_orders.c, timing_serve.c). Recordings have no host program: every rank reads them. */
#ifndef RUNTIME_TIMING_TIMING_RANKS_H
#define RUNTIME_TIMING_TIMING_RANKS_H

#include "base/bytes.h"
#include "engine/ranks.h"
#include "lockstep/command.h"

struct timing;
struct timing_gpu;
struct timing_program;
struct served_work;

typedef struct timing_ranks {
    /* Packets that are with command processors of any rank, in the order of submission. */
    LS_VEC(ls_command_packet *) flying;
    LS_VEC(uint32_t) flying_gpus; /* the same: indices of gpus */
    /* Of the last run: packets that are over, GPU by GPU. */
    LS_VEC(ls_command_packet *) over;
    size_t next;
    bool is_gathered;
    bool tells;            /* rank 0 while its host program runs: requests go to the others */
    pthread_mutex_t order; /* held from telling a request to its end: all ranks do them in one order */
    LS_VEC(struct timing_program *) programs; /* by the number that requests name; NULL: released */
    LS_VEC(struct served_work *) works;       /* other ranks: commands that are not over */
    LS_VEC(char *) limits;                    /* names of resources, from other ranks */
    bytes_out request;
} timing_ranks;

/* --- timing_ranks.c. All ranks. Without ranks they do nothing. --- */

uint32_t timing_rank_of(const struct timing *t, uint32_t gpu); /* an index of gpus */
bool timing_is_here(const struct timing *t, uint32_t gpu);
/* The bytes of one rank on all ranks. A transport that fails shows in the next run. */
void timing_share(const struct timing *t, uint32_t owner, void *bytes, size_t count);
/* A status of one rank, with its line. */
ls_status timing_share_status(const struct timing *t, uint32_t owner, ls_status status, ls_error *err);
ls_status timing_ranks_submit(struct timing *t, const struct timing_gpu *gpu, ls_command_packet *packet,
                              ls_error *err);
/* The next packet that is over; NULL: none. */
ls_command_packet *timing_ranks_take(struct timing *t);
/* A packet was over in the log of a checkpoint. */
void timing_ranks_forget(timing_ranks *ranks, const ls_command_packet *packet);
/* The begin of the first kernel that has begun and was not taken, here: on all ranks. */
ls_time timing_ranks_unfinished(const struct timing *t, ls_time here);
void timing_ranks_free(timing_ranks *ranks);

/* --- timing_serve.c --- */

void timing_orders_free(timing_ranks *ranks);

#endif
