/* host.h: the slot `host` of machine `system`: CPU memory and the IOMMU with the page tables, at the fabric's last end.
 *
 * A model is a block type of slot "host" that provides LS_HOST_PORT. The system creates a domain and a group for it, and
 * the block in this domain. A model without the port, such as `none`, adds nothing.
 *
 * A host answers three classes of messages. Every message is answered once; token and address come back. A message keeps
 * the buffer entry of its link until its answer is on the fabric.
 *
 *   REQUEST   body: ls_line_message (lockstep/line.h), a read, write or atomic of one line of host memory; its address
 *             is the frame, without bits of a place. Answered in class DATA.
 *   COPY      the same body, for DMA engines. Answered in class COPY.
 *   WALK      a page walk. Answered in class WALK, as the table of that GPU says.
 *
 * COPY is taken at once: no GPU has more than ls_host_shape.copies open. WALK is taken at once as long as all GPUs
 * together have no more open than the end has credits. Where pages migrate (lockstep/migrate.h), the directory takes all
 * other messages, and answers the walks of pages that it manages. */
#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H

#include "lockstep/channel.h"
#include "lockstep/fabric.h"
#include "lockstep/tlb.h"

#define LS_HOST_SLOT "host"
#define LS_HOST_PORT "host"
#define LS_HOST_INTERFACE "host/2"

/* A GPU whose page walks go to the host adds its part of this name to the engine: such a system has a host. */
#define LS_HOST_WALKS_PART "walks.host"

#define LS_HOST_GPUS_MAX 64u

/* Bytes of messages beside their data: akita, mem/mem/protocol.go. */
#define LS_HOST_REQUEST_BYTES 12u
#define LS_HOST_ANSWER_BYTES 4u

/* A model, before its block is created. */
typedef struct ls_host_shape {
    ls_ratio clock_hz;
    uint32_t copies;     /* of each GPU: messages of class COPY that it may have open */
    uint32_t line_bytes; /* that a read brings; 0: a line of the GPUs' caches */
} ls_host_shape;

typedef struct ls_host_wiring {
    uint32_t gpus, line_bytes;
    ls_memory *memory; /* the bytes and pages of host memory */
} ls_host_wiring;

/* The directory of pages that migrate, in the host's domain. */
typedef struct ls_host_directory_ops {
    /* A walk has ended. body: of its message. True: the directory answers it; false: the page is not managed. */
    bool (*walked)(void *self, uint32_t gpu, const void *body, ls_cycle taken, ls_cycle now);
    /* Any message but walks and lines of memory (ls_host_is_own()). Releases the link's buffer entry. */
    void (*message)(void *self, ls_link *link, const ls_fabric_message *message, ls_cycle now);
} ls_host_directory_ops;

typedef struct ls_host_directory {
    const ls_host_directory_ops *ops;
    void *self;
    uint32_t credits[LS_FABRIC_CLASSES]; /* that the end gets for it: of INVALIDATE and MIGRATE */
} ls_host_directory;

typedef struct ls_host_ops {
    /* ls_host_build: creates the host's domain, its block and its memory, with the functions that follow. */
    ls_status (*build)(ls_engine *engine, const ls_block_type *model, const void *spec, uint32_t gpus,
                       ls_error *err);
    ls_status (*describe)(const void *spec, ls_host_shape *out, ls_error *err);
    /* While the machine is built. */
    ls_status (*attach)(void *self, const ls_host_wiring *wiring, ls_error *err);
    /* Its end of the fabric, after attach(): it takes REQUEST, COPY (`copies` of every GPU) and WALK. */
    ls_fabric_end *(*end)(void *self);
    /* Before a run: the page table that answers walks of a GPU. Without it every page lies at home. It is copied. */
    ls_status (*set_pages)(void *self, uint32_t gpu, const ls_pages *pages, ls_error *err);

    /* For pages that migrate; a model without these is refused by name where pages do. */
    void (*set_directory)(void *self, const ls_host_directory *directory); /* while the machine is built */
    /* An access of so many bytes takes its turn in CPU memory. Returns when it ends, never before earlier ones. */
    ls_cycle (*memory_time)(void *self, uint64_t bytes, ls_cycle now);
    void (*memory_line)(void *self, ls_line_message *line); /* reads or writes it then */
} ls_host_ops;

/* --- services for models --- */

LS_API ls_status ls_host_build(ls_engine *engine, const ls_block_type *model, const void *spec, uint32_t gpus,
                               ls_error *err);

/* Whether a message is for the host itself: a line of memory or a page walk. */
LS_API bool ls_host_is_own(const ls_fabric_message *message);
/* Performs the access of a line on the bytes of host memory; flags say whether the page was mapped. */
LS_API void ls_host_access(ls_memory *memory, ls_line_message *line, uint32_t line_bytes);
/* Performs a message (lines of memory, or a walk by the table of GPU message->from) and makes it its own answer. Returns
 * the class in which it goes back. */
LS_API ls_fabric_class ls_host_answer(const ls_host_wiring *host, const ls_pages *pages,
                                      ls_fabric_message *message);

#endif
