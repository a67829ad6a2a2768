/* run_accelsim.h: the results of a trace as Accel-Sim prints them, so that its scripts can read them. */
#ifndef SIM_RUN_ACCELSIM_H
#define SIM_RUN_ACCELSIM_H

#include "sim/run_trace.h"

/* LS_ERR_USAGE for a machine whose memory is a formula: it has no caches that count. */
ls_status run_accelsim_check(const run_trace *t, ls_error *err);
/* Kernel by kernel, with Accel-Sim's running totals. partial: the last kernel may not have ended. */
ls_status run_accelsim_print(const run_trace *t, bool partial, double wall_seconds, FILE *to, ls_error *err);

#endif
