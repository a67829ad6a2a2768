/* timeline.h: taps: blocks say what happens in them and when.
 *
 * Every block has a tap. While nobody listens its `kinds` is 0, and a block asks nothing else:
 *
 *     if (LS_UNLIKELY((c->tap->kinds & LS_TAP_BIT(LS_TAP_GROUP)) != 0))
 *         ls_tap_record(c->tap, &(ls_tap_event){ .time = ..., .kind = LS_TAP_GROUP, .phase = LS_TAP_BEGIN, ... });
 *
 * Events are plain data of a fixed size. They go to a buffer of the block's domain, and from there to the
 * listener, on the domain's thread. The order (time, domain, sequence in the domain) does not depend on threads.
 * docs/timelines.md lists kinds, states and steps. */
#ifndef LOCKSTEP_TIMELINE_H
#define LOCKSTEP_TIMELINE_H

#include "lockstep/block.h"

/* Kinds of things with a begin and an end, and of counters. Names and words about each: timeline_kinds.def. */
typedef enum ls_tap_kind {
#define KIND(id_, name_, help_) LS_TAP_##id_,
#include "lockstep/timeline_kinds.def"
#undef KIND
    LS_TAP_KINDS
} ls_tap_kind;
#define LS_TAP_BIT(kind_) (1u << (kind_))

/* States of warps and wavefronts, and steps of memory requests, transfers and instructions. */
typedef enum ls_tap_state {
#define STATE(id_, name_, help_) LS_STATE_##id_,
#include "lockstep/timeline_states.def"
#undef STATE
    LS_TAP_STATES
} ls_tap_state;

typedef enum ls_tap_step {
#define STEP(id_, name_, daisen_, help_) LS_STEP_##id_,
#include "lockstep/timeline_steps.def"
#undef STEP
    LS_TAP_STEPS
} ls_tap_step;

/* Directions of copies. */
typedef enum ls_tap_copy {
    LS_COPY_IN,
    LS_COPY_OUT,
    LS_COPY_INSIDE,
    LS_COPY_FILL,
    LS_COPY_PEER,
    LS_COPIES
} ls_tap_copy;
/* Kinds of accesses of requests. */
typedef enum ls_tap_access { LS_ACCESS_READ, LS_ACCESS_WRITE, LS_ACCESS_ATOMIC, LS_ACCESSES } ls_tap_access;

/* Classes of messages on a fabric (fabric_class of src/model/fabric has the same order). */
typedef enum ls_tap_transfer {
    LS_TRANSFER_REQUEST,
    LS_TRANSFER_DATA,
    LS_TRANSFER_WALK,
    LS_TRANSFER_INVALIDATE,
    LS_TRANSFER_MIGRATE,
    LS_TRANSFER_COPY,
    LS_TRANSFERS
} ls_tap_transfer;
/* Changes of pages that move (dir_change of src/model/migrate has the same order). */
typedef enum ls_tap_page {
    LS_TAP_PAGE_ASK, /* a question of a GPU */
    LS_TAP_PAGE_COPY,
    LS_TAP_PAGE_SHARE,
    LS_TAP_PAGE_TAKE,
    LS_TAP_PAGE_DROP,
    LS_TAP_PAGES
} ls_tap_page;
#define LS_TAP_NOWHERE 0xffu           /* in place of a place: the host, or none */
#define LS_TAP_ASK (UINT64_C(1) << 32) /* ids of questions, beside those of changes */

typedef enum ls_tap_phase {
    LS_TAP_BEGIN,
    LS_TAP_END,
    LS_TAP_STEP,  /* a milestone: `what` is an ls_tap_step */
    LS_TAP_COUNT, /* a counter: `value` more */
} ls_tap_phase;

/* One event. `id` names the thing among those of its kind that are open: in the block, or in the GPU for kinds whose
 * events come from several blocks (requests). A STATE begins at once where the last one of its
 * id ends. */
typedef struct ls_tap_event {
    ls_time time;
    uint64_t id;
    uint64_t value; /* meaning by kind: see timeline_kinds.def */
    uint32_t block; /* ls_tap_record() sets it */
    uint32_t slot;  /* place in the block, for a row of its own; of a group or warp its slot */
    uint32_t more;  /* meaning by kind */
    uint16_t what;  /* state, step, or a further word by kind */
    uint8_t kind, phase;
} ls_tap_event;

/* id of a request for a sector: its core and its number there. */
#define LS_TAP_SECTOR(core_, number_) ((uint64_t)(core_) << 16 | (number_))

/* The same for a line of machine `amd`: ls_line_message.number has the requester's block, so that it is one for all GPUs. */
#define LS_TAP_ANY_GPU (UINT64_C(1) << 63)

typedef struct ls_tap {
    uint32_t kinds; /* a bit per kind that is wanted; 0: nothing is */
    uint32_t block; /* its number in the engine */
    struct ls_tap_log *log;
} ls_tap;

/* Of a block; the same pointer for as long as the block lives. */
LS_API const ls_tap *ls_block_tap(const ls_block *block);
static inline bool ls_tap_wants(const ls_tap *tap, ls_tap_kind kind)
{
    return __builtin_expect((tap->kinds & LS_TAP_BIT(kind)) != 0, 0);
}
/* From the block's own domain, for a kind that its tap wants. */
LS_API void ls_tap_record(const ls_tap *tap, const ls_tap_event *event);
/* A number for a text, for events whose value is one; equal texts of a domain have the same. */
LS_API uint64_t ls_tap_name(const ls_tap *tap, const char *text);

/* ---------------------------------------------------------------------------------------------- listening */

typedef struct ls_tap_listener {
    void *self;
    /* Before the run: which kinds of this block are wanted. */
    uint32_t (*wants)(void *self, const ls_block *block);
    /* On the thread of the domain: events in the order of the calls, whose times may be out of order by little. */
    void (*take)(void *self, uint32_t domain, const ls_tap_event *events, size_t count);
    uint64_t (*name)(void *self, uint32_t domain, const char *text);
    /* Events from `until` on are dropped; those before `from` too, except begins and ends of kinds in `kept`. */
    ls_time from, until;
    uint32_t kept;
    uint32_t buffer_events; /* per domain */
} ls_tap_listener;

/* Before the run, once: the listener outlives the runs. */
LS_API ls_status ls_engine_listen(ls_engine *engine, const ls_tap_listener *listener, ls_error *err);
/* Between runs: hands over everything recorded so far. */
LS_API void ls_engine_flush_taps(ls_engine *engine);

#endif
