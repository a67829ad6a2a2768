/* print_memory.c: memory, image and export instructions as text. */
#include "isa/amd/print.h"

static void operand(amd_printer *p, const amd_operand *value)
{
    if (value->code == AMD_NO_OPERAND)
        return;
    amd_print_next(p);
    amd_print_operand(p, value);
}

static void word(amd_printer *p, const char *text)
{
    amd_print_next(p);
    amd_put(p, text);
}

static void flag(amd_printer *p, uint32_t bit, const char *text)
{
    if (p->inst->flags & bit)
        amd_put(p, text);
}

static void smem(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    operand(p, &inst->sdst);
    if (p->row->flags & AMD_ROW_PROBE) {
        amd_print_next(p);
        amd_print_immediate(p, inst->simm);
    }
    operand(p, &inst->src[0]);
    operand(p, &inst->src[1]);
    if (inst->flags & AMD_IMM_OFFSET) {
        if (inst->flags & AMD_SOFFSET_REG)
            amd_put(p, " offset:");
        else
            amd_print_next(p);
        if (inst->offset < 0)
            amd_putf(p, "-0x%x", (unsigned)-inst->offset);
        else
            amd_putf(p, "0x%x", (unsigned)inst->offset);
    }
    flag(p, AMD_GLC, " glc");
    flag(p, AMD_DLC, " dlc");
}

/* The bits that say how caches are used. CDNA 3 has names of its own for them. */
static void cache_bits(amd_printer *p)
{
    bool scopes = p->target == AMD_GFX942;
    flag(p, AMD_GLC, scopes ? " sc0" : " glc");
    flag(p, AMD_SLC, scopes ? " nt" : " slc");
    flag(p, AMD_DLC, " dlc");
    flag(p, AMD_SCOPE, scopes ? " sc1" : " scc");
}

static void ds_swizzle(amd_printer *p, unsigned offset);

static void ds(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    operand(p, &inst->vdst);
    for (unsigned i = 0; i < 3; i++)
        operand(p, &inst->src[i]);
    if (p->row->flags & AMD_ROW_OFFSET2) {
        if (inst->offset)
            amd_putf(p, " offset0:%d", inst->offset);
        if (inst->simm)
            amd_putf(p, " offset1:%d", inst->simm);
    } else if (p->row->flags & AMD_ROW_SWIZZLE) {
        ds_swizzle(p, (unsigned)inst->offset);
    } else if (inst->offset) {
        amd_putf(p, " offset:%d", inst->offset);
    }
    flag(p, AMD_GDS, " gds");
}

/* Prints the offset of ds_swizzle_b32 by its meaning. */
static void ds_swizzle(amd_printer *p, unsigned offset)
{
    if (offset == 0)
        return;
    amd_put(p, " offset:");
    unsigned and_mask = offset & 31, or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
    if ((offset & 0xff00) == 0x8000) {
        amd_putf(p, "swizzle(QUAD_PERM,%u,%u,%u,%u)", offset & 3, offset >> 2 & 3, offset >> 4 & 3,
                 offset >> 6 & 3);
    } else if (offset >> 15) {
        amd_putf(p, "%u", offset);
    } else if (or_mask == 0 && and_mask == 31 && (xor_mask & (xor_mask - 1)) == 0 && xor_mask) {
        amd_putf(p, "swizzle(SWAP,%u)", xor_mask);
    } else if (or_mask == 0 && and_mask == 31 && xor_mask > 1 && (xor_mask & (xor_mask + 1)) == 0) {
        amd_putf(p, "swizzle(REVERSE,%u)", xor_mask + 1);
    } else {
        unsigned group = 32 - and_mask;
        if (group > 1 && (group & (group - 1)) == 0 && or_mask < group && xor_mask == 0) {
            amd_putf(p, "swizzle(BROADCAST,%u,%u)", group, or_mask);
            return;
        }
        amd_put(p, "swizzle(BITMASK_PERM,\"");
        for (unsigned mask = 16; mask; mask >>= 1) {
            unsigned zero = ((0 & and_mask) | or_mask) ^ xor_mask,
                     one = ((mask & and_mask) | or_mask) ^ xor_mask;
            bool from_0 = zero & mask, from_1 = one & mask;
            amd_put(p, from_0 == from_1 ? (from_0 ? "1" : "0") : from_0 ? "i" : "p");
        }
        amd_put(p, "\")");
    }
}

static void flat(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    bool scratch = inst->format == AMD_SCRATCH;
    operand(p, &inst->vdst);
    if (inst->src[0].code != AMD_NO_OPERAND)
        operand(p, &inst->src[0]);
    else if (scratch)
        word(p, "off");
    operand(p, &inst->src[1]);
    if (inst->format != AMD_FLAT) {
        if (inst->flags & AMD_SADDR)
            operand(p, &inst->src[2]);
        else
            word(p, "off");
    }
    if (inst->offset)
        amd_putf(p, " offset:%d", inst->offset);
    cache_bits(p);
    flag(p, AMD_LDS, " lds");
}

static void buffer(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    if (p->row->flags & AMD_ROW_BARE && inst->format == AMD_MUBUF) {
        cache_bits(p);
        return;
    }
    const amd_operand *data = inst->src[1].code != AMD_NO_OPERAND ? &inst->src[1] : &inst->vdst;
    bool store_lds = p->row->flags & AMD_ROW_LDSOUT && inst->format == AMD_MUBUF;
    operand(p, data);
    if (inst->src[0].code != AMD_NO_OPERAND)
        operand(p, &inst->src[0]);
    else if (!store_lds)
        word(p, "off");
    operand(p, &inst->src[2]);
    operand(p, &inst->src[3]);
    if (inst->format == AMD_MTBUF)
        amd_print_buffer_format(p, (unsigned)inst->simm);
    flag(p, AMD_IDXEN, " idxen");
    flag(p, AMD_OFFEN, " offen");
    if (inst->offset)
        amd_putf(p, " offset:%d", inst->offset);
    if (store_lds)
        flag(p, AMD_LDS, " lds");
    cache_bits(p);
    flag(p, AMD_TFE, " tfe");
    if (!store_lds)
        flag(p, AMD_LDS, " lds");
}

static void export(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    amd_put(p, " ");
    amd_print_export_target(p, (unsigned)inst->simm);
    p->has_operand = false;
    for (unsigned i = 0; i < 4; i++) {
        unsigned source = inst->flags & AMD_COMPR ? i / 2 : i;
        if (inst->dmask >> i & 1) {
            amd_print_next(p);
            amd_print_register(p, inst->src[source].code, 1);
        } else {
            word(p, "off");
        }
    }
    flag(p, AMD_DONE, " done");
    flag(p, AMD_COMPR, " compr");
    flag(p, AMD_VM, " vm");
}

void amd_print_memory(amd_printer *p)
{
    switch (p->inst->format) {
    case AMD_SMEM:
        smem(p);
        break;
    case AMD_DS:
        ds(p);
        break;
    case AMD_MUBUF:
    case AMD_MTBUF:
        buffer(p);
        break;
    case AMD_EXP:
        export(p);
        break;
    default:
        flat(p);
        break;
    }
}

void amd_print_image(amd_printer *p)
{
    const amd_inst *inst = p->inst;
    bool ray = p->row->flags & AMD_ROW_BVH;
    operand(p, inst->src[1].code != AMD_NO_OPERAND ? &inst->src[1] : &inst->vdst);
    amd_print_next(p);
    if (inst->flags & AMD_NSA) {
        amd_putf(p, "[v%u", inst->src[0].code - AMD_VGPR);
        for (unsigned i = 1; i < inst->src[0].dwords; i++)
            amd_putf(p, ", v%u", inst->nsa[i - 1]);
        amd_put(p, "]");
    } else {
        amd_print_operand(p, &inst->src[0]);
    }
    operand(p, &inst->src[2]);
    operand(p, &inst->src[3]);
    if (!ray) {
        if (inst->dmask)
            amd_putf(p, " dmask:0x%x", inst->dmask);
        if (p->gfx10)
            amd_putf(p, " dim:SQ_RSRC_IMG_%s", amd_image_dim_name(inst->dim));
        flag(p, AMD_UNORM, " unorm");
        flag(p, AMD_GLC, " glc");
        flag(p, AMD_SLC, " slc");
        flag(p, AMD_DLC, " dlc");
        flag(p, AMD_SCOPE, " scc");
        flag(p, AMD_R128, " r128");
    }
    flag(p, AMD_A16, " a16");
    if (ray)
        return;
    flag(p, AMD_TFE, " tfe");
    flag(p, AMD_LWE, " lwe");
    flag(p, AMD_DA, " da");
    flag(p, AMD_D16, " d16");
}
