/* core.h: cores (streaming multiprocessors): they replay thread blocks.
 *
 * A model is a block of slot "core" that provides the port "core" of this interface. It lives in a domain of
 * its own, in the region of the core clock. Links join it to the dispatcher (blocks come, their ends go) and
 * to every memory channel (requests for sectors go, answers come). A core that uses the port "scheduler" of
 * lockstep/scheduler.h gets the platform's warp scheduler; a core without this port has none.
 * docs/add-a-block.md builds a core from nothing. */
#ifndef LOCKSTEP_CORE_H
#define LOCKSTEP_CORE_H

#include "lockstep/block.h"
#include "lockstep/sector.h"
#include "lockstep/stream.h"

#define LS_CORE_SLOT "core"
#define LS_CORE_PORT "core"
#define LS_CORE_INTERFACE "core/2"
#define LS_CORE_KERNELS 128    /* that run at once, at most: ls_core_launch.kernel is below */
#define LS_CORE_BLOCKS_AT 512u /* thread blocks at a core, at most, including waiting ones */

/* A kernel, for the cores that run its thread blocks. */
typedef struct ls_launch_kernel {
    const ls_kernel_info *info;
    const ls_inst *insts;             /* ls_dyn.inst is an index */
    const struct rates_kernel *rates; /* from the workload, for the built-in core without simulated memory */
    struct inst_counts *counts; /* for the built-in core: per static instruction; NULL: they are not counted */
} ls_launch_kernel;

/* A cluster: blocks that run at the same time on the cores of one group of cores (GPC), by their rank. */
#define LS_CLUSTER_BLOCKS 16u /* of a cluster, at most */
typedef struct ls_launch_cluster {
    uint32_t number; /* of the cluster, from 1: no other of the run has it; 0: the row is free */
    uint32_t size;   /* blocks */
    uint16_t cores[LS_CLUSTER_BLOCKS]; /* by rank */
} ls_launch_cluster;

/* Kernels and thread blocks by number: messages between the dispatcher and cores are plain data and name rows of
 * this table. Only the dispatcher writes. It fills a row before it sends a message that names it, and leaves it
 * alone until the answer. A core reads a row from the arrival of such a message to its answer. */
typedef struct ls_launch_table {
    ls_launch_kernel kernels[LS_CORE_KERNELS]; /* by ls_core_launch.kernel */
    ls_cta **blocks;                           /* by ls_core_launch.block; the dispatcher's memory */
    uint32_t block_count;                      /* rows: enough for all blocks that cores can hold, and one */
    const ls_launch_cluster *clusters;         /* by ls_core_launch.cluster - 1; the dispatcher's memory */
} ls_launch_table;

#define LS_LAUNCH_NONE UINT32_MAX

/* A thread block on its way to a core. The core has its ls_cta until an ls_core_done brings it back. Without a
 * block (LS_LAUNCH_NONE): only so many `cores` are still at work for `kernel`. */
typedef struct ls_core_launch {
    uint32_t block;  /* row of the table */
    uint32_t kernel; /* row of the table, the dispatcher's slot: another kernel may have had it before */
    uint32_t number; /* of the launch: no other has it */
    uint32_t ctas_per_core; /* at once, at most: for the carve-out and for the layout of local memory */
    uint32_t cores;         /* at work for the kernel: they share the bandwidth */
    uint32_t cluster;       /* row of the table + 1; 0: the block is in no cluster */
    uint32_t depends;       /* ls_launch_depends: on the kernel before it in the stream, which has not ended */
} ls_core_launch;
enum ls_launch_depends {
    LS_DEPENDS_NOT,
    LS_DEPENDS,     /* ACQBULK waits */
    LS_DEPENDS_END, /* without a block: all blocks of `kernel` need not wait any more */
};

/* The end of a thread block. */
typedef struct ls_core_done {
    uint32_t block, kernel; /* as in ls_core_launch */
    uint16_t core;
    ls_cycle start, cycle; /* of the core's clock: its start and its end */
    bool signals; /* it has not ended: as far as it goes, the next kernel of the stream may start (PREEXIT) */
} ls_core_done;

/* Which thread blocks fit. */
typedef struct ls_core_capacity {
    uint64_t warp_slots, cta_slots, registers, shared_bytes, register_unit;
} ls_core_capacity;

/* A model's description of itself, before anything is connected. It is the same for all cores of a GPU. */
typedef struct ls_core_shape {
    ls_core_capacity capacity;
    bool sends_no_requests;  /* memory is a formula: there are no links to memory */
    bool wants_blocks_ahead; /* the dispatcher sends blocks before there is room */
    /* For the roofline; 0 sub_cores: it has none. Cycles from one instruction to the next, from 1. */
    uint32_t sub_cores;
    uint64_t half_interval, single_interval, double_interval;
    uint32_t cluster_bytes; /* of a message between cores of a cluster; 0: the model knows no clusters */
} ls_core_shape;

/* Work of a core since the start of the run. */
typedef struct ls_core_work {
    uint64_t flops_half, flops_single, flops_double, flops_tensor;
    uint64_t tensor_cycles;         /* that units spent on matrix instructions, summed over sub-cores */
    uint64_t expected_dram_sectors; /* by a formula, if memory is not simulated */
} ls_core_work;

typedef struct ls_core_wiring {
    uint32_t id, core_count;
    uint32_t kernel_slots;     /* kernels that may run side by side */
    const ls_address_map *map; /* outlives the core */
    ls_link *const *to_memory; /* by channel; payload: ls_sector_message */
    uint32_t channels;         /* 0 for a core that sends no requests */
    uint32_t replies_max; /* answers that all links together can deliver before a buffer entry is released */
    ls_link *to_dispatch; /* payload: ls_core_done */
    const ls_launch_table *launches; /* that launch messages name; outlives the core */
    uint32_t refill_cycles; /* blocks may come before there is room: the core starts one so many cycles after
                                 * another has ended. 0: none comes before there is room */
    ls_link *to_peer; /* for sectors of other GPUs' memory, with the owner as `slice`; NULL: there are none */
    const ls_address_owners *owners; /* outlives the core; NULL: all addresses are the GPU's own */
    /* Sectors of other GPUs go to L2 like the own ones, with `remote`. to_peer then takes an LS_SECTOR_FLUSH for a
     * fence of system scope, after all accesses before it; NULL: L2 keeps nothing that it would concern. */
    bool remote_in_l2;
    /* L2 of two halves: channels of each. Requests for a channel of the other half go to the channel as far in the core's
     * own half, with `away`. 0: L2 is one. */
    uint32_t half_channels;
    uint32_t half; /* the core's: 0 or 1 */
    /* Links to the cores of the same GPC, the own one included, by core; payload: of the shape's cluster_bytes. NULL: the
     * machine has no clusters. */
    ls_link *const *to_cores;
    uint32_t cluster_width; /* bytes that the core sends per cycle over all of them */
    /* All sectors of a line are in one slice of L2, which takes requests for several of them. */
    bool lines;
} ls_core_wiring;

/* The GPC of a core: pairs of cores (TPCs) belong to the GPCs in turn. */
static inline uint32_t ls_core_gpc(uint32_t core, uint32_t tpc_cores, uint32_t gpcs)
{
    return core / tpc_cores % gpcs;
}

/* Provided port. A receive function belongs to a link: it releases the link's buffer entry, now or later. */
typedef struct ls_core_ops {
    void (*describe)(const void *self, ls_core_shape *out);
    /* Once, before the run. The arrays of the wiring outlive the block. */
    ls_status (*attach)(void *self, const ls_core_wiring *wiring, ls_error *err);
    void (*receive_launch)(void *self, ls_link *link, const void *payload, ls_cycle now);
    void (*receive_reply)(void *self, ls_link *link, const void *payload, ls_cycle now);
    /* Between runs: the counters of the kernel that has ended in this slot, in the layout of the block's
     * counters. False: the model does not count per kernel. */
    bool (*take_kernel)(void *self, uint32_t slot, void *counters, size_t bytes);
    void (*work)(const void *self, ls_core_work *out);
    /* From another core of the cluster. Only of a model whose shape has cluster_bytes. */
    void (*receive_cluster)(void *self, ls_link *link, const void *payload, ls_cycle now);
} ls_core_ops;

/* For models that do not count per kernel, and for models that count no floating-point operations. */
static inline bool ls_core_takes_no_kernel(void *self, uint32_t slot, void *counters, size_t bytes)
{
    return (void)self, (void)slot, (void)counters, (void)bytes, false;
}
static inline void ls_core_counts_no_work(const void *self, ls_core_work *out)
{
    (void)self;
    *out = (ls_core_work){ 0 };
}

#endif
