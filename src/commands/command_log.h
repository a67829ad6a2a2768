/* command_log.h: the commands of a program in simulated time: a record of each, the counters of each launch, and the
 * tables about them that `lockstep run` and the OpenCL driver both print. */
#ifndef COMMANDS_COMMAND_LOG_H
#define COMMANDS_COMMAND_LOG_H

#include "base/arena.h"
#include "base/spans.h"
#include "base/vec.h"
#include "commands/launch_facts.h"
#include "report/export.h"
#include "report/groups.h"
#include "report/summary.h"
#include "runtime/timing/timing.h"

/* All zero is nothing. */
typedef struct command_log {
    ls_gpu_system *system;
    mem_arena *arena;              /* of names */
    const ls_clock *clock;         /* of the compute units of the first GPU */
    metric_store *metrics;         /* NULL: counters are not kept */
    launch_facts *facts;           /* in place of intervals of the metrics, if it is not NULL */
    LS_VEC(timing_record) records; /* of all commands, in the order of their ends */
    /* Of the metrics, or scope of the facts: that of each launch, or SUMMARY_NO_SCOPE. */
    LS_VEC(size_t) intervals;
    kernel_groups groups;             /* of these intervals */
    LS_VEC(ls_port) units;            /* compute units, which count per kernel; found with the first launch */
    span_list busy;                   /* cycles of the clock with a kernel */
    struct source_book *source;       /* gets the counts per instruction; NULL: they are not counted */
    void (*after)(void);              /* called after each command; NULL: nothing */
    void (*kernel_ended)(void *self); /* after each launch, not while a checkpoint is resumed; likewise */
    void *kernel_ended_self;
} command_log;

/* Before the first command. Each command that is over joins the log from now on. */
void command_log_begin(command_log *log, ls_gpu_system *system, mem_arena *arena);
void command_log_fini(command_log *log);
/* At the end of the program: a kernel without an end counts up to the end of time. */
ls_status command_log_end(command_log *log, ls_time end, ls_error *err);

/* command_source.c: adds the counts of a launch, with the text of its instructions and their source lines. */
ls_status command_source_add(struct source_book *book, const timing_record *record, ls_error *err);

/* A bit for each GPU with launches; without launches the first GPU. */
uint64_t command_log_gpus(const command_log *log);
/* Launches in the order of their ends; *out is from malloc. Names are those of the log. */
ls_status command_log_launches(const command_log *log, summary_launch **out, size_t *count, ls_error *err);
/* Lines with the time of kernels, of copies, and of all commands. */
void command_log_print_times(const command_log *log, FILE *to);
/* The CSV of rocprof (report/names.h). Every launch needs an interval. */
ls_status command_log_print_rocprof(const command_log *log, const run_results *results, FILE *to,
                                    ls_error *err);

#endif
