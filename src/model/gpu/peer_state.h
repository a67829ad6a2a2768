/* peer_state.h: the state of the block of peer.h: shared by peer.c (requests of both sides), peer_block.c
 * (set-up) and copy_engine.c. */
#ifndef MODEL_GPU_PEER_STATE_H
#define MODEL_GPU_PEER_STATE_H

#include "base/list.h"
#include "lockstep/sector.h"
#include "lockstep/state.h"
#include "model/gpu/peer.h"

#define PEER_COPY_TOKEN                                                                                       \
    (UINT32_C(1) << 31) /* tokens of the copy engine, in acknowledgements and in L2 requests */
#define PEER_ENDS 66u   /* GPUs and the host, at most */

typedef struct peer_counters {
    uint64_t reads, writes, atomics;                      /* packets of this GPU */
    uint64_t sectors;                                     /* of them */
    uint64_t answers;                                     /* to them */
    uint64_t latency_cycles;                              /* from the first sector to the answer, summed */
    uint64_t served_reads, served_writes, served_atomics; /* packets of other GPUs */
    uint64_t copy_packets, copy_bytes, copies;            /* sent; ended copies */
    uint64_t served_copy_packets;                         /* of other GPUs */
    uint64_t signals_sent, signals;                       /* signals: received */
    uint64_t payload_bytes_out, payload_bytes_in;         /* of data that requests, answers and copies carry */
    uint64_t fabric_waits, memory_waits, in_flight_stalls; /* times */
    uint64_t in_flight_peak;
} peer_counters;

/* A sector request of a core, before it is in a packet. */
typedef struct peer_sector {
    ls_sector_message m;
    ls_link *link; /* whose buffer entry it has */
    uint32_t next;
} peer_sector;

/* A packet of this GPU, from its first sector to its answer. */
typedef struct peer_ask {
    ls_sector_message m[PEER_SECTORS];
    uint64_t line;
    ls_cycle opened;
    uint32_t next, older, newer; /* older, newer: of those that may grow */
    uint16_t owner, core;
    uint8_t count, kind, answered; /* answered: sectors that went back to the core */
    uint8_t slot;                  /* of its core's open packets */
} peer_ask;

/* A packet of another GPU. */
typedef struct peer_serve {
    peer_packet packet;
    ls_link *link; /* whose buffer entry it has until it is answered */
    uint32_t next, token;
    uint16_t from, waiting; /* waiting: sectors that L2 was not asked for yet */
    uint16_t left;          /* answers of L2 that are missing */
    bool is_copy;
} peer_serve;

/* Packets of an end that were written and are not acknowledged yet. */
typedef struct peer_ack_list {
    index_list serves;
    ls_cycle opened;         /* when the first of them came */
    uint32_t count, serving; /* serving: packets of this end that L2 has not answered */
} peer_ack_list;

/* A piece of a copy: read from the own L2, then sent. */
typedef struct copy_piece {
    uint64_t to_address;
    uint32_t next, bytes;
    uint16_t sectors, left; /* left: answers of L2 that are missing */
    uint16_t to, unused;
} copy_piece;

/* For the device queue. A signal has its buffer entry of the fabric until it is delivered. */
typedef struct peer_pending_notice {
    peer_notice notice;
    ls_link *link; /* NULL: none */
} peer_pending_notice;

typedef struct copy_engine {
    peer_command job;
    bool is_busy;
    uint64_t read_bytes; /* of the job whose reads were sent */
    uint64_t acked_bytes;
    uint32_t piece;         /* whose sectors are being read; INDEX_NONE: none */
    uint32_t piece_sector;  /* the next of them */
    uint64_t piece_address; /* where its first sector is read */
    copy_piece *pieces;
    uint32_t piece_total;
    index_pool pool;
    index_list ready; /* to be sent */
} copy_engine;

typedef struct peer_way {
    struct peer *peer;
    ls_event ready; /* while a message waits for its link */
    bool waits;
} peer_way;

enum { PEER_WAY_MEMORY = FABRIC_CLASSES, PEER_WAY_CORE, PEER_WAY_QUEUE, PEER_WAYS };

typedef struct peer {
    const peer_spec *spec;
    const char *name;
    ls_region *region;
    ls_domain *domain;
    ls_ticker ticker;
    fabric_end end;
    mem_map map;
    uint32_t core_count, channels;
    ls_link **to_core, **to_memory, *to_queue;

    peer_sector *sectors;
    peer_ask *asks;
    peer_serve *serves;
    uint32_t sector_total, ask_total, serve_total;
    uint32_t *open; /* [core * open_packets + slot]: a packet that may grow; INDEX_NONE: none */
    peer_ack_list acks[PEER_ENDS];
    index_pool sector_pool, ask_pool, serve_pool;
    index_list input;             /* of sectors */
    index_order opened;           /* of asks: that may grow */
    index_list requests;          /* of asks: that wait for the fabric */
    index_list answered;          /* of asks: on the way to their core */
    index_list incoming, answers; /* of serves: for L2; reads whose data go back */
    uint32_t ack_count;           /* of all ends */
    uint32_t signal_head, signal_count, notice_head, notice_count;
    uint32_t in_flight, turn;
    peer_command signals[PEER_COMMANDS]; /* that wait for the fabric */
    ls_link *from_queue;                 /* whose buffer entries they have */
    peer_pending_notice *notices;        /* ring: that wait for the queue */
    uint32_t notice_total, unused;
    copy_engine copy;
    peer_way ways[PEER_WAYS];
    peer_counters n;
} peer;

/* Puts a message on the fabric, or waits for its link. body: body_bytes are copied. */
bool peer_send(peer *p, fabric_class class_index, peer_kind kind, uint32_t to, uint32_t token,
               uint64_t address, uint32_t data_bytes, uint32_t header_bytes, const void *body,
               uint32_t body_bytes);
/* Requests a sector of the own memory; false: the link has no room, and the block is woken when it has. */
bool peer_request_sector(peer *p, uint64_t address, uint32_t byte_mask, uint32_t token, ls_sector_kind kind,
                         bool global);
/* Tells the device queue. */
void peer_notify(peer *p, peer_notice notice, ls_link *link);

/* For the set-up: a link has room again, a message of the fabric, one cycle. */
void peer_way_ready(void *self, ls_cycle now);
void peer_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
bool peer_tick(void *self, ls_cycle now);

/* --- copy_engine.c --- */

ls_status copy_engine_init(peer *p, ls_error *err);
void copy_engine_start(peer *p, const peer_command *command);
/* An answer of L2 to a read, and the acknowledgement of a piece. */
void copy_engine_read(peer *p, uint32_t token);
void copy_engine_acked(peer *p, uint32_t token);
/* Sends reads; one piece to the fabric. True if something was done. */
bool copy_engine_reads(peer *p);
bool copy_engine_send(peer *p);
/* Whether a later cycle may bring it on without any message. */
bool copy_engine_has_work(const peer *p);
#define COPY_ENGINE_ROWS 4
extern const ls_state_row copy_engine_rows[COPY_ENGINE_ROWS];

#endif
