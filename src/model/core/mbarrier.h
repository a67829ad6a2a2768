/* mbarrier.h: the mbarriers of a core's thread blocks: arrivals, bytes and phases, and the warps that wait. State of
 * mbarrier.c, part of core_async (async.h). Included by async.h only.
 *
 * An mbarrier lies in shared memory. Its phase is over when all arrivals and all expected bytes have come. Then the
 * next phase begins with the same number of arrivals. A warp that waits for a phase sleeps; it is woken in the cycle
 * in which the phase ends plus wake_cycles. Nothing polls. */
#ifndef MODEL_CORE_MBARRIER_H
#define MODEL_CORE_MBARRIER_H

#define MBARRIERS 512u /* of all blocks of a core; a power of two */
#define MBARRIER_OFFSET                                                                                       \
    0x00ffffffu             /* of an address: the place in the block's shared memory; above: the rank */
#define MBARRIER_COPIES 32u /* asynchronous arrivals of a warp under way; a power of two */

typedef struct mbarrier_spec {
    uint64_t act_cycles;  /* from the issue of an operation to its effect */
    uint64_t wake_cycles; /* from the end of a phase to the next instruction of a warp that waits for it */
} mbarrier_spec;

typedef struct mbarrier_counters {
    uint64_t operations, phases;
    uint64_t waits, slept; /* try_wait; those that found the phase not over */
    uint64_t tests, tests_failed;
} mbarrier_counters;

/* One mbarrier. Invariant: pending > 0 or bytes != 0; else its phase would be over. */
typedef struct mbarrier {
    uint32_t key;              /* MBARRIER_USED, the block's slot, the place; or one of the two below */
    uint32_t phase;            /* from 0; its parity is bit 0 */
    int32_t arrivals, pending; /* of a phase; still to come */
    int64_t bytes;             /* expected and not there; negative: there and not yet expected */
    uint64_t waiters;          /* warps, a bit each: all wait for the present phase */
} mbarrier;

typedef struct mbarriers {
    mbarrier at[MBARRIERS]; /* by a hash of the key, with linear probing */
    uint32_t used;
} mbarriers;

#endif
