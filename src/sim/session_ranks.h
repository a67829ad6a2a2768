/* session_ranks.h: one simulation over several processes (engine/ranks.h): agreement before the run, reports after it. */
#ifndef SIM_SESSION_RANKS_H
#define SIM_SESSION_RANKS_H

#include "engine/ranks.h"
#include "lockstep/sim.h"

/* All ranks, after ls_sim_open(), whose status is `opened` (sim: NULL if it failed) and whose error is in err. All ranks
 * return the same status and line. LS_OK: all have opened the same simulation, and it is divided. *is_lost: the ranks did
 * not come to an agreement, so the line is of this one alone. */
ls_status session_ranks_divide(ls_sim *sim, ls_status opened, const rank_transport *transport, bool *is_lost,
                               ls_error *err);
/* After the run: whether a rank was lost in it. */
bool session_ranks_lost(const ls_sim *sim);

#endif
