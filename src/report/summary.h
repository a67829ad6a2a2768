/* summary.h: one screen about a run: its time, its limits in words and numbers, and its costliest kernels. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "report/rules.h"

/* A kernel that has ended. */
typedef struct summary_launch {
    const char *name; /* as the workload has it: mangled */
    uint64_t number;
    int32_t gpu;
    double begin_fs, end_fs;
    size_t scope; /* the reader's */
} summary_launch;

/* Launches of one name. */
typedef struct summary_kernel {
    const char *name;
    uint64_t launches;
    double time_fs; /* of all launches */
    const summary_launch *longest;
} summary_kernel;

typedef struct summary_input {
    fact_reader reader;
    const summary_launch *launches;
    size_t launch_count;
    double busy_fs; /* with a kernel */
    double end_fs;
    bool color;
    const struct source_book *source; /* counts per instruction; NULL: none */
    const char *more;                 /* commands that show every rule; NULL: those of `lockstep run` */
} summary_input;

#define SUMMARY_KERNELS 3 /* costliest ones that are shown */
#define SUMMARY_INSTRUCTIONS 3
#define SUMMARY_SENTENCES 3 /* of rules */
#define SUMMARY_COLUMNS 98
#define SUMMARY_NO_SCOPE (SIZE_MAX - 1) /* of a launch without metrics of its own */

/* A result file as the input of a summary. All zero is nothing. */
typedef struct summary_saved {
    facts_saved reading;
    summary_launch *launches;
} summary_saved;
/* The result must have its configuration and values of single blocks: JSON or SQLite. It outlives the input. */
ls_status summary_open_saved(summary_saved *s, const saved_results *saved, summary_input *in, ls_error *err);
void summary_saved_fini(summary_saved *s);

/* The time with a launch at work: those side by side count once. gpu LS_METRICS_NONE: of all GPUs. */
double summary_busy(const summary_launch *launches, size_t count, int32_t gpu);
/* The names with the most time, the most first. Returns how many of at most `room`. */
size_t summary_costliest(const summary_launch *launches, size_t count, summary_kernel *out, size_t room);
/* Facts of the run as a whole, and of one launch. */
void summary_run_facts(const summary_input *in, fact_set *out);
void summary_launch_facts(const summary_input *in, const summary_launch *launch, fact_set *out);
/* The name as the source spells it, without parameters, at most so many columns. */
const char *summary_name(const char *name, size_t columns, char *out, size_t out_bytes);
/* Text in lines of SUMMARY_COLUMNS: the first begins at `column` already, the others are indented by it. */
void summary_wrap(const char *text, unsigned column, FILE *to);

/* Warnings about the numbers, a line each. Assumptions are the same in every run, so they are left out. */
void summary_warnings(const ls_warning *warnings, size_t count, bool color, FILE *to);
/* Numbers, stalls, sentences, kernels; of several GPUs also a line for each. Of models that count
 * under other names only cycles and kernels. */
void summary_print(const summary_input *in, FILE *to);
/* The costliest instructions; nothing without counts. */
void summary_instructions(const summary_input *in, FILE *to);
/* "Warp slots": the resource that limits occupancy. */
const char *summary_limiter(const fact_set *facts);

#endif
