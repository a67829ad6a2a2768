/* queueing.h: declarations for the blocks of the queueing machine: the message, the three interfaces between
 * blocks of one domain, and the two blocks at the ends of links.
 *
 *     client ---> output ===link===> input ---> server        one client, one server; "--->" is a port
 *       ^                              |
 *       |                           arbiter                   which of the waiting inputs comes next
 *       |
 *     input <===link=== output <--- server                    the way back, arbitrated in the client's domain
 *
 * Clients and servers know their neighbours by interface only, so a new model of either is one new file.
 * Nothing here or in this folder includes more than the public headers: the same files are a plug-in. */
#ifndef QUEUEING_H
#define QUEUEING_H

#include "lockstep/lockstep.h"

/* Inputs of one block and destinations of one block: arbiters see the waiting inputs as one word of bits. */
#define QUEUEING_MAX_PEERS 64

/* The message. Plain data: a link copies it. */
typedef struct queueing_message {
    ls_time born_fs;      /* when the client made it */
    ls_cycle arrived;     /* cycle of the receiving domain; stamped by its input */
    uint64_t number;      /* counts the requests of one client from 0 */
    uint32_t client;      /* whom to answer; stamped by the client's output */
    uint32_t bytes;       /* on the wire */
    uint32_t reply_bytes; /* of the answer that the client wants; 0: none */
    uint32_t visits;      /* servers that have handled it */
} queueing_message;

/* ------------------------------------------------------------------------------------------- interfaces */

/* Takes the message that an input has chosen. room() is called before every take(); NULL: there is always
 * room. A sink without room calls its source's resume() once it has room. */
#define QUEUEING_SINK "queueing.sink/1"
typedef struct queueing_sink_ops {
    bool (*room)(void *self);
    void (*take)(void *self, const queueing_message *message, ls_cycle now);
    const char *(*name)(const void *self); /* of the block, for reports */
} queueing_sink_ops;

#define QUEUEING_SOURCE "queueing.source/1"
typedef struct queueing_source_ops {
    void (*resume)(void *self);
} queueing_source_ops;

/* Sends to a destination. send() is false if the wire, a credit or the injection limit is missing; wait()
 * then runs `event` in the first cycle in which it is worth trying again. */
#define QUEUEING_OUTPUT "queueing.output/1"
typedef struct queueing_output_ops {
    uint32_t (*destinations)(const void *self);
    bool (*send)(void *self, uint32_t destination, const queueing_message *message, ls_cycle now);
    void (*wait)(void *self, uint32_t destination, ls_event *event, ls_cycle now);
    const char *(*peer)(const void *self, uint32_t destination); /* the block at the far end, for reports */
} queueing_output_ops;

/* Chooses one of the inputs whose bit is set in `waiting` (never 0). born_fs[i]: of input i's oldest
 * message. */
#define QUEUEING_ARBITER "queueing.arbiter/1"
typedef struct queueing_arbiter_ops {
    uint32_t (*pick)(void *self, uint64_t waiting, const ls_time *born_fs);
} queueing_arbiter_ops;

/* ------------------------------------------------------------------------------------------------- pace */

/* A switch port that moves at most one message per cycle and on average at most `width` bytes per cycle,
 * exactly. The port is busy until the fraction rest / width.num of cycle `next`. */
typedef struct queueing_pace {
    ls_ratio width; /* bytes per cycle; num 0: only the one message per cycle */
    ls_cycle next;  /* the first cycle in which it can move something */
    uint64_t rest;  /* of that cycle, already used, in units of 1 / width.num cycle */
} queueing_pace;

/* Fails for a width with so many decimals that the exact arithmetic could overflow. */
ls_status queueing_pace_init(queueing_pace *pace, ls_ratio width, ls_error *err);

static inline bool queueing_pace_ready(const queueing_pace *pace, ls_cycle now)
{
    return now >= pace->next;
}

void queueing_pace_take(queueing_pace *pace, uint32_t bytes, ls_cycle now);

/* ------------------------------------------------------------------------- the ends of links (machine.c) */

/* A block that owns the sending ends of links. Provides "output". */
typedef struct queueing_output_spec {
    ls_ratio width; /* injection limit of all its links together, bytes per cycle; num 0: none */
    bool stamps;    /* the number of the client, which goes into each message */
    uint32_t client;
} queueing_output_spec;

extern const ls_block_type queueing_output_type;
/* Adds the next destination: a link, and the name of the block that it leads to. */
ls_status queueing_output_add(ls_block *block, ls_link *link, const char *peer, ls_error *err);
/* For tests; NULL past the end. */
const ls_link *queueing_output_link(ls_block *block, uint32_t destination);

/* A block that owns the receiving ends of links, their buffers, and the choice among them. Provides "source",
 * uses "sink" and "arbiter". */
typedef struct queueing_input_spec {
    ls_ratio width; /* of the path into the sink, bytes per cycle; num 0: one message per cycle */
} queueing_input_spec;

extern const ls_block_type queueing_input_type;
/* Adds the next input: fills payload, credits, receive and receiver of `spec`, creates the link. */
ls_status queueing_input_add(ls_block *block, const ls_link_spec *spec, ls_link **out, ls_error *err);

#endif
