/* test_amd_model_valu.c: every vector instruction against a model that was written from the manuals by other
 * means (model/valu.def). Each form that LLVM knows (amd_*.txt) runs with corner and random operands, several
 * MODEs, both wave sizes and every variant of the host. The whole state must be as the model says: nothing
 * else may change. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd/exec/exec.h"
#include "isa/model/facts.h"
#include "isa/model/operands.h"

#include <stdlib.h>

static inline uint64_t of_f32(float f)
{
    uint32_t x;
    memcpy(&x, &f, sizeof x);
    return x;
}

/* ------------------------------------------------------------------------------------------------- rows */

typedef struct result {
    uint64_t d;
    bool bit;
    unsigned near; /* steps of the format that the result may be off */
} result;
typedef void (*model)(uint64_t A, uint64_t B, uint64_t C, const surroundings *X, result *r);

#define NEAR(n) r->near = n
#define D r->d
#define BIT r->bit
#define ROW(op, ...)                                                                                          \
    static void model_##op(uint64_t A, uint64_t B, uint64_t C, const surroundings *X, result *r)              \
    {                                                                                                         \
        (void)A, (void)B, (void)C, (void)X;                                                                   \
        __VA_ARGS__;                                                                                          \
    }
#include "isa/model/valu.def"
#undef ROW
#undef D
#undef BIT
#define ROW(op, ...) [AMD_##op] = model_##op,
static const model models[AMD_OP_COUNT] = {
#include "isa/model/valu.def"
};
#undef ROW

/* v_cmp: the condition and the type are the name's last words. */
static bool compare(const char *name, uint64_t a, uint64_t b, const surroundings *x)
{
    static const struct {
        const char *word;
        uint8_t less, equal, greater, unordered;
    } conditions[] = {
        { "f", 0, 0, 0, 0 },   { "lt", 1, 0, 0, 0 },  { "eq", 0, 1, 0, 0 },  { "le", 1, 1, 0, 0 },
        { "gt", 0, 0, 1, 0 },  { "lg", 1, 0, 1, 0 },  { "ge", 0, 1, 1, 0 },  { "o", 1, 1, 1, 0 },
        { "u", 0, 0, 0, 1 },   { "nge", 1, 0, 0, 1 }, { "nlg", 0, 1, 0, 1 }, { "ngt", 1, 1, 0, 1 },
        { "nle", 0, 0, 1, 1 }, { "neq", 1, 0, 1, 1 }, { "nlt", 0, 1, 1, 1 }, { "tru", 1, 1, 1, 1 },
        { "ne", 1, 0, 1, 1 },  { "t", 1, 1, 1, 1 },
    };
    char word[8] = "", type;
    unsigned bits;
    name += strncmp(name, "v_cmpx_", 7) == 0 ? 7 : 6;
    if (sscanf(name, "%7[a-z]_%c%u", word, &type, &bits) != 3)
        fail_msg("%s is no compare", name);
    format f = bits == 16 ? F16 : bits == 64 ? F64 : F32;
    if (strcmp(word, "class") == 0) {
        unsigned class = is_signalling(f, a) ? 0
                         : is_nan(f, a)      ? 1
                         : is_infinite(f, a) ? (negative(f, a) ? 2 : 9)
                         : is_zero(f, a)     ? (negative(f, a) ? 5 : 6)
                         : is_denormal(f, a) ? (negative(f, a) ? 4 : 7)
                         : negative(f, a)    ? 3
                                             : 8;
        return b >> class & 1;
    }
    int is;
    if (type == 'f') {
        bool flush = rules_of(f, x).flush_in;
        is = order(f, flushed(f, a, flush), flushed(f, b, flush));
    } else {
        s128 p = type == 'i' ? sx(a, bits) : (s128)a, q = type == 'i' ? sx(b, bits) : (s128)b;
        is = p < q ? -1 : p > q ? 1 : 0;
    }
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (strcmp(conditions[i].word, word) == 0)
            return is == -1  ? conditions[i].less
                   : is == 0 ? conditions[i].equal
                   : is == 1 ? conditions[i].greater
                             : conditions[i].unordered;
    fail_msg("%s: unknown condition", name);
    return false;
}

/* -------------------------------------------------------------------------------------------- the model */

static bool is_compare(const char *name)
{
    return strncmp(name, "v_cmp", 5) == 0;
}

/* The old destination is a source. */
static bool accumulates(const char *name)
{
    return strstr(name, "mac_") || strstr(name, "dot2c") || strstr(name, "dot4c") || strstr(name, "dot8c") ||
           strstr(name, "pkaccum");
}

static void write_mask(machine *m, unsigned code, uint64_t bits)
{
    if (code == AMD_NULL && m->wave.target != AMD_GFX803)
        return;
    m->wave.sgpr[code] = (uint32_t)bits;
    if (m->wave.lanes == 64)
        m->wave.sgpr[code + 1] = (uint32_t)(bits >> 32);
}

static surroundings surroundings_of(const machine *m, const amd_inst *in, unsigned lane)
{
    uint32_t mode = m->wave.mode;
    return (surroundings){ .r32 = { mode & 3, !(mode >> 4 & 1), !(mode >> 5 & 1) },
                           .r64 = { mode >> 2 & 3, !(mode >> 6 & 1), !(mode >> 7 & 1) },
                           .clamp = in->flags & AMD_CLAMP,
                           .ieee = mode >> 9 & 1,
                           .gfx10 = amd_target_is_gfx10((amd_target)m->wave.target),
                           .gfx9 = amd_target_is_gfx9((amd_target)m->wave.target),
                           .vcc = machine_vcc(m) >> lane & 1,
                           .lane = lane };
}

/* One lane. `off`: it is not written. */
static result lane_result(const machine *m, const amd_inst *in, unsigned lane, bool *off)
{
    const char *name = amd_op_name((amd_op)in->op);
    surroundings x = surroundings_of(m, in, lane);
    bool mix = strncmp(name, "v_fma_mix", 9) == 0, i64 = strstr(name, "i64") != NULL;
    bool packed = in->op == AMD_V_PK_FMAC_F16 || (strncmp(name, "v_pk_", 5) == 0);
    bool dots = strncmp(name, "v_dot", 5) == 0;
    unsigned dst = in->vdst.kind;
    uint64_t s[3] = { 0, 0, 0 };
    result r = { 0 };
    *off = false;
    for (unsigned k = 0; k < in->src_count && k < 3; k++) {
        source got = fetch(m, in, k, lane, i64);
        *off |= got.off;
        s[k] = got.bits;
        if (mix)
            s[k] = mixed(m, in, k, lane);
        else if (dots && (in->src[k].kind == AMD_KIND_PK16 || in->src[k].kind == AMD_KIND_PKF16) &&
                 in->format == AMD_VOP3P)
            s[k] = packed_half(in, k, got.bits, 0) | packed_half(in, k, got.bits, 1) << 16;
        else if (!packed && !(dots && in->src[k].kind != AMD_KIND_F32) && in->src[k].kind != AMD_KIND_MASK)
            s[k] = with_modifiers(in, k, s[k], kind_bits(in->src[k].kind));
    }
    if (in->form == AMD_DPP16 &&
        !(in->dpp.row_mask >> lane / 16 % 4 & 1 && in->dpp.bank_mask >> lane / 4 % 4 & 1))
        *off = true;
    if (is_compare(name)) {
        r.bit = compare(name, s[0], s[1], &x);
        return r;
    }
    if (accumulates(name)) {
        const uint32_t(*old)[64] = &m->vgpr[in->vdst.code - AMD_VGPR];
        s[2] =
            (old[0][lane] | (kind_bits(dst) == 64 ? (uint64_t)old[1][lane] << 32 : 0)) & ones(kind_bits(dst));
    }
    if (packed) {
        for (unsigned h = 0; h < 2; h++) {
            uint64_t p[3];
            for (unsigned k = 0; k < 3; k++)
                p[k] = in->format == AMD_VOP3P && !(k == 2 && accumulates(name)) ? packed_half(in, k, s[k], h)
                                                                                 : s[k] >> 16 * h & 65535;
            result half = { 0 };
            models[in->op](p[0], p[1], p[2], &x, &half);
            if (dst == AMD_KIND_PKF16)
                half.d = finished(m, in, F16, half.d);
            r.d |= half.d << 16 * h;
        }
        return r;
    }
    models[in->op](s[0], s[1], s[2], &x, &r);
    if (dst == AMD_KIND_F32 || dst == AMD_KIND_F64 || dst == AMD_KIND_F16)
        r.d = finished(m, in, dst == AMD_KIND_F32 ? F32 : dst == AMD_KIND_F64 ? F64 : F16, r.d);
    else if (dst == AMD_KIND_PKF16)
        r.d = finished(m, in, F16, r.d & 65535) | finished(m, in, F16, r.d >> 16 & 65535) << 16;
    return r;
}

/* A step of tolerance: the result that the executor gave stands if it is near enough. */
static uint64_t accepted(unsigned kind, result r, uint64_t got)
{
    format f = kind == AMD_KIND_F64 ? F64 : kind == AMD_KIND_F16 ? F16 : F32;
    return r.near && steps_between(f, r.d, got & ones(f.bits)) <= r.near ? got & ones(f.bits) : r.d;
}

/* Changes *m as the instruction does; `got` is the executor's result. */
static void run_lanes(machine *m, const amd_inst *in, const machine *got)
{
    const char *name = amd_op_name((amd_op)in->op);
    static machine before;
    memcpy(&before, m, sizeof before);
    uint64_t exec = machine_exec(&before), bits = 0;
    bool is_16 = kind_bits(in->vdst.kind) == 16 || in->op == AMD_V_SAT_PK_U8_I16;
    bool keep = in->op == AMD_V_FMA_MIXLO_F16 || in->op == AMD_V_FMA_MIXHI_F16;
    bool high = in->op == AMD_V_FMA_MIXHI_F16 || (in->format == AMD_VOP3 && in->op_sel & 8);
    for (unsigned lane = 0; lane < before.wave.lanes; lane++) {
        bool off;
        if (!(exec >> lane & 1))
            continue;
        result r = lane_result(&before, in, lane, &off);
        if (off)
            continue;
        bits |= (uint64_t)r.bit << lane;
        if (is_compare(name))
            continue;
        unsigned reg = in->vdst.code - AMD_VGPR;
        bool wide = kind_bits(in->vdst.kind) == 64;
        uint64_t have = got->vgpr[reg][lane] | (wide ? (uint64_t)got->vgpr[reg + 1][lane] << 32 : 0);
        if (r.near && in->form == AMD_SDWA && in->sdwa.dst_sel < 6)
            have >>= in->sdwa.dst_sel < 4 ? 8 * in->sdwa.dst_sel : 16 * (in->sdwa.dst_sel - 4);
        r.d = accepted(in->vdst.kind, r, have);
        m->vgpr[reg][lane] = placed(&before, in, is_16, high, keep, before.vgpr[reg][lane], (uint32_t)r.d);
        if (wide)
            m->vgpr[reg + 1][lane] = (uint32_t)(r.d >> 32);
    }
    bool carry = in->format == AMD_VOP3B || strstr(name, "_co_") || strncmp(name, "v_addc", 6) == 0 ||
                 strncmp(name, "v_subb", 6) == 0 || in->op == AMD_V_ADD_U32 || in->op == AMD_V_SUB_U32 ||
                 in->op == AMD_V_SUBREV_U32;
    if (carry || is_compare(name))
        write_mask(m, in->sdst.code, bits);
    if (strncmp(name, "v_cmpx", 6) == 0)
        write_mask(m, AMD_EXEC_LO, bits);
}

/* Operations that are no function of one lane. False: it is not one of them. */
static bool run_special(machine *m, const amd_inst *in)
{
    static machine before;
    unsigned lanes = m->wave.lanes, code = in->src[0].code, reg = in->vdst.code - AMD_VGPR;
    uint64_t exec = machine_exec(m);
    uint32_t m0 = m->wave.sgpr[AMD_M0], from = 0, to = 0;
    memcpy(&before, m, sizeof before);
#define SCALAR(k) (uint32_t) scalar_operand(&before, in, in->src[k].code, AMD_KIND_B32, false)
    switch (in->op) {
    case AMD_V_NOP:
    case AMD_V_PIPEFLUSH:
        return true;
    case AMD_V_CLREXCP:
        m->wave.trapsts = before.wave.trapsts >> 9 << 9;
        return true;
    case AMD_V_READFIRSTLANE_B32:
    case AMD_V_READLANE_B32:
        if (in->op == AMD_V_READLANE_B32)
            from = SCALAR(1) % lanes;
        else
            while (from < lanes && !(exec >> from & 1))
                from++;
        if (in->vdst.code != AMD_NULL || m->wave.target == AMD_GFX803)
            m->wave.sgpr[in->vdst.code] = before.vgpr[code - AMD_VGPR][from % lanes];
        return true;
    case AMD_V_WRITELANE_B32:
        m->vgpr[reg][SCALAR(1) % lanes] = SCALAR(0);
        return true;
    case AMD_V_PERMLANE16_B32:
    case AMD_V_PERMLANEX16_B32:
        for (unsigned i = 0; i < lanes; i++) {
            unsigned pick = (i % 16 < 8 ? SCALAR(1) : SCALAR(2)) >> 4 * (i % 8) & 15;
            unsigned row = i / 16 * 16;
            if (in->op == AMD_V_PERMLANEX16_B32)
                row = row / 32 * 32 + (row % 32 ? 0 : 16);
            if (!(exec >> i & 1))
                continue;
            if (in->op_sel & 1 || exec >> (row + pick) & 1)
                m->vgpr[reg][i] = before.vgpr[code - AMD_VGPR][row + pick];
            else if (in->op_sel & 2)
                m->vgpr[reg][i] = 0;
        }
        return true;
    case AMD_V_MQSAD_U32_U8:
        for (unsigned i = 0; i < lanes; i++) {
            if (!(exec >> i & 1))
                continue;
            uint64_t bytes = fetch(&before, in, 0, i, false).bits,
                     reference = fetch(&before, in, 1, i, false).bits;
            for (unsigned k = 0; k < 4; k++)
                m->vgpr[reg + k][i] =
                    (uint32_t)wrap_u((s128)before.vgpr[in->src[2].code - AMD_VGPR + k][i] +
                                         byte_distance(bytes >> 8 * k & UINT32_MAX, reference, true),
                                     32, in->flags & AMD_CLAMP);
        }
        return true;
    case AMD_V_MOVRELS_B32:
    case AMD_V_MOVRELD_B32:
    case AMD_V_MOVRELSD_B32:
    case AMD_V_MOVRELSD_2_B32:
    case AMD_V_SWAP_B32:
    case AMD_V_SWAPREL_B32: {
        bool swaps = in->op == AMD_V_SWAP_B32 || in->op == AMD_V_SWAPREL_B32;
        bool two = in->op == AMD_V_MOVRELSD_2_B32 || in->op == AMD_V_SWAPREL_B32;
        from = two ? m0 & 0x3ff : in->op == AMD_V_MOVRELS_B32 || in->op == AMD_V_MOVRELSD_B32 ? m0 : 0;
        to = two ? m0 >> 16 & 0x3ff : in->op == AMD_V_MOVRELD_B32 || in->op == AMD_V_MOVRELSD_B32 ? m0 : 0;
        for (unsigned i = 0; i < lanes; i++) {
            if (!(exec >> i & 1))
                continue;
            uint32_t x = code >= AMD_VGPR ? before.vgpr[code - AMD_VGPR + from][i] : SCALAR(0);
            m->vgpr[reg + to][i] = x;
            if (swaps)
                m->vgpr[code - AMD_VGPR + from][i] = before.vgpr[reg + to][i];
        }
        return true;
    }
    default:
        return false;
    }
#undef SCALAR
}

/* ----------------------------------------------------------------------------------------------- running */

static _Alignas(64) uint32_t registers[(256 + 8) * 64];
static machine start, want, have;
static size_t covered[AMD_TARGET_COUNT][AMD_OP_COUNT];
static bool reported[AMD_OP_COUNT]; /* one message per operation is enough */
static unsigned wrong;

/* The executor on a copy of `start`; the outcome is in `have`. */
static void execute(const amd_inst *in, amd_body body)
{
    unsigned lanes = start.wave.lanes;
    static amd_group group = { .shared_base = 0, .private_base = 0 };
    for (unsigned r = 0; r < 256; r++)
        memcpy(registers + (size_t)r * lanes, start.vgpr[r], lanes * sizeof *registers);
    amd_wave wave = start.wave;
    wave.vgpr = registers;
    wave.vgpr_count = 256;
    wave.group = &group;
    body(&wave, in);
    amd_wave_rest(&wave);
    have.wave = wave;
    for (unsigned r = 0; r < 256; r++)
        memcpy(have.vgpr[r], registers + (size_t)r * lanes, lanes * sizeof *registers);
}

static bool is_news(const amd_inst *in)
{
    bool news = !reported[in->op];
    reported[in->op] = true;
    wrong++;
    return news;
}

static void report(const amd_inst *in, const char *text, const char *what, unsigned reg, unsigned lane,
                   uint32_t got, uint32_t expect)
{
    char sources[256] = "";
    size_t used = 0;
    for (unsigned k = 0; k < in->src_count && k < 3; k++) {
        uint64_t x = fetch(&start, in, k, lane, false).bits;
        used += (size_t)snprintf(sources + used, sizeof sources - used, " %llx", (unsigned long long)x);
    }
    print_message("%s, %u lanes, %s, mode %x: %s\n  %s%u of lane %u (sources%s, old %x): %x, not %x\n",
                  amd_target_name((amd_target)start.wave.target), start.wave.lanes, amd_exec_variant(),
                  start.wave.mode, text, what, reg, lane, sources,
                  in->vdst.code >= AMD_VGPR && in->vdst.code < AMD_VGPR + 256
                      ? start.vgpr[in->vdst.code - AMD_VGPR][lane]
                      : 0,
                  got, expect);
}

static void compare_state(const amd_inst *in, const char *text)
{
    for (unsigned r = 0; r < 256; r++)
        for (unsigned lane = 0; lane < start.wave.lanes; lane++)
            if (want.vgpr[r][lane] != have.vgpr[r][lane]) {
                if (is_news(in))
                    report(in, text, "v", r, lane, have.vgpr[r][lane], want.vgpr[r][lane]);
                return;
            }
    for (unsigned s = 0; s < 128; s++)
        if (want.wave.sgpr[s] != have.wave.sgpr[s]) {
            uint32_t differ = want.wave.sgpr[s] ^ have.wave.sgpr[s];
            unsigned lane = (unsigned)__builtin_ctz(differ) + (s & 1 ? 32 : 0);
            if (is_news(in))
                report(in, text, "s", s, lane % start.wave.lanes, have.wave.sgpr[s], want.wave.sgpr[s]);
            return;
        }
    if (have.wave.scc != start.wave.scc || have.wave.mode != start.wave.mode ||
        have.wave.trapsts != want.wave.trapsts || have.wave.pc != start.wave.pc ||
        have.wave.stop != AMD_RUNNING) {
        if (is_news(in))
            print_message("%s changes more than registers\n", text);
    }
}

/* Operands outside of the range of an index belong to other tests. */
static bool in_range(const amd_inst *in)
{
    /* LLVM decodes vector registers where these need one value for the whole wave. */
    bool writes = in->op == AMD_V_WRITELANE_B32, reads = in->op == AMD_V_READLANE_B32;
    bool permutes = in->op == AMD_V_PERMLANE16_B32 || in->op == AMD_V_PERMLANEX16_B32;
    if ((writes && in->src[0].code >= AMD_VGPR) ||
        ((writes || reads || permutes) && in->src[1].code >= AMD_VGPR) ||
        (permutes && in->src[2].code >= AMD_VGPR))
        return false;
    unsigned most = in->op == AMD_V_MQSAD_U32_U8 ? 3 : strstr(amd_op_name((amd_op)in->op), "rel") ? 3 : 1;
    if (in->vdst.code >= AMD_VGPR && in->vdst.code < AMD_NO_OPERAND && in->vdst.code - AMD_VGPR + most > 255)
        return in->vdst.dwords <= 1 && most == 1 && in->vdst.code < AMD_AGPR;
    if (in->vdst.code >= AMD_AGPR && in->vdst.code < AMD_NO_OPERAND)
        return false;
    /* No manual says which half these signs are for. */
    if (in->op == AMD_V_DOT2C_F32_F16 && in->format == AMD_VOP3 && (in->neg | in->abs))
        return false;
    for (unsigned k = 0; k < in->src_count && k < 3; k++) {
        unsigned code = in->src[k].code;
        if (code >= AMD_AGPR && code != AMD_NO_OPERAND) /* the other file: test_amd_exec_cdna.c */
            return false;
        if (code >= AMD_VGPR && code != AMD_NO_OPERAND && code - AMD_VGPR + most > 255 &&
            (in->src[k].dwords > 1 || most > 1))
            return false;
        if (code == AMD_NULL && start.wave.target == AMD_GFX803) /* the code means nothing there */
            return false;
        if (code == AMD_LDS_DIRECT || code == AMD_POPS_WAVE_ID ||
            (code >= AMD_SHARED_BASE && code <= AMD_PRIVATE_LIMIT))
            return false;
    }
    return true;
}

static const uint32_t modes[] = {
    0x2f0, 0x0c0, 0x1c0, 0x000, 0x130, 0x0f5, 0x2fa, 0x1ff, 0x050, 0x2a0, 0x0e6, 0x319,
};

static void check(amd_target target, unsigned lanes, const amd_inst *in, const char *text, uint64_t *seed)
{
    start.wave.target = (uint8_t)target;
    if (!in_range(in))
        return;
    bool special = !models[in->op] && !is_compare(amd_op_name((amd_op)in->op));
    facts_fill(&start, target, lanes, in, seed);
    start.wave.mode = modes[facts_random(seed) % (sizeof modes / sizeof *modes)];
    for (size_t v = 0; amd_exec_variant_name(v); v++) {
        if (!amd_exec_use_variant(amd_exec_variant_name(v)))
            continue;
        amd_body body = amd_exec_find(target, lanes, in);
        if (!body)
            return;
        execute(in, body);
        memcpy(&want, &start, sizeof want);
        if (special) {
            if (!run_special(&want, in)) /* no row: the completeness test names it */
                return;
        } else {
            run_lanes(&want, in, &have);
        }
        compare_state(in, text);
        covered[target][in->op]++;
    }
}

static uint64_t seed_of_line;
static void check_line(amd_target target, unsigned lanes, const amd_inst *in, const char *text)
{
    bool vector = in->format >= AMD_VOP1 && in->format <= AMD_VOP3P;
    static unsigned line;
    /* Most of gfx9 is what the other targets have: of its further forms, a part. */
    if (amd_target_is_gfx9(target) && covered[target][in->op] >= 4 && ++line % 8 != 0)
        return;
    unsigned rounds = in->form == AMD_PLAIN && covered[target][in->op] < 24 ? 4 : 1;
    for (unsigned n = 0; vector && n < rounds; n++)
        check(target, lanes, in, text, &seed_of_line);
}

/* Forms that the files lack, because LLVM 15 prints them without checking their operands. */
static void check_more(void)
{
    static const char *const lines[] = {
        /* clang-format off */
        "02cb027e\tv_swap_b32 v1, v2",
        "04cb087e\tv_swap_b32 v4, v4",
        "03cb907f\tv_swap_b32 v200, v3",
        "02d1027e\tv_swaprel_b32 v1, v2",
        "04d1087e\tv_swaprel_b32 v4, v4",
        "03d1907f\tv_swaprel_b32 v200, v3",
        "040077d701050c00\tv_permlane16_b32 v4, v1, s2, s3 op_sel:0",
        "040077d701831502\tv_permlane16_b32 v4, v1, -1, 5 op_sel:0",
        "040077d701d5ac01\tv_permlane16_b32 v4, v1, vcc_lo, vcc_hi op_sel:0",
        "040877d701050c00\tv_permlane16_b32 v4, v1, s2, s3 op_sel:1",
        "040877d701831502\tv_permlane16_b32 v4, v1, -1, 5 op_sel:1",
        "040877d701d5ac01\tv_permlane16_b32 v4, v1, vcc_lo, vcc_hi op_sel:1",
        "041077d701050c00\tv_permlane16_b32 v4, v1, s2, s3 op_sel:2",
        "041077d701831502\tv_permlane16_b32 v4, v1, -1, 5 op_sel:2",
        "041077d701d5ac01\tv_permlane16_b32 v4, v1, vcc_lo, vcc_hi op_sel:2",
        "041877d701050c00\tv_permlane16_b32 v4, v1, s2, s3 op_sel:3",
        "041877d701831502\tv_permlane16_b32 v4, v1, -1, 5 op_sel:3",
        "041877d701d5ac01\tv_permlane16_b32 v4, v1, vcc_lo, vcc_hi op_sel:3",
        "040078d701050c00\tv_permlanex16_b32 v4, v1, s2, s3 op_sel:0",
        "040078d701831502\tv_permlanex16_b32 v4, v1, -1, 5 op_sel:0",
        "040078d701d5ac01\tv_permlanex16_b32 v4, v1, vcc_lo, vcc_hi op_sel:0",
        "040878d701050c00\tv_permlanex16_b32 v4, v1, s2, s3 op_sel:1",
        "040878d701831502\tv_permlanex16_b32 v4, v1, -1, 5 op_sel:1",
        "040878d701d5ac01\tv_permlanex16_b32 v4, v1, vcc_lo, vcc_hi op_sel:1",
        "041078d701050c00\tv_permlanex16_b32 v4, v1, s2, s3 op_sel:2",
        "041078d701831502\tv_permlanex16_b32 v4, v1, -1, 5 op_sel:2",
        "041078d701d5ac01\tv_permlanex16_b32 v4, v1, vcc_lo, vcc_hi op_sel:2",
        "041878d701050c00\tv_permlanex16_b32 v4, v1, s2, s3 op_sel:3",
        "041878d701831502\tv_permlanex16_b32 v4, v1, -1, 5 op_sel:3",
        "041878d701d5ac01\tv_permlanex16_b32 v4, v1, vcc_lo, vcc_hi op_sel:3",
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (unsigned lanes = 32; lanes <= 64; lanes += 32)
            for (int t = AMD_GFX1010; t <= AMD_GFX1030; t++)
                facts_line((amd_target)t, lanes, lines[i], check_line);
    for (unsigned target = AMD_GFX90A; target <= AMD_GFX942; target++) /* at another opcode */
        facts_line((amd_target)target, 64, "02a3027e\tv_swap_b32 v1, v2", check_line);
}

static void test_against_model(void **state)
{
    (void)state;
    seed_of_line = 20;
    facts_each(check_line);
    check_more();
    assert_int_equal(wrong, 0);
}

/* A row per executed operation, and each was compared on each target that has it. */
static void test_complete(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (int t = 0; t < AMD_TARGET_COUNT; t++)
        for (int op = 1; op < AMD_OP_COUNT; op++) {
            const char *name = amd_op_name((amd_op)op);
            if (strncmp(name, "v_", 2) != 0 || !amd_exec_has((amd_target)t, (amd_op)op))
                continue;
            /* test_amd_exec_cdna.c has these. */
            bool elsewhere = strstr(name, "mfma") || strstr(name, "accvgpr") || strstr(name, "fp8") ||
                             strstr(name, "bf8") ||
                             (strncmp(name, "v_pk_", 5) == 0 && (strstr(name, "f32") || strstr(name, "b32")));
            if (!covered[t][op] && !elsewhere) {
                print_message("%s on %s has no row in model/valu.def, or was never run\n", name,
                              amd_target_name((amd_target)t));
                missing++;
            }
        }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_model),
                                        cmocka_unit_test(test_complete) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
