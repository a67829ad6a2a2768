/* valu.c: the bodies of vector instructions and the table of their kernels. Compiled once per variant of the host.
 * A body resolves operands to arrays of lanes and hands them to the operation's kernel. There are two kinds:
 *   quick   sources are registers, constants or scalars as they are; the result goes straight to its register
 *   full    modifiers, SDWA, DPP, op_sel, clamp, VGPR indexing, halves of registers: sources are copied first and the
 *           result is merged afterwards
 * valu_find() chooses; what the instruction looks like is not asked again. */
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
    bool compare = row->flags & LANES_COMPARE;
    bool clamp = inst->flags & AMD_CLAMP;
    bool packed = row->flags & (LANES_PACKED | LANES_MIX) || row->src[0] == LANES_P16 || row->src[0] == LANES_PF16;
    bool plain_packed = inst->op_sel == 0 && inst->op_sel_hi == 7 && !inst->neg && !inst->neg_hi &&
                        !(row->flags & LANES_MIX);
    /* The clamp bit of an integer result without a saturating row has nothing to do: conversions, minima. */
    bool full = inst->form != AMD_PLAIN || inst->neg || inst->abs || inst->omod || clamp ||
                (packed ? !plain_packed : inst->op_sel != 0) ||
                (lanes_is_16(row->dst) && (amd_target_is_gfx10(target) || row->flags & LANES_KEEP));
    for (unsigned k = 0; packed && k < inst->src_count; k++)
        full |= inst->src[k].code < AMD_VGPR; /* constants have their own rules there */
    if (full)
        return lanes == 32 ? full_32 : full_64;
    if (compare)
        return lanes == 32 ? row->env ? compare_env_32 : compare_32 : row->env ? compare_env_64 : compare_64;
    bool wide = lanes_is_wide(row->src[0]) || lanes_is_wide(row->src[1]) || lanes_is_wide(row->src[2]);
    bool mask = row->src[2] == LANES_MASK;
    if (wide || mask || row->flags & LANES_CARRY)
        return lanes == 32 ? general_32 : general_64;
    unsigned shape = row->flags & LANES_ACC ? 3u : row->sources - 1u;
    return (lanes == 32 ? quick_bodies_32 : quick_bodies_64)[shape][row->env != LANES_ENV_NONE];
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
