/* peer.h: the way of a GPU to the memory of other GPUs, and of theirs to its own: NVLink or PCIe, behind a fabric.
 *
 * Cores send sector requests whose address belongs to another GPU over direct links to this block, beside the network
 * to the own L2; where this block is behind L2 (rdma.at: memory), the parts of L2 for other GPUs' memory do (remote_l2.h).
 * Sectors of one line that a requester sends together become one packet of up to 128 bytes. A packet crosses
 * the fabric, the owner's block requests its sectors from the own L2, and the answer goes back. Answers to writes are
 * collected: one small message acknowledges several packets. Copies and signals of the device queue pass here too.
 *
 * Messages carry no data: replayed kernels have none. Exists only in systems with a fabric. */
#ifndef MODEL_GPU_PEER_H
#define MODEL_GPU_PEER_H

#include "lockstep/block.h"
#include "engine/fabric_ends.h"
#include "model/memory/mem.h"

#define PEER_SLOT "peer"
#define PEER_SECTORS 4u       /* of a packet of requests: one line */
#define PEER_COPY_SECTORS 16u /* of a packet of a copy, at most */
#define PEER_ACKS 16u         /* packets that one message acknowledges, at most */
#define PEER_COMMANDS 8u      /* of the device queue: credits of its link */

typedef struct peer_spec {
    uint64_t hop_cycles, packets_per_cycle, in_flight, served_in_flight, open_packets, combine_cycles;
    uint64_t header_bytes, ack_bytes, ack_packets, ack_cycles;
    uint64_t copy_bytes, copy_in_flight;
} peer_spec;

/* Kinds of fabric messages. */
typedef enum peer_kind {
    PEER_SECTORS_KIND, /* requests of sectors; class REQUEST */
    PEER_SIGNAL,       /* class REQUEST; token: number of the signal */
    PEER_COPY,         /* class COPY */
    PEER_DATA,         /* answer to reads and atomics; class DATA */
    PEER_ACK,          /* answers to writes and copies; class DATA */
} peer_kind;

/* Body of a packet with sectors. */
typedef struct peer_packet {
    uint64_t address;                 /* of the first sector of the line or piece */
    uint32_t byte_mask[PEER_SECTORS]; /* of writes */
    uint16_t sectors;                 /* bits */
    uint8_t kind;                     /* ls_sector_kind */
    bool global;
    uint32_t unused;
} peer_packet;

/* Body of PEER_ACK. */
typedef struct peer_acks {
    uint32_t count;
    uint32_t tokens[PEER_ACKS];
} peer_acks;

/* From the device queue: a signal to send, a copy to make, or L2's part for other GPUs' memory to be flushed. */
typedef struct peer_command {
    uint8_t is_copy, is_flush;
    uint16_t to;     /* end of the fabric */
    uint32_t number; /* of the signal */
    uint64_t bytes, from_address, to_address;
} peer_command;

/* To the device queue: a signal has come, or the copy or flush has ended. */
typedef struct peer_notice {
    uint8_t is_copy, is_flush;
    uint32_t number;
} peer_notice;

typedef struct peer_wiring {
    uint32_t number;       /* of the GPU */
    uint32_t requesters;   /* cores, or the channels that stand before this block */
    uint32_t open_packets; /* of a requester */
    uint32_t core_count, channels;
    const mem_map *map;
    ls_link *const *to_core;   /* by requester; payload: ls_sector_message */
    ls_link *const *to_memory; /* by channel; likewise */
    uint32_t requests_max;     /* that all requesters' links can deliver before an entry is released */
    ls_link *const *fences;    /* by core: answers to its flushes; NULL: there are none */
    uint32_t fences_max;       /* flushes that all cores' links can deliver, likewise */
    ls_link *to_queue;         /* payload: peer_notice */
} peer_wiring;

/* For the builder. The block has the end of the fabric before it is attached. */
ls_status peer_attach(ls_block *block, const peer_wiring *wiring, ls_error *err);
ls_fabric_end *peer_end(ls_block *block);
/* Receive functions of links; the receiver is the block's state. */
void peer_receive_request(void *state, ls_link *link, const void *payload, ls_cycle now);
void peer_receive_reply(void *state, ls_link *link, const void *payload, ls_cycle now);
void peer_receive_command(void *state, ls_link *link, const void *payload, ls_cycle now);
void peer_receive_flush(void *state, ls_link *link, const void *payload, ls_cycle now);

#endif
