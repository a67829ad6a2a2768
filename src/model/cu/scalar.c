/* scalar.c: scalar memory: one address per wave, up to 64 bytes, answered in any order. Also clocks, which
 * come the same way, and programs' commands to the scalar cache. */
#include "model/cu/cu.h"

static amd_access *scalar_head(cu_scalar *s)
{
    return (amd_access *)(void *)s->head; /* only what stands before the addresses */
}

static void scalar_end(cu *c, cu_scalar *s, ls_cycle now)
{
    cu_wave *w = &c->waves[s->wave];
    cu_count_cycles(c, now);
    if (LS_UNLIKELY(w->observed) && s->line_count != 0 && s->inst->what == CU_MEMORY)
        cu_observe_return(c, w, s->inst, cu_access_total(c) + (uint32_t)(s - c->scalars), s->head, s->data,
                          AMD_DATA_DWORDS);
    if (!w->group->dead && s->inst->what == CU_MEMORY)
        cu_source_scalar(c, w, s);
    c->counters.scalar_loads++;
    c->counters.scalar_load_cycles += now - s->issued;
    index_pool_give(&c->scalar_pool, INDEX_LINKS(c->scalars, next), (uint32_t)(s - c->scalars));
    c->scalar_count--;
    w->scalars--;
    cu_scalar_free(c, now);
    cu_access_lower(c, w, s->inst, now);
}

bool cu_scalar_issue(cu *c, cu_wave *w, ls_cycle now)
{
    if (c->scalar_count >= c->spec->scalar_in_flight) {
        c->simds[w->simd].scalar_full = true;
        return false;
    }
    const cu_inst *inst = w->head;
    amd_access *scratch = &c->scratch;
    if (!cu_source_address(w, scratch, now)) {
        cu_group_fault(c, w, inst->next - inst->bytes, now);
        return true;
    }
    uint32_t number = index_pool_take(&c->scalar_pool, INDEX_LINKS(c->scalars, next));
    cu_scalar *s = &c->scalars[number]; /* fewer than CU_SCALARS are in flight */
    c->scalar_count++;
    s->wave = w->number;
    s->sent = s->back = s->line_count = 0;
    s->inst = inst;
    s->issued = now;
    memcpy(s->head, scratch, CU_HEAD_BYTES);
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (inst->raises >> i & 1)
            w->counter[i]++;
    w->in_flight++;
    w->scalar_touches = (w->scalars++ != 0 ? w->scalar_touches : 0) | inst->touches[1];
    w->group->in_flight++;
    if (LS_UNLIKELY(w->observed) && inst->what == CU_CACHE)
        cu_observe_forget(c, w, inst);
    else if (LS_UNLIKELY(w->observed) && scratch->lanes != 0)
        cu_observe_issue(c, w, inst, cu_access_total(c) + number);
    if (inst->what == CU_CACHE) {
        s->line_count = 1;
    } else if (scratch->kind == AMD_ACCESS_EXCHANGE || scratch->lanes == 0) {
        memcpy(s->data, scratch->data[0], 8);
    } else {
        uint64_t first = scratch->address[0][0], last = first + scratch->piece_bytes - 1;
        s->address = first;
        s->line_count = (uint8_t)((last >> c->line_shift) - (first >> c->line_shift) + 1);
        if (scratch->kind != AMD_ACCESS_LOAD)
            memcpy(s->data, scratch->data[0], sizeof s->data);
    }
    index_list_append(&c->scalar_queue, INDEX_LINKS(c->scalars, next), number);
    if (!c->scalar_refused)
        c->sending |= 1u << CU_SENDS_SCALAR;
    return true;
}

/* The part of the access that lies in a line. */
static unsigned scalar_overlap(const cu *c, cu_scalar *s, unsigned line, unsigned *in_line, unsigned *in_data)
{
    uint64_t base = (s->address & ~(uint64_t)(c->line_bytes - 1)) + (uint64_t)line * c->line_bytes;
    uint64_t end = s->address + scalar_head(s)->piece_bytes;
    uint64_t from = s->address > base ? s->address : base;
    uint64_t to = end < base + c->line_bytes ? end : base + c->line_bytes;
    *in_line = (unsigned)(from - base);
    *in_data = (unsigned)(from - s->address);
    return (unsigned)(to - from);
}

static void scalar_message(const cu *c, cu_scalar *s, unsigned line, ls_line_message *m)
{
    const amd_access *head = scalar_head(s);
    uint32_t flags = s->inst->inst->flags;
    m->address = (s->address & ~(uint64_t)(c->line_bytes - 1)) + (uint64_t)line * c->line_bytes;
    m->token = (uint32_t)(s - c->scalars) | line << 8;
    m->flags = (uint16_t)(LS_LINE_SCALAR | ((flags & AMD_GLC) ? LS_LINE_GLC : 0u) |
                          ((flags & AMD_DLC) ? LS_LINE_DLC : 0u));
    m->mask[0] = m->mask[1] = 0;
    m->atomic = 0;
    if (s->inst->what == CU_CACHE) {
        m->address = 0;
        m->kind = LS_LINE_INVALIDATE;
        m->atomic = s->inst->limit[CU_VM]; /* levels below */
        return;
    }
    unsigned in_line, in_data, bytes = scalar_overlap(c, s, line, &in_line, &in_data);
    for (unsigned i = in_line; i < in_line + bytes; i += 4)
        m->mask[i / 64] |= 15ull << i % 64;
    m->kind = LS_LINE_READ;
    if (head->kind == AMD_ACCESS_STORE) {
        m->kind = LS_LINE_WRITE;
        memcpy(m->data + in_line, (const uint8_t *)s->data + in_data, bytes);
    } else if (head->kind == AMD_ACCESS_ATOMIC) {
        bool pair = head->atomic == AMD_ATOMIC_CMPSWAP;
        m->kind = LS_LINE_ATOMIC;
        m->atomic = head->atomic;
        m->atomic_bytes = head->piece_bytes;
        m->half = pair && in_line >= 64;
        if (head->returns)
            m->flags |= LS_LINE_RETURN;
        unsigned at = pair ? in_line & 63 : in_line;
        memcpy(m->data + at, s->data, bytes);
        if (pair)
            memcpy(m->data + 64 + at, (const uint8_t *)s->data + bytes, bytes);
    }
}

bool cu_scalar_send(cu *c, ls_cycle now)
{
    ls_line_message *m = &c->message;
    for (uint64_t i = 0; i < c->spec->scalar_lines_per_cycle && !index_list_empty(&c->scalar_queue);) {
        cu_scalar *s = &c->scalars[c->scalar_queue.first];
        if (s->line_count == 0) { /* a clock, or nothing to read: it waits in line for its own time */
            if (s->issued + c->spec->clock_read_cycles > now) {
                cu_wake(c, s->issued + c->spec->clock_read_cycles, now);
                return false;
            }
            (void)index_list_pop(&c->scalar_queue, INDEX_LINKS(c->scalars, next));
            scalar_end(c, s, now);
            continue;
        }
        scalar_message(c, s, s->sent, m);
        m->born = (uint32_t)now;
        if (!cu_request(c, &c->wires.scalar, m, CU_PATH_SCALAR, now)) {
            c->scalar_refused = true;
            c->sending &= ~(1u << CU_SENDS_SCALAR);
            return false;
        }
        i++;
        if (++s->sent == s->line_count)
            (void)index_list_pop(&c->scalar_queue, INDEX_LINKS(c->scalars, next));
    }
    if (index_list_empty(&c->scalar_queue))
        c->sending &= ~(1u << CU_SENDS_SCALAR);
    return !index_list_empty(&c->scalar_queue);
}

static void scalar_fault(cu *c, cu_scalar *s, const ls_line_message *m, ls_cycle now)
{
    cu_wave *w = &c->waves[s->wave];
    if (w->group->dead)
        return;
    const amd_access *head = scalar_head(s);
    w->arch.fault =
        (ls_fault){ .kind = (m->flags & LS_LINE_READ_ONLY) != 0 ? LS_FAULT_READ_ONLY : LS_FAULT_UNMAPPED,
                    .bytes = head->piece_bytes,
                    .write = head->kind != AMD_ACCESS_LOAD,
                    .address = s->address };
    w->arch.stop = AMD_FAULTED;
    cu_group_fault(c, w, s->inst->next - s->inst->bytes, now);
}

static void scalar_reply(void *self, const ls_line_message *m, ls_cycle now)
{
    cu *c = self;
    cu_scalar *s = &c->scalars[m->token & 255];
    const amd_access *head = scalar_head(s);
    if (LS_UNLIKELY(m->number != 0))
        cu_tap_reply(c, m);
    s->back++;
    if (s->inst->what == CU_MEMORY) {
        unsigned in_line, in_data, bytes = scalar_overlap(c, s, m->token >> 8, &in_line, &in_data);
        if (m->flags & LS_LINE_FAULT)
            scalar_fault(c, s, m, now);
        else if (head->kind == AMD_ACCESS_LOAD)
            memcpy((uint8_t *)s->data + in_data, m->data + in_line, bytes);
        else if (head->kind == AMD_ACCESS_ATOMIC && head->returns)
            memcpy(s->data, m->data + (head->atomic == AMD_ATOMIC_CMPSWAP ? in_line & 63 : in_line), bytes);
    }
    if (s->back == s->line_count)
        scalar_end(c, s, now);
}

static void scalar_retry(void *self, ls_cycle now)
{
    cu *c = self;
    c->scalar_refused = false;
    if (!index_list_empty(&c->scalar_queue))
        c->sending |= 1u << CU_SENDS_SCALAR;
    cu_wake(c, now, now);
}

const ls_line_client_ops cu_scalar_client = { .reply = scalar_reply, .retry = scalar_retry };
