/* memcheck_log.c: events of compute units: one log for each unit, written in its domain and merged by time, unit and
 * position while the engine rests. */
#include "runtime/memcheck/memcheck_impl.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES (UINT64_C(4) << 20)

/* --- written by compute units ------------------------------------------------------------------------------ */

/* Logs are few and sorted, so that the order of a merge does not depend on which was opened first. */
static void *open_log(void *self, uint32_t gpu, uint32_t cluster, uint32_t unit)
{
    memcheck *m = self;
    mc_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    *log = (mc_log){ .check = m, .gpu = gpu, .cluster = cluster, .unit = unit };
    pthread_mutex_lock(&m->lock);
    bool good = vec_push(&m->logs, log);
    for (size_t i = m->logs.count; good && i > 1; i--) {
        mc_log **at = &m->logs.at[i - 1], *before = m->logs.at[i - 2];
        uint64_t a = (uint64_t)before->gpu << 40 | (uint64_t)before->cluster << 20 | before->unit;
        uint64_t b = (uint64_t)gpu << 40 | (uint64_t)cluster << 20 | unit;
        if (a <= b)
            break;
        m->logs.at[i - 2] = *at;
        *at = before;
    }
    pthread_mutex_unlock(&m->lock);
    if (good)
        return log;
    free(log);
    return NULL;
}

static void *add(mc_log *log, size_t bytes)
{
    if (log->used + bytes > log->capacity) {
        size_t capacity = 2 * log->capacity > log->used + bytes ? 2 * log->capacity : log->used + bytes + 4096;
        uint8_t *made = realloc(log->bytes, capacity);
        if (!made) {
            log->no_memory = true;
            return NULL;
        }
        log->bytes = made;
        log->capacity = capacity;
    }
    void *at = log->bytes + log->used;
    log->used += bytes;
    return at;
}

static size_t round_8(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

static uint64_t lanes_of(const amd_access *a)
{
    return a->space == AMD_SPACE_SCALAR ? 1 : a->lanes & ~a->in_lds;
}

static bool is_pair(const amd_access *a)
{
    return a->kind == AMD_ACCESS_ATOMIC &&
           (a->atomic == AMD_ATOMIC_CMPSWAP || a->atomic == AMD_ATOMIC_FCMPSWAP);
}

/* Lanes whose addresses follow each other, without private memory between them. */
static bool is_linear(const cu_seen *what, uint64_t lanes)
{
    const amd_access *a = what->access;
    if (a->pieces != 1 || (a->absent[0] & lanes) != 0 || what->skipped != 0 || lanes == 0)
        return false;
    uint64_t next = a->address[0][__builtin_ctzll(lanes)];
    for (uint64_t left = lanes; left != 0; left &= left - 1, next += a->piece_bytes)
        if (a->address[0][__builtin_ctzll(left)] != next)
            return false;
    return true;
}

static void put_issue(mc_log *log, mc_entry e, const cu_seen *what)
{
    const amd_access *a = what->access;
    unsigned count = (unsigned)__builtin_popcountll(e.lanes), dwords = (a->piece_bytes + 3u) / 4 * a->pieces;
    bool linear = is_linear(what, e.lanes), carries = a->kind != AMD_ACCESS_LOAD;
    dwords *= is_pair(a) ? 2 : 1;
    size_t addresses = linear ? 1 : (size_t)count * a->pieces;
    e.bytes = (uint32_t)round_8(sizeof e + addresses * 8 + (carries ? (size_t)count * dwords * 4 : 0));
    e.flags |= linear ? MC_LINEAR : 0;
    mc_entry *to = add(log, e.bytes);
    if (!to)
        return;
    *to = e;
    uint64_t *address = (uint64_t *)(void *)(to + 1);
    if (linear)
        *address++ = a->address[0][__builtin_ctzll(e.lanes)];
    for (unsigned piece = 0; piece < a->pieces && !linear; piece++)
        for (uint64_t left = e.lanes; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            uint64_t at = a->address[piece][lane];
            bool is_gone = (a->absent[piece] >> lane & 1) || at - what->skip < what->skipped;
            *address++ = is_gone ? UINT64_MAX : at;
        }
    uint32_t *data = (uint32_t *)(void *)address;
    for (uint64_t left = e.lanes; carries && left != 0; left &= left - 1, data += dwords)
        memcpy(data, what->data + (unsigned)__builtin_ctzll(left) * what->stride, dwords * 4);
}

static void put_return(mc_log *log, mc_entry e, const cu_seen *what)
{
    const amd_access *a = what->access;
    unsigned count = (unsigned)__builtin_popcountll(e.lanes), dwords = (a->piece_bytes + 3u) / 4 * a->pieces;
    bool carries = what->data != NULL && !what->is_dead && a->kind != AMD_ACCESS_STORE;
    e.bytes = (uint32_t)round_8(sizeof e + (carries ? (size_t)count * dwords * 4 : 0));
    e.flags |= carries ? MC_DATA : 0;
    mc_entry *to = add(log, e.bytes);
    if (!to)
        return;
    *to = e;
    uint32_t *data = (uint32_t *)(void *)(to + 1);
    for (uint64_t left = e.lanes; carries && left != 0; left &= left - 1, data += dwords)
        memcpy(data, what->data + (unsigned)__builtin_ctzll(left) * what->stride, dwords * 4);
}

static void put_group(mc_log *log, mc_entry e, const cu_seen *what)
{
    static const uint32_t none[3];
    e.bytes = (uint32_t)round_8(sizeof e + 12 + what->wave_count * sizeof *what->waves);
    e.token = what->wave_count;
    mc_entry *to = add(log, e.bytes);
    if (!to)
        return;
    *to = e;
    uint32_t *id = (uint32_t *)(void *)(to + 1);
    memcpy(id, what->id ? what->id : none, 12);
    memcpy(id + 3, what->waves, what->wave_count * sizeof *what->waves);
}

static void put(void *self, uint32_t command, const cu_seen *what)
{
    mc_log *log = self;
    mc_entry e = { .time = what->time,
                   .pc = what->pc,
                   .bytes = sizeof e,
                   .command = command,
                   .wave = what->wave,
                   .token = what->token,
                   .kind = (uint8_t)what->kind,
                   .counters = what->counters,
                   .levels = what->levels,
                   .flags = (uint8_t)((what->newest ? MC_NEWEST : 0) | (what->scalar ? MC_SCALAR : 0) |
                                      (what->is_dead ? MC_DEAD : 0) | (what->one_cache ? MC_ONE_CACHE : 0)) };
    if (what->access) {
        e.access = what->access->kind;
        e.pieces = what->access->pieces;
        e.piece_bytes = what->access->piece_bytes;
        e.atomic = what->access->atomic;
        e.lanes = lanes_of(what->access);
    }
    switch (what->kind) {
    case CU_SEEN_ISSUE:
        put_issue(log, e, what);
        break;
    case CU_SEEN_RETURN:
        put_return(log, e, what);
        break;
    case CU_SEEN_GROUP:
    case CU_SEEN_END:
    case CU_SEEN_BARRIER:
        put_group(log, e, what);
        break;
    default: {
        mc_entry *to = add(log, sizeof e);
        if (to)
            *to = e;
    }
    }
}

cu_observer memcheck_observe(memcheck *m, uint32_t gpu, uint32_t command)
{
    return (cu_observer){ .self = m, .gpu = gpu, .command = command, .open = open_log, .put = put };
}

/* --- merged ------------------------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
    const mc_place *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->log != y->log)
        return x->log < y->log ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static bool list_entries(memcheck *m)
{
    vec_clear(&m->places);
    for (size_t i = 0; i < m->logs.count; i++) {
        const mc_log *log = m->logs.at[i];
        for (size_t at = 0; at < log->used;) {
            const mc_entry *e = (const mc_entry *)(const void *)(log->bytes + at);
            if (!vec_push(&m->places, ((mc_place){ .time = e->time, .log = (uint32_t)i, .at = at })))
                return false;
            at += e->bytes;
        }
        m->no_memory |= log->no_memory;
    }
    if (m->places.count > 1)
        qsort(m->places.at, m->places.count, sizeof *m->places.at, by_time);
    return true;
}

ls_status memcheck_flush(memcheck *m, uint64_t at_least, ls_error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->logs.count; i++)
        bytes += m->logs.at[i]->used;
    if (bytes > 0 && bytes >= at_least) {
        m->no_memory |= !list_entries(m);
        for (size_t i = 0; i < m->places.count && !m->no_memory && !m->has_failed; i++) {
            mc_log *log = m->logs.at[m->places.at[i].log];
            mc_take(m, log, (const mc_entry *)(const void *)(log->bytes + m->places.at[i].at));
        }
        for (size_t i = 0; i < m->logs.count; i++)
            m->logs.at[i]->used = 0;
    }
    if (!m->has_failed && m->no_memory) {
        m->has_failed = true;
        (void)ls_fail(&m->failure, LS_ERR_NOMEM, "the host has no memory left for the memory check");
    }
    if (!m->has_failed)
        return LS_OK;
    if (err)
        *err = m->failure;
    return m->failure.status;
}

ls_status memcheck_between(void *self, ls_error *err)
{
    return memcheck_flush(self, FLUSH_BYTES, err);
}

static void free_pending(mc_pending *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->room; i++)
        vclock_drop(&p->sure[i]);
    vclock_drop(&p->release);
    free(p->address);
    free(p->sure);
    free(p->bytes);
    free(p);
}

void mc_logs_free(memcheck *m)
{
    for (size_t i = 0; i < m->logs.count; i++) {
        mc_log *log = m->logs.at[i];
        for (size_t k = 0; k < log->pending.count; k++)
            free_pending(log->pending.at[k]);
        vec_fini(&log->pending);
        vec_fini(&log->waves);
        free(log->bytes);
        free(log);
    }
    vec_fini(&m->logs);
    vec_fini(&m->places);
}
