/* exec_lines.c: memory instructions of waves that execute for a plug-in: lanes become messages of one line each, answers
 * become registers. See lockstep/cu_exec.h. */
#include "model/cu/exec.h"

#include <string.h>

#define ACCESS_BITS 8 /* of a token; the rest is the number of the message */
_Static_assert(LS_CU_EXEC_ACCESSES <= 1u << ACCESS_BITS, "a token names every access");

static bool is_pair(const amd_access *s)
{
    return s->atomic == AMD_ATOMIC_CMPSWAP || s->atomic == AMD_ATOMIC_FCMPSWAP;
}

/* --- lanes become lines --------------------------------------------------------------------------------- */

static exec_line *add_line(exec_access *a, uint64_t address)
{
    exec_line *made = &a->lines[a->line_count++];
    *made = (exec_line){ .address = address };
    return made;
}

/* Most lanes are in the line of the one before. */
static exec_line *find_line(exec_access *a, uint64_t address)
{
    for (unsigned i = a->line_count; i > 0; i--)
        if (a->lines[i - 1].address == address)
            return &a->lines[i - 1];
    return add_line(a, address);
}

static void make_lines(const ls_cu_exec *x, exec_access *a)
{
    const amd_access *s = &a->access;
    uint64_t mask = ~(uint64_t)(x->line_bytes - 1);
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = s->lanes & ~s->in_lds & ~s->absent[piece]; left != 0; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            uint64_t address = s->address[piece][lane], last = (address + s->piece_bytes - 1) & mask;
            for (uint64_t line = address & mask; line <= last; line += x->line_bytes)
                find_line(a, line)->lanes |= 1ull << lane;
        }
}

/* Each address at most once in a message: lanes of one address go in messages of their own, in the order of the lanes. A
 * compare-and-swap fills half a line. */
static void make_atomic_lines(const ls_cu_exec *x, exec_access *a)
{
    const amd_access *s = &a->access;
    bool pair = is_pair(s);
    uint64_t unit = pair ? 64 : x->line_bytes;
    for (uint64_t left = s->lanes & ~s->in_lds & ~s->absent[0]; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left), i = 0;
        uint64_t address = s->address[0][lane], part = address & ~(unit - 1);
        uint32_t words = (s->piece_bytes == 8 ? 3u : 1u) << (address - part) / 4;
        while (i < a->line_count && (a->lines[i].address != part || (a->lines[i].words & words) != 0))
            i++;
        exec_line *l = i < a->line_count ? &a->lines[i] : add_line(a, part);
        l->words |= words;
        l->lanes |= 1ull << lane;
    }
    for (unsigned i = 0; i < a->line_count; i++) {
        uint64_t line = a->lines[i].address & ~(uint64_t)(x->line_bytes - 1);
        a->lines[i].half = pair && a->lines[i].address != line;
        a->lines[i].address = line;
    }
}

/* An absent component reads 0. */
static void clear_absent(amd_access *s)
{
    unsigned dwords = (s->piece_bytes + 3u) / 4;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = s->lanes & s->absent[piece]; left != 0; left &= left - 1)
            memset(s->data[__builtin_ctzll(left)] + piece * dwords, 0, dwords * 4);
}

/* --- the end of an access ------------------------------------------------------------------------------- */

static void write_registers(exec_wave *w, const exec_access *a)
{
    amd_wave *arch = &w->arch;
    if (w->group->dead || a->invalidate || !a->access.returns)
        return;
    /* Some look at exec and M0 here: those of the issue count. */
    uint32_t m0 = arch->sgpr[AMD_M0];
    uint64_t exec;
    memcpy(&exec, &arch->sgpr[AMD_EXEC_LO], sizeof exec);
    memcpy(&arch->sgpr[AMD_EXEC_LO], &a->exec, sizeof a->exec);
    arch->sgpr[AMD_M0] = a->m0;
    amd_mem_writeback(arch, a->inst->inst, &a->access);
    memcpy(&arch->sgpr[AMD_EXEC_LO], &exec, sizeof exec);
    arch->sgpr[AMD_M0] = m0;
}

static void retire(ls_cu_exec *x, exec_wave *w, exec_access *a)
{
    write_registers(w, a);
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (a->inst->raises >> i & 1)
            w->counter[i]--;
    w->group->in_flight--;
    index_pool_give(&x->free_accesses, INDEX_LINKS(x->accesses, next), (uint32_t)(a - x->accesses));
}

static void complete(ls_cu_exec *x, exec_access *a)
{
    exec_wave *w = &x->waves[a->wave];
    a->complete = true;
    if (a->inst->ordered == CU_COUNTERS) {
        retire(x, w, a);
        return;
    }
    index_list *list = &w->in_order[a->inst->ordered == CU_VS];
    while (!index_list_empty(list) && x->accesses[list->first].complete)
        retire(x, w, &x->accesses[index_list_pop(list, INDEX_LINKS(x->accesses, next))]);
}

/* --- issue ---------------------------------------------------------------------------------------------- */

static void enter(ls_cu_exec *x, exec_wave *w, exec_access *a)
{
    uint32_t number = index_pool_take(&x->free_accesses, INDEX_LINKS(x->accesses, next)); /* of a */
    w->group->in_flight++;
    for (unsigned i = 0; i < CU_COUNTERS; i++)
        if (a->inst->raises >> i & 1)
            w->counter[i]++;
    if (a->inst->ordered == CU_COUNTERS)
        return;
    index_list_append(&w->in_order[a->inst->ordered == CU_VS], INDEX_LINKS(x->accesses, next), number);
}

/* LDS: in one go. Exchanges between lanes have their data from the first step. */
static ls_cu_result access_lds(exec_wave *w, exec_access *a)
{
    amd_access *s = &a->access;
    if (s->kind != AMD_ACCESS_EXCHANGE && s->kind != AMD_ACCESS_NONE)
        amd_mem_perform(&w->arch, a->inst->inst, s);
    write_registers(w, a);
    return LS_CU_STEPPED;
}

static void access_lines(const ls_cu_exec *x, exec_wave *w, exec_access *a)
{
    amd_access *s = &a->access;
    if (s->in_lds != 0) {
        uint64_t all = s->lanes;
        s->lanes = s->in_lds;
        amd_mem_perform(&w->arch, a->inst->inst, s);
        s->lanes = all;
    }
    if (s->kind == AMD_ACCESS_LOAD)
        clear_absent(s);
    if (s->kind == AMD_ACCESS_ATOMIC)
        make_atomic_lines(x, a);
    else if (s->kind == AMD_ACCESS_LOAD || s->kind == AMD_ACCESS_STORE)
        make_lines(x, a);
}

ls_cu_result exec_access_begin(ls_cu_exec *x, exec_wave *w, ls_cycle now, ls_cu_step *out)
{
    const cu_inst *inst = w->head;
    exec_access *a = &x->accesses[index_pool_next(&x->free_accesses)];
    amd_access *s = &a->access;
    a->wave = (uint16_t)(w - x->waves);
    a->inst = inst;
    a->line_count = a->back = 0;
    a->complete = false;
    a->invalidate = inst->what >= CU_CACHE;
    a->scalar = inst->unit == CU_UNIT_SCALAR;
    memcpy(&a->exec, &w->arch.sgpr[AMD_EXEC_LO], sizeof a->exec);
    a->m0 = w->arch.sgpr[AMD_M0];
    w->arch.pc = inst->next;
    if (inst->time)
        w->arch.time = now;
    if (a->invalidate) {
        (void)add_line(a, 0);
    } else {
        if (!amd_mem_address(&w->arch, inst->inst, s) ||
            (inst->unit != CU_UNIT_LDS && rules_misaligned(&w->arch, s)))
            return exec_fault(w, inst->next - inst->bytes);
        out->lanes = s->lanes;
        out->addresses = s->address[0];
        out->pieces = s->pieces;
        out->piece_bytes = s->piece_bytes;
        out->write = s->kind == AMD_ACCESS_STORE || s->kind == AMD_ACCESS_ATOMIC;
        if (inst->unit == CU_UNIT_LDS)
            return access_lds(w, a);
        access_lines(x, w, a);
    }
    out->scalar = a->scalar;
    out->access = (uint32_t)(a - x->accesses);
    out->messages = a->line_count;
    enter(x, w, a);
    if (a->line_count != 0)
        return LS_CU_ACCESS;
    complete(x, a);
    return LS_CU_STEPPED;
}

/* --- messages ------------------------------------------------------------------------------------------- */

static void set_mask(ls_line_message *m, unsigned from, unsigned bytes)
{
    for (unsigned i = from; i < from + bytes; i++)
        m->mask[i / 64] |= 1ull << i % 64;
}

/* The bytes that a piece of a lane and a line have in common: where they lie in either. */
typedef struct overlap {
    unsigned in_line, bytes;
    uint8_t *data;
} overlap;

static overlap overlap_of(const ls_cu_exec *x, amd_access *s, const exec_line *l, unsigned piece,
                          unsigned lane)
{
    uint64_t begin = s->address[piece][lane], end = begin + s->piece_bytes;
    uint64_t from = begin > l->address ? begin : l->address;
    uint64_t to = end < l->address + x->line_bytes ? end : l->address + x->line_bytes;
    if (from >= to)
        return (overlap){ 0 };
    uint8_t *data = (uint8_t *)(s->data[lane] + piece * ((s->piece_bytes + 3u) / 4));
    return (overlap){ (unsigned)(from - l->address), (unsigned)(to - from), data + (from - begin) };
}

static void fill_bytes(const ls_cu_exec *x, exec_access *a, const exec_line *l, ls_line_message *m)
{
    amd_access *s = &a->access;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = l->lanes & ~s->absent[piece]; left != 0; left &= left - 1) {
            overlap o = overlap_of(x, s, l, piece, (unsigned)__builtin_ctzll(left));
            set_mask(m, o.in_line, o.bytes);
            if (s->kind == AMD_ACCESS_STORE && o.bytes != 0)
                memcpy(m->data + o.in_line, o.data, o.bytes);
        }
}

static void fill_atomic(const exec_access *a, const exec_line *l, ls_line_message *m)
{
    const amd_access *s = &a->access;
    unsigned bytes = s->piece_bytes;
    bool pair = is_pair(s);
    m->kind = LS_LINE_ATOMIC;
    m->atomic = s->atomic;
    m->atomic_bytes = (uint8_t)bytes;
    m->half = l->half;
    m->flags = (uint16_t)(m->flags | (s->returns ? LS_LINE_RETURN : 0u));
    for (uint64_t left = l->lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned at = (unsigned)(s->address[0][lane] - l->address), place = pair ? at & 63 : at;
        const uint8_t *data = (const uint8_t *)s->data[lane];
        set_mask(m, at, bytes);
        memcpy(m->data + place, data, bytes);
        if (pair)
            memcpy(m->data + 64 + place, data + bytes, bytes);
    }
}

void ls_cu_exec_message(const ls_cu_exec *x, uint32_t access, uint32_t number, ls_line_message *m)
{
    exec_access *a = &x->accesses[access];
    const exec_line *l = &a->lines[number];
    uint32_t flags = a->inst->inst->flags;
    memset(m, 0, LS_LINE_HEAD_BYTES);
    m->address = l->address;
    m->token = access | number << ACCESS_BITS;
    m->flags =
        (uint16_t)(((flags & (AMD_GLC | AMD_SCOPE)) ? LS_LINE_GLC : 0u) |
                   ((flags & (AMD_DLC | AMD_SCOPE)) ? LS_LINE_DLC : 0u) |
                   ((flags & AMD_SLC) && !a->scalar ? LS_LINE_SLC : 0u) | (a->scalar ? LS_LINE_SCALAR : 0u));
    if (a->invalidate) {
        bool flushes = a->inst->what == CU_WRITE_BACK;
        m->kind = flushes ? LS_LINE_FLUSH : LS_LINE_INVALIDATE;
        m->atomic = flushes ? 1 : a->inst->limit[CU_VM]; /* levels below */
    } else if (a->access.kind == AMD_ACCESS_ATOMIC) {
        fill_atomic(a, l, m);
    } else {
        m->kind = a->access.kind == AMD_ACCESS_STORE ? LS_LINE_WRITE : LS_LINE_READ;
        fill_bytes(x, a, l, m);
    }
}

/* --- replies -------------------------------------------------------------------------------------------- */

static void reply_fault(exec_wave *w, const exec_access *a, const exec_line *l, const ls_line_message *m)
{
    const amd_access *s = &a->access;
    unsigned lane = (unsigned)__builtin_ctzll(l->lanes);
    if (w->group->dead)
        return;
    w->arch.fault =
        (ls_fault){ .kind = (m->flags & LS_LINE_READ_ONLY) != 0 ? LS_FAULT_READ_ONLY : LS_FAULT_UNMAPPED,
                    .lane = (uint8_t)lane,
                    .bytes = s->piece_bytes,
                    .write = s->kind != AMD_ACCESS_LOAD,
                    .address = s->address[0][lane] };
    w->arch.stop = AMD_FAULTED;
    (void)exec_fault(w, a->inst->next - a->inst->bytes);
}

static void take_bytes(const ls_cu_exec *x, exec_access *a, const exec_line *l, const ls_line_message *m)
{
    amd_access *s = &a->access;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = l->lanes & ~s->absent[piece]; left != 0; left &= left - 1) {
            overlap o = overlap_of(x, s, l, piece, (unsigned)__builtin_ctzll(left));
            if (o.bytes != 0)
                memcpy(o.data, m->data + o.in_line, o.bytes);
        }
}

static void old_values(exec_access *a, const exec_line *l, const ls_line_message *m)
{
    amd_access *s = &a->access;
    bool pair = is_pair(s);
    for (uint64_t left = l->lanes; left != 0; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        unsigned at = (unsigned)(s->address[0][lane] - l->address);
        memcpy(s->data[lane], m->data + (pair ? at & 63 : at), s->piece_bytes);
    }
}

uint32_t ls_cu_exec_reply(ls_cu_exec *x, const ls_line_message *reply)
{
    exec_access *a = &x->accesses[reply->token & ((1u << ACCESS_BITS) - 1)];
    const exec_line *l = &a->lines[reply->token >> ACCESS_BITS];
    exec_wave *w = &x->waves[a->wave];
    exec_group *g = w->group;
    uint32_t number = w->number;
    if (!a->invalidate && (reply->flags & LS_LINE_FAULT) != 0) {
        reply_fault(w, a, l, reply);
    } else if (!a->invalidate && a->access.kind == AMD_ACCESS_LOAD) {
        take_bytes(x, a, l, reply);
    } else if (!a->invalidate && a->access.kind == AMD_ACCESS_ATOMIC && a->access.returns) {
        old_values(a, l, reply);
    }
    if (++a->back == a->line_count)
        complete(x, a);
    exec_check(x, g);
    return number;
}
