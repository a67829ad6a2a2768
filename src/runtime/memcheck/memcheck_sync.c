/* memcheck_sync.c: words that atomics change, or that loads with glc read: what waves publish and hear there.
 *
 * An atomic publishes the segments of its wave that are over. One that returns, or a glc load, hears what others
 * published: atomics that were over when it left, and the write whose value it got. If its result shows that it was
 * the last of all, it hears every other atomic. What a wave heard counts once it empties its caches. */
#include "runtime/memcheck/memcheck_impl.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const memcheck *m, uint64_t address)
{
    size_t at = (address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->sync_slot_count - 1);
    while (m->sync_slots[at] != 0 && m->syncs.at[m->sync_slots[at] - 1].address != address)
        at = (at + 1) & (m->sync_slot_count - 1);
    return at;
}

static bool grow(memcheck *m)
{
    size_t count = m->sync_slot_count > 0 ? 2 * m->sync_slot_count : 256;
    uint32_t *made = calloc(count, sizeof *made);
    if (!made)
        return false;
    free(m->sync_slots);
    m->sync_slots = made;
    m->sync_slot_count = count;
    for (size_t i = 0; i < m->syncs.count; i++)
        m->sync_slots[slot_of(m, m->syncs.at[i].address)] = (uint32_t)i + 1;
    return true;
}

/* A store before the first atomic may have been the one that publishes. */
static void take_store(memcheck *m, mc_sync *s, const shadow_page *p, uint64_t address)
{
    const shadow_unit *u = &p->units[(address & (LS_PAGE_BYTES - 1)) >> p->shift];
    if (u->writer == 0 || (u->flags & (SHADOW_ATOMIC | SHADOW_RACED)) || !shadow_is_known(p, address))
        return;
    const mc_segment *writer = &m->segments.at[u->writer];
    const mc_live *live = mc_live_of(m, writer->wave);
    uint32_t value;
    memcpy(&value, &p->value[address & (LS_PAGE_BYTES - 4)], 4);
    if (live) /* an ended wave has forgotten what it had heard */
        vclock_copy(&s->newest, &live->clock);
    m->no_memory |= !vclock_raise(&s->newest, writer->wave, writer->number - 1);
    s->newest_value = value;
    s->has_newest = true;
}

mc_sync *mc_sync_of(memcheck *m, uint64_t address, bool create)
{
    address &= ~UINT64_C(3);
    if (m->sync_slot_count > 0) {
        uint32_t found = m->sync_slots[slot_of(m, address)];
        if (found != 0)
            return &m->syncs.at[found - 1];
    }
    shadow_page *p = create ? shadow_find(&m->memory, address, true) : NULL;
    if (!p)
        return NULL;
    if (2 * (m->syncs.count + 1) > m->sync_slot_count && !grow(m)) {
        m->no_memory = true;
        return NULL;
    }
    if (!vec_push(&m->syncs, ((mc_sync){ .address = address }))) {
        m->no_memory = true;
        return NULL;
    }
    m->sync_slots[slot_of(m, address)] = (uint32_t)m->syncs.count;
    p->has_sync = true;
    mc_sync *s = &m->syncs.at[m->syncs.count - 1];
    take_store(m, s, p, address);
    return s;
}

void mc_sync_clear(memcheck *m)
{
    for (size_t i = 0; i < m->syncs.count; i++) {
        vclock_drop(&m->syncs.at[i].sure);
        vclock_drop(&m->syncs.at[i].issued);
        vclock_drop(&m->syncs.at[i].newest);
    }
    vec_clear(&m->syncs);
    if (m->sync_slot_count > 0)
        memset(m->sync_slots, 0, m->sync_slot_count * sizeof *m->sync_slots);
}

bool mc_publish(const memcheck *m, const mc_live *live, vclock *out)
{
    (void)m;
    vclock_copy(out, &live->clock);
    return vclock_raise(out, live->wave, live->number - 1);
}

void mc_sync_issue(memcheck *m, uint64_t address, const vclock *release, vclock *sure)
{
    mc_sync *s = mc_sync_of(m, address, true);
    if (!s)
        return;
    if (sure)
        vclock_copy(sure, &s->sure);
    if (release)
        m->no_memory |= !vclock_join(&s->issued, release);
}

void mc_sync_newest(memcheck *m, uint64_t address, const vclock *release, uint64_t value)
{
    mc_sync *s = mc_sync_of(m, address, false);
    if (!s)
        return;
    vclock_copy(&s->newest, release);
    s->newest_value = value;
    s->has_newest = true;
}

void mc_sync_return(memcheck *m, mc_live *live, uint64_t address, const vclock *release, const vclock *sure,
                    const uint64_t *value, bool total)
{
    mc_sync *s = mc_sync_of(m, address, true);
    bool good = s != NULL;
    if (good && value) {
        good = vclock_join(&live->heard, sure);
        if (s->has_newest && s->newest_value == *value)
            good &= vclock_join(&live->heard, &s->newest);
        if (total)
            good &= vclock_join(&live->heard, &s->issued);
        good &= vclock_join(&live->rumours, &s->issued);
        live->emptied = 0;
    }
    if (good && release)
        good = vclock_join(&s->sure, release);
    m->no_memory |= !good;
    mc_forget_order(m);
}

void mc_empty_caches(memcheck *m, mc_live *live, uint8_t levels)
{
    uint8_t all = live->needs_both ? 3 : 1;
    live->emptied |= levels & 3;
    if ((live->emptied & all) != all)
        return;
    bool good = vclock_join(&live->clock, &live->heard) && vclock_join(&live->maybe, &live->rumours);
    m->no_memory |= !good;
    mc_forget_order(m);
}
