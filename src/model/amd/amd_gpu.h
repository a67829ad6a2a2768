/* amd_gpu.h: a built machine of type `amd`, for those who run programs on it. An engine may have several. */
#ifndef MODEL_AMD_AMD_GPU_H
#define MODEL_AMD_AMD_GPU_H

#include "base/address_space.h"
#include "lockstep/channel.h"
#include "lockstep/command.h"
#include "lockstep/tlb.h"

#define AMD_GPU_MACHINE "amd"

typedef struct amd_gpu amd_gpu;

/* The keys of the machine that programs can see. */
typedef struct amd_gpu_facts {
    const char *target; /* "gfx803" */
    uint64_t memory_bytes;
    uint32_t compute_units; /* as programs count them: a dual one is two */
    uint32_t lds_bytes;     /* most for one work-group */
    uint32_t clock_mhz;
    uint32_t clusters, cus_per_cluster; /* of the machine's own compute units: a dual one is one */
    uint32_t line_bytes;                /* of caches */
} amd_gpu_facts;

/* The index-th AMD GPU of the engine, in the order of building; NULL past the last. */
amd_gpu *amd_gpu_of(const ls_engine *engine, uint32_t index);
const amd_gpu_facts *amd_gpu_get_facts(const amd_gpu *gpu);
/* The command processor, through which programs run: an ls_command_ops. */
ls_port amd_gpu_command(const amd_gpu *gpu);
/* How many other GPUs its command processor can place work-groups on: those of the system for the first GPU. */
uint32_t amd_gpu_followers(const amd_gpu *gpu);
const ls_clock *amd_gpu_clock(const amd_gpu *gpu); /* of the command processor and the compute units */
/* One of its blocks: all of them are in one group. */
const ls_block *amd_gpu_block(const amd_gpu *gpu);

/* Gives the machine its memory; before the first run. Its channels own the bytes from then on, and have page tables
 * of their own: later changes of pages come by amd_gpu_change_pages(). */
ls_status amd_gpu_set_memory(amd_gpu *gpu, memory_space *space, ls_error *err);
/* Between runs: sends the change to the memory of every channel. It takes no simulated time. */
void amd_gpu_change_pages(amd_gpu *gpu, const ls_page_change *change);
/* Between runs: bytes for fresh memory, of which no cache has a line; each goes to its channel. */
ls_status amd_gpu_load(amd_gpu *gpu, uint64_t to, const void *from, uint64_t bytes, ls_error *err);
/* The other way: bytes of memory of which no cache has a newer line. */
ls_status amd_gpu_copy_out(const amd_gpu *gpu, void *to, uint64_t from, uint64_t bytes, ls_error *err);
/* The page table that its TLBs ask; before the first run. Without it every page lies where its address says. False: the
 * GPU has no TLBs, and asks none. */
bool amd_gpu_set_pages(amd_gpu *gpu, const ls_pages *pages);
uint64_t amd_gpu_page_bytes(const amd_gpu *gpu); /* of its TLBs; 0: it has none */
uint32_t amd_gpu_number(const amd_gpu *gpu);     /* in its system */
/* Whether addresses of transfers are virtual: where pages of the system move. Else they are physical, as the GPU sees
 * them. build_dma_tlb() has the exact rule. */
bool amd_gpu_dma_is_virtual(const amd_gpu *gpu);

/* --- for a debugger, while the machine stands inside a cycle --- */

uint32_t amd_gpu_cu_count(const amd_gpu *gpu);
const ls_port *amd_gpu_cu(const amd_gpu *gpu, uint32_t index); /* ls_cu_ops */
/* The newest bytes from a physical address on: those of L2, else of the levels below; before them bytes that a
 * cache above L2 wrote and still keeps. False: not mapped. */
bool amd_gpu_look(const amd_gpu *gpu, uint64_t physical, void *to, uint64_t bytes);
/* Between runs: bytes of one line change in its own memory (not of a remote address) and in all of its caches. False: not
 * mapped. */
bool amd_gpu_patch(amd_gpu *gpu, uint64_t physical, const void *from, uint64_t bytes);
/* A level that has some of up to 8 bytes of one line. */
typedef struct amd_gpu_copy {
    const char *name; /* of the block */
    uint64_t value;
    uint8_t has, dirty; /* bit i: it has byte i; written here and not below */
} amd_gpu_copy;
/* From the compute units down to DRAM; returns how many there are, of which `room` are in out. */
size_t amd_gpu_copies(const amd_gpu *gpu, uint64_t physical, uint32_t bytes, amd_gpu_copy *out, size_t room);

/* Between runs, with nothing under way, for an emulator on the machine's memory. Before it: memory gets the bytes that
 * only caches have. After it: lines of caches get the bytes that memory has now. False: a cache is a plug-in's, whose
 * lines cannot be reached. */
bool amd_gpu_publish(amd_gpu *gpu);
bool amd_gpu_refresh(amd_gpu *gpu);

/* Caches and TLBs forget freed memory, whose addresses are virtual and physical. Between runs. */
void amd_gpu_discard(amd_gpu *gpu, uint64_t address, uint64_t bytes);
/* The same of physical addresses, for caches; and of virtual ones, for TLBs and for caches in front of which there are
 * none. */
void amd_gpu_discard_lines(amd_gpu *gpu, uint64_t physical, uint64_t bytes);
void amd_gpu_discard_pages(amd_gpu *gpu, uint64_t address, uint64_t bytes);
/* The block's port as a compute unit (ls_cu_ops): these blocks count per kernel. False: it is none. */
bool amd_gpu_find_cu(ls_engine *engine, const char *path, ls_port *cu);
/* Between runs: the counters of a block for a launch that has ended, in the layout of the block's counters,
 * once. False: the block does not count per kernel. */
bool amd_gpu_take_kernel(ls_engine *engine, const char *path, uint32_t number, void *counters, size_t bytes);

#endif
