/* cga.h: a core's end of the network between the cores of a GPC, over which blocks of a cluster reach each other:
 * accesses to their shared memory, operations on their mbarriers, data of copies, cluster barriers.
 *
 * A message goes from a block to another block of its cluster, by rank. The dispatcher places all blocks of a cluster in
 * the same cycle, and the launch table says where they are. Messages leave the core one after another, at the width of
 * its port. They arrive a link's latency later. A message for a block that has ended is dropped and counted.
 *
 * An access that arrives takes the port of shared memory (ldst_port_take()). Operations on mbarriers and data of copies go
 * to the functions that their owner has set (cga_set_hooks()). */
#ifndef MODEL_CORE_CGA_H
#define MODEL_CORE_CGA_H

#include "model/core/core.h"

#define CGA_QUEUE 1024u     /* messages that wait for the core's port, of each lane; a power of two */
#define CGA_ACCESSES 56u    /* messages of a core that wait for an answer: those of 17 cores fill no queue */
#define CGA_HEADER 8u       /* bytes of a message without data */
#define CGA_LINE 128u       /* bytes of data in one message, at most */
#define CGA_WINDOW_BITS 24u /* of a shared address: the offset in its block; above: the rank of the block */

typedef enum cga_kind {
    CGA_LOAD,     /* shared memory is read; an answer brings the bytes */
    CGA_STORE,    /* it is written; an answer without bytes says that it is done */
    CGA_REDUCE,   /* read and written; an answer without bytes says that it is done */
    CGA_ATOMIC,   /* the same; an answer brings the old values */
    CGA_ANSWER,   /* token: of the request */
    CGA_MBARRIER, /* op (ls_mbarrier_op) with `count` on the mbarrier at `address`; nothing comes back */
    /* `bytes` of a copy, of STAS or of REDAS are written to shared memory, then completed on the mbarrier at `address` */
    CGA_DATA,
    CGA_ARRIVE, /* all warps of the block have arrived at the cluster barrier */
    CGA_GONE,   /* the block has ended */
    CGA_KINDS
} cga_kind;

typedef struct cga_message {
    uint32_t row, number; /* of the cluster; set by cga_send(), as the next three */
    uint16_t core;        /* that sends */
    uint8_t from, to;     /* ranks */
    uint8_t kind;         /* cga_kind */
    uint8_t op;           /* CGA_MBARRIER: ls_mbarrier_op; CGA_ARRIVE: parity of the phase */
    uint16_t cycles;      /* that an access has the banks of shared memory; CGA_DATA: 0 is one */
    uint16_t bytes;       /* of data: up to CGA_LINE */
    uint32_t token;       /* of the sender: comes back with the answer */
    uint32_t address;     /* offset of the mbarrier in its block */
    uint32_t count;       /* arrivals or bytes of an operation on an mbarrier */
} cga_message;

/* For the owner of mbarriers; NULL: such messages are dropped and counted. `slot`: of the block. They are called when a
 * message arrives, before the core's tick of this cycle. */
typedef struct cga_hooks {
    void (*mbarrier)(core *c, uint32_t slot, const cga_message *message, ls_cycle now);
    void (*data)(core *c, uint32_t slot, const cga_message *message, ls_cycle now);
} cga_hooks;
void cga_set_hooks(core *c, const cga_hooks *hooks); /* after the core is attached; hooks outlive it */

/* Whether the core has clusters at all: nothing else may be called without them. */
static inline bool cga_is_on(const core *c)
{
    return OPTION_ON(c->options.cga);
}
/* Blocks in the cluster of a resident block: 1 if it is in none; and its rank there. */
uint32_t cga_size(const core *c, uint32_t slot);
uint32_t cga_rank(const core *c, uint32_t slot);
/* The rank that a shared address of a block names. In a cluster of one block it is the own one. */
uint32_t cga_rank_of(const core *c, uint32_t slot, uint64_t address);

/* Room for so many messages. Without room the sender tries again in a later cycle; cga_next() wakes the core. */
bool cga_can_send(const core *c, uint32_t messages);
/* Sends to block `rank` of the cluster of the block in `slot`; there is room. The rest of *message is the caller's. Not
 * before cycle `at`, which is this one or a later one. The own rank is reached as well, over the same way. */
void cga_send(core *c, uint32_t slot, uint32_t rank, const cga_message *message, ls_cycle at);

/* --- for the other files of the core --- */

bool cga_init(core *c, ls_link *const *to_cores, uint32_t core_count, uint32_t width); /* false: no memory */
void cga_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
void cga_start_block(core *c, uint32_t slot);
void cga_end_block(core *c, uint32_t slot);
void cga_warp_ended(core *c, uint32_t warp);
/* Cluster barriers: UCGABAR_ARV and UCGABAR_WAIT of a warp. */
void cga_arrive(core *c, uint32_t warp,
                ls_cycle at);              /* in this cycle, or a later one if the core runs ahead */
ls_cycle cga_wait(core *c, uint32_t warp); /* 0: it waits, or has nothing to wait for; else: until then */
/* The load/store unit has taken an access to shared memory. True: some of its lanes go to other blocks. They are sent here,
 * and the flight ends with the last answer. Without room for them the access stays in the unit. */
bool cga_access(core *c, uint16_t flight_index);
bool cga_completes(const ls_inst *inst); /* STAS and REDAS: the table of opcodes has no other model of them */
void cga_cycle(core *c);                 /* answers that have arrived, and an access that waited for room */
ls_cycle cga_next(const core *c);

#endif
