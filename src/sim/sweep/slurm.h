/* slurm.h: a sweep on a cluster with Slurm: job arrays, one task per shard, each with a database of its own; they are
 * merged when the tasks end. Shards whose jobs ended early are submitted again. */
#ifndef SIM_SWEEP_SLURM_H
#define SIM_SWEEP_SLURM_H

#include "base/arena.h"
#include "lockstep/sim.h"

typedef struct slurm_options {
    uint32_t shards;         /* tasks of the array; 0: 100, or one per point */
    uint32_t jobs, threads;  /* of each task */
    uint32_t retries;        /* of a point that fails */
    const char *partition;   /* NULL: the cluster's own choice */
    const char *const *more; /* further options of sbatch, "--time=60" */
    size_t more_count;
    void *self;
    void (*progress)(void *self, const ls_sim_sweep_progress *now);
    void (*tell)(void *self, const char *line); /* what was submitted, and the like */
} slurm_options;

/* Runs everything that the database does not have. LS_ERR_INTERRUPTED after ls_sim_sweep_stop(): the jobs go on, and
 * the next call waits for them. Afterwards the sweep has its results as after ls_sim_sweep_run(). */
ls_status slurm_run(ls_sim_sweep *sweep, const slurm_options *options, ls_error *err);

/* Where jobs, their scripts and their output are: "sweep.slurm" beside "sweep.db". In the arena. */
const char *slurm_folder(mem_arena *arena, const char *database);

/* --- slurm_call.c: Slurm's commands --- */

/* Runs a command of the search path and takes the first line that it prints. *code is its exit code. */
ls_status slurm_call(const char *const *argv, char *line, size_t bytes, int *code, ls_error *err);
/* Submits a script; *job is its number. */
ls_status slurm_submit(const char *script, char *job, size_t bytes, ls_error *err);
/* How many tasks of a job wait or run; none: it has ended. Fails if Slurm does not answer. */
ls_status slurm_tasks(const char *job, size_t *tasks, ls_error *err);

#endif
