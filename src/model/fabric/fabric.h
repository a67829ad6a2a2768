/* fabric.h: messages between the GPUs of a system and its host, and the ends that send and take them.
 *
 * A fabric joins ends: GPUs by their number, then the host. Each builder of an end creates it with its machine and
 * offers it with ls_engine_add_part(engine, FABRIC_END_PART, end, err). The fabric is built after all of them and
 * fills in the links to send on. A GPU has an end only if ls_machine_fabric(machine) is true.
 *
 * Rule against protocol deadlock: an end takes every message of classes other than REQUEST at once, or it waits only
 * for its own clock. REQUEST may wait for DATA. Each class has virtual channels of its own.
 *
 * Messages of one class keep their order from one source to one destination for one address. Messages for
 * different addresses may take different paths and overtake each other. */
#ifndef MODEL_FABRIC_FABRIC_H
#define MODEL_FABRIC_FABRIC_H

#include "lockstep/engine.h"

#define FABRIC_END_PART "fabric.end"
#define FABRIC_HOST UINT32_MAX /* number of the host's end until the fabric is built */

typedef enum fabric_class {
    FABRIC_REQUEST,    /* reads, writes and atomics of memory */
    FABRIC_DATA,       /* their answers */
    FABRIC_WALK,       /* page walks and their answers */
    FABRIC_INVALIDATE, /* invalidations, shootdowns and their answers */
    FABRIC_MIGRATE,    /* requests and pieces of pages that move */
    FABRIC_COPY,       /* pieces of copies of DMA engines, with the host and between GPUs */
    FABRIC_CLASSES
} fabric_class;

#define FABRIC_BODY_BYTES 192u /* holds an ls_line_message */

/* Plain data: no host pointers. */
typedef struct fabric_message {
    uint16_t from, to; /* ends, by number */
    uint8_t
        class_index; /* fabric_class, for counters; its virtual channels are those of the link it was sent on */
    uint8_t kind;    /* the users' own; host.h has those that the host answers */
    uint16_t data_bytes; /* payload that it carries */
    uint16_t wire_bytes; /* with the protocol's header; the fabric adds encoding and packet overhead */
    uint16_t body_bytes; /* of body[] that are in use: only these are copied on the way; 0: all */
    uint32_t token;      /* the users' own */
    uint64_t address; /* order is kept for one source, destination and address (hash over planes and paths) */
    _Alignas(16) uint8_t body[FABRIC_BODY_BYTES];
} fabric_message;

typedef struct fabric_end {
    const char *name; /* "gpu0.rdma" */
    uint32_t number;  /* the GPU's number; FABRIC_HOST for the host */
    ls_region *region;
    uint32_t line_bytes; /* of its caches: bytes of host memory that an answer to a read has; 0: any */
    ls_receive_fn
        receive; /* payload: fabric_message; releases the link's buffer entry when it has room again */
    void *receiver;
    uint32_t
        receive_credits[FABRIC_CLASSES]; /* messages of a class that it has room for; 0: it never gets any */
    /* by the fabric */
    ls_link *send[FABRIC_CLASSES]; /* wire_bytes of ls_link_send(): any; NULL: no end takes this class */
    uint32_t ends;                 /* how many ends there are; the host has number ends - 1 if there is one */
} fabric_end;

/* Bytes of a message in host memory that are in use. */
static inline uint32_t fabric_message_bytes(const fabric_message *message)
{
    uint32_t body = message->body_bytes != 0 ? message->body_bytes : FABRIC_BODY_BYTES;
    return (uint32_t)offsetof(fabric_message, body) + body;
}

extern const char *const fabric_class_names[FABRIC_CLASSES]; /* "request", ... */

#endif
