/* jobs.h: independent pieces of work in processes of their own, several at a time, their results in order. */
#ifndef CLI_VALIDATE_JOBS_H
#define CLI_VALIDATE_JOBS_H

#include "lockstep/status.h"

#include <stddef.h>
#include <stdint.h>

#define JOBS_RESULT_MAX 1024u /* bytes: a pipe takes them at once */
#define JOBS_AT_ONCE_MAX 64u

typedef struct jobs_request {
    size_t count, result_bytes; /* up to JOBS_RESULT_MAX */
    uint32_t at_once;           /* 1: all in this process; up to JOBS_AT_ONCE_MAX */
    void *self;
    /* Does one piece and fills its result: plain data. Runs in a process of its own if several run at a time. */
    void (*work)(void *self, size_t index, void *result);
    /* Called in the order of the pieces. `end`: NULL, or how the process ended without a result, which is 0 then. */
    ls_status (*done)(void *self, size_t index, const void *result, const char *end, ls_error *err);
} jobs_request;

/* Ends at the first done() that fails; pieces under way are stopped. */
ls_status jobs_run(const jobs_request *request, ls_error *err);

#endif
