/* farm.h: some processes at a time until a list of jobs is done. A job that crashes takes nothing with it. */
#ifndef CLI_SWEEP_FARM_H
#define CLI_SWEEP_FARM_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct farm_hooks {
    void *self;
    /* The command of a job, NULL-terminated; argv[0] is looked up as it stands. Called once per job, in
     * order. */
    const char *const *(*argv)(void *self, size_t job);
    /* A job is over: error is NULL, or the line that says why it failed. Called in the order of their
     * ends. */
    ls_status (*done)(void *self, size_t job, const char *error, ls_error *err);
    /* Some times a second; true ends everything: running jobs are killed. */
    bool (*idle)(void *self, size_t running);
} farm_hooks;

/* Fails with LS_ERR_INTERRUPTED if idle asked for the end, and with what done() returned. Standard output of
 * the jobs is thrown away. */
ls_status farm_run(size_t jobs, size_t slots, const farm_hooks *hooks, ls_error *err);

#endif
