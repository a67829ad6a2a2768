/* memcheck_impl.h: the state of the checker, shared by the files of src/runtime/memcheck.
 *
 * The accesses of a wave form segments, numbered from 1. A new segment begins with the first access after all earlier
 * ones are known to be over: loads have returned, and an s_waitcnt has waited for stores. What a wave publishes at a
 * time is therefore a number: all segments below its present one. */
#ifndef RUNTIME_MEMCHECK_MEMCHECK_IMPL_H
#define RUNTIME_MEMCHECK_MEMCHECK_IMPL_H

#include "base/vec.h"
#include "runtime/memcheck/memcheck.h"
#include "runtime/memcheck/shadow.h"
#include "runtime/memcheck/vclock.h"

#include <pthread.h>

/* --- who ------------------------------------------------------------------------------------------------- */

typedef struct mc_command {
    char *name; /* of the kernel; NULL: a transfer */
    memcheck_kind kind;
    uint64_t entry;         /* of the kernel's code */
    bool two_caches;        /* a wave has two levels of caches before L2 (RDNA) */
    uint32_t begin, end;    /* stamps; end 0: it runs */
    uint32_t oldest;        /* the begin of the first command that ran when it began */
    uint32_t wave, segment; /* that stand for its transfers */
    uint64_t to, from, bytes;
    uint8_t *values; /* of a copy: the bytes that it read, and then 1 for each that is known */
} mc_command;

#define MC_NOT_LIVE UINT32_MAX
typedef struct mc_wave {
    uint32_t command;
    uint32_t id[3]; /* of the work-group */
    uint16_t gpu, index;
    uint32_t published; /* to its work-group, by barriers: segments up to it */
    uint32_t live;      /* index of lives */
} mc_wave;

/* A wave that runs. */
typedef struct mc_live {
    vclock clock;   /* happened before its next access */
    vclock heard;   /* the same once it has emptied its caches */
    vclock maybe;   /* may have happened before: atomics that were in flight together */
    vclock rumours; /* the same once it has emptied its caches */
    uint32_t wave;
    uint32_t number;   /* of its segment */
    uint32_t segment;  /* index of segments */
    uint32_t loads;    /* in flight */
    uint8_t dirty;     /* counters of stores and atomics for which it has not waited */
    uint8_t emptied;   /* levels of caches, since it heard something */
    bool has_accesses; /* in its segment */
    bool one_cache;    /* its work-group */
    bool needs_both;   /* two levels must be emptied (RDNA) */
    uint32_t next;     /* free ones */
} mc_live;

typedef struct mc_segment {
    uint32_t wave, number;
} mc_segment;

/* --- words that synchronise ------------------------------------------------------------------------------- */

typedef struct mc_sync {
    uint64_t address;
    vclock sure;   /* of atomics that are over: published before them */
    vclock issued; /* of all atomics */
    vclock newest; /* published before the write of newest_value */
    uint64_t newest_value;
    bool has_newest;
} mc_sync;

/* --- accesses in flight ----------------------------------------------------------------------------------- */

/* A byte as it was when the access left. */
typedef struct mc_byte {
    uint32_t writer;
    uint32_t before; /* the writer of the value: for an atomic not itself */
    uint8_t value;
    uint8_t judge; /* MC_JUDGE, ... */
} mc_byte;
enum { MC_UNORDERED, MC_UNKNOWN, MC_JUDGE };

typedef struct mc_pending {
    bool used;
    uint8_t kind, pieces, piece_bytes, atomic;
    bool newest, scalar;
    uint32_t lane_count, wave, segment;
    uint64_t lanes, pc;
    size_t room; /* pieces of all lanes that the arrays below have room for */
    size_t byte_room;
    uint64_t *address; /* [piece][lane_count] */
    vclock *sure;      /* of the word of each lane, when the access left */
    mc_byte *bytes;    /* of all pieces, one after the other, in the same order */
    uint32_t operand[64][4];
    vclock release;
} mc_pending;

/* --- logs ------------------------------------------------------------------------------------------------- */

typedef struct mc_entry {
    ls_time time;
    uint64_t pc, lanes;
    uint32_t bytes; /* with what follows: a multiple of 8 */
    uint32_t command, wave, token;
    uint8_t kind, access, pieces, piece_bytes, atomic, counters, levels, flags;
} mc_entry;
enum { MC_NEWEST = 1, MC_SCALAR = 2, MC_DEAD = 4, MC_DATA = 8, MC_ONE_CACHE = 16, MC_LINEAR = 32 };

/* Of one compute unit. */
typedef struct mc_log {
    memcheck *check;
    uint32_t gpu, cluster, unit;
    bool no_memory;
    uint8_t *bytes;
    size_t used, capacity;
    /* Of the thread that merges. */
    LS_VEC(uint32_t) waves;       /* by slot */
    LS_VEC(mc_pending *) pending; /* by token */
} mc_log;

/* The entry of a log, for the order of a merge. */
typedef struct mc_place {
    ls_time time;
    uint32_t log;
    size_t at;
} mc_place;

/* --- findings --------------------------------------------------------------------------------------------- */

typedef struct mc_race {
    uint64_t key[2]; /* code addresses, with a bit each for writes */
    uint64_t times;
    char *text;
} mc_race;

struct memcheck {
    pthread_mutex_t lock; /* of logs */
    LS_VEC(mc_log *) logs;
    LS_VEC(mc_place) places; /* of entries, while they are merged */
    shadow memory;
    LS_VEC(mc_command) commands; /* [0] is none */
    LS_VEC(mc_wave) waves;       /* the same */
    LS_VEC(mc_live) lives;
    uint32_t free_live;          /* MC_NOT_LIVE: none */
    LS_VEC(mc_segment) segments; /* [0] is none */
    uint32_t stamp, running;
    LS_VEC(mc_sync) syncs;
    uint32_t *sync_slots; /* index + 1, open addressing */
    size_t sync_slot_count;
    LS_VEC(mc_race) races;
    memcheck_counts counts;
    bool no_memory, has_failed;
    ls_error failure;
    /* The last answer of mc_order(). */
    uint32_t asked_wave, asked_writer, answer;
    bool asked_plain;
};

/* --- memcheck.c: order ------------------------------------------------------------------------------------ */

typedef enum mc_order_kind { MC_RACE, MC_MAYBE, MC_BEFORE } mc_order_kind;
/* Whether a segment happened before the next access of a wave. A plain load may find older bytes in a cache, unless the
 * wave has emptied it since it heard of the segment. */
mc_order_kind mc_order(memcheck *m, uint32_t wave, uint32_t segment, bool plain_load);
void mc_forget_order(memcheck *m); /* a clock changed */
/* The wave begins an access: its segment. */
uint32_t mc_segment_of(memcheck *m, mc_live *live);
mc_live *mc_live_of(memcheck *m, uint32_t wave);

/* The value of a unit does not follow from the order of its writes, for a wave now. */
static inline bool mc_is_uncertain(const memcheck *m, const shadow_page *page, const shadow_unit *u,
                                   uint32_t wave)
{
    return (u->flags & SHADOW_RACED) != 0 ||
           ((u->flags & SHADOW_CONTENDED) != 0 &&
            m->commands.at[m->waves.at[wave].command].oldest <= page->race_stamp);
}

/* --- memcheck_touch.c: bytes ------------------------------------------------------------------------------- */

/* An access, unit by unit. */
typedef struct mc_touch {
    uint32_t wave, segment;
    uint32_t pc;  /* offset in the code */
    bool is_sync; /* an atomic, or a load that passes caches */
    bool scalar;
    uint8_t atomic; /* amd_atomic */
} mc_touch;
/* Reads; the bytes as they are expected go to *out (NULL: not wanted). */
void mc_read(memcheck *m, const mc_touch *t, uint64_t address, unsigned bytes, mc_byte *out);
/* Writes; data NULL: unknown values. */
void mc_write(memcheck *m, const mc_touch *t, uint64_t address, const uint8_t *data, uint64_t bytes);
/* An atomic of 4 or 8 bytes; the old bytes go to *out. operand: as amd_atomic_apply() has it. */
void mc_atomic(memcheck *m, const mc_touch *t, uint64_t address, unsigned bytes, const uint32_t operand[4],
               mc_byte *out);

/* --- memcheck_log.c ------------------------------------------------------------------------------------------ */

void mc_logs_free(memcheck *m);

/* --- memcheck_access.c: what compute units did -------------------------------------------------------------- */

void mc_take(memcheck *m, mc_log *log, const mc_entry *entry);

/* --- memcheck_sync.c ---------------------------------------------------------------------------------------- */

mc_sync *mc_sync_of(memcheck *m, uint64_t address, bool create);
void mc_sync_clear(memcheck *m);
/* An atomic or a glc load leaves; *sure: what it will surely have heard. release: NULL for a load. */
void mc_sync_issue(memcheck *m, uint64_t address, const vclock *release, vclock *sure);
/* A write of a word whose value shows it: a store, or an exchange. */
void mc_sync_newest(memcheck *m, uint64_t address, const vclock *release, uint64_t value);
/* It is over. value: that it got. total: it changed the word, after all other atomics on it. */
void mc_sync_return(memcheck *m, mc_live *live, uint64_t address, const vclock *release, const vclock *sure,
                    const uint64_t *value, bool total);
/* What the wave publishes with its next access. */
bool mc_publish(const memcheck *m, const mc_live *live, vclock *out);
void mc_empty_caches(memcheck *m, mc_live *live, uint8_t levels);

/* --- memcheck_report.c -------------------------------------------------------------------------------------- */

typedef struct mc_who {
    uint32_t segment, pc;
    bool writes;
} mc_who;
void mc_report_race(memcheck *m, mc_who now, mc_who before, uint64_t address);
/* A wrong value: of `bytes` bytes at the address. lane -1: none. */
void mc_report_value(memcheck *m, uint32_t segment, uint32_t pc, int lane, uint64_t address, unsigned bytes,
                     const uint8_t *got, const mc_byte *expected);

#endif
