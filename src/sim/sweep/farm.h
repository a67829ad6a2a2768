/* farm.h: some processes at a time until a list of jobs is done. A job that crashes takes nothing with it. */
#ifndef SIM_SWEEP_FARM_H
#define SIM_SWEEP_FARM_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum farm_next {
    FARM_JOB,   /* there is a job to start */
    FARM_LATER, /* none now: call again */
    FARM_END,   /* no further jobs */
    FARM_FAILED /* err says why */
} farm_next;

typedef struct farm_hooks {
    void *self;
    /* The next job: its number, and its command, NULL-terminated; argv[0] is looked up as it stands. */
    farm_next (*next)(void *self, size_t *job, const char *const **argv, ls_error *err);
    /* A job is over: error is NULL, or the line that says why it failed. Called in the order of their
     * ends. */
    ls_status (*done)(void *self, size_t job, const char *error, ls_error *err);
    /* Some times a second; true ends everything: running jobs are killed. */
    bool (*idle)(void *self, size_t running);
    /* A process that forks for the jobs, in place of starting their commands; NULL: there is none. */
    const struct fork_server *server;
} farm_hooks;

/* Runs jobs until next() says FARM_END and all have ended. Fails with LS_ERR_INTERRUPTED if idle() requested
 * the end, and with the failure of next() or done(). Standard output of the jobs is discarded. */
ls_status farm_run(size_t slots, const farm_hooks *hooks, ls_error *err);

#endif
