/* memory_address.c: step 1 of a memory instruction: which lanes access which bytes, and the data of stores.
 * Reads registers; touches no memory. Buffers and images have files of their own. */
#include "isa/amd/exec/memory_impl.h"

/* Copies `dwords` registers from `code` on into the data of the lanes, from dword `at` on. */
static void address_take(const amd_wave *wave, amd_access *access, unsigned code, unsigned dwords, unsigned at)
{
    for (unsigned i = 0; i < dwords; i++) { /* of all lanes: inactive ones do no harm */
        const uint32_t *from = mem_vgpr(wave, code + i);
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            access->data[lane][at + i] = from[lane];
    }
}

static void address_data(const amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    unsigned dwords = (row->bytes + 3u) / 4;
    if (row->flags & MEM_FROM_LDS)
        return;
    if (row->kind == AMD_ACCESS_STORE) {
        address_take(wave, access, inst->src[1].code, dwords, 0);
        if (row->flags & MEM_TWO)
            address_take(wave, access, inst->src[2].code, dwords, dwords);
        if (row->how == MEM_U8_HIGH || row->how == MEM_B16_HIGH)
            MEM_FOR_LANES(lane, access->lanes)
        access->data[lane][0] >>= 16;
    } else if (row->kind == AMD_ACCESS_ATOMIC && !(row->flags & MEM_SRC2)) {
        bool pair = row->atomic == AMD_ATOMIC_CMPSWAP || row->atomic == AMD_ATOMIC_FCMPSWAP;
        if (inst->format != AMD_DS) { /* the comparand follows the operand */
            address_take(wave, access, inst->src[1].code, pair ? 2 * dwords : dwords, 0);
        } else if (pair) { /* LDS has them the other way around */
            address_take(wave, access, inst->src[2].code, dwords, 0);
            address_take(wave, access, inst->src[1].code, dwords, dwords);
        } else {
            address_take(wave, access, inst->src[1].code, dwords, 0);
            if (inst->src[2].code >= AMD_VGPR && inst->src[2].code < AMD_AGPR + 256)
                address_take(wave, access, inst->src[2].code, dwords, dwords);
        }
    }
}

/* --- scalar --------------------------------------------------------------------------------------------- */

static bool address_scalar(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    uint64_t offset = (uint64_t)(int64_t)inst->offset;
    if (inst->flags & AMD_SOFFSET_REG) {
        uint64_t more = mem_scalar(wave, inst, &inst->src[1]);
        offset += (row->flags & MEM_TIMES_64) ? more * 64 : more;
    }
    uint64_t base = mem_sgpr64(wave, inst->src[0].code);
    access->space = AMD_SPACE_SCALAR;
    access->lanes = 1;
    if (row->flags & MEM_RESOURCE) {
        /* Dwords past the end read 0 and are not written. */
        uint32_t stride = (uint32_t)(base >> 48) & 0x3fff;
        uint64_t records = wave->sgpr[(inst->src[0].code + 2u) & 127];
        uint64_t bytes = stride != 0 ? records * stride : records;
        base &= 0xffffffffffffull;
        uint64_t from = offset & ~3ull;
        uint64_t room = from < bytes ? (bytes - from) & ~3ull : 0;
        if (room < access->piece_bytes)
            access->piece_bytes = (uint8_t)room;
        if (access->piece_bytes == 0 || (row->kind == AMD_ACCESS_ATOMIC && room < row->bytes)) {
            access->zero = 1;
            access->lanes = 0;
        }
    }
    access->address[0][0] = ((base & ~3ull) + offset) & ~3ull;
    if (row->kind != AMD_ACCESS_LOAD) {
        unsigned dwords = row->bytes / 4u;
        if (row->atomic == AMD_ATOMIC_CMPSWAP)
            dwords *= 2;
        for (unsigned i = 0; i < dwords; i++)
            access->data[0][i] = wave->sgpr[(inst->sdst.code + i) & 127];
    }
    return true;
}

/* --- LDS ------------------------------------------------------------------------------------------------ */

bool amd_mem_lds_form(const amd_inst *inst, amd_lds_form *out)
{
    const mem_row *row = mem_row_of(inst);
    if (!row->present || inst->format != AMD_DS || row->family != MEM_MOVE || (inst->flags & AMD_GDS) ||
        (row->flags & (MEM_ADDTID | MEM_SRC2 | MEM_FROM_LDS)))
        return false;
    uint32_t step = row->flags & MEM_TWO ? row->bytes * ((row->flags & MEM_ST64) ? 64u : 1u) : 1;
    *out = (amd_lds_form){ .kind = row->kind,
                           .pieces = row->flags & MEM_TWO ? 2 : 1,
                           .bytes = row->bytes,
                           .whole = row->how == MEM_B32 && row->bytes >= 4 &&
                                    (row->kind == AMD_ACCESS_LOAD || row->kind == AMD_ACCESS_STORE),
                           .address = inst->src[0].code,
                           .data = { inst->src[1].code, inst->src[2].code },
                           .offset = { step * (uint32_t)inst->offset, step * (uint32_t)inst->simm } };
    return true;
}

/* Where the second operand of a DS_*_SRC2 instruction lies, relative to the first. */
static uint32_t address_src2(const amd_inst *inst, uint32_t address)
{
    uint32_t offset1 = (uint32_t)inst->offset >> 8 & 0xff;
    int32_t dwords;
    if (offset1 & 0x80)
        dwords = (int32_t)address >> 17;
    else
        dwords = (int32_t)((uint32_t)inst->offset << 17) >> 17;
    return address + (uint32_t)dwords * 4;
}

/* An address beyond the work-group's LDS is an error of the program: the hardware would read 0 there and lose
 * writes. Between GCN3's limit in M0 and the end of the allocation, reads also give 0 here and writes are
 * lost. False: the fault is set. */
static bool address_lds_bound(amd_wave *wave, const mem_row *row, amd_access *access, unsigned piece,
                              unsigned lane, uint32_t address, uint32_t limit)
{
    uint32_t all = wave->group->lds_bytes;
    if (address < limit && limit - address >= row->bytes)
        return true;
    if (address >= all || all - address < row->bytes)
        return mem_fault(wave, LS_FAULT_LDS_RANGE, lane, address, row->bytes, row->kind != AMD_ACCESS_LOAD);
    access->absent[piece] |= 1ull << lane;
    return true;
}

/* Loads and stores between memory and LDS: lane i has the dword at M0 + offset + 4 i. */
static bool address_lds_rows(amd_wave *wave, const amd_inst *inst, const amd_access *access, bool write)
{
    uint32_t base = (wave->sgpr[AMD_M0] & 0xffff) + (uint32_t)inst->offset, all = wave->group->lds_bytes;
    MEM_FOR_LANES(lane, access->lanes | access->zero)
    {
        uint32_t address = base + lane * 4;
        if (address >= all || all - address < 4)
            return mem_fault(wave, LS_FAULT_LDS_RANGE, lane, address, 4, write);
    }
    return true;
}

/* GCN3 wants natural alignment; gfx10 as HSA sets it up takes any address, but not for atomics. */
static unsigned address_align(const amd_wave *wave, const mem_row *row)
{
    if (row->kind == AMD_ACCESS_ATOMIC)
        return row->bytes;
    if (wave->target != AMD_GFX803)
        return 1;
    return row->bytes == 12 ? 16 : row->bytes;
}

/* The addresses of all lanes of one piece, and all of them together. Inlined for each size of waves. */
static inline __attribute__((always_inline)) uint32_t address_lds_piece(const uint32_t *from, uint32_t offset,
                                                                        uint64_t *to, unsigned lanes)
{
    uint32_t together = 0;
    for (unsigned lane = 0; lane < lanes; lane++) {
        uint32_t address = from[lane] + offset;
        together |= address;
        to[lane] = address;
    }
    return together;
}

/* All lanes are active, and nothing can be misaligned or out of range: true, else nothing has happened. */
static bool address_lds_whole(const amd_wave *wave, const amd_inst *inst, const mem_row *row,
                              amd_access *access)
{
    const uint32_t *from = mem_vgpr(wave, inst->src[0].code);
    uint32_t limit = amd_mem_lds_bytes(wave), together = 0;
    uint32_t step = row->flags & MEM_TWO ? row->bytes * ((row->flags & MEM_ST64) ? 64u : 1u) : 1;
    if (access->lanes != (wave->lanes == 64 ? UINT64_MAX : UINT32_MAX))
        return false;
    for (unsigned piece = 0; piece < access->pieces; piece++) {
        uint32_t offset = step * (uint32_t)(piece == 0 ? inst->offset : inst->simm);
        together |= wave->lanes == 64 ? address_lds_piece(from, offset, access->address[piece], 64)
                                      : address_lds_piece(from, offset, access->address[piece], 32);
    }
    if ((together & (address_align(wave, row) - 1)) != 0)
        return false;
    if (together < limit && limit - together >= row->bytes) /* no address is above all of their bits */
        return true;
    uint64_t most = 0;
    for (unsigned piece = 0; piece < access->pieces; piece++)
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            most = access->address[piece][lane] > most ? access->address[piece][lane] : most;
    return most < limit && limit - most >= row->bytes;
}

static bool address_lds(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    if (!(row->flags & (MEM_ADDTID | MEM_SRC2)) && address_lds_whole(wave, inst, row, access)) {
        access->space = AMD_SPACE_LDS;
        return true;
    }
    uint64_t active = access->lanes;
    uint32_t limit = amd_mem_lds_bytes(wave);
    uint32_t step = row->bytes * ((row->flags & MEM_ST64) ? 64u : 1u);
    unsigned align = address_align(wave, row);
    const uint32_t *from = (row->flags & MEM_ADDTID) ? NULL : mem_vgpr(wave, inst->src[0].code);
    access->space = AMD_SPACE_LDS;
    MEM_FOR_LANES(lane, active)
    {
        uint32_t base = from ? from[lane] : (wave->sgpr[AMD_M0] & 0xffff) + lane * 4;
        for (unsigned piece = 0; piece < access->pieces; piece++) {
            uint32_t address = base;
            if (row->flags & MEM_SRC2)
                address = piece == 0 ? base : address_src2(inst, base);
            else if (row->flags & MEM_TWO)
                address += step * (uint32_t)(piece == 0 ? inst->offset : inst->simm);
            else
                address += (uint32_t)inst->offset;
            if ((address & (align - 1)) != 0)
                return mem_fault(wave, LS_FAULT_MISALIGNED, lane, address, row->bytes,
                                 row->kind != AMD_ACCESS_LOAD);
            access->address[piece][lane] = address;
            if (!address_lds_bound(wave, row, access, piece, lane, address, limit))
                return false;
        }
    }
    return true;
}

/* --- flat, global, scratch ------------------------------------------------------------------------------ */

/* Interleaved private memory: a dword at a time. */
static bool address_private(amd_wave *wave, const mem_row *row, amd_access *access, unsigned lane,
                            uint32_t offset)
{
    bool write = row->kind != AMD_ACCESS_LOAD;
    if (offset >= wave->group->scratch_bytes || wave->group->scratch_bytes - offset < row->bytes)
        return mem_fault(wave, LS_FAULT_UNMAPPED, lane, wave->group->private_base + offset, row->bytes, write);
    if ((offset & 3) + (row->bytes < 4 ? row->bytes : 4u) > 4)
        return mem_fault(wave, LS_FAULT_MISALIGNED, lane, wave->group->private_base + offset, row->bytes,
                         write);
    if (row->kind == AMD_ACCESS_ATOMIC && row->bytes > 4)
        return mem_fault(wave, LS_FAULT_UNSUPPORTED, lane, wave->group->private_base + offset, row->bytes,
                         true);
    for (unsigned piece = 0; piece < access->pieces; piece++)
        access->address[piece][lane] = mem_private(wave, lane, offset + piece * 4);
    return true;
}

static void address_in_dwords(const mem_row *row, amd_access *access)
{
    if (row->bytes > 4 && row->kind != AMD_ACCESS_ATOMIC) {
        access->pieces = (uint8_t)(row->bytes / 4);
        access->piece_bytes = 4;
    }
}

static bool address_scratch(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    access->space = AMD_SPACE_SCRATCH;
    address_in_dwords(row, access);
    const uint32_t *from = NULL;
    uint32_t base = (uint32_t)inst->offset;
    if (inst->flags & AMD_SADDR)
        base += mem_scalar(wave, inst, &inst->src[2]);
    else if (inst->src[0].code >= AMD_VGPR && inst->src[0].code < AMD_VGPR + 256)
        from = mem_vgpr(wave, inst->src[0].code);
    MEM_FOR_LANES(lane, access->lanes)
    if (!address_private(wave, row, access, lane, base + (from ? from[lane] : 0)))
        return false;
    return true;
}

static bool address_global(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    access->space = AMD_SPACE_GLOBAL;
    uint64_t base = (uint64_t)(int64_t)inst->offset;
    bool scalar = (inst->flags & AMD_SADDR) != 0;
    if (scalar)
        base += mem_sgpr64(wave, inst->src[2].code);
    if (row->flags & MEM_ADDTID) {
        MEM_FOR_LANES(lane, access->lanes)
        access->address[0][lane] = base + lane * 4;
        return true;
    }
    const uint32_t *low = mem_vgpr(wave, inst->src[0].code);
    const uint32_t *high = low + wave->lanes;
    if (scalar)
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            access->address[0][lane] = base + low[lane];
    else
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            access->address[0][lane] = base + (low[lane] | (uint64_t)high[lane] << 32);
    return true;
}

static bool address_flat(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    access->space = AMD_SPACE_FLAT;
    const amd_group *group = wave->group;
    const uint32_t *low = mem_vgpr(wave, inst->src[0].code);
    const uint32_t *high = low + wave->lanes;
    uint32_t shared = (uint32_t)(group->shared_base >> 32), private = (uint32_t)(group->private_base >> 32);
    uint64_t in_scratch = 0;
    uint32_t elsewhere = 0; /* some lane, active or not, is not in global memory */
    for (unsigned lane = 0; lane < wave->lanes; lane++)
        elsewhere |= (uint32_t)(high[lane] == shared) | (uint32_t)(high[lane] == private);
    if (elsewhere == 0) {
        uint64_t offset = (uint64_t)(int64_t)inst->offset;
        for (unsigned lane = 0; lane < wave->lanes; lane++)
            access->address[0][lane] = (low[lane] | (uint64_t)high[lane] << 32) + offset;
        return true;
    }
    MEM_FOR_LANES(lane, access->lanes)
    {
        if (high[lane] == shared)
            access->in_lds |= 1ull << lane;
        else if (high[lane] == private)
            in_scratch |= 1ull << lane;
    }
    if (in_scratch != 0)
        address_in_dwords(row, access);
    unsigned align = row->kind == AMD_ACCESS_ATOMIC ? row->bytes : 1;
    MEM_FOR_LANES(lane, access->lanes)
    {
        uint32_t offset = low[lane] + (uint32_t)inst->offset;
        if (in_scratch >> lane & 1) {
            if (!address_private(wave, row, access, lane, offset))
                return false;
            continue;
        }
        bool lds = (access->in_lds >> lane & 1) != 0;
        uint64_t whole = (low[lane] | (uint64_t)high[lane] << 32) + (uint64_t)(int64_t)inst->offset;
        uint64_t address = lds ? offset : whole;
        if (lds && (address & (align - 1)) != 0)
            return mem_fault(wave, LS_FAULT_MISALIGNED, lane, whole, row->bytes, row->kind != AMD_ACCESS_LOAD);
        if (lds && (address >= group->lds_bytes || group->lds_bytes - address < row->bytes))
            return mem_fault(wave, LS_FAULT_LDS_RANGE, lane, whole, row->bytes, row->kind != AMD_ACCESS_LOAD);
        for (unsigned piece = 0; piece < access->pieces; piece++)
            access->address[piece][lane] = address + piece * 4;
    }
    return true;
}

/* --- all of them ---------------------------------------------------------------------------------------- */

/* ds_append and ds_consume: one atomic for the wave, whose result all lanes get. */
static bool address_counter(amd_wave *wave, const amd_inst *inst, amd_access *access)
{
    uint32_t address = (wave->sgpr[AMD_M0] & 0xffff) + (uint32_t)inst->offset;
    uint32_t limit = wave->group->lds_bytes;
    uint64_t active = amd_wave_exec(wave);
    access->kind = AMD_ACCESS_ATOMIC;
    access->space = AMD_SPACE_LDS;
    access->atomic = inst->op == AMD_DS_APPEND ? AMD_ATOMIC_ADD : AMD_ATOMIC_SUB;
    access->piece_bytes = 4;
    access->lanes = 1;
    access->address[0][0] = address;
    access->data[0][0] = (uint32_t)__builtin_popcountll(active);
    if ((address & 3) != 0)
        return mem_fault(wave, LS_FAULT_MISALIGNED, 0, address, 4, true);
    if (address >= limit || limit - address < 4)
        return mem_fault(wave, LS_FAULT_LDS_RANGE, 0, address, 4, true);
    return true;
}

bool amd_mem_address(amd_wave *wave, const amd_inst *inst, amd_access *access)
{
    const mem_row *row = mem_row_of(inst);
    uint64_t active = amd_wave_exec(wave);
    memset(access, 0, offsetof(amd_access, address));
    access->kind = row->kind;
    access->atomic = row->atomic;
    access->pieces = row->flags & (MEM_TWO | MEM_SRC2) ? 2 : 1;
    access->piece_bytes = row->bytes;
    access->lanes = active;
    access->returns = row->kind == AMD_ACCESS_LOAD || row->kind == AMD_ACCESS_EXCHANGE ||
                      (row->flags & MEM_RETURN) != 0 || row->family == MEM_COUNTER ||
                      (row->kind == AMD_ACCESS_ATOMIC && (inst->flags & AMD_GLC) != 0);
    if (row->family == MEM_NOTHING) {
        access->lanes = 0;
        return true;
    }
    if (row->family == MEM_COUNTER)
        return address_counter(wave, inst, access);
    if (row->kind == AMD_ACCESS_EXCHANGE) {
        mem_exchange(wave, inst, access);
        return true;
    }
    bool good = false;
    switch (inst->format) {
    case AMD_SMEM:
        return address_scalar(wave, inst, row, access);
    case AMD_MUBUF:
    case AMD_MTBUF:
        good = mem_buffer_address(wave, inst, row, access);
        if (good && ((inst->flags & AMD_LDS) || (row->flags & MEM_FROM_LDS)))
            good = address_lds_rows(wave, inst, access, (inst->flags & AMD_LDS) != 0);
        break;
    case AMD_MIMG:
        return mem_image_address(wave, inst, row, access);
    case AMD_DS:
        good = address_lds(wave, inst, row, access);
        break;
    case AMD_GLOBAL:
        good = address_global(wave, inst, row, access);
        if (good && (inst->flags & AMD_LDS || row->flags & MEM_TO_LDS))
            good = address_lds_rows(wave, inst, access, true);
        break;
    case AMD_SCRATCH:
        good = address_scratch(wave, inst, row, access);
        if (good && row->flags & MEM_TO_LDS)
            good = address_lds_rows(wave, inst, access, true);
        break;
    default:
        good = address_flat(wave, inst, row, access);
        break;
    }
    if (good && row->how != MEM_FORMAT && row->how != MEM_FORMAT_D16)
        address_data(wave, inst, row, access);
    return good;
}
