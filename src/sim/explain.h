/* explain.h: what ls_sim_explain() shares between its files: a result that was read back, and experiments on it. */
#ifndef SIM_EXPLAIN_H
#define SIM_EXPLAIN_H

#include "lockstep/sim.h"
#include "report/summary.h"

/* A change of the platform that takes a limit away. */
typedef struct explain_experiment {
    const rule *rule;
    double estimate;   /* of the first rule that wants it */
    const char **sets; /* "clock.dram_mhz=3500" */
    size_t set_count;
    /* Afterwards: */
    bool has_run;
    uint64_t cycles;
    ls_time busy; /* with a kernel */
    ls_error error;
} explain_experiment;

/* The keys of a rule's experiment with their new values, in the arena; none that the configuration does not have. NULL:
 * there is no experiment for this machine. */
const char **explain_sets(mem_arena *arena, const rule *r, const char *config_text, facts_machine machine,
                          size_t *count);

/* Runs the workload as it is and with each experiment, and prints the gains. */
ls_status explain_try(const saved_results *saved, const ls_sim_options *rerun, uint32_t jobs,
                      double result_cycles, explain_experiment *experiments, size_t count, FILE *to,
                      ls_error *err);

#endif
