/* launch_facts.h: the counters that facts (report/facts.h) need, of the longest launch of each kernel. A program may have
 * millions of launches: reading these counters at the end of each costs a fraction of an interval of all metrics. */
#ifndef COMMANDS_LAUNCH_FACTS_H
#define COMMANDS_LAUNCH_FACTS_H

#include "report/facts.h"

typedef struct launch_facts launch_facts;

/* The registry gets no more sources and outlives it. */
ls_status launch_facts_create(metric_store *metrics, const char *config_text, launch_facts **out,
                              ls_error *err);
void launch_facts_destroy(launch_facts *f); /* NULL is fine */

typedef struct launch_facts_launch {
    const char *name;
    size_t launch; /* its number in the caller's list */
    int32_t gpu;
    ls_time begin, end;
    ls_time next_begin; /* of the first kernel that has begun and not ended */
} launch_facts_launch;

/* A launch is over, and the engine rests. *scope is the reader's scope of this launch, or SUMMARY_NO_SCOPE: an earlier one of
 * its name was at least as long, or other kernels ran beside it. *replaced: the launch that had the scope before, or
 * SIZE_MAX. */
ls_status launch_facts_add(launch_facts *f, const launch_facts_launch *launch, size_t *scope, size_t *replaced,
                           ls_error *err);

/* The run as the registry has it now, and launches by their scopes. */
fact_reader launch_facts_reader(launch_facts *f);

#endif
