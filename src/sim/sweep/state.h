/* state.h: how far a whole sweep is: its database and the files of its shards together. */
#ifndef SIM_SWEEP_STATE_H
#define SIM_SWEEP_STATE_H

#include "base/arena.h"
#include "base/vec.h"
#include "lockstep/status.h"

#include <stdbool.h>

typedef LS_VEC(const char *) path_list;

/* The files of shards beside a database, "sweep.2-of-8.db" beside "sweep.db", in the order of their numbers; none of a
 * server. The list is in the arena. */
ls_status state_shard_files(mem_arena *arena, const char *database, path_list *out, ls_error *err);

typedef struct state_point {
    const char *id, *trace;
    const char *keys;  /* "  cores=4  l2.ways=8" after the trace */
    const char *error; /* of its last try; NULL: none */
    bool done, running;
} state_point;

typedef struct sweep_state {
    mem_arena arena;
    const char *sweep; /* its name */
    LS_VEC(state_point) points;
    size_t done, failed, running; /* failed: has an error and no run */
} sweep_state;

/* Reads the sweep with this name, or the only one of the database (NULL). Points that the database does not have a run
 * of are looked up in the files. Files of other sweeps are passed over. */
ls_status state_read(sweep_state *state, const char *database, const char *sweep, const path_list *files,
                     ls_error *err);
void state_fini(sweep_state *state);

#endif
