/* run_trace.h: the part of a simulation that is about traces: opening them, running them kernel by kernel, and the
 * table of kernels. */
#ifndef SIM_RUN_TRACE_H
#define SIM_RUN_TRACE_H

#include "base/spans.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/gpu/roofline.h"
#include "report/groups.h"
#include "runtime/replay.h"
#include "sim/checkpoint.h"
#include "sim/run_occupancy.h"

/* All zero is nothing. */
typedef struct run_trace {
    sass_trace *trace;
    bool is_borrowed; /* the trace is the caller's */
    kernel_selection selection;
    trace_replay *replay;
    metric_store *metrics;
    trace_profile profile; /* of machines whose memory is a formula, if there was one to read */
    const char *rates;     /* where hit rates come from; NULL: none are needed */
    char rates_text[160];
    const ls_clock *clock; /* of the cores */
    ls_engine *engine;
    const gpu_instance *gpu;
    LS_VEC(size_t) intervals; /* of the metrics: that of each kernel */
    kernel_groups groups;
    kernel_groups
        *shared_groups; /* of a run of several GPUs: their kernels count as overlapped; NULL: the own ones */
    span_list busy;     /* cycles of that clock with a kernel */
    uint64_t began_ns;  /* host time */
    LS_VEC(uint64_t) done_ns;   /* after that, by the order of replay_kernel_at() */
    gpu_roofline roofline;      /* a source of the metrics: it stays where it is as long as they are read */
    run_occupancy occupancy;    /* likewise */
    struct source_book *source; /* counts per instruction; NULL: not asked for */
    /* After each kernel; set before the run. NULL: nobody wants to know. */
    void (*kernel_ended)(void *self);
    void *kernel_ended_self;
} run_trace;

typedef struct run_trace_options {
    const char *path;
    const char *kernels;         /* as in select.h; NULL: all */
    const source_position *from; /* the first command; NULL: the beginning. Of another trace: refused */
    uint64_t cta_limit;          /* 0: all */
    bool warm_l2, unknown_opcodes_as_alu, allow_unmodelled;
    uint32_t gpu;        /* of the engine, among those that run traces */
    const char *profile; /* hit rates, for core.memory analytic; "auto": of the cache; NULL: of a sample */
    /* Of a run of several GPUs: this one's trace and program, and the groups of all. They outlive the run. */
    sass_trace *trace;
    const device_program *program;
    kernel_groups *groups;
    struct source_book *source;    /* instructions are counted for it; NULL: they are not */
    struct session_sample *sample; /* gets a plan, by which some kernels run for all; NULL: all run */
} run_trace_options;

/* Numbers of a kernel or a whole run that `lockstep run` and `lockstep validate` show. */
typedef struct run_trace_numbers {
    uint64_t cycles, warp_insts, thread_insts;
    uint64_t l1_accesses, l1_misses, l1_pending, l1_fails, l2_accesses, l2_misses, l2_pending, l2_fails;
    uint64_t dram_reads, dram_writes, async_misses;
    bool overlapped; /* other kernels ran at the same time: L2 and DRAM are counted for all of them */
} run_trace_numbers;

/* Opens a trace and connects it to the machine. run_trace_close() is due in every case. */
ls_status run_trace_begin(run_trace *t, const run_trace_options *options, ls_engine *engine,
                          metric_store *metrics, ls_error *err);
void run_trace_close(run_trace *t);
ls_status run_trace_run(run_trace *t, const ls_run_options *options, ls_run_result *result, ls_error *err);

/* After a run of several GPUs: the part of this one. */
ls_status run_trace_end(run_trace *t, const ls_run_result *result, ls_error *err);

/* --- run_trace_save.c --- */

/* In a pause of the engine: adds a section. */
ls_status run_trace_save(run_trace *t, const char *section, checkpoint_writer *writer, ls_error *err);
/* Before the run and before the machine is loaded; replay_resumed() is due after that. */
ls_status run_trace_resume(run_trace *t, const char *section, checkpoint_reader *reader, uint32_t threads,
                           ls_error *err);

/* --- run_trace.c --- */

/* Of a kernel, by its place in the order of ends, or of all with LS_METRICS_RUN. */
run_trace_numbers run_trace_count(const run_trace *t, size_t kernel);
/* The interval of a kernel. If it is the last of kernels that ran side by side, *shared (may be NULL) is the
 * interval with their shared values, else LS_METRICS_RUN. */
size_t run_trace_scope(const run_trace *t, size_t kernel, size_t *shared);
/* Of an interval of the metrics, without cycles. */
run_trace_numbers run_trace_count_scope(const run_trace *t, size_t scope);
/* As Accel-Sim counts, which sees an asynchronous copy with an L1 miss twice. */
uint64_t run_trace_accelsim_warp_insts(const run_trace_numbers *n);
uint64_t run_trace_accelsim_thread_insts(const run_trace_numbers *n);

/* One line per kernel, and the totals; then the same for the roofline. */
void run_trace_table(const run_trace *t, FILE *to);
/* Instructions whose opcode no table has: results with some of them are marked. */
uint64_t run_trace_unknown(const run_trace *t);
/* Warns of instructions that ran without their effects. */
void run_trace_warn(const run_trace *t, ls_engine *engine);
/* A counter of blocks of a type, summed, of an interval of the metrics or of all. */
uint64_t run_trace_counter(const run_trace *t, size_t scope, const char *type, const char *name);

#endif
