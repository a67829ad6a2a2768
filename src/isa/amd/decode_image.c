/* decode_image.c: image instructions: how many registers hold the data and the addresses. */
#include "isa/amd/decode.h"

static bool has(const amd_decoder *d, unsigned flag)
{
    return d->row->flags & flag;
}

static void flag_if(amd_inst *out, bool condition, uint32_t flag)
{
    if (condition)
        out->flags |= flag;
}

/* Registers of the data: one for each component in dmask, two components in one with d16 from gfx9 on, one more
 * for the status of tfe and lwe. */
static unsigned data_dwords(const amd_decoder *d)
{
    const amd_inst *out = d->out;
    unsigned components = 0;
    for (unsigned mask = out->dmask; mask; mask &= mask - 1)
        components++;
    if (has(d, AMD_ROW_GATHER))
        components = 4;
    if (components == 0)
        components = 1;
    if ((out->flags & AMD_D16) && d->target != AMD_GFX803)
        components = (components + 1) / 2;
    return components + ((out->flags & AMD_TFE) ? 1 : 0);
}

/* Meaning of gfx10's dim field: number of coordinates, and number of values in one set of gradients. */
typedef struct image_dim {
    uint8_t coordinates, gradients;
} image_dim;
static const image_dim image_dims[8] = {
    { 1, 2 }, /* 1D */
    { 2, 4 }, /* 2D */
    { 3, 6 }, /* 3D */
    { 3, 4 }, /* CUBE */
    { 2, 2 }, /* 1D_ARRAY */
    { 3, 4 }, /* 2D_ARRAY */
    { 3, 4 }, /* 2D_MSAA */
    { 4, 4 }, /* 2D_MSAA_ARRAY */
};

static unsigned extra_arguments(const amd_decoder *d)
{
    return (has(d, AMD_ROW_OFF) ? 1u : 0u) + (has(d, AMD_ROW_BIAS) ? 1u : 0u) +
           (has(d, AMD_ROW_ZCMP) ? 1u : 0u);
}

static unsigned address_dwords(const amd_decoder *d)
{
    const amd_inst *out = d->out;
    unsigned words = extra_arguments(d);
    if (!d->gfx10) /* the resource decides; this is the least there can be */
        return words + (has(d, AMD_ROW_GRAD) ? 2 : 1);
    const image_dim *dim = &image_dims[out->dim];
    bool a16 = out->flags & AMD_A16;
    unsigned coordinates = has(d, AMD_ROW_RESINFO) ? 0 : dim->coordinates;
    coordinates += has(d, AMD_ROW_LOD | AMD_ROW_RESINFO) ? 1 : 0;
    words += a16 ? (coordinates + 1) / 2 : coordinates;
    if (has(d, AMD_ROW_GRAD)) {
        /* Halves are packed per direction, three of them into two registers. */
        if (has(d, AMD_ROW_G16))
            words += 2 * ((dim->gradients / 2 + 1u) / 2);
        else
            words += dim->gradients;
    }
    return words;
}

/* The most words of addresses that an operation can have use for. */
static unsigned most_nsa_words(const amd_decoder *d)
{
    unsigned coordinates = has(d, AMD_ROW_SAMPLER | AMD_ROW_LOD) ? 3 : 4;
    unsigned gradients = !has(d, AMD_ROW_GRAD) ? 0 : 6;
    unsigned addresses = extra_arguments(d) + gradients + coordinates + (has(d, AMD_ROW_LOD) ? 1 : 0);
    return (addresses + 2) / 4;
}

/* Ray tracing: always NSA-sized operands, without dmask and dim. */
static bool decode_bvh(amd_decoder *d, unsigned nsa_words)
{
    amd_inst *out = d->out;
    bool a16 = out->flags & AMD_A16, wide = d->row->op == AMD_IMAGE_BVH64_INTERSECT_RAY;
    unsigned addresses = wide ? (a16 ? 9 : 12) : (a16 ? 8 : 11);
    if (out->dmask != 15 || out->dim || amd_bits(d->w1, 21, 5) ||
        (out->flags & ~(uint32_t)(AMD_A16 | AMD_NSA)) != (AMD_UNORM | AMD_R128))
        return false;
    unsigned vaddr = amd_bits(d->w1, 0, 8), dwords = nsa_words ? addresses : addresses > 8 ? 16 : addresses;
    if (!amd_decode_vector(d, &out->vdst, amd_bits(d->w1, 8, 8), AMD_SHAPE_V128) ||
        !amd_decode_scalar(d, &out->src[2], amd_bits(d->w1, 16, 5) * 4, AMD_SHAPE_W128))
        return false;
    out->src_count = 3;
    amd_decode_fixed(d, &out->src[0], AMD_VGPR + vaddr, AMD_KIND_WIDE, dwords);
    return nsa_words ? true : vaddr + dwords <= 256;
}

/* The words of addresses after the instruction. */
static bool take_nsa(amd_decoder *d, unsigned words)
{
    amd_inst *out = d->out;
    if (words == 0)
        return true;
    if (d->count < 8 + 4 * (size_t)words)
        return false;
    for (unsigned i = 0; i < 4 * words; i++)
        out->nsa[i] = d->bytes[8 + i];
    out->flags |= AMD_NSA;
    out->bytes = (uint8_t)(8 + 4 * words);
    return true;
}

bool amd_decode_mimg(amd_decoder *d)
{
    amd_inst *out = d->out;
    unsigned opcode = amd_bits(d->w0, 18, 7) | amd_bits(d->w0, 0, 1) << 7;
    unsigned nsa_words = d->gfx10 ? amd_bits(d->w0, 1, 2) : 0;
    if (!amd_decode_row(d, AMD_MIMG, opcode))
        return false;
    out->dmask = (uint8_t)amd_bits(d->w0, 8, 4);
    flag_if(out, amd_bit(d->w0, 12), AMD_UNORM);
    flag_if(out, amd_bit(d->w0, 13), AMD_GLC);
    bool accumulation = d->gfx9 && amd_bit(d->w0, 16);
    flag_if(out, amd_bit(d->w0, 15), d->gfx9 ? AMD_A16 : AMD_R128);
    flag_if(out, amd_bit(d->w0, 16) && !d->gfx9, AMD_TFE);
    flag_if(out, amd_bit(d->w0, 7) && d->gfx9, AMD_SCOPE);
    flag_if(out, amd_bit(d->w0, 17), AMD_LWE);
    flag_if(out, amd_bit(d->w0, 25), AMD_SLC);
    flag_if(out, amd_bit(d->w1, 31), AMD_D16);
    if (d->gfx10) {
        out->dim = (uint8_t)amd_bits(d->w0, 3, 3);
        flag_if(out, amd_bit(d->w0, 7), AMD_DLC);
        flag_if(out, amd_bit(d->w1, 30), AMD_A16);
    } else {
        flag_if(out, amd_bit(d->w0, 14), AMD_DA);
    }
    if ((out->flags & AMD_D16) && !has(d, AMD_ROW_D16OK))
        return false;
    if (!take_nsa(d, nsa_words))
        return false;
    if (has(d, AMD_ROW_BVH))
        return decode_bvh(d, nsa_words);
    if (out->dim == 7 && has(d, AMD_ROW_SAMPLER | AMD_ROW_LOD)) /* samples are loaded, never filtered */
        return false;

    unsigned vaddr = amd_bits(d->w1, 0, 8), vdata = amd_bits(d->w1, 8, 8), data = data_dwords(d);
    unsigned address = address_dwords(d);
    if (nsa_words > most_nsa_words(d) || (nsa_words && (address < 2 || address > 1 + 4 * nsa_words)))
        return false;
    if (nsa_words == 0 && address > 8)
        address = 16;
    /* 32 or 64 bits, and as many again to compare with. */
    if (has(d, AMD_ROW_ATOMIC) && (has(d, AMD_ROW_CMPSWAP) ? data != 2 && data != 4 : data > 2))
        return false;
    bool load = !has(d, AMD_ROW_STORE | AMD_ROW_ATOMIC);
    unsigned file = accumulation ? AMD_AGPR : AMD_VGPR;
    amd_kind kind = data > 2 ? AMD_KIND_WIDE : data == 2 ? AMD_KIND_B64 : AMD_KIND_B32;
    if (load || (has(d, AMD_ROW_ATOMIC) && (out->flags & AMD_GLC)))
        amd_decode_fixed(d, &out->vdst, file + vdata, kind, data);
    if (!load)
        amd_decode_fixed(d, &out->src[1], file + vdata, kind, data);
    amd_decode_fixed(d, &out->src[0], AMD_VGPR + vaddr, address > 2 ? AMD_KIND_WIDE : AMD_KIND_B32, address);
    if (vdata + data > 256 || (nsa_words == 0 && vaddr + address > 256))
        return false;
    if (!amd_decode_scalar(d, &out->src[2], amd_bits(d->w1, 16, 5) * 4, AMD_SHAPE_W256))
        return false;
    out->src_count = 3;
    unsigned sampler = amd_bits(d->w1, 21, 5);
    if (!has(d, AMD_ROW_SAMPLER))
        return sampler == 0;
    out->src_count = 4;
    return amd_decode_scalar(d, &out->src[3], sampler * 4, AMD_SHAPE_W128);
}
