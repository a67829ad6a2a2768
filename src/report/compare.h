/* compare.h: differences of two runs: configuration keys, kernels, and every metric, the largest difference
 * first. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/saved.h"

typedef struct compare_options {
    const char *metric; /* wildcards over "type.name" or "name"; NULL: all */
    const char *kernel; /* wildcards over the kernel's name, or its number; NULL: the run as a whole */
    bool per_block;     /* each block on its own instead of all of a type together */
    double threshold;   /* differences up to this (0 to 1) count as none */
} compare_options;

/* A number of one side may be missing: NaN. */
typedef struct compare_row {
    uint64_t kernel;         /* 0 for the run */
    const char *kernel_name; /* "" for the run */
    const char *block;       /* NULL: all of the type */
    const char *type, *name, *unit;
    double a, b;
    double difference; /* |a - b| / max(|a|, |b|): from 0 (equal) to 1 (or more, if the signs differ) */
} compare_row;

/* A key of the configuration; NULL where a side does not have it. */
typedef struct compare_key {
    const char *key, *a, *b;
} compare_key;

typedef struct result_diff {
    mem_arena arena;
    LS_VEC(compare_row) rows; /* differing metrics, largest difference first, then larger numbers first */
    LS_VEC(compare_row)
    times; /* simulated time of the run and of each kernel, in ns; also equal ones, in order */
    LS_VEC(compare_key) keys;
    size_t compared;       /* numbers looked at */
    size_t only_a, only_b; /* kernels that the other side does not have */
} result_diff;

/* Refuses a metric or kernel pattern that matches nothing, with the nearest name. The texts of the result
 * belong to the two runs and to it. On success it must be finished. */
ls_status compare_runs(const saved_results *a, const saved_results *b, const compare_options *options,
                       result_diff *out, ls_error *err);
void compare_fini(result_diff *compare);

double compare_difference(double a, double b);

#endif
