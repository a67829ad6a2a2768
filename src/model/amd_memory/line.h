/* line.h: memory that carries data: what travels between compute units, caches and memory partitions when
 * programs are executed. A message moves one cache line with the bytes that are read or written, so that a
 * load's value is what its reply brought. Sector messages of traces (memory/mem.h) carry none. */
#ifndef MODEL_AMD_MEMORY_LINE_H
#define MODEL_AMD_MEMORY_LINE_H

#include "lockstep/block.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LINE_BYTES_MAX 128u

typedef enum line_kind {
    LINE_READ, /* the reply has the whole line */
    LINE_WRITE, /* the bytes of the mask; the reply says that every later read of the same cache level sees them */
    LINE_ATOMIC,     /* performed by the level that is home to the line (L2) */
    LINE_INVALIDATE, /* forget clean lines (all, address and mask do not count); replied when done */
    LINE_FLUSH,      /* write dirty lines back and keep them clean; replied when the last one is written */
} line_kind;

enum {                        /* line_message.flags */
       LINE_GLC = 1u << 0,    /* misses in the first cache on purpose: sees what other compute units wrote */
       LINE_SLC = 1u << 1,    /* streamed: next to be replaced */
       LINE_DLC = 1u << 2,    /* RDNA: misses in the shader array's L1 too */
       LINE_RETURN = 1u << 3, /* an atomic's old values are wanted: they come in the places of its operands */
       LINE_FAULT = 1u << 4,  /* reply: nothing is mapped there (or not for writing); data is 0 */
       LINE_CODE = 1u << 5,   /* an instruction fetch: for counters */
       LINE_SCALAR = 1u << 6, /* a scalar read: for counters */
       LINE_SYSTEM = 1u << 7, /* of the host (a copy, a loader): may write pages that programs may only read */
};

/* A request, and its answer: the answer is the request sent back, with data. */
typedef struct line_message {
    uint64_t address; /* of the line: a multiple of its size */
    /* One bit per byte. Write: the bytes of data[] that count. Atomic: the bytes of its operands; each
     * address at most once, operands lie in data[] where their addresses say. A compare-and-swap spans at
     * most one half of a 128-byte line's worth of operands: data[] has the new values in its first
     * LINE_BYTES_MAX / 2 bytes and the comparands at the same places of the second half; `half` says which
     * half of a 128-byte line it is. Read: the bytes somebody wants, for counters only. */
    uint64_t mask[2];
    uint32_t token;  /* the requester's; comes back untouched */
    uint16_t source; /* which requester: each level that forwards sets its own and restores it in the reply */
    uint16_t flags;  /* LINE_* */
    uint8_t kind;    /* line_kind */
    uint8_t
        atomic; /* amd_atomic of isa/amd/exec/memory.h; invalidate and flush: how many caches below this one */
    uint8_t atomic_bytes; /* 4 or 8 */
    uint8_t half;         /* compare-and-swap: 0, or 1 for bytes 64 to 127 */
    uint32_t born; /* lower bits of the cycle at which the first requester sent it: for average latencies */
    _Alignas(16) uint8_t data[LINE_BYTES_MAX];
} line_message;

/* --- inside a domain: a requester and the cache it is wired to --- */

struct line_port;

/* What a requester offers. Called from the cache's own events; the message is valid during the call. */
typedef struct line_client_ops {
    void (*reply)(void *self, const line_message *message, ls_cycle now);
    void (*retry)(void *self, ls_cycle now); /* a request that was refused has a chance now */
} line_client_ops;

/* What a cache (or anything that stands for memory) offers. `client` is the number that its builder gave the
 * requester; it comes in through the port, so that one cache serves many. */
typedef struct line_memory_ops {
    /* Takes the request (copied) in this cycle, or refuses: then retry() follows once. Every accepted request
     * is answered exactly once, also writes. Requests of one client to one line keep their order. */
    bool (*request)(void *self, uint32_t client, const line_message *message, ls_cycle now);
    /* Before the run: one more requester, who is called through client_ops. *out becomes its end of the
     * wire. */
    ls_status (*attach)(void *self, const line_client_ops *client_ops, void *client, struct line_port *out,
                        ls_error *err);
    /* Before the run: requests of this requester count as coming `cycles` later. NULL: cannot be said.
     * Cheaper than holding each of them back. */
    void (*delay)(void *self, uint32_t client, uint32_t cycles);
} line_memory_ops;

#define LINE_MEMORY_INTERFACE "line-memory/1"
#define LINE_MEMORY_PORT "memory"

/* A requester's end of the wire. */
typedef struct line_port {
    const line_memory_ops *ops;
    void *self;
    uint32_t client;
    uint32_t line_bytes; /* of that cache: what requests must be aligned to */
} line_port;

static inline bool line_request(const line_port *port, const line_message *message, ls_cycle now)
{
    return port->ops->request(port->self, port->client, message, now);
}

/* Attaches a requester to a block that provides LINE_MEMORY_PORT: a cache (cache.h), the way out of the
 * domain (hub.h), a memory channel (channel.h), a translation (tlb.h). */
ls_status line_join(ls_block *memory, const line_client_ops *client_ops, void *client, line_port *out,
                    ls_error *err);
/* The same for a block's own use: line_bytes of both must be the same; `user` names it in the error. */
ls_status line_join_below(ls_block *user, uint32_t line_bytes, ls_block *memory,
                          const line_client_ops *client_ops, line_port *out, ls_error *err);

/* The functions that a block provides for an interface; NULL if it does not. */
const void *line_find_ops(const ls_block *block, const char *interface);

/* --- copies: most messages carry no data one way --- */

#define LINE_HEAD_BYTES offsetof(line_message, data)

static inline void line_copy_head(line_message *to, const line_message *from)
{
    memcpy(to, from, LINE_HEAD_BYTES);
}

static inline void line_copy_data(uint8_t *to, const uint8_t *from, uint32_t line_bytes)
{
    if (line_bytes == 64)
        memcpy(to, from, 64);
    else
        memcpy(to, from, LINE_BYTES_MAX);
}

/* Bytes of data[] that a request carries. Two-operand atomics use all of it whatever the line's size. */
static inline uint32_t line_request_data(const line_message *message, uint32_t line_bytes)
{
    if (message->kind == LINE_WRITE)
        return line_bytes;
    return message->kind == LINE_ATOMIC ? LINE_BYTES_MAX : 0;
}

/* The same of an answer. */
static inline uint32_t line_reply_data(const line_message *message, uint32_t line_bytes)
{
    if (message->kind == LINE_READ)
        return line_bytes;
    return message->kind == LINE_ATOMIC && (message->flags & LINE_RETURN) != 0 ? line_bytes : 0;
}

static inline void line_copy(line_message *to, const line_message *from, uint32_t data_bytes)
{
    line_copy_head(to, from);
    if (data_bytes != 0)
        line_copy_data(to->data, from->data, data_bytes);
}

#endif
