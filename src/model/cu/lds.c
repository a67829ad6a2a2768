/* lds.c: the LDS units with their banks, and exports. An access happens when it is issued, in the order of
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

/* The same if places are aligned and of 4, 8 or 16 bytes: two of them are the same or have nothing in
 * common, and the banks of one always work together. */
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

/* Lanes one after the other without a gap: every bank is busy in every cycle, and no two lanes meet. */
static bool lds_linear(const cu_wave *w, const amd_access *s)
{
    unsigned lanes = w->arch.lanes;
    if (s->pieces != 1 || s->lanes != (lanes == 64 ? UINT64_MAX : UINT32_MAX) || s->absent[0] != 0 ||
        (s->piece_bytes & 3) != 0 || (s->address[0][0] & 3) != 0)
        return false;
    uint64_t base = s->address[0][0], step = s->piece_bytes, wrong = 0;
    for (unsigned lane = 1; lane < lanes; lane++)
        wrong |= s->address[0][lane] - base - lane * step;
    return wrong == 0;
}

/* --- what an instruction took the last time: mostly its lanes are as far apart as then --- */

static inline __attribute__((always_inline)) uint64_t lds_differs(const cu_lds_memo *memo, const amd_access *s,
                                                                  unsigned lanes)
{
    uint64_t base = s->address[0][0], wrong = 0;
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (unsigned lane = 0; lane < lanes; lane++)
            wrong |= (s->address[piece][lane] - base) ^ memo->offset[piece][lane];
    return wrong;
}

static bool lds_known(const cu_lds_memo *memo, const cu_wave *w, const amd_access *s)
{
    if (memo->inst != w->head || memo->lanes != s->lanes || (s->absent[0] | s->absent[1]) != 0 ||
        ((s->address[0][0] ^ memo->base) & (s->piece_bytes < 4 ? 3u : s->piece_bytes - 1u)) != 0)
        return false;
    if (w->arch.lanes == 64 && memcmp(s->address[0], memo->address, s->pieces * sizeof memo->address[0]) == 0)
        return true;
    return (w->arch.lanes == 64 ? lds_differs(memo, s, 64) : lds_differs(memo, s, 32)) == 0;
}

static void lds_learn(cu_lds_memo *memo, const cu_wave *w, const amd_access *s)
{
    memo->inst = w->head;
    memo->lanes = s->lanes;
    memo->base = s->address[0][0];
    for (unsigned piece = 0; piece < s->pieces; piece++)
        for (unsigned lane = 0; lane < w->arch.lanes; lane++)
            memo->offset[piece][lane] = s->address[piece][lane] - memo->base;
    memcpy(memo->address, s->address, s->pieces * sizeof memo->address[0]);
}

/* Cycles of the banks, and what they would be without conflicts. */
static unsigned lds_time(cu *c, const cu_wave *w, const amd_access *s, unsigned *least)
{
    cu_lds_memo *memo = &c->lds_memo[w->head->inst->pc / 8 % CU_LDS_MEMOS];
    if (lds_known(memo, w, s)) {
        *least = memo->least;
        return memo->cycles;
    }
    *least = lds_least(c, s);
    unsigned cycles = lds_linear(w, s) ? *least : cu_lds_cycles(c, s);
    memo->inst = NULL;
    if (s->pieces <= 2 && (s->absent[0] | s->absent[1]) == 0 && lds_aligned(c, s) != 0) {
        lds_learn(memo, w, s);
        memo->cycles = (uint16_t)cycles;
        memo->least = (uint16_t)*least;
    }
    return cycles;
}

bool cu_lds_issue(cu *c, cu_wave *w, ls_cycle now)
{
    const cu_inst *inst = w->head;
    amd_access *s = &c->scratch;
    if (!cu_access_free(c, false))
        return false;
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
    c->lds_free[w->pipe] = now + cycles;
    c->counters.lds_accesses++;
    c->counters.lds_cycles += cycles;
    if (cycles > least)
        c->counters.lds_conflict_cycles += cycles - least;
    cu_access_ends_at(c, a, now + c->spec->lds_latency_cycles + cycles - 1, now);
    return true;
}

bool cu_export_issue(cu *c, cu_wave *w, ls_cycle now)
{
    c->export_free = now + 1;
    if (w->head->what != CU_EXPORTS || !cu_access_free(c, false))
        return true;
    cu_access *a = cu_access_take(c, w, w->head, false, now);
    memset(a->head, 0, sizeof a->head);
    cu_access_ends_at(c, a, now + c->spec->export_cycles, now);
    return true;
}
