/* study.h: experiments that one command repeats (`lockstep study`): workloads x configurations, and the
 * printed result. The experiments are rows of studies.def. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "cli/cli.h"
#include "sim/program_job.h"

#define STUDY_CONFIGS_MAX 4
#define STUDY_SETS_MAX 8

typedef struct study_config {
    const char *label, *platform, *gpu;
    const char *sets; /* "key=value ..." */
} study_config;

/* Problem sizes: large enough to fill the GPU, or with more data than L2. */
typedef enum study_sizes { STUDY_USUAL, STUDY_LARGE, STUDY_SIZES } study_sizes;

typedef struct study {
    const char *name, *title, *about, *discussion;
    study_sizes sizes;
    study_config configs[STUDY_CONFIGS_MAX];
    size_t config_count;
} study;

typedef struct study_workload {
    const char *label, *name;
    uint64_t sizes[STUDY_SIZES];
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
/* Reads of a level that hit; NAN if there were none. */
double study_hit_rate(const program_result *result, program_level level);

void study_render_text(const study_result *result, FILE *to);
void study_render_csv(const study_result *result, FILE *to);
void study_render_html(const study_result *const *results, size_t count, FILE *to);

#endif
