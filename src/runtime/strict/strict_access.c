/* strict_access.c: memory instructions on shadows. Addresses must be defined. Bytes must belong to a live
 * allocation, or to the kernel's LDS or private memory. No other wave may touch them without order. A loaded
 * value has the shadow of its memory. */
#include "runtime/strict/strict_impl.h"

#include <stdio.h>
#include <string.h>

/* --- registers ------------------------------------------------------------------------------------------ */

static bool need_vector(strict *s, const char *use, unsigned code, unsigned count, uint64_t lanes)
{
    for (unsigned i = 0; i < count; i++) {
        const uint32_t *row = strict_row(s, code + i);
        MEM_FOR_LANES(lane, lanes)
        if (row[lane] != 0)
            return strict_undefined(s, use, code + i, (int)lane, s->shadow->vgpr_origin[code + i - AMD_VGPR]);
    }
    return true;
}

static bool is_vgpr(const amd_operand *operand)
{
    return operand->code >= AMD_VGPR && operand->code < AMD_VGPR + 256;
}

/* Everything that decides where the access goes. */
static bool need_address(strict *s, const mem_row *row, uint64_t exec)
{
    static const char use[] = "the address";
    const amd_inst *inst = s->inst;
    const amd_operand *scalar = &inst->src[2];
    unsigned count = 0;
    switch (inst->format) {
    case AMD_SMEM:
        if (!strict_need_scalars(s, use, inst->src[0].code, row->flags & MEM_RESOURCE ? 4 : 2))
            return false;
        return !(inst->flags & AMD_SOFFSET_REG) || strict_need_scalars(s, use, inst->src[1].code, 1);
    case AMD_DS:
        count = row->family == MEM_COUNTER || (row->flags & MEM_ADDTID) ? 0 : 1;
        if ((count == 0 || s->wave->target == AMD_GFX803) && !strict_need_scalars(s, use, AMD_M0, 1))
            return false;
        break;
    case AMD_GLOBAL:
        count = row->flags & MEM_ADDTID ? 0 : inst->flags & AMD_SADDR ? 1 : 2;
        if ((inst->flags & AMD_SADDR) && !strict_need_scalars(s, use, scalar->code, 2))
            return false;
        break;
    case AMD_SCRATCH:
        if ((inst->flags & AMD_SADDR) && !strict_need_scalars(s, use, scalar->code, 1))
            return false;
        count = !(inst->flags & AMD_SADDR) && is_vgpr(&inst->src[0]);
        break;
    case AMD_MUBUF:
    case AMD_MTBUF:
        count = (inst->flags & AMD_IDXEN ? 1u : 0u) + (inst->flags & AMD_OFFEN ? 1u : 0u);
        if (!strict_need_scalars(s, use, scalar->code, 4) ||
            !strict_need_scalars(s, use, inst->src[3].code, 1))
            return false;
        break;
    case AMD_MIMG:
        if (!strict_need_scalars(s, use, scalar->code, scalar->dwords) ||
            (inst->src[3].dwords != 0 && !strict_need_scalars(s, use, inst->src[3].code, inst->src[3].dwords)))
            return false;
        return need_vector(s, use, inst->src[0].code, 1, exec);
    default:
        count = 2;
        break;
    }
    return need_vector(s, use, inst->src[0].code, count, exec);
}

/* The shadow of dword i of a lane's store data, or of an atomic's operands. */
static uint32_t data_shadow(const strict *s, const mem_row *row, unsigned lane, unsigned i)
{
    unsigned dwords = (row->bytes + 3u) / 4;
    const amd_inst *inst = s->inst;
    if (inst->format == AMD_SMEM)
        return s->shadow->sgpr[(inst->sdst.code + i) & 127];
    const amd_operand *from = (row->flags & MEM_TWO) && i >= dwords ? &inst->src[2] : &inst->src[1];
    if (from == &inst->src[2])
        i -= dwords;
    if (!is_vgpr(from))
        return 0;
    uint32_t shadow = strict_row(s, from->code + i)[lane];
    return row->how == MEM_U8_HIGH || row->how == MEM_B16_HIGH ? shadow >> 16 : shadow;
}

/* --- places --------------------------------------------------------------------------------------------- */

enum { IN_GLOBAL, IN_LDS, IN_PRIVATE };

static unsigned place_of(const strict *s, const amd_access *a, unsigned lane, uint64_t address)
{
    if (a->space == AMD_SPACE_LDS || (a->in_lds >> lane & 1))
        return IN_LDS;
    return address - s->launch.scratch < s->launch.scratch_bytes ? IN_PRIVATE : IN_GLOBAL;
}

static const char *verb(const amd_access *a)
{
    return a->kind == AMD_ACCESS_LOAD ? "reads" : "writes";
}

static bool bound_lds(strict *s, const amd_access *a, unsigned lane, uint64_t address, unsigned bytes)
{
    if (address + bytes <= s->launch.lds_bytes)
        return true;
    return strict_fail(s, "lane %u %s %u bytes at LDS 0x%llx, but the work-group has %u bytes of LDS", lane,
                       verb(a), bytes, (unsigned long long)address, s->launch.lds_bytes);
}

/* Lanes are interleaved by dwords. */
static bool bound_private(strict *s, const amd_access *a, unsigned lane, uint64_t address, unsigned bytes)
{
    const amd_wave *w = s->wave;
    uint64_t per_wave = (uint64_t)w->lanes * w->group->scratch_bytes;
    uint64_t offset = address - s->launch.scratch - w->index * per_wave;
    uint32_t most = s->launch.program->kernel.scratch_bytes;
    uint64_t own = offset / (w->lanes * 4u) * 4 + offset % 4;
    if (offset < per_wave && own + bytes <= most)
        return true;
    return strict_fail(s, "lane %u %s %u bytes at 0x%llx of private memory, but a work-item has %u bytes",
                       lane, verb(a), bytes, (unsigned long long)own, most);
}

static bool bound_global(strict *s, const amd_access *a, unsigned lane, uint64_t address, unsigned bytes)
{
    const strict_range *range = strict_find(s, address);
    char near[160] = "no allocation is near";
    if (range && address + bytes <= range->address + range->bytes)
        return true;
    if (range)
        snprintf(near, sizeof near, "the allocation of %llu bytes at 0x%llx ends before",
                 (unsigned long long)range->bytes, (unsigned long long)range->address);
    for (size_t i = 0; !range && i < s->ranges.count; i++) {
        const strict_range *r = &s->ranges.at[i];
        if (r->address <= address && address - r->address - r->bytes < 65536)
            snprintf(near, sizeof near, "%llu bytes past the end of the allocation of %llu bytes at 0x%llx",
                     (unsigned long long)(address - r->address - r->bytes), (unsigned long long)r->bytes,
                     (unsigned long long)r->address);
        else if (r->address > address && r->address - address < 4096)
            snprintf(near, sizeof near, "%llu bytes before the allocation of %llu bytes at 0x%llx",
                     (unsigned long long)(r->address - address), (unsigned long long)r->bytes,
                     (unsigned long long)r->address);
    }
    for (size_t i = 0; !range && i < STRICT_FREED; i++)
        if (address - s->freed[i].address < s->freed[i].bytes)
            snprintf(near, sizeof near, "the allocation of %llu bytes at 0x%llx was freed",
                     (unsigned long long)s->freed[i].bytes, (unsigned long long)s->freed[i].address);
    return strict_fail(s, "lane %u %s %u bytes at 0x%llx, which lie in no allocation: %s", lane, verb(a),
                       bytes, (unsigned long long)address, near);
}

static strict_page *page_at(strict *s, unsigned where, uint64_t address)
{
    return where == IN_LDS ? &s->lds[address / LS_PAGE_BYTES] : strict_page_of(s, address, true);
}

static uint8_t value_at(const strict *s, unsigned where, uint64_t address)
{
    return where == IN_LDS ? s->wave->group->lds[address] : s->view.host[address - LS_WINDOW_BASE];
}

/* --- one lane's piece ----------------------------------------------------------------------------------- */

static void remember(strict *s, unsigned where, uint64_t address)
{
    static const uint8_t kinds[] = { STRICT_FROM_MEMORY, STRICT_FROM_LDS, STRICT_FROM_PRIVATE };
    strict_origin *origin = &s->origins[s->op];
    if (origin->kind == STRICT_NEVER)
        *origin = (strict_origin){ kinds[where], address };
}

/* A load of the newest value (glc) counts as atomic for the order of accesses. */
static strict_how how_of(const strict *s, const amd_access *a)
{
    if (a->kind == AMD_ACCESS_STORE)
        return STRICT_WRITE;
    if (a->kind == AMD_ACCESS_ATOMIC || (s->inst->format != AMD_SMEM && (s->inst->flags & AMD_GLC)))
        return STRICT_ATOMIC;
    return STRICT_READ;
}

static bool bound(strict *s, const amd_access *a, unsigned where, unsigned lane, uint64_t address)
{
    switch (where) {
    case IN_LDS:
        return bound_lds(s, a, lane, address, a->piece_bytes);
    case IN_PRIVATE:
        return bound_private(s, a, lane, address, a->piece_bytes);
    default:
        return bound_global(s, a, lane, address, a->piece_bytes);
    }
}

static bool atomic_piece(strict *s, const mem_row *row, amd_access *a, unsigned where, unsigned lane,
                         uint64_t address)
{
    static const char use[] = "what the atomic gets";
    bool swap = a->atomic == AMD_ATOMIC_SWAP;
    bool pair = a->atomic == AMD_ATOMIC_CMPSWAP || a->atomic == AMD_ATOMIC_FCMPSWAP;
    unsigned dwords = row->bytes / 4u;
    const amd_inst *inst = s->inst;
    if (row->family == MEM_MOVE && !(row->flags & MEM_SRC2)) {
        if (inst->format == AMD_SMEM &&
            !strict_need_scalars(s, use, inst->sdst.code, pair ? 2 * dwords : dwords))
            return false;
        if (is_vgpr(&inst->src[1]) &&
            !need_vector(s, use, inst->src[1].code, pair && inst->format != AMD_DS ? 2 * dwords : dwords,
                         1ull << lane))
            return false;
        if (inst->format == AMD_DS && is_vgpr(&inst->src[2]) &&
            !need_vector(s, use, inst->src[2].code, dwords, 1ull << lane))
            return false;
    }
    for (unsigned b = 0; b < a->piece_bytes; b++) {
        strict_page *page = page_at(s, where, address + b);
        uint8_t *defined = page ? &page->defined[(address + b) & (LS_PAGE_BYTES - 1)] : NULL;
        if (!defined)
            return true;
        if (*defined != 0xff && !swap)
            return strict_fail(s,
                               "lane %u changes the byte at %s0x%llx by an atomic, but nothing has written it",
                               lane, where == IN_LDS ? "LDS " : "", (unsigned long long)(address + b));
        *defined = 0xff;
    }
    return true;
}

static bool piece(strict *s, const mem_row *row, amd_access *a, unsigned lane, unsigned index)
{
    uint64_t address = a->address[index][lane];
    unsigned where = place_of(s, a, lane, address), dwords = (a->piece_bytes + 3u) / 4;
    strict_how how = how_of(s, a);
    const uint8_t *new_ = (const uint8_t *)(a->data[lane] + index * dwords);
    bool typed = row->how == MEM_FORMAT || row->how == MEM_FORMAT_D16 || (row->flags & MEM_IMAGE);
    if (!bound(s, a, where, lane, address))
        return false;
    /* An access that the emulator is going to fault on. */
    if (where != IN_LDS && (address_space_state(&s->view, address) == 0 ||
                            address_space_state(&s->view, address + a->piece_bytes - 1) == 0))
        return true;
    for (unsigned b = 0; b < a->piece_bytes && where != IN_PRIVATE; b++) {
        strict_page *page = page_at(s, where, address + b);
        bool same = how == STRICT_WRITE && value_at(s, where, address + b) == new_[b];
        if (page && !strict_touch(s, page, address + b, where == IN_LDS, lane, how, same))
            return false;
    }
    if (a->kind == AMD_ACCESS_ATOMIC)
        return atomic_piece(s, row, a, where, lane, address);
    for (unsigned b = 0; b < a->piece_bytes; b++) {
        strict_page *page = page_at(s, where, address + b);
        uint8_t *defined = page ? &page->defined[(address + b) & (LS_PAGE_BYTES - 1)] : NULL;
        if (!defined)
            return true;
        if (a->kind == AMD_ACCESS_LOAD) {
            uint8_t undefined = (uint8_t) ~*defined;
            ((uint8_t *)(a->data[lane] + index * dwords))[b] = undefined;
            if (undefined)
                remember(s, where, address + b);
            continue;
        }
        unsigned dword = index * dwords + b / 4;
        uint32_t shadow = typed || (row->flags & MEM_FROM_LDS) ? 0 : data_shadow(s, row, lane, dword);
        uint8_t undefined = (uint8_t)(shadow >> 8 * (b & 3));
        if (undefined && where == IN_GLOBAL) {
            unsigned code =
                s->inst->format == AMD_SMEM ? s->inst->sdst.code + dword : s->inst->src[1].code + dword;
            return strict_undefined(s, "what is stored", code, s->inst->format == AMD_SMEM ? -1 : (int)lane,
                                    code >= AMD_VGPR ? s->shadow->vgpr_origin[code - AMD_VGPR]
                                                     : s->shadow->sgpr_origin[code & 127]);
        }
        *defined = (uint8_t)~undefined;
    }
    return true;
}

/* --- results -------------------------------------------------------------------------------------------- */

static unsigned result_dwords(const strict *s, const mem_row *row)
{
    if (s->inst->vdst.dwords != 0)
        return s->inst->vdst.dwords;
    return amd_mem_bytes(s->inst) <= 4 || row->kind == AMD_ACCESS_EXCHANGE ? 1 : amd_mem_bytes(s->inst) / 4;
}

/* access->data holds shadows: the instruction's own write-back moves them to the shadow registers. */
static void write_back(strict *s, const mem_row *row, const amd_access *a)
{
    amd_wave copy = *s->wave;
    const amd_inst *inst = s->inst;
    bool typed = row->how == MEM_FORMAT || row->how == MEM_FORMAT_D16 || (row->flags & MEM_IMAGE);
    if (inst->flags & AMD_LDS) { /* into LDS: taken as defined */
        uint32_t base = (s->wave->sgpr[AMD_M0] & 0xffff) + (uint32_t)inst->offset;
        MEM_FOR_LANES(lane, a->lanes | a->zero)
        for (unsigned b = 0; b < 4; b++) {
            uint32_t address = base + lane * 4 + b;
            if (address < AMD_LDS_MAX)
                s->lds[address / LS_PAGE_BYTES].defined[address & (LS_PAGE_BYTES - 1)] = 0xff;
        }
        return;
    }
    if (inst->format == AMD_SMEM) {
        memcpy(copy.sgpr, s->shadow->sgpr, sizeof copy.sgpr);
        amd_mem_writeback(&copy, inst, a);
        for (unsigned i = 0; i < inst->sdst.dwords && inst->sdst.code + i < 128; i++)
            if (strict_has_shadow(inst->sdst.code + i)) {
                s->shadow->sgpr[inst->sdst.code + i] = copy.sgpr[inst->sdst.code + i];
                s->shadow->sgpr_origin[inst->sdst.code + i] = s->op;
            }
        return;
    }
    unsigned dwords = result_dwords(s, row);
    for (unsigned i = 0; i < dwords; i++)
        s->shadow->vgpr_origin[inst->vdst.code + i - AMD_VGPR] = s->op;
    if (!typed) {
        copy.vgpr = s->shadow->vgpr;
        amd_mem_writeback(&copy, inst, a);
        return;
    }
    MEM_FOR_LANES(lane, a->lanes | a->zero)
    {
        uint32_t any = 0;
        for (unsigned i = 0; (a->lanes >> lane & 1) && i < a->pieces * ((a->piece_bytes + 3u) / 4); i++)
            any |= a->data[lane][i];
        for (unsigned i = 0; i < dwords; i++)
            strict_row(s, inst->vdst.code + i)[lane] = any ? UINT32_MAX : 0;
    }
}

/* Lanes read each other's registers: the body itself, with real addresses and shadows as data. */
static bool exchange(strict *s, uint64_t exec)
{
    const amd_inst *inst = s->inst;
    amd_wave copy = *s->wave;
    unsigned lanes = copy.lanes;
    size_t bytes = lanes * sizeof(uint32_t);
    if (inst->format == AMD_SMEM) { /* clocks */
        for (unsigned i = 0; i < inst->sdst.dwords; i++)
            if (!strict_write_scalar(s, inst->sdst.code + i, 1, 0, 0))
                return false;
        return true;
    }
    uint32_t *to = strict_row(s, inst->vdst.code), address_shadow[64] = { 0 };
    copy.vgpr = s->temp;
    bool swizzle = inst->op == AMD_DS_SWIZZLE_B32;
    const amd_operand *data = swizzle ? &inst->src[0] : &inst->src[1];
    amd_inst own = *inst; /* registers of their own: 0 address, 1 data, 2 result */
    memcpy(s->temp, s->wave->vgpr + (size_t)(inst->src[0].code - AMD_VGPR) * lanes, bytes);
    memcpy(s->temp + lanes, strict_row(s, data->code), bytes);
    memcpy(s->temp + 2 * lanes, to, bytes);
    if (!swizzle)
        memcpy(address_shadow, strict_row(s, inst->src[0].code), bytes);
    own.src[0].code = swizzle ? AMD_VGPR + 1 : AMD_VGPR;
    own.src[1].code = AMD_VGPR + 1;
    own.vdst.code = AMD_VGPR + 2;
    s->launch.program->ops[s->op].body(&copy, &own);
    amd_wave_rest(&copy);
    MEM_FOR_LANES(lane, exec)
    to[lane] = address_shadow[lane] ? UINT32_MAX : s->temp[2 * lanes + lane];
    s->shadow->vgpr_origin[inst->vdst.code - AMD_VGPR] = s->shadow->vgpr_origin[data->code - AMD_VGPR];
    return true;
}

/* --- all of them ---------------------------------------------------------------------------------------- */

/* Accesses published there happened before the accesses that follow. */
static void acquire(strict *s, const amd_access *a)
{
    MEM_FOR_LANES(lane, a->lanes)
    {
        unsigned where = place_of(s, a, lane, a->address[0][lane]);
        const strict_page *page = where == IN_PRIVATE ? NULL : page_at(s, where, a->address[0][lane]);
        uint32_t released =
            page && page->race ? page->race->released[(a->address[0][lane] & (LS_PAGE_BYTES - 1)) / 4] : 0;
        s->shadow->acquired = released > s->shadow->acquired ? released : s->shadow->acquired;
    }
}

/* An atomic publishes what its wave did before it. */
static void release(strict *s, const amd_access *a)
{
    if (!strict_next_segment(s, s->shadow, s->wave->index))
        return;
    MEM_FOR_LANES(lane, a->lanes)
    {
        unsigned where = place_of(s, a, lane, a->address[0][lane]);
        strict_page *page = where == IN_PRIVATE ? NULL : page_at(s, where, a->address[0][lane]);
        if (page && page->race)
            page->race->released[(a->address[0][lane] & (LS_PAGE_BYTES - 1)) / 4] = s->shadow->segment;
    }
}

bool strict_memory(strict *s)
{
    const mem_row *row = mem_row_of(s->inst);
    amd_access *a = &s->access;
    amd_wave copy = *s->wave;
    uint64_t exec = amd_wave_exec(s->wave);
    if (!row->present || row->family == MEM_NOTHING)
        return true;
    if (row->kind == AMD_ACCESS_EXCHANGE)
        return exchange(s, exec);
    if (!need_address(s, row, exec))
        return false;
    if (!amd_mem_address(&copy, s->inst, a))
        return true; /* it faults anyway */
    bool ordered = a->kind == AMD_ACCESS_ATOMIC || how_of(s, a) == STRICT_ATOMIC;
    if (ordered && a->returns)
        acquire(s, a);
    for (unsigned i = 0; i < a->pieces; i++)
        MEM_FOR_LANES(lane, a->lanes)
        {
            if (a->absent[i] >> lane & 1) {
                if (a->kind == AMD_ACCESS_LOAD)
                    memset(a->data[lane] + i * ((a->piece_bytes + 3u) / 4), 0, (a->piece_bytes + 3u) & ~3u);
                continue;
            }
            if (!piece(s, row, a, lane, i))
                return false;
        }
    if (a->kind == AMD_ACCESS_ATOMIC)
        memset(a->data, 0, sizeof a->data); /* the returned value was defined */
    if (a->returns)
        write_back(s, row, a);
    if (a->kind == AMD_ACCESS_ATOMIC && a->lanes != 0)
        release(s, a);
    return true;
}
