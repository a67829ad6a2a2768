/* stats.h: what a trace consists of: instructions by class, memory accesses by space, unknown opcodes, and
 * opcodes with effects that no model has. */
#ifndef WORKLOAD_STATS_H
#define WORKLOAD_STATS_H

#include "workload/trace.h"

typedef struct ls_access_stats {
    uint64_t insts; /* warp instructions that access this space with at least one lane */
    uint64_t lanes; /* accesses of single lanes */
    uint64_t bytes; /* requested by all lanes */
} ls_access_stats;

/* Opcodes to name to the user. */
typedef struct ls_opcode_count {
    char *opcode; /* with modifiers, if it is unknown; else its first word */
    uint64_t pc;  /* where it was met first */
    uint64_t count;
} ls_opcode_count;

typedef struct ls_opcode_list {
    ls_opcode_count *at; /* in the order met */
    size_t count, capacity;
} ls_opcode_list;

void ls_opcode_list_fini(ls_opcode_list *list);
/* false when the host has no memory left. */
bool ls_opcode_list_add(ls_opcode_list *list, const char *opcode, size_t bytes, uint64_t pc, uint64_t count);
uint64_t ls_opcode_list_sum(const ls_opcode_list *list);
/* "UTMALDG 2,048, SYNCS 96"; cut where the room ends. */
const char *ls_opcode_list_text(const ls_opcode_list *list, char *out, size_t bytes);

/* All zero is valid and empty. */
typedef struct ls_trace_stats {
    uint64_t kernels, blocks, warps; /* warps: that execute something */
    uint64_t static_insts;
    uint64_t warp_insts, thread_insts;
    uint64_t idle_insts; /* warp instructions without an active lane */
    uint64_t classes[LS_CLASS_COUNT];
    ls_access_stats spaces[LS_SPACE_COUNT];      /* generic accesses count where their first lane goes */
    ls_opcode_list unknown, unmodelled, ignored; /* LS_INST_UNKNOWN, _UNMODELLED, _IGNORED */
} ls_trace_stats;

void ls_trace_stats_fini(ls_trace_stats *stats);
/* Counts one block that was read from the kernel. */
void ls_trace_stats_add(ls_trace_stats *stats, const ls_kernel *kernel, const ls_cta *cta);
/* Counts what only the whole kernel tells, once it is read: static instructions and unknown opcodes.
 * `counts` are the executions of each static instruction, or NULL. */
bool ls_trace_stats_end(ls_trace_stats *stats, const ls_kernel *kernel, const uint64_t *counts);
/* Adds one kernel's to a total. false when the host has no memory left. */
bool ls_trace_stats_merge(ls_trace_stats *total, const ls_trace_stats *kernel);

/* Reads a kernel to its end (or its limit) and counts everything. */
ls_status ls_trace_stats_read(ls_trace_stats *stats, ls_kernel *kernel, ls_cta *cta, ls_error *err);

#endif
