/* session.h: the sweep behind lockstep/sim.h, shared by the files that implement it. */
#ifndef SIM_SWEEP_SESSION_H
#define SIM_SWEEP_SESSION_H

#include "lockstep/sim.h"
#include "sim/sweep/sweep.h"

typedef enum job_state { JOB_WAITS, JOB_RUNS, JOB_OVER } job_state;

typedef struct sweep_job {
    size_t point;
    job_state state;
    uint32_t tries; /* that failed */
} sweep_job;

typedef struct sweep_monitor sweep_monitor;

struct ls_sim_sweep {
    mem_arena arena;
    ls_sim_options base;
    ls_sim_sweep_options options;
    sweep sweep; /* grid, points and columns */
    sweep_identity identity;
    const char *database;        /* of this process: of a shard, a file of its own */
    hash128 warm_hash;           /* of the checkpoint's content; all zero: none */
    const char *shown;           /* the same without a password */
    LS_VEC(const char *) warned; /* texts about keys without effect */

    /* while it runs */
    ls_sim_sweep_run_options how;
    const char *worker;
    point_store *store;
    sweep_job *jobs; /* points that were not done when the run began */
    ls_sim_sweep_progress progress;
    uint64_t ask_ns;  /* the store is not asked for a job before this time */
    uint64_t beat_ns; /* when the claims last showed that they are alive */
    ls_run_control control;
    struct sweep_monitor *monitor; /* NULL: no live page */
};

/* --- sweep_warm.c --- */

/* After the grid is read: checks the checkpoint that points go on from, if there is one. */
ls_status sweep_warm_open(ls_sim_sweep *s, ls_error *err);

/* --- sweep_words.c: a point as a command --- */

/* Options that every point shares and that have no key: their values in the order of the command line. A flag has
 * no value. */
typedef struct sweep_word {
    const char *option; /* without dashes */
    const char *value;  /* NULL: a flag */
} sweep_word;

/* Refuses what a point cannot have. The list is in the arena. */
ls_status sweep_words(mem_arena *arena, const ls_sim_options *base, sweep_word **out, size_t *count,
                      ls_error *err);
/* Adds all of them to a hash, and the content of files that they name. */
ls_status sweep_words_hash(const ls_sim_options *base, const sweep_word *words, size_t count,
                           hash_stream *hasher, ls_error *err);
/* The sweep as text, a line for each option; in the arena. NULL without memory. */
const char *sweep_description(ls_sim_sweep *s);
/* The command that runs a shard, up to the value of --shard; otherwise as sweep_argv(). */
const char *const *sweep_shard_argv(ls_sim_sweep *s, uint32_t retries);
/* The command that runs a point, NULL-terminated, in the arena. NULL without memory. */
const char *const *sweep_argv(ls_sim_sweep *s, size_t point);
/* Finds the program that runs points, and refuses one of another version. */
ls_status sweep_find_worker(ls_sim_sweep *s, ls_error *err);

#endif
