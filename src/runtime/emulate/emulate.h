/* emulate.h: runs kernels of AMD code objects as fast as the host allows, without timing. Work-groups are
 * spread over host threads; the waves of one run in a fixed order between barriers. Uses the semantics in
 * isa/amd/exec and the simulated memory of base/address_space.h; knows no files, queues or OpenCL. */
#ifndef RUNTIME_EMULATE_EMULATE_H
#define RUNTIME_EMULATE_EMULATE_H

#include "isa/amd/exec/fault.h"
#include "isa/amd/exec/program.h"
#include "isa/amd/exec/start.h"
#include "lockstep/driver.h"
#include "runtime/strict/strict.h"

#include <stdio.h>

/* --- the emulator --------------------------------------------------------------------------------------- */

typedef struct emulate emulate;

/* `threads` 0: one per CPU. The address space is borrowed. One launch at a time. */
ls_status emulate_create(memory_space *address_space, uint32_t threads, emulate **out, ls_error *err);
void emulate_destroy(emulate *emulator);

/* After an instruction, in the thread that ran it. The wave shows what it did; inst->pc + program's code
 * is where. */
typedef struct emulate_step {
    const amd_wave *wave;
    const amd_inst *inst;
    uint64_t pc; /* simulated address of the instruction */
    uint32_t work_group[3];
} emulate_step;
typedef void (*emulate_hook)(void *self, const emulate_step *step);

/* The place where a debugger looks at a launch, before or after an instruction of one wave. The other waves of
 * the work-group are there too. Emulated, other work-groups have ended or not begun. */
typedef struct emulate_stop {
    const amd_program *program;
    amd_wave *const *waves; /* of the work-group */
    uint32_t wave_count;
    uint32_t wave;        /* the one that executes */
    const amd_inst *inst; /* NULL: no instruction begins at pc */
    uint64_t pc;
    const uint32_t *work_group; /* [3] */
    const struct cu_stop *unit; /* in simulated time: where (model/cu/cu_api.h); NULL: emulated */
} emulate_stop;

/* Sees every instruction and may change registers. False ends the launch with LS_FAULT_STOPPED. */
typedef struct emulate_debugger {
    void *self;
    bool (*before)(void *self, const emulate_stop *stop);
    bool (*after)(void *self, const emulate_stop *stop); /* not after a fault */
    void (*fault)(void *self, const emulate_stop *stop); /* waves[wave].fault says why */
} emulate_debugger;

typedef struct emulate_launch {
    uint32_t dims;              /* 1 to 3, for the dispatch packet */
    uint32_t grid[3];           /* work-items; need not be multiples of the work-group */
    uint32_t group[3];          /* work-items of a work-group; up to 1024 in all */
    ls_groups which;            /* of the work-groups: those that run; all zero: all */
    uint32_t dynamic_lds_bytes; /* in addition to the kernel's own */
    uint64_t kernarg;           /* simulated address of the arguments, filled by the caller */
    uint64_t dispatch_id;
    uint64_t max_instructions; /* of one wavefront; 0: no limit */
    bool lenient_barriers;     /* ended waves count as arrived, as on the hardware; otherwise a fault */
    emulate_hook before; /* NULL: none. As `hook`, but before the instruction: the wave is as it finds it */
    void *before_self;
    emulate_hook hook; /* NULL: none. With a hook one thread runs everything, in work-group order. */
    void *hook_self;
    strict *strict; /* NULL: none. Checks each instruction before it executes; also with one thread */
    const emulate_debugger *debugger; /* NULL: none. Also with one thread */
} emulate_launch;

/* Where and why a launch stopped. */
typedef struct emulate_fault {
    ls_fault fault;
    uint64_t pc; /* simulated address */
    uint32_t work_group[3];
    uint32_t wave;
    char text[128];                      /* the instruction */
    char why[400];                       /* of LS_FAULT_STRICT */
    char registers[AMD_FAULT_REGISTERS]; /* that the instruction reads */
} emulate_fault;

/* Runs a launch to its end. A fault of the program is LS_ERR_CHECK: err has the sentence, *fault (may be
 * NULL) the facts; memory keeps what ran before it. counts may be
 * NULL; they are the same for any number of threads, and the launch itself is not counted. */
ls_status emulate_run(emulate *emulator, const amd_program *program, const emulate_launch *launch,
                      ls_gpu_counts *counts, emulate_fault *fault, ls_error *err);

/* Simulated address of the packet of the launch that runs. */
uint64_t emulate_packet_address(const emulate *emulator);
/* Simulated address of the queue's record (amd_queue_t), for hidden_queue_ptr. */
uint64_t emulate_queue_address(const emulate *emulator);

/* --- the instruction trace ------------------------------------------------------------------------------ */

/* One record for each executed instruction, with the registers that it wrote and the memory that it used: see
 * trace_record.h. As a line of JSON:
 * {"group":[x,y,z],"wave":w,"pc":"fir+0x40","text":"..","exec":"0x..","writes":{"s4":"0x..","v1":[..]},
 *  "access":{"kind":"load","space":"global","bytes":4,"pieces":1,"lanes":"0x..","address":[..],"data":[..]}} */
typedef struct emulate_trace emulate_trace;

/* Where the records of a launch go. */
typedef struct emulate_trace_to {
    FILE *file;                  /* of the lines; borrowed */
    struct trace_writer *packed; /* NULL: lines. Otherwise the packed file (trace_file.h) */
    uint64_t launch;             /* its number */
} emulate_trace_to;

typedef struct emulate_trace_filter {
    bool one_group, one_wave;
    uint32_t group[3];       /* with one_group */
    uint32_t wave;           /* with one_wave */
    uint64_t pc_from, pc_to; /* [from, to) from the kernel's entry on, or simulated addresses; both 0: all */
    bool sources;            /* not a filter: records also have the registers that were read */
} emulate_trace_filter;

/* Begins with the launch. filter NULL: everything. */
ls_status emulate_trace_create(const emulate_trace_to *to, const amd_program *program,
                               const emulate_trace_filter *filter, emulate_trace **out, ls_error *err);
/* Sets the hooks of a launch. A hook that is there before instructions stays. */
void emulate_trace_attach(emulate_trace *trace, emulate_launch *launch);
void emulate_trace_before(void *self, const emulate_step *step);
void emulate_trace_hook(void *self, const emulate_step *step);
uint64_t emulate_trace_count(const emulate_trace *trace); /* of records so far */
/* LS_ERR_IO if something could not be written. Frees the trace. */
ls_status emulate_trace_finish(emulate_trace *trace, ls_error *err);

#endif
