/* migrate.h: pages that move between GPUs and the host while programs run (slot `migrate` of a system): the messages of the
 * protocol, and the functions for the driver.
 *
 * Three parts take part in it:
 *
 *   directory   of the IOMMU, in the host's domain (directory.h). It has the state of every managed page, decides, and
 *               answers page walks.
 *   agent       of each GPU (src/model/amd_memory/page_agent.c), behind the GPU's end of the fabric. It sends the MMU's
 *               walks, has translations shot down, and moves the lines of pages.
 *   driver      which adds ranges of managed memory, between runs.
 *
 * A managed range has frames on every GPU and on the host, reserved when it is allocated: a page that moves to a GPU lies in
 * its frame there. So parts of a page, and pages that follow each other, have frames that follow each other too, and a page
 * can be split and merged without moving. The memory that a GPU really has is a limit on resident pages.
 *
 * All other memory (code, queues, scratch) has the places that the page table says; walks for it are answered at once.
 *
 *   class       kind                from, to        meaning
 *   WALK        MIGRATE_ASK         GPU, host       a translation is wanted, for reading or writing
 *               MIGRATE_GRANT       host, GPU       the translation
 *               MIGRATE_TAKEN       GPU, host       a grant of a managed page is in effect; the page may change again
 *               MIGRATE_COUNTED     GPU, host       a remote page had as many accesses as migrate.threshold says
 *   INVALIDATE  MIGRATE_SHOOT       host, GPU       forget the translations of a page; send it, or drop it
 *               MIGRATE_SHOT        GPU, host       done; if it had to send, all pieces have left
 *   MIGRATE     MIGRATE_PIECE       owner, new      one line of a page (the host may be either)
 *               MIGRATE_ARRIVED     new, host       all pieces of a page are in memory
 *
 * Between MIGRATE_GRANT and MIGRATE_TAKEN the directory sends no MIGRATE_SHOOT for the page: messages of different classes may
 * overtake each other. An agent that has said MIGRATE_TAKEN has let every request that waited for the grant pass, so each
 * grant serves at least one access, and pages that two GPUs want in turn always make progress. */
#ifndef MODEL_MIGRATE_MIGRATE_H
#define MODEL_MIGRATE_MIGRATE_H

#include "lockstep/block.h"
#include "engine/fabric_ends.h"
#include "model/memory/place.h"

typedef enum migrate_kind {
    MIGRATE_ASK = 1,
    MIGRATE_GRANT,
    MIGRATE_TAKEN,
    MIGRATE_COUNTED,
    MIGRATE_SHOOT,
    MIGRATE_SHOT,
    MIGRATE_PIECE,
    MIGRATE_ARRIVED,
} migrate_kind;

enum {                          /* migrate_body.flags */
       MIGRATE_WRITE = 1u << 0, /* ASK: for writing or an atomic. GRANT: writes are allowed */
       MIGRATE_STAY =
           1u << 1, /* ASK: of a DMA engine; the page stays where it is, a remote translation will do */
       MIGRATE_MANAGED = 1u << 2, /* GRANT: of a managed page; MIGRATE_TAKEN is awaited */
       MIGRATE_FORGET = 1u << 3,  /* SHOOT: translations go, also those of larger pages that overlap this one;
                                * without it the page is only sent (it stays shared) */
       MIGRATE_SEND = 1u << 4,    /* SHOOT: the page is sent to `to` */
       MIGRATE_FAULT = 1u << 5,   /* GRANT: nothing is mapped there: the access will fault */
};

/* The body of all kinds but MIGRATE_PIECE. ls_fabric_message.token is the directory's transaction in SHOOT, SHOT and ARRIVED,
 * and the grant's number in GRANT and TAKEN. */
typedef struct migrate_body {
    uint64_t address; /* virtual: of the page; ASK: of the access */
    uint64_t
        frame; /* GRANT: physical, as this GPU sees it (place.h). SHOOT: likewise, in this GPU's memory if it
                        * has the page, else in the memory where it uses it: lines from there leave its L1 caches */
    uint64_t to_frame; /* SHOOT with MIGRATE_SEND: in the memory of the receiver */
    uint32_t token;    /* ASK, GRANT: of the agent */
    uint16_t
        to; /* SHOOT with MIGRATE_SEND: the receiver's end of the fabric. GRANT of a page in another memory:
                        * accesses after which MIGRATE_COUNTED is wanted; 0: it is not */
    uint8_t size_log2; /* of the page, in bytes: 10 to 21 */
    uint8_t flags;
} migrate_body;

/* MIGRATE_PIECE: the body is an ls_line_message that writes a line: address is the line's in the receiver's memory, token how
 * many pieces the page has. ls_fabric_message.token is the directory's transaction. */

/* Bytes of messages: an address and an entry; a piece has 12 beside its data (akita, DataPullRsp). */
#define MIGRATE_BODY_WIRE_BYTES 16u
#define MIGRATE_PIECE_HEAD_BYTES 12u

#define MIGRATE_SIZE_MIN_LOG2 10u
#define MIGRATE_SIZE_MAX_LOG2 21u

/* ------------------------------------------------------------------------------------------- for the driver */

/* The built directory, as part MIGRATE_PART of the engine. */
#define MIGRATE_PART "migrate"

typedef struct migrate_range {
    uint64_t address, bytes; /* virtual; multiples of 2 MiB */
    uint64_t
        used; /* bytes of it that a program uses; 0: all. No page has both used and unused memory, so far as its
                    * model allows */
    uint64_t frames
        [MEM_PLACES]; /* by place: where the range begins in each memory. GPUs that the system does not have: 0 */
} migrate_range;

/* All of these between runs. A range begins with all pages at `place` (a GPU or MEM_PLACE_HOST), exclusively; with
 * `migrate.start: host` on the host. Pages that a GPU has no room for (`migrate.capacity_mib`) begin on the host too. */
ls_status migrate_add_range(ls_block *directory, const migrate_range *range, uint32_t place, ls_error *err);
/* No command uses it any more. Fails if a page of it is on its way. */
ls_status migrate_remove_range(ls_block *directory, uint64_t address, ls_error *err);
/* Pages that nothing has been written to lie at another place from now on. Address and bytes: of whole pages; the
 * last one may be used in part. Fails if
 * a GPU has been granted one of them. */
ls_status migrate_set_place(ls_block *directory, uint64_t address, uint64_t bytes, uint32_t place,
                            ls_error *err);
/* Moves pages with their content; they are there when the directory is idle again, after the engine has run. */
ls_status migrate_move(ls_block *directory, uint64_t address, uint64_t bytes, uint32_t place, ls_error *err);
bool migrate_is_idle(const ls_block *directory);
/* Bytes of the largest page that there can be. */
uint64_t migrate_page_bytes(const ls_block *directory);
/* Where the newest bytes of an address are: the owner, or the first of those that share it. False: it is not managed. *run_bytes:
 * from there on, at most `bytes`, in frames that follow each other. */
bool migrate_find(const ls_block *directory, uint64_t address, uint64_t bytes, uint32_t *place,
                  uint64_t *frame, uint64_t *run_bytes);

#endif
