/* sample.h: which kernels of a workload are simulated for the rest, and what the whole would take.
 *
 * A plan gets the kernels of a workload in their order: name, launch shape and executed instructions, all known without
 * simulating. Kernels of one name and shape whose instructions are within SAMPLE_SPREAD of each other are a stratum
 * (Sieve's idea). The first launch of each name finds caches emptier than all others, so it stands for itself only.
 * Representatives are spread over the order of a stratum by a fixed sequence; nothing is random. With
 * an error as goal, more are chosen until the 95 % interval of the total is that small. */
#ifndef WORKLOAD_SAMPLE_H
#define WORKLOAD_SAMPLE_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_SPREAD 1.25 /* most instructions of a stratum over its fewest */
/* Every interval is widened by so much of the part that was not simulated: caches before a chosen kernel are not exactly
 * those of a full run. docs/scale.md has the measurement. */
#define SAMPLE_BIAS 0.005

/* The option --sample as numbers. All zero: nothing is sampled. */
typedef struct sample_spec {
    bool kernels; /* some kernels stand for others */
    bool blocks;  /* thread blocks of a kernel in a steady state stand for the rest of it */
    bool cold;    /* caches are not warmed before a chosen kernel: to measure the worth of it */
    double error; /* of the total, 0 to 1; 0: a fixed number of representatives */
    /* With an error as goal: kernels come once, in order, so that the first representatives are early ones. */
    bool in_order;
} sample_spec;

/* "sieve", "blocks", "error=2%", "cold" and lists of them. NULL is nothing. */
ls_status sample_spec_read(const char *text, sample_spec *out, ls_error *err);
static inline bool sample_is_on(const sample_spec *spec)
{
    return spec->kernels || spec->blocks;
}

/* One simulated kernel. */
typedef struct sample_measure {
    double cycles;   /* with those that stand for thread blocks left out */
    double variance; /* of the latter */
    uint64_t blocks, simulated_blocks;
    uint64_t cycles_simulated;
    double
        projected; /* cycles, if the rest went on at the mean rate until the stop: PKA's rule, for comparisons */
} sample_measure;

typedef struct sample_result {
    uint64_t kernels, simulated_kernels, strata;
    uint64_t instructions, simulated_instructions; /* executed by warps or wavefronts */
    uint64_t cut_kernels;                          /* simulated ones that ended early */
    uint64_t rounds;                               /* of choosing */
    double simulated_cycles;                       /* that passed in the machine */
    double cycles;                                 /* estimate of all kernels, one after another */
    double low, high;                              /* its 95 % interval */
    double error;                                  /* half of the interval over the estimate */
    double goal;                                   /* of the error; 0: none */
} sample_result;

typedef struct sample_plan sample_plan;

ls_status sample_plan_create(const sample_spec *spec, sample_plan **out, ls_error *err);
void sample_plan_destroy(sample_plan *plan); /* NULL is fine */
/* The next kernel. The shape is any number that is equal for launches of equal shape. */
ls_status sample_plan_add(sample_plan *plan, const char *name, uint64_t shape, uint64_t instructions,
                          ls_error *err);
/* After the last: makes strata and chooses the first representatives. */
ls_status sample_plan_begin(sample_plan *plan, ls_error *err);

size_t sample_plan_count(const sample_plan *plan);
uint64_t sample_plan_instructions(const sample_plan *plan, size_t kernel);
uint64_t sample_plan_stratum(const sample_plan *plan, size_t kernel);
/* Whether the kernel was chosen and has not been measured. */
bool sample_plan_wants(const sample_plan *plan, size_t kernel);
void sample_plan_measured(sample_plan *plan, size_t kernel, const sample_measure *measure);
/* Every chosen kernel was measured: chooses more if the goal is not reached. False: it is, or nothing is left. */
bool sample_plan_more(sample_plan *plan);
/* The same while kernels come in order and none comes again: only kernels from `next` on are chosen. */
void sample_plan_look(sample_plan *plan, size_t next);
/* For comparisons: the estimate of the same choice, if its kernels had taken these cycles; one number for each kernel. */
double sample_plan_value_with(const sample_plan *plan, const double *cycles);
/* For comparisons: what the totals of measured kernels would be off by if those that were cut had been projected. */
double sample_plan_projected(const sample_plan *plan);
/* From those that were measured; strata without any count with the mean rate of all. */
void sample_plan_estimate(const sample_plan *plan, sample_result *out);

#endif
