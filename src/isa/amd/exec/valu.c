/* valu.c: the bodies of vector instructions and the table of their kernels. Compiled once per variant of the
 * host. A body resolves operands to arrays of lanes and hands them to the operation's kernel. There are two
 * kinds:
 *   quick   operands as they are; the result goes straight to its register (valu_quick.h, valu_body.h)
 *   full    modifiers, SDWA, DPP, op_sel, clamp, VGPR indexing, halves of registers: sources are copied first
 *           and the result is merged afterwards (valu_full.h)
 * valu_find() chooses once per instruction. */
#include "isa/amd/exec/eights.h"
#include "isa/amd/exec/floats.h"
#include "isa/amd/exec/ints.h"
#include "isa/amd/exec/lanes.h"
#include "isa/amd/exec/start.h"

#define ALIGNED_ __attribute__((aligned(64)))

#define LANES 32
#include "isa/amd/exec/valu_body.h"
#undef LANES
#define LANES 64
#include "isa/amd/exec/valu_body.h"
#undef LANES

/* How an instruction with a row is executed. */
typedef struct valu_way {
    bool modified; /* sources have minus signs or bars */
    bool full;     /* as they or anything else needs */
    bool special;  /* full for another reason */
    bool low;
} valu_way;

static valu_way valu_way_of(amd_target target, const lanes_row *row, const amd_inst *inst)
{
    bool clamp = inst->flags & AMD_CLAMP;
    bool packed =
        row->flags & (LANES_PACKED | LANES_MIX) || row->src[0] == LANES_P16 || row->src[0] == LANES_PF16;
    bool plain_packed =
        inst->op_sel == 0 && inst->op_sel_hi == 7 && !inst->neg && !inst->neg_hi && !(row->flags & LANES_MIX);
    /* The clamp bit of an integer result without a saturating row has nothing to do: conversions, minima. */
    bool modified = inst->neg || inst->abs;
    bool full = inst->form != AMD_PLAIN || inst->omod || clamp ||
                (packed ? !plain_packed : inst->op_sel != 0) || row->flags & LANES_KEEP ||
                (packed && modified);
    bool low = lanes_is_16(row->dst) && lanes_keeps_half(target, inst->op);
    for (unsigned k = 0; packed && k < inst->src_count; k++)
        full |= inst->src[k].code < AMD_VGPR; /* constants have their own rules there */
    return (valu_way){ .modified = modified, .full = full || modified, .special = full, .low = low };
}

static amd_body valu_find(amd_target target, unsigned lanes, const amd_inst *inst)
{
    if (inst->op >= AMD_OP_COUNT)
        return NULL;
    const lanes_row *row = lanes == 32 ? &rows_32[inst->op] : &rows_64[inst->op];
    if (!row->kernel)
        return lanes == 32 ? special_32(target, inst) : special_64(target, inst);
    valu_way way = valu_way_of(target, row, inst);
    if (way.full)
        return lanes == 32 ? full_32 : full_64;
    if (way.low)
        return lanes == 32 ? quick_find_low_32(inst) : quick_find_low_64(inst);
    return lanes == 32 ? quick_find_32(inst) : quick_find_64(inst);
}

/* --- direct entries (direct.h) -------------------------------------------------------------------------- */

/* The place of source k; sets its bit in *shape if it is a scalar. */
static bool valu_direct_source(const amd_inst *inst, unsigned lanes, unsigned k, unsigned type,
                               unsigned *shape, amd_direct *out)
{
    unsigned code = inst->src[k].code;
    if (type == LANES_MASK) {
        out->src[k] = amd_direct_sgpr(code);
        return code < AMD_NULL;
    }
    if (code >= AMD_VGPR) {
        out->src[k] = (code - AMD_VGPR) * lanes * 4;
        return true;
    }
    *shape |= 1u << k;
    if (lanes_is_wide(type) || !VALU_PLAIN_(code))
        return false;
    if (code < AMD_INT_0)
        out->src[k] = amd_direct_sgpr(code);
    else
        out->src[k] = offsetof(amd_wave, zero);
    if (code >= AMD_INT_0)
        out->k[k] = code == AMD_LITERAL ? inst->literal : (uint32_t)lanes_inline[code - AMD_INT_0];
    return true;
}

/* Where a mask goes. */
static bool valu_direct_mask(amd_target target, unsigned code, uint32_t *out)
{
    *out = amd_direct_sgpr(code);
    if (code == AMD_NULL && target != AMD_GFX803)
        *out = offsetof(amd_wave, unread);
    return code < AMD_INT_0 && (code != AMD_NULL || target != AMD_GFX803) && code != AMD_EXEC_HI;
}

/* An entry for a source with modifiers: what it gives is a vector register for the entry after it. */
static bool valu_direct_modify(amd_target target, unsigned lanes, const amd_inst *inst, unsigned k,
                               const lanes_row *row, unsigned *shape, const amd_direct *main, amd_direct *out)
{
    bool scalar = *shape >> k & 1;
    *out = *main;
    out->src[0] = main->src[k];
    out->k[0] = scalar ? main->k[k] : 0;
    out->k[1] = inst->abs >> k & 1 ? 0x7fffffffu : UINT32_MAX;
    out->k[2] = inst->neg >> k & 1 ? 0x80000000u : 0u;
    out->d = ((uint32_t)amd_start_rows(target) - AMD_DIRECT_ROWS + k) * lanes * 4;
    out->run = LANES_PASTE(valu_direct, modify, LANES_VARIANT)(lanes, scalar);
    *shape &= ~(1u << k);
    return !lanes_is_wide(row->src[k]) && row->src[k] != LANES_MASK;
}

static unsigned valu_direct(amd_target target, unsigned lanes, const amd_inst *inst, amd_direct *out)
{
    if (inst->op >= AMD_OP_COUNT)
        return 0;
    const lanes_row *row = lanes == 32 ? &rows_32[inst->op] : &rows_64[inst->op];
    if (!row->kernel)
        return 0;
    valu_way way = valu_way_of(target, row, inst);
    const amd_run *runs = LANES_PASTE(valu_direct, int, LANES_VARIANT)(lanes, inst->op);
    if (!runs)
        runs = LANES_PASTE(valu_direct, float, LANES_VARIANT)(lanes, inst->op);
    if (!runs || way.special || way.low)
        return 0;
    unsigned shape = 0, count = 0;
    bool acc = row->flags & LANES_ACC, good = true;
    amd_direct main = *out;
    for (unsigned k = 0; k < row->sources; k++)
        if (!(k == 2 && acc))
            good &= valu_direct_source(inst, lanes, k, row->src[k], &shape, &main);
    for (unsigned k = 0; k < row->sources; k++) {
        if (!((inst->neg | inst->abs) >> k & 1) || (k == 2 && acc))
            continue;
        good &= valu_direct_modify(target, lanes, inst, k, row, &shape, &main, &out[count]);
        main.src[k] = out[count++].d;
    }
    if (row->flags & LANES_COMPARE)
        good &= valu_direct_mask(target, inst->sdst.code, &main.d) &&
                (!(row->flags & LANES_EXEC) || inst->sdst.code == AMD_EXEC_LO);
    else
        main.d = (inst->vdst.code - AMD_VGPR) * lanes * 4;
    if (acc)
        main.src[2] = main.d;
    if (row->flags & LANES_CARRY)
        good &= valu_direct_mask(target, inst->sdst.code, &main.k[3]);
    main.run = runs[shape];
    out[count] = main;
    return good && main.run != NULL ? count + 1 : 0;
}

static bool valu_has(amd_op op)
{
    amd_inst inst = { .op = (uint16_t)op };
    return rows_64[op].kernel || special_64(AMD_GFX1030, &inst);
}

#define VARIANT_STRING_(x) #x
#define VARIANT_STRING(x) VARIANT_STRING_(x)
#define VARIANT_NAME_(x) lanes_variant_##x
#define VARIANT_NAME(x) VARIANT_NAME_(x)
const lanes_variant VARIANT_NAME(LANES_VARIANT) = { VARIANT_STRING(LANES_VARIANT), valu_find, valu_has,
                                                    valu_direct };
