/* session_sample.h: sampled simulation (--sample) in a session: which options it goes with, its plan, and the estimate in
 * every form of results. */
#ifndef SIM_SESSION_SAMPLE_H
#define SIM_SESSION_SAMPLE_H

#include "lockstep/sim.h"
#include "report/metrics.h"
#include "workload/sample/sample.h"
#include "workload/select.h"

#define SESSION_SAMPLE_TYPE "sample/run"

typedef struct session_sample_counters {
    uint64_t kernels, simulated_kernels, strata;
    uint64_t instructions, simulated_instructions;
    uint64_t cut_kernels;
    uint64_t simulated_cycles, estimated_cycles, low_cycles, high_cycles;
    uint64_t error_ppm, goal_ppm;
} session_sample_counters;

/* All zero: nothing is sampled. */
typedef struct session_sample {
    sample_spec spec;
    sample_plan *plan;
    sample_result result;
    session_sample_counters n; /* a source of the metrics: it stays where it is as long as they are read */
} session_sample;

static inline bool session_is_sampled(const session_sample *s)
{
    return sample_is_on(&s->spec);
}
/* Reads the option and refuses others that it does not go with, by name. */
ls_status session_sample_open(session_sample *s, const ls_sim_options *options, bool at_position,
                              ls_error *err);
/* The plan of a trace: one kernel for each of the selection. side_by_side: the GPU may run kernels of several
 * streams at once. Text is read to its end. */
ls_status session_sample_trace(session_sample *s, sass_trace *trace, const kernel_selection *selection,
                               bool side_by_side, ls_error *err);
ls_status session_sample_add_metrics(session_sample *s, metric_store *metrics, ls_error *err);
/* After the run: the estimate, its metrics, and the warning that is in every form of results. */
ls_status session_sample_end(session_sample *s, ls_engine *engine, ls_error *err);
/* Two lines for the summary; nothing if nothing is sampled. */
void session_sample_print(const session_sample *s, FILE *to);
void session_sample_fini(session_sample *s);

#endif
