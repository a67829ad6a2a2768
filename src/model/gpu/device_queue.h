/* device_queue.h: the commands of one GPU in a run of several: kernels, copies to other GPUs, signals, waits and delays,
 * one after another. A block in the domain of the dispatcher, which it starts and which tells it of ends. Exists only
 * in systems with a fabric. */
#ifndef MODEL_GPU_DEVICE_QUEUE_H
#define MODEL_GPU_DEVICE_QUEUE_H

#include "lockstep/dispatch.h"
#include "model/gpu/peer.h"

typedef enum device_command_kind {
    DEVICE_KERNELS, /* [first, end): commands of the trace that the workload reads */
    DEVICE_COPY,    /* bytes to the GPU with end `to` */
    DEVICE_SIGNAL,  /* signal `number` to the GPU with end `to` */
    DEVICE_WAIT,    /* until `count` signals of this number have come, from the GPU with end `to` */
    DEVICE_DELAY,   /* for `cycles` of the core clock */
} device_command_kind;

/* Plain data. */
typedef struct device_command {
    uint8_t kind;        /* device_command_kind */
    bool continues;      /* kernels of a launch that is on the GPU already: without the latency of a launch */
    uint16_t to;         /* end of the fabric */
    uint32_t number;     /* of a signal */
    uint32_t text;       /* offset of the signal's name in the program's text, for reports */
    uint32_t count;      /* signals of this number that must have come */
    uint64_t first, end; /* kernels */
    uint64_t bytes, from_address, to_address;
    uint64_t cycles;
} device_command;

/* The program of one GPU; it outlives the run. */
typedef struct device_program {
    const device_command *commands;
    uint32_t count;
    uint32_t signal_count; /* numbers of signals are below */
    const char *text;      /* names */
    /* The run begins at a position (workload/position.h); all zero: at the beginning. */
    uint32_t first;           /* commands before it are over */
    uint64_t kernel;          /* commands of the trace before it are over */
    const uint32_t *received; /* by signal: those that have come; NULL: none */
} device_program;

ls_status device_queue_create(ls_region *region, const char *name, ls_block **out, ls_error *err);
/* For the builder. to_peer: payload ls_peer_command. */
void device_queue_attach(ls_block *block, ls_link *to_peer, ls_port dispatch);
void device_queue_receive(void *state, ls_link *link, const void *payload,
                          ls_cycle now); /* a ls_peer_notice */

/* Before the run: the program starts at cycle 0, with its first command. */
ls_status device_queue_start(ls_block *block, const device_program *program, ls_error *err);
/* For the workload, from the dispatcher's domain. The kernels that may be launched now; NULL: none. */
const device_command *device_queue_kernels(const ls_block *block);
/* A kernel has ended, in a GPU whose L2 keeps other GPUs' memory: it is written back and forgotten before a kernel may be
 * launched, and before the command ends. */
void device_queue_kernel_ended(ls_block *block, ls_cycle now);
/* All kernels of that command have ended. */
void device_queue_kernels_done(ls_block *block);
bool device_queue_is_done(const ls_block *block);
/* The program cannot go on: a kernel cannot be read. */
void device_queue_abandon(ls_block *block);

/* After the run. Ends of commands, in cycles of the core clock; LS_CYCLE_MAX: it has not ended; 0: it was
 * over before the run. */
ls_cycle device_queue_end(const ls_block *block, uint32_t command);
ls_cycle device_queue_begin(const ls_block *block, uint32_t command);

#endif
