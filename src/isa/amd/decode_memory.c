/* decode_memory.c: the encodings that leave the register file: SMEM, DS, FLAT, GLOBAL, SCRATCH, buffers,
 * and export. Images have a file of their own. */
#include "isa/amd/decode.h"

static bool has(const amd_decoder *d, unsigned flag)
{
    return d->row->flags & flag;
}

static int32_t sign_extend(unsigned value, unsigned bits)
{
    unsigned sign = 1u << (bits - 1);
    return (int32_t)((value ^ sign) - sign);
}

static void flag_if(amd_inst *out, bool condition, uint32_t flag)
{
    if (condition)
        out->flags |= flag;
}

/* A vector operand that the row may not have; then the field must be 0. `accumulation`: the instruction says
 * that its data are accumulation registers (gfx9). */
static bool data_field(amd_decoder *d, amd_operand *operand, unsigned number, amd_shape shape,
                       bool accumulation)
{
    return shape ? amd_decode_register(d, operand, number, shape, accumulation) : number == 0;
}

static void count_sources(amd_inst *out)
{
    for (unsigned i = 0; i < 4; i++)
        if (out->src[i].code != AMD_NO_OPERAND)
            out->src_count = (uint8_t)(i + 1);
}

/* --- SMEM ----------------------------------------------------------------------------------------------- */

bool amd_decode_smem(amd_decoder *d)
{
    amd_inst *out = d->out;
    if (!amd_decode_row(d, AMD_SMEM, amd_bits(d->w0, 18, 8)))
        return false;
    unsigned data = amd_bits(d->w0, 6, 7);
    if (d->row->dst && !amd_decode_scalar(d, &out->sdst, data, d->row->dst))
        return false;
    if (has(d, AMD_ROW_PROBE))
        out->simm = (int32_t)data;
    if (!has(d, AMD_ROW_OFFSET))
        return d->gfx10 || !amd_bit(d->w0, 17);
    if (!amd_decode_scalar(d, &out->src[0], amd_bits(d->w0, 0, 6) * 2, d->row->src[0]))
        return false;
    bool data_moves = d->row->dst; /* probes and discards have no use for the cache bits */
    flag_if(out, data_moves && amd_bit(d->w0, 16), AMD_GLC);
    out->src_count = 1;
    unsigned soffset;
    if (d->gfx9 && (amd_bit(d->w0, 14) || amd_bit(d->w0, 17))) {
        soffset = amd_bits(d->w1, 25, 7);
        if (amd_bit(d->w0, 17)) {
            out->offset = sign_extend(amd_bits(d->w1, 0, 21), 21);
            out->flags |= AMD_IMM_OFFSET;
        }
        if (!amd_bit(d->w0, 14))
            return true;
    } else if (d->gfx10) {
        flag_if(out, data_moves && amd_bit(d->w0, 14), AMD_DLC);
        out->offset = sign_extend(amd_bits(d->w1, 0, 21), 21);
        soffset = amd_bits(d->w1, 25, 7);
        /* An offset of 0 beside a register, even null, is no offset. */
        if (soffset == AMD_NULL && out->offset) {
            out->flags |= AMD_IMM_OFFSET;
            return true;
        }
        flag_if(out, out->offset != 0, AMD_IMM_OFFSET);
    } else if (amd_bit(d->w0, 17)) {
        out->offset = (int32_t)amd_bits(d->w1, 0, 20);
        out->flags |= AMD_IMM_OFFSET;
        return true;
    } else {
        soffset = amd_bits(d->w1, 0, 7);
    }
    out->flags |= AMD_SOFFSET_REG;
    out->src_count = 2;
    return amd_decode_scalar(d, &out->src[1], soffset, AMD_SHAPE_B32);
}

/* --- DS ------------------------------------------------------------------------------------------------- */

bool amd_decode_ds(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned opcode = d->gfx10 ? amd_bits(d->w0, 18, 8) : amd_bits(d->w0, 17, 8);
    bool gds = amd_bit(d->w0, d->gfx10 ? 17 : 16);
    if (!amd_decode_row(d, AMD_DS, opcode))
        return false;
    gds &= !d->gfx9 || has(d, AMD_ROW_GDSONLY | AMD_ROW_NOGDS); /* there is none: LLVM ignores the bit */
    bool accumulation = d->gfx9 && amd_bit(d->w0, 25);
    if (!d->gfx10 && amd_bit(d->w0, 25) && !d->row->dst && !d->row->src[1] && !has(d, AMD_ROW_GDSONLY))
        return false;
    if ((gds && has(d, AMD_ROW_NOGDS | AMD_ROW_NOOFF)) || (!gds && has(d, AMD_ROW_GDSONLY)))
        return false;
    if (gds) {
        out->flags |= AMD_GDS;
        out->class_ = AMD_CLASS_GDS;
    }
    if (has(d, AMD_ROW_OFFSET2)) {
        out->offset = (int32_t)amd_bits(d->w0, 0, 8);
        out->simm = (int32_t)amd_bits(d->w0, 8, 8);
    } else {
        out->offset = (int32_t)amd_bits(d->w0, 0, 16);
        if (out->offset && has(d, AMD_ROW_NOOFF))
            return false;
    }
    bool data_first = accumulation && has(d, AMD_ROW_GDSONLY);
    bool ok = data_field(d, &out->src[0], amd_bits(d->w1, 0, 8), d->row->src[0], data_first) &&
              data_field(d, &out->src[1], amd_bits(d->w1, 8, 8), d->row->src[1], accumulation) &&
              data_field(d, &out->src[2], amd_bits(d->w1, 16, 8), d->row->src[2], accumulation) &&
              data_field(d, &out->vdst, amd_bits(d->w1, 24, 8), d->row->dst, accumulation);
    count_sources(out);
    return ok;
}

/* --- FLAT, GLOBAL, SCRATCH ------------------------------------------------------------------------------ */

/* gfx9: 127 for none. SCRATCH on gfx942 has a bit that says whether the vector address counts. */
static bool flat_address_gfx9(amd_decoder *d, amd_format format)
{
    amd_inst *out = d->out;
    unsigned vaddr = amd_bits(d->w1, 0, 8), saddr = amd_bits(d->w1, 16, 7);
    if (format == AMD_FLAT)
        return saddr == 0 && amd_decode_vector(d, &out->src[0], vaddr, AMD_SHAPE_V64);
    bool scratch = format == AMD_SCRATCH, scalar = saddr != 127;
    bool vector = !scratch || (d->target == AMD_GFX942 ? amd_bit(d->w0, 13) : !scalar);
    if (scalar) {
        out->flags |= AMD_SADDR;
        if (!amd_decode_scalar(d, &out->src[2], saddr, scratch ? AMD_SHAPE_B32 : AMD_SHAPE_B64))
            return false;
    }
    return !vector ||
           amd_decode_vector(d, &out->src[0], vaddr, scratch || scalar ? AMD_SHAPE_V32 : AMD_SHAPE_V64);
}

/* The scalar address: null for none; SCRATCH on gfx1030 may do without either, which EXEC_HI says. */
static bool flat_address(amd_decoder *d, amd_format format)
{
    amd_inst *out = d->out;
    unsigned vaddr = amd_bits(d->w1, 0, 8), saddr = amd_bits(d->w1, 16, 7);
    if (d->gfx9)
        return flat_address_gfx9(d, format);
    if (format == AMD_FLAT)
        return saddr == (d->gfx10 ? AMD_NULL : 0u) && amd_decode_vector(d, &out->src[0], vaddr, AMD_SHAPE_V64);
    bool scratch = format == AMD_SCRATCH;
    if (saddr == AMD_NULL)
        return !d->row->src[0] || amd_decode_vector(d, &out->src[0], vaddr, d->row->src[0]);
    if (scratch && saddr == AMD_EXEC_HI && d->target == AMD_GFX1030)
        return true;
    out->flags |= AMD_SADDR;
    if (!amd_decode_scalar(d, &out->src[2], saddr, scratch ? AMD_SHAPE_B32 : AMD_SHAPE_B64))
        return false;
    if (scratch || !d->row->src[0]) /* SCRATCH: the scalar address replaces the vector address */
        return true;
    return amd_decode_vector(d, &out->src[0], vaddr, AMD_SHAPE_V32);
}

bool amd_decode_flat(amd_decoder *d)
{
    static const amd_format segments[4] = { AMD_FLAT, AMD_SCRATCH, AMD_GLOBAL, AMD_FORMAT_COUNT };
    amd_inst *out = d->out;
    amd_format format = segments[amd_bits(d->w0, 14, 2)];
    bool sve = d->target == AMD_GFX942 && format == AMD_SCRATCH;
    bool lds = amd_bit(d->w0, 13) && !sve, glc = amd_bit(d->w0, 16);
    bool accumulation = d->gfx9 && amd_bit(d->w1, 23);
    if (format == AMD_FORMAT_COUNT || !amd_decode_row(d, format, amd_bits(d->w0, 18, 7)))
        return false;
    if (accumulation && (lds || has(d, AMD_ROW_LDSONLY)))
        return false;
    if ((lds && (format == AMD_FLAT || !has(d, AMD_ROW_TOLDS))) || (!glc && has(d, AMD_ROW_RTN)))
        return false;
    flag_if(out, lds, AMD_LDS);
    flag_if(out, glc, AMD_GLC);
    flag_if(out, amd_bit(d->w0, 17), AMD_SLC);
    if (d->gfx9) {
        unsigned offset = amd_bits(d->w0, 0, 13);
        out->offset = format == AMD_FLAT ? (int32_t)offset : sign_extend(offset, 13);
        flag_if(out, amd_bit(d->w0, 25), AMD_SCOPE);
        bool floats =
            has(d, AMD_ROW_ATOMIC) && amd_bits(d->w0, 18, 7) >= 0x4d && amd_bits(d->w0, 18, 7) <= 0x51;
        if ((floats && d->target == AMD_GFX90A && amd_bit(d->w0, 25)) || (lds && d->target == AMD_GFX942))
            return false;
    } else if (d->gfx10) {
        unsigned offset = amd_bits(d->w0, 0, 12);
        flag_if(out, amd_bit(d->w0, 12), AMD_DLC);
        out->offset = format == AMD_FLAT ? (int32_t)offset : sign_extend(offset, 12);
        if (amd_bit(d->w1, 23))
            return false;
    } else {
        if (amd_bits(d->w0, 0, 13)) /* there is no offset on gfx803 */
            return false;
        flag_if(out, amd_bit(d->w1, 23), AMD_TFE);
    }
    if (!flat_address(d, format) ||
        (d->row->src[1] &&
         !amd_decode_register(d, &out->src[1], amd_bits(d->w1, 8, 8), d->row->src[1], accumulation)))
        return false;
    bool returns = d->row->dst && !lds && (glc || !has(d, AMD_ROW_ATOMIC));
    if (returns && !amd_decode_register(d, &out->vdst, amd_bits(d->w1, 24, 8), d->row->dst, accumulation))
        return false;
    count_sources(out);
    return true;
}

/* --- MUBUF, MTBUF --------------------------------------------------------------------------------------- */

/* The fields that MUBUF and MTBUF share. */
static bool buffer_operands(amd_decoder *d, bool lds)
{
    amd_inst *out = d->out;
    bool offen = amd_bit(d->w0, 12), idxen = amd_bit(d->w0, 13), glc = amd_bit(d->w0, 14);
    flag_if(out, offen, AMD_OFFEN);
    flag_if(out, idxen, AMD_IDXEN);
    flag_if(out, glc, AMD_GLC);
    bool accumulation = d->gfx9 && amd_bit(d->w1, 23);
    flag_if(out, amd_bit(d->w1, 23) && !d->gfx9 && !lds && !has(d, AMD_ROW_ATOMIC), AMD_TFE);
    out->offset = (int32_t)amd_bits(d->w0, 0, 12);
    unsigned vaddr = amd_bits(d->w1, 0, 8), vdata = amd_bits(d->w1, 8, 8);
    if ((offen || idxen) &&
        !amd_decode_vector(d, &out->src[0], vaddr, offen && idxen ? AMD_SHAPE_V64 : AMD_SHAPE_V32))
        return false;
    if (d->row->dst && !lds && (glc || !has(d, AMD_ROW_ATOMIC)) &&
        !amd_decode_register(d, &out->vdst, vdata, d->row->dst, accumulation))
        return false;
    if (d->row->src[1] && !amd_decode_register(d, &out->src[1], vdata, d->row->src[1], accumulation))
        return false;
    if (!amd_decode_scalar(d, &out->src[2], amd_bits(d->w1, 16, 5) * 4, AMD_SHAPE_W128))
        return false;
    out->src_count = 4;
    unsigned soffset = amd_bits(d->w1, 24, 8);
    return soffset != AMD_LITERAL && amd_decode_source(d, &out->src[3], soffset, AMD_SHAPE_B32);
}

bool amd_decode_mubuf(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned opcode = d->gfx10 ? amd_bits(d->w0, 18, 8) : amd_bits(d->w0, 18, 7);
    bool lds = amd_bit(d->w0, 16);
    if (!amd_decode_row(d, AMD_MUBUF, opcode))
        return false;
    if (has(d, AMD_ROW_BITS)) {
        bool scopes = d->target == AMD_GFX942; /* LLVM ignores the bits on gfx90a */
        flag_if(out, scopes && amd_bit(d->w0, 14), AMD_GLC);
        flag_if(out, scopes && amd_bit(d->w0, 15), AMD_SCOPE);
        bool refused = d->row->op == AMD_BUFFER_INVL2 && amd_bits(d->w0, 14, 2);
        return !(d->w0 & 0x13000u) && !amd_bit(d->w1, 23) && !refused;
    }
    if (d->gfx9 && amd_bit(d->w1, 23) && (lds || has(d, AMD_ROW_BARE)))
        return false;
    if (d->gfx9 && has(d, AMD_ROW_ATOMIC) && opcode >= 0x4d && opcode <= 0x51 && d->target == AMD_GFX90A &&
        amd_bit(d->w0, 15))
        return false;
    if (has(d, AMD_ROW_BARE))
        return !amd_bits(d->w0, 12, 5);
    if (has(d, AMD_ROW_LDSOUT) ? !lds : lds && !has(d, AMD_ROW_TOLDS))
        return false;
    flag_if(out, lds, AMD_LDS);
    if (d->gfx10) {
        if (amd_bit(d->w0, 15) && has(d, AMD_ROW_ATOMIC))
            return false;
        flag_if(out, amd_bit(d->w0, 15), AMD_DLC);
        flag_if(out, amd_bit(d->w1, 22), AMD_SLC);
    } else {
        flag_if(out, amd_bit(d->w0, 17), AMD_SLC);
        flag_if(out, d->gfx9 && amd_bit(d->w0, 15), AMD_SCOPE);
    }
    return buffer_operands(d, lds);
}

bool amd_decode_mtbuf(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned opcode = d->gfx10 ? amd_bits(d->w0, 16, 3) | amd_bits(d->w1, 21, 1) << 3 : amd_bits(d->w0, 15, 4);
    if (!amd_decode_row(d, AMD_MTBUF, opcode))
        return false;
    flag_if(out, amd_bit(d->w1, 22), AMD_SLC);
    flag_if(out, d->gfx10 && amd_bit(d->w0, 15), AMD_DLC);
    flag_if(out, d->gfx9 && amd_bit(d->w1, 21), AMD_SCOPE);
    out->simm = (int32_t)amd_bits(d->w0, 19, 7);
    return buffer_operands(d, false);
}

/* --- EXP ------------------------------------------------------------------------------------------------ */

bool amd_decode_exp(amd_decoder *d)
{
    amd_inst *out = d->out;
    if (!amd_decode_row(d, AMD_EXP, 0))
        return false;
    out->dmask = (uint8_t)amd_bits(d->w0, 0, 4);
    out->simm = (int32_t)amd_bits(d->w0, 4, 6);
    flag_if(out, amd_bit(d->w0, 10), AMD_COMPR);
    flag_if(out, amd_bit(d->w0, 11), AMD_DONE);
    flag_if(out, amd_bit(d->w0, 12), AMD_VM);
    /* Compressed: two halves in one register, four in two. */
    unsigned per_source = out->flags & AMD_COMPR ? 2 : 1;
    for (unsigned i = 0; i < 4 / per_source; i++)
        if ((unsigned)out->dmask >> (i * per_source) & (per_source * 2 - 1))
            amd_decode_fixed(d, &out->src[i], AMD_VGPR + amd_bits(d->w1, 8 * i, 8), AMD_KIND_B32, 1);
    out->src_count = 4;
    return true;
}
