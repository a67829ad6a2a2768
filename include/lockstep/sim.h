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

    uint32_t gpus; /* a system of so many GPUs of the platform, which has one; 0: the platform as it is */
    const char
        *on; /* the GPU of a system that has the work, the others are idle: "gpu1" or its name; NULL: the first
                     * one that can run it */

    /* Workloads on a system: "single" (as NULL), or all AMD GPUs: "discrete", "unified", "locality",
     * "duplicated". */
    const char *devices;
    /* "unified": work-groups "blocked" (as NULL), "interleaved" or "central"; pages "interleaved" (as NULL), "blocked", "one". */
    const char *spread, *pages;

    /* A file for a viewer: ls_sim_write_timeline() writes it after the run. Its format follows the extension, or
     * timeline_format names it: "perfetto", "chrome", "daisen4", "daisen5", "kanata", "html". Filters: "kernel=*gemm*",
     * "time=10us-20us", "block=gpu0.core0", "kind=warp,stall", "every=16". */
    const char *timeline, *timeline_format;
    const char *const *timeline_filters;
    size_t timeline_filter_count;
    bool check_memory; /* programs: compare every read with the last write that happened before it */
    bool source;       /* count executions, stalls, sectors and bank conflicts per static instruction */
    /* Simulate some kernels for all: "sieve"; "error=2%": as many as that error needs; "blocks": the rest of a kernel in a
     * steady state is left out; "sieve,blocks". NULL: everything is simulated. See ls_sim_get_sample(). */
    const char *sample;
} ls_sim_options;
#define LS_SIM_OPTIONS .size = sizeof(ls_sim_options), .seed = 1

/* A simulation that goes on from a checkpoint (ls_sim_run_options.checkpoint). */
typedef struct ls_sim_resume_options {
    size_t size;
    const char *file;
    /* Keys of the platform that shall have other values from there on. A key whose value decides the size or the meaning
     * of saved state is refused. */
    const char *const *sets;
    size_t set_count;
} ls_sim_resume_options;
#define LS_SIM_RESUME_OPTIONS .size = sizeof(ls_sim_resume_options)

/* As ls_sim_open(), with the options of the simulation that wrote the checkpoint. ls_sim_run() then goes on from there,
 * with any number of threads: options of its results (until, series) are those of the first run. */
LS_API ls_status ls_sim_resume(const ls_sim_resume_options *options, ls_sim **out, ls_error *err);

/* As ls_sim_options.plugins, for clients that need their blocks before they open a simulation. A plug-in stays in
 * the process: loading it again does nothing. */
LS_API ls_status ls_sim_load_plugins(const char *const *paths, size_t count, ls_error *err);

/* Builds the machine and opens the workload; nothing is simulated. *out is NULL on failure. */
LS_API ls_status ls_sim_open(const ls_sim_options *options, ls_sim **out, ls_error *err);
LS_API void ls_sim_close(ls_sim *sim); /* NULL is fine */

LS_API const char *ls_sim_platform(const ls_sim *sim);      /* its name */
LS_API const char *ls_sim_platform_file(const ls_sim *sim); /* the file that it comes from */
LS_API const char *ls_sim_machine(const ls_sim *sim);       /* the kind of machine: "gpu", "amd" */
LS_API const char *ls_sim_config(const ls_sim *sim);        /* the resolved platform as YAML */
LS_API const char *ls_sim_config_hash(const ls_sim *sim);   /* in hexadecimal */
/* The machine itself: its blocks, links, lookahead and warnings (lockstep/engine.h). */
LS_API ls_engine *ls_sim_engine(const ls_sim *sim);

/* The kinds of workloads. */
typedef enum ls_sim_kind {
    LS_SIM_NOTHING, /* the machine makes its own work */
    LS_SIM_TRACE,
    LS_SIM_WORKLOAD,  /* a program of workloads/, executed on an AMD GPU */
    LS_SIM_OBJECT,    /* one launch of a code object */
    LS_SIM_RECORDING, /* of an AMD program */
    LS_SIM_KINDS
} ls_sim_kind;
/* Of the name of a workload; NULL: LS_SIM_NOTHING. A name that fits no other kind is taken for a trace. */
LS_API ls_sim_kind ls_sim_kind_of(const char *workload);
LS_API const char *ls_sim_kind_name(ls_sim_kind kind); /* "a trace", "a code object" */
/* Whether an option has a meaning for a kind of workload, by its name on the command line ("ctas", "grid"). If not,
 * *called says which kinds it is for: "traces". A trace that is not there takes every option: opening it says why. */
LS_API bool ls_sim_takes(const char *workload, const char *option, const char **called);

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

    /* Metrics over time: the length of an interval, "500ns" or "1000cycles" of the cores' clock; NULL: none. When all
     * 1,024 intervals are in use, neighbours are merged and intervals are twice as long. */
    const char *series_every;
    const char *const *series; /* metrics as "type.name" or "name", with wildcards; none: a usual choice */
    size_t series_count;

    /* A page on 127.0.0.1 that shows the run: its port, "0" for any that is free; NULL: none. With a token (NULL: none;
     * "auto": a random one) the page can pause, step, continue and stop the run. */
    const char *monitor, *monitor_token;
    /* With progress_self, before the run: the page's address, with the token. May be NULL. */
    void (*monitor_ready)(void *self, const char *url);

    /* Checkpoints: the file, which is replaced each time, and when to write it: "60s" of the host, "10kernels" that have
     * ended, or "at=20us" of simulated time. NULL: none; of a resumed run: as before. No result depends on them. */
    const char *checkpoint, *checkpoint_every;
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

/* Of a run with ls_sim_options.sample: what was simulated, and what the whole would take. All other results are of the
 * simulated part. */
typedef struct ls_sim_sample {
    uint64_t kernels, simulated_kernels;
    uint64_t strata;                               /* 0: every kernel stands for itself */
    uint64_t instructions, simulated_instructions; /* of warps or wavefronts */
    uint64_t cut_kernels;                          /* simulated ones of which the rest was left out */
    uint64_t simulated_cycles;
    double cycles;    /* the estimate for all kernels, one after another */
    double low, high; /* its 95 % interval */
    double error;     /* half of the interval over the estimate */
    double goal;      /* that was asked for; 0: none */
} ls_sim_sample;
LS_API bool ls_sim_get_sample(const ls_sim *sim, ls_sim_sample *out); /* false: the run was not sampled */

/* Warnings that a reader of the numbers must know, in order. */
LS_API const ls_warning *ls_sim_warnings(const ls_sim *sim, size_t *count);

typedef struct ls_sim_kernel {
    uint64_t number; /* in the trace, or of the launch; from 1 */
    const char *name;
    uint64_t stream;
    ls_time begin, end;
    uint64_t begin_cycle, end_cycle; /* of the core clock */
    bool overlapped; /* other kernels ran at the same time; only some blocks count per kernel */
    uint32_t gpu;    /* of a system: the number of the GPU that ran it */
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

/* Metrics over time, of a run with series_every. */
typedef struct ls_sim_series {
    ls_time every;    /* the length of an interval; the last one may be cut by the end of the run */
    size_t intervals; /* the first one begins at time 0 */
    size_t columns;
} ls_sim_series;
LS_API ls_sim_series ls_sim_get_series(const ls_sim *sim); /* all zero: none */
typedef struct ls_sim_series_column {
    int32_t gpu; /* -1: of no GPU */
    const char *type, *name, *unit;
    ls_metric_kind kind; /* counter: the difference in an interval; level: the value at its end; ratio */
} ls_sim_series_column;
LS_API ls_status ls_sim_get_series_column(const ls_sim *sim, size_t column, ls_sim_series_column *out,
                                          ls_error *err);
/* NaN: there is no number, as of a ratio over zero, or no such interval or column. */
LS_API double ls_sim_series_value(const ls_sim *sim, size_t interval, size_t column);

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
/* After the run, also one that was stopped or that deadlocked: the file of ls_sim_options.timeline. Filters that match
 * nothing become warnings. */
LS_API ls_status ls_sim_write_timeline(ls_sim *sim, ls_error *err);
/* After that: how many slices it has of a kind ("kernel", "group", "warp", "stall", "request" ...). */
LS_API ls_status ls_sim_timeline_count(const ls_sim *sim, const char *kind, uint64_t *out, ls_error *err);
/* In the format of the extension, with the resolved platform beside it (path.platform.yaml) or inside. */
LS_API ls_status ls_sim_export(ls_sim *sim, const char *path, const ls_sim_export_options *options,
                               ls_error *err);
/* The summary that `lockstep run` prints: one screen. */
LS_API ls_status ls_sim_print(ls_sim *sim, FILE *to, ls_error *err);

typedef struct ls_sim_print_options {
    size_t size;
    const char *
        format; /* "text" (as if NULL), "json", "csv", "tidy"; of traces also "accelsim", its statistics, and "ncu";
                     * of AMD programs also "rocprof" */
    bool per_block;               /* as in ls_sim_export_options; text: each block, not only each type */
    bool untouched;               /* text: list the metrics that nothing counted */
    bool color;                   /* text: ANSI colours */
    const char *run_id, *command; /* as in ls_sim_export_options */
    /* text: every table and counter, not the summary. per_block and untouched imply it, as does a machine that runs no
     * kernels. */
    bool all;
} ls_sim_print_options;
#define LS_SIM_PRINT_OPTIONS .size = sizeof(ls_sim_print_options)

/* Results in any form but a database. */
LS_API ls_status ls_sim_print_as(ls_sim *sim, const ls_sim_print_options *options, FILE *to, ls_error *err);
/* Before a long run: does this form exist, and does the machine count what it shows? */
LS_API ls_status ls_sim_check_format(const ls_sim *sim, const char *format, ls_error *err);
/* After a run with `scaling`: the table of work per domain and window. */
LS_API ls_status ls_sim_print_scaling(const ls_sim *sim, FILE *to, ls_error *err);

/* ------------------------------------------------------------------------------------------------ profiles */

typedef struct ls_sim_profile_options {
    size_t size;
    const char *method; /* "cache" (as if NULL): sets and policies; "reuse": reuse distances */
    uint64_t sample;    /* warp instructions of each kernel; 0: all */
    uint32_t threads;   /* no profile depends on it */
    void (*warn)(void *self, const char *text); /* about keys without effect; may be NULL */
    void *warn_self;
} ls_sim_profile_options;
#define LS_SIM_PROFILE_OPTIONS .size = sizeof(ls_sim_profile_options)

typedef struct ls_sim_rates ls_sim_rates;

/* Hit rates of a trace on a platform, for ls_sim_options.profile, without simulating time. Of the options, those of
 * platforms and traces count. *out is NULL on failure. */
LS_API ls_status ls_sim_rates_make(const ls_sim_options *options, const ls_sim_profile_options *how,
                                   ls_sim_rates **out, ls_error *err);
LS_API void ls_sim_rates_close(ls_sim_rates *rates); /* NULL is fine */

/* Where the accesses of warps were served. An access is as deep as its last sector. */
enum {
    LS_SIM_RATE_L1,
    LS_SIM_RATE_WAIT /* for another access's sectors */,
    LS_SIM_RATE_L2,
    LS_SIM_RATE_DRAM,
    LS_SIM_RATE_LEVELS
};
typedef struct ls_sim_rate {
    uint64_t kernel; /* its number in the trace, from 1 */
    const char *name;
    uint64_t pc;                     /* of the static instruction; 0: all of the kernel */
    uint64_t accesses;               /* of warps */
    uint64_t sectors;                /* of 32 bytes, that they touched */
    uint64_t at[LS_SIM_RATE_LEVELS]; /* accesses by level */
    uint64_t l2_sectors;             /* sent to L2 */
    uint64_t dram_sectors;           /* moved by DRAM */
} ls_sim_rate;
LS_API size_t ls_sim_rates_kernel_count(const ls_sim_rates *rates);
/* Static instructions of a kernel that access memory. */
LS_API size_t ls_sim_rates_inst_count(const ls_sim_rates *rates, size_t kernel);
/* inst LS_SIM_RUN: all instructions of the kernel together. */
LS_API ls_status ls_sim_get_rate(const ls_sim_rates *rates, size_t kernel, size_t inst, ls_sim_rate *out,
                                 ls_error *err);
/* Writes them to a file, "-": to standard output; NULL: into the cache, where "auto" finds them. *written (may
 * be NULL) is the file's path, valid until the rates are closed. It is NULL if there is no home directory for
 * a cache. */
LS_API ls_status ls_sim_rates_write(ls_sim_rates *rates, const char *path, const char **written,
                                    ls_error *err);

/* All of it in one call. */
LS_API ls_status ls_sim_profile(const ls_sim_options *options, const ls_sim_profile_options *how,
                                const char *path, ls_error *err);

/* -------------------------------------------------------------------------------------------------- reports */

typedef struct ls_sim_page_options {
    size_t size;
    const char *title;                /* NULL: made of the results' names */
    const char *const *platform_dirs; /* where platforms are searched first, for the origins of keys */
    size_t platform_dir_count;
    const char *command; /* ls_sim_write_page: the command line that the report shows; NULL: none */
} ls_sim_page_options;
#define LS_SIM_PAGE_OPTIONS .size = sizeof(ls_sim_page_options)

/* Writes one HTML file about results in any format that ls_sim_export() writes: one, or several with their differences to
 * the first. A database of a sweep, without "#RUN", is shown as a sweep. options may be NULL. */
LS_API ls_status ls_sim_page(const char *const *results, size_t count, const char *path,
                             const ls_sim_page_options *options, ls_error *err);
/* The same of a simulation that has run, with its timeline if ls_sim_options.timeline asked for one. */
LS_API ls_status ls_sim_write_page(ls_sim *sim, const char *path, const ls_sim_page_options *options,
                                   ls_error *err);

/* --------------------------------------------------------------------------------------------- explanations */

typedef struct ls_sim_explain_options {
    size_t size;
    bool color;
    bool experiments; /* run the workload again with each limit taken away, and print the gains */
    uint32_t jobs;    /* experiments at a time; 0: one */
    /* With experiments: the options of the simulation that a command line stands for. The command line is the one that
     * ls_sim_export() was given. They stay until ls_sim_explain() returns. */
    ls_status (*rerun)(void *self, const char *command, ls_sim_options *out, ls_error *err);
    void *rerun_self;
} ls_sim_explain_options;
#define LS_SIM_EXPLAIN_OPTIONS .size = sizeof(ls_sim_explain_options)

/* Prints what limits a run and its costliest kernels, with the evidence, from a file of results (JSON or SQLite;
 * "FILE.db#3" is run 3 of a database). options may be NULL. */
LS_API ls_status ls_sim_explain(const char *result, const ls_sim_explain_options *options, FILE *to,
                                ls_error *err);

/* ---------------------------------------------------------------------------------------------- comparisons */

typedef struct ls_sim_diff ls_sim_diff;

typedef struct ls_sim_compare_options {
    size_t size;
    const char *metric; /* only metrics of this name: "*stall*", "l2/cycle.hits"; NULL: all */
    const char *kernel; /* kernels of this name or number ("*": each); NULL: the run as a whole */
    bool per_block;     /* each block, not only each type of block */
    double threshold;   /* differences up to this share (0 to 1) of the larger value count as none */
} ls_sim_compare_options;
#define LS_SIM_COMPARE_OPTIONS .size = sizeof(ls_sim_compare_options)

/* Two files of results in any format that ls_sim_export() writes; "FILE.db#3" is run 3 of a database. *out is NULL
 * on failure. options may be NULL. */
LS_API ls_status ls_sim_compare(const char *a, const char *b, const ls_sim_compare_options *options,
                                ls_sim_diff **out, ls_error *err);
LS_API void ls_sim_diff_close(ls_sim_diff *diff); /* NULL is fine */

typedef struct ls_sim_diff_side {
    const char *path, *platform; /* the platform is "" if the file does not say */
    bool partial;                /* its run did not come to its end */
} ls_sim_diff_side;
typedef struct ls_sim_diff_info {
    ls_sim_diff_side a, b;
    size_t compared;       /* numbers */
    size_t metrics;        /* rows of LS_SIM_DIFF_METRICS: numbers that differ */
    size_t times;          /* rows of LS_SIM_DIFF_TIMES */
    size_t keys;           /* keys of the platform that differ */
    size_t only_a, only_b; /* kernels that the other side does not have */
} ls_sim_diff_info;
LS_API ls_sim_diff_info ls_sim_diff_get(const ls_sim_diff *diff);

typedef enum ls_sim_diff_list {
    LS_SIM_DIFF_METRICS, /* metrics that differ, the largest difference first */
    LS_SIM_DIFF_TIMES    /* simulated time of the run and of each kernel, also equal ones, in order */
} ls_sim_diff_list;
/* A number that one side does not have is NaN. */
typedef struct ls_sim_diff_row {
    uint64_t kernel;         /* 0: the run */
    const char *kernel_name; /* "": the run */
    const char *block;       /* NULL: all of the type */
    const char *type, *name, *unit;
    double a, b;
    double difference; /* |a - b| / max(|a|, |b|) */
} ls_sim_diff_row;
LS_API ls_status ls_sim_get_diff(const ls_sim_diff *diff, ls_sim_diff_list list, size_t row,
                                 ls_sim_diff_row *out, ls_error *err);
/* A key of the platform, and its values as text; NULL where a side does not have it. */
typedef struct ls_sim_diff_key {
    const char *key, *a, *b;
} ls_sim_diff_key;
LS_API ls_status ls_sim_get_diff_key(const ls_sim_diff *diff, size_t row, ls_sim_diff_key *out, ls_error *err);

/* --------------------------------------------------------------------------------------------------- sweeps */

/* A grid of configurations over some workloads, each point in a process of its own, all results in one database.
 * A point is known by its workload's content, its whole configuration and the version of Lockstep. A sweep that was
 * stopped, or whose process ended, goes on where it stood. Several sweeps may share a database at the same time. */
typedef struct ls_sim_sweep ls_sim_sweep;

typedef struct ls_sim_sweep_options {
    size_t size;
    /* The options of every point. Its own workload is not used. Options that write files (record, prints, dumps),
     * `strict` and `profile` are refused. */
    const ls_sim_options *base;
    const char *const *workloads;
    size_t workload_count;
    /* "l2.ways=8,16,32", "cores=17..68*2", "core.scheduler=gto,lrr": every combination is a point. */
    const char *const *vary;
    size_t vary_count;
    const char *database;       /* "sweep.db"; made if it is not there */
    const char *command;        /* how the sweep was started; may be NULL */
    const char *const *metrics; /* columns of the table: patterns as in ls_sim_compare_options.metric */
    size_t metric_count;
    /* The program that runs a point: the `lockstep` command of this version. NULL: $LOCKSTEP_COMMAND, else the
     * command installed with the library, else the first in the search path. */
    const char *worker;
    void (*warn)(void *self, const char *text); /* about keys without effect; may be NULL */
    void *warn_self;
    /* A part of the sweep: of `shards` parts the one with the number `shard`, from 1. Points are dealt in turn. The part
     * has a database of its own ("sweep.2-of-8.db") and leaves out points that `database` has. 0: the whole sweep. */
    uint32_t shard, shards;
    /* A checkpoint of the workload on the base configuration: every point goes on from there with its own values. Keys
     * that saved state depends on are refused. NULL: points begin at the beginning. */
    const char *warm;
} ls_sim_sweep_options;
#define LS_SIM_SWEEP_OPTIONS .size = sizeof(ls_sim_sweep_options)

/* Checks every point and gives it a name; runs nothing and writes nothing. All texts and lists are borrowed until
 * ls_sim_sweep_close(). */
LS_API ls_status ls_sim_sweep_open(const ls_sim_sweep_options *options, ls_sim_sweep **out, ls_error *err);
LS_API void ls_sim_sweep_close(ls_sim_sweep *sweep); /* NULL is fine */

LS_API size_t ls_sim_sweep_key_count(const ls_sim_sweep *sweep);
LS_API const char *ls_sim_sweep_key(const ls_sim_sweep *sweep, size_t key); /* NULL: there is no such key */

typedef struct ls_sim_point {
    const char *id; /* in hexadecimal; the run_id of its run in the database */
    const char *workload;
    const char *const *values; /* of each key, in their order */
    bool done;                 /* it has a complete run in the database */
    int64_t run;               /* number of the run there: "sweep.db#3" */
    double time_ns;            /* simulated time with a kernel at work */
    double cycles;             /* likewise; 0 of a machine without kernels */
    double wall_seconds;
    const char *error; /* of its last attempt; NULL: none */
} ls_sim_point;
/* By workload, then by key, the last one changing fastest. Before the run no point is done. */
LS_API size_t ls_sim_sweep_point_count(const ls_sim_sweep *sweep);
LS_API ls_status ls_sim_get_point(const ls_sim_sweep *sweep, size_t point, ls_sim_point *out, ls_error *err);

typedef struct ls_sim_sweep_progress {
    size_t points;      /* of the grid, over all workloads */
    size_t done_before; /* found in the database */
    size_t to_run;      /* the others */
    size_t finished;    /* of to_run, also the failed ones */
    size_t failed;
    size_t by_others; /* of `finished`: run by another sweep on the same database */
    size_t running;   /* processes */
    size_t strangers; /* points of the database that are not in this grid */
} ls_sim_sweep_progress;

typedef struct ls_sim_sweep_run_options {
    size_t size;
    uint32_t jobs;    /* processes at a time; 0: one */
    uint32_t threads; /* of each; no result depends on it. 0: one */
    /* Once before the first point starts, then some times a second; may be NULL. */
    void (*progress)(void *self, const ls_sim_sweep_progress *now);
    /* When a point has ended, with its results or its error; may be NULL. */
    void (*point)(void *self, size_t index, const ls_sim_point *point);
    void *self;       /* of all callbacks */
    uint32_t retries; /* a point that fails is tried again so often */
    /* A page on loopback while the sweep runs: its port as text, "0": any that is free; NULL: none. With a token the page may
     * stop the sweep; "auto": a random one. */
    const char *monitor, *monitor_token;
    void (*monitor_ready)(void *self, const char *url); /* may be NULL */
} ls_sim_sweep_run_options;
#define LS_SIM_SWEEP_RUN_OPTIONS .size = sizeof(ls_sim_sweep_run_options)

/* Runs every point that the database does not have. A point that fails does not stop the others: it has an error, is
 * counted in `failed`, and is tried again next time. LS_ERR_INTERRUPTED after ls_sim_sweep_stop(): running processes
 * are ended, finished points stay. It may be called again. */
LS_API ls_status ls_sim_sweep_run(ls_sim_sweep *sweep, const ls_sim_sweep_run_options *options, ls_error *err);
/* For any thread and for the callbacks. */
LS_API void ls_sim_sweep_stop(ls_sim_sweep *sweep);
/* The flags behind it, for signal handlers. */
LS_API ls_run_control *ls_sim_sweep_control(ls_sim_sweep *sweep);
LS_API ls_sim_sweep_progress ls_sim_sweep_get_progress(const ls_sim_sweep *sweep);

/* Columns of the table, after the run: the metrics that the patterns name. */
LS_API size_t ls_sim_sweep_column_count(const ls_sim_sweep *sweep);
LS_API const char *ls_sim_sweep_column(const ls_sim_sweep *sweep, size_t column); /* "core/cycle.ipc" */
/* NaN: the point has no result, or its models do not have the metric. */
LS_API double ls_sim_sweep_value(const ls_sim_sweep *sweep, size_t point, size_t column);

/* After the run: the ranking of each workload, at most `top` lines of it (0: all). */
LS_API ls_status ls_sim_sweep_print(const ls_sim_sweep *sweep, size_t top, FILE *to, ls_error *err);
/* Where the results are: the database, or that of the shard; without a password. */
LS_API const char *ls_sim_sweep_database(const ls_sim_sweep *sweep);
/* The table (.csv) or a page with plots (.html), by the extension. */
LS_API ls_status ls_sim_sweep_write(const ls_sim_sweep *sweep, const char *path, ls_error *err);

#endif
