/* study.h: experiments that one command repeats (`lockstep study`): workloads x configurations, and the
 * printed result. The experiments are rows of studies.def. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "cli/cli.h"
#include "cli/study/scaling.h"
#include "sim/program_job.h"

#define STUDY_CONFIGS_MAX 6
#define STUDY_SETS_MAX 8
#define STUDY_CLAIMS_MAX 12

typedef struct study_config {
    const char *label, *platform, *gpu;
    const char *sets; /* "key=value ..." */
    wl_devices devices;
    const char *spread; /* WL_UNIFIED, as in ls_gpu_options */
} study_config;

/* Problem sizes: large enough to fill the GPU, or with more data than L2; for four GPUs, and larger ones. */
typedef enum study_sizes {
    STUDY_USUAL,
    STUDY_LARGE,
    STUDY_FOUR,
    STUDY_FOUR_LARGE,
    STUDY_SIZES,
    STUDY_SCALING = STUDY_SIZES /* the tables of scaling.c, without configurations */
} study_sizes;

typedef enum study_metric {
    STUDY_SPEED,  /* how many times faster one configuration is than another */
    STUDY_TRAFFIC /* its bytes between GPUs as a share of those of the other */
} study_metric;

/* A sentence of the literature as a range of a ratio of two configurations. The range is ours. */
typedef struct study_claim {
    const char *text;
    const char *workloads; /* labels; NULL: the geometric mean of all */
    study_metric metric;
    size_t config, versus;
    double low, high;
    size_t needed; /* workloads inside of the range; 0: all of them */
} study_claim;

typedef struct study {
    const char *name, *title, *about, *discussion;
    study_sizes sizes;
    study_config configs[STUDY_CONFIGS_MAX];
    size_t config_count;
    study_claim claims[STUDY_CLAIMS_MAX];
    size_t claim_count;
} study;

typedef struct study_workload {
    const char *label, *name;
    uint64_t sizes[STUDY_SIZES]; /* 0: no part of studies with these */
} study_workload;

/* One workload under all configurations. */
typedef struct study_row {
    const study_workload *workload;
    uint64_t size;
    program_result results[STUDY_CONFIGS_MAX];
} study_row;

typedef struct study_result {
    const study *study;
    const study_row *rows;
    size_t row_count;
    const scaling_result *scaling; /* of STUDY_SCALING; else NULL */
} study_result;

size_t study_count(void);
const study *study_at(size_t index);
/* LS_ERR_USAGE with the nearest name if there is none. */
ls_status study_find(const char *name, const study **out, ls_error *err);
size_t study_workload_count(void);
const study_workload *study_workload_at(size_t index);

/* How many times faster than under the first configuration. */
double study_speedup(const study_row *row, size_t config);
/* Its geometric mean over all rows. */
double study_mean(const study_result *result, size_t config);
/* A claim's ratio for one row; NAN without traffic to compare with. */
double study_claim_value(const study_row *row, const study_claim *claim);
typedef enum study_verdict { STUDY_AGREES, STUDY_PARTLY, STUDY_DIFFERS, STUDY_UNKNOWN } study_verdict;
const char *study_verdict_name(study_verdict verdict);
/* Whether the claim holds here, with the numbers as a text. */
study_verdict study_judge(const study_result *result, const study_claim *claim, char *out, size_t bytes);
/* The first configuration with bytes between GPUs; config_count if there is none. */
size_t study_traffic_base(const study_result *result);
/* Bytes between GPUs as a share of those of that configuration. */
double study_traffic(const study_row *row, size_t config, size_t base);
/* Reads of a level that hit; NAN if there were none. */
double study_hit_rate(const program_result *result, program_level level);

void study_render_text(const study_result *result, FILE *to);
void study_render_csv(const study_result *result, FILE *to);
void study_render_html(const study_result *const *results, size_t count, FILE *to);

#endif
