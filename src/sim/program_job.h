/* program_job.h: one workload on one AMD platform in simulated time, from nothing to its numbers, for
 * validations and studies. Prints nothing. */
#ifndef SIM_PROGRAM_JOB_H
#define SIM_PROGRAM_JOB_H

#include "base/arena.h"
#include "base/hash.h"
#include "platform/config.h"
#include "workloads/workload.h"

/* The caches that a table of levels has; a machine may lack some. */
typedef enum program_level { PROGRAM_L0, PROGRAM_L1, PROGRAM_L2, PROGRAM_LEVELS } program_level;
const char *program_level_name(program_level level); /* "L0", "L1", "L2" */

typedef struct program_job {
    config_request platform;
    const char *gpu; /* instruction set, "gfx1010"; NULL: the platform's own */
    const char *workload;
    wl_devices devices; /* the GPUs of a system that it uses */
    const char *spread; /* WL_UNIFIED, as in ls_gpu_options */
    const wl_setting *settings;
    size_t setting_count;
    uint32_t threads;
    bool verify; /* a wrong result is LS_ERR_CHECK */
    bool hash;   /* of all results */
} program_job;

typedef struct program_result {
    double kernel_seconds, copy_seconds; /* simulated */
    double kernel_cycles;                /* of the compute units' clock */
    uint64_t launches, instructions;
    uint64_t reads[PROGRAM_LEVELS], hits[PROGRAM_LEVELS]; /* of caches; hits include lines on their way */
    uint64_t remote_bytes; /* messages between GPUs with their headers, each counted once */
    uint64_t link_bytes;   /* on links of the fabric: each message once for each link that it took */
    double host_seconds;   /* of the run, without building the machine */
    wl_transfer transfer;  /* of a workload that measures one */
    wl_region region;   /* likewise, between two events: with the time that they take (command.event_cycles) */
    size_t assumptions; /* values of the platform that no source gives */
    hash128 hash;
} program_result;

ls_status program_simulate(const program_job *job, program_result *out, ls_error *err);

#endif
