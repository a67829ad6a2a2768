/* peer_state.h: the state of the block of peer.h: shared by peer.c (requests of both sides), peer_block.c
 * (set-up), copy_engine.c and peer_flush.c. */
#ifndef MODEL_GPU_PEER_STATE_H
#define MODEL_GPU_PEER_STATE_H

#include "base/list.h"
#include "lockstep/timeline.h"
#include "lockstep/sector.h"
#include "lockstep/state.h"
#include "model/gpu/peer.h"

#define PEER_FLUSH_TOKEN (UINT32_C(1) << 30) /* of flushes, in L2 requests */
#define PEER_ENDS 66u                        /* GPUs and the host, at most */

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
    uint64_t flushes, flush_rounds;                        /* rounds: one may serve several flushes */
    uint64_t in_flight_peak;
} peer_counters;

/* A sector request of this GPU, before it is in a packet. */
typedef struct peer_sector {
    ls_sector_message m;
    ls_link *link; /* whose buffer entry it has */
    uint32_t next;
} peer_sector;

/* A packet of this GPU, from its first sector to its answer. */
typedef struct peer_ask {
    ls_sector_message m[LS_PEER_SECTORS];
    uint64_t line;
    ls_cycle opened;
    uint32_t next, older, newer;   /* older, newer: of those that may grow */
    uint16_t owner, core;          /* core: the requester */
    uint8_t count, kind, answered; /* answered: sectors that went back to it */
    uint8_t slot;                  /* of its open packets */
} peer_ask;

/* A packet of another GPU. */
typedef struct peer_serve {
    ls_peer_packet packet;
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
    ls_peer_notice notice;
    ls_link *link; /* NULL: none */
} peer_pending_notice;

typedef struct copy_engine {
    ls_peer_command job;
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

/* A flush that was asked for. */
typedef struct flush_ask {
    ls_sector_message m; /* of a core */
    ls_link *link;       /* whose buffer entry it has until it is answered; NULL: of the device queue */
} flush_ask;

/* Flushes of L2's part for other GPUs' memory. A round asks all slices and serves all flushes that came before it. */
typedef struct flush_engine {
    ls_link **to_core; /* NULL: cores ask for none */
    uint32_t core_count, slices, total, unused;
    flush_ask *asks;      /* ring of `total` */
    uint32_t head, count; /* of the ring */
    uint32_t served;      /* of them, by this round; 0: there is none */
    uint32_t sent, left;  /* slices that were asked, answers that are missing */
} flush_engine;

typedef struct peer_way {
    struct peer *peer;
    ls_event ready; /* while a message waits for its link */
    bool waits;
} peer_way;

enum { PEER_WAY_MEMORY = LS_FABRIC_CLASSES, PEER_WAY_CORE, PEER_WAY_QUEUE, PEER_WAY_FENCE, PEER_WAYS };

typedef struct peer {
    const peer_spec *spec;
    const char *name;
    const ls_tap *tap;
    ls_region *region;
    ls_domain *domain;
    ls_ticker ticker;
    ls_fabric_end end;
    mem_map map;
    uint32_t requesters, channels;
    uint32_t memory_id;    /* this block's number among the requesters of the own L2 */
    uint32_t open_packets; /* of a requester that may grow */
    ls_link **to_core, **to_memory, *to_queue;

    peer_sector *sectors;
    peer_ask *asks;
    peer_serve *serves;
    uint32_t sector_total, ask_total, serve_total;
    uint32_t *open; /* [requester * open_packets + slot]: a packet that may grow; INDEX_NONE: none */
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
    ls_peer_command signals[LS_PEER_COMMANDS]; /* that wait for the fabric */
    ls_link *from_queue;                       /* whose buffer entries they have */
    peer_pending_notice *notices;              /* ring: that wait for the queue */
    uint32_t notice_total, unused;
    copy_engine copy;
    flush_engine flush;
    peer_way ways[PEER_WAYS];
    peer_counters n;
} peer;

/* Puts a message on the fabric, or waits for its link. body: body_bytes are copied. */
bool peer_send(peer *p, ls_fabric_class class_index, ls_peer_kind kind, uint32_t to, uint32_t token,
               uint64_t address, uint32_t data_bytes, uint32_t header_bytes, const void *body,
               uint32_t body_bytes);
/* Requests a sector of the own memory; false: the link has no room, and the block is woken when it has. */
bool peer_request_sector(peer *p, uint64_t address, uint32_t byte_mask, uint32_t token, ls_sector_kind kind,
                         bool global);
/* A message waits for its link; peer_way_ready() ends that. */
void peer_wait(peer *p, uint32_t way, ls_link *link);
/* Tells the device queue. */
void peer_notify(peer *p, ls_peer_notice notice, ls_link *link);

/* For the table of the port: messages of links. */
void peer_receive_request(void *state, ls_link *link, const void *payload, ls_cycle now);
void peer_receive_reply(void *state, ls_link *link, const void *payload, ls_cycle now);
void peer_receive_command(void *state, ls_link *link, const void *payload, ls_cycle now);
void peer_receive_flush(void *state, ls_link *link, const void *payload, ls_cycle now);

/* For the set-up: a link has room again, a message of the fabric, one cycle. */
void peer_way_ready(void *self, ls_cycle now);
void peer_receive(void *self, ls_link *link, const void *payload, ls_cycle now);
bool peer_tick(void *self, ls_cycle now);

/* --- copy_engine.c --- */

ls_status copy_engine_init(peer *p, ls_error *err);
void copy_engine_start(peer *p, const ls_peer_command *command);
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

/* --- peer_flush.c --- */

ls_status flush_engine_init(peer *p, const ls_peer_wiring *wiring, ls_error *err);
void flush_engine_start(peer *p); /* for the device queue */
void flush_engine_answer(peer *p);
void flush_engine_cycle(peer *p);
bool flush_engine_has_work(const peer *p);
#define FLUSH_ENGINE_ROWS 4
extern const ls_state_row flush_engine_rows[FLUSH_ENGINE_ROWS];

#endif
