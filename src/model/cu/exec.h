/* exec.h: the state behind lockstep/cu_exec.h, shared by exec.c and exec_lines.c. */
#ifndef MODEL_CU_EXEC_H
#define MODEL_CU_EXEC_H

#include "base/list.h"
#include "lockstep/cu_exec.h"
#include "model/cu/wave_rules.h"

#define EXEC_WAVES_MAX UINT16_MAX
#define EXEC_VGPRS ((size_t)AMD_VGPR_ROWS_GFX9 * 64)
#define EXEC_LDS_BYTES ((size_t)AMD_LDS_MAX + 64)
#define EXEC_LINES (64u * AMD_PIECES_MAX * 2) /* messages of one access, at most */

/* A message: a line and the lanes that have bytes in it. */
typedef struct exec_line {
    uint64_t address, lanes;
    uint32_t words; /* atomics: dwords of the line that are taken */
    uint8_t half;   /* compare-and-swap */
} exec_line;

/* A memory instruction in flight. */
typedef struct exec_access {
    uint32_t next; /* the next free one, or the wave's next that returns in order with this one */
    uint16_t wave; /* in ls_cu_exec.waves */
    uint16_t line_count, back;
    bool complete, invalidate, scalar;
    const cu_inst *inst;
    uint64_t exec; /* and M0, as they were when it was issued */
    uint32_t m0;
    amd_access access;
    exec_line lines[EXEC_LINES];
} exec_access;

typedef struct exec_wave {
    const cu_inst *head; /* the next instruction */
    const cu_code *code;
    struct exec_group *group; /* NULL: free */
    uint32_t number;          /* of the model */
    uint8_t counter[CU_COUNTERS];
    index_list in_order[2]; /* accesses that return in order: of CU_VM, of CU_VS */
    uint64_t issued, most;  /* instructions: so far, and that it may */
    amd_wave arch;
} exec_wave;

typedef struct exec_group {
    const ls_cu_kernel *kernel;
    amd_group arch;
    uint32_t wave_count, running, at_barrier;
    uint32_t in_flight;  /* accesses */
    bool resident, dead; /* dead: executes nothing more */
    bool reported;       /* its end waits for the link, or has left */
    uint16_t waves[LS_CU_WAVES_PER_GROUP_MAX];
    ls_cu_done done;
} exec_group;

struct ls_cu_exec {
    ls_domain *domain;
    const ls_cu_kernels *kernels;
    ls_link *to_command;
    ls_event room;     /* in that link */
    bool reports_wait; /* for it */
    uint32_t cluster, index;
    uint32_t group_count, wave_count, line_bytes;
    uint32_t next_wave; /* where the search for a free one begins */
    index_pool free_accesses;
    exec_group *groups;
    uint16_t *reports; /* ring of group_count slots whose ends wait for the link */
    uint32_t report_first, report_count;
    exec_wave *waves;
    uint32_t *vgprs;
    uint8_t *lds;
    exec_access *accesses;
};

/* w->arch.fault is set: its work-group is dead. */
ls_cu_result exec_fault(exec_wave *w, uint64_t pc);
/* After an end of a wave or of an access: reports the work-group if that was the last thing it waited for. */
void exec_check(ls_cu_exec *x, exec_group *g);
/* The wave's next instruction, one of memory; there is a free access. */
ls_cu_result exec_access_begin(ls_cu_exec *x, exec_wave *w, ls_cycle now, ls_cu_step *out);

#endif
