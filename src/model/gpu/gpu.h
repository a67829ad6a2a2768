/* gpu.h: the machine `gpu`: a dispatcher, cores, memory channels and the links between them. Blocks are known by
 * the handle that the builder returns, never by name, and called through the tables of their slots. */
#ifndef MODEL_GPU_H
#define MODEL_GPU_H

#include "lockstep/dispatch.h"
#include "lockstep/l2.h"
#include "model/memory/mem.h"

#define GPU_MACHINE "gpu"

/* A GPU of an engine. Domains and blocks are named from its number: "gpu1.core3". */
typedef struct gpu_instance {
    ls_engine *engine;
    uint32_t number;
    uint32_t core_count, channel_count;
    ls_block *dispatch, **cores, **l2, **dram;     /* l2, dram: by channel */
    ls_port dispatch_port, *core_ports, *l2_ports; /* that they provide */
    ls_core_shape core_shape;                      /* of each core */
    ls_dispatch_shape dispatch_shape;
    const ls_block_type *l1; /* the model of slot "core.l1" */
    mem_map map;
    /* In a system with a fabric; else NULL. */
    ls_block *peer, *queue;
    ls_address_owners *owners; /* set between runs: other GPUs' memory */
    ls_block **remote_l2;      /* by channel: L2's part for other GPUs' memory; NULL: there is none */
    bool flushes;              /* it keeps sectors: they leave at the end of each kernel */
} gpu_instance;

/* Builds the GPU that the machine's sections describe into its engine, as number ls_machine_number(). Any number
 * of them may stand in one engine. The handle lives as long as the engine. */
ls_status gpu_build(ls_machine *machine, gpu_instance **out, ls_error *err);
/* The GPUs of an engine, in the order of building; NULL past the last. */
gpu_instance *gpu_at(const ls_engine *engine, uint32_t index);

/* The receiver of requests to a channel: its L2, or the part of it that stands before. */
void *gpu_memory_receiver(const gpu_instance *gpu, uint32_t channel);
ls_receive_fn gpu_memory_receive(const gpu_instance *gpu, uint32_t channel);

/* Shorter calls of the dispatcher's table. */
static inline const ls_dispatch_ops *gpu_dispatch_ops(const gpu_instance *gpu)
{
    return gpu->dispatch_port.ops;
}

/* Memory copies of a trace: marks the range valid in L2. */
void gpu_warm(const gpu_instance *gpu, uint64_t address, uint64_t bytes);
/* Between runs, after the end of a kernel beside which no other runs: L2 is emptied, if the platform says so. */
void gpu_flush_l2(const gpu_instance *gpu);

/* Between runs: a block's counts of the kernel that has ended in a slot of the dispatcher, in the layout of
 * the block's counters. False: the block does not count per kernel. */
bool gpu_take_kernel(const ls_engine *engine, const char *path, uint32_t slot, void *counters, size_t bytes);
/* The same for all blocks, of a kernel whose counts nothing reads. */
void gpu_forget_kernel(const gpu_instance *gpu, uint32_t slot);

#endif
