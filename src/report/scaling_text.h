/* scaling_text.h: the predicted times of a run on other hosts, as a table. */
#ifndef REPORT_SCALING_TEXT_H
#define REPORT_SCALING_TEXT_H

#include "lockstep/engine.h"

/* Threads, expected speed-up and efficiency; work, span and parallelism; and one sentence about the limit.
 * Write errors show in the stream (ferror). */
void scaling_print(const ls_scaling *scaling, FILE *to);
/* The part of each group of the last measured run; writes nothing if all domains are in one group. */
void scaling_groups_text(const ls_engine *engine, FILE *to);
/* The same run on several processes, over several networks; writes nothing if the machine cannot be divided. */
void scaling_ranks_text(const ls_engine *engine, FILE *to);

#endif
