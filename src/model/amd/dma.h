/* dma.h: the engine that moves memory: between the host and the GPU over the host link, and inside the GPU.
 * All of it travels as line messages through L2, so that what a kernel left in a cache is what a copy finds.
 * Lives in the command processor's domain; the command processor is its only client. */
#ifndef MODEL_AMD_DMA_H
#define MODEL_AMD_DMA_H

#include "lockstep/block.h"
#include "model/amd_memory/line.h"

#include <stdbool.h>

typedef enum dma_kind {
    DMA_IN,   /* host to GPU */
    DMA_OUT,  /* GPU to host */
    DMA_COPY, /* inside the GPU; overlapping ranges behave as memmove */
    DMA_FILL,
} dma_kind;

/* One transfer; the client's memory, while it runs. */
typedef struct dma_job {
    uint8_t kind;
    bool local; /* DMA_IN, DMA_OUT: what the command processor does for itself: no host link, no set-up */
    uint64_t to, from, bytes;
    const uint8_t *host_from; /* NULL, here and below: a transfer without data */
    uint8_t *host_to;
    const uint8_t *pattern;
    uint32_t pattern_bytes;
    void (*done)(void *self, struct dma_job *job, ls_cycle now);
    void *self;
    /* The engine's own. */
    struct dma_job *next;
    uint64_t asked, answered; /* bytes of this chunk that were requested, and answered */
    uint64_t chunk, landed;   /* landed: bytes that have come over the host link */
    uint32_t stage;           /* DMA_COPY: which buffer; UINT32_MAX: none */
    bool is_writing;
    ls_cycle ready; /* set-up and the host link's latency are over */
} dma_job;

/* Wiring, before the run: the block behind which L2 is. */
ls_status dma_attach(ls_block *dma, ls_block *memory, ls_error *err);

/* From the same domain. bytes may be 0. */
void dma_start(void *state, dma_job *job, ls_cycle now);

#endif
