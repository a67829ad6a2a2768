/* rates.h: memory by formula (core.memory: analytic). It has the share of each static instruction's accesses
 * that reach L2 and DRAM, their time, and their use of the bandwidth that cores share.
 *
 * Written by a profile (workload/profile), carried by the dispatcher, read by cores; constant during a run.
 * Fixed-point numbers have RATES_ONE as their one, so that results are the same on every host. */
#ifndef MODEL_CORE_RATES_H
#define MODEL_CORE_RATES_H

#include <stdint.h>

#define RATES_SHIFT 16
#define RATES_ONE (1u << RATES_SHIFT)

/* How deep an access of a warp goes: where the last of its sectors comes from. WAIT: it sends nothing, but
 * needs sectors that another access of the core has on their way. */
typedef enum rates_level { RATES_L1, RATES_WAIT, RATES_L2, RATES_DRAM, RATES_LEVELS } rates_level;

/* One static instruction. draw(x) for a number x that is spread evenly over [0, 2^32): DRAM if x < to_dram,
 * else L2 if x < to_l2, else WAIT if x < to_wait, else L1. Traffic is per sector that the instruction
 * touches, in RATES_ONE. */
typedef struct rates_inst {
    uint32_t place;                      /* pc / RATES_PC_BYTES: for a sequence of its own */
    uint32_t to_dram, to_l2, to_wait;    /* cumulative; UINT32_MAX: always */
    uint32_t l2_sectors[RATES_LEVELS];   /* sent to L2, by the level that was drawn */
    uint32_t dram_sectors[RATES_LEVELS]; /* read from or written to DRAM because of it */
} rates_inst;

/* One kernel. */
typedef struct rates_kernel {
    const rates_inst *at; /* by pc / RATES_PC_BYTES */
    uint32_t count;
    rates_inst other;     /* instructions that the profile did not contention */
    uint32_t l2_cost;     /* core cycles in which all L2 slices together serve one sector */
    uint32_t dram_cost;   /* core cycles in which all DRAM channels together move one sector */
    uint32_t dram_cycles; /* whole: from the tags of L2 to the data of DRAM in it, without contention */
} rates_kernel;

#define RATES_PC_BYTES 8u

static inline const rates_inst *rates_of(const rates_kernel *kernel, uint64_t pc)
{
    return pc / RATES_PC_BYTES < kernel->count ? &kernel->at[pc / RATES_PC_BYTES] : &kernel->other;
}

/* Numbers of the platform, for every kernel: whole core cycles without contention. */
typedef struct rates_machine {
    uint32_t request_cycles; /* from the core to an L2 slice's tags */
    uint32_t reply_cycles;   /* from a slice that has the data to the register */
    uint32_t dram_cycles;    /* from a slice's tags to the data of an open row in it */
    uint32_t network_cycles; /* in RATES_ONE: a sector takes so long of the core's port */
    uint32_t buffered;       /* sectors of stores that a core can have on their way */
    uint32_t dram_queue;     /* sectors that wait for DRAM before L2 feels it */
} rates_machine;

#endif
