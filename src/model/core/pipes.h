/* pipes.h: the state of the pipes: issue registers, operand collectors, register banks, execution units and write-back.
 * Changed by collect.c; front.c enters instructions by pipes_issue().
 * Included by core.h only. */
#ifndef MODEL_CORE_PIPES_H
#define MODEL_CORE_PIPES_H

/* The pipes of one sub-core. */
typedef struct pipe_sub {
    uint16_t issue[UNIT_COUNT];        /* issue register per unit: flight or NO_FLIGHT */
    uint16_t execute[UNIT_COUNT];      /* collected, waiting for the unit */
    uint32_t issue_mask, execute_mask; /* units whose registers are taken */
    uint32_t
        open; /* units to look at: not memory's, which is for all sub-cores, nor one that a warp group has */
    uint16_t collector[CORE_COLLECTORS_MAX];
    uint8_t collector_waits[CORE_COLLECTORS_MAX]; /* operands not yet read */
    uint8_t collector_unit[CORE_COLLECTORS_MAX];
    uint32_t collector_used, collector_ready;
    uint32_t ready_units; /* units that the ready ones go to */
    /* Nothing can move before one of ready_units takes an instruction. Its collectors are full or nothing is
     * issued, no operand is missing, and all ready instructions wait for their unit. */
    bool stuck;
    uint16_t bank_queue[CORE_BANKS_MAX][CORE_COLLECTORS_MAX * 4];
    uint8_t bank_head[CORE_BANKS_MAX], bank_tail[CORE_BANKS_MAX];
    uint32_t bank_waiting, bank_written; /* banks with requests; banks a write-back took in this step */
    ls_cycle unit_free[UNIT_COUNT];      /* first cycle in which the unit takes another instruction */
    uint64_t unit_done[UNIT_COUNT];      /* bit i: it delivers a result i cycles after unit_base */
    ls_cycle unit_base[UNIT_COUNT];
} pipe_sub;

typedef struct pipes {
    pipe_sub subs[CORE_SUBS_MAX];
    tensor_rates tensor;
    uint32_t all_collectors; /* of a sub-core: a bit each */
    /* Which sub-cores have something in a stage, a bit each: empty stages are not looked at. */
    uint32_t collecting, executing, writing;
    uint32_t to_memory;         /* of those executing: an instruction waits for the load/store unit */
    uint16_t wheel[CORE_WHEEL]; /* flights by the cycle of their write-back */
    uint64_t wheel_used[CORE_WHEEL / 64];
    uint32_t wheel_count;
    uint8_t buses[CORE_WHEEL]; /* result buses taken per cycle */
} pipes;

#endif
