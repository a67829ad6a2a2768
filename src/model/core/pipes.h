/* pipes.h: the state of the pipes: issue registers, operand collectors, register banks, execution units and write-back.
 * Changed by collect.h; front_issue.h enters instructions by pipes_issue().
 * Included by core.h only. */
#ifndef MODEL_CORE_PIPES_H
#define MODEL_CORE_PIPES_H

/* What the pipes have to know of a class, in one look. */
typedef struct pipe_class {
    uint16_t latency, interval; /* cycles */
    uint16_t result;            /* cycles from the start in the unit to the write-back */
    uint8_t unit;
    bool tensor; /* matrix instructions: their shape says how long they take */
} pipe_class;

/* Where the instructions of a class go. */
typedef struct pipe_way {
    uint16_t unit_bit; /* of `unit`, in masks */
    uint8_t unit, class_;
} pipe_way;

/* An instruction in an operand collector or an issue register. Sets of register banks have a byte for each bank
 * (PIPE_BANK). */
typedef struct pipe_inst {
    uint64_t needs; /* reads of each bank that are still to be made */
    pipe_way way;
    uint16_t flight;
    uint16_t number; /* of the collector */
} pipe_inst;

/* An execution unit and the registers in front of it. */
typedef struct pipe_unit {
    ls_cycle free; /* first cycle in which it takes another instruction */
    uint64_t done; /* bit i: it delivers a result i cycles after done_base */
    ls_cycle done_base;
    uint16_t execute; /* collected, waiting for the unit: flight, if execute_mask has the unit */
    uint8_t class_;   /* of this flight */
} pipe_unit;

/* The pipes of one sub-core. */
typedef struct pipe_sub {
    uint32_t bit;                      /* of the sub-core, in masks */
    uint32_t issue_mask, execute_mask; /* units whose registers are taken */
    uint32_t
        open; /* units to look at: not memory's, which is for all sub-cores, nor one that a warp group has */
    uint32_t ready_units;   /* units that instructions with all operands wait for */
    ls_cycle written_at;    /* the last cycle with a write-back */
    uint64_t banks_written; /* that write-backs took in it */
    uint64_t needed;        /* the sum of the collectors' needs */
    uint32_t collected;     /* collectors in use */
    uint32_t count;         /* with those in issue registers */
    /* Those in collectors, then those in issue registers: of both the oldest first. */
    pipe_inst insts[CORE_COLLECTORS_MAX + UNIT_COUNT];
    pipe_unit units[UNIT_COUNT];
} pipe_sub;

_Static_assert(UNIT_COUNT <= 16, "masks of units have 16 bits");

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

/* Results that are written back in one cycle, each by a bus of its own: a list of flights. */
typedef struct pipe_results {
    uint16_t first, last; /* valid if there are any */
    uint32_t count;
} pipe_results;

typedef struct pipes {
    pipe_sub subs[CORE_SUBS_MAX];
    pipe_sub *at[CORE_SUBS_MAX]; /* subs[], for the compiler: one address instead of sums of offsets */
    tensor_rates tensor;
    pipe_class classes[LS_CLASS_COUNT];
    pipe_way ways[LS_CLASS_COUNT];
    uint64_t banks[LS_REG_COUNT + CORE_WARPS_MAX]; /* PIPE_BANK() of register + warp */
    uint32_t result_buses;
    uint32_t collectors;                /* of a sub-core */
    bool otherwise;                     /* its order or steps are not the usual ones: operands_otherwise() */
    uint32_t uneven;                    /* units of which a result may overtake another, a bit each */
    ls_cycle execute_at[CORE_SUBS_MAX]; /* no open unit of the sub-core takes an instruction before */
    ls_cycle execute_next;              /* the first of these cycles, or one before */
    uint32_t inside; /* instructions from their issue until their unit takes them, of all sub-cores */
    /* Sub-cores in which something can move, a bit each. In the others all collectors are full or nothing is issued, no
     * operand is missing, and all ready instructions wait for their units. */
    uint32_t moving;
    uint32_t freed;                 /* an issue register was emptied since the schedulers last looked */
    uint32_t to_memory;             /* sub-cores in which an instruction waits for the load/store unit */
    pipe_results wheel[CORE_WHEEL]; /* by their cycle */
    uint64_t wheel_used[CORE_WHEEL / 64];
    uint32_t wheel_count;
} pipes;

#endif
