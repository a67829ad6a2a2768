/* scaling.h: the study of 1 to 16 GPUs on three fabrics. Its tables are curves: one workload on one fabric over the number
 * of GPUs, or over a number of the link. */
#ifndef CLI_STUDY_SCALING_H
#define CLI_STUDY_SCALING_H

#include "sim/program_job.h"

#define SCALING_POINTS_MAX 5
#define SCALING_CURVES_MAX 64

typedef enum scaling_part {
    SCALING_STRONG,  /* the same problem on more GPUs */
    SCALING_WEAK,    /* a problem that grows with the GPUs */
    SCALING_BUS,     /* bus bandwidth of collectives */
    SCALING_LATENCY, /* four GPUs over the latency of a link */
    SCALING_WIDTH,   /* four GPUs over the bandwidth of a link */
    SCALING_PARTS
} scaling_part;

typedef struct scaling_workload {
    const char *label, *name;
    bool is_collective;
    uint64_t size;      /* of SCALING_STRONG; of a collective: bytes of each GPU */
    uint64_t weak_size; /* of SCALING_WEAK: the first option, if another one grows; 0: it grows itself */
    const char *grows;  /* the option that grows */
    uint64_t grows_by;  /* its value for each GPU */
    bool is_sensitive;  /* it is a part of SCALING_LATENCY and SCALING_WIDTH */
} scaling_workload;

typedef struct scaling_curve {
    scaling_part part;
    const scaling_workload *workload;
    const char *fabric;
    size_t count;
    uint32_t x[SCALING_POINTS_MAX];
    uint64_t size[SCALING_POINTS_MAX]; /* of the workload's first option or of the one that grows */
    program_result results[SCALING_POINTS_MAX];
} scaling_curve;

typedef struct scaling_result {
    scaling_curve curves[SCALING_CURVES_MAX];
    size_t count;
} scaling_result;

typedef struct scaling_request {
    const char *const *workloads; /* names; none: all */
    size_t workload_count;
    unsigned shrink;   /* sizes are halved so many times */
    uint32_t gpus_max; /* no point with more GPUs */
    uint32_t threads;
    const char *const *platform_dirs;
    size_t platform_dir_count;
    void (*progress)(void *self, const scaling_curve *curve, uint32_t x); /* before each run; may be NULL */
    void *progress_self;
} scaling_request;

/* Refuses names of workloads that the study does not have, and makes the curves without their results. */
ls_status scaling_plan(const scaling_request *request, scaling_result *out, ls_error *err);
/* Runs every point of the plan. */
ls_status scaling_run(const scaling_request *request, scaling_result *out, ls_error *err);

/* The value of a point: times faster than one GPU, efficiency, GB/s, or microseconds. */
double scaling_value(const scaling_curve *curve, size_t point);
const char *scaling_part_title(scaling_part part);
const char *scaling_part_name(scaling_part part); /* "strong" */
const char *scaling_x_label(scaling_part part);

void scaling_render_text(const scaling_result *result, FILE *to);
void scaling_render_csv(const scaling_result *result, const char *study, FILE *to);
void scaling_render_html(const scaling_result *result, FILE *to);

#endif
