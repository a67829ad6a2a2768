/* host.h: the host of a system: CPU memory and the IOMMU with the page table, at the fabric's last end.
 *
 * It answers three classes of messages. Every message is answered once; token and address come back.
 *
 *   REQUEST   body: ls_line_message (lockstep/line.h), a read, write or atomic of one line of host memory; its address
 *             is the frame, without bits of a place. Answered in class DATA. The request keeps its buffer entry until
 *             its answer is on the fabric.
 *   COPY      the same body, for DMA engines. Answered in class COPY.
 *   WALK      MIGRATE_ASK (model/migrate/migrate.h). Answered in class WALK with MIGRATE_GRANT, as the table of that GPU
 *             says (host_set_pages()): a page of the size that the question names, 4 KiB if it names none. Pages that
 *             migrate are answered by their directory.
 *
 * COPY is taken at once: no GPU may have more than host_part.copies open. WALK is taken at once as long as all GPUs
 * together have no more open than `host.walk_queue`. Other classes never come here. */
#ifndef MODEL_FABRIC_HOST_H
#define MODEL_FABRIC_HOST_H

#include "lockstep/block.h"
#include "lockstep/tlb.h"
#include "lockstep/line.h"
#include "model/fabric/fabric.h"
#include "model/migrate/migrate.h"

/* Bytes of messages beside their data: akita, mem/mem/protocol.go. */
#define HOST_REQUEST_BYTES 12u
#define HOST_ANSWER_BYTES 4u

/* A built host, as part HOST_PART of the engine. */
#define HOST_PART "host"
typedef struct host_part {
    ls_block *host;
    ls_block
        *memory; /* its bytes and pages: line_memory_attach() gives it an address space (place_memory.h) */
    const fabric_end *end;
    uint32_t copies; /* of each GPU: messages of class COPY that it may have open */
} host_part;

/* Before a run: the page table that answers walks of a GPU. Without it every page lies at home (place.h). The table is
 * copied. */
ls_status host_set_pages(ls_block *host, uint32_t gpu, const ls_pages *pages, ls_error *err);

/* The directory of managed pages, beside the IOMMU. */
typedef struct host_directory_ops {
    /* A walk has ended. True: the directory answers it; false: the page is not managed. */
    bool (*walked)(void *self, uint32_t gpu, const migrate_body *ask, ls_cycle taken, ls_cycle now);
    /* Any message but questions and lines of memory. Releases the link's buffer entry. */
    void (*message)(void *self, ls_link *link, const fabric_message *message, ls_cycle now);
} host_directory_ops;
/* While the machine is built, before the fabric. Credits: of the classes INVALIDATE and MIGRATE. */
void host_set_directory(ls_block *host, const host_directory_ops *ops, void *self, uint32_t invalidations,
                        uint32_t pieces);

/* For the directory. An access of so many bytes takes its turn in CPU memory; returns when it ends, never before
 * earlier ones. The line itself is then read or written by host_memory_line(). */
ls_cycle host_memory_time(ls_block *host, uint64_t bytes, ls_cycle now);
void host_memory_line(ls_block *host, ls_line_message *line);
uint32_t host_line_bytes(ls_block *host);

#endif
