/* cu_api.h: the interface of a compute unit for the command processor, the machine builder and the runtime:
 * arrival of work-groups, reports of their end, wiring. A "compute unit" here is GCN's CU or one RDNA dual
 * compute unit. */
#ifndef MODEL_CU_CU_API_H
#define MODEL_CU_CU_API_H

#include "isa/amd/exec/program.h"
#include "isa/amd/exec/tape.h"
#include "lockstep/cu.h"
#include "model/cu/code.h"
#include "lockstep/line.h"

#define CU_CDNA "cdna" /* the model of slot `cu` that gfx90a and gfx942 need */

/* Recorded work-groups: the actions of their waves are read instead of executed. Called from any domain. */
typedef struct cu_tapes {
    void *self;
    /* The tapes of its waves, as an array; NULL: they cannot be read, which ends the work-group with a
     * fault. */
    amd_tape *(*open)(void *self, const uint32_t id[3], uint32_t wave_count);
    void (*close)(void *self, amd_tape *tapes);
} cu_tapes;

/* Receives the executed instructions of waves. Called from any domain. */
typedef struct cu_recorder {
    void *self;
    const amd_tape_code *code;
    void (*done)(void *self, const uint32_t id[3], amd_tape_writer *waves, uint32_t wave_count);
} cu_recorder;

/* --- accesses, as an observer sees them ------------------------------------------------------------------ */

typedef enum cu_seen_kind {
    CU_SEEN_GROUP,   /* a work-group begins: id, waves */
    CU_SEEN_END,     /* it has ended: waves */
    CU_SEEN_ISSUE,   /* a memory instruction leaves: its access, with the data that it carries */
    CU_SEEN_RETURN,  /* it is over: data has the values read, or is NULL */
    CU_SEEN_WAIT,    /* counters of `counters` are 0 */
    CU_SEEN_BARRIER, /* the work-group passes a barrier: waves */
    CU_SEEN_FORGET,  /* an instruction that empties caches leaves: levels */
} cu_seen_kind;

/* An event of a compute unit; pointers are good during the call. Waves are slots of the unit. */
typedef struct cu_seen {
    cu_seen_kind kind;
    ls_time time;
    uint32_t wave;
    uint64_t pc;
    /* A work-group. */
    const uint32_t *id;
    const uint16_t *waves;
    uint32_t wave_count;
    bool one_cache; /* its waves use one vector cache */
    /* An access. */
    const amd_access *access; /* addresses and operands only of CU_SEEN_ISSUE */
    const uint32_t *data;     /* of lane n from dword n * stride on */
    uint32_t stride;
    uint32_t token;         /* of the access, while it is in flight: below CU_SEEN_TOKENS */
    uint64_t skip, skipped; /* addresses of this range are private memory: from, bytes */
    bool newest;            /* passes caches: glc */
    bool scalar;
    bool is_dead;     /* its work-group was stopped: values mean nothing */
    uint8_t counters; /* bit i: counter i of code.h; of an access: those that it raises */
    uint8_t levels;   /* of caches that are emptied: bit 0 the first, bit 1 the next; bit 7: scalar */
} cu_seen;
#define CU_SEEN_TOKENS 8192u

/* Receives what the waves of a launch do with memory. put is called from any domain, but for one log only from one. */
typedef struct cu_observer {
    void *self;
    uint32_t gpu, command; /* the observer's own */
    void *(*open)(void *self, uint32_t gpu, uint32_t cluster,
                  uint32_t unit); /* of one unit; NULL: no memory */
    void (*put)(void *log, uint32_t command, const cu_seen *what);
} cu_observer;

/* --- a debugger ------------------------------------------------------------------------------------------ */

/* A wave before or after its next instruction, while its compute unit runs a cycle. cu_debug.h has more about it. */
typedef struct cu_stop {
    void *cu;             /* state of the compute unit */
    uint32_t wave;        /* slot of the unit */
    const amd_inst *inst; /* NULL: none begins at pc */
    uint64_t pc;
    ls_time time;
} cu_stop;

/* Sees every instruction of a launch, and may change registers. False ends the work-group with LS_FAULT_STOPPED. Called
 * from the domain of the compute unit: the run has one thread. */
typedef struct cu_debugger {
    void *self;
    bool (*before)(void *self, const cu_stop *stop); /* once per instruction, when it is first tried */
    bool (*after)(void *self, const cu_stop *stop);  /* it was issued; not after a fault */
    void (*fault)(void *self, const cu_stop *stop);  /* before the work-group ends */
} cu_debugger;

_Static_assert(LS_CU_CLASSES == AMD_CLASS_COUNT, "a count for each class of instructions");

ls_cu_capacity cu_get_capacity(const ls_block *cu);
/* Whether a compute unit's port is that of the models of this folder. */
bool cu_is_model(const ls_port *port);

/* Wiring, before the run. Vector memory: GCN has one cache, RDNA two (SIMDs 0-1 and 2-3): vector_count. */
typedef struct cu_wires {
    uint32_t cluster, index; /* number of the compute unit and of its cluster */
    ls_line_port vector[2];
    uint32_t vector_count;
    ls_line_port scalar, code;
    ls_link *to_command; /* sends ls_cu_done */
    const ls_cu_kernels *kernels;
} cu_wires;
ls_status cu_attach(ls_block *cu, const cu_wires *wires, ls_error *err);

/* Between runs: the counts of a launch's work-groups (by its number) here, in the layout of the block's
 * counters; all others are 0. Can be read once. */
bool cu_take_kernel(ls_block *cu, uint32_t number, void *counters, size_t bytes);

/* The requester's side of the ports: self is the block's state. Which of them a cache answers is its
 * builder's choice of these tables. */
extern const ls_line_client_ops cu_vector_client[2], cu_scalar_client, cu_code_client;

/* A launch that came over the cluster's link (the cluster's owner releases the credit). */
void cu_receive_launch(void *state, const ls_cu_launch *launch, ls_cycle now);
/* Ends all waves of the kernel without executing further; each of its work-groups is still reported done. */
void cu_cancel(void *state, uint32_t kernel, ls_cycle now);
/* The barrier of the kernel's grid opens. */
void cu_grid_open(void *state, uint32_t kernel, ls_cycle now);

#endif
