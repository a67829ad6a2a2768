/* dma.h: the DMA engine "line": copies between host and GPU, and inside the GPU. They go line by line through
 * L2, so that lines that a kernel left in a cache are found. Its interface is lockstep/dma.h. */
#ifndef MODEL_AMD_DMA_H
#define MODEL_AMD_DMA_H

#include "lockstep/dma.h"
#include "model/amd_memory/line.h"

enum { DMA_IN = LS_DMA_IN, DMA_OUT = LS_DMA_OUT, DMA_COPY = LS_DMA_COPY, DMA_FILL = LS_DMA_FILL };
typedef ls_dma_job dma_job;

#endif
