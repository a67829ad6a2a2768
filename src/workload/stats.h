/* stats.h: the contents of a trace: instructions by class, memory accesses by space, unknown opcodes, and
 * opcodes with effects that no model has. */
#ifndef WORKLOAD_STATS_H
#define WORKLOAD_STATS_H

#include "workload/trace.h"

typedef struct access_stats {
    uint64_t insts; /* warp instructions that access this space with at least one lane */
    uint64_t lanes; /* accesses of single lanes */
    uint64_t bytes; /* requested by all lanes */
} access_stats;

/* Opcodes to name to the user. */
typedef struct opcode_tally {
    char *opcode; /* with modifiers, if it is unknown; else its first word */
    uint64_t pc;  /* where it was seen first */
    uint64_t count;
} opcode_tally;

typedef struct opcode_list {
    opcode_tally *at; /* in the order seen */
    size_t count, capacity;
} opcode_list;

void opcode_list_fini(opcode_list *list);
/* false when the host has no memory left. */
bool opcode_list_add(opcode_list *list, const char *opcode, size_t bytes, uint64_t pc, uint64_t count);
uint64_t opcode_list_sum(const opcode_list *list);
/* "UTMALDG 2,048, SYNCS 96"; cut where the room ends. */
const char *opcode_list_text(const opcode_list *list, char *out, size_t bytes);

/* All zero is valid and empty. */
typedef struct trace_stats {
    uint64_t kernels, blocks, warps; /* warps: that execute something */
    uint64_t static_insts;
    uint64_t warp_insts, thread_insts;
    uint64_t idle_insts; /* warp instructions without an active lane */
    uint64_t classes[LS_CLASS_COUNT];
    access_stats spaces[LS_SPACE_COUNT];      /* generic accesses count where their first lane goes */
    opcode_list unknown, unmodelled, ignored; /* LS_INST_UNKNOWN, _UNMODELLED, _IGNORED */
} trace_stats;

void trace_stats_fini(trace_stats *stats);
/* Counts one block that was read from the kernel. */
void trace_stats_add(trace_stats *stats, const trace_kernel *kernel, const ls_cta *cta);
/* Counts static instructions and unknown opcodes, which are complete only after the whole kernel was read.
 * `counts` are the executions of each static instruction, or NULL. */
bool trace_stats_end(trace_stats *stats, const trace_kernel *kernel, const uint64_t *counts);
/* Adds one kernel's to a total. false when the host has no memory left. */
bool trace_stats_merge(trace_stats *total, const trace_stats *kernel);

/* Reads a kernel to its end (or its limit) and counts everything. */
ls_status trace_stats_read(trace_stats *stats, trace_kernel *kernel, ls_cta *cta, ls_error *err);

#endif
