/* decode.c: entry point of the decoder. Finds the encoding of a word, decodes operands and the scalar
 * encodings. Reads only the given bytes and the tables. */
#include "isa/amd/decode.h"

#include <string.h>

/* --- operands ------------------------------------------------------------------------------------------- */

void amd_decode_fixed(amd_decoder *d, amd_operand *operand, unsigned code, amd_kind kind, unsigned dwords)
{
    (void)d;
    operand->code = (uint16_t)code;
    operand->kind = (uint8_t)kind;
    operand->dwords = (uint8_t)dwords;
}

static void set(amd_decoder *d, amd_operand *operand, unsigned code, amd_shape shape)
{
    const amd_shape_info *info = &amd_shape_table[shape];
    unsigned dwords = shape == AMD_SHAPE_MASK ? d->lanes / 32 : info->dwords;
    amd_decode_fixed(d, operand, code, (amd_kind)info->kind, dwords);
}

void amd_decode_vcc(amd_decoder *d, amd_operand *operand)
{
    set(d, operand, AMD_VCC_LO, AMD_SHAPE_MASK);
}

bool amd_decode_literal(amd_decoder *d)
{
    if (d->has_literal)
        return true;
    if (d->count < (size_t)d->out->bytes + 4)
        return false;
    d->out->literal = amd_word(d->bytes + d->out->bytes);
    d->out->bytes = (uint8_t)(d->out->bytes + 4);
    d->has_literal = true;
    return true;
}

/* Where registers of more than 32 bits begin: pairs on even numbers, the rest on multiples of four. Lower
 * bits of the code are ignored, as the hardware does. Returns false where no such register is. */
static bool align_scalar(const amd_decoder *d, unsigned *code, unsigned dwords)
{
    if (dwords == 1)
        return true;
    unsigned mask = dwords == 2 ? 1 : 3;
    unsigned last_sgpr = d->gfx10 ? 105 : 101;
    unsigned first_ttmp = d->target == AMD_GFX803 ? AMD_TTMP + 4 : AMD_TTMP;
    if (*code <= last_sgpr) {
        *code &= ~mask;
        return dwords == 2 || *code + dwords <= 104;
    }
    if (*code >= first_ttmp && *code < AMD_M0) {
        *code = first_ttmp + ((*code - first_ttmp) & ~mask);
        return *code - first_ttmp + dwords <= 16;
    }
    return dwords == 2 && (*code == AMD_NULL || (*code % 2 == 0 && *code != AMD_M0));
}

bool amd_decode_scalar(amd_decoder *d, amd_operand *operand, unsigned code, amd_shape shape)
{
    set(d, operand, code, shape);
    if (code > 127 || !align_scalar(d, &code, operand->dwords))
        return false;
    operand->code = (uint16_t)code;
    return true;
}

bool amd_decode_register(amd_decoder *d, amd_operand *operand, unsigned number, amd_shape shape,
                         bool accumulation)
{
    set(d, operand, (accumulation ? AMD_AGPR : AMD_VGPR) + number, shape);
    return number + operand->dwords <= 256;
}

bool amd_decode_vector(amd_decoder *d, amd_operand *operand, unsigned vgpr, amd_shape shape)
{
    return amd_decode_register(d, operand, vgpr, shape, shape == AMD_SHAPE_A32);
}

bool amd_decode_source(amd_decoder *d, amd_operand *operand, unsigned code, amd_shape shape)
{
    bool scalar_only = shape == AMD_SHAPE_MASK || shape == AMD_SHAPE_S32 || shape == AMD_SHAPE_S64;
    if (code >= AMD_VGPR)
        return !scalar_only && amd_decode_vector(d, operand, code - AMD_VGPR, shape);
    if (amd_shape_table[shape].vector_only)
        return false;
    if (code < 128)
        return amd_decode_scalar(d, operand, code, shape);
    if (scalar_only)
        return false;
    set(d, operand, code, shape);
    if (code == AMD_LITERAL)
        return amd_decode_literal(d);
    if (code == AMD_LDS_DIRECT)
        return operand->dwords == 1;
    return code <= 208 || (code >= AMD_SHARED_BASE && code <= 248) || (code >= AMD_VCCZ && code <= AMD_SCC);
}

bool amd_decode_row(amd_decoder *d, amd_format format, unsigned opcode)
{
    const amd_row *row = amd_table_find(d->target, format, opcode);
    if (!row)
        return false;
    d->row = row;
    d->out->op = row->op;
    d->out->format = (uint8_t)format;
    d->out->class_ = row->class_;
    return true;
}

/* --- SOP1, SOP2, SOPC, SOPK, SOPP ----------------------------------------------------------------------- */

static bool scalar_source(amd_decoder *d, unsigned index, unsigned code)
{
    if (!d->row->src[index])
        return true;
    d->out->src_count = (uint8_t)(index + 1);
    return amd_decode_source(d, &d->out->src[index], code, d->row->src[index]);
}

static bool scalar_destination(amd_decoder *d, unsigned code)
{
    return !d->row->dst || amd_decode_scalar(d, &d->out->sdst, code, d->row->dst);
}

static bool decode_sop1(amd_decoder *d)
{
    return amd_decode_row(d, AMD_SOP1, amd_bits(d->w0, 8, 8)) &&
           scalar_destination(d, amd_bits(d->w0, 16, 7)) && scalar_source(d, 0, amd_bits(d->w0, 0, 8));
}

static bool decode_sop2(amd_decoder *d)
{
    return amd_decode_row(d, AMD_SOP2, amd_bits(d->w0, 23, 7)) &&
           scalar_destination(d, amd_bits(d->w0, 16, 7)) && scalar_source(d, 0, amd_bits(d->w0, 0, 8)) &&
           scalar_source(d, 1, amd_bits(d->w0, 8, 8));
}

static bool decode_sopc(amd_decoder *d)
{
    if (!amd_decode_row(d, AMD_SOPC, amd_bits(d->w0, 16, 7)) || !scalar_source(d, 0, amd_bits(d->w0, 0, 8)))
        return false;
    if (d->row->flags & AMD_ROW_IDX) {
        d->out->simm = (int32_t)amd_bits(d->w0, 8, 8);
        return true;
    }
    return scalar_source(d, 1, amd_bits(d->w0, 8, 8));
}

static bool decode_sopk(amd_decoder *d)
{
    if (!amd_decode_row(d, AMD_SOPK, amd_bits(d->w0, 23, 5)))
        return false;
    d->out->simm = (int16_t)amd_bits(d->w0, 0, 16);
    if (d->row->src[0] == AMD_SHAPE_LIT)
        return scalar_source(d, 0, AMD_LITERAL);
    return scalar_destination(d, amd_bits(d->w0, 16, 7)) && scalar_source(d, 0, amd_bits(d->w0, 16, 7));
}

static bool decode_sopp(amd_decoder *d)
{
    if (!amd_decode_row(d, AMD_SOPP, amd_bits(d->w0, 16, 7)))
        return false;
    d->out->simm = (int16_t)amd_bits(d->w0, 0, 16);
    return !(d->row->flags & AMD_ROW_NONE) || d->out->simm == 0;
}

/* --- which encoding ------------------------------------------------------------------------------------- */

static bool decode_32(amd_decoder *d)
{
    if (!(d->w0 >> 31)) {
        unsigned opcode = amd_bits(d->w0, 25, 6);
        return opcode == 0x3f ? amd_decode_vop1(d) : opcode == 0x3e ? amd_decode_vopc(d) : amd_decode_vop2(d);
    }
    switch (amd_bits(d->w0, 23, 9)) {
    case 0x17d:
        return decode_sop1(d);
    case 0x17e:
        return decode_sopc(d);
    case 0x17f:
        return decode_sopp(d);
    default:
        return amd_bits(d->w0, 28, 4) == 0xb ? decode_sopk(d) : decode_sop2(d);
    }
}

static bool decode_64(amd_decoder *d)
{
    bool gfx10 = d->gfx10;
    switch (d->w0 >> 26) {
    case 0x30:
        return !gfx10 && amd_decode_smem(d);
    case 0x31:
        return !gfx10 && amd_decode_exp(d);
    case 0x33:
        return gfx10 && amd_decode_vop3p(d);
    case 0x34:
        if (d->gfx9 && amd_bits(d->w0, 23, 3) == 7)
            return amd_decode_vop3p(d);
        return !gfx10 && amd_decode_vop3(d);
    case 0x35:
        return gfx10 && amd_decode_vop3(d);
    case 0x36:
        return amd_decode_ds(d);
    case 0x37:
        return amd_decode_flat(d);
    case 0x38:
        return amd_decode_mubuf(d);
    case 0x3a:
        return amd_decode_mtbuf(d);
    case 0x3c:
        return amd_decode_mimg(d);
    case 0x3d:
        return gfx10 && amd_decode_smem(d);
    case 0x3e:
        return gfx10 && amd_decode_exp(d);
    default:
        return false;
    }
}

bool amd_decode(amd_target target, unsigned lanes, const uint8_t *bytes, size_t count, amd_inst *out)
{
    memset(out, 0, sizeof *out);
    out->vdst.code = out->sdst.code = AMD_NO_OPERAND;
    for (unsigned i = 0; i < 4; i++)
        out->src[i].code = AMD_NO_OPERAND;
    amd_decoder d = { .target = target, .lanes = lanes, .out = out };
    d.gfx10 = amd_target_is_gfx10(target);
    d.gfx9 = amd_target_is_gfx9(target);
    d.bytes = bytes;
    d.count = count;
    if (count < 4) {
        out->bytes = (uint8_t)count;
        return false;
    }
    d.w0 = amd_word(bytes);
    d.w1 = count >= 8 ? amd_word(bytes + 4) : 0;
    bool known = false;
    unsigned top = d.w0 >> 26;
    if (top == (d.gfx10 ? 0x32u : 0x35u)) {
        out->bytes = 4;
        known = amd_decode_vintrp(&d);
    } else if (top < 0x30) {
        out->bytes = 4;
        known = decode_32(&d);
    } else if (count >= 8) {
        out->bytes = 8;
        known = decode_64(&d);
    }
    if (!known) {
        out->op = AMD_OP_INVALID;
        out->bytes = 4;
    }
    return known;
}
