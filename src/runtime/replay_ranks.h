/* replay_ranks.h: traces on a machine that is divided over ranks (engine/ranks.h). A replay's kernels are read and end on
 * the rank that runs its GPU; after each piece of the run the others hear of it. */
#ifndef RUNTIME_REPLAY_RANKS_H
#define RUNTIME_REPLAY_RANKS_H

#include "engine/ranks.h"
#include "runtime/replay.h"

/* One replay after a piece of the run. */
typedef struct replay_told {
    bool is_here; /* its GPU runs on this rank, which tells the others */
    bool is_idle;
    uint16_t guessed_opcode;
    uint64_t ended, guessed, guessed_pc;
    ls_cycle oldest;
    ls_error failure, held; /* of the dispatcher, of the trace */
    unmodelled_insts unmodelled;
    const replay_kernel *kernels; /* that have ended since the last time */
    uint64_t kernel_count;
} replay_told;

/* All ranks. Fills the entries that are not of this rank; their kernels and names live in the arena. Counts of
 * instructions do not travel. */
ls_status replay_ranks_share(ls_engine *engine, replay_told *told, size_t count, mem_arena *arena,
                             ls_error *err);

#endif
