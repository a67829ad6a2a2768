/* run_kind.h: the kinds of workloads that a simulation takes, and which options belong to which. */
#ifndef SIM_RUN_KIND_H
#define SIM_RUN_KIND_H

#include "lockstep/status.h"

#include <stdbool.h>

typedef enum run_kind {
    RUN_NOTHING, /* the machine makes its own work */
    RUN_TRACE,
    RUN_WORKLOAD,  /* a program of workloads/, executed on an AMD GPU */
    RUN_OBJECT,    /* one launch of a code object */
    RUN_RECORDING, /* of an AMD program */
    RUN_KINDS
} run_kind;

/* Of the name of a workload; NULL: RUN_NOTHING. Anything that is nothing else is a trace. */
run_kind run_kind_of(const char *name);
/* "a trace", "a workload that is executed". */
const char *run_kind_name(run_kind kind);

/* Options that are for some kinds only, by their names on the command line, and how an error calls these kinds. */
typedef struct run_kind_option {
    const char *name;
    unsigned kinds; /* bits by run_kind */
    const char *called;
} run_kind_option;
#define RUN_KIND_OPTIONS 30
extern const run_kind_option run_kind_options[RUN_KIND_OPTIONS];
/* Whether option i says nothing about this kind of workload. */
bool run_kind_refuses(run_kind kind, size_t i);
/* A missing file has no kind: the error of opening it is better than a refused option. */
bool run_kind_is_missing(run_kind kind, const char *name);

#endif
