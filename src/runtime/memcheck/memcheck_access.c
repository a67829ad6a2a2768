/* memcheck_access.c: events of compute units, one by one in the order of time. A read is compared with the bytes that
 * its addresses had when it left, once its values are there. */
#include "runtime/memcheck/memcheck_impl.h"

#include <stdlib.h>
#include <string.h>

/* --- waves ----------------------------------------------------------------------------------------------- */

static mc_live *add_live(memcheck *m, uint32_t wave)
{
    uint32_t number = m->free_live;
    if (number != MC_NOT_LIVE) {
        m->free_live = m->lives.at[number].next;
    } else {
        number = (uint32_t)m->lives.count;
        if (!vec_push(&m->lives, ((mc_live){ 0 })))
            return NULL;
    }
    m->lives.at[number] = (mc_live){ .wave = wave };
    m->waves.at[wave].live = number;
    return &m->lives.at[number];
}

static void begin_group(memcheck *m, mc_log *log, const mc_entry *e)
{
    const uint32_t *id = (const uint32_t *)(const void *)(e + 1);
    const uint16_t *slots = (const uint16_t *)(const void *)(id + 3);
    for (uint32_t i = 0; i < e->token; i++) {
        mc_wave wave = { .command = e->command,
                         .id = { id[0], id[1], id[2] },
                         .gpu = (uint16_t)log->gpu,
                         .index = (uint16_t)i,
                         .live = MC_NOT_LIVE };
        uint32_t number = (uint32_t)m->waves.count;
        while (log->waves.count <= slots[i])
            if (!vec_push(&log->waves, 0)) {
                m->no_memory = true;
                return;
            }
        log->waves.at[slots[i]] = 0;
        mc_live *live = vec_push(&m->waves, wave) ? add_live(m, number) : NULL;
        if (!live) {
            m->no_memory = true;
            return;
        }
        live->one_cache = (e->flags & MC_ONE_CACHE) != 0;
        live->needs_both = m->commands.at[e->command].two_caches;
        log->waves.at[slots[i]] = number;
    }
}

static uint32_t wave_at(const mc_log *log, uint32_t slot)
{
    return slot < log->waves.count ? log->waves.at[slot] : 0;
}

static void each_of_group(memcheck *m, mc_log *log, const mc_entry *e,
                          void (*visit)(memcheck *m, mc_log *log, uint32_t slot, mc_live *live))
{
    const uint16_t *slots = (const uint16_t *)(const void *)((const uint32_t *)(const void *)(e + 1) + 3);
    for (uint32_t i = 0; i < e->token; i++) {
        uint32_t wave = wave_at(log, slots[i]);
        if (wave != 0)
            visit(m, log, slots[i], mc_live_of(m, wave));
    }
    mc_forget_order(m);
}

static void end_wave(memcheck *m, mc_log *log, uint32_t slot, mc_live *live)
{
    vclock_drop(&live->clock);
    vclock_drop(&live->heard);
    vclock_drop(&live->maybe);
    vclock_drop(&live->rumours);
    m->waves.at[live->wave].live = MC_NOT_LIVE;
    live->next = m->free_live;
    m->free_live = (uint32_t)(live - m->lives.at);
    log->waves.at[slot] = 0;
}

static void pass_barrier(memcheck *m, mc_log *log, uint32_t slot, mc_live *live)
{
    (void)log;
    (void)slot;
    bool is_clean = live->dirty == 0 && live->loads == 0;
    m->waves.at[live->wave].published = is_clean ? live->number : live->number - (live->number != 0);
    if (is_clean) /* later accesses are none of those that were published */
        live->segment = 0;
}

/* --- accesses in flight ---------------------------------------------------------------------------------- */

static mc_pending *pending_at(memcheck *m, mc_log *log, uint32_t token)
{
    while (log->pending.count <= token)
        if (!vec_push(&log->pending, NULL)) {
            m->no_memory = true;
            return NULL;
        }
    if (!log->pending.at[token])
        log->pending.at[token] = calloc(1, sizeof(mc_pending));
    m->no_memory |= !log->pending.at[token];
    return log->pending.at[token];
}

static bool reserve(mc_pending *p, size_t pieces, size_t bytes)
{
    if (pieces > p->room) {
        uint64_t *address = realloc(p->address, pieces * sizeof *address);
        p->address = address ? address : p->address;
        vclock *sure = realloc(p->sure, pieces * sizeof *sure);
        p->sure = sure ? sure : p->sure;
        if (!address || !sure)
            return false;
        memset(p->sure + p->room, 0, (pieces - p->room) * sizeof *sure);
        p->room = pieces;
    }
    if (bytes > p->byte_room) {
        mc_byte *made = realloc(p->bytes, bytes * sizeof *made);
        if (!made)
            return false;
        p->bytes = made;
        p->byte_room = bytes;
    }
    return true;
}

static mc_touch touch_of(const memcheck *m, const mc_pending *p)
{
    const mc_command *c = &m->commands.at[m->waves.at[p->wave].command];
    return (mc_touch){ .wave = p->wave,
                       .segment = p->segment,
                       .pc = (uint32_t)(p->pc - c->entry),
                       .is_sync = p->kind == AMD_ACCESS_ATOMIC || p->newest,
                       .scalar = p->scalar,
                       .atomic = p->atomic };
}

/* Words of it tell waves of each other. */
static bool syncs(const mc_pending *p)
{
    return p->kind == AMD_ACCESS_ATOMIC ||
           (p->kind == AMD_ACCESS_LOAD && p->newest && p->pieces == 1 && p->piece_bytes <= 8);
}

static uint64_t value_of(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;
    memcpy(&value, bytes, count < 4 ? count : 4); /* words are compared by their first dword */
    return value;
}

/* A store that may publish: one word, alone in its lane, whole. */
static void note_store(memcheck *m, const mc_live *live, uint64_t address, const uint8_t *data, unsigned bytes)
{
    vclock release = { 0 };
    shadow_page *page = shadow_find(&m->memory, address, false);
    if (!page || !page->has_sync || (address & 3) != 0 || bytes < 4 || !mc_sync_of(m, address, false))
        return;
    m->no_memory |= !mc_publish(m, live, &release);
    mc_sync_newest(m, address, &release, value_of(data, bytes));
    vclock_drop(&release);
}

static void issue_lane(memcheck *m, mc_pending *p, const mc_live *live, const mc_touch *t, size_t i,
                       const uint32_t *data, unsigned lane_at)
{
    uint64_t address = p->address[i];
    mc_byte *bytes = p->bytes + i * p->piece_bytes;
    if (address == UINT64_MAX)
        return;
    switch ((amd_access_kind)p->kind) {
    case AMD_ACCESS_LOAD:
        mc_read(m, t, address, p->piece_bytes, bytes);
        if (syncs(p))
            mc_sync_issue(m, address, NULL, &p->sure[i]);
        break;
    case AMD_ACCESS_STORE:
        mc_write(m, t, address, (const uint8_t *)data, p->piece_bytes);
        note_store(m, live, address, (const uint8_t *)data, p->piece_bytes);
        break;
    default:
        memset(p->operand[lane_at], 0, sizeof p->operand[lane_at]);
        memcpy(p->operand[lane_at], data,
               (p->atomic == AMD_ATOMIC_CMPSWAP || p->atomic == AMD_ATOMIC_FCMPSWAP ? 2u : 1u) *
                   p->piece_bytes);
        mc_atomic(m, t, address, p->piece_bytes, p->operand[lane_at], bytes);
        mc_sync_issue(m, address, &p->release, &p->sure[i]);
        if (p->atomic == AMD_ATOMIC_SWAP || p->atomic == AMD_ATOMIC_CMPSWAP)
            mc_sync_newest(m, address, &p->release, value_of((const uint8_t *)data, p->piece_bytes));
        break;
    }
}

static void issue(memcheck *m, mc_log *log, const mc_entry *e)
{
    uint32_t wave = wave_at(log, e->wave);
    mc_pending *p = wave != 0 ? pending_at(m, log, e->token) : NULL;
    unsigned lanes = (unsigned)__builtin_popcountll(e->lanes), dwords = (e->piece_bytes + 3u) / 4;
    size_t count = (size_t)lanes * e->pieces;
    if (!p || !reserve(p, count, count * e->piece_bytes)) {
        m->no_memory = true;
        return;
    }
    bool pair = e->atomic == AMD_ATOMIC_CMPSWAP || e->atomic == AMD_ATOMIC_FCMPSWAP;
    const uint64_t *address = (const uint64_t *)(const void *)(e + 1);
    size_t addresses = e->flags & MC_LINEAR ? 1 : count;
    const uint32_t *data = (const uint32_t *)(const void *)(address + addresses);
    size_t stride = e->pieces * dwords * (pair ? 2 : 1);
    mc_live *live = mc_live_of(m, wave);
    p->used = true;
    p->kind = e->access;
    p->pieces = e->pieces;
    p->piece_bytes = e->piece_bytes;
    p->atomic = e->atomic;
    p->newest = (e->flags & MC_NEWEST) != 0;
    p->scalar = (e->flags & MC_SCALAR) != 0;
    p->lane_count = lanes;
    p->lanes = e->lanes;
    p->pc = e->pc;
    p->wave = wave;
    p->segment = mc_segment_of(m, live);
    mc_forget_order(m);
    if (p->kind == AMD_ACCESS_ATOMIC)
        m->no_memory |= !mc_publish(m, live, &p->release);
    const mc_touch t = touch_of(m, p);
    for (size_t i = 0; i < count; i++)
        p->address[i] = e->flags & MC_LINEAR ? address[0] + i * e->piece_bytes : address[i];
    for (size_t i = 0; i < count && !m->no_memory; i++) {
        size_t lane = i % lanes, piece = i / lanes;
        issue_lane(m, p, live, &t, i, data + lane * stride + piece * dwords, (unsigned)lane);
    }
    if (p->kind == AMD_ACCESS_LOAD)
        live->loads++;
    else
        live->dirty |= e->counters & (e->counters & 9 ? 9 : 15); /* of FLAT those of memory */
}

/* --- and their end --------------------------------------------------------------------------------------- */

static int lane_of(uint64_t lanes, size_t number)
{
    for (; number > 0; number--)
        lanes &= lanes - 1;
    return __builtin_ctzll(lanes);
}

/* A byte that was not judged, though its order was known: now its value is. */
static void learn(memcheck *m, uint32_t wave, uint64_t address, const mc_byte *byte, uint8_t got)
{
    shadow_page *page = shadow_find(&m->memory, address, false);
    const shadow_unit *u = page ? shadow_at(page, address) : NULL;
    if (u && u->writer == byte->writer && !mc_is_uncertain(m, page, u, wave) &&
        !shadow_is_known(page, address))
        shadow_set(page, address, got);
}

/* The word has been written since the access left, by another wave. */
static bool has_changed(memcheck *m, const mc_pending *p, uint64_t address, const mc_byte *byte)
{
    shadow_page *page = shadow_find(&m->memory, address, false);
    const shadow_unit *u = page ? shadow_at(page, address) : NULL;
    return !u || mc_is_uncertain(m, page, u, p->wave) ||
           (u->writer != byte->writer && m->segments.at[u->writer].wave != p->wave);
}

static void judge(memcheck *m, const mc_pending *p, size_t i, const uint8_t *got)
{
    const mc_byte *bytes = p->bytes + i * p->piece_bytes;
    for (unsigned b = 0; b < p->piece_bytes; b++) {
        uint64_t address = p->address[i] + b;
        bool wrong = bytes[b].judge == MC_JUDGE && bytes[b].value != got[b];
        if (wrong && has_changed(m, p, address, &bytes[b])) {
            m->counts.unordered++;
            continue;
        }
        m->counts.judged += bytes[b].judge == MC_JUDGE;
        m->counts.unordered += bytes[b].judge == MC_UNORDERED;
        m->counts.unknown += bytes[b].judge == MC_UNKNOWN;
        if (bytes[b].judge == MC_UNKNOWN && p->kind == AMD_ACCESS_LOAD)
            learn(m, p->wave, address, &bytes[b], got[b]);
        if (!wrong)
            continue;
        const mc_touch t = touch_of(m, p);
        unsigned from = b & ~3u, count = p->piece_bytes - from < 4 ? p->piece_bytes - from : 4;
        mc_report_value(m, p->segment, t.pc, p->scalar ? -1 : lane_of(p->lanes, i % p->lane_count),
                        p->address[i] + from, count, got + from, bytes + from);
        return;
    }
}

/* The value that an atomic left, if no other came since. Returns whether it is the word's value now. */
static bool after_atomic(memcheck *m, const mc_pending *p, size_t i, const uint8_t *got)
{
    uint64_t value = 0, address = p->address[i];
    uint32_t operand[4];
    shadow_page *page = shadow_find(&m->memory, address, false);
    const shadow_unit *u = page ? shadow_at(page, address) : NULL;
    if (!u)
        return false;
    memcpy(operand, p->operand[i % p->lane_count], sizeof operand);
    memcpy(&value, got, p->piece_bytes);
    amd_atomic_apply((uint8_t *)&value, p->piece_bytes, (amd_atomic)p->atomic, operand);
    bool known = true, same = true;
    for (unsigned b = 0; b < p->piece_bytes; b++) {
        known &= shadow_is_known(page, address + b);
        same &= shadow_value(page, address + b) == (uint8_t)(value >> 8 * b);
    }
    if (known)
        return same;
    for (unsigned b = 0;
         b < p->piece_bytes && u->writer == p->segment && !mc_is_uncertain(m, page, u, p->wave); b++)
        shadow_set(page, address + b, (uint8_t)(value >> 8 * b));
    return false;
}

static void return_lane(memcheck *m, mc_pending *p, mc_live *live, size_t i, const uint8_t *got)
{
    bool atomic = p->kind == AMD_ACCESS_ATOMIC, total = false;
    uint64_t value = got ? value_of(got, p->piece_bytes) : 0;
    if (got)
        judge(m, p, i, got);
    if (got && atomic)
        total = after_atomic(m, p, i, got) && (p->atomic == AMD_ATOMIC_ADD || p->atomic == AMD_ATOMIC_SUB);
    if (syncs(p)) {
        mc_sync_return(m, live, p->address[i], atomic ? &p->release : NULL, &p->sure[i], got ? &value : NULL,
                       total);
        vclock_drop(&p->sure[i]);
    }
}

static void over(memcheck *m, mc_log *log, const mc_entry *e)
{
    uint32_t wave = wave_at(log, e->wave);
    mc_pending *p = wave != 0 ? pending_at(m, log, e->token) : NULL;
    if (!p || !p->used)
        return;
    mc_live *live = mc_live_of(m, wave);
    unsigned dwords = (p->piece_bytes + 3u) / 4;
    const uint32_t *data = e->flags & MC_DATA ? (const uint32_t *)(const void *)(e + 1) : NULL;
    bool dead = (e->flags & MC_DEAD) != 0;
    for (size_t i = 0; i < (size_t)p->lane_count * p->pieces; i++) {
        size_t lane = i % p->lane_count, piece = i / p->lane_count;
        if (p->address[i] == UINT64_MAX)
            continue;
        const uint32_t *got = data && !dead ? data + (lane * p->pieces + piece) * dwords : NULL;
        return_lane(m, p, live, i, (const uint8_t *)got);
    }
    vclock_drop(&p->release);
    p->used = false;
    if (p->kind == AMD_ACCESS_LOAD)
        live->loads--;
}

/* --- all of them ----------------------------------------------------------------------------------------- */

void mc_take(memcheck *m, mc_log *log, const mc_entry *e)
{
    mc_live *live =
        e->kind == CU_SEEN_WAIT || e->kind == CU_SEEN_FORGET ? mc_live_of(m, wave_at(log, e->wave)) : NULL;
    switch ((cu_seen_kind)e->kind) {
    case CU_SEEN_GROUP:
        begin_group(m, log, e);
        break;
    case CU_SEEN_END:
        each_of_group(m, log, e, end_wave);
        break;
    case CU_SEEN_BARRIER:
        each_of_group(m, log, e, pass_barrier);
        break;
    case CU_SEEN_ISSUE:
        issue(m, log, e);
        break;
    case CU_SEEN_RETURN:
        over(m, log, e);
        break;
    case CU_SEEN_WAIT:
        if (live)
            live->dirty &= (uint8_t)~e->counters;
        break;
    case CU_SEEN_FORGET:
        if (live)
            mc_empty_caches(m, live, e->levels);
        break;
    }
}
