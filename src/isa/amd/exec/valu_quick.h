/* valu_quick.h: the bodies of the common case: every lane active, no modifiers, sources in vector registers
 * except perhaps the first; part of valu_body.h. All other cases use the general body; a partial EXEC selects
 * it at run time. A body is stamped per shape, so that only the operation's kernel varies at run time. */

#ifndef VALU_QUICK_ONCE
#define VALU_QUICK_ONCE
enum { THIRD_NONE, THIRD_VGPR, THIRD_ACC, THIRD_MASK };
/* Codes whose 32 bits need no look at the target or the queue. */
#define VALU_PLAIN_(code)                                                                                     \
    (!((code) >= AMD_SHARED_BASE && (code) < AMD_FLOAT) && !((code) >= AMD_VCCZ && (code) <= AMD_LDS_DIRECT))
#endif

/* The value of a scalar register or a constant that VALU_PLAIN_() allows. */
static inline uint32_t NAME(plain)(const amd_wave *w, const amd_inst *inst, unsigned code)
{
    return code < AMD_INT_0      ? w->sgpr[code]
           : code == AMD_LITERAL ? inst->literal
                                 : (uint32_t)lanes_inline[code - AMD_INT_0];
}

__attribute__((always_inline)) static inline void NAME(quick)(amd_wave *w, const amd_inst *inst,
                                                              unsigned sources, unsigned third, bool scalar,
                                                              lanes_env env, bool carry, bool low)
{
    if (__builtin_expect(NAME(exec)(w) != FULL_EXEC_ || w->gpr_idx_mode, 0)) {
        NAME(any)(w, inst, low);
        return;
    }
    const lanes_row *row = &NAME(rows)[inst->op];
    uint32_t t[LANES] ALIGNED_, m[LANES] ALIGNED_;
    uint32_t *d = NAME(vgpr)(w, inst->vdst.code);
    const uint32_t *a = t;
    if (scalar)
        NAME(broadcast)(t, NAME(plain)(w, inst, inst->src[0].code));
    else
        a = NAME(vgpr)(w, inst->src[0].code);
    const uint32_t *b = sources > 1 ? NAME(vgpr)(w, inst->src[1].code) : a;
    const uint32_t *c = a;
    if (third == THIRD_VGPR)
        c = NAME(vgpr)(w, inst->src[2].code);
    else if (third == THIRD_ACC)
        c = d;
    if (third == THIRD_MASK) {
        NAME(spread)(m, NAME(read_mask)(w, inst->src[2].code));
        c = m;
    }
    const uint32_t *mask = low ? lanes_low : lanes_ones;
    if (env)
        lanes_env_need(w, env);
    uint64_t bits = row->kernel(d, a, b, c, mask, w);
    if (carry)
        NAME(write_mask)(w, inst->sdst.code, bits);
}

/* Scalar registers and constants anywhere; sources of 64 or 16 bits are vector registers. */
__attribute__((always_inline)) static inline void NAME(words)(amd_wave *w, const amd_inst *inst,
                                                              unsigned third, lanes_env env)
{
    if (__builtin_expect(NAME(exec)(w) != FULL_EXEC_ || w->gpr_idx_mode, 0)) {
        NAME(any)(w, inst, false);
        return;
    }
    uint32_t t[3][LANES] ALIGNED_;
    uint32_t *d = NAME(vgpr)(w, inst->vdst.code);
    const uint32_t *s[3] = { d, d, d };
    for (unsigned k = 0; k < (third == THIRD_VGPR ? 3 : 2); k++) {
        unsigned code = inst->src[k].code;
        s[k] = code >= AMD_VGPR ? NAME(vgpr)(w, code) : t[k];
        if (code < AMD_VGPR)
            NAME(broadcast)(t[k], NAME(plain)(w, inst, code));
    }
    if (third == THIRD_MASK) {
        NAME(spread)(t[2], NAME(read_mask)(w, inst->src[2].code));
        s[2] = t[2];
    }
    if (env)
        lanes_env_need(w, env);
    NAME(rows)[inst->op].kernel(d, s[0], s[1], s[2], lanes_ones, w);
}

/* A compare of 32-bit operands. */
static void NAME(compare_words)(amd_wave *w, const amd_inst *inst)
{
    if (__builtin_expect(w->gpr_idx_mode, 0)) {
        NAME(full)(w, inst);
        return;
    }
    const lanes_row *row = &NAME(rows)[inst->op];
    uint32_t t[2][LANES] ALIGNED_;
    const uint32_t *s[2];
    for (unsigned k = 0; k < 2; k++) {
        unsigned code = inst->src[k].code;
        s[k] = code >= AMD_VGPR ? NAME(vgpr)(w, code) : t[k];
        if (code < AMD_VGPR)
            NAME(broadcast)(t[k], NAME(plain)(w, inst, code));
    }
    if (row->env)
        lanes_env_need(w, (lanes_env)row->env);
    uint64_t bits = row->kernel(NULL, s[0], s[1], s[1], lanes_ones, w) & NAME(exec)(w);
    NAME(write_mask)(w, inst->sdst.code, bits);
    if (row->flags & LANES_EXEC)
        NAME(write_mask)(w, AMD_EXEC_LO, bits);
}

#define QUICK_(name, sources, third, scalar, env, carry)                                                      \
    static void name(amd_wave *w, const amd_inst *inst)                                                       \
    {                                                                                                         \
        NAME(quick)(w, inst, sources, third, scalar, env, carry, false);                                      \
    }
#define QUICK_ENVS_(shape, sources, third, scalar)                                                            \
    QUICK_(NAME(shape##_none), sources, third, scalar, LANES_ENV_NONE, false)                                 \
    QUICK_(NAME(shape##_f32), sources, third, scalar, LANES_ENV_F32, false)                                   \
    QUICK_(NAME(shape##_flush), sources, third, scalar, LANES_ENV_FLUSH, false)                               \
    QUICK_(NAME(shape##_f64), sources, third, scalar, LANES_ENV_F64, false)                                   \
    QUICK_(NAME(shape##_trans), sources, third, scalar, LANES_ENV_TRANS, false)                               \
    QUICK_(NAME(shape##_exact), sources, third, scalar, LANES_ENV_EXACT, false)
QUICK_ENVS_(quick_1, 1, THIRD_NONE, false)
QUICK_ENVS_(quick_2, 2, THIRD_NONE, false)
QUICK_ENVS_(quick_3, 2, THIRD_VGPR, false)
QUICK_ENVS_(quick_acc, 2, THIRD_ACC, false)
QUICK_ENVS_(quick_1s, 1, THIRD_NONE, true)
QUICK_ENVS_(quick_2s, 2, THIRD_NONE, true)
QUICK_ENVS_(quick_3s, 2, THIRD_VGPR, true)
QUICK_ENVS_(quick_accs, 2, THIRD_ACC, true)
QUICK_(NAME(quick_select), 2, THIRD_MASK, false, LANES_ENV_NONE, false)
QUICK_(NAME(quick_selects), 2, THIRD_MASK, true, LANES_ENV_NONE, false)
QUICK_(NAME(quick_carry), 2, THIRD_NONE, false, LANES_ENV_NONE, true)
QUICK_(NAME(quick_carrys), 2, THIRD_NONE, true, LANES_ENV_NONE, true)
QUICK_(NAME(quick_carry_in), 2, THIRD_MASK, false, LANES_ENV_NONE, true)
QUICK_(NAME(quick_carry_ins), 2, THIRD_MASK, true, LANES_ENV_NONE, true)

#define WORDS_(name, third, env)                                                                              \
    static void name(amd_wave *w, const amd_inst *inst)                                                       \
    {                                                                                                         \
        NAME(words)(w, inst, third, env);                                                                     \
    }
#define WORDS_ENVS_(shape, third)                                                                             \
    WORDS_(NAME(shape##_none), third, LANES_ENV_NONE)                                                         \
    WORDS_(NAME(shape##_f32), third, LANES_ENV_F32)                                                           \
    WORDS_(NAME(shape##_flush), third, LANES_ENV_FLUSH)                                                       \
    WORDS_(NAME(shape##_f64), third, LANES_ENV_F64)                                                           \
    WORDS_(NAME(shape##_trans), third, LANES_ENV_TRANS)                                                       \
    WORDS_(NAME(shape##_exact), third, LANES_ENV_EXACT)
WORDS_ENVS_(words_2, THIRD_NONE)
WORDS_ENVS_(words_3, THIRD_VGPR)
WORDS_ENVS_(words_acc, THIRD_ACC)
WORDS_(NAME(words_select), THIRD_MASK, LANES_ENV_NONE)

#define QUICK_ROW_(shape)                                                                                     \
    {                                                                                                         \
        NAME(shape##_none), NAME(shape##_f32), NAME(shape##_flush), NAME(shape##_f64), NAME(shape##_trans),   \
            NAME(shape##_exact),                                                                              \
    }
static const amd_body NAME(quick_bodies)[2][4][LANES_ENV_COUNT] = {
    { QUICK_ROW_(quick_1), QUICK_ROW_(quick_2), QUICK_ROW_(quick_3), QUICK_ROW_(quick_acc) },
    { QUICK_ROW_(quick_1s), QUICK_ROW_(quick_2s), QUICK_ROW_(quick_3s), QUICK_ROW_(quick_accs) },
};
static const amd_body NAME(words_bodies)[3][LANES_ENV_COUNT] = { QUICK_ROW_(words_2), QUICK_ROW_(words_3),
                                                                 QUICK_ROW_(words_acc) };
static const amd_body NAME(quick_masked)[2][3] = {
    { NAME(quick_select), NAME(quick_carry), NAME(quick_carry_in) },
    { NAME(quick_selects), NAME(quick_carrys), NAME(quick_carry_ins) },
};
/* 16-bit results that leave the upper half of the register alone. */
#define QUICK_LOW_(name, sources, third, env)                                                                 \
    static void name(amd_wave *w, const amd_inst *inst)                                                       \
    {                                                                                                         \
        NAME(quick)(w, inst, sources, third, false, env, false, true);                                        \
    }
#define QUICK_LOWS_(shape, sources, third)                                                                    \
    QUICK_LOW_(NAME(shape##_low_none), sources, third, LANES_ENV_NONE)                                        \
    QUICK_LOW_(NAME(shape##_low_f64), sources, third, LANES_ENV_F64)                                          \
    QUICK_LOW_(NAME(shape##_low_exact), sources, third, LANES_ENV_EXACT)
QUICK_LOWS_(quick_1, 1, THIRD_NONE)
QUICK_LOWS_(quick_2, 2, THIRD_NONE)
QUICK_LOWS_(quick_3, 2, THIRD_VGPR)
QUICK_LOWS_(quick_acc, 2, THIRD_ACC)
static const amd_body NAME(quick_lows)[4][3] = {
    { NAME(quick_1_low_none), NAME(quick_1_low_f64), NAME(quick_1_low_exact) },
    { NAME(quick_2_low_none), NAME(quick_2_low_f64), NAME(quick_2_low_exact) },
    { NAME(quick_3_low_none), NAME(quick_3_low_f64), NAME(quick_3_low_exact) },
    { NAME(quick_acc_low_none), NAME(quick_acc_low_f64), NAME(quick_acc_low_exact) },
};
#undef QUICK_LOW_
#undef QUICK_LOWS_
#undef QUICK_
#undef QUICK_ENVS_
#undef QUICK_ROW_
#undef WORDS_
#undef WORDS_ENVS_

/* The body for operands without modifiers and a 16-bit result that keeps the upper half. */
static amd_body NAME(quick_find_low)(const amd_inst *inst)
{
    const lanes_row *row = &NAME(rows)[inst->op];
    bool acc = row->flags & LANES_ACC, mask = row->src[2] == LANES_MASK;
    bool exact = row->env == LANES_ENV_EXACT, f64 = row->env == LANES_ENV_F64;
    bool quick = row->sources > 0 && (row->env == LANES_ENV_NONE || exact || f64);
    for (unsigned k = 0; k < row->sources; k++)
        quick &= inst->src[k].code >= AMD_VGPR || (k == 2 && acc);
    if (!quick || mask || row->flags & LANES_CARRY)
        return NAME(general_low);
    return NAME(quick_lows)[acc ? 3 : row->sources - 1][exact ? 2 : f64];
}

/* Sources that NAME(words) takes. */
static bool NAME(are_words)(const amd_inst *inst, const lanes_row *row)
{
    bool acc = row->flags & LANES_ACC;
    for (unsigned k = 0; k < row->sources - (unsigned)acc; k++) {
        unsigned code = inst->src[k].code, type = row->src[k];
        bool word = !lanes_is_wide(type) && !lanes_is_16(type) && type != LANES_P16 && type != LANES_PF16;
        if (type != LANES_MASK && code < AMD_VGPR && (!word || !VALU_PLAIN_(code)))
            return false;
    }
    return true;
}

/* The body for operands without modifiers. */
static amd_body NAME(quick_find)(const amd_inst *inst)
{
    const lanes_row *row = &NAME(rows)[inst->op];
    bool acc = row->flags & LANES_ACC, carry = row->flags & LANES_CARRY, mask = row->src[2] == LANES_MASK;
    bool scalar = inst->src[0].code < AMD_VGPR, others = false;
    bool words = NAME(are_words)(inst, row) && row->sources > 1 && !carry;
    if (row->flags & LANES_COMPARE)
        return words && !lanes_is_wide(row->src[0]) ? NAME(compare_words) : NAME(compare);
    for (unsigned k = 1; k < row->sources; k++)
        others |= inst->src[k].code < AMD_VGPR && !(k == 2 && (acc || mask));
    if (others && words && mask)
        return NAME(words_select);
    if (others)
        return words ? NAME(words_bodies)[acc ? 2 : row->sources - 2][row->env] : NAME(general);
    if (scalar && (!VALU_PLAIN_(inst->src[0].code) || lanes_is_wide(row->src[0]) || lanes_is_16(row->src[0])))
        return NAME(general);
    if (carry && (row->env != LANES_ENV_NONE || (row->sources == 3 && !mask)))
        return NAME(general);
    if (carry || mask)
        return NAME(quick_masked)[scalar][!carry ? 0 : mask ? 2 : 1];
    return NAME(quick_bodies)[scalar][acc ? 3 : row->sources - 1][row->env];
}
