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

#define ALIGNED_ __attribute__((aligned(64)))

#define LANES 32
#include "isa/amd/exec/valu_body.h"
#undef LANES
#define LANES 64
#include "isa/amd/exec/valu_body.h"
#undef LANES

static amd_body valu_find(amd_target target, unsigned lanes, const amd_inst *inst)
{
    if (inst->op >= AMD_OP_COUNT)
        return NULL;
    const lanes_row *row = lanes == 32 ? &rows_32[inst->op] : &rows_64[inst->op];
    if (!row->kernel)
        return lanes == 32 ? special_32(target, inst) : special_64(target, inst);
    bool clamp = inst->flags & AMD_CLAMP;
    bool packed =
        row->flags & (LANES_PACKED | LANES_MIX) || row->src[0] == LANES_P16 || row->src[0] == LANES_PF16;
    bool plain_packed =
        inst->op_sel == 0 && inst->op_sel_hi == 7 && !inst->neg && !inst->neg_hi && !(row->flags & LANES_MIX);
    /* The clamp bit of an integer result without a saturating row has nothing to do: conversions, minima. */
    bool full = inst->form != AMD_PLAIN || inst->neg || inst->abs || inst->omod || clamp ||
                (packed ? !plain_packed : inst->op_sel != 0) || row->flags & LANES_KEEP;
    bool low = lanes_is_16(row->dst) && lanes_keeps_half(target, inst->op);
    for (unsigned k = 0; packed && k < inst->src_count; k++)
        full |= inst->src[k].code < AMD_VGPR; /* constants have their own rules there */
    if (full)
        return lanes == 32 ? full_32 : full_64;
    if (low)
        return lanes == 32 ? quick_find_low_32(inst) : quick_find_low_64(inst);
    return lanes == 32 ? quick_find_32(inst) : quick_find_64(inst);
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
const lanes_variant VARIANT_NAME(LANES_VARIANT) = { VARIANT_STRING(LANES_VARIANT), valu_find, valu_has };
