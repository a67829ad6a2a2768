/* compare.h: what two runs differ in: configuration keys, kernels, and every metric, the largest difference
 * first. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/saved.h"

typedef struct ls_compare_options {
    const char *metric; /* wildcards over "type.name" or "name"; NULL: all */
    const char *kernel; /* wildcards over the kernel's name, or its number; NULL: the run as a whole */
    bool per_block;     /* each block on its own instead of all of a type together */
    double threshold;   /* differences up to this (0 to 1) count as none */
} ls_compare_options;

/* A number of one side may be missing: NaN. */
typedef struct ls_compare_row {
    uint64_t kernel;         /* 0 for the run */
    const char *kernel_name; /* "" for the run */
    const char *block;       /* NULL: all of the type */
    const char *type, *name, *unit;
    double a, b;
    double difference; /* |a - b| / max(|a|, |b|): from 0 (equal) to 1 (or more, if the signs differ) */
} ls_compare_row;

/* A key of the configuration; NULL where a side does not have it. */
typedef struct ls_compare_key {
    const char *key, *a, *b;
} ls_compare_key;

typedef struct ls_compare {
    ls_arena arena;
    LS_VEC(ls_compare_row) rows; /* those that differ, largest first, then larger numbers first */
    LS_VEC(ls_compare_row)
    times; /* simulated time of the run and of each kernel, in ns; also equal ones, in order */
    LS_VEC(ls_compare_key) keys;
    size_t compared;       /* numbers looked at */
    size_t only_a, only_b; /* kernels that the other side does not have */
} ls_compare;

/* Refuses a metric or kernel pattern that matches nothing, with the nearest name. The texts of the result
 * belong to the two runs and to it. On success it must be finished. */
ls_status ls_compare_runs(const ls_saved *a, const ls_saved *b, const ls_compare_options *options,
                          ls_compare *out, ls_error *err);
void ls_compare_fini(ls_compare *compare);

double ls_compare_difference(double a, double b);

#endif
