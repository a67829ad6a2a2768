/* memcheck_touch.c: accesses on the shadow of memory, unit by unit: races, values, and the last writer. */
#include "runtime/memcheck/memcheck_impl.h"

#include <string.h>

/* The page, with units that fit the access: dwords, if it has whole ones. */
static shadow_page *page_of(memcheck *m, uint64_t address, uint64_t bytes)
{
    shadow_page *p = shadow_find(&m->memory, address, true);
    if (!p || (p->shift != 0 && ((address | bytes) & 3) != 0 && !shadow_refine(&m->memory, p))) {
        m->no_memory = true;
        return NULL;
    }
    return p;
}

static uint64_t room_of(uint64_t address, uint64_t bytes)
{
    uint64_t room = LS_PAGE_BYTES - (address & (LS_PAGE_BYTES - 1));
    return bytes < room ? bytes : room;
}

static void race(memcheck *m, const mc_touch *t, bool writes, uint32_t other, uint32_t other_pc,
                 bool other_writes, uint64_t address)
{
    mc_report_race(m, (mc_who){ .segment = t->segment, .pc = t->pc, .writes = writes },
                   (mc_who){ .segment = other, .pc = other_pc, .writes = other_writes }, address);
}

/* Scalar caches see only writes of commands that have ended. */
static mc_order_kind order_of(memcheck *m, const mc_touch *t, uint32_t segment)
{
    if (t->scalar && segment != 0) {
        const mc_command *before = &m->commands.at[m->waves.at[m->segments.at[segment].wave].command];
        const mc_command *now = &m->commands.at[m->waves.at[t->wave].command];
        bool ended = before->end != 0 && before->end < now->begin;
        return ended || m->segments.at[segment].wave == now->wave ? MC_BEFORE : MC_RACE;
    }
    return mc_order(m, t->wave, segment, !t->is_sync);
}

/* --- reads ----------------------------------------------------------------------------------------------- */

static void add_reader(memcheck *m, shadow_unit *u, const mc_touch *t)
{
    uint32_t last = u->reader[0];
    u->reader_pc = t->pc;
    if (last == t->segment)
        return;
    if (last != 0 && m->segments.at[last].wave != t->wave)
        u->reader[1] = last;
    u->reader[0] = t->segment;
}

/* True: the value of the unit can be judged. An atomic store looks as any other, so that it makes no race with atomics
 * and loads that pass caches. */
static bool read_unit(memcheck *m, const shadow_page *p, shadow_unit *u, const mc_touch *t, uint64_t address)
{
    mc_order_kind order = order_of(m, t, u->writer);
    if (order == MC_RACE && !t->is_sync)
        race(m, t, false, u->writer, u->writer_pc, true, address);
    if (!t->is_sync)
        add_reader(m, u, t);
    return order == MC_BEFORE && !mc_is_uncertain(m, p, u, t->wave);
}

void mc_read(memcheck *m, const mc_touch *t, uint64_t address, unsigned bytes, mc_byte *out)
{
    m->counts.reads++;
    while (bytes > 0) {
        shadow_page *p = page_of(m, address, bytes);
        if (!p)
            return;
        unsigned run = shadow_run(p, address, bytes);
        shadow_unit *u = shadow_at(p, address);
        bool judged = read_unit(m, p, u, t, address);
        for (unsigned i = 0; i < run && out; i++, out++) {
            bool known = shadow_is_known(p, address + i);
            *out = (mc_byte){ .writer = u->writer,
                              .before = u->writer,
                              .value = shadow_value(p, address + i),
                              .judge = !judged ? MC_UNORDERED
                                       : known ? MC_JUDGE
                                               : MC_UNKNOWN };
        }
        address += run;
        bytes -= run;
    }
}

/* --- writes ---------------------------------------------------------------------------------------------- */

static void mark(const memcheck *m, shadow_page *p, shadow_unit *u, uint32_t flag)
{
    u->flags |= flag;
    p->race_stamp = m->stamp;
}

static bool is_same(const shadow_page *p, uint64_t address, const uint8_t *data, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        if (!data || !shadow_is_known(p, address + i) || shadow_value(p, address + i) != data[i])
            return false;
    return true;
}

static void check_readers(memcheck *m, const shadow_unit *u, const mc_touch *t, uint64_t address)
{
    for (unsigned i = 0; i < 2; i++)
        if (mc_order(m, t->wave, u->reader[i], false) == MC_RACE) {
            race(m, t, true, u->reader[i], u->reader_pc, false, address);
            return;
        }
}

/* A command that began after everything that ran at the time of the race makes the value certain again. */
static void settle(const memcheck *m, const shadow_page *p, shadow_unit *u, const mc_touch *t)
{
    const uint32_t flags = SHADOW_RACED | SHADOW_CONTENDED;
    if ((u->flags & flags) && m->commands.at[m->waves.at[t->wave].command].oldest > p->race_stamp)
        u->flags &= ~flags;
}

static void write_unit(memcheck *m, shadow_page *p, shadow_unit *u, const mc_touch *t, uint64_t address,
                       const uint8_t *data, unsigned bytes)
{
    settle(m, p, u, t);
    mc_order_kind order = mc_order(m, t->wave, u->writer, false);
    bool same = order != MC_BEFORE && is_same(p, address, data, bytes);
    if (order == MC_RACE && !same && !(u->flags & SHADOW_ATOMIC))
        race(m, t, true, u->writer, u->writer_pc, true, address);
    if (!same)
        check_readers(m, u, t, address);
    if (same) /* the first one stays */
        return;
    if (order != MC_BEFORE)
        mark(m, p, u, SHADOW_RACED);
    u->writer = t->segment;
    u->writer_pc = t->pc;
    u->flags &= SHADOW_RACED | SHADOW_CONTENDED;
    for (unsigned i = 0; i < bytes; i++)
        if (data)
            shadow_set(p, address + i, data[i]);
        else
            shadow_unknow(p, address + i);
}

void mc_write(memcheck *m, const mc_touch *t, uint64_t address, const uint8_t *data, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t part = room_of(address, bytes);
        shadow_page *p = page_of(m, address, part);
        if (!p)
            return;
        bytes -= part;
        while (part > 0) {
            unsigned run = shadow_run(p, address, part);
            write_unit(m, p, shadow_at(p, address), t, address, data, run);
            address += run;
            part -= run;
            data = data ? data + run : NULL;
        }
    }
}

/* --- atomics --------------------------------------------------------------------------------------------- */

/* The result of several of the same kind does not depend on their order. */
static bool commutes(uint8_t atomic)
{
    switch ((amd_atomic)atomic) {
    case AMD_ATOMIC_ADD:
    case AMD_ATOMIC_SUB:
    case AMD_ATOMIC_SMIN:
    case AMD_ATOMIC_UMIN:
    case AMD_ATOMIC_SMAX:
    case AMD_ATOMIC_UMAX:
    case AMD_ATOMIC_AND:
    case AMD_ATOMIC_OR:
    case AMD_ATOMIC_XOR:
        return true;
    default:
        return false;
    }
}

/* True: the new value follows from the old one, whatever the order of atomics at once. */
static bool atomic_unit(memcheck *m, shadow_page *p, shadow_unit *u, const mc_touch *t, uint64_t address)
{
    settle(m, p, u, t);
    mc_order_kind order = mc_order(m, t->wave, u->writer, false);
    bool is_atomic = (u->flags & SHADOW_ATOMIC) != 0, certain = order == MC_BEFORE;
    check_readers(m, u, t, address);
    /* With a store that may be an atomic one: no race, but an unknown order. */
    if (!certain)
        mark(m, p, u, is_atomic ? SHADOW_CONTENDED : SHADOW_RACED);
    /* A wave's own atomic may have had others of another kind beside it. */
    if (is_atomic && (u->flags & SHADOW_CONTENDED))
        certain = u->flags >> SHADOW_ATOMIC_SHIFT == t->atomic && commutes(t->atomic);
    u->writer = t->segment;
    u->writer_pc = t->pc;
    u->flags = (u->flags & (SHADOW_RACED | SHADOW_CONTENDED)) | SHADOW_ATOMIC |
               (uint32_t)t->atomic << SHADOW_ATOMIC_SHIFT;
    return certain && !(u->flags & SHADOW_RACED);
}

void mc_atomic(memcheck *m, const mc_touch *t, uint64_t address, unsigned bytes, const uint32_t operand[4],
               mc_byte *out)
{
    shadow_page *p = page_of(m, address, bytes);
    bool certain = true;
    uint32_t data[4];
    uint64_t value = 0;
    if (!p)
        return;
    m->counts.reads++;
    for (unsigned at = 0; at < bytes;) {
        unsigned run = shadow_run(p, address + at, bytes - at);
        shadow_unit *u = shadow_at(p, address + at);
        mc_order_kind order = mc_order(m, t->wave, u->writer, false);
        uint8_t judge = order == MC_BEFORE && !mc_is_uncertain(m, p, u, t->wave) ? MC_JUDGE : MC_UNORDERED;
        uint32_t before = u->writer;
        certain &= atomic_unit(m, p, u, t, address + at);
        for (unsigned i = 0; i < run; i++) {
            bool known = shadow_is_known(p, address + at + i);
            certain &= known;
            /* The writer is its own segment: another one later means that the word has changed since. */
            out[at + i] = (mc_byte){ .writer = t->segment,
                                     .before = before,
                                     .value = shadow_value(p, address + at + i),
                                     .judge = judge == MC_JUDGE && !known ? MC_UNKNOWN : judge };
        }
        at += run;
    }
    memcpy(data, operand, sizeof data);
    memcpy(&value, &p->value[address & (LS_PAGE_BYTES - 1)], bytes);
    amd_atomic_apply((uint8_t *)&value, bytes, (amd_atomic)t->atomic, data);
    for (unsigned i = 0; i < bytes; i++)
        if (certain)
            shadow_set(p, address + i, (uint8_t)(value >> 8 * i));
        else
            shadow_unknow(p, address + i);
}
