/* pipes.h: the state of the pipes: issue registers, operand collectors, register banks, execution units and write-back.
 * Changed by collect.c; front.c enters instructions by pipes_issue().
 * Included by core.h only. */
#ifndef MODEL_CORE_PIPES_H
#define MODEL_CORE_PIPES_H

/* What the pipes have to know of a class, in one look. */
typedef struct pipe_class {
    uint16_t latency, interval; /* cycles */
    uint8_t unit;
} pipe_class;

/* The pipes of one sub-core. Sets of register banks have a byte for each bank (PIPE_BANK). */
typedef struct pipe_sub {
    uint32_t issue_mask, execute_mask; /* units whose registers are taken */
    uint32_t
        open; /* units to look at: not memory's, which is for all sub-cores, nor one that a warp group has */
    uint32_t collector_used, collector_ready;
    uint32_t ready_units; /* units that the ready ones go to */
    /* Collectors with operands that are not yet read, the oldest first, four bits each; and their number. */
    uint32_t waiting, waiting_count;
    uint64_t banks_written;             /* a write-back took them in this step */
    uint64_t needed;                    /* reads of each bank that all collectors together wait for */
    uint64_t needs[CORE_COLLECTORS_MAX]; /* those of one collector */
    ls_cycle execute_at;                /* no open unit takes an instruction before */
    uint16_t issue[UNIT_COUNT];         /* issue register per unit: flight or NO_FLIGHT */
    uint16_t execute[UNIT_COUNT];       /* collected, waiting for the unit */
    uint16_t collector[CORE_COLLECTORS_MAX];
    uint8_t collector_unit[CORE_COLLECTORS_MAX];
    ls_cycle unit_free[UNIT_COUNT]; /* first cycle in which the unit takes another instruction */
    uint64_t unit_done[UNIT_COUNT]; /* bit i: it delivers a result i cycles after unit_base */
    ls_cycle unit_base[UNIT_COUNT];
} pipe_sub;

#define PIPE_BANK(bank) (UINT64_C(1) << (8 * (bank)))
#define PIPE_BANKS UINT64_C(0x0101010101010101) /* all of them */

/* The banks of which a set has one or more. No byte is above 128. */
static inline uint64_t pipe_banks_in(uint64_t set)
{
    return (set + 127 * PIPE_BANKS) >> 7 & PIPE_BANKS;
}

/* The sum of a set's bytes, which is below 256. */
static inline uint32_t pipe_banks_sum(uint64_t set)
{
    return (uint32_t)(set * PIPE_BANKS >> 56);
}

typedef struct pipes {
    pipe_sub subs[CORE_SUBS_MAX];
    tensor_rates tensor;
    pipe_class classes[LS_CLASS_COUNT];
    uint32_t all_collectors; /* of a sub-core: a bit each */
    /* Which sub-cores have something in a stage, a bit each: empty stages are not looked at. */
    uint32_t collecting, executing, writing;
    /* Of those collecting: something can move. In the others all collectors are full or nothing is issued, no operand is
     * missing, and all ready instructions wait for their units. */
    uint32_t moving;
    uint32_t freed;             /* an issue register was emptied since the schedulers last looked */
    uint32_t to_memory;         /* of those executing: an instruction waits for the load/store unit */
    uint16_t wheel[CORE_WHEEL]; /* flights by the cycle of their write-back */
    uint64_t wheel_used[CORE_WHEEL / 64];
    uint32_t wheel_count;
    uint8_t buses[CORE_WHEEL]; /* result buses taken per cycle */
} pipes;

#endif
