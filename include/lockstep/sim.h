/* sim.h: one simulation from a platform and a workload to its results.
 *
 *     const ls_sim_options options = { LS_SIM_OPTIONS, .platform = "rtx3070", .workload = "traces/bfs" };
 *     const ls_sim_run_options how = { LS_SIM_RUN_OPTIONS, .threads = 4 };
 *     ls_sim *sim;
 *     ls_status status = ls_sim_open(&options, &sim, &err);
 *     if (status == LS_OK)
 *         status = ls_sim_run(sim, &how, &err);
 *     if (status == LS_OK)
 *         status = ls_sim_export(sim, "result.json", NULL, &err);
 *     ls_sim_close(sim);
 *
 * The `lockstep` command, C programs and the Python package are clients of this file. A process may have many
 * simulations, also at the same time in several threads; each is used by one thread at a time. Only ls_sim_stop()
 * may be called while another thread runs the simulation. Nothing here prints, exits or handles signals. */
#ifndef LOCKSTEP_SIM_H
#define LOCKSTEP_SIM_H

#include "lockstep/engine.h"
#include "lockstep/metric.h"

typedef struct ls_sim ls_sim;

/* LS_ABI_VERSION of the library, for clients that have no header at hand. */
LS_API uint32_t ls_sim_abi_version(void);

/* ------------------------------------------------------------------------------------------------- opening */

/* An option of a workload; name NULL: its size. */
typedef struct ls_sim_setting {
    const char *name;
    uint64_t value;
} ls_sim_setting;

/* All texts and lists are borrowed until ls_sim_close(). A text that is NULL was not given. An option that says
 * nothing about the kind of workload is refused, as on the command line. */
typedef struct ls_sim_options {
    size_t size; /* of this struct as the caller knows it: a struct of an older version is taken, too */

    const char *platform;    /* a name of the search path, or a file */
    const char *const *sets; /* "l2.ways=32"; the last one of a key counts */
    size_t set_count;
    const char *fidelity; /* "detailed", "basic", "memory": a choice of models, before the sets */
    const char *const *platform_dirs;
    size_t platform_dir_count;
    const char *const *plugins; /* shared objects with blocks or machines; they stay in the process */
    size_t plugin_count;
    uint64_t seed; /* of every random stream of the machine */

    /* A trace (directory, list, kernel file, packed trace, "synth:KIND,name=value"), the name of a workload, a code
     * object, or the recording of an AMD program. NULL: the machine makes its own work. */
    const char *workload;

    const char *kernels;  /* traces and recordings: "3-7,12,name:*gemm*" */
    uint64_t cta_limit;   /* traces: the first thread blocks of each kernel; 0: all */
    const char *profile;  /* traces: hit rates for core.memory analytic; "auto": those of the cache */
    bool warm_l2;         /* traces: memory copies make their range valid in L2 */
    bool unknown_as_alu;  /* traces: opcodes of no table run as integer instructions */
    bool skip_unmodelled; /* traces: instructions without a model run without their effects */

    const char *gpu;                /* programs: instruction set; NULL: the platform's own */
    const ls_sim_setting *settings; /* workloads: the size and other options */
    size_t setting_count;
    const char *variant;       /* workloads: kernels compiled otherwise */
    bool verify;               /* workloads: compare the result with the CPU */
    bool strict;               /* programs: emulated under strict checks first */
    uint64_t memory_bytes;     /* AMD programs: memory of the GPU; 0: the platform's value */
    uint64_t max_instructions; /* programs: limit of a wavefront; 0: none */
    const char *record;        /* programs: write a recording there */

    const char *kernel;                /* code objects: which kernel; NULL: the only one */
    const char *grid, *group, *offset; /* code objects: "64,2,1" */
    const char *const *args;           /* code objects: "f32:1.5", "buffer:4096:iota", "local:256" */
    size_t arg_count;
    const char *const *prints; /* code objects: "2:f32:8", printed to ls_sim_run_options.print_to */
    size_t print_count;
    const char *const *dumps; /* code objects: "out=FILE" */
    size_t dump_count;
} ls_sim_options;
#define LS_SIM_OPTIONS .size = sizeof(ls_sim_options), .seed = 1

/* Builds the machine and opens the workload; nothing is simulated. *out is NULL on failure. */
LS_API ls_status ls_sim_open(const ls_sim_options *options, ls_sim **out, ls_error *err);
LS_API void ls_sim_close(ls_sim *sim); /* NULL is fine */

LS_API const char *ls_sim_platform(const ls_sim *sim);    /* its name */
LS_API const char *ls_sim_config(const ls_sim *sim);      /* the resolved platform as YAML */
LS_API const char *ls_sim_config_hash(const ls_sim *sim); /* in hexadecimal */

/* ------------------------------------------------------------------------------------------------- running */

typedef struct ls_sim_run_options {
    size_t size;
    uint32_t threads; /* no result depends on it */
    ls_assignment assignment;
    ls_time until;       /* stop at this simulated time; 0: no limit */
    ls_time window_fs;   /* 0: the lookahead */
    ls_time watchdog_fs; /* no progress for so long with work pending is a deadlock */
    bool scaling;        /* measure the work per domain and window */
    FILE *dump_to;       /* for ls_run_control.dump; may be NULL */
    FILE *print_to;      /* final contents of a code object's buffers; NULL: not printed */
    void (*progress)(void *self, const ls_run_progress *now); /* about ten times a second; may be NULL */
    void *progress_self;
} ls_sim_run_options;
#define LS_SIM_RUN_OPTIONS .size = sizeof(ls_sim_run_options), .watchdog_fs = LS_FS_PER_SECOND / 10

/* Once per simulation. A run that was stopped or that reached `until` returns LS_OK; its result has a mark for
 * it. A workload whose result is wrong is LS_ERR_CHECK and has results. A deadlock is LS_ERR_DEADLOCK: see
 * ls_sim_report(). */
LS_API ls_status ls_sim_run(ls_sim *sim, const ls_sim_run_options *options, ls_error *err);
/* Ends the run at the next window. For any thread and for progress(). */
LS_API void ls_sim_stop(ls_sim *sim);
/* The flags of ls_sim_stop(), for signal handlers. */
LS_API ls_run_control *ls_sim_control(ls_sim *sim);
/* After a deadlock: each waiting block and its blocker; else "". */
LS_API const char *ls_sim_report(const ls_sim *sim);

/* ------------------------------------------------------------------------------------------------- results */

typedef struct ls_sim_result {
    ls_time end_time;
    bool has_cycles;                                 /* the machine runs kernels */
    uint64_t cycles;                                 /* of the core clock with at least one kernel at work */
    uint64_t events, messages, ticks, region_cycles; /* of the engine */
    bool partial;                                    /* stopped, limited by `until`, or wrong */
    const char *partial_reason;                      /* "" if it is whole */
    bool stopped;                                    /* by ls_sim_stop() */
    bool wrong;                                      /* the workload computed something else than the CPU */
    double wall_seconds;
} ls_sim_result;
LS_API ls_sim_result ls_sim_get_result(const ls_sim *sim);

/* Warnings that a reader of the numbers must know, in order. */
LS_API const ls_warning *ls_sim_warnings(const ls_sim *sim, size_t *count);

typedef struct ls_sim_kernel {
    uint64_t number; /* in the trace, or of the launch; from 1 */
    const char *name;
    uint64_t stream;
    ls_time begin, end;
    uint64_t begin_cycle, end_cycle; /* of the core clock */
    bool overlapped; /* other kernels ran at the same time; only some blocks count per kernel */
} ls_sim_kernel;
/* In the order of their ends. */
LS_API size_t ls_sim_kernel_count(const ls_sim *sim);
LS_API ls_status ls_sim_get_kernel(const ls_sim *sim, size_t kernel, ls_sim_kernel *out, ls_error *err);

typedef struct ls_sim_stream {
    uint64_t stream;
    uint64_t kernels;
    ls_time begin, end; /* of the first kernel, of the last one */
    uint64_t cycles;    /* with one of its kernels at work */
} ls_sim_stream;
/* In the order of their first kernel. */
LS_API size_t ls_sim_stream_count(const ls_sim *sim);
LS_API ls_status ls_sim_get_stream(const ls_sim *sim, size_t stream, ls_sim_stream *out, ls_error *err);

#define LS_SIM_RUN SIZE_MAX /* the scope that is no kernel */

typedef struct ls_sim_metric {
    const char *type; /* of blocks: "core/cycle" */
    const char *name, *unit, *help;
    ls_metric_kind kind;
    bool present;      /* false: nothing to say, as of a ratio over zero */
    size_t blocks;     /* that were reduced to one value */
    uint64_t value;    /* counter, peak, level; count of a histogram; numerator of a ratio */
    double real;       /* the same as a number; mean of a histogram; the ratio */
    uint64_t min, max; /* of a histogram */
} ls_sim_metric;
/* One per block type and metric, of the run or of a kernel. */
LS_API size_t ls_sim_metric_count(const ls_sim *sim);
LS_API ls_status ls_sim_get_metric(ls_sim *sim, size_t scope, size_t metric, ls_sim_metric *out,
                                   ls_error *err);
/* By name, over the blocks whose type and path match; '*' and '?' are wildcards, NULL is any. */
LS_API ls_status ls_sim_find_metric(ls_sim *sim, size_t scope, const char *type, const char *path,
                                    const char *name, ls_sim_metric *out, ls_error *err);

/* A part of the stall stack of cores or compute units: where their issue slots or cycles went. */
typedef struct ls_sim_stall {
    const char *type;   /* of blocks */
    const char *reason; /* "issued" or "active", then "memory", "barrier" ... */
    const char *unit, *help;
    uint64_t value;
    double
        share; /* of all slots or cycles. Compute units count every reason of a cycle, so shares may exceed 1. */
} ls_sim_stall;
LS_API size_t ls_sim_stall_count(const ls_sim *sim);
LS_API ls_status ls_sim_get_stall(ls_sim *sim, size_t scope, size_t stall, ls_sim_stall *out, ls_error *err);

/* ------------------------------------------------------------------------------------------------- writing */

/* About the export, not about the simulation; may be NULL. */
typedef struct ls_sim_export_options {
    size_t size;
    const char *run_id;  /* names the run among those of a database; NULL: the time and the process */
    const char *command; /* how the run was started */
    bool per_block;      /* each block in each kernel, not only each type of block */
} ls_sim_export_options;
#define LS_SIM_EXPORT_OPTIONS .size = sizeof(ls_sim_export_options)

/* Before a long run: could these files be written after it? Nothing is created. */
LS_API ls_status ls_sim_check_exports(const char *const *paths, size_t count, const char *run_id,
                                      ls_error *err);
/* In the format of the extension, with the resolved platform beside it (path.platform.yaml) or inside. */
LS_API ls_status ls_sim_export(ls_sim *sim, const char *path, const ls_sim_export_options *options,
                               ls_error *err);
/* The summary that `lockstep run` prints. */
LS_API ls_status ls_sim_print(ls_sim *sim, FILE *to, ls_error *err);

/* ------------------------------------------------------------------------------------------------ profiles */

typedef struct ls_sim_profile_options {
    size_t size;
    const char *method; /* "cache" (as if NULL): sets and policies; "reuse": reuse distances */
    uint64_t sample;    /* warp instructions of each kernel; 0: all */
    uint32_t threads;   /* no profile depends on it */
} ls_sim_profile_options;
#define LS_SIM_PROFILE_OPTIONS .size = sizeof(ls_sim_profile_options)

/* Hit rates of a trace on a platform, for ls_sim_options.profile, without simulating time. Of the options, those of
 * platforms and traces count. path NULL: into the cache, where "auto" finds them. */
LS_API ls_status ls_sim_profile(const ls_sim_options *options, const ls_sim_profile_options *how,
                                const char *path, ls_error *err);

#endif
