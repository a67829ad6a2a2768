/* run_ranks.h: results of a run that is divided over ranks (engine/ranks.h), on the rank that writes them: rank 0. */
#ifndef SIM_RUN_RANKS_H
#define SIM_RUN_RANKS_H

#include "engine/ranks.h"
#include "model/gpu/gpu.h"
#include "report/metrics.h"

/* The counts that blocks of one GPU have kept for a kernel that has ended, sent by the rank that runs the GPU. */
typedef struct run_shares {
    bool is_used; /* else blocks of this process have them */
    rank_bytes left;
    const metric_store *metrics;
} run_shares;

/* All ranks, for each kernel in the same order. The blocks have forgotten the kernel afterwards. */
ls_status run_shares_begin(run_shares *s, const gpu_instance *gpu, uint32_t slot, const metric_store *metrics,
                           ls_error *err);
/* For metrics_mark_part(), source by source; false: the source has no counts of the kernel. */
bool run_shares_take(run_shares *s, const metric_source *source, void *counters, size_t bytes);

#endif
