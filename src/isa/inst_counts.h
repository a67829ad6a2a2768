/* inst_counts.h: counts of static instructions of one launch, on request (lockstep run --source). Cores and compute units
 * ("units" here) count, the workload owns the memory. Each unit has rows of its own, which only its domain writes. They
 * are added up in the order of units when the launch has ended. */
#ifndef ISA_INST_COUNTS_H
#define ISA_INST_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INST_STALLS 14 /* reasons: stall_reason of cores, cu_why of compute units */

/* One static instruction. */
typedef struct inst_count {
    uint64_t executed; /* by warps or waves */
    uint64_t lanes;    /* active ones; of a scalar instruction none */
    uint64_t bytes;    /* that active lanes asked for, outside of shared memory and LDS */
    uint64_t requests; /* sectors (cores) or lines (compute units) of these */
    uint64_t hits;     /* of the requests: found in L1; counted by cores only */
    uint64_t
        conflicts; /* cycles that banks of shared memory or LDS needed beyond one access without conflicts */
    uint64_t stalls[INST_STALLS]; /* by reason; docs/metrics.md says to which instruction a stall belongs */
} inst_count;
#define INST_COUNT_WORDS (sizeof(inst_count) / sizeof(uint64_t))

/* A trace makes its instructions known while it is read, so rows come in chunks. A chunk is there before a unit gets
 * work that names one of its rows. */
#define INST_CHUNK 1024u
typedef struct inst_counts {
    uint32_t units, chunk_count, chunk_max;
    inst_count **chunks; /* [chunk_max]; INST_CHUNK rows of each unit */
} inst_counts;

/* NULL: the host has no memory left. rows_max: of all that ever come. */
inst_counts *inst_counts_create(uint32_t units, uint32_t rows_max);
bool inst_counts_grow(inst_counts *counts, uint32_t rows); /* false: no memory left */
void inst_counts_destroy(inst_counts *counts);             /* NULL is fine */

static inline inst_count *inst_counts_at(const inst_counts *counts, uint32_t unit, uint32_t row)
{
    return &counts->chunks[row / INST_CHUNK][(size_t)unit * INST_CHUNK + row % INST_CHUNK];
}
static inline void inst_count_add(inst_count *to, const inst_count *from)
{
    uint64_t *sum = &to->executed;
    const uint64_t *more = &from->executed;
    for (size_t i = 0; i < INST_COUNT_WORDS; i++)
        sum[i] += more[i];
}
/* Of all units; zero for a row that has no chunk. */
inst_count inst_counts_sum(const inst_counts *counts, uint32_t row);

/* An instruction with its counts, for the reports. Texts are borrowed; file NULL: no source line is known. */
typedef struct inst_counted {
    uint64_t pc;
    const char *text, *file;
    uint32_t line;
    inst_count n;
} inst_counted;

#endif
