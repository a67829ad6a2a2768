/* migrate_gpu.h: an abstract GPU of migrate_rig.h. It holds one number per line, the
 * translations that it was granted, and some threads. A thread reads a line, or adds 1 to it, again and again; it asks for a
 * translation if it has none that will do, and accesses pages of other memories by requests.
 *
 * newest[] has the number that each line must have. A correct protocol orders the accesses to a line by messages, so a
 * wrong number is found at once, for any number of host threads. */
#ifndef TESTS_MODEL_MIGRATE_GPU_H
#define TESTS_MODEL_MIGRATE_GPU_H

#include "fabric_rig.h"

#include "base/address_space.h"
#include "isa/amd/exec/memory.h"
#include "lockstep/line.h"
#include "model/amd_memory/place_memory.h"
#include "lockstep/migrate.h"
#include "model/fabric/host.h"
#include "model/migrate/directory.h"

#define MRIG_GPUS 8u
#define MRIG_BLOCK (UINT64_C(1) << 21)
#define MRIG_RANGES 2u
#define MRIG_BYTES (MRIG_RANGES * MRIG_BLOCK)
#define MRIG_LINES ((uint32_t)(MRIG_BYTES / 64))
#define MRIG_UNITS ((uint32_t)(MRIG_BYTES / 1024))
#define MRIG_THREADS 8u
#define MRIG_RING 256u
#define MRIG_SHOOTS 1024u

/* What a thread does next. */
typedef struct mrig_thread {
    uint32_t left; /* accesses */
    ls_cycle at;   /* when it goes on; while it waits it does not count */
    uint32_t line;
    bool writes, stays, waits;
} mrig_thread;

typedef struct mrig_entry {
    uint8_t can; /* 0 nothing, 1 read, 2 write */
    uint8_t place, size_log2;
} mrig_entry;

typedef struct mrig_shoot {
    migrate_body body;
    ls_cycle at;
    uint32_t token, sent;
    bool has_forgotten;
} mrig_shoot;

typedef struct mrig_ring {
    uint32_t head, count;
    ls_fabric_message at[MRIG_RING];
} mrig_ring;

/* One access of a script. */
typedef struct mrig_script {
    ls_cycle at;
    uint32_t gpu;
    uint64_t offset; /* in the first range */
    bool writes, stays;
} mrig_script;

struct mrig;
typedef struct mrig_gpu {
    ls_fabric_end end;
    struct mrig *rig;
    char name[16];
    uint32_t id;
    ls_event event;
    ls_random random;
    mrig_thread threads[MRIG_THREADS];
    mrig_ring out[LS_FABRIC_CLASSES];
    mrig_shoot shoots[MRIG_SHOOTS];
    uint32_t shoot_count;
    uint32_t pieces[1024];            /* that came, by transaction */
    uint16_t remote_open[MRIG_UNITS]; /* requests to another memory, by unit */
    uint16_t remote_count[MRIG_UNITS], count_to[MRIG_UNITS];
    mrig_entry entries[MRIG_UNITS];
    uint32_t memory[MRIG_LINES], last[MRIG_LINES];
    uint64_t asks, grants, reads, writes, remote, shots, arrivals, hash, unused;
} mrig_gpu;

typedef struct mrig {
    ls_engine *engine;
    uint32_t gpus;
    uint32_t accesses, threads; /* of each thread; of each GPU */
    uint32_t write_percent, stay_percent, hot, pace;
    uint64_t hot_stride, seed;
    const mrig_script *script; /* of thread 0 of each GPU, in order; NULL: accesses are random */
    bool stuck;                /* GPUs do not answer shootdowns: for reports */
    memory_space *space;
    ls_block *directory;
    const host_part *host;
    migrate_range range[MRIG_RANGES];
    uint32_t newest[MRIG_LINES];
    atomic_uint wrong;
    char why[200];
} mrig;

static inline void mrig_wrong(mrig *r, const char *why, uint64_t a, uint64_t b)
{
    if (atomic_fetch_add(&r->wrong, 1) == 0)
        snprintf(r->why, sizeof r->why, "%s: %llu, %llu", why, (unsigned long long)a, (unsigned long long)b);
}

/* ------------------------------------------------------------------------------------------------ addresses */

static inline uint64_t mrig_virtual(const mrig *r, uint32_t line)
{
    uint64_t offset = (uint64_t)line * 64;
    return r->range[offset / MRIG_BLOCK].address + offset % MRIG_BLOCK;
}

static inline uint64_t mrig_frame(const mrig *r, uint32_t place, uint32_t line)
{
    uint64_t offset = (uint64_t)line * 64;
    return r->range[offset / MRIG_BLOCK].frames[place] + offset % MRIG_BLOCK;
}

static inline uint32_t mrig_line_at(const mrig *r, uint64_t address)
{
    for (uint32_t i = 0; i < MRIG_RANGES; i++)
        if (address - r->range[i].address < MRIG_BLOCK)
            return (uint32_t)((i * MRIG_BLOCK + address - r->range[i].address) / 64);
    return UINT32_MAX;
}

static inline uint32_t mrig_line_of_frame(const mrig *r, uint32_t place, uint64_t frame)
{
    for (uint32_t i = 0; i < MRIG_RANGES; i++)
        if (frame - r->range[i].frames[place] < MRIG_BLOCK)
            return (uint32_t)((i * MRIG_BLOCK + frame - r->range[i].frames[place]) / 64);
    return UINT32_MAX;
}

/* -------------------------------------------------------------------------------------------------- sending */

static inline void mrig_wake_at(mrig_gpu *g, ls_cycle at)
{
    if (ls_event_scheduled(&g->event) && g->event.cycle <= at)
        return;
    ls_cancel(&g->event);
    ls_schedule_at(g->end.region, &g->event, at);
}

static inline void mrig_wake(mrig_gpu *g)
{
    mrig_wake_at(g, ls_region_now(g->end.region) + 1);
}

static inline ls_fabric_message *mrig_push(mrig_gpu *g, ls_fabric_class class_index, uint32_t to,
                                           uint32_t kind, uint64_t address, uint32_t token)
{
    mrig_ring *ring = &g->out[class_index];
    if (ring->count == MRIG_RING) {
        mrig_wrong(g->rig, "a ring is full: class", class_index, g->id);
        ring->count--;
    }
    ls_fabric_message *m = &ring->at[(ring->head + ring->count++) % MRIG_RING];
    memset(m, 0, sizeof *m);
    m->from = (uint16_t)g->id;
    m->to = (uint16_t)to;
    m->class_index = (uint8_t)class_index;
    m->kind = (uint8_t)kind;
    m->wire_bytes = MIGRATE_BODY_WIRE_BYTES;
    m->body_bytes = sizeof(migrate_body);
    m->token = token;
    m->address = address;
    mrig_wake(g);
    return m;
}

static inline void mrig_tell(mrig_gpu *g, ls_fabric_class class_index, uint32_t kind, uint32_t token,
                             const migrate_body *body)
{
    ls_fabric_message *m = mrig_push(g, class_index, g->rig->gpus, kind, body->address, token);
    memcpy(m->body, body, sizeof *body);
}

static inline void mrig_put_line(ls_fabric_message *m, const ls_line_message *line, bool has_data)
{
    m->data_bytes = has_data ? 64 : 0;
    m->wire_bytes = (uint16_t)(m->data_bytes + LS_HOST_REQUEST_BYTES);
    m->body_bytes = (uint16_t)(LS_LINE_HEAD_BYTES + LS_LINE_BYTES_MAX);
    memcpy(m->body, line, m->body_bytes);
}

/* ------------------------------------------------------------------------------------------------- accesses */

/* The access number `index` of a GPU in the script. */
static inline void mrig_next_of_script(const mrig_gpu *g, mrig_thread *t, uint32_t index)
{
    const mrig_script *s = g->rig->script;
    while (s->gpu != g->id || index-- > 0)
        s++;
    t->at = s->at;
    t->line = (uint32_t)(s->offset / 64);
    t->writes = s->writes;
    t->stays = s->stays;
}

static inline void mrig_next(mrig_gpu *g, mrig_thread *t, ls_cycle now)
{
    const mrig *r = g->rig;
    t->waits = false;
    if (--t->left == 0) {
        ls_domain_pending(ls_region_domain(g->end.region), -1);
        return;
    }
    if (r->script != NULL) {
        mrig_next_of_script(g, t, (uint32_t)(g->reads + g->writes));
        return;
    }
    t->at = now + 1 + ls_random_below(&g->random, r->pace);
    uint64_t offset =
        ls_random_below(&g->random, r->hot) * r->hot_stride + ls_random_below(&g->random, 16) * 64;
    t->line = (uint32_t)(offset % MRIG_BYTES / 64);
    t->writes = ls_random_below(&g->random, 100) < r->write_percent;
    t->stays = ls_random_below(&g->random, 100) < r->stay_percent;
}

/* In its own memory, for itself or for another GPU. Returns the old number. */
static inline uint32_t mrig_access(mrig_gpu *g, uint32_t line, bool writes)
{
    mrig *r = g->rig;
    uint32_t value = g->memory[line];
    if (value != __atomic_load_n(&r->newest[line], __ATOMIC_RELAXED))
        mrig_wrong(r, "a line has not its newest number: GPU, line", g->id, line);
    if (writes) {
        g->memory[line] = value + 1;
        __atomic_store_n(&r->newest[line], value + 1, __ATOMIC_RELAXED);
    }
    return value;
}

static inline void mrig_note(mrig_gpu *g, uint32_t line, uint32_t value, bool writes, ls_cycle now)
{
    if (value < g->last[line])
        mrig_wrong(g->rig, "a number went back: GPU, line", g->id, line);
    g->last[line] = value + writes;
    g->reads += !writes;
    g->writes += writes;
    g->hash = (g->hash ^ now ^ (uint64_t)line << 32 ^ value) * UINT64_C(0x100000001b3);
}

static inline void mrig_request(mrig_gpu *g, uint32_t which, uint32_t place)
{
    const mrig_thread *t = &g->threads[which];
    mrig *r = g->rig;
    uint64_t frame = mrig_frame(r, place, t->line);
    ls_fabric_message *m =
        mrig_push(g, LS_FABRIC_REQUEST, place == MEM_PLACE_HOST ? r->gpus : place, 0, frame, which);
    ls_line_message line = { .address = frame,
                             .kind = t->writes ? LS_LINE_ATOMIC : LS_LINE_READ,
                             .flags = LS_LINE_RETURN,
                             .mask = { 0xf, 0 },
                             .atomic = AMD_ATOMIC_ADD,
                             .atomic_bytes = 4 };
    line.data[0] = 1;
    mrig_put_line(m, &line, t->writes);
    g->remote_open[t->line / 16]++;
    g->remote++;
}

/* A remote page was used. */
static inline void mrig_count(mrig_gpu *g, uint32_t unit)
{
    if (g->count_to[unit] == 0 || ++g->remote_count[unit] < g->count_to[unit])
        return;
    g->count_to[unit] = 0;
    migrate_body body = { .address = mrig_virtual(g->rig, unit * 16) };
    mrig_tell(g, LS_FABRIC_WALK, MIGRATE_COUNTED, 0, &body);
}

/* With a translation that will do. */
static inline void mrig_perform(mrig_gpu *g, uint32_t which, ls_cycle now)
{
    mrig_thread *t = &g->threads[which];
    const mrig_entry *e = &g->entries[t->line / 16];
    if (e->place != g->id) {
        t->waits = true;
        mrig_request(g, which, e->place);
        mrig_count(g, t->line / 16);
        return;
    }
    mrig_note(g, t->line, mrig_access(g, t->line, t->writes), t->writes, now);
    mrig_next(g, t, now);
}

static inline void mrig_go_on(mrig_gpu *g, uint32_t which, ls_cycle now)
{
    mrig_thread *t = &g->threads[which];
    if (g->entries[t->line / 16].can >= 1 + t->writes) {
        mrig_perform(g, which, now);
        return;
    }
    migrate_body body = { .address = mrig_virtual(g->rig, t->line),
                          .token = which,
                          .flags =
                              (uint8_t)((t->writes ? MIGRATE_WRITE : 0) | (t->stays ? MIGRATE_STAY : 0)) };
    mrig_tell(g, LS_FABRIC_WALK, MIGRATE_ASK, 0, &body);
    t->waits = true;
    g->asks++;
}

/* ------------------------------------------------------------------------------------------------ messages */

static inline void mrig_granted(mrig_gpu *g, const ls_fabric_message *m, ls_cycle now)
{
    const migrate_body *body = (const void *)m->body;
    mrig_thread *t = &g->threads[body->token % MRIG_THREADS];
    uint32_t first = mrig_line_at(g->rig, body->address) / 16, units = 1u << (body->size_log2 - 10),
             place = mem_place_is_remote(body->frame) ? mem_place_of(body->frame) : g->id;
    bool is_right = (body->flags & MIGRATE_MANAGED) != 0 && t->waits &&
                    ((body->flags & MIGRATE_WRITE) != 0 || !t->writes) && t->line / 16 - first < units &&
                    mem_place_frame(body->frame) == mrig_frame(g->rig, place, first * 16);
    if (!is_right)
        mrig_wrong(g->rig, "a grant is wrong: GPU, address", g->id, body->address);
    for (uint32_t i = first; i < first + units; i++) {
        g->entries[i] = (mrig_entry){ .can = (body->flags & MIGRATE_WRITE) != 0 ? 2 : 1,
                                      .place = (uint8_t)place,
                                      .size_log2 = body->size_log2 };
        g->count_to[i] = place != g->id ? body->to : 0;
        g->remote_count[i] = 0;
    }
    g->grants++;
    mrig_perform(g, body->token % MRIG_THREADS, now);
    mrig_tell(g, LS_FABRIC_WALK, MIGRATE_TAKEN, m->token, body);
}

/* Every translation that overlaps the page goes. */
static inline void mrig_forget(mrig_gpu *g, const migrate_body *body)
{
    uint32_t first = mrig_line_at(g->rig, body->address) / 16, units = 1u << (body->size_log2 - 10);
    for (uint32_t i = first; i < first + units; i++) {
        if (g->entries[i].can == 0)
            continue;
        uint32_t entry = 1u << (g->entries[i].size_log2 - 10), from = i & ~(entry - 1);
        for (uint32_t k = from; k < from + entry; k++)
            if (g->entries[k].size_log2 == g->entries[i].size_log2 && k != i)
                g->entries[k].can = 0;
        g->entries[i].can = 0;
    }
}

static inline bool mrig_is_drained(const mrig_gpu *g, const migrate_body *body)
{
    uint32_t first = mrig_line_at(g->rig, body->address) / 16, units = 1u << (body->size_log2 - 10);
    for (uint32_t i = first; i < first + units; i++)
        if (g->remote_open[i] != 0)
            return false;
    return true;
}

/* Another GPU's request. */
static inline void mrig_serve(mrig_gpu *g, const ls_fabric_message *m)
{
    ls_line_message line;
    memcpy(&line, m->body, sizeof line);
    uint32_t which = mrig_line_of_frame(g->rig, g->id, line.address);
    if (which == UINT32_MAX) {
        mrig_wrong(g->rig, "a request for no frame: GPU, address", g->id, line.address);
        return;
    }
    uint32_t old = mrig_access(g, which, line.kind == LS_LINE_ATOMIC);
    memcpy(line.data, &old, sizeof old);
    mrig_put_line(mrig_push(g, LS_FABRIC_DATA, m->from, 0, m->address, m->token), &line, true);
}

static inline void mrig_answered(mrig_gpu *g, const ls_fabric_message *m, ls_cycle now)
{
    const ls_line_message *line = (const void *)m->body;
    mrig_thread *t = &g->threads[m->token % MRIG_THREADS];
    uint32_t old, *newest = &g->rig->newest[t->line], seen = __atomic_load_n(newest, __ATOMIC_RELAXED);
    memcpy(&old, line->data, sizeof old);
    if ((line->flags & LS_LINE_FAULT) != 0)
        mrig_wrong(g->rig, "a fault: GPU, line", g->id, t->line);
    /* The host does not know newest[]: the last of its answers sets it. */
    while (m->from == g->rig->gpus && t->writes && seen < old + 1 &&
           !__atomic_compare_exchange_n(newest, &seen, old + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    g->remote_open[t->line / 16]--;
    g->reads += !t->writes;
    g->writes += t->writes;
    g->hash = (g->hash ^ now ^ (uint64_t)t->line << 32 ^ old) * UINT64_C(0x100000001b3);
    mrig_next(g, t, now);
}

static inline void mrig_piece(mrig_gpu *g, const ls_fabric_message *m)
{
    const ls_line_message *line = (const void *)m->body;
    uint32_t which = mrig_line_of_frame(g->rig, g->id, line->address);
    if (which == UINT32_MAX || g->entries[which / 16].can == 2 || m->token >= 1024) {
        mrig_wrong(g->rig, "a piece came to a wrong page: GPU, address", g->id, line->address);
        return;
    }
    memcpy(&g->memory[which], line->data, sizeof g->memory[which]);
    if (++g->pieces[m->token] != line->token)
        return;
    g->pieces[m->token] = 0;
    g->arrivals++;
    migrate_body body = { .address = mrig_virtual(g->rig, which) };
    mrig_tell(g, LS_FABRIC_MIGRATE, MIGRATE_ARRIVED, m->token, &body);
}

static inline void mrig_receive(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    mrig_gpu *g = self;
    const ls_fabric_message *m = payload;
    if (m->class_index == LS_FABRIC_REQUEST)
        mrig_serve(g, m);
    else if (m->class_index == LS_FABRIC_DATA)
        mrig_answered(g, m, now);
    else if (m->kind == MIGRATE_GRANT)
        mrig_granted(g, m, now);
    else if (m->kind == MIGRATE_PIECE)
        mrig_piece(g, m);
    else if (m->kind == MIGRATE_SHOOT && g->shoot_count < MRIG_SHOOTS) {
        mrig_shoot *s = &g->shoots[g->shoot_count++];
        *s = (mrig_shoot){ .at = now + ls_random_below(&g->random, 200), .token = m->token };
        memcpy(&s->body, m->body, sizeof s->body);
    } else
        mrig_wrong(g->rig, "an unknown message: GPU, kind", g->id, m->kind);
    ls_link_release(link, 1);
    mrig_wake(g);
}

/* --------------------------------------------------------------------------------------------------- cycles */

/* One line of a page that leaves. True: it was the last. */
static inline bool mrig_send_piece(mrig_gpu *g, mrig_shoot *s)
{
    const mrig *r = g->rig;
    uint32_t lines = 1u << (s->body.size_log2 - 6), first = mrig_line_at(r, s->body.address);
    uint64_t offset = (uint64_t)s->sent * 64;
    if (s->sent == lines)
        return true;
    if (g->out[LS_FABRIC_MIGRATE].count > MRIG_RING / 2)
        return false;
    if (mem_place_is_remote(s->body.frame) || s->body.frame != mrig_frame(r, g->id, first))
        mrig_wrong(g->rig, "a page to send has a wrong frame: GPU, frame", g->id, s->body.frame);
    ls_fabric_message *m =
        mrig_push(g, LS_FABRIC_MIGRATE, s->body.to, MIGRATE_PIECE, s->body.to_frame + offset, s->token);
    ls_line_message line = {
        .address = s->body.to_frame + offset, .kind = LS_LINE_WRITE, .mask = { UINT64_MAX, 0 }, .token = lines
    };
    memcpy(line.data, &g->memory[first + s->sent], sizeof(uint32_t));
    mrig_put_line(m, &line, true);
    return ++s->sent == lines;
}

static inline void mrig_do_shoots(mrig_gpu *g, ls_cycle now)
{
    for (uint32_t i = 0; i < g->shoot_count && !g->rig->stuck; i++) {
        mrig_shoot *s = &g->shoots[i];
        if (s->at > now)
            continue;
        if (!s->has_forgotten && (s->body.flags & MIGRATE_FORGET) != 0)
            mrig_forget(g, &s->body);
        s->has_forgotten = true;
        if (((s->body.flags & MIGRATE_FORGET) != 0 && !mrig_is_drained(g, &s->body)) ||
            ((s->body.flags & MIGRATE_SEND) != 0 && !mrig_send_piece(g, s)))
            continue;
        mrig_tell(g, LS_FABRIC_INVALIDATE, MIGRATE_SHOT, s->token, &s->body);
        g->shots++;
        g->shoots[i--] = g->shoots[--g->shoot_count];
    }
}

static inline bool mrig_send(mrig_gpu *g)
{
    bool is_left = false;
    for (uint32_t c = 0; c < LS_FABRIC_CLASSES; c++) {
        mrig_ring *ring = &g->out[c];
        ls_fabric_message *to;
        while (ring->count != 0 && (to = ls_link_send(g->end.send[c], 1)) != NULL) {
            memcpy(to, &ring->at[ring->head], sizeof *to);
            ring->head = (ring->head + 1) % MRIG_RING;
            ring->count--;
        }
        is_left |= ring->count != 0;
    }
    return is_left;
}

/* Runs again when something is due. */
static inline void mrig_step(void *self, ls_cycle now)
{
    mrig_gpu *g = self;
    ls_cycle next = LS_CYCLE_MAX;
    mrig_do_shoots(g, now);
    for (uint32_t i = 0; i < g->rig->threads; i++) {
        mrig_thread *t = &g->threads[i];
        if (t->left != 0 && !t->waits && t->at <= now)
            mrig_go_on(g, i, now);
        if (t->left != 0 && !t->waits)
            next = t->at < next ? t->at : next;
    }
    for (uint32_t i = 0; i < g->shoot_count && !g->rig->stuck; i++)
        next = g->shoots[i].at < next ? g->shoots[i].at : next;
    if (mrig_send(g))
        next = now;
    if (next != LS_CYCLE_MAX)
        mrig_wake_at(g, next > now ? next : now + 1);
}

#endif
