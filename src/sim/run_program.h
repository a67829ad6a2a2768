/* run_program.h: the part of a simulation for programs: a workload or a code object on a simulated AMD GPU,
 * through the driver, or a recording. Also the tables about it. */
#ifndef SIM_RUN_PROGRAM_H
#define SIM_RUN_PROGRAM_H

#include "commands/command_log.h"
#include "platform/config.h"
#include "runtime/timing/timing.h"
#include "sim/checkpoint.h"
#include "sim/emulate_object.h"
#include "sim/run_kind.h"
#include "workloads/workload.h"

/* All zero is nothing. */
typedef struct run_program {
    run_kind kind;
    const wl_workload *workload;  /* of RUN_WORKLOAD */
    emulate_object_launch launch; /* of RUN_OBJECT */
    FILE *print_to;               /* of RUN_OBJECT, for its buffers; NULL: nothing. Set before the run */
    uint64_t max_instructions;
    amd_file *recording;
    kernel_selection selection; /* of its launches */
    source_position from;       /* of a recording: its first command */
    const char *name;
    const char *spread, *pages; /* as in the options */
    wl_setting *settings;
    wl_request request;
    wl_result result;
    mem_arena *arena;
    command_log log;
    ls_status status; /* of the run */
    /* Of a run that goes on from a checkpoint. */
    checkpoint_reader *reader;
    ls_status (*resumed)(void *self, ls_error *err);
    void *resumed_self;
} run_program;

typedef struct run_program_options {
    config_request platform;
    const char *on;             /* the GPU of a system; NULL: the first AMD GPU */
    const char *devices;        /* of a workload, as wl_devices_names; NULL: one GPU */
    const char *spread, *pages; /* of the unified device, as in ls_gpu_options */
    uint64_t seed;
    const char *name;           /* of the workload or its file */
    const char *gpu;            /* instruction set; NULL: the platform's own */
    const char *kernels;        /* of a recording, as in select.h; NULL: all */
    const wl_setting *settings; /* of a workload; one without a name is its size */
    size_t setting_count;
    const char *variant;
    bool verify, strict, check_memory;
    uint64_t memory_bytes, max_instructions;
    const char *record;
    emulate_object_launch launch;  /* of a code object */
    struct session_sample *sample; /* gets a plan, by which some launches run for all; NULL: all run */
} run_program_options;

/* Builds the GPU. Memory comes from the arena, texts are borrowed. run_program_close() is due in every case. */
ls_status run_program_open(run_program *p, mem_arena *arena, run_kind kind, const run_program_options *options,
                           ls_error *err);
void run_program_close(run_program *p);
ls_engine *run_program_engine(const run_program *p);
const platform_config *run_program_config(const run_program *p);
/* Counters go there. */
/* Before the run: launches count per instruction. The caller's; NULL: no memory left. */
struct source_book *run_program_count_instructions(run_program *p);
void run_program_set_metrics(run_program *p, metric_store *metrics);
/* A wrong result is LS_ERR_CHECK; it can be reported like any other. */
ls_status run_program_run(run_program *p, const ls_run_options *options, ls_run_result *result, ls_error *err);
/* The beginning of its source (position.h). Reads the recording or the code object. */
ls_status run_program_source(const run_program *p, source_position *out, ls_error *err);
/* Before the run: commands before the position take no time. One of another source is refused. */
ls_status run_program_go_to(run_program *p, const source_position *from, ls_error *err);
/* Of the compute units' clock, with at least one kernel at work. */
uint64_t run_program_cycles(const run_program *p);
/* Its name, verification, and times of kernels and copies. */
void run_program_head(const run_program *p, FILE *to);
/* The first table of a program's results, with the head. */
void run_program_table(const run_program *p, FILE *to);

/* --- run_program_save.c --- */

/* Before the run: it will have checkpoints. Refuses, by name, what a checkpoint does not save. */
ls_status run_program_begin_save(run_program *p, ls_error *err);
/* In a pause of the engine: adds the sections of the host side and of the machine. */
ls_status run_program_save(run_program *p, checkpoint_writer *writer, ls_error *err);
/* At the start of the run: the host side runs again up to the checkpoint. There the machine is loaded and resumed() is
 * called. The reader lives as long as the run. */
ls_status run_program_resume(run_program *p, checkpoint_reader *reader, ls_error *err);

#endif
