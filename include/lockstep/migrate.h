/* migrate.h: the slot `migrate` of machine `system`: pages that move between GPUs and the host while programs run.
 *
 * A model is a policy: it says what a question about a page needs. The directory of the host's IOMMU does the rest:
 * shootdowns of translations, lines of pages that travel, room on GPUs, answers. It has the state of all pages. A model
 * is a block type whose port table provides LS_MIGRATE_PORT; it has neither state nor init. A model without the port,
 * such as `none`, moves nothing.
 *
 * Places are GPUs by their number, and LS_PLACE_HOST. */
#ifndef LOCKSTEP_MIGRATE_H
#define LOCKSTEP_MIGRATE_H

#include "lockstep/block.h"

#define LS_MIGRATE_SLOT "migrate"
#define LS_MIGRATE_PORT "migrate"
#define LS_MIGRATE_INTERFACE "migrate/2"

#define LS_PLACE_HOST 64u

/* The numbers of the directory. LS_MIGRATE_KEYS declares keys for those that every model has. */
typedef struct ls_migrate_keys {
    uint64_t in_flight, asks, host_lines, capacity_mib;
    ls_ratio fault_ns;
    uint32_t start;
    bool check;
    uint64_t page_kib;
    /* A model without a use for these leaves them 0. */
    uint64_t threshold; /* remote accesses after which a GPU asks with `counted`; 0 and 1: never */
    uint64_t pin;       /* moves after which a page is pinned; 0: never */
    uint64_t prefetch;  /* pages that follow a page that moves */
    uint32_t sender;    /* which reader sends a shared page: 0: the lowest number; 1: the nearest */
    bool splits, merge; /* pages are split when they leave their owner; and merged again */
    uint64_t smallest_kib, largest_kib; /* of these */
} ls_migrate_keys;

typedef struct ls_migrate_page {
    uint64_t address;  /* virtual */
    uint64_t holders;  /* GPUs that have its bytes: a bit each */
    uint64_t mappers;  /* GPUs that have a translation of it */
    uint64_t remote;   /* those of them whose translation leads to another place */
    bool host_holds;   /* the host has its bytes */
    bool is_exclusive; /* one place has it, which may write; else several may only read */
    bool is_pinned;    /* as `pin` of the keys says */
    uint32_t moves;    /* times that it was sent to a new exclusive owner */
    uint32_t size_bytes;
} ls_migrate_page;

typedef struct ls_migrate_question {
    uint32_t gpu; /* that asks */
    bool writes;  /* for a write or an atomic */
    bool stays;   /* of a DMA engine: the page should stay where it is, a remote translation will do */
    bool counted; /* no walk, but a report: as many remote accesses as `threshold` says. It needs no grant */
} ls_migrate_question;

typedef enum ls_migrate_change {
    LS_MIGRATE_GRANT,   /* no change: the GPU gets a translation to the bytes at `to`, which holds the page */
    LS_MIGRATE_NOTHING, /* of a `counted` question: no change */
    LS_MIGRATE_SHARE, /* `to`, which does not hold it, becomes one more reader; an exclusive owner may write no more */
    LS_MIGRATE_TAKE, /* `to` becomes the exclusive owner: the GPU that asks, or a place that holds the page */
} ls_migrate_change;

typedef struct ls_migrate_plan {
    ls_migrate_change change;
    uint32_t to;      /* a place */
    bool is_writable; /* of a grant: only of exclusive pages; a question that writes needs it */
} ls_migrate_plan;

typedef struct ls_migrate_ops {
    /* ls_migrate_build: creates the directory, which asks the functions that follow. */
    ls_status (*build)(ls_engine *engine, const ls_block_type *model, const void *spec, uint32_t gpus,
                       ls_error *err);
    /* Fills in the directory's numbers, from the model's section of the platform file. */
    void (*keys)(const void *spec, ls_migrate_keys *out);
    /* What a question needs. It is asked again after a change, until it is granted. A plan that cannot be ends the run
     * with the model's name. */
    void (*decide)(const void *spec, const ls_migrate_page *page, const ls_migrate_question *question,
                   ls_migrate_plan *out);
} ls_migrate_ops;

LS_API ls_status ls_migrate_build(ls_engine *engine, const ls_block_type *model, const void *spec,
                                  uint32_t gpus, ls_error *err);

/* The owner of a page, or the first of those that share it. */
static inline uint32_t ls_migrate_first_holder(const ls_migrate_page *page)
{
    return page->holders != 0 ? (uint32_t)__builtin_ctzll(page->holders) : LS_PLACE_HOST;
}

static inline bool ls_migrate_holds(const ls_migrate_page *page, uint32_t place)
{
    return place == LS_PLACE_HOST ? page->host_holds : (page->holders >> place & 1) != 0;
}

LS_API extern const char *const ls_migrate_starts[]; /* of the key `start` */

/* Keys of a spec whose member `field_` is an ls_migrate_keys. */
/* clang-format off */
#define LS_MIGRATE_UINT(spec_, field_, key_, unit_, default_, min_, max_, help_)                              \
    { .name = #key_, .type = LS_PARAM_TYPE_UINT, .offset = offsetof(spec_, field_.key_),                      \
      .default_text = #default_, .min = (min_), .max = (max_), .unit = (unit_), .help = (help_) }
#define LS_MIGRATE_KEYS(spec_, field_)                                                                        \
    LS_MIGRATE_UINT(spec_, field_, in_flight, "pages", 64, 1, 1024, "pages that change at once; others wait in order"), \
    LS_MIGRATE_UINT(spec_, field_, asks, "walks", 1024, 1, 65536, "page walks of each GPU that the directory holds"), \
    LS_MIGRATE_UINT(spec_, field_, host_lines, "lines", 64, 1, 4096, "lines of pages that the host reads at once"), \
    LS_PARAM_RATIO(spec_, field_.fault_ns, "fault_ns", "ns", "0", 0, 100000000, "that software needs for a page that is not where it is accessed"), \
    LS_MIGRATE_UINT(spec_, field_, capacity_mib, "MiB", 0, 0, 16777216, "managed pages that a GPU holds; 0: as many as there are"), \
    LS_PARAM_CHOICE(spec_, field_.start, "start", "home", ls_migrate_starts, "where pages lie at first: on the GPU that they were allocated on, or on the host"), \
    { .name = "check", .type = LS_PARAM_TYPE_BOOL, .offset = offsetof(spec_, field_.check), .default_text = "false", .min = 1, .max = 0, \
      .unit = "", .help = "check that a page has one writer or any number of readers, from the messages alone" }
#define LS_MIGRATE_PAGE_KEY(spec_, field_)                                                                    \
    LS_MIGRATE_UINT(spec_, field_, page_kib, "KiB", 4, 1, 2048, "size of a page; pages of more than 4 KiB cannot be placed one by one")
/* clang-format on */

#endif
