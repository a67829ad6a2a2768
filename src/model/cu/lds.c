/* lds.c: the LDS units with their banks. An access happens when it is issued, in the order of
 * issue; its registers are written when it ends. */
#include "model/cu/cu.h"

#define LDS_DWORDS_MAX (64u * 4u) /* of the lanes that are served together */

/* Lanes are served so many at a time; the bank with the most different dwords says how many cycles they
 * take. */
static unsigned lds_part(const cu *c, const amd_access *access, uint64_t lanes)
{
    unsigned banks = (unsigned)c->spec->lds_banks, most = 0, used = 0;
    uint16_t first[64], next[LDS_DWORDS_MAX];
    uint32_t dword[LDS_DWORDS_MAX];
    uint8_t count[64];
    memset(first, 0xff, banks * sizeof first[0]);
    memset(count, 0, banks);
    for (unsigned piece = 0; piece < access->pieces; piece++)
        for (uint64_t left = lanes & ~access->absent[piece]; left != 0; left &= left - 1) {
            uint32_t address = (uint32_t)access->address[piece][__builtin_ctzll(left)];
            uint32_t end = (address + access->piece_bytes - 1u) / 4;
            for (uint32_t at = address / 4; at <= end && used < LDS_DWORDS_MAX; at++) {
                unsigned bank = at & (banks - 1);
                uint16_t i = first[bank];
                while (i != UINT16_MAX && dword[i] != at)
                    i = next[i];
                if (i != UINT16_MAX) /* the same dword: broadcast */
                    continue;
                dword[used] = at;
                next[used] = first[bank];
                first[bank] = (uint16_t)used++;
                if (++count[bank] > most)
                    most = count[bank];
            }
        }
    return most;
}

/* The same for aligned places of 4, 8 or 16 bytes: two of them are equal or disjoint, and the banks of one
 * always work together. */
#define LDS_SEEN 256u
static unsigned lds_part_aligned(const cu *c, const amd_access *access, uint64_t lanes, unsigned shift)
{
    uint32_t seen[LDS_SEEN] = { 0 }; /* by number of the place: that number + 1 */
    uint8_t count[64] = { 0 };
    unsigned sets = (unsigned)c->spec->lds_banks >> (shift - 2), most = 0;
    unsigned from = (unsigned)__builtin_ctzll(lanes), to = 64 - (unsigned)__builtin_clzll(lanes);
    for (unsigned piece = 0; piece < access->pieces; piece++) {
        uint32_t before = UINT32_MAX;
        uint64_t there = lanes & ~access->absent[piece];
        for (unsigned lane = from; lane < to; lane++) {
            uint32_t place = (uint32_t)access->address[piece][lane] >> shift;
            if (place == before || !(there >> lane & 1))
                continue;
            before = place;
            uint32_t at = place % LDS_SEEN;
            while (seen[at] != 0 && seen[at] != place + 1)
                at = (at + 1) % LDS_SEEN;
            if (seen[at] != 0)
                continue;
            seen[at] = place + 1;
            unsigned set = place & (sets - 1);
            if (++count[set] > most)
                most = count[set];
        }
    }
    return most;
}

/* log2 of the size of aligned places; 0: they may not be (lanes that are not active are looked at, too). */
static unsigned lds_aligned(const cu *c, const amd_access *access)
{
    unsigned lanes = access->lanes >> 32 != 0 ? 64 : 32;
    unsigned bytes = access->piece_bytes < 4 ? 4 : access->piece_bytes;
    if ((bytes & (bytes - 1)) != 0 || bytes > 16 || bytes / 4 > c->spec->lds_banks || access->pieces > 2)
        return 0;
    uint64_t low = 0;
    for (unsigned piece = 0; piece < access->pieces; piece++)
        for (unsigned lane = 0; lane < lanes; lane++)
            low |= access->address[piece][lane];
    unsigned natural = access->piece_bytes < 4 ? access->piece_bytes : bytes;
    return (low & (natural - 1)) == 0 ? (unsigned)__builtin_ctz(bytes) : 0;
}

unsigned cu_lds_cycles(const cu *c, const amd_access *access)
{
    uint64_t width = c->spec->lds_lanes;
    unsigned cycles = 0, aligned = lds_aligned(c, access);
    uint64_t part = width >= 64 ? UINT64_MAX : (1ull << width) - 1;
    for (unsigned shift = 0; shift < 64; shift += (unsigned)width) {
        uint64_t lanes = access->lanes & part << shift;
        if (lanes != 0)
            cycles += aligned != 0 ? lds_part_aligned(c, access, lanes, aligned) : lds_part(c, access, lanes);
    }
    return cycles != 0 ? cycles : 1;
}

/* Without conflicts: every bank moves a dword of the lanes in each cycle. */
static unsigned lds_least(const cu *c, const amd_access *access)
{
    uint64_t width = c->spec->lds_lanes, dwords = (access->piece_bytes + 3u) / 4 * access->pieces;
    uint64_t part = width >= 64 ? UINT64_MAX : (1ull << width) - 1;
    unsigned least = 0;
    for (unsigned shift = 0; shift < 64; shift += (unsigned)width) {
        uint64_t lanes = (uint64_t)__builtin_popcountll(access->lanes & part << shift);
        least += (unsigned)((lanes * dwords + c->spec->lds_banks - 1) / c->spec->lds_banks);
    }
    return least;
}

/* --- what an instruction took the last time: mostly its lanes are as far apart as then --- */

static inline const uint32_t *lds_addresses(const cu_wave *w, const amd_lds_form *form)
{
    return w->arch.vgpr + (size_t)(form->address - AMD_VGPR) * w->arch.lanes;
}

static inline uint32_t lds_unit(const amd_lds_form *form)
{
    return form->bytes < 4 ? 4 : form->bytes;
}

/* The lanes' shape, if it equals the memo's at a distance of whole units, else NULL. */
static inline const lds_shape *lds_known(const cu *c, const cu_lds_memo *memo, const cu_wave *w)
{
    if (memo->serial != w->head->serial || memo->lanes != amd_wave_exec(&w->arch) ||
        c->lds.made[memo->shape] != memo->made)
        return NULL;
    const uint32_t *addresses = lds_addresses(w, &memo->form);
    const lds_shape *shape = &c->lds.shape[memo->shape];
    if (((addresses[0] ^ memo->base) & (lds_unit(&memo->form) - 1)) != 0)
        return NULL;
    return c->lds.ops->is(shape, addresses) ? shape : NULL;
}

/* The number of the shape of the lanes, an old or a new one; CU_LDS_SHAPES: it cannot be one. */
static unsigned lds_shape_number(cu *c, const uint32_t *addresses, unsigned lanes)
{
    for (unsigned i = 0; i < CU_LDS_SHAPES && i < c->lds.count; i++)
        if (c->lds.shape[i].parts * LDS_SHAPE_PART == lanes && c->lds.ops->is(&c->lds.shape[i], addresses))
            return i;
    unsigned number = c->lds.count % CU_LDS_SHAPES;
    if (!lds_shape_learn(&c->lds.shape[number], addresses, lanes)) {
        c->lds.made[number] = 0;
        return CU_LDS_SHAPES;
    }
    c->lds.made[number] = ++c->lds.count;
    return number;
}

/* Places of active lanes that are aligned, so that only their distances count. */
static bool lds_places_aligned(const amd_access *s)
{
    uint64_t low = 0;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (uint64_t left = s->lanes; left != 0; left &= left - 1)
            low |= s->address[piece][__builtin_ctzll(left)];
    return (low & (s->piece_bytes - 1u)) == 0;
}

#define LDS_MISSES 16u /* in a row: its lanes lie elsewhere each time, and it is seldom learned again */

static void lds_learn(cu *c, const cu_wave *w, const amd_access *s, cu_lds_memo *memo, unsigned cycles,
                      unsigned least)
{
    if (memo->serial != w->head->serial) /* not of a form that can be learned */
        return;
    bool seldom = memo->misses >= LDS_MISSES && memo->misses % LDS_MISSES != 0;
    memo->misses = memo->misses == UINT8_MAX ? LDS_MISSES : (uint8_t)(memo->misses + 1);
    memo->made = UINT32_MAX;
    if (seldom || (s->absent[0] | s->absent[1]) != 0 || (s->piece_bytes & (s->piece_bytes - 1)) != 0 ||
        lds_unit(&memo->form) / 4 > c->spec->lds_banks || !lds_places_aligned(s))
        return;
    const uint32_t *addresses = lds_addresses(w, &memo->form);
    unsigned number = lds_shape_number(c, addresses, w->arch.lanes);
    if (number == CU_LDS_SHAPES)
        return;
    memo->shape = (uint8_t)number;
    memo->made = c->lds.made[number];
    memo->lanes = amd_wave_exec(&w->arch);
    memo->base = addresses[0];
    memo->cycles = (uint16_t)cycles;
    memo->least = (uint16_t)least;
}

static inline cu_lds_memo *lds_memo(cu *c, const cu_inst *inst)
{
    return &c->lds.memo[inst->lds % CU_LDS_MEMOS];
}

/* The banks need as long for one as for the other if the lanes lie alike. */
static bool lds_alike(const amd_lds_form *a, const amd_lds_form *b)
{
    return a->bytes == b->bytes && a->pieces == b->pieces &&
           (a->pieces == 1 || a->offset[1] - a->offset[0] == b->offset[1] - b->offset[0]);
}

/* The first time of an instruction: one before it may know the time (loops are unrolled). */
#define LDS_BEFORE 8u
static void lds_adopt(cu *c, const cu_wave *w, cu_lds_memo *memo)
{
    *memo = (cu_lds_memo){ .serial = w->head->serial, .made = UINT32_MAX };
    if (!amd_mem_lds_form(w->head->inst, &memo->form)) {
        memo->serial = 0;
        return;
    }
    uint32_t base = *lds_addresses(w, &memo->form), unit = lds_unit(&memo->form);
    for (unsigned i = 1; i <= LDS_BEFORE; i++) {
        const cu_lds_memo *other = &c->lds.memo[(w->head->lds - i) % CU_LDS_MEMOS];
        uint32_t apart = base + memo->form.offset[0] - other->base - other->form.offset[0];
        if (other->serial == 0 || !lds_alike(&memo->form, &other->form) || (apart & (unit - 1)) != 0 ||
            other->lanes != amd_wave_exec(&w->arch) || other->made != c->lds.made[other->shape] ||
            !c->lds.ops->is(&c->lds.shape[other->shape], lds_addresses(w, &memo->form)))
            continue;
        memo->lanes = other->lanes;
        memo->base = base;
        memo->made = other->made;
        memo->cycles = other->cycles;
        memo->least = other->least;
        memo->shape = other->shape;
        return;
    }
}

/* Cycles of the banks, and their number without conflicts. */
static unsigned lds_time(cu *c, const cu_wave *w, const amd_access *s, unsigned *least)
{
    cu_lds_memo *memo = lds_memo(c, w->head);
    if (!w->tape && (s->absent[0] | s->absent[1]) == 0 && lds_known(c, memo, w)) {
        memo->misses = 0;
        *least = memo->least;
        return memo->cycles;
    }
    *least = lds_least(c, s);
    unsigned cycles = cu_lds_cycles(c, s);
    if (!w->tape)
        lds_learn(c, w, s, memo, cycles, *least);
    return cycles;
}

/* --- issue ---------------------------------------------------------------------------------------------- */

static void lds_ends(cu *c, const cu_wave *w, cu_access *a, unsigned cycles, unsigned least, ls_cycle now)
{
    ls_cycle end = now + c->spec->lds_latency_cycles + cycles - 1;
    c->lds_free[w->pipe] = now + cycles;
    c->counters.lds_accesses++;
    c->counters.lds_cycles += cycles;
    if (cycles > least) {
        c->counters.lds_conflict_cycles += cycles - least;
        end += c->spec->lds_conflict_cycles;
        if (LS_UNLIKELY(w->group->counts != NULL))
            cu_counts_conflicts(c, w, a->inst, cycles - least);
    }
    if (end < c->lds_end[w->pipe])
        end = c->lds_end[w->pipe];
    c->lds_end[w->pipe] = end;
    cu_access_ends_at(c, a, end, now);
}

/* Whole registers of lanes that lie as they did the last time, and all in range: true, else nothing has
 * happened. */
static bool lds_quick(cu *c, cu_wave *w, ls_cycle now)
{
    cu_lds_memo *memo = lds_memo(c, w->head);
    const amd_lds_form *form = &memo->form;
    if (w->tape || w->record)
        return false;
    if (memo->serial != w->head->serial)
        lds_adopt(c, w, memo);
    if (!form->whole)
        return false;
    const lds_shape *shape = lds_known(c, memo, w);
    if (!shape)
        return false;
    int64_t base = *lds_addresses(w, form), limit = amd_mem_lds_bytes(&w->arch);
    int64_t room = limit - form->bytes - base - shape->high;
    if (base + shape->low < 0 || form->offset[0] > room || form->offset[form->pieces - 1] > room)
        return false;
    memo->misses = 0;
    w->arch.pc = w->head->next;
    cu_access *a = cu_access_take(c, w, w->head, false, now);
    a->quick = true;
    a->exec = memo->lanes;
    cu_source_lds_quick(c, w, a, form, shape);
    lds_ends(c, w, a, memo->cycles, memo->least, now);
    return true;
}

bool cu_lds_issue(cu *c, cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    amd_access *s = &c->scratch;
    if (!cu_access_free(c, false))
        return false;
    if (lds_quick(c, w, now))
        return true;
    if (!cu_source_address(w, s, now)) {
        cu_group_fault(c, w, inst->next - inst->bytes, now);
        return true;
    }
    unsigned cycles, least;
    if (s->kind == AMD_ACCESS_EXCHANGE || s->kind == AMD_ACCESS_NONE) {
        cycles = least = (unsigned)((w->arch.lanes + c->spec->lds_lanes - 1) / c->spec->lds_lanes);
    } else {
        cycles = lds_time(c, w, s, &least);
        if (s->kind == AMD_ACCESS_ATOMIC) /* CLRX: twice the time of a read */
            cycles *= 2, least *= 2;
    }
    cu_access *a = cu_access_take(c, w, inst, false, now);
    cu_source_lds(c, w, a);
    lds_ends(c, w, a, cycles, least, now);
    return true;
}
