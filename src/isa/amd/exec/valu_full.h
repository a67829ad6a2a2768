/* valu_full.h: the body for instructions with everything: modifiers, SDWA, DPP, op_sel, clamp, output
 * modifiers, indexed registers, 16-bit results; part of valu_body.h. Sources are copied and changed step by
 * step as the hardware's operand path does it: lane permutation, selection of a part, absolute value and
 * sign. */

/* The VGPR that an operand names once s_set_gpr_idx_on is in force: M0 holds the index and which operands use
 * it. */
static inline unsigned NAME(indexed)(const amd_wave *w, unsigned code, unsigned operand)
{
    if (!w->gpr_idx_mode || !(w->sgpr[AMD_M0] >> (12 + operand) & 1))
        return code;
    unsigned index = code - AMD_VGPR + (w->sgpr[AMD_M0] & 0xff);
    return AMD_VGPR + (index < w->vgpr_count ? index : 0);
}

/* Reads registers or constants into t, without modifiers. */
static void NAME(fetch)(const amd_wave *w, const amd_inst *inst, unsigned k, unsigned type, uint32_t *t)
{
    unsigned code = inst->src[k].code;
    unsigned words = lanes_is_wide(type) ? 2 * LANES : LANES;
    if (type == LANES_MASK) {
        NAME(spread)(t, NAME(read_mask)(w, code));
    } else if (code >= AMD_VGPR) {
        memcpy(t, NAME(vgpr)(w, NAME(indexed)(w, code, k)), words * sizeof *t);
    } else {
        uint64_t value = lanes_scalar(w, inst, code, (lanes_type)type);
        NAME(broadcast)(t, (uint32_t)value);
        if (words > LANES)
            NAME(broadcast)(t + LANES, (uint32_t)(value >> 32));
    }
}

/* Moves values between lanes; returns the lanes that may be written. A lane without a source reads 0
 * (bound_ctrl) or is left alone. */
static uint64_t NAME(permute)(const amd_inst *inst, uint32_t *t, uint64_t exec)
{
    uint8_t map[64];
    uint32_t from[LANES];
    uint64_t live = exec;
    lanes_dpp_map(inst, LANES, map);
    memcpy(from, t, sizeof from);
    bool zero = inst->form == AMD_DPP8 || inst->flags & AMD_BOUND_CTRL;
    for (unsigned i = 0; i < LANES; i++) {
        bool valid = !(map[i] & 0x80) && (inst->flags & AMD_FI || exec >> (map[i] & 63) & 1);
        t[i] = valid ? from[map[i] & 63] : 0;
        if (!valid && !zero)
            live &= ~(UINT64_C(1) << i);
        if (inst->form == AMD_DPP16 &&
            !(inst->dpp.row_mask >> (i / 16 & 3) & 1 && inst->dpp.bank_mask >> (i / 4 & 3) & 1))
            live &= ~(UINT64_C(1) << i);
    }
    return live;
}

/* SDWA: a byte or a word, zero or sign extended. */
static void NAME(select)(const amd_inst *inst, unsigned k, uint32_t *t)
{
    unsigned sel = inst->sdwa.src_sel[k];
    if (sel >= 6)
        return;
    unsigned bits = sel < 4 ? 8 : 16, shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
    bool sext = inst->sext >> k & 1;
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t x = t[i] << (32 - bits - shift);
        t[i] = sext ? (uint32_t)((int32_t)x >> (32 - bits)) : x >> (32 - bits);
    }
}

/* VOP3P: each half of the operand may come from either half of the register and be negated. */
static void NAME(select_packed)(const amd_inst *inst, unsigned k, bool is_float, uint32_t *t)
{
    unsigned low = inst->op_sel >> k & 1 ? 16 : 0, high = inst->op_sel_hi >> k & 1 ? 16 : 0;
    uint32_t sign =
        is_float ? (inst->neg >> k & 1 ? 0x8000u : 0u) | (inst->neg_hi >> k & 1 ? 0x80000000u : 0u) : 0u;
    for (unsigned i = 0; i < LANES; i++)
        t[i] = ((t[i] >> low & 0xffffu) | (t[i] >> high & 0xffffu) << 16) ^ sign;
}

/* v_fma_mix: op_sel_hi says that the source is a half, op_sel which one; neg_hi stands for abs. */
static void NAME(select_mix)(const amd_inst *inst, unsigned k, uint32_t *t)
{
    bool half = inst->op_sel_hi >> k & 1;
    unsigned shift = inst->op_sel >> k & 1 ? 16 : 0;
    uint32_t keep = inst->neg_hi >> k & 1 ? 0x7fffffffu : UINT32_MAX;
    uint32_t flip = inst->neg >> k & 1 ? 0x80000000u : 0u;
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t x = half ? f32_bits(f16_value(t[i] >> shift & 0xffffu)) : t[i];
        t[i] = (x & keep) ^ flip;
    }
}

static void NAME(modify)(const amd_inst *inst, unsigned k, unsigned type, uint32_t *t)
{
    uint32_t sign = lanes_is_16(type) ? 0x8000u : 0x80000000u;
    uint32_t *words = lanes_is_wide(type) ? t + LANES : t;
    uint32_t keep = inst->abs >> k & 1 ? ~sign : UINT32_MAX, flip = inst->neg >> k & 1 ? sign : 0u;
    for (unsigned i = 0; i < LANES; i++)
        words[i] = (words[i] & keep) ^ flip;
}

/* Output modifier and clamp of floating-point results. The modifier counts only where denormals are flushed
 * and IEEE mode is off. */
static void NAME(finish)(amd_wave *w, const amd_inst *inst, unsigned type, uint32_t *t)
{
    static const float factor[4] = { 1.0f, 2.0f, 4.0f, 0.5f };
    bool wide = type == LANES_F64;
    uint32_t flush = type == LANES_F32 ? f32_ftz(w) : f64_ftz(w);
    float scale = flush && !mode_ieee(w) ? factor[inst->omod & 3] : 1.0f;
    bool clamp = inst->flags & AMD_CLAMP, nan_to_zero = w->mode >> 8 & 1;
    if (scale == 1.0f && !clamp)
        return;
    lanes_env_need(w, LANES_ENV_EXACT);
    for (unsigned i = 0; i < LANES; i++) {
        unsigned halves = type == LANES_PF16 ? 2 : 1;
        for (unsigned h = 0; h < halves; h++) {
            double x = wide                ? f64_of((uint64_t)t[i + LANES] << 32 | t[i])
                       : type == LANES_F32 ? (double)f32_of(t[i])
                                           : (double)f16_value(t[i] >> 16 * h & 0xffffu);
            if (x != x && !(clamp && nan_to_zero))
                continue;
            /* Tiny before rounding to a denormal: scaling is exact up to there. */
            double least = wide ? 0x1p-1022 : type == LANES_F32 ? 0x1p-126 : 0;
            bool tiny = flush && __builtin_fabs(x) < least / (double)scale;
            x = tiny ? __builtin_copysign(0.0, x) : x * (double)scale;
            if (clamp)
                x = x > 1.0 ? 1.0 : x > 0 ? x : 0.0;
            if (wide) {
                uint64_t bits = f64_bits(x);
                t[i] = (uint32_t)bits;
                t[i + LANES] = (uint32_t)(bits >> 32);
            } else if (type == LANES_F32) {
                t[i] = f32_bits((float)x);
            } else {
                uint32_t bits = f16_flush(f16_round(f32_bits((float)x), 0), flush);
                t[i] = halves == 2 ? (t[i] & ~(0xffffu << 16 * h)) | bits << 16 * h : bits;
            }
        }
    }
}

/* Where in the register the result goes: `t` gets the whole word to write. */
static void NAME(place)(const amd_wave *w, const amd_inst *inst, const lanes_row *row, const uint32_t *old,
                        uint32_t *t)
{
    if (inst->form == AMD_SDWA && inst->sdwa.dst_sel < 6) {
        unsigned sel = inst->sdwa.dst_sel, bits = sel < 4 ? 8 : 16, shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
        uint32_t field = ((1u << bits) - 1u) << shift;
        for (unsigned i = 0; i < LANES; i++) {
            uint32_t x = t[i] << shift & field;
            bool negative = x >> (shift + bits - 1) & 1;
            uint32_t above = negative && shift + bits < 32 ? UINT32_MAX << (shift + bits) : 0u;
            t[i] = inst->sdwa.dst_unused == 2   ? x | (old[i] & ~field)
                   : inst->sdwa.dst_unused == 1 ? x | above
                                                : x;
        }
        return;
    }
    if (!lanes_is_16(row->dst) || inst->form == AMD_SDWA)
        return;
    bool high = row->flags & LANES_HIGH || (inst->op_sel & 8 && !(row->flags & LANES_MIX));
    bool keep = row->flags & LANES_KEEP || lanes_keeps_half((amd_target)w->target, inst->op);
    for (unsigned i = 0; i < LANES; i++) {
        uint32_t x = t[i] & 0xffffu;
        if (high)
            t[i] = x << 16 | (keep ? old[i] & 0xffffu : 0u);
        else
            t[i] = x | (keep ? old[i] & 0xffff0000u : 0u);
    }
}

static void NAME(full)(amd_wave *w, const amd_inst *inst)
{
    const lanes_row *row = &NAME(rows)[inst->op];
    uint32_t s[3][2 * LANES] ALIGNED_, t[2 * LANES] ALIGNED_, m[LANES] ALIGNED_;
    uint64_t exec = NAME(exec)(w), live = exec;
    if (inst->flags & AMD_CLAMP && NAME(sat)[inst->op].kernel)
        row = &NAME(sat)[inst->op];
    bool acc = NAME(rows)[inst->op].flags & LANES_ACC;
    uint32_t *d = NULL;
    if (!(row->flags & LANES_COMPARE))
        d = NAME(vgpr)(w, NAME(indexed)(w, inst->vdst.code, 3));
    for (unsigned k = 0; k < row->sources; k++) {
        unsigned type = row->src[k];
        if (k == 2 && acc) {
            memcpy(s[k], d, (lanes_is_wide(type) ? 2 * LANES : LANES) * sizeof *d);
            continue;
        }
        bool half = row->flags & LANES_MIX && inst->op_sel_hi >> k & 1; /* constants are halves then */
        NAME(fetch)(w, inst, k, half ? LANES_F16 : type, s[k]);
        if (k == 0 && (inst->form == AMD_DPP16 || inst->form == AMD_DPP8)) {
            live = NAME(permute)(inst, s[k], exec);
            if (lanes_is_wide(type))
                NAME(permute)(inst, s[k] + LANES, exec);
        }
        if (type == LANES_MASK)
            continue;
        if (row->flags & LANES_MIX) {
            lanes_env_need(w, LANES_ENV_EXACT);
            NAME(select_mix)(inst, k, s[k]);
            continue;
        }
        if (type == LANES_P16 || type == LANES_PF16) {
            NAME(select_packed)(inst, k, type == LANES_PF16, s[k]);
            continue;
        }
        if (inst->form == AMD_SDWA && k < 2)
            NAME(select)(inst, k, s[k]);
        else if (inst->op_sel >> k & 1 && (lanes_is_16(type)))
            for (unsigned i = 0; i < LANES; i++)
                s[k][i] >>= 16;
        /* Integers of dot products have no sign to change. */
        bool is_float = type == LANES_F16 || type == LANES_F32 || type == LANES_F64;
        if ((inst->abs | inst->neg) >> k & 1 && (is_float || inst->format != AMD_VOP3P))
            NAME(modify)(inst, k, type, s[k]);
    }
    /* A body may not touch lanes that it does not compute. */
    memset(t, 0, sizeof t);
    if (row->env)
        lanes_env_need(w, (lanes_env)row->env);
    uint64_t bits = row->kernel(t, s[0], s[1], s[2], lanes_ones, w);
    bool carry = NAME(rows)[inst->op].flags & LANES_CARRY;
    if (carry && row != &NAME(rows)[inst->op]) {
        uint32_t unused[2 * LANES] ALIGNED_; /* a saturated result still has the carry of the exact one */
        bits = NAME(rows)[inst->op].kernel(unused, s[0], s[1], s[2], lanes_ones, w);
    }
    if (row->flags & LANES_COMPARE) {
        NAME(write_mask)(w, inst->sdst.code, bits & live);
        if (row->flags & LANES_EXEC)
            NAME(write_mask)(w, AMD_EXEC_LO, bits & live);
        return;
    }
    if (LANES_IS_FLOAT_(row->dst))
        NAME(finish)(w, inst, row->dst, t);
    NAME(place)(w, inst, row, d, t);
    NAME(spread)(m, live);
    for (unsigned i = 0; i < LANES; i++)
        d[i] = (t[i] & m[i]) | (d[i] & ~m[i]);
    if (lanes_is_wide(row->dst))
        for (unsigned i = 0; i < LANES; i++)
            d[i + LANES] = (t[i + LANES] & m[i]) | (d[i + LANES] & ~m[i]);
    if (carry)
        NAME(write_mask)(w, inst->sdst.code, bits & live);
}
