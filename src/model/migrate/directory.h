/* directory.h: the directory of managed pages in the host's IOMMU: state of pages, questions, transactions.
 *
 *   directory.c     messages in and out, and the block
 *   page_step.c     the queue of questions of a page: policy, grants, far faults
 *   transaction.c   changes of pages: shootdowns, sending, ends; pages that wait; room on GPUs
 *   policy.c        the models `page`, `esi` and `split`: the change that a question needs; plans of all models
 *   host_pages.c    the host as a holder of pages: it reads and writes lines of its memory
 *   page_map.c      ranges, pages, splitting and merging; functions for the driver
 *   page_check.c    the checker
 *   models.c        keys, counters and the registered models
 *
 * A page is named by its first unit. A unit is the smallest page there can be; units of all ranges stand in one array. */
#ifndef MODEL_MIGRATE_DIRECTORY_H
#define MODEL_MIGRATE_DIRECTORY_H

#include "base/list.h"
#include "lockstep/line.h"
#include "lockstep/migrate.h"
#include "lockstep/timeline.h"
#include "model/fabric/host.h"
#include "model/migrate/migrate.h"

#define DIR_NOWHERE UINT32_MAX
#define DIR_BLOCK_LOG2 MIGRATE_SIZE_MAX_LOG2 /* ranges are multiples of it */

/* The spec of the directory's block: numbers, and the model that decides. */
typedef struct dir_spec {
    ls_migrate_keys keys;
    const ls_migrate_ops *ops;
    const void *model_spec;
    const char *model;
} dir_spec;

typedef struct dir_counters {
    uint64_t asks, grants, remote_grants, counted;
    uint64_t migrations, copies, upgrades, moved_bytes;
    uint64_t shootdowns, drops, splits, merges;
    uint64_t evictions, spills, spilled_bytes, refetches, prefetches, pinned, far_faults;
    uint64_t ask_cycles, change_cycles, wait_cycles, waits;
    uint64_t lookups, updates, fabric_waits;
    uint64_t in_flight_peak, asks_peak, resident_peak;
} dir_counters;

enum {                           /* dir_page.flags */
       DIR_EXCLUSIVE = 1u << 0,  /* one place holds it, and may write */
       DIR_HOST_HOLDS = 1u << 1, /* the host is one of the places that hold it */
       DIR_HOST_HELD = 1u << 2,  /* the host has held it */
       DIR_PINNED = 1u << 3,     /* it moves no more */
       DIR_WAITS = 1u << 4,      /* its first question waits for a transaction */
       DIR_UNUSED = 1u << 6,     /* no program uses it: it does not merge with pages that are used */
       DIR_FAULTS = 1u << 5,     /* its first question waits for the cost of a far fault */
};

/* Masks have one bit per GPU. `mappers` may have GPUs that forgot a translation by themselves. */
typedef struct dir_page {
    uint64_t address;     /* virtual */
    uint64_t holders;     /* GPUs that have its bytes */
    uint64_t mappers;     /* GPUs that have a translation */
    uint64_t remote;      /* those of them whose translation leads to another place */
    uint64_t held;        /* GPUs that have had its bytes */
    uint64_t used;        /* GPUs that were granted it since the clock's hand passed */
    index_list asks;      /* questions, the oldest first */
    uint32_t transaction; /* INDEX_NONE: none */
    uint16_t grants;      /* sent, but not taken */
    uint16_t moves;
    uint8_t flags;
} dir_page;

typedef enum dir_ask_kind {
    DIR_WALK,    /* of a GPU: it ends with a grant */
    DIR_COUNTED, /* of a GPU's access counters */
    DIR_MOVE     /* of the driver */
} dir_ask_kind;

typedef struct dir_ask {
    uint64_t address;
    ls_cycle taken, ready;
    uint32_t next; /* in its page's queue, or in the list of lookups, faults, grants or free ones */
    uint32_t next_waiting;
    uint32_t unit, token;
    uint8_t place; /* the GPU that asks; of a move: the new place */
    uint8_t kind;  /* dir_ask_kind */
    uint8_t flags; /* migrate_body.flags */
    uint8_t at;    /* granted: the place of the bytes */
    bool is_writable, has_faulted;
} dir_ask;

/* The change that a question needs. */
typedef enum dir_change {
    DIR_NONE,  /* it can be answered */
    DIR_COPY,  /* one more place shares a shared page */
    DIR_SHARE, /* the exclusive owner sends it; both share it then */
    DIR_TAKE,  /* `to` becomes the exclusive owner */
    DIR_DROP   /* `to` holds it no more */
} dir_change;

typedef struct dir_plan {
    dir_change change;
    uint32_t to, sender; /* places; sender DIR_NOWHERE: no bytes move */
    bool grants;         /* DIR_NONE: with a grant, to the bytes at `to` */
    bool is_writable;
} dir_plan;

typedef enum dir_cause { DIR_FOR_ASK, DIR_FOR_ORDER, DIR_FOR_ROOM, DIR_FOR_NEIGHBOUR } dir_cause;

typedef struct dir_transaction {
    uint64_t shoot;   /* GPUs that MIGRATE_SHOOT has not been sent to */
    uint64_t awaited; /* GPUs that owe MIGRATE_SHOT */
    uint64_t forget;  /* GPUs whose translations go */
    ls_cycle began;
    uint32_t next, next_send;
    uint32_t unit, lines_read, lines_moved; /* lines: by the host */
    uint8_t change, cause, to, sender;      /* sender UINT8_MAX: none */
    uint8_t size_log2;
    bool is_active, is_shooting; /* is_shooting: in the list */
    bool sender_waits;           /* for those that forget remote translations */
    bool host_sends, awaits_data;
} dir_transaction;

/* A line of a page in the host's memory. */
typedef struct dir_line {
    ls_link *link; /* of a piece that came: its buffer entry */
    ls_cycle ready;
    uint32_t next, transaction;
    ls_line_message line;
} dir_line;

/* An order of the driver to move pages. */
typedef struct dir_order {
    uint64_t address, end;
    uint32_t place, unused;
} dir_order;

typedef struct dir_range {
    migrate_range range;
    uint32_t first_unit, units;
} dir_range;

/* One unit in the checker: as the messages say. */
typedef struct dir_seen {
    uint64_t valid, mapped, writable; /* GPUs: with the newest bytes; with a translation; for writing */
    uint8_t place[MEM_PLACES];        /* that the translation of a GPU leads to */
    bool host_valid;
} dir_seen;

typedef struct directory {
    const ls_migrate_keys *spec;
    const ls_migrate_ops *policy;
    const void *model_spec; /* of the policy */
    const char *model;      /* its name */
    ls_block *host;
    const ls_fabric_end *end;
    ls_region *region;
    const ls_tap *tap;
    const char *name;
    uint32_t gpus, line_bytes, ask_count, line_count, fault_cycles;
    uint32_t unit_log2, largest_log2;
    uint64_t capacity; /* bytes of each GPU */
    uint8_t *hops;     /* [gpus + 1][gpus + 1] links between places; NULL: not needed yet */

    dir_range *ranges; /* by address */
    dir_page *pages;   /* [unit_room] */
    uint8_t *sizes;    /* [unit_room]: log2 of the page that the unit is in; 0: of no page */
    dir_seen *seen;    /* [unit_room]; NULL without the checker */
    dir_order *orders;
    dir_ask *asks;
    dir_transaction *transactions; /* [in_flight] */
    dir_line *lines;

    dir_counters n;
    uint32_t range_count, range_room, unit_room, seen_room;
    uint32_t order_count, order_room, order_first, order_open; /* open: pages that are asked for */
    index_pool free_asks, free_transactions, free_lines;
    uint32_t active, asks_open, lines_open; /* lines_open: that the host reads */
    bool is_starting, start_again;
    index_list looking, faulting, granting, shooting, sending, accessing, pieces;
    index_list waiting; /* by next_waiting */
    bool waits[LS_FABRIC_CLASSES];
    uint64_t resident[MEM_PLACE_GPUS], leaving[MEM_PLACE_GPUS]; /* bytes; leaving: of evictions under way */
    uint32_t hand[MEM_PLACE_GPUS];
    char reason[160]; /* of a run that failed */
    ls_event look_event, fault_event, access_event, order_event;
    ls_event grant_ready, shoot_ready, piece_ready;
} directory;

static inline uint64_t dir_bit(uint32_t gpu)
{
    return gpu < MEM_PLACE_GPUS ? UINT64_C(1) << gpu : 0;
}

static inline bool dir_holds(const dir_page *p, uint32_t place)
{
    return place == MEM_PLACE_HOST ? (p->flags & DIR_HOST_HOLDS) != 0 : (p->holders & dir_bit(place)) != 0;
}

static inline bool dir_is_exclusive(const dir_page *p)
{
    return (p->flags & DIR_EXCLUSIVE) != 0;
}

/* The owner, or the first of those that share it. */
static inline uint32_t dir_first_holder(const dir_page *p)
{
    return p->holders != 0 ? (uint32_t)__builtin_ctzll(p->holders) : MEM_PLACE_HOST;
}

static inline uint32_t dir_holder_count(const dir_page *p)
{
    return (uint32_t)__builtin_popcountll(p->holders) + ((p->flags & DIR_HOST_HOLDS) != 0);
}

static inline uint64_t dir_page_bytes(const directory *d, uint32_t unit)
{
    return UINT64_C(1) << d->sizes[unit];
}

static inline index_links dir_ask_links(const directory *d)
{
    return INDEX_LINKS(d->asks, next);
}

static inline index_links dir_transaction_links(const directory *d)
{
    return INDEX_LINKS(d->transactions, next);
}

static inline index_links dir_line_links(const directory *d)
{
    return INDEX_LINKS(d->lines, next);
}

static inline void dir_arm(directory *d, ls_event *event, ls_cycle at)
{
    if (!ls_event_scheduled(event))
        ls_schedule_at(d->region, event, at);
}

/* A place as an end of the fabric. */
static inline uint32_t dir_end_of(const directory *d, uint32_t place)
{
    return place == MEM_PLACE_HOST ? d->end->ends - 1 : place;
}

/* For timelines: a change of a page by its transaction, or a question by its number with LS_TAP_ASK. */
static inline void dir_tell(const directory *d, uint64_t id, ls_tap_event event)
{
    if (!ls_tap_wants(d->tap, LS_TAP_MIGRATION))
        return;
    event.time = ls_region_time(d->region);
    event.kind = LS_TAP_MIGRATION;
    event.id = id;
    ls_tap_record(d->tap, &event);
}

static inline void dir_tell_step(const directory *d, uint64_t id, ls_tap_step step)
{
    dir_tell(d, id, (ls_tap_event){ .phase = LS_TAP_STEP, .what = (uint16_t)step });
}

/* A question was taken. */
static inline void dir_tell_ask(const directory *d, uint32_t i)
{
    dir_tell(d, LS_TAP_ASK | i,
             (ls_tap_event){ .phase = LS_TAP_BEGIN,
                             .value = d->asks[i].address,
                             .more = (uint32_t)d->asks[i].place << 8 | LS_TAP_NOWHERE,
                             .what = LS_TAP_PAGE_ASK });
    dir_tell_step(d, LS_TAP_ASK | i, LS_STEP_DIRECTORY);
}

/* The run cannot go on. */
void dir_fail(directory *d, const char *fmt, ...) LS_PRINTF(2, 3);

/* directory.c */
extern const ls_host_directory_ops dir_host_ops;
void dir_init_events(directory *d);
void dir_waits(const void *self, ls_wait_sink *sink);
void dir_send_grants(directory *d);
void dir_send_shoots(directory *d);
/* A page's entry is written back: an access to the host's memory. */
void dir_update(directory *d, ls_cycle now);

/* page_step.c */
void dir_step(directory *d, uint32_t unit, ls_cycle now); /* answers questions as far as possible */
void dir_enqueue(directory *d, uint32_t ask, ls_cycle now);
void dir_fault_event(void *self, ls_cycle now);
/* The next pages of the driver's orders. */
void dir_order_event(void *self, ls_cycle now);
void dir_plan_ask(directory *d, const dir_page *page, const dir_ask *ask, dir_plan *out);

/* transaction.c */
void dir_wait(directory *d, uint32_t ask, ls_cycle now); /* the first question of its page needs a change */
void dir_start_waiting(directory *d, ls_cycle now);
void dir_shot(directory *d, uint32_t transaction, uint32_t gpu, ls_cycle now);
void dir_host_sent(directory *d, uint32_t transaction, ls_cycle now);
void dir_arrived(directory *d, uint32_t transaction, uint32_t place, ls_cycle now);

/* policy.c */
extern const ls_migrate_ops dir_page_ops, dir_esi_ops, dir_split_ops;
uint32_t dir_choose_sender(const directory *d, const dir_page *page, uint32_t to);
ls_status dir_measure_hops(directory *d, ls_error *err);

/* host_pages.c */
void dir_host_send(directory *d, uint32_t transaction, ls_cycle now);
void dir_host_piece(directory *d, ls_link *link, const ls_fabric_message *message, ls_cycle now);
void dir_access_event(void *self, ls_cycle now);
void dir_send_pieces(directory *d, ls_cycle now);

/* page_map.c */
const dir_range *dir_find_range(const directory *d, uint64_t address); /* NULL: not managed */
uint32_t dir_find(const directory *d, uint64_t address); /* first unit of the page; DIR_NOWHERE */
uint64_t dir_frame(const directory *d, const dir_page *page, uint32_t place);
/* Into halves; returns the unit of the half that has the address. Its questions go to their halves. */
uint32_t dir_split(directory *d, uint32_t unit, uint64_t address);
void dir_merge(directory *d, uint32_t unit); /* with its neighbours, as far as possible */

/* page_check.c: without the checker they do nothing. */
void dir_check_reset(directory *d, uint32_t unit, uint32_t units, uint32_t place);
void dir_check_grant(directory *d, uint32_t unit, uint32_t gpu, uint32_t place, bool is_writable);
void dir_check_forgot(directory *d, uint32_t unit, uint32_t size_log2, uint32_t gpu);
void dir_check_moved(directory *d, uint32_t unit, uint32_t size_log2, uint32_t from, uint32_t to);

#endif
