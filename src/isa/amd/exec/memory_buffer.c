/* memory_buffer.c: addresses and formats of MUBUF and MTBUF. A buffer resource says where a buffer lies, how
 * it is interleaved and where it ends. Reads past its end give 0, writes are lost. */
#include "isa/amd/exec/format.h"
#include "isa/amd/exec/memory_impl.h"

typedef struct buffer_resource {
    uint64_t base;
    uint32_t stride, records;
    uint32_t element_bytes, index_stride; /* of a swizzled buffer */
    bool swizzle, add_tid;
    uint8_t bounds;    /* gfx10: which checks apply */
    uint8_t select[4]; /* which component goes where: 0 zero, 1 one, 4 to 7 x to w */
    amd_texel texel;
} buffer_resource;

static buffer_resource buffer_read(const amd_wave *wave, const amd_inst *inst)
{
    unsigned code = inst->src[2].code;
    uint32_t word[4];
    for (unsigned i = 0; i < 4; i++)
        word[i] = wave->sgpr[(code + i) & 127];
    buffer_resource r = { .base = word[0] | (uint64_t)(word[1] & 0xffff) << 32,
                          .stride = word[1] >> 16 & 0x3fff,
                          .swizzle = word[1] >> 31 != 0,
                          .records = word[2],
                          .index_stride = 8u << (word[3] >> 21 & 3),
                          .add_tid = (word[3] >> 23 & 1) != 0 };
    for (unsigned i = 0; i < 4; i++)
        r.select[i] = (uint8_t)(word[3] >> i * 3 & 7);
    if (!amd_target_is_gfx10((amd_target)wave->target)) {
        r.element_bytes = wave->target == AMD_GFX803 ? 2u << (word[3] >> 19 & 3) : 4;
        r.texel = amd_format_gcn3(word[3] >> 15 & 0xf, word[3] >> 12 & 7);
        if (inst->format == AMD_MTBUF)
            r.texel = amd_format_gcn3((unsigned)inst->simm & 0xf, (unsigned)inst->simm >> 4 & 7);
        if (r.add_tid) /* the bits of the data format extend the stride */
            r.stride |= (word[3] >> 15 & 0xf) << 14;
    } else {
        r.element_bytes = 4;
        r.bounds = (uint8_t)(word[3] >> 28 & 3);
        r.texel = amd_format_gfx10(word[3] >> 12 & 0x7f);
        if (inst->format == AMD_MTBUF)
            r.texel = amd_format_gfx10((unsigned)inst->simm & 0x7f);
    }
    return r;
}

/* True if `bytes` at `offset` of record `index` lie past the end. */
static bool buffer_past(const amd_wave *wave, const buffer_resource *r, uint32_t index, uint64_t offset,
                        uint32_t scalar, unsigned bytes)
{
    uint64_t room = r->records > scalar ? r->records - scalar : 0;
    if (!amd_target_is_gfx10((amd_target)wave->target)) {
        if (r->stride == 0 || !r->swizzle)
            return offset + (uint64_t)index * r->stride + bytes > room;
        return index >= r->records;
    }
    switch (r->bounds) {
    case 0:
        return index >= r->records || offset + bytes > r->stride;
    case 1:
        return index >= r->records;
    case 2:
        return r->records == 0;
    default:
        break;
    }
    if (r->swizzle && r->stride != 0)
        return index >= r->records / r->stride || offset + bytes > r->stride;
    return offset + (uint64_t)index * r->stride + bytes > room;
}

static uint64_t buffer_address(const buffer_resource *r, uint32_t index, uint64_t offset, uint32_t scalar)
{
    if (!r->swizzle)
        return r->base + scalar + offset + (uint64_t)index * r->stride;
    uint64_t group = index / r->index_stride, within = index % r->index_stride;
    uint64_t element = offset / r->element_bytes * r->element_bytes;
    return r->base + scalar + (group * r->stride + element) * r->index_stride + within * r->element_bytes +
           offset % r->element_bytes;
}

/* Packs what a store with a format takes from registers. */
static void buffer_pack(const amd_wave *wave, const amd_inst *inst, const mem_row *row,
                        const buffer_resource *r, amd_access *access)
{
    bool halves = row->how == MEM_FORMAT_D16, packed = wave->target != AMD_GFX803;
    MEM_FOR_LANES(lane, access->lanes)
    {
        uint32_t in[4] = { 0 };
        for (unsigned i = 0; i < row->bytes; i++) {
            unsigned reg = halves && packed ? i / 2 : i;
            uint32_t value = mem_vgpr(wave, inst->src[1].code + reg)[lane];
            if (halves) {
                uint16_t half = (uint16_t)(packed && i % 2 ? value >> 16 : value);
                float wide = amd_half_to_float(half);
                value = half;
                if (r->texel.number == AMD_NUMBER_SINT)
                    value = (uint32_t)(int32_t)(int16_t)half;
                else if (!amd_format_is_integer(&r->texel))
                    memcpy(&value, &wide, sizeof value);
            }
            in[i] = value;
        }
        amd_format_write(&r->texel, in, access->data[lane]);
    }
}

bool mem_buffer_address(amd_wave *wave, const amd_inst *inst, const mem_row *row, amd_access *access)
{
    buffer_resource r = buffer_read(wave, inst);
    bool typed = row->how == MEM_FORMAT || row->how == MEM_FORMAT_D16;
    bool write = row->kind != AMD_ACCESS_LOAD;
    unsigned bytes = typed ? r.texel.bytes : row->bytes;
    access->texel = r.texel;
    memcpy(access->select, r.select, sizeof r.select);
    access->space = r.swizzle ? AMD_SPACE_SCRATCH : AMD_SPACE_GLOBAL;
    if (bytes == 0) { /* no format: nothing is there */
        access->zero = access->lanes;
        access->lanes = 0;
        access->piece_bytes = 4;
        return true;
    }
    if (typed && write)
        buffer_pack(wave, inst, row, &r, access);
    bool dwords = bytes > 4 && row->kind != AMD_ACCESS_ATOMIC;
    access->pieces = (uint8_t)(dwords ? bytes / 4 : 1);
    access->piece_bytes = (uint8_t)(dwords ? 4 : bytes);
    const uint32_t *indices = NULL, *offsets = NULL;
    if (inst->flags & AMD_IDXEN)
        indices = mem_vgpr(wave, inst->src[0].code);
    if (inst->flags & AMD_OFFEN)
        offsets = indices ? indices + wave->lanes : mem_vgpr(wave, inst->src[0].code);
    uint32_t scalar = mem_scalar(wave, inst, &inst->src[3]);
    MEM_FOR_LANES(lane, access->lanes)
    {
        uint32_t index = (indices ? indices[lane] : 0) + (r.add_tid ? lane : 0);
        uint64_t offset = (uint64_t)(uint32_t)inst->offset + (offsets ? offsets[lane] : 0);
        if (wave->target != AMD_GFX803) /* a negative register plus a larger constant can give an offset inside
                                         * the buffer */
            offset = (uint32_t)offset;
        if (r.swizzle && offset % r.element_bytes + access->piece_bytes > r.element_bytes &&
            offset % r.element_bytes != 0)
            return mem_fault(wave, LS_FAULT_MISALIGNED, lane, buffer_address(&r, index, offset, scalar), bytes,
                             write);
        for (unsigned piece = 0; piece < access->pieces; piece++) {
            if (buffer_past(wave, &r, index, offset + piece * 4, scalar, access->piece_bytes))
                access->absent[piece] |= 1ull << lane;
            access->address[piece][lane] = buffer_address(&r, index, offset + piece * 4, scalar);
        }
        if (typed && access->absent[access->pieces - 1] >> lane & 1) /* a texel is there or it is not */
            for (unsigned piece = 0; piece < access->pieces; piece++)
                access->absent[piece] |= 1ull << lane;
    }
    if (row->flags & MEM_FROM_LDS) { /* lane i comes from M0 + 4 i */
        uint32_t base = (wave->sgpr[AMD_M0] & 0xffff) + (uint32_t)inst->offset;
        MEM_FOR_LANES(lane, access->lanes)
        {
            uint32_t from = base + lane * 4;
            access->data[lane][0] = 0;
            if (from <= wave->group->lds_bytes && wave->group->lds_bytes - from >= 4)
                memcpy(access->data[lane], wave->group->lds + from, 4);
        }
    }
    return true;
}

/* Step 3 of loads with a format. */
void mem_buffer_unpack(amd_wave *wave, const amd_inst *inst, const mem_row *row, const amd_access *access)
{
    bool halves = row->how == MEM_FORMAT_D16, packed = wave->target != AMD_GFX803;
    bool integer = amd_format_is_integer(&access->texel);
    MEM_FOR_LANES(lane, access->lanes | access->zero)
    {
        uint32_t texel[4] = { 0 };
        bool there = (access->lanes >> lane & 1) && !(access->absent[0] >> lane & 1);
        if (there)
            amd_format_read(&access->texel, access->data[lane], texel);
        for (unsigned i = 0; i < row->bytes; i++) {
            float one = 1;
            uint32_t value = 0;
            if (access->select[i] >= 4)
                value = texel[access->select[i] - 4];
            else if (access->select[i] == 1 && integer)
                value = 1;
            else if (access->select[i] == 1)
                memcpy(&value, &one, sizeof value);
            if (!there)
                value = 0;
            if (!halves) {
                mem_vgpr(wave, inst->vdst.code + i)[lane] = value;
                continue;
            }
            float wide;
            memcpy(&wide, &value, sizeof wide);
            uint32_t half = integer ? value & 0xffff : amd_float_to_half(wide);
            uint32_t *to = mem_vgpr(wave, inst->vdst.code + (packed ? i / 2 : i)) + lane;
            *to = packed && i % 2 ? (*to & 0xffff) | half << 16 : half;
        }
    }
}
