/* validate.h: the comparisons of `lockstep validate` and their output: measured rows with a verdict each, in
 * sections.
 *
 * The measuring half (reference.c, simulate.c, micro.c, traces.c, determinism.c, hardware.c, amd.c, interconnect.c, mi300a.c,
 * sample.c) fills a
 * validate_report; the printing half (render.c, render_html.c) prints one. Known and understood deviations
 * stand in notes.def with their expected bound; beyond it they fail like any other. */
#ifndef CLI_VALIDATE_H
#define CLI_VALIDATE_H

#include "base/hash.h"
#include "cli/cli.h"
#include "sim/run_trace.h"
#include "platform/config.h"

/* --------------------------------------------------------------------------------------------- the report */

#define VALIDATE_COLUMNS 15

typedef enum validate_verdict {
    VALIDATE_PASS,
    VALIDATE_KNOWN, /* outside the limit, within the bound of a note */
    VALIDATE_FAIL,
    VALIDATE_SKIPPED, /* the reference lacks what it needs */
} validate_verdict;

typedef struct validate_row {
    const char *cells[VALIDATE_COLUMNS]; /* the first two: the workload and the platform */
    validate_verdict verdict;
    const char *note; /* why it deviates; NULL: nothing to say */
    /* For plots and tests; both 0 for a row without numbers. */
    double reference, ours;
    double deviation;      /* cycles per instruction in `micro`, percent elsewhere */
    uint64_t counts_apart; /* differences of counters, added up; `traces` only */
} validate_row;

typedef struct validate_section {
    const char *name, *title;
    const char *about; /* the compared quantities and the criterion: one paragraph */
    const char *columns[VALIDATE_COLUMNS];
    size_t column_count;
    LS_VEC(validate_row) rows;
    const char *summary;                /* one line */
    const char *plot_label, *plot_unit; /* of both axes; NULL: no plot */
} validate_section;

typedef struct validate_report {
    mem_arena arena;
    LS_VEC(validate_section *) sections;
    bool is_fidelity; /* of simpler models instead of the parts */
} validate_report;

void validate_report_fini(validate_report *report);
/* columns: NULL-terminated. NULL without memory. */
validate_section *validate_section_add(validate_report *report, const char *name, const char *title,
                                       const char *const *columns);
/* Adds a row of the columns what, platform, workload, measured, hardware, apart, limit (percent), source: the
 * cells that numbers fill are left to it. A measurement that failed is a row, too (err says why), except
 * without memory. */
ls_status validate_add_measured(validate_report *report, validate_section *section, validate_row *row,
                                ls_status measured, double value, double expected, double tolerance,
                                const char *unit, ls_error *err);
/* Rows of one verdict. */
size_t validate_count(const validate_section *section, validate_verdict verdict);
const char *validate_verdict_name(validate_verdict verdict);
/* The note for a row that is outside its limit, if its deviation is within the note's bound; NULL: none. */
const char *validate_note(const char *section, const char *test, const char *platform, double deviation);

/* ------------------------------------------------------------------------------------------ the reference */

#define VALIDATE_VARIABLE "LOCKSTEP_REFERENCE"
/* Beside this directory, from where the program is started, traces and configurations are looked for if no other
 * directory was given. */
#define VALIDATE_TRACES_BESIDE "../shared/reference"

typedef struct validate_reference {
    mem_arena *arena;
    const char *dir;              /* the tables */
    const char *traces, *configs; /* dir/../traces, dir/../formats/accelsim-configs; NULL: not there */
    const char *const *platform_dirs;
    size_t platform_dir_count;
    uint32_t threads; /* of each simulation */
    /* Of the part mi300a. */
    const char *const *points; /* more files of measured points */
    size_t point_file_count;
    const char *const *benchmarks; /* only these; none: all */
    size_t benchmark_count;
    double max_ms;  /* only points that took at most so long; 0: all */
    uint64_t limit; /* million instructions above which a point is sampled */
    uint32_t jobs;  /* points at a time, each in a process of its own */
    FILE *progress; /* a line for each point that is done; NULL: none */
} validate_reference;

/* dir NULL: the variable, else the tables that are shipped, with the traces of VALIDATE_TRACES_BESIDE if they
 * are there. LS_ERR_USAGE with a hint if there is none. */
ls_status validate_reference_open(validate_reference *ref, mem_arena *arena, const char *dir, ls_error *err);
/* The platform that one of Accel-Sim's configurations becomes, made now or as it is shipped; *out has text NULL if there
 * is neither. */
ls_status validate_import(const validate_reference *ref, const char *name, config_request *out, ls_error *err);

/* A section that needs traces and has none: its summary mentions it. */
ls_status validate_skip_traces(validate_report *report, validate_section *section, ls_error *err);

/* The directories of ref->traces that have a kernelslist.g, by name. */
ls_status validate_list_traces(const validate_reference *ref, const char ***names, size_t *count,
                               ls_error *err);

/* A CSV file in memory: no quoted commas in the columns that are read. */
typedef struct validate_csv {
    size_t rows, columns;
    const char **cells; /* (rows + 1) * columns, the first row is the header */
} validate_csv;
ls_status validate_csv_read(const validate_reference *ref, const char *name, validate_csv *out, ls_error *err);
/* Fails with the file's name if it has no such column. */
ls_status validate_csv_column(const validate_csv *csv, const char *name, size_t *out, ls_error *err);
const char *validate_csv_at(const validate_csv *csv, size_t row,
                            size_t column);                                   /* row from 0, without header */
double validate_csv_real(const validate_csv *csv, size_t row, size_t column); /* NAN if it is not a number */

/* ------------------------------------------------------------------------------------------- a simulation */

typedef struct validate_job {
    config_request platform;
    const char *trace;   /* path or synth:... */
    const char *kernels; /* selection; NULL: all */
    uint32_t threads;
    ls_assignment assignment;
    bool hash;           /* of all results */
    ls_scaling *scaling; /* out: the gain of more threads; NULL: not needed */
} validate_job;

typedef struct validate_kernel {
    const char *name;
    uint64_t number; /* in the list, from 1 */
    uint64_t cycles, thread_insts;
} validate_kernel;

typedef struct validate_result {
    run_trace_numbers total;
    validate_kernel *kernels;
    size_t kernel_count;
    double seconds;        /* simulated, within kernels */
    double host_seconds;   /* of the simulation itself, without building the machine */
    uint64_t global_bytes; /* sectors that a generated trace loads and stores, as bytes; 0 for others */
    /* The way to the cores is part of a launch: the cycles that it adds when the launch latency is shorter. */
    uint64_t dispatch_extra_cycles;
    uint64_t launch_cycles; /* of all kernels: their launch latencies, in which nothing is simulated */
    hash128 hash;
} validate_result;

/* Its results live in the arena. */
ls_status validate_simulate(mem_arena *arena, const validate_job *job, validate_result *out, ls_error *err);

/* ------------------------------------------------------------------------------------------- the sections */

ls_status validate_micro(const validate_reference *ref, validate_report *report, ls_error *err);
ls_status validate_traces(const validate_reference *ref, validate_report *report, ls_error *err);
ls_status validate_determinism(const validate_reference *ref, validate_report *report, ls_error *err);
ls_status validate_hardware(const validate_reference *ref, validate_report *report, ls_error *err);
ls_status validate_amd(const validate_reference *ref, validate_report *report, ls_error *err);
ls_status validate_interconnect(const validate_reference *ref, validate_report *report, ls_error *err);
/* Latencies and bandwidths of CDNA's GPUs (cdna.def). */
ls_status validate_cdna(const validate_reference *ref, validate_report *report, ls_error *err);
/* Kernels that were measured on an MI300A, point by point. */
ls_status validate_mi300a(const validate_reference *ref, validate_report *report, ls_error *err);
/* One preset of cli/fidelity.h, or all of them (only < 0). Needs no reference: ref->traces may be NULL. */
ls_status validate_fidelity(const validate_reference *ref, validate_report *report, int only, ls_error *err);

/* Sampled simulation: traces, applications, large kernels, AMD programs (0 to 3), or all of them (only < 0). */
ls_status validate_sample(const validate_reference *ref, validate_report *report, int only, ls_error *err);

/* ------------------------------------------------------------------------------------------------ telling */

void validate_render_text(const validate_report *report, const cli_style *style, FILE *to);
void validate_render_markdown(const validate_report *report, FILE *to);
void validate_render_csv(const validate_report *report, FILE *to);
void validate_render_html(const validate_report *report, FILE *to);

#endif
