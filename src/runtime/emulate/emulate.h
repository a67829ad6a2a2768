/* emulate.h: runs kernels of AMD code objects as fast as the host allows, without timing. Work-groups are
 * spread over host threads; the waves of one run in a fixed order between barriers. Uses the semantics in
 * isa/amd/exec and the simulated memory of base/address_space.h; knows no files, queues or OpenCL. */
#ifndef RUNTIME_EMULATE_EMULATE_H
#define RUNTIME_EMULATE_EMULATE_H

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
} emulate_launch;

/* Where and why a launch stopped. */
typedef struct emulate_fault {
    ls_fault fault;
    uint64_t pc; /* simulated address */
    uint32_t work_group[3];
    uint32_t wave;
    char text[128]; /* the instruction */
    char why[400];  /* of LS_FAULT_STRICT */
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

/* JSON lines:
 * {"group":[x,y,z],"wave":w,"pc":"0x..","text":"..","exec":"0x..","writes":{"s4":"0x..","v1":[..]}} */
typedef struct emulate_trace emulate_trace;

typedef struct emulate_trace_filter {
    bool one_group, one_wave;
    uint32_t group[3];       /* with one_group */
    uint32_t wave;           /* with one_wave */
    uint64_t pc_from, pc_to; /* simulated addresses [from, to); both 0: all */
} emulate_trace_filter;

/* The file is borrowed; filter NULL: everything. Set launch.hook = emulate_trace_hook, hook_self = the
 * trace. */
ls_status emulate_trace_create(FILE *file, amd_target target, unsigned lanes,
                               const emulate_trace_filter *filter, emulate_trace **out, ls_error *err);
void emulate_trace_hook(void *self, const emulate_step *step);
/* LS_ERR_IO if something could not be written. Frees the trace. */
ls_status emulate_trace_finish(emulate_trace *trace, ls_error *err);

#endif
