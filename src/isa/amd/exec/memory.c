/* memory.c: the rows of memory.def as a table, and steps 2 and 3 of memory instructions. Global memory is
 * reached only through mem_place(), which checks the page of every byte. */
#include "isa/amd/exec/gws.h"
#include "isa/amd/exec/memory.h"

#include "isa/amd/exec/memory_impl.h"

static const mem_row mem_rows[AMD_OP_COUNT] = {
#define LOAD(op, n, by, more)                                                                                 \
    [AMD_##op] = { .kind = AMD_ACCESS_LOAD, .bytes = n, .how = MEM_##by, .present = true, .flags = more },
#define STORE(op, n, by, more)                                                                                \
    [AMD_##op] = { .kind = AMD_ACCESS_STORE, .bytes = n, .how = MEM_##by, .present = true, .flags = more },
#define ATOMIC_ROW(op, n, what, more)                                                                         \
    [AMD_##op] = {                                                                                            \
        .kind = AMD_ACCESS_ATOMIC, .bytes = n, .atomic = AMD_ATOMIC_##what, .present = true, .flags = more    \
    },
#define FAMILY_NOTHING MEM_NOTHING, .kind = AMD_ACCESS_NONE
#define FAMILY_TIME MEM_TIME, .kind = AMD_ACCESS_EXCHANGE
#define FAMILY_WAVE_ID MEM_WAVE_ID, .kind = AMD_ACCESS_EXCHANGE
#define FAMILY_EXCHANGE MEM_EXCHANGE, .kind = AMD_ACCESS_EXCHANGE
#define FAMILY_COUNTER MEM_COUNTER, .kind = AMD_ACCESS_ATOMIC, .bytes = 4
#define FAMILY_IMAGE MEM_IMAGE_, .kind = AMD_ACCESS_LOAD, .flags = MEM_IMAGE
#define OTHER(op, what) [AMD_##op] = { .family = FAMILY_##what, .present = true },
#include "isa/amd/exec/memory.def"
#undef LOAD
#undef STORE
#undef ATOMIC_ROW
#undef OTHER
};

const mem_row *mem_row_of(const amd_inst *inst)
{
    return &mem_rows[inst->op];
}

amd_access_kind amd_mem_kind(const amd_inst *inst)
{
    const mem_row *row = mem_row_of(inst);
    if (!row->present)
        return AMD_ACCESS_NONE;
    if (row->family == MEM_IMAGE_ && (inst->op == AMD_IMAGE_STORE || inst->op == AMD_IMAGE_STORE_MIP ||
                                      inst->op == AMD_IMAGE_STORE_PCK || inst->op == AMD_IMAGE_STORE_MIP_PCK))
        return AMD_ACCESS_STORE;
    return (amd_access_kind)row->kind;
}

uint32_t amd_mem_bytes(const amd_inst *inst)
{
    const mem_row *row = mem_row_of(inst);
    if (row->family == MEM_IMAGE_ || row->how == MEM_FORMAT || row->how == MEM_FORMAT_D16)
        return 4; /* the format says more, but that is a matter of run time */
    return row->flags & MEM_TWO ? row->bytes * 2u : row->bytes;
}

bool amd_mem_plain(const amd_inst *inst)
{
    const mem_row *row = mem_row_of(inst);
    return row->present && row->kind == AMD_ACCESS_LOAD && row->family == MEM_MOVE && row->how == MEM_B32 &&
           inst->format != AMD_SMEM && (row->flags & MEM_IMAGE) == 0 &&
           (inst->flags & (AMD_LDS | AMD_TFE)) == 0 && (row->flags & MEM_TO_LDS) == 0;
}

/* --- the simulated memory ------------------------------------------------------------------------------- */

void amd_memory_init(amd_memory *memory, memory_space *address_space)
{
    *memory = (amd_memory){ .address_space = address_space, .view = address_space_look(address_space) };
}

bool mem_extent(amd_memory *memory, unsigned slot, uint64_t address, bool write)
{
    memory_extent found;
    if (!address_space_find(memory->address_space, address, &found))
        return false;
    if (!(found.state & (write ? LS_PAGE_WRITE : LS_PAGE_READ)))
        return false;
    memory->last[write][slot] = found;
    return true;
}

uint8_t *mem_place(amd_wave *wave, unsigned lane, uint64_t address, unsigned bytes, bool write)
{
    const address_space_view *view = &wave->group->memory->view;
    uint32_t first = address_space_state(view, address), last = address_space_state(view, address + bytes - 1);
    uint32_t need = write ? LS_PAGE_WRITE : LS_PAGE_READ;
    if ((first & last & need) == 0) {
        ls_fault_kind kind = first != 0 && last != 0 ? LS_FAULT_READ_ONLY : LS_FAULT_UNMAPPED;
        mem_fault(wave, kind, lane, address, bytes, write);
        return NULL;
    }
    return view->host + (address - LS_WINDOW_BASE);
}

/* --- step 2 --------------------------------------------------------------------------------------------- */

/* The host address of a piece in LDS or global memory, or NULL with the fault set. */
static uint8_t *mem_where(amd_wave *wave, const amd_access *access, unsigned lane, unsigned piece)
{
    uint64_t address = access->address[piece][lane];
    if (access->space == AMD_SPACE_LDS || (access->in_lds >> lane & 1))
        return wave->group->lds + address; /* checked by step 1 */
    bool write = access->kind != AMD_ACCESS_LOAD;
    if (access->kind == AMD_ACCESS_ATOMIC && (address & (access->piece_bytes - 1u)) != 0) {
        mem_fault(wave, LS_FAULT_MISALIGNED, lane, address, access->piece_bytes, true);
        return NULL;
    }
    return mem_place(wave, lane, address, access->piece_bytes, write);
}

static bool mem_perform_atomic(amd_wave *wave, const mem_row *row, amd_access *access)
{
    unsigned dwords = access->piece_bytes / 4u;
    bool shared = access->space != AMD_SPACE_LDS;
    MEM_FOR_LANES(lane, access->lanes)
    {
        unsigned pieces = row->flags & MEM_SRC2 ? 1 : access->pieces;
        if ((row->flags & MEM_SRC2) && !(access->absent[1] >> lane & 1))
            memcpy(access->data[lane], wave->group->lds + access->address[1][lane], access->piece_bytes);
        for (unsigned piece = 0; piece < pieces; piece++) {
            uint32_t *data = access->data[lane] + piece * dwords;
            if (access->absent[piece] >> lane & 1) {
                memset(data, 0, access->piece_bytes);
                continue;
            }
            uint8_t *place = mem_where(wave, access, lane, piece);
            if (!place)
                return false;
            if (pieces == 2) { /* exchanges: the next one's operand is not a comparand */
                uint32_t pair[4] = { 0 };
                memcpy(pair, data, access->piece_bytes);
                mem_atomic_memory(place, access->piece_bytes, (amd_atomic)access->atomic, pair, shared);
                memcpy(data, pair, access->piece_bytes);
            } else {
                mem_atomic_memory(place, access->piece_bytes, (amd_atomic)access->atomic, data,
                                  shared && !(access->in_lds >> lane & 1));
            }
        }
    }
    return true;
}

bool amd_mem_perform(amd_wave *wave, const amd_inst *inst, amd_access *access)
{
    const mem_row *row = mem_row_of(inst);
    if (access->kind == AMD_ACCESS_NONE || access->kind == AMD_ACCESS_EXCHANGE)
        return true;
    if (access->kind == AMD_ACCESS_ATOMIC)
        return mem_perform_atomic(wave, row, access);
    unsigned dwords = (access->piece_bytes + 3u) / 4;
    bool write = access->kind == AMD_ACCESS_STORE;
    for (unsigned piece = 0; piece < access->pieces; piece++) /* the second write of ds_write2 wins */
        MEM_FOR_LANES(lane, access->lanes)
        {
            uint32_t *data = access->data[lane] + piece * dwords;
            if (access->absent[piece] >> lane & 1) {
                if (!write)
                    memset(data, 0, dwords * 4);
                continue;
            }
            uint8_t *place = mem_where(wave, access, lane, piece);
            if (!place)
                return false;
            if (write)
                memcpy(place, data, access->piece_bytes);
            else
                memcpy(data, place, access->piece_bytes);
        }
    return true;
}

/* --- step 3 --------------------------------------------------------------------------------------------- */

static void mem_writeback_scalar(amd_wave *wave, const amd_inst *inst, const mem_row *row,
                                 const amd_access *access)
{
    unsigned dwords = row->bytes / 4u, there = access->lanes != 0 ? access->piece_bytes / 4u : 0;
    if (inst->sdst.code == AMD_NULL)
        return;
    for (unsigned i = 0; i < dwords; i++)
        wave->sgpr[(inst->sdst.code + i) & 127] = i < there ? access->data[0][i] : 0;
}

static uint32_t mem_register(mem_how how, uint32_t old, uint32_t data)
{
    uint32_t low = data & 0xff, sign = (uint32_t)(int32_t)(int8_t)data;
    switch (how) {
    case MEM_U8:
        return low;
    case MEM_I8:
        return sign;
    case MEM_U16:
        return data & 0xffff;
    case MEM_I16:
        return (uint32_t)(int32_t)(int16_t)data;
    case MEM_U8_LOW:
        return (old & 0xffff0000u) | low;
    case MEM_I8_LOW:
        return (old & 0xffff0000u) | (sign & 0xffff);
    case MEM_B16_LOW:
        return (old & 0xffff0000u) | (data & 0xffff);
    case MEM_U8_HIGH:
        return (old & 0xffff) | low << 16;
    case MEM_I8_HIGH:
        return (old & 0xffff) | sign << 16;
    case MEM_B16_HIGH:
        return (old & 0xffff) | data << 16;
    default:
        return data;
    }
}

/* A load into LDS: lane i goes to M0 + offset + 4 i. */
static void mem_writeback_lds(amd_wave *wave, const amd_inst *inst, const mem_row *row,
                              const amd_access *access)
{
    uint32_t base = (wave->sgpr[AMD_M0] & 0xffff) + (uint32_t)inst->offset;
    MEM_FOR_LANES(lane, access->lanes | access->zero)
    {
        uint32_t address = base + lane * 4;
        uint32_t data = (access->lanes >> lane & 1) ? access->data[lane][0] : 0;
        data = mem_register((mem_how)row->how, 0, data);
        if (address <= wave->group->lds_bytes && wave->group->lds_bytes - address >= 4)
            memcpy(wave->group->lds + address, &data, 4);
    }
}

void amd_mem_writeback(amd_wave *wave, const amd_inst *inst, const amd_access *access)
{
    const mem_row *row = mem_row_of(inst);
    if (!access->returns || row->family == MEM_NOTHING)
        return;
    if (row->flags & MEM_IMAGE) {
        mem_image_writeback(wave, inst, row, access);
        return;
    }
    if (row->family == MEM_COUNTER) {
        uint32_t *to = mem_vgpr(wave, inst->vdst.code);
        MEM_FOR_LANES(lane, amd_wave_exec(wave))
        to[lane] = access->data[0][0];
        return;
    }
    if (inst->format == AMD_SMEM) {
        if (row->family == MEM_MOVE) {
            mem_writeback_scalar(wave, inst, row, access);
        } else if (inst->sdst.code != AMD_NULL) {
            wave->sgpr[inst->sdst.code & 127] = access->data[0][0];
            if (row->family == MEM_TIME)
                wave->sgpr[(inst->sdst.code + 1) & 127] = access->data[0][1];
        }
        return;
    }
    if (row->how == MEM_FORMAT || row->how == MEM_FORMAT_D16) {
        mem_buffer_unpack(wave, inst, row, access);
        return;
    }
    if (inst->flags & AMD_LDS || row->flags & MEM_TO_LDS) {
        mem_writeback_lds(wave, inst, row, access);
        return;
    }
    unsigned dwords = row->kind == AMD_ACCESS_EXCHANGE ? 1
                      : amd_mem_bytes(inst) <= 4       ? 1
                                                       : amd_mem_bytes(inst) / 4;
    for (unsigned i = 0; i < dwords; i++) {
        uint32_t *to = mem_vgpr(wave, inst->vdst.code + i);
        MEM_FOR_LANES(lane, access->lanes)
        to[lane] = mem_register((mem_how)row->how, to[lane], access->data[lane][i]);
        MEM_FOR_LANES(lane, access->zero)
        to[lane] = mem_register((mem_how)row->how, to[lane], 0);
    }
    if (inst->flags & AMD_TFE) {
        uint32_t *to = mem_vgpr(wave, inst->vdst.code + dwords);
        MEM_FOR_LANES(lane, access->lanes | access->zero)
        to[lane] = 0; /* resident: nothing failed */
    }
}

/* --- bodies --------------------------------------------------------------------------------------------- */

void mem_body(amd_wave *wave, const amd_inst *inst)
{
    amd_access access;
    amd_wave_rest(wave); /* formats, images and atomics compute with floats */
    if (amd_mem_address(wave, inst, &access) && amd_mem_perform(wave, inst, &access))
        amd_mem_writeback(wave, inst, &access);
}

static void mem_body_nothing(amd_wave *wave, const amd_inst *inst)
{
    (void)wave;
    (void)inst;
}

amd_body amd_exec_find_memory(amd_target target, unsigned lanes, const amd_inst *inst)
{
    const mem_row *row = mem_row_of(inst);
    if (amd_gws_is_op((amd_op)inst->op))
        return amd_gws_find(inst);
    if (!row->present || (inst->flags & AMD_GDS))
        return NULL;
    if (row->family == MEM_NOTHING)
        return mem_body_nothing;
    if (inst->format == AMD_SMEM && inst->sdst.code < 128 && inst->sdst.code + row->bytes / 4u > 128)
        return NULL;
    if ((row->flags & MEM_IMAGE) && !mem_image_supported(target, inst, row))
        return NULL;
    amd_body fast = mem_fast_find(target, lanes, inst, row);
    return fast ? fast : mem_body;
}
