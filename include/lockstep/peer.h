/* peer.h: the slot `peer` of machine `gpu`: the way of a GPU to the memory of other GPUs, and of theirs to its own, in a
 * system with a fabric (lockstep/fabric.h). It is the GPU's end of the fabric.
 *
 * Cores send sector requests (lockstep/sector.h) whose address belongs to another GPU over links to this block; the
 * field `slice` has the end that owns the address. Where the block is behind L2 (rdma.at: memory), slices of L2 send
 * them instead. A packet with the sectors crosses the fabric, the owner's block requests them from its own L2, and the
 * answer goes back. Copies and signals of the device queue pass here too.
 *
 * A model is a block of slot "peer" that provides LS_PEER_PORT. Messages carry no data: replayed kernels have none. All
 * models have the messages below, so that GPUs with different models understand each other. Answers never wait for
 * requests: so two GPUs cannot wait for each other. */
#ifndef LOCKSTEP_PEER_H
#define LOCKSTEP_PEER_H

#include "lockstep/fabric.h"
#include "lockstep/sector.h"

#define LS_PEER_SLOT "peer"
#define LS_PEER_PORT "peer"
#define LS_PEER_INTERFACE "peer/1"

#define LS_PEER_SECTORS 4u  /* of a packet of requests: one line, at most */
#define LS_PEER_ACKS 16u    /* packets that one message acknowledges, at most */
#define LS_PEER_COMMANDS 8u /* of the device queue: credits of its link */

/* --- on the fabric --- */

/* Kinds of fabric messages. */
typedef enum ls_peer_kind {
    LS_PEER_REQUEST, /* requests of sectors: ls_peer_packet; class REQUEST */
    LS_PEER_SIGNAL,  /* class REQUEST; token: number of the signal. It has no answer */
    LS_PEER_COPY,    /* a piece of a copy: ls_peer_packet; class COPY */
    LS_PEER_DATA,    /* answer to a packet of reads or atomics, with its token; class DATA */
    LS_PEER_ACK,     /* answers to packets of writes and copies: ls_peer_acks; class DATA */
} ls_peer_kind;

typedef struct ls_peer_packet {
    uint64_t address;                    /* of the first sector of the line or piece */
    uint32_t byte_mask[LS_PEER_SECTORS]; /* of writes; a piece of a copy has all bytes */
    uint16_t sectors;                    /* bits: up to 4 of a request, up to 16 of a copy */
    uint8_t kind;                        /* ls_sector_kind */
    bool global;
    uint32_t unused;
} ls_peer_packet;

/* Tokens of copies have LS_PEER_COPY_TOKEN added. */
typedef struct ls_peer_acks {
    uint32_t count;
    uint32_t tokens[LS_PEER_ACKS];
} ls_peer_acks;
#define LS_PEER_COPY_TOKEN (UINT32_C(1) << 31)

/* --- of the device queue --- */

/* A signal to send, a copy to make, or L2's part for other GPUs' memory to be flushed. */
typedef struct ls_peer_command {
    uint8_t is_copy, is_flush;
    uint16_t to;     /* end of the fabric */
    uint32_t number; /* of the signal */
    uint64_t bytes, from_address, to_address;
} ls_peer_command;

/* To the device queue: a signal has come, or the copy or flush has ended. */
typedef struct ls_peer_notice {
    uint8_t is_copy, is_flush;
    uint32_t number;
} ls_peer_notice;

/* --- a model --- */

/* Before its block is created. */
typedef struct ls_peer_shape {
    uint32_t
        hop_cycles; /* between a core or an L2 slice and this block, one way; 0: as between cores and L2 */
} ls_peer_shape;

typedef struct ls_peer_wiring {
    uint32_t number;     /* of the GPU */
    uint32_t requesters; /* cores, or the channels that stand before this block */
    bool behind;         /* these are channels */
    uint32_t core_count, channels;
    const ls_address_map *map; /* of the own memory; outlives the block */
    ls_link *const *to_core;   /* by requester (ls_sector_message.core); payload: ls_sector_message */
    ls_link *const *to_memory; /* by channel; likewise. This block is requester number core_count of L2 */
    uint32_t requests_max;     /* that all requesters' links can deliver before an entry is released */
    ls_link *const *fences;    /* by core: answers to its flushes; NULL: there are none */
    uint32_t fences_max;       /* flushes that all cores' links can deliver, likewise */
    ls_link *to_queue;         /* payload: ls_peer_notice */
} ls_peer_wiring;

/* Functions receive_... are called for messages of links; self is the block's state. Each releases the link's buffer
 * entry, now or later. */
typedef struct ls_peer_ops {
    void (*describe)(const void *spec, ls_peer_shape *out);
    ls_status (*attach)(void *self, const ls_peer_wiring *wiring, ls_error *err);
    /* The end of the fabric, after attach(). It takes REQUEST, DATA and COPY. */
    ls_fabric_end *(*end)(void *self);
    /* A sector of a requester: goes back over to_core[] with level LS_SECTOR_REMOTE. */
    void (*receive_request)(void *self, ls_link *link, const void *payload, ls_cycle now);
    /* The answer of the own L2 to a sector. */
    void (*receive_reply)(void *self, ls_link *link, const void *payload, ls_cycle now);
    void (*receive_command)(void *self, ls_link *link, const void *payload,
                            ls_cycle now); /* ls_peer_command */
    /* A fence of a core, answered over fences[]. A model without it is refused by name with rdma.at: memory. */
    void (*receive_flush)(void *self, ls_link *link, const void *payload, ls_cycle now);
} ls_peer_ops;

/* --- services for models --- */

#define LS_PEER_HEADER_BYTES 16u /* of the messages of these services */

/* Puts a packet with one sector, or a signal, on the fabric. False: there is no room now. */
LS_API bool ls_peer_send_sector(const ls_fabric_end *from, uint32_t token, const ls_sector_message *sector);
LS_API bool ls_peer_send_signal(const ls_fabric_end *from, const ls_peer_command *signal);

/* Serves packets and signals of other GPUs: one of class REQUEST and one of class COPY at a time. The end has one credit
 * of each of the two classes. */
typedef struct ls_peer_served {
    ls_fabric_message message;
    ls_link *link;          /* whose buffer entry it has; NULL: there is none */
    uint32_t sectors, left; /* that L2 was not asked for yet; answers of L2 that are missing */
} ls_peer_served;

typedef struct ls_peer_server {
    const ls_peer_wiring *wiring; /* the model's own */
    const ls_fabric_end *end;
    ls_peer_served served[2];
} ls_peer_server;

/* A message of class REQUEST or COPY, and an answer of L2 to it. */
LS_API void ls_peer_serve_receive(ls_peer_server *server, ls_link *link, const ls_fabric_message *message);
LS_API void ls_peer_serve_reply(ls_peer_server *server, ls_link *link, const ls_sector_message *reply);
/* Moves on what can be moved in this cycle. Whether to call it in the next one. */
LS_API bool ls_peer_serve_tick(ls_peer_server *server);

#endif
