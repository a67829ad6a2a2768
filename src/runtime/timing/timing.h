/* timing.h: programs in simulated time: the driver's back end `time` (driver/backend.h). This header adds
 * access to the machine's counters, its configuration and each command's record. */
#ifndef RUNTIME_TIMING_TIMING_H
#define RUNTIME_TIMING_TIMING_H

#include "base/bytes.h"
#include "lockstep/block.h"
#include "lockstep/driver.h"
#include "lockstep/command.h"
#include "model/amd/amd_gpu.h"
#include "platform/config.h"
#include "runtime/driver/backend.h"
#include "workload/position.h"
#include "workload/sample/sample.h"

/* A command that is over. */
typedef struct timing_record {
    drv_work_kind kind;
    uint32_t gpu;       /* its number in the system */
    uint64_t command;   /* its number among all commands, in the order of submission; from 0 */
    const char *kernel; /* of a launch; as long as its module */
    uint64_t number;    /* among launches, or among all others; from 0 */
    ls_time begin, end;
    uint64_t bytes; /* of a copy or fill */
    uint64_t groups, waves, instructions;
    uint32_t groups_per_cu, waves_per_cu; /* that fit on a compute unit at once */
    const char *limit;                    /* resource that prevents one more work-group */
    /* Of a launch. */
    uint64_t grid_items, group_items;
    uint32_t lds_bytes, scratch_bytes; /* of a work-group; of a lane */
    uint32_t vgprs, sgprs, lanes;      /* of a wave, registers as allocated */
    /* With timing_count_instructions(), during the call: counts by the numbers of the program's steps. */
    const struct inst_counts *counts;
    const struct amd_program *program;
    const struct hsa_object *object; /* that the program is from; NULL: not known */
    uint64_t base;                   /* simulated address of the object's image */
} timing_record;

/* NULL if the system does not simulate time. */
ls_engine *timing_engine(const ls_gpu_system *system);
const platform_config *timing_config(const ls_gpu_system *system);
/* The GPUs that programs see, by the driver's numbers: the machine, its configuration (a part of a system, or the
 * platform) and its number in the system. */
amd_gpu *timing_gpu_at(const ls_gpu_system *system, size_t gpu);
const platform_config *timing_gpu_config(const ls_gpu_system *system, size_t gpu);
uint32_t timing_gpu_number(const ls_gpu_system *system, size_t gpu);
/* The clock of the GPU with that number in the system. */
const ls_clock *timing_clock(const ls_gpu_system *system, uint32_t number);

/* How to run the engine: threads, window, assignment, progress, control; before the first command. The system simulates
 * time. */
ls_run_options timing_options(const ls_gpu_system *system);
void timing_set_options(ls_gpu_system *system, const ls_run_options *options);
/* Called for each command that is over, while the engine rests: time to read counters. */
void timing_watch(ls_gpu_system *system,
                  ls_status (*over)(void *self, const timing_record *record, ls_error *err), void *self);
/* Before the first command: launches count per instruction (isa/inst_counts.h). */
void timing_count_instructions(ls_gpu_system *system);
/* True if kernels have begun whose end was not reported yet; *begin: the begin of the first. */
bool timing_unfinished(const ls_gpu_system *system, ls_time *begin);
/* Counts of the engine so far; windows are those of all runs. */
ls_run_result timing_result(const ls_gpu_system *system);

/* ls_gpu_look() and ls_gpu_patch() for a function of ls_run_options.between: while time stands still inside a command. */
ls_status timing_look_between(ls_gpu_system *system, void *to, uint64_t from, uint64_t bytes, ls_error *err);
ls_status timing_patch_between(ls_gpu_system *system, uint64_t to, const void *from, uint64_t bytes,
                               ls_error *err);

/* The memory checker; NULL without ls_gpu_options.check_memory. */
const struct memcheck *timing_memcheck(const ls_gpu_system *system);
/* At the end of a program: adds warnings that say what was checked and found. */
ls_status timing_check_summary(ls_gpu_system *system, ls_error *err);

/* --- timing_replay.c --- */

/* Runs a recording in place of a program: all of its commands from a position on (NULL: from the beginning), but only
 * the selected launches (NULL: all). Commands before the position are left out: caches and TLBs are as empty as those
 * of a new machine, all memory of the recording is mapped. No other caller may use the system, before or afterwards.
 * Adds to *counts. */
ls_status timing_replay(ls_gpu_system *system, amd_file *file, const source_position *from,
                        const kernel_selection *selection, ls_gpu_counts *counts, ls_error *err);

/* --- timing_checkpoint.c --- */

typedef struct timing_section {
    const uint8_t *at;
    size_t bytes;
} timing_section;

/* A checkpoint of a program or a recording, in four sections. */
typedef struct timing_image {
    timing_section log; /* of the system itself, as long as no time passes */
    timing_section host, memory, machine;
    /* To resume: called when the machine has its state; may be NULL. */
    ls_status (*arrived)(void *self, ls_error *err);
    void *arrived_self;
} timing_image;

/* Before the first command: the run will have checkpoints. Fails, naming it, for anything that has none. */
ls_status timing_checkpoint_begin(ls_gpu_system *system, ls_error *err);
/* In a pause of the engine (ls_run_pause). Free the image with timing_image_free(). */
ls_status timing_checkpoint_save(ls_gpu_system *system, timing_image *image, ls_error *err);
void timing_image_free(timing_image *image);
/* Before the first command: the same program runs from its beginning without time up to the checkpoint, and goes on
 * there. The image must live until then. */
ls_status timing_checkpoint_resume(ls_gpu_system *system, const timing_image *image, ls_error *err);
bool timing_checkpoint_is_replaying(const ls_gpu_system *system);
/* For watchers of commands: counts that they took from the machine become part of the log, or come from it. */
void timing_checkpoint_share(const ls_gpu_system *system, void *counters, size_t bytes);

/* --- timing_orders.c: a machine that is divided over ranks (engine/ranks.h) --- */

/* All ranks, when the engine is divided and before the first command. A recording has no host program. */
ls_status timing_orders_begin(ls_gpu_system *system, bool has_host_program, ls_error *err);
/* Whether this rank serves the host program of rank 0, in place of running one. */
bool timing_orders_serves(const ls_gpu_system *system);
/* Until the program has ended; its status and line. */
ls_status timing_orders_serve(ls_gpu_system *system, ls_error *err);
/* Rank 0: the program has ended. */
void timing_orders_end(ls_gpu_system *system, ls_status status, const ls_error *why);
/* All ranks: the bytes that the rank of a GPU (its number in the system) gives, valid until the next call. Without ranks:
 * those of this process. */
ls_status timing_share_rows(const ls_gpu_system *system, uint32_t number, const bytes_out *own, bytes_in *in,
                            ls_error *err);
bool timing_is_divided(const ls_gpu_system *system);

/* --- timing_sample.c --- */

/* Before the first command of a program. Every launch joins the plan with the instructions that it executes: all commands
 * are emulated, by one thread, and no time passes. */
ls_status timing_describe(ls_gpu_system *system, sample_plan *plan, ls_error *err);
/* The same for a recording, which knows them; of the selected launches (NULL: all). Refuses one whose launches ran side by
 * side. */
ls_status timing_describe_recording(const amd_file *file, const kernel_selection *selection, sample_plan *plan,
                                    ls_error *err);
/* Launches that the plan does not want are emulated, so that data stay right; those of a recording are left out. Launches
 * side by side are refused when they come. For one GPU whose pages stay. */
ls_status timing_sample(ls_gpu_system *system, sample_plan *plan, bool blocks, ls_error *err);

/* --- timing_skip.c --- */

/* Before the first command: those of the program before the position take no time. They are emulated, by one thread,
 * and reported to no watcher; their launches add to no counts. Caches and TLBs are then as empty as those of a new
 * machine. Not where pages move, nor together with a recording. */
ls_status timing_skip(ls_gpu_system *system, const source_position *to, ls_error *err);
/* The devices that positions of its programs have; 0: one GPU. */
uint32_t timing_device_count(const ls_gpu_system *system);
/* Fills in the numbers of the position before a launch that is over, or is running. */
void timing_position(const ls_gpu_system *system, const timing_record *record, source_position *out);
/* After the program: whether it came to the position. */
ls_status timing_check_skip(const ls_gpu_system *system, ls_error *err);

#endif
