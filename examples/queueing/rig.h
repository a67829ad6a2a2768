/* rig.h: builds a queueing machine from a platform file, runs it and reads its counters, for the demo and the
 * tests. */
#ifndef RIG_H
#define RIG_H

#include "lockstep/lockstep.h"
#include "report/metrics.h"

typedef struct rig {
    struct platform_config *config;
    ls_machine *machine;
    ls_engine *engine;
    metric_store *metrics;
} rig;

#define RIG_SETTINGS_MAX 32

/* `sets`: "key=value" as --set takes them, separated by spaces; "" for none. On failure there is
 * nothing to close. */
ls_status rig_open(rig *r, const char *folder, const char *file, const char *sets, ls_error *err);
void rig_close(rig *r);

/* A counter, level or peak reduced over all blocks of a slot ("queueing.server"), or over those whose name
 * matches `path` (NULL: all). A missing metric gives UINT64_MAX, or a histogram with that count: not a zero
 * that looks measured. */
uint64_t rig_count(const rig *r, const char *slot, const char *path, const char *metric);
ls_histogram rig_histogram(const rig *r, const char *slot, const char *path, const char *metric);

/* Depends on every counter of every block. */
ls_status rig_hash(const rig *r, uint64_t *out, ls_error *err);

#endif
