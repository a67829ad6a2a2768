/* sweep_monitor.h: the live page of a sweep (src/monitor): points, workers, rate, best points so far. Every function does
 * nothing for a sweep without a page. */
#ifndef SIM_SWEEP_SWEEP_MONITOR_H
#define SIM_SWEEP_SWEEP_MONITOR_H

#include "sim/sweep/session.h"

/* Before the first point starts; the list of jobs is complete. */
ls_status sweep_monitor_begin(ls_sim_sweep *s, ls_error *err);
/* A job starts, or is over; error NULL: it did not fail. */
void sweep_monitor_started(ls_sim_sweep *s, size_t job);
void sweep_monitor_done(ls_sim_sweep *s, size_t job, const char *error);
/* Some times a second. */
void sweep_monitor_tick(ls_sim_sweep *s);
void sweep_monitor_end(ls_sim_sweep *s, ls_status status);

#endif
