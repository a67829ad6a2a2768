/* emit.c: programs as rows of text, and warps that run them into a thread block. Touches memory only. */
#include "workload/synth/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- programs */

/* Before Volta every fourth word of 8 bytes holds scheduling information; later, instructions have 16
 * bytes. */
static uint64_t pc_of(const synth_program *p, uint64_t row)
{
    return p->version < 70 ? 8 * (row + row / 3 + 1) : 16 * row;
}

static const char *tail_of(synth_program *p, int64_t imm)
{
    if (p->tracer_version < 5)
        return "";
    return arena_printf(&p->arena, p->tracer_version == 5 ? "%" PRId64 : "%" PRId64 " 0 NoVal", imm);
}

uint32_t synth_op(synth_program *p, const char *fmt, ...)
{
    char body[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(body, sizeof body, fmt, args);
    va_end(args);
    uint32_t row = synth_here(p);
    inst_words text = { .pc = arena_printf(&p->arena, "%04" PRIx64, pc_of(p, row)),
                        .body = arena_strdup(&p->arena, body),
                        .tail = tail_of(p, 0) };
    if (!text.pc || !text.body || !text.tail || !vec_push(&p->rows, text))
        p->failed = true;
    return row;
}

void synth_imm(synth_program *p, int64_t imm)
{
    if (p->failed || p->rows.count == 0)
        return;
    const char *tail = tail_of(p, imm);
    p->failed = !tail;
    p->rows.at[p->rows.count - 1].tail = tail;
}

void synth_tail(synth_program *p, int64_t imm, int64_t imm2, bool values)
{
    if (p->failed || p->rows.count == 0)
        return;
    const char *end = p->tracer_version < 6 ? "" : values ? " Val" : " NoVal";
    const char *tail = arena_printf(&p->arena, "%" PRId64 " %" PRId64 "%s", imm, imm2, end);
    p->failed = !tail;
    p->rows.at[p->rows.count - 1].tail = tail;
}

/* --- rows that depend on the generation --- */

void synth_begin(synth_program *p)
{
    if (p->version >= 80)
        synth_op(p, "1 R1 IMAD.MOV.U32 2 R255 R255 0");
    else
        synth_op(p, "1 R1 MOV 0 0");
}

void synth_multiply_add(synth_program *p, unsigned dst, unsigned a, unsigned b, unsigned c)
{
    if (p->version >= 70) {
        synth_op(p, "1 R%u IMAD 3 R%u R%u R%u 0", dst, a, b, c);
        return;
    }
    synth_op(p, "1 R%u XMAD.MRG 2 R%u R255 0", b, a);
    synth_op(p, "1 R%u XMAD 2 R%u R%u 0", c, a, c);
    synth_op(p, "1 R%u XMAD.PSL.CBCC 3 R%u R%u R%u 0", dst, a, b, c);
}

void synth_thread_id(synth_program *p, unsigned dst)
{
    synth_op(p, "1 R%u S2R 0 0", dst);
    synth_op(p, "1 R%u S2R 0 0", dst + 1);
    if (p->version >= 70)
        synth_op(p, "1 R%u IMAD 2 R%u R%u 0", dst, dst, dst + 1);
    else
        synth_multiply_add(p, dst, dst, dst + 2, dst + 1);
}

void synth_constant(synth_program *p, unsigned dst)
{
    if (p->version >= 80)
        synth_op(p, "1 R%u HFMA2.MMA 2 R255 R255 0", dst);
    else
        synth_op(p, "1 R%u MOV 0 0", dst);
}

void synth_address(synth_program *p, unsigned dst, unsigned i, unsigned size)
{
    if (p->version >= 70) {
        synth_op(p, "1 R%u IMAD.WIDE 2 R%u R%u 0", dst, i, size);
        return;
    }
    synth_op(p, "1 R%u SHR 1 R%u 0", dst + 1, i);
    synth_op(p, "1 R%u ISCADD 1 R%u 0", dst, i);
    synth_op(p, "1 R%u IADD.X 1 R%u 0", dst + 1, dst + 1);
}

void synth_increment(synth_program *p, unsigned reg, int64_t by)
{
    if (p->version >= 70)
        synth_op(p, "1 R%u IADD3 2 R%u R255 0", reg, reg);
    else
        synth_op(p, "1 R%u IADD32I 1 R%u 0", reg, reg);
    synth_imm(p, by);
}

uint32_t synth_bounds(synth_program *p, unsigned reg)
{
    synth_op(p, "0 ISETP.GE.AND 1 R%u 0", reg);
    uint32_t row = synth_op(p, "0 EXIT 0 0");
    if (p->version >= 80)
        synth_op(p, "0 ULDC.64 0 0");
    return row;
}

uint32_t synth_barrier(synth_program *p)
{
    uint32_t row = synth_op(p, p->version >= 70 ? "0 BAR.SYNC.DEFER_BLOCKING 0 0" : "0 BAR.SYNC 0 0");
    if (p->version < 70)
        synth_op(p, "0 MEMBAR.CTA 0 0");
    return row;
}

uint32_t synth_exit(synth_program *p)
{
    return synth_op(p, "0 EXIT 0 0");
}

const char *synth_ldg(const synth_program *p)
{
    return p->version == 70 || p->version == 75 ? "LDG.E.SYS" : "LDG.E";
}

/* -------------------------------------------------------------------------------------------------- warps */

static ls_dyn *room(synth_warp *w, uint64_t dyns, uint64_t words)
{
    ls_cta *cta = w->cta;
    if ((cta->dyn_capacity - cta->dyn_count < dyns || cta->addr_capacity - cta->addr_count < words) &&
        !cta_reserve(cta, cta->warp_count, dyns, words)) {
        w->failed = true;
        return NULL;
    }
    return cta->dyns + cta->dyn_count;
}

void synth_run(synth_warp *w, uint32_t from, uint32_t to)
{
    if (to <= from || w->failed)
        return;
    ls_dyn *dyn = room(w, to - from, 0);
    if (!dyn)
        return;
    for (uint32_t row = from; row < to; row++)
        *dyn++ = (ls_dyn){ row, w->mask, LS_ADDR_NONE };
    w->cta->dyn_count += to - from;
}

void synth_one(synth_warp *w, uint32_t row, uint32_t mask)
{
    uint32_t before = w->mask;
    w->mask = mask;
    synth_run(w, row, row + 1);
    w->mask = before;
}

static void put_words(synth_warp *w, uint32_t row, ls_addr_mode mode, const uint64_t *words, uint64_t count)
{
    ls_cta *cta = w->cta;
    ls_dyn *dyn = w->failed ? NULL : room(w, 1, count);
    if (!dyn)
        return;
    *dyn = (ls_dyn){ row, w->mask, (uint32_t)cta->addr_count << 2 | mode };
    memcpy(cta->addrs + cta->addr_count, words, count * sizeof *words);
    cta->dyn_count++;
    cta->addr_count += count;
}

static bool fits_int(uint64_t difference)
{
    return (int64_t)difference >= INT32_MIN && (int64_t)difference <= INT32_MAX;
}

/* All lanes: most instructions. Without a branch per lane. */
static void list_full(synth_warp *w, uint32_t row, const uint64_t addresses[SYNTH_WARP])
{
    uint64_t stride = addresses[1] - addresses[0], uneven = 0, large = 0;
    for (unsigned i = 1; i < SYNTH_WARP; i++) {
        uint64_t difference = addresses[i] - addresses[i - 1];
        uneven |= difference ^ stride;
        large |= (difference + UINT64_C(0x80000000)) >> 32;
    }
    const uint64_t pair[2] = { addresses[0], stride };
    if (uneven == 0 && large == 0)
        put_words(w, row, LS_ADDR_STRIDE, pair, 2);
    else
        put_words(w, row, large == 0 ? LS_ADDR_DELTA : LS_ADDR_LIST, addresses, SYNTH_WARP);
}

ls_addr_mode synth_encode(uint32_t mask, const uint64_t addresses[SYNTH_WARP], uint64_t words[SYNTH_WARP],
                          unsigned *out)
{
    unsigned count = 0, first = mask ? (unsigned)__builtin_ctz(mask) : 0;
    bool even = true, small = true;
    words[0] = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        words[count++] = addresses[__builtin_ctz(left)];
    for (unsigned i = 1; i < count; i++) {
        even = even && words[i] - words[i - 1] == words[1] - words[0];
        small = small && fits_int(words[i] - words[i - 1]);
    }
    uint64_t shifted = (uint64_t)mask >> first;
    bool contiguous = (shifted & (shifted + 1)) == 0;
    if (count == 0 || (count > 1 && even && small && contiguous)) {
        words[1] = count ? words[1] - words[0] : 0;
        *out = 2;
        return LS_ADDR_STRIDE;
    }
    *out = count;
    return small ? LS_ADDR_DELTA : LS_ADDR_LIST;
}

void synth_list(synth_warp *w, uint32_t row, const uint64_t addresses[SYNTH_WARP])
{
    if (w->mask == SYNTH_FULL) {
        list_full(w, row, addresses);
        return;
    }
    uint64_t words[SYNTH_WARP];
    unsigned count;
    ls_addr_mode mode = synth_encode(w->mask, addresses, words, &count);
    put_words(w, row, mode, words, count);
}

void synth_record(synth_warp *w, uint32_t row, const uint64_t *words, uint64_t count)
{
    put_words(w, row, LS_ADDR_RECORD, words, count);
}

void synth_lanes(synth_warp *w, uint32_t row, uint64_t lane0, int64_t stride)
{
    if (w->mask == SYNTH_FULL) {
        const uint64_t words[2] = { lane0, (uint64_t)stride };
        put_words(w, row, LS_ADDR_STRIDE, words, 2);
        return;
    }
    uint64_t addresses[SYNTH_WARP];
    for (unsigned i = 0; i < SYNTH_WARP; i++)
        addresses[i] = lane0 + i * (uint64_t)stride;
    synth_list(w, row, addresses);
}

void synth_loop_end(synth_warp *w, uint32_t from, uint32_t to, bool again)
{
    synth_run(w, from, to - 1);
    synth_one(w, to - 1, again ? w->mask : 0);
}

bool synth_within(synth_warp *w, uint32_t from, uint32_t exit_row, uint64_t n)
{
    uint64_t left = w->thread < n ? n - w->thread : 0;
    uint32_t in = left >= SYNTH_WARP ? SYNTH_FULL : (uint32_t)((UINT64_C(1) << left) - 1);
    synth_run(w, from, exit_row);
    synth_one(w, exit_row, w->mask & ~in);
    w->mask &= in;
    return w->mask != 0;
}

/* ------------------------------------------------------------------------------------------------ numbers */

void synth_facts_each(synth_facts *f, const synth_program *p, uint32_t exit_row, uint64_t warps, uint64_t n)
{
    uint64_t before = exit_row, after = synth_here(p) - exit_row - 1, threads = warps * SYNTH_WARP;
    f->warp_insts += warps * (before + 1) + synth_ceil_div(n, SYNTH_WARP) * after;
    f->thread_insts += threads * before + (threads - n) + n * after;
}

uint64_t synth_sectors(uint64_t address, uint64_t count, uint64_t size, uint64_t stride)
{
    uint64_t sectors = 0, next = 0; /* the first sector that was not counted yet */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = (address + i * stride) / SYNTH_SECTOR,
                 last = (address + i * stride + size - 1) / SYNTH_SECTOR;
        if (first < next)
            first = next;
        if (last >= first) {
            sectors += last - first + 1;
            next = last + 1;
        }
    }
    return sectors;
}

uint64_t synth_all_alike(const void *spec, uint32_t launch, const uint32_t id[3])
{
    (void)spec;
    (void)launch;
    (void)id;
    return 0;
}
