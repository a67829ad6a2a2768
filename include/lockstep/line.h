/* line.h: memory messages of machine `amd`. They travel between compute units, TLBs, caches and memory
 * channels. A message moves one cache line with the bytes that are read or written: a load's value comes from
 * its reply. (Sector messages of traces, lockstep/sector.h, carry no data.)
 *
 * Every block that takes such messages provides the port "memory" of this interface: caches
 * (lockstep/line_cache.h), TLBs (lockstep/tlb.h), channels (lockstep/channel.h). */
#ifndef LOCKSTEP_LINE_H
#define LOCKSTEP_LINE_H

#include "lockstep/block.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LS_LINE_BYTES_MAX 128u

typedef enum ls_line_kind {
    LS_LINE_READ, /* the reply has the whole line */
    LS_LINE_WRITE, /* the bytes of the mask; the reply says that every later read of the same cache level sees them */
    LS_LINE_ATOMIC,     /* performed by the level that is home to the line (L2) */
    LS_LINE_INVALIDATE, /* forget clean lines; replied when done. All of them: address and mask do not count. With
                         * LS_LINE_PAGE: mask[1] bytes from the address on */
    LS_LINE_FLUSH,      /* write dirty lines back and keep them clean; replied when the last one is written */
} ls_line_kind;

enum {                        /* ls_line_message.flags */
       LS_LINE_GLC = 1u << 0, /* misses in the first cache on purpose: sees what other compute units wrote */
       LS_LINE_SLC = 1u << 1, /* streamed: next to be replaced */
       LS_LINE_DLC = 1u << 2, /* RDNA: misses in the shader array's L1 too */
       LS_LINE_RETURN =
           1u << 3, /* an atomic's old values are wanted: they come in the places of its operands */
       LS_LINE_FAULT = 1u << 4,  /* reply: nothing is mapped there (or not for writing); data is 0 */
       LS_LINE_CODE = 1u << 5,   /* an instruction fetch: for counters */
       LS_LINE_SCALAR = 1u << 6, /* a scalar read: for counters */
       LS_LINE_SYSTEM =
           1u << 7, /* of the host (a copy, a loader): may write pages that programs may only read */
       LS_LINE_READ_ONLY = 1u << 8, /* reply, with LS_LINE_FAULT: the page is mapped, but not for writing */
       LS_LINE_PAGE =
           1u << 9, /* of a page that moves: L2 writes its line back, keeps none, and lets it pass */
       /* Reply: the farthest level that it came from. None: a cache above L2. */
       LS_LINE_FROM_L2 = 1u << 10,
       LS_LINE_FROM_DRAM = 1u << 11,
       LS_LINE_FROM_REMOTE = 1u << 12, /* memory of another GPU, or of the host */
       LS_LINE_FROM = LS_LINE_FROM_L2 | LS_LINE_FROM_DRAM | LS_LINE_FROM_REMOTE,
};

/* A request, and its answer: the answer is the request sent back, with data. */
typedef struct ls_line_message {
    uint64_t address; /* of the line: a multiple of its size */
    /* One bit per byte. Write: the valid bytes of data[]. Atomic: the bytes of its operands; each address
     * occurs at most once, and operands lie in data[] at their addresses. Compare-and-swap: its operands lie
     * in one half of a 128-byte line, and `half` says in which. data[] has the new values in its first
     * LS_LINE_BYTES_MAX / 2 bytes and the comparands at the same places of the second half. Read: the bytes
     * that the requester needs, for counters only. */
    uint64_t mask[2];
    uint32_t token;  /* the requester's; comes back untouched */
    uint16_t source; /* which requester: each level that forwards sets its own and restores it in the reply */
    uint16_t flags;  /* LS_LINE_* */
    uint8_t kind;    /* ls_line_kind */
    uint8_t
        atomic; /* the operation, for ls_line_atomic(); invalidate and flush: how many caches below this one */
    uint8_t atomic_bytes; /* 4 or 8 */
    uint8_t half;         /* compare-and-swap: 0, or 1 for bytes 64 to 127 */
    uint32_t born; /* lower bits of the cycle at which the first requester sent it: for average latencies */
    /* The two ends of its way through the network (slot "noc"), both ways. The ends set them; caches do not. */
    uint16_t requester, place;
    uint32_t
        number; /* of the request, for timelines; 0: nobody listens. A cache's message below has its first requester's. */
    _Alignas(16) uint8_t data[LS_LINE_BYTES_MAX];
} ls_line_message;

/* --- inside a domain: a requester and the cache it is wired to --- */

struct ls_line_port;

/* The functions of a requester. Called from the cache's own events; the message is valid during the call. */
typedef struct ls_line_client_ops {
    void (*reply)(void *self, const ls_line_message *message, ls_cycle now);
    void (*retry)(void *self, ls_cycle now); /* a request that was refused has a chance now */
} ls_line_client_ops;

/* Provided by every block that takes lines. `client` is the number that attach() gave to a requester: one block
 * serves many. */
typedef struct ls_line_memory_ops {
    /* Before the run: one more requester, which is called through client_ops. *out becomes its end of the
     * wire. */
    ls_status (*attach)(void *self, const ls_line_client_ops *client_ops, void *client,
                        struct ls_line_port *out, ls_error *err);
    /* Takes the request (copied) in this cycle, or refuses: then retry() follows once. Every accepted request
     * is answered exactly once, also writes. Requests of one client to one line keep their order. A TLB whose
     * attach() joins the requester to the cache itself may leave it NULL. */
    bool (*request)(void *self, uint32_t client, const ls_line_message *message, ls_cycle now);
    /* Before the run: requests of this requester count as coming `cycles` later. May be NULL: then a TLB holds
     * each request back, which costs the host more. */
    void (*delay)(void *self, uint32_t client, uint32_t cycles);
} ls_line_memory_ops;

#define LS_LINE_MEMORY_INTERFACE "line-memory/1"
#define LS_LINE_MEMORY_PORT "memory"

/* A requester's end of the wire. */
typedef struct ls_line_port {
    const ls_line_memory_ops *ops;
    void *self;
    uint32_t client;
    uint32_t line_bytes; /* of that cache; requests must be aligned to it */
} ls_line_port;

static inline bool ls_line_request(const ls_line_port *port, const ls_line_message *message, ls_cycle now)
{
    return port->ops->request(port->self, port->client, message, now);
}

/* Attaches a requester to a block that provides the port "memory". */
LS_API ls_status ls_line_join(ls_block *memory, const ls_line_client_ops *client_ops, void *client,
                              ls_line_port *out, ls_error *err);
/* The same for a block that has lines itself: line_bytes of both must be the same; `user` names it in the
 * error. */
LS_API ls_status ls_line_join_below(ls_block *user, uint32_t line_bytes, ls_block *memory,
                                    const ls_line_client_ops *client_ops, ls_line_port *out, ls_error *err);

/* Performs the atomics of a message on the bytes of its line, in the order of their addresses. Old values take
 * the places of the operands. Returns how many there were. For models of slot "l2" of machine `amd`. */
LS_API uint32_t ls_line_atomic(ls_line_message *message, uint8_t *line);

/* --- copies: most messages carry no data one way --- */

#define LS_LINE_HEAD_BYTES offsetof(ls_line_message, data)

static inline void ls_line_copy_head(ls_line_message *to, const ls_line_message *from)
{
    memcpy(to, from, LS_LINE_HEAD_BYTES);
}

static inline void ls_line_copy_data(uint8_t *to, const uint8_t *from, uint32_t line_bytes)
{
    if (line_bytes == 64)
        memcpy(to, from, 64);
    else
        memcpy(to, from, LS_LINE_BYTES_MAX);
}

/* Bytes of data[] that a request carries. Two-operand atomics use all of it, for any line size. */
static inline uint32_t ls_line_request_data(const ls_line_message *message, uint32_t line_bytes)
{
    if (message->kind == LS_LINE_WRITE)
        return line_bytes;
    return message->kind == LS_LINE_ATOMIC ? LS_LINE_BYTES_MAX : 0;
}

/* The same of an answer. */
static inline uint32_t ls_line_reply_data(const ls_line_message *message, uint32_t line_bytes)
{
    if (message->kind == LS_LINE_READ)
        return line_bytes;
    return message->kind == LS_LINE_ATOMIC && (message->flags & LS_LINE_RETURN) != 0 ? line_bytes : 0;
}

static inline void ls_line_copy(ls_line_message *to, const ls_line_message *from, uint32_t data_bytes)
{
    ls_line_copy_head(to, from);
    if (data_bytes != 0)
        ls_line_copy_data(to->data, from->data, data_bytes);
}

#endif
