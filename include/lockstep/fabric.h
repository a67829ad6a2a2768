/* fabric.h: the slot `fabric` of machine `system`: the network between the GPUs of a system and its host; the ends that
 * it joins, and their messages.
 *
 * A model is a block type whose port table provides LS_FABRIC_PORT. The system builds all GPUs, then the host
 * (lockstep/host.h), then the fabric. The type itself has neither state nor init: it creates domains, blocks and links of
 * its own. A model without the port, such as `none`, adds nothing.
 *
 * A fabric joins ends: GPUs by their number, then the host. Each builder of an end creates it with its machine and offers
 * it with ls_engine_add_part(engine, LS_FABRIC_END_PART, end, err). The fabric fills in the links to send on. A GPU has
 * an end only if ls_machine_fabric(machine) is true.
 *
 * Rule against protocol deadlock: an end takes every message of classes other than REQUEST at once, or it waits only
 * for its own clock. REQUEST may wait for DATA. So a fabric has buffers of their own for the links of each class.
 *
 * Messages of one class keep their order from one source to one destination for one address. Messages for
 * different addresses may take different paths and overtake each other. */
#ifndef LOCKSTEP_FABRIC_H
#define LOCKSTEP_FABRIC_H

#include "lockstep/block.h"

#define LS_FABRIC_SLOT "fabric"
#define LS_FABRIC_PORT "fabric"
#define LS_FABRIC_INTERFACE "fabric/2"

#define LS_FABRIC_END_PART "fabric.end"
#define LS_FABRIC_HOST UINT32_MAX /* number of the host's end until the fabric is built */

typedef enum ls_fabric_class {
    LS_FABRIC_REQUEST,    /* reads, writes and atomics of memory */
    LS_FABRIC_DATA,       /* their answers */
    LS_FABRIC_WALK,       /* page walks and their answers */
    LS_FABRIC_INVALIDATE, /* invalidations, shootdowns and their answers */
    LS_FABRIC_MIGRATE,    /* requests and pieces of pages that move */
    LS_FABRIC_COPY,       /* pieces of copies of DMA engines, with the host and between GPUs */
    LS_FABRIC_CLASSES
} ls_fabric_class;

#define LS_FABRIC_BODY_BYTES 192u /* holds an ls_line_message */

/* Plain data: no host pointers. */
typedef struct ls_fabric_message {
    uint16_t from, to; /* ends, by number */
    uint8_t
        class_index; /* ls_fabric_class, for counters; its virtual channels are those of the link it was sent on */
    uint8_t kind;        /* the users' own */
    uint16_t data_bytes; /* payload that it carries */
    uint16_t wire_bytes; /* with the protocol's header; the fabric adds encoding and packet overhead */
    uint16_t body_bytes; /* of body[] that are in use: only these are copied on the way; 0: all */
    uint32_t token;      /* the users' own */
    uint64_t address; /* order is kept for one source, destination and address (hash over planes and paths) */
    _Alignas(16) uint8_t body[LS_FABRIC_BODY_BYTES];
} ls_fabric_message;

typedef struct ls_fabric_end {
    const char *name; /* "gpu0.rdma" */
    uint32_t number;  /* the GPU's number; LS_FABRIC_HOST for the host */
    ls_region *region;
    uint32_t line_bytes; /* of its caches: bytes of host memory that an answer to a read has; 0: any */
    ls_receive_fn
        receive; /* payload: ls_fabric_message; releases the link's buffer entry when it has room again */
    void *receiver;
    uint32_t copies; /* of the host: messages of class COPY that each GPU may have open */
    uint32_t receive_credits
        [LS_FABRIC_CLASSES]; /* messages of a class that it has room for; 0: it never gets any */
    /* by the fabric */
    ls_link *send[LS_FABRIC_CLASSES]; /* wire_bytes of ls_link_send(): any; NULL: no end takes this class */
    /* by the system, before the fabric is built */
    uint32_t ends; /* how many ends there are; the host has number ends - 1 if there is one */
    const struct ls_fabric_end *const *all; /* by number; NULL: that GPU has none */
} ls_fabric_end;

/* Bytes of a message in host memory that are in use. */
static inline uint32_t ls_fabric_message_bytes(const ls_fabric_message *message)
{
    uint32_t body = message->body_bytes != 0 ? message->body_bytes : LS_FABRIC_BODY_BYTES;
    return (uint32_t)offsetof(ls_fabric_message, body) + body;
}

/* The ends of a system. */
typedef struct ls_fabric_plan {
    uint32_t gpus;
    bool has_host;
    uint32_t end_count;         /* gpus + has_host */
    ls_fabric_end *const *ends; /* by number; NULL: that GPU is not connected */
} ls_fabric_plan;

typedef struct ls_fabric_ops {
    /* Makes a link from each end for each class that some end takes (receive_credits), and fills in `send` of the ends. A
     * message has its destination in `to`; it is delivered to receive() of that end over a link with as many credits as
     * the end's receive_credits of the class. `spec` is the model's section of the platform file. An end without its
     * links is refused before the run; a message for another end than the one that gets it ends the run. */
    ls_status (*build)(ls_engine *engine, const void *spec, const ls_fabric_plan *plan, ls_error *err);
} ls_fabric_ops;

#endif
