/* dma.h: the DMA engine of machine `amd`: copies between host and GPU, copies and fills inside the GPU.
 *
 * A model is a block of slot "dma" that provides the port "dma" of this interface. It lives in the command
 * processor's domain, which is its only client, and reads and writes lines through L2 (lockstep/line.h).
 * docs/add-a-block.md builds one from nothing. */
#ifndef LOCKSTEP_DMA_H
#define LOCKSTEP_DMA_H

#include "lockstep/line.h"

#define LS_DMA_SLOT "dma"
#define LS_DMA_PORT "dma"
#define LS_DMA_INTERFACE "dma/1"

typedef enum ls_dma_kind {
    LS_DMA_IN,   /* host to GPU */
    LS_DMA_OUT,  /* GPU to host */
    LS_DMA_COPY, /* inside the GPU; overlapping ranges behave as memmove */
    LS_DMA_FILL,
} ls_dma_kind;

/* One transfer; the client's memory, while it runs. */
typedef struct ls_dma_job {
    uint8_t kind;
    bool local; /* LS_DMA_IN, LS_DMA_OUT: for the command processor's own data: no host link, no set-up */
    uint64_t to, from, bytes;
    const uint8_t *host_from; /* NULL, here and below: a transfer without data */
    uint8_t *host_to;
    /* LS_DMA_IN, LS_DMA_OUT: where the bytes lie in the memory of a host that is on the fabric, a physical address like
     * those of other GPUs. The engine may read or write it as lines, and sets uses_host then. 0: there is no such host.
     * An engine that does not uses host_from and host_to, and a link of its own. */
    uint64_t host;
    bool uses_host;
    const uint8_t *pattern;
    uint32_t pattern_bytes;
    void (*done)(void *self, struct ls_dma_job *job, ls_cycle now);
    void *self;
    /* The engine's own. */
    struct ls_dma_job *next;
    uint64_t asked, answered; /* bytes of this chunk that were requested, and answered */
    uint64_t chunk, landed;   /* landed: bytes that have come over the host link */
    uint32_t stage;           /* LS_DMA_COPY: which buffer; UINT32_MAX: none */
    bool is_writing;
    bool is_stream; /* between two memories: each line is written when it has been read */
    ls_cycle ready; /* set-up and the host link's latency are over */
} ls_dma_job;

/* Provided port. */
typedef struct ls_dma_ops {
    /* Before the run: the block that leads to L2; see ls_line_join(). */
    ls_status (*attach)(void *self, ls_block *memory, ls_error *err);
    /* Begins a transfer; bytes may be 0. job->done() is called when it is over, from the same domain. */
    void (*start)(void *self, ls_dma_job *job, ls_cycle now);
} ls_dma_ops;

#endif
