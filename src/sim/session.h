/* session.h: the simulation behind lockstep/sim.h, shared by the files that implement it. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "lockstep/sim.h"
#include "platform/machine.h"
#include "sim/run_devices.h"
#include "sim/run_output.h"
#include "sim/run_program.h"
#include "sim/run_trace.h"
#include "sim/session_sample.h"

/* One type and metric of the registry. */
typedef struct session_metric {
    size_t type, metric;
    size_t whole; /* a part of a stall stack: the metric that counts all slots or cycles */
} session_metric;

/* A kernel that has ended, and the interval of the metrics that is its own. */
typedef struct session_kernel {
    ls_sim_kernel k;
    size_t scope;
} session_kernel;

typedef struct session_stream {
    ls_sim_stream s;
    span_list busy;
} session_stream;

struct ls_sim {
    mem_arena arena;
    const char *workload;
    uint64_t seed;
    run_kind kind;
    platform_config *config; /* of a machine without a driver */
    ls_machine *machine;     /* likewise */
    ls_engine *engine;
    metric_store *metrics;
    bool has_trace, has_program, has_devices;
    run_trace trace;
    run_devices devices;       /* a trace for each of several GPUs */
    run_program program;       /* its system owns config and machine then */
    struct timeline *timeline; /* NULL: none */

    ls_run_control control;
    atomic_int is_stopped; /* by ls_sim_stop(), not by a signal */
    bool has_run;
    uint32_t threads;
    ls_run_result result;
    double wall_seconds;
    rank_counts *ranks; /* of a run that was divided over ranks; NULL: of one process */
    uint32_t rank_count;
    char limit_reason[80];
    char config_hash[LS_HASH_TEXT_BYTES];
    char run_id[48]; /* of exports that have no other */

    LS_VEC(session_kernel) kernels;
    LS_VEC(session_stream) streams;
    LS_VEC(session_metric) list;           /* of all metrics */
    LS_VEC(session_metric) stalls;         /* those of stall stacks */
    series *series;                        /* NULL: none was asked for */
    struct source_book *source;            /* counts per instruction; likewise */
    struct session_monitor *monitor;       /* NULL: none */
    ls_sim_options options;                /* as they were given; texts are the caller's */
    struct session_checkpoint *checkpoint; /* NULL: none are taken */
    size_t warm_sets;                      /* the last of options.sets, which count from there on */
    struct checkpoint_reader *resume;      /* the run goes on from there; NULL: it begins */
    mem_arena resume_arena;                /* the options of that checkpoint */
    session_sample sample;
    metric_view *view;
    size_t view_scope;
    bool view_loaded;
};

/* --- session.c --- */

const platform_config *session_config(const ls_sim *sim);
/* Of the cores; of a system: of the first GPU with commands. NULL: the machine runs no kernels. */
const ls_clock *session_clock(const ls_sim *sim);

/* Copies a caller's struct, whose first member is its size. An older one is shorter: the rest is zero. */
ls_status session_take(void *to, size_t bytes, const void *from, const char *what, ls_error *err);
/* Whether an option was given, by its name on the command line. */
bool session_has_option(const ls_sim_options *options, const char *name);
/* Refuses options that say nothing about this kind of workload. */
ls_status session_check_kind(const ls_sim_options *options, run_kind kind, ls_error *err);
/* The options of the platform: keys of the fidelity first, so that the caller's own change them. */
ls_status session_request(mem_arena *arena, const ls_sim_options *options, config_request *out, ls_error *err);

/* ls_sim_open(), but the run begins at a position (NULL: at the beginning), on a machine that is new: caches and TLBs
 * are empty. Kernels keep their numbers. A position of another source is refused. */
ls_status session_open_at(const ls_sim_options *options, const source_position *from, ls_sim **out,
                          ls_error *err);

/* --- session_timeline.c --- */

/* The timeline that the options ask for; after the machine is built, before it has work. */
ls_status session_timeline_open(ls_sim *sim, const ls_sim_options *options, ls_error *err);

/* --- session_position.c --- */

/* After the run: the position before a kernel, by its place in ls_sim_get_kernel(). */
ls_status session_position(ls_sim *sim, size_t kernel, source_position *out, ls_error *err);
/* Of a device list or a collective: after all commands of its devices that had ended by a time of the run. */
ls_status session_position_at(ls_sim *sim, ls_time time, source_position *out, ls_error *err);

/* --- session_ranks.c --- */

/* After a run: the work and traffic of all ranks, if there are several. */
ls_status session_ranks_report(ls_sim *sim, ls_error *err);

/* --- session_write.c --- */

/* Everything that the run measured, for exports. run_id and command may be NULL. */
run_results session_results(ls_sim *sim, const char *run_id, const char *command);

/* --- session_series.c --- */

/* Of a run's options: nothing if they want no series. */
ls_status session_series_begin(ls_sim *sim, const ls_sim_run_options *options, ls_error *err);

/* --- session_monitor.c --- */

/* Starts the live page, if the options want one. They live as long as the run. */
ls_status session_monitor_begin(ls_sim *sim, const ls_sim_run_options *options, ls_error *err);
/* The list of samplers with those of the page. */
ls_run_sampler *session_monitor_samplers(ls_sim *sim, ls_run_sampler *others);
/* For ls_run_options.progress, with the simulation as self; calls the caller's own. */
void session_monitor_progress(void *self, const ls_run_progress *now);
void session_monitor_end(ls_sim *sim, const char *state);
void session_monitor_close(ls_sim *sim);

/* --- session_summary.c --- */

/* One screen (report/summary.h). False, and nothing is printed: the machine runs no kernels. */
bool session_summary(ls_sim *sim, bool color, FILE *to);

/* --- session_results.c --- */

/* After the run: lists kernels, streams, metrics and stall stacks. */
ls_status session_gather(ls_sim *sim, ls_error *err);
void session_results_fini(ls_sim *sim);

#endif
