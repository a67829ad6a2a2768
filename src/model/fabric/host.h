/* host.h: the host of a system, as its builder, the driver and the directory of pages see it: any model of slot `host`
 * (lockstep/host.h).
 *
 * Walks are MIGRATE_ASK (model/migrate/migrate.h), answered with MIGRATE_GRANT: a page of the size that the question
 * names, 4 KiB if it names none. Pages that migrate are answered by their directory. */
#ifndef MODEL_FABRIC_HOST_H
#define MODEL_FABRIC_HOST_H

#include "lockstep/host.h"
#include "lockstep/line.h"
#include "engine/fabric_ends.h"
#include "model/migrate/migrate.h"

/* A built host, as part HOST_PART of the engine. */
#define HOST_PART "host"
typedef struct host_part {
    ls_block *host;
    ls_block
        *memory; /* its bytes and pages: line_memory_attach() gives it an address space (place_memory.h) */
    const ls_fabric_end *end;
    uint32_t copies; /* of each GPU: messages of class COPY that it may have open */
    uint32_t line_bytes;
} host_part;

/* Before a run: the page table that answers walks of a GPU. */
ls_status host_set_pages(ls_block *host, uint32_t gpu, const ls_pages *pages, ls_error *err);

/* While the machine is built, before the fabric. Fails for a model that knows no directory. */
ls_status host_set_directory(ls_block *host, const ls_host_directory *directory, ls_error *err);
/* For the directory: ls_host_ops.memory_time() and memory_line(). */
ls_cycle host_memory_time(ls_block *host, uint64_t bytes, ls_cycle now);
void host_memory_line(ls_block *host, ls_line_message *line);

/* host_answer.c: the page of a question, as the table says. */
void host_grant(const ls_pages *pages, uint32_t gpu, migrate_body *body);

#endif
