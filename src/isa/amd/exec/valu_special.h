/* valu_special.h: vector instructions that are no function of one lane: single lanes to and from scalars,
 * moves across lanes and through indexed registers; part of valu_body.h. */

static inline unsigned NAME(first_lane)(const amd_wave *w)
{
    uint64_t exec = NAME(exec)(w);
    return exec ? (unsigned)__builtin_ctzll(exec) : 0; /* without any lane, lane 0 */
}

/* A register that an index beyond the allocation must not leave. */
static inline uint32_t *NAME(bounded)(const amd_wave *w, unsigned index)
{
    return NAME(vgpr)(w, AMD_VGPR + (index < w->vgpr_count ? index : 0));
}

static inline void NAME(write_scalar)(amd_wave *w, unsigned code, uint32_t value)
{
    if (code < AMD_INT_0 && !(code == AMD_NULL && w->target != AMD_GFX803))
        w->sgpr[code] = value;
}

/* One word of a source for one lane. */
static inline uint32_t NAME(lane_value)(const amd_wave *w, const amd_inst *inst, unsigned k, unsigned lane)
{
    unsigned code = inst->src[k].code;
    return code >= AMD_VGPR ? NAME(vgpr)(w, NAME(indexed)(w, code, k))[lane]
                            : (uint32_t)lanes_scalar(w, inst, code, LANES_U32);
}

static void NAME(readfirstlane)(amd_wave *w, const amd_inst *inst)
{
    unsigned code = inst->vdst.code < AMD_VGPR ? inst->vdst.code : inst->sdst.code;
    NAME(write_scalar)(w, code, NAME(lane_value)(w, inst, 0, NAME(first_lane)(w)));
}

static void NAME(readlane)(amd_wave *w, const amd_inst *inst)
{
    unsigned code = inst->vdst.code < AMD_VGPR ? inst->vdst.code : inst->sdst.code;
    uint32_t lane = NAME(lane_value)(w, inst, 1, 0) & (LANES - 1);
    NAME(write_scalar)(w, code, NAME(lane_value)(w, inst, 0, lane));
}

static void NAME(writelane)(amd_wave *w, const amd_inst *inst)
{
    uint32_t value = NAME(lane_value)(w, inst, 0, 0), lane = NAME(lane_value)(w, inst, 1, 0) & (LANES - 1);
    NAME(vgpr)(w, inst->vdst.code)[lane] = value;
}

/* D = S0 of a lane in the same row of 16 (or in the other row of the pair: x16), chosen by a nibble of
 * S1:S2. */
static void NAME(permlane)(amd_wave *w, const amd_inst *inst)
{
    bool cross = inst->op == AMD_V_PERMLANEX16_B32;
    uint64_t exec = NAME(exec)(w);
    uint64_t pick = NAME(lane_value)(w, inst, 1, 0) | (uint64_t)NAME(lane_value)(w, inst, 2, 0) << 32;
    bool inactive = inst->op_sel & 1, zero = inst->op_sel & 2; /* fi, bound_ctrl */
    uint32_t from[LANES];
    for (unsigned i = 0; i < LANES; i++)
        from[i] = NAME(lane_value)(w, inst, 0, i);
    uint32_t *d = NAME(vgpr)(w, inst->vdst.code);
    for (unsigned i = 0; i < LANES; i++) {
        if (!(exec >> i & 1))
            continue;
        unsigned row = cross ? (i & ~15u) ^ 16u : i & ~15u;
        unsigned lane = row | (unsigned)(pick >> 4 * (i & 15) & 15);
        if (inactive || exec >> lane & 1)
            d[i] = from[lane];
        else if (zero)
            d[i] = 0;
    }
}

static void NAME(move_lanes)(const amd_wave *w, uint32_t *d, const uint32_t *s)
{
    uint64_t exec = NAME(exec)(w);
    for (unsigned i = 0; i < LANES; i++)
        if (exec >> i & 1)
            d[i] = s[i];
}

/* v_movrel*: M0 is added to the number of the source's, the destination's or both registers. */
static void NAME(movrel)(amd_wave *w, const amd_inst *inst)
{
    uint32_t m0 = w->sgpr[AMD_M0];
    unsigned src = 0, dst = 0;
    if (inst->op == AMD_V_MOVRELS_B32 || inst->op == AMD_V_MOVRELSD_B32)
        src = m0;
    if (inst->op == AMD_V_MOVRELD_B32 || inst->op == AMD_V_MOVRELSD_B32)
        dst = m0;
    if (inst->op == AMD_V_MOVRELSD_2_B32) {
        src = m0 & 0x3ff;
        dst = m0 >> 16 & 0x3ff;
    }
    uint32_t s[LANES];
    unsigned code = inst->src[0].code;
    if (code >= AMD_VGPR)
        memcpy(s, NAME(bounded)(w, code - AMD_VGPR + src), sizeof s);
    else
        NAME(broadcast)(s, (uint32_t)lanes_scalar(w, inst, code, LANES_U32));
    NAME(move_lanes)(w, NAME(bounded)(w, inst->vdst.code - AMD_VGPR + dst), s);
}

/* Exchange of two registers; v_swaprel_b32 offsets them by M0 as v_movrelsd_2 does. */
static void NAME(swap)(amd_wave *w, const amd_inst *inst)
{
    bool relative = inst->op == AMD_V_SWAPREL_B32;
    uint32_t m0 = relative ? w->sgpr[AMD_M0] : 0;
    uint32_t *x = NAME(bounded)(w, inst->vdst.code - AMD_VGPR + (m0 >> 16 & 0x3ff));
    uint32_t *y = NAME(bounded)(w, inst->src[0].code - AMD_VGPR + (m0 & 0x3ff));
    uint32_t old[LANES], new_[LANES];
    memcpy(old, x, sizeof old);
    memcpy(new_, y, sizeof new_);
    NAME(move_lanes)(w, x, new_);
    NAME(move_lanes)(w, y, old);
}

/* Four masked sums at byte offsets 0 to 3 of the eight bytes of S0, added to the four words of S2. */
static void NAME(mqsad)(amd_wave *w, const amd_inst *inst)
{
    uint32_t a[2 * LANES] ALIGNED_, b[LANES] ALIGNED_, c[4][LANES], out[4][LANES];
    NAME(fetch)(w, inst, 0, LANES_U64, a);
    NAME(fetch)(w, inst, 1, LANES_U32, b);
    for (unsigned k = 0; k < 4; k++) {
        unsigned code = inst->src[2].code;
        if (code >= AMD_VGPR)
            memcpy(c[k], NAME(bounded)(w, code - AMD_VGPR + k), sizeof c[k]);
        else
            NAME(broadcast)(c[k], code < AMD_INT_0 - 3 ? w->sgpr[code + k] : 0);
        for (unsigned i = 0; i < LANES; i++) {
            uint64_t bytes = (uint64_t)a[i + LANES] << 32 | a[i];
            uint64_t sum = (uint64_t)c[k][i] + msad4((uint32_t)(bytes >> 8 * k), b[i]);
            out[k][i] = inst->flags & AMD_CLAMP ? sat_u32(sum) : (uint32_t)sum;
        }
    }
    for (unsigned k = 0; k < 4; k++)
        NAME(move_lanes)(w, NAME(bounded)(w, inst->vdst.code - AMD_VGPR + k), out[k]);
}

static void NAME(nothing)(amd_wave *w, const amd_inst *inst)
{
    (void)w, (void)inst;
}

/* Clears the exception flags of TRAPSTS. */
static void NAME(clrexcp)(amd_wave *w, const amd_inst *inst)
{
    (void)inst;
    w->trapsts &= ~0x1ffu;
}

/* Packed operations on pairs of 32 bits. Each half of the result takes either half of each source; a constant
 * is in the lower half, with 0 above it. */
static void NAME(packed_32)(amd_wave *w, const amd_inst *inst)
{
    bool move = inst->op == AMD_V_PK_MOV_B32;
    uint32_t s[3][2 * LANES], t[2 * LANES];
    for (unsigned k = 0; k < inst->src_count; k++) {
        unsigned code = inst->src[k].code;
        if (code >= AMD_VGPR) {
            memcpy(s[k], NAME(vgpr)(w, NAME(indexed)(w, code, k)), sizeof s[k]);
        } else {
            bool pair = code < AMD_INT_0;
            uint64_t value = lanes_scalar(w, inst, code, pair ? LANES_U64 : LANES_U32);
            NAME(broadcast)(s[k], (uint32_t)value);
            NAME(broadcast)(s[k] + LANES, pair ? (uint32_t)(value >> 32) : 0);
        }
    }
    if (!move)
        lanes_env_need(w, LANES_ENV_F32);
    for (unsigned half = 0; half < 2; half++) {
        const uint32_t *from[3] = { s[0], s[0], s[0] };
        uint32_t sign[3] = { 0, 0, 0 };
        for (unsigned k = 0; k < inst->src_count; k++) {
            unsigned high = (half && !move ? inst->op_sel_hi : inst->op_sel) >> k & 1;
            from[k] = s[k] + high * LANES;
            sign[k] = (half ? inst->neg_hi : inst->neg) >> k & 1 ? 0x80000000u : 0;
        }
        for (unsigned i = 0; i < LANES; i++) {
            uint32_t x = from[0][i] ^ sign[0], y = from[1][i] ^ sign[1], z = from[2][i] ^ sign[2], r;
            if (move) {
                t[half * LANES + i] = half ? from[1][i] : from[0][i];
                continue;
            }
            if (inst->op == AMD_V_PK_ADD_F32)
                r = f32_bits(f32_of(x) + f32_of(y));
            else if (inst->op == AMD_V_PK_MUL_F32)
                r = f32_bits(f32_of(x) * f32_of(y));
            else
                r = f32_bits(__builtin_fmaf(f32_of(x), f32_of(y), f32_of(z)));
            if (f32_is_nan(r))
                r = f32_is_nan(x)                           ? x | 0x400000u
                    : f32_is_nan(y)                         ? y | 0x400000u
                    : inst->src_count == 3 && f32_is_nan(z) ? z | 0x400000u
                                                            : 0xffc00000u;
            t[half * LANES + i] = r;
        }
    }
    if (inst->flags & AMD_CLAMP && !move) {
        NAME(finish)(w, inst, LANES_F32, t);
        NAME(finish)(w, inst, LANES_F32, t + LANES);
    }
    uint64_t exec = NAME(exec)(w);
    uint32_t *d = NAME(vgpr)(w, NAME(indexed)(w, inst->vdst.code, 3));
    for (unsigned i = 0; i < LANES; i++)
        if (exec >> i & 1) {
            d[i] = t[i];
            d[i + LANES] = t[i + LANES];
        }
}

/* One byte of the result, rounded with the random bits of the second source; op_sel says which. */
static void NAME(convert_random)(amd_wave *w, const amd_inst *inst)
{
    uint64_t exec = NAME(exec)(w);
    unsigned at = inst->op_sel >> 2 & 3;
    uint32_t *d = NAME(vgpr)(w, inst->vdst.code);
    for (unsigned i = 0; i < LANES; i++) {
        if (!(exec >> i & 1))
            continue;
        uint32_t x = NAME(lane_value)(w, inst, 0, i), random = NAME(lane_value)(w, inst, 1, i);
        x = (inst->abs & 1 ? x & 0x7fffffffu : x) ^ (inst->neg & 1 ? 0x80000000u : 0);
        uint32_t byte = eight_random(x, random, inst->op == AMD_V_CVT_SR_FP8_F32 ? 3 : 2, w);
        d[i] = (d[i] & ~(0xffu << 8 * at)) | byte << 8 * at;
    }
}

static amd_body NAME(special)(amd_target target, const amd_inst *inst)
{
    (void)target;
    switch (inst->op) {
    case AMD_V_PK_FMA_F32:
    case AMD_V_PK_MUL_F32:
    case AMD_V_PK_ADD_F32:
    case AMD_V_PK_MOV_B32:
        return NAME(packed_32);
    case AMD_V_CVT_SR_FP8_F32:
    case AMD_V_CVT_SR_BF8_F32:
        return NAME(convert_random);
    case AMD_V_READFIRSTLANE_B32:
        return NAME(readfirstlane);
    case AMD_V_READLANE_B32:
        return NAME(readlane);
    case AMD_V_WRITELANE_B32:
        return NAME(writelane);
    case AMD_V_PERMLANE16_B32:
    case AMD_V_PERMLANEX16_B32:
        return NAME(permlane);
    case AMD_V_MOVRELS_B32:
    case AMD_V_MOVRELD_B32:
    case AMD_V_MOVRELSD_B32:
    case AMD_V_MOVRELSD_2_B32:
        return inst->form == AMD_PLAIN ? NAME(movrel) : NULL;
    case AMD_V_SWAP_B32:
    case AMD_V_SWAPREL_B32:
        return NAME(swap);
    case AMD_V_MQSAD_U32_U8:
        return NAME(mqsad);
    case AMD_V_NOP:
    case AMD_V_PIPEFLUSH:
        return NAME(nothing);
    case AMD_V_CLREXCP:
        return NAME(clrexcp);
    default:
        return NULL;
    }
}
