/* strict_vector.c: vector arithmetic on shadows, lane by lane. Undefined bits are tracked exactly through
 * moves, logic, shifts and sums. Any other result with an undefined source is undefined as a whole. */
#include "isa/amd/exec/lanes.h"
#include "isa/amd/exec/matrix.h"
#include "isa/amd/tables.h"
#include "runtime/strict/strict_impl.h"

#include <string.h>

/* Sources of the instruction: for each lane the shadow, up to two dwords. */
typedef struct sources {
    uint64_t shadow[3][64];
    unsigned count;
    uint64_t live; /* lanes that write */
    uint32_t origin[3];
} sources;

static bool is_half(unsigned kind)
{
    return kind == AMD_KIND_B16 || kind == AMD_KIND_F16;
}

static bool is_packed(unsigned kind)
{
    return kind == AMD_KIND_PK16 || kind == AMD_KIND_PKF16;
}

/* The register that an operand names while s_set_gpr_idx_on is in force. */
static unsigned indexed(const strict *s, unsigned code, unsigned operand)
{
    const amd_wave *w = s->wave;
    if (!w->gpr_idx_mode || !(w->sgpr[AMD_M0] >> (12 + operand) & 1))
        return code;
    unsigned index = code - AMD_VGPR + (w->sgpr[AMD_M0] & 0xff);
    return AMD_VGPR + (index < w->vgpr_count ? index : 0);
}

static void fetch(const strict *s, unsigned k, sources *in)
{
    const amd_operand *from = &s->inst->src[k];
    unsigned lanes = s->wave->lanes, code = from->code;
    uint64_t *out = in->shadow[k];
    memset(out, 0, sizeof in->shadow[k]);
    if (from->dwords == 0 || code == AMD_NO_OPERAND)
        return;
    if (code >= AMD_VGPR) {
        code = indexed(s, code, k);
        for (unsigned i = 0; i < from->dwords; i++) {
            const uint32_t *row = strict_row(s, code + i);
            for (unsigned lane = 0; lane < lanes; lane++)
                out[lane] |= (uint64_t)row[lane] << 32 * (i & 1);
        }
        in->origin[k] = s->shadow->vgpr_origin[code - AMD_VGPR];
        return;
    }
    uint64_t scalar = strict_scalar(s, code, from->kind == AMD_KIND_MASK ? lanes / 32 : from->dwords);
    if (scalar == 0)
        return;
    in->origin[k] = strict_scalar_origin(s, code, from->dwords ? from->dwords : 1);
    for (unsigned lane = 0; lane < lanes; lane++)
        out[lane] = from->kind == AMD_KIND_MASK ? (scalar >> lane & 1 ? UINT64_MAX : 0) : scalar;
}

/* DPP: as the body does it. */
static void permute(const strict *s, sources *in)
{
    const amd_inst *inst = s->inst;
    uint64_t from[64], exec = amd_wave_exec(s->wave), *to = in->shadow[0];
    uint8_t map[64];
    bool zero = inst->form == AMD_DPP8 || (inst->flags & AMD_BOUND_CTRL) != 0;
    memcpy(from, to, sizeof from);
    lanes_dpp_map(inst, s->wave->lanes, map);
    for (unsigned lane = 0; lane < s->wave->lanes; lane++) {
        bool valid = !(map[lane] & 0x80) && ((inst->flags & AMD_FI) || (exec >> (map[lane] & 63) & 1));
        to[lane] = valid ? from[map[lane] & 63] : 0;
        if (!valid && !zero)
            in->live &= ~(UINT64_C(1) << lane);
        if (inst->form == AMD_DPP16 &&
            !((inst->dpp.row_mask >> (lane / 16 & 3) & 1) && (inst->dpp.bank_mask >> (lane / 4 & 3) & 1)))
            in->live &= ~(UINT64_C(1) << lane);
    }
}

/* The part of a source that counts, of a shadow as of a value. */
static uint64_t narrow(const strict *s, unsigned k, uint64_t x)
{
    const amd_inst *inst = s->inst;
    unsigned shift, bits;
    if (inst->form == AMD_SDWA && k < 2) {
        unsigned sel = inst->sdwa.src_sel[k];
        if (sel >= 6)
            return x;
        bits = sel < 4 ? 8 : 16;
        shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
    } else if (is_half(inst->src[k].kind)) {
        bits = 16;
        shift = inst->op_sel >> k & 1 ? 16 : 0;
    } else {
        return x;
    }
    bool sign = inst->form == AMD_SDWA && (inst->sext >> k & 1);
    x = x >> shift & ((UINT64_C(1) << bits) - 1);
    return sign && (x >> (bits - 1) & 1) ? x | UINT32_MAX << bits : x;
}

/* --- results -------------------------------------------------------------------------------------------- */

typedef struct lane_sources {
    uint64_t shadow[3], value[3];
} lane_sources;

static uint64_t value_of(const strict *s, unsigned k, unsigned lane)
{
    const amd_operand *from = &s->inst->src[k];
    if (from->code == AMD_NO_OPERAND || from->dwords == 0)
        return 0;
    if (from->code >= AMD_VGPR) {
        const uint32_t *row =
            s->wave->vgpr + (size_t)(indexed(s, from->code, k) - AMD_VGPR) * s->wave->lanes + lane;
        return row[0] | (from->dwords > 1 ? (uint64_t)row[s->wave->lanes] << 32 : 0);
    }
    return lanes_scalar(s->wave, s->inst, from->code, from->dwords > 1 ? LANES_U64 : LANES_U32);
}

static uint64_t and_(uint64_t a, uint64_t va, uint64_t b, uint64_t vb)
{
    return (a | b) & (a | va) & (b | vb);
}

static uint64_t or_(uint64_t a, uint64_t va, uint64_t b, uint64_t vb)
{
    return (a | b) & (a | ~va) & (b | ~vb);
}

static uint64_t upwards(uint64_t shadow)
{
    return shadow | (0 - shadow);
}

static uint64_t shifted(uint64_t shadow, uint64_t amount_shadow, uint64_t amount, unsigned bits, int way)
{
    amount &= bits - 1;
    if ((amount_shadow & (bits - 1)) != 0)
        return UINT64_MAX;
    if (way > 0)
        return shadow << amount;
    if (way == 0)
        return (bits == 32 ? (uint32_t)shadow : shadow) >> amount;
    return bits == 32 ? (uint64_t)(uint32_t)((int32_t)(uint32_t)shadow >> amount)
                      : (uint64_t)((int64_t)shadow >> amount);
}

static uint64_t bit_field(const lane_sources *l, bool sign)
{
    unsigned offset = (unsigned)l->value[1] & 31, width = (unsigned)l->value[2] & 31;
    if (((l->shadow[1] | l->shadow[2]) & 31) != 0)
        return UINT64_MAX;
    if (width == 0)
        return 0;
    uint32_t x = (uint32_t)l->shadow[0] >> offset, mask = (1u << width) - 1;
    return (x & mask) | (sign && (x >> (width - 1) & 1) ? ~mask : 0);
}

/* Bytes of eight, by a selector per byte: 12 and above are constants. */
static uint64_t byte_permute(const lane_sources *l)
{
    uint64_t from = l->shadow[0] << 32 | (uint32_t)l->shadow[1];
    uint32_t out = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned sel = l->value[2] >> 8 * i & 0xff, byte = 0;
        if ((l->shadow[2] >> 8 * i & 0xff) != 0)
            byte = 0xff;
        else if (sel < 8)
            byte = from >> 8 * sel & 0xff;
        else if (sel < 12) /* a sign */
            byte = from >> (16 * (sel - 8) + 15) & 1 ? 0xff : 0;
        out |= byte << 8 * i;
    }
    return out;
}

static uint64_t exact(const strict *s, const lane_sources *l, bool *known)
{
    const uint64_t *u = l->shadow, *v = l->value;
    *known = true;
    switch (s->inst->op) {
    case AMD_V_MOV_B32:
    case AMD_V_MOV_B64:
    case AMD_V_ACCVGPR_READ_B32:
    case AMD_V_ACCVGPR_WRITE_B32:
    case AMD_V_ACCVGPR_MOV_B32:
    case AMD_V_NOT_B32:
    case AMD_V_BFREV_B32:
        return s->inst->op == AMD_V_BFREV_B32 && u[0] ? UINT64_MAX : u[0];
    case AMD_V_AND_B32:
        return and_(u[0], v[0], u[1], v[1]);
    case AMD_V_OR_B32:
        return or_(u[0], v[0], u[1], v[1]);
    case AMD_V_XOR_B32:
    case AMD_V_XNOR_B32:
        return u[0] | u[1];
    case AMD_V_XOR3_B32:
        return u[0] | u[1] | u[2];
    case AMD_V_OR3_B32: {
        uint64_t first = or_(u[0], v[0], u[1], v[1]);
        return or_(first, v[0] | v[1], u[2], v[2]);
    }
    case AMD_V_AND_OR_B32: {
        uint64_t first = and_(u[0], v[0], u[1], v[1]);
        return or_(first, v[0] & v[1], u[2], v[2]);
    }
    case AMD_V_LSHL_OR_B32: {
        uint64_t first = shifted(u[0], u[1], v[1], 32, 1);
        return or_(first, v[0] << (v[1] & 31), u[2], v[2]);
    }
    case AMD_V_LSHLREV_B16:
        return shifted(u[1], u[0], v[0], 16, 1);
    case AMD_V_LSHRREV_B16:
        return shifted(u[1], u[0], v[0], 16, 0);
    case AMD_V_ASHRREV_I16:
        return (u[0] & 15) != 0 ? UINT64_MAX : (uint64_t)((int16_t)u[1] >> (v[0] & 15));
    case AMD_V_ADD_U16:
    case AMD_V_ADD_NC_U16:
    case AMD_V_ADD_NC_I16:
    case AMD_V_SUB_U16:
    case AMD_V_SUB_NC_U16:
    case AMD_V_SUB_NC_I16:
    case AMD_V_SUBREV_U16:
    case AMD_V_MUL_LO_U16:
        return upwards(u[0] | u[1]);
    case AMD_V_LSHLREV_B32:
        return shifted(u[1], u[0], v[0], 32, 1);
    case AMD_V_LSHRREV_B32:
        return shifted(u[1], u[0], v[0], 32, 0);
    case AMD_V_ASHRREV_I32:
        return shifted(u[1], u[0], v[0], 32, -1);
    case AMD_V_LSHLREV_B64:
        return shifted(u[1], u[0], v[0], 64, 1);
    case AMD_V_LSHRREV_B64:
        return shifted(u[1], u[0], v[0], 64, 0);
    case AMD_V_ASHRREV_I64:
        return shifted(u[1], u[0], v[0], 64, -1);
    case AMD_V_BFE_U32:
        return bit_field(l, false);
    case AMD_V_BFE_I32:
        return bit_field(l, true);
    case AMD_V_BFI_B32: /* (S0 & S1) | (~S0 & S2) */
        return u[0] | (v[0] & u[1]) | (~v[0] & u[2]);
    case AMD_V_PERM_B32:
        return byte_permute(l);
    case AMD_V_ALIGNBIT_B32:
    case AMD_V_ALIGNBYTE_B32: {
        unsigned amount = s->inst->op == AMD_V_ALIGNBIT_B32 ? v[2] & 31 : (v[2] & 3) * 8;
        return (u[2] & 31) != 0 ? UINT64_MAX : (u[0] << 32 | (uint32_t)u[1]) >> amount;
    }
    case AMD_V_CNDMASK_B32: {
        if (u[2] != 0)
            return u[0] | u[1] | (v[0] ^ v[1]);
        return v[2] ? u[1] : u[0];
    }
    case AMD_V_ADD_U32:
    case AMD_V_ADD_NC_U32:
    case AMD_V_ADD_CO_U32:
    case AMD_V_SUB_U32:
    case AMD_V_SUB_NC_U32:
    case AMD_V_SUB_CO_U32:
    case AMD_V_SUBREV_U32:
    case AMD_V_SUBREV_NC_U32:
    case AMD_V_SUBREV_CO_U32:
    case AMD_V_MUL_LO_U32:
    case AMD_V_MUL_LO_I32:
        return upwards(u[0] | u[1]);
    case AMD_V_MUL_U32_U24:
    case AMD_V_MUL_I32_I24:
        return upwards((u[0] | u[1]) & 0xffffff);
    case AMD_V_MAD_U32_U24:
    case AMD_V_MAD_I32_I24:
        return upwards(((u[0] | u[1]) & 0xffffff) | u[2]);
    case AMD_V_ADD3_U32:
    case AMD_V_MAD_U64_U32:
    case AMD_V_MAD_I64_I32:
        return upwards(u[0] | u[1] | u[2]);
    case AMD_V_LSHL_ADD_U64:
        return upwards(shifted(u[0], u[1], v[1], 64, 1) | u[2]);
    case AMD_V_LSHL_ADD_U32:
        return upwards(shifted(u[0], u[1], v[1], 32, 1) | u[2]);
    default:
        *known = false;
        return 0;
    }
}

/* Sources and result have two halves that do not affect each other. */
static uint32_t packed_lane(const strict *s, const sources *in, unsigned lane)
{
    uint32_t low = 0, high = 0;
    for (unsigned k = 0; k < in->count; k++) {
        uint32_t x = (uint32_t)in->shadow[k][lane];
        low |= x >> (s->inst->op_sel >> k & 1 ? 16 : 0) & 0xffff;
        high |= x >> (s->inst->op_sel_hi >> k & 1 ? 16 : 0) & 0xffff;
    }
    return (low ? 0xffff : 0) | (high ? 0xffff0000u : 0);
}

/* The same with registers of a pair: v_pk_fma_f32 and others. v_pk_mov_b32 takes each half from a source of its own. */
static uint64_t paired_lane(const strict *s, const sources *in, unsigned lane)
{
    const amd_inst *inst = s->inst;
    bool move = inst->op == AMD_V_PK_MOV_B32;
    uint32_t low = 0, high = 0;
    for (unsigned k = 0; k < in->count; k++) {
        uint64_t x = in->shadow[k][lane];
        bool first = (inst->op_sel >> k & 1) != 0, second = (inst->op_sel_hi >> k & 1) != 0;
        if (move) {
            uint32_t half = (uint32_t)(x >> (first ? 32 : 0));
            low |= k == 0 ? half : 0;
            high |= k == 1 ? half : 0;
        } else {
            low |= (uint32_t)(x >> (first ? 32 : 0)) ? UINT32_MAX : 0;
            high |= (uint32_t)(x >> (second ? 32 : 0)) ? UINT32_MAX : 0;
        }
    }
    return low | (uint64_t)high << 32;
}

/* Where in the register a narrow result goes. */
static uint32_t place(const strict *s, uint32_t old, uint32_t shadow)
{
    const amd_inst *inst = s->inst;
    if (inst->form == AMD_SDWA && inst->sdwa.dst_sel < 6) {
        unsigned sel = inst->sdwa.dst_sel, bits = sel < 4 ? 8 : 16, shift = sel < 4 ? 8 * sel : 16 * (sel - 4);
        uint32_t field = ((1u << bits) - 1u) << shift, x = shadow << shift & field;
        bool top = x >> (shift + bits - 1) & 1;
        uint32_t above = top && shift + bits < 32 ? UINT32_MAX << (shift + bits) : 0;
        return inst->sdwa.dst_unused == 2 ? x | (old & ~field) : inst->sdwa.dst_unused == 1 ? x | above : x;
    }
    if (!is_half(inst->vdst.kind) || inst->form == AMD_SDWA)
        return shadow;
    bool keep = lanes_keeps_half((amd_target)s->wave->target, inst->op) ||
                strstr(amd_op_name((amd_op)inst->op), "mix") != NULL;
    bool high = (inst->op_sel & 8) != 0 || strstr(amd_op_name((amd_op)inst->op), "mixhi") != NULL;
    uint32_t x = shadow & 0xffff;
    if (high)
        return x << 16 | (keep ? old & 0xffff : 0);
    return x | (keep ? old & 0xffff0000u : 0);
}

/* --- lanes to and from scalars, indexed registers --- */

/* The body itself on shadows: it moves registers as they are. */
static bool run_on_shadows(strict *s)
{
    amd_wave copy = *s->wave;
    amd_inst inst = *s->inst;
    copy.vgpr = s->shadow->vgpr;
    for (unsigned k = 0; k < 1; k++) /* a value that is no vector register has no shadow there */
        if (inst.src[k].code != AMD_NO_OPERAND && inst.src[k].code < AMD_VGPR) {
            uint64_t scalar = strict_scalar(s, inst.src[k].code, 1);
            inst.src[k].code = scalar ? AMD_INT_MINUS : AMD_INT_0; /* all or nothing */
        }
    s->launch.program->ops[s->op].body(&copy, &inst);
    amd_wave_rest(&copy);
    return true;
}

/* Matrices: every element of the result depends on whole registers, so one undefined value makes all of the
 * result undefined. All lanes count. */
static bool matrix(strict *s)
{
    const amd_inst *inst = s->inst;
    const amd_operand *reads[4] = { &inst->src[0], &inst->src[1], &inst->src[2],
                                    amd_matrix_of(inst->op)->sparse ? &inst->vdst : &inst->src[0] };
    uint32_t any = 0, origin = 0;
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; reads[k]->code >= AMD_VGPR && i < reads[k]->dwords; i++) {
            const uint32_t *row = strict_row(s, reads[k]->code + i);
            uint32_t here = 0;
            for (unsigned lane = 0; lane < s->wave->lanes; lane++)
                here |= row[lane];
            if (here && !any)
                origin = s->shadow->vgpr_origin[reads[k]->code + i - AMD_VGPR];
            any |= here;
        }
    for (unsigned i = 0; i < inst->vdst.dwords; i++) {
        memset(strict_row(s, inst->vdst.code + i), any ? 0xff : 0, s->wave->lanes * sizeof any);
        s->shadow->vgpr_origin[inst->vdst.code + i - AMD_VGPR] = origin;
    }
    return true;
}

static bool special(strict *s, bool *done)
{
    const amd_inst *inst = s->inst;
    const amd_wave *w = s->wave;
    unsigned lane = 0;
    *done = true;
    if (amd_matrix_of(inst->op))
        return matrix(s);
    switch (inst->op) {
    case AMD_V_READFIRSTLANE_B32:
    case AMD_V_READLANE_B32: {
        unsigned code = inst->vdst.code < AMD_VGPR ? inst->vdst.code : inst->sdst.code,
                 from = inst->src[0].code;
        uint64_t exec = amd_wave_exec(w), shadow;
        if (inst->op == AMD_V_READLANE_B32) {
            if (strict_scalar(s, inst->src[1].code, 1) != 0)
                return strict_undefined(s, "the number of the lane", inst->src[1].code, -1,
                                        strict_scalar_origin(s, inst->src[1].code, 1));
            lane = (unsigned)lanes_scalar(w, inst, inst->src[1].code, LANES_U32) & (w->lanes - 1u);
        } else {
            lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
        }
        if (from < AMD_VGPR)
            shadow = strict_scalar(s, from, 1);
        else
            shadow = strict_row(s, indexed(s, from, 0))[lane];
        return strict_write_scalar(s, code, 1, shadow,
                                   from < AMD_VGPR ? strict_scalar_origin(s, from, 1)
                                                   : s->shadow->vgpr_origin[from - AMD_VGPR]);
    }
    case AMD_V_WRITELANE_B32:
        if (strict_scalar(s, inst->src[1].code, 1) != 0)
            return strict_undefined(s, "the number of the lane", inst->src[1].code, -1,
                                    strict_scalar_origin(s, inst->src[1].code, 1));
        lane = (unsigned)lanes_scalar(w, inst, inst->src[1].code, LANES_U32) & (w->lanes - 1u);
        strict_row(s, inst->vdst.code)[lane] = (uint32_t)strict_scalar(s, inst->src[0].code, 1);
        s->shadow->vgpr_origin[inst->vdst.code - AMD_VGPR] = strict_scalar_origin(s, inst->src[0].code, 1);
        return true;
    case AMD_V_MOVRELS_B32:
    case AMD_V_MOVRELD_B32:
    case AMD_V_MOVRELSD_B32:
    case AMD_V_MOVRELSD_2_B32:
    case AMD_V_SWAPREL_B32:
        return strict_need_scalars(s, "the register's number", AMD_M0, 1) && run_on_shadows(s);
    case AMD_V_SWAP_B32:
    case AMD_V_PERMLANE16_B32:
    case AMD_V_PERMLANEX16_B32:
        return run_on_shadows(s);
    case AMD_V_NOP:
    case AMD_V_PIPEFLUSH:
    case AMD_V_CLREXCP:
        return true;
    default:
        *done = false;
        return true;
    }
}

/* --- all others --- */

static bool reads_dst(const strict *s)
{
    const amd_inst *inst = s->inst;
    static const amd_format formats[] = { AMD_VOP2, AMD_VOP3, AMD_VOP3P };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const amd_row *row = amd_table_find_op((amd_target)s->wave->target, formats[i], (amd_op)inst->op);
        if (row)
            return (row->flags & AMD_ROW_ACC) != 0;
    }
    return false;
}

static uint32_t first_origin(const sources *in, unsigned lane)
{
    for (unsigned k = 0; k < in->count; k++)
        if (in->shadow[k][lane] != 0)
            return in->origin[k];
    return 0;
}

bool strict_valu(strict *s)
{
    const amd_inst *inst = s->inst;
    sources in;
    bool done, acc = reads_dst(s), packed = inst->format == AMD_VOP3P;
    bool good = special(s, &done);
    if (!good || done)
        return good;
    if (s->wave->gpr_idx_mode && !strict_need_scalars(s, "the register's number", AMD_M0, 1))
        return false;
    memset(in.origin, 0, sizeof in.origin);
    in.live = amd_wave_exec(s->wave);
    in.count = 3;
    for (unsigned k = 0; k < 3; k++) {
        fetch(s, k, &in);
        if (k == 0 && (inst->form == AMD_DPP16 || inst->form == AMD_DPP8))
            permute(s, &in);
        for (unsigned lane = 0; lane < s->wave->lanes && !packed; lane++)
            in.shadow[k][lane] = narrow(s, k, in.shadow[k][lane]);
    }
    bool vector = inst->vdst.code >= AMD_VGPR && inst->vdst.code != AMD_NO_OPERAND && inst->vdst.dwords != 0;
    unsigned to = vector ? indexed(s, inst->vdst.code, 3) : 0;
    bool simple = (inst->form == AMD_PLAIN || inst->form == AMD_SDWA) && !(inst->flags & AMD_CLAMP) &&
                  inst->omod == 0 && (inst->neg | inst->abs) == 0;
    uint64_t bits = 0, fmas = strncmp(amd_op_name((amd_op)inst->op), "v_div_fmas", 10) == 0
                                  ? strict_scalar(s, AMD_VCC_LO, s->wave->lanes / 32)
                                  : 0;
    uint32_t origin = 0;
    MEM_FOR_LANES(lane, in.live)
    {
        uint64_t any = in.shadow[0][lane] | in.shadow[1][lane] | in.shadow[2][lane], shadow;
        if (acc && vector)
            for (unsigned i = 0; i < inst->vdst.dwords; i++)
                any |= strict_row(s, to + i)[lane];
        if (fmas >> lane & 1)
            any = 1;
        if (any != 0) {
            bool known = false;
            bits |= 1ull << lane;
            origin = origin ? origin : first_origin(&in, lane);
            if (acc && origin == 0 && vector)
                origin = s->shadow->vgpr_origin[to - AMD_VGPR];
            shadow = UINT64_MAX;
            if (simple) {
                lane_sources l;
                for (unsigned k = 0; k < 3; k++) {
                    l.shadow[k] = in.shadow[k][lane];
                    bool mask = inst->src[k].kind == AMD_KIND_MASK;
                    l.value[k] = mask ? 0 : narrow(s, k, value_of(s, k, lane));
                    if (mask && inst->src[k].code < AMD_INT_0) {
                        uint64_t m;
                        memcpy(&m, &s->wave->sgpr[inst->src[k].code & 126u], sizeof m);
                        if (s->wave->lanes == 32)
                            m = s->wave->sgpr[inst->src[k].code];
                        l.value[k] = m >> lane & 1;
                    }
                }
                uint64_t found = exact(s, &l, &known);
                shadow = known ? found : shadow;
            }
            if (!known && packed && is_packed(inst->vdst.kind))
                shadow = packed_lane(s, &in, lane);
            else if (!known && packed && inst->vdst.kind == AMD_KIND_PK32)
                shadow = paired_lane(s, &in, lane);
            else if (!known && inst->op == AMD_V_MOV_B32)
                shadow = in.shadow[0][lane];
            else if (!known && inst->op == AMD_V_CNDMASK_B32 && in.shadow[2][lane] == 0)
                shadow = in.shadow[0][lane] | in.shadow[1][lane];
        } else {
            shadow = 0;
        }
        if (!vector)
            continue;
        for (unsigned i = 0; i < inst->vdst.dwords; i++) {
            uint32_t *row = strict_row(s, to + i) + lane;
            *row = place(s, *row, (uint32_t)(shadow >> 32 * (i & 1)));
        }
    }
    if (vector && bits != 0)
        for (unsigned i = 0; i < inst->vdst.dwords; i++)
            s->shadow->vgpr_origin[to - AMD_VGPR + i] = origin;
    if (strncmp(amd_op_name((amd_op)inst->op), "v_cmpx", 6) == 0 && bits != 0) {
        unsigned lane = (unsigned)__builtin_ctzll(bits), k = in.shadow[0][lane] ? 0 : 1;
        return strict_undefined(s, "EXEC", inst->src[k].code, (int)lane, origin);
    }
    if (inst->sdst.code < AMD_INT_0 && inst->sdst.dwords != 0)
        return strict_write_scalar(s, inst->sdst.code, s->wave->lanes / 32, bits, origin);
    return true;
}
