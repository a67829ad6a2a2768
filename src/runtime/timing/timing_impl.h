/* timing_impl.h: the back end's own structs, shared by the files of src/runtime/timing. */
#ifndef RUNTIME_TIMING_TIMING_IMPL_H
#define RUNTIME_TIMING_TIMING_IMPL_H

#include "base/vec.h"
#include "base/address_space.h"
#include "model/cu/cu_api.h"
#include "model/amd/amd_gpu.h"
#include "platform/machine.h"
#include "runtime/record/record.h"
#include "runtime/timing/timing.h"

#include <pthread.h>
#include <stdatomic.h>

/* A piece of simulated memory that launches use one after another. */
typedef struct timing_piece {
    uint64_t address, bytes;
    bool is_used;
} timing_piece;

/* A command that is with the command processor. */
typedef struct timing_slot {
    ls_command_packet packet;
    drv_work *work;            /* NULL: free */
    uint8_t *setup;            /* the packet and the arguments that are written */
    size_t setup_capacity;     /* bytes */
    size_t arguments, scratch; /* indices of pieces; SIZE_MAX: none */
    uint64_t host_began_ns;
    amd_start start;         /* of a launch that is recorded */
    record_launch *recorded; /* NULL: it is not, or is no launch */
    cu_recorder recorder;
    uint32_t number; /* among the commands of the recording */
} timing_slot;

typedef struct timing_program {
    amd_program *program;
    cu_code *code;
} timing_program;

typedef struct timing {
    platform_config *config;
    const platform_config *gpu_config; /* of the GPU that programs see: a part of a system, or the same */
    ls_machine *machine;
    ls_engine *engine;
    amd_gpu *gpu;
    size_t gpu_number;             /* in the system */
    const ls_command_ops *command; /* of the command processor, with command_self */
    void *command_self;
    memory_space *address_space;
    ls_gpu_model model;
    uint64_t max_instructions;
    bool lenient_barriers;
    uint64_t queue_record; /* simulated address of the queue structure that kernels read */
    ls_run_options options;
    ls_run_result result;
    /* Held while the engine runs, and by a thread that changes the engine's input. */
    pthread_mutex_t lock;
    LS_VEC(timing_slot *) slots;
    LS_VEC(timing_piece) pieces;
    LS_VEC(timing_piece)
    freed; /* memory that caches may still hold: its lines are discarded before time passes again */
    uint64_t launches, others;
    ls_status (*over)(void *self, const timing_record *record, ls_error *err);
    void *over_self;
    recorder *record; /* NULL: nothing is recorded */
    _Atomic uint64_t now_ns;
    struct timing_leftover *leftover; /* a replay that did not end: the machine may still have its packets */
    bool is_broken;                   /* time cannot advance after this error */
    ls_error broken;
} timing;

/* --- timing_record.c: the recording --- */

/* A command before it is submitted, and after it is over. With the lock held. */
ls_status timing_record_begin(timing *t, timing_slot *slot, const drv_work *work, bool local, ls_error *err);
ls_status timing_record_end(timing_slot *slot, bool good, ls_error *err);

/* --- timing_replay.c --- */

void timing_leftover_free(struct timing_leftover *leftover); /* NULL is fine */

/* --- timing_run.c --- */

ls_status timing_submit(void *self, drv_work *work, ls_error *err);
ls_status timing_advance(void *self, ls_error *err);
/* A launch's packet as far as the code object says what it is: registers, RDNA's mode. */
ls_command_packet timing_packet_of(const amd_kernel *kernel);
/* Warns if the code of `target` is not that of the machine. */
ls_status timing_warn_foreign(timing *t, const char *target, ls_error *err);
/* Adds the counts of a launch that is over. */
void timing_add_counts(ls_gpu_counts *to, const ls_command_packet *packet);
/* Accesses of the host outside of all queues: through caches, without time of the host link. With the lock
 * held. */
ls_status timing_poke(timing *t, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
ls_status timing_peek(timing *t, void *to, uint64_t from, uint64_t bytes, ls_error *err);

#endif
