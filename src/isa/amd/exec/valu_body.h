/* valu_body.h: the bodies for LANES lanes; part of valu.c. */

#define NAME(x) LANES_BODY_(x, LANES)
#ifndef LANES_BODY_
#define LANES_BODY_(x, n) LANES_BODY2_(x, n)
#define LANES_BODY2_(x, n) x##_##n
#define FULL_EXEC_ (LANES == 64 ? UINT64_MAX : UINT64_C(0xffffffff))
#endif

/* --- the table ------------------------------------------------------------------------------------------ */

#define LANES_STAMP_PROTOTYPES
#include "isa/amd/exec/valu_defs.h"
#undef LANES_STAMP_PROTOTYPES

static const lanes_row NAME(rows)[AMD_OP_COUNT] = {
#include "isa/amd/exec/valu_defs.h"
};

/* The rows that replace others when the clamp bit is set and the result is an integer. */
#define LANES_SAT_ROWS
static const lanes_row NAME(sat)[AMD_OP_COUNT] = {
#include "isa/amd/exec/valu_defs.h"
};
#undef LANES_SAT_ROWS

/* --- operands ------------------------------------------------------------------------------------------- */

static inline uint32_t *NAME(vgpr)(const amd_wave *w, unsigned code)
{
    return (uint32_t *)__builtin_assume_aligned(w->vgpr + (size_t)(code - AMD_VGPR) * LANES, 64);
}

static inline uint64_t NAME(exec)(const amd_wave *w)
{
    if (LANES == 32)
        return w->sgpr[AMD_EXEC_LO];
    uint64_t exec;
    memcpy(&exec, &w->sgpr[AMD_EXEC_LO], sizeof exec);
    return exec;
}

static inline void NAME(broadcast)(uint32_t *t, uint32_t value)
{
    for (unsigned i = 0; i < LANES; i++)
        t[i] = value;
}

/* A bit per lane becomes 0 or all ones per lane. */
static inline void NAME(spread)(uint32_t *t, uint64_t bits)
{
    uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    for (unsigned i = 0; i < 32; i++)
        t[i] = 0u - (low >> i & 1u);
    for (unsigned i = 32; i < LANES; i++)
        t[i] = 0u - (high >> (i - 32) & 1u);
}

static inline uint64_t NAME(read_mask)(const amd_wave *w, unsigned code)
{
    if (code >= AMD_INT_0)
        return code == AMD_INT_0 ? 0 : FULL_EXEC_; /* 0 and -1 */
    if (LANES == 64 && code == AMD_NULL)
        return 0; /* EXEC follows it */
    /* cppcheck-suppress arrayIndexOutOfBoundsCond ; the decoder lets pairs begin on even numbers only */
    return LANES == 32 ? w->sgpr[code] : w->sgpr[code] | (uint64_t)w->sgpr[code + 1] << 32;
}

static inline void NAME(write_mask)(amd_wave *w, unsigned code, uint64_t bits)
{
    if (code >= AMD_INT_0 || (code == AMD_NULL && w->target != AMD_GFX803))
        return;
    w->sgpr[code] = (uint32_t)bits;
    if (LANES == 64)
        /* cppcheck-suppress arrayIndexOutOfBoundsCond ; as above */
        w->sgpr[code + 1] = (uint32_t)(bits >> 32);
}

/* Any source without modifiers. */
static inline const uint32_t *NAME(any_source)(const amd_wave *w, const amd_inst *inst, unsigned k,
                                               unsigned type, uint32_t *t)
{
    unsigned code = inst->src[k].code;
    if (type == LANES_MASK) {
        NAME(spread)(t, NAME(read_mask)(w, code));
        return t;
    }
    if (code >= AMD_VGPR)
        return NAME(vgpr)(w, code);
    uint64_t value = lanes_scalar(w, inst, code, (lanes_type)type);
    NAME(broadcast)(t, (uint32_t)value);
    if (lanes_is_wide(type))
        NAME(broadcast)(t + LANES, (uint32_t)(value >> 32));
    return t;
}

static void NAME(full)(amd_wave *w, const amd_inst *inst);

/* Any operands without modifiers, any EXEC. `low`: only the lower half of the destination changes. */
__attribute__((always_inline)) static inline void NAME(any)(amd_wave *w, const amd_inst *inst, bool low)
{
    if (__builtin_expect(w->gpr_idx_mode, 0)) {
        NAME(full)(w, inst);
        return;
    }
    const lanes_row *row = &NAME(rows)[inst->op];
    uint32_t t[3][2 * LANES] ALIGNED_, m[LANES] ALIGNED_;
    uint32_t *d = NAME(vgpr)(w, inst->vdst.code);
    const uint32_t *s[3] = { d, d, d };
    for (unsigned k = 0; k < row->sources; k++)
        s[k] = k == 2 && row->flags & LANES_ACC ? d : NAME(any_source)(w, inst, k, row->src[k], t[k]);
    const uint32_t *mask = low ? lanes_low : lanes_ones;
    uint64_t exec = NAME(exec)(w);
    if (exec != FULL_EXEC_) {
        NAME(spread)(m, exec);
        for (unsigned i = 0; low && i < LANES; i++)
            m[i] &= 0xffffu;
        mask = m;
    }
    if (row->env)
        lanes_env_need(w, (lanes_env)row->env);
    uint64_t bits = row->kernel(d, s[0], s[1], s[2], mask, w);
    if (row->flags & LANES_CARRY)
        NAME(write_mask)(w, inst->sdst.code, bits & exec);
}

static void NAME(general)(amd_wave *w, const amd_inst *inst)
{
    NAME(any)(w, inst, false);
}

static void NAME(general_low)(amd_wave *w, const amd_inst *inst)
{
    NAME(any)(w, inst, true);
}

/* Compares write 0 for lanes that are off. gfx10's v_cmpx has EXEC as its destination already. */
static void NAME(compare)(amd_wave *w, const amd_inst *inst)
{
    if (__builtin_expect(w->gpr_idx_mode, 0)) {
        NAME(full)(w, inst);
        return;
    }
    const lanes_row *row = &NAME(rows)[inst->op];
    uint32_t t[2][2 * LANES] ALIGNED_;
    const uint32_t *a = NAME(any_source)(w, inst, 0, row->src[0], t[0]);
    const uint32_t *b = NAME(any_source)(w, inst, 1, row->src[1], t[1]);
    if (row->env)
        lanes_env_need(w, (lanes_env)row->env);
    uint64_t bits = row->kernel(NULL, a, b, b, lanes_ones, w) & NAME(exec)(w);
    NAME(write_mask)(w, inst->sdst.code, bits);
    if (row->flags & LANES_EXEC)
        NAME(write_mask)(w, AMD_EXEC_LO, bits);
}

#include "isa/amd/exec/valu_quick.h"
#include "isa/amd/exec/valu_full.h"
#include "isa/amd/exec/valu_special.h"

#undef NAME
