/* timing.h: programs in simulated time: the driver's back end `time` (driver/backend.h), seen by who wants
 * more of it than the driver's interface says: the machine's counters, its configuration, each command's
 * record. */
#ifndef RUNTIME_TIMING_TIMING_H
#define RUNTIME_TIMING_TIMING_H

#include "lockstep/block.h"
#include "lockstep/driver.h"
#include "model/amd/command.h"
#include "platform/config.h"
#include "runtime/driver/backend.h"
#include "workload/pack/amd_file.h"

/* A command that is over. */
typedef struct timing_record {
    drv_work_kind kind;
    const char *kernel; /* of a launch; as long as its module */
    uint64_t number;    /* among launches, or among all others; from 0 */
    ls_time begin, end;
    uint64_t bytes; /* of a copy or fill */
    uint64_t groups, waves, instructions;
    uint32_t groups_per_cu, waves_per_cu; /* that fit on a compute unit at once */
    const char *limit;                    /* what is short for one more work-group */
} timing_record;

/* NULL if the system does not simulate time. */
ls_engine *timing_engine(const ls_gpu_system *system);
const platform_config *timing_config(const ls_gpu_system *system);

/* How to run the engine: threads, window, assignment, progress, control; before the first command. */
void timing_set_options(ls_gpu_system *system, const ls_run_options *options);
/* Called for each command that is over, while the engine rests: time to read counters. */
void timing_watch(ls_gpu_system *system,
                  ls_status (*over)(void *self, const timing_record *record, ls_error *err), void *self);
/* Whether kernels have begun that nobody was told the end of, and when the first did. */
bool timing_unfinished(const ls_gpu_system *system, ls_time *begin);
/* What the engine did so far; windows are those of all runs. */
ls_run_result timing_result(const ls_gpu_system *system);

/* --- timing_replay.c --- */

/* Runs a recording in place of a program: all of its commands, or of its launches only those that are
 * selected (NULL: all). Nothing else may use the system, before or afterwards. Adds to *counts. */
ls_status timing_replay(ls_gpu_system *system, amd_file *file, const kernel_selection *selection,
                        ls_gpu_counts *counts, ls_error *err);

#endif
