/* salu.c: the bodies of the scalar unit, stamped from salu.def, and its operands and hardware registers.
 * Knows one wave only; its caller decides how a barrier or the end of a wave acts. */
#include "isa/amd/exec/salu.h"
#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/ints.h"

/* --- operands ------------------------------------------------------------------------------------------- */

static uint64_t vcc_now(const amd_wave *w)
{
    return w->lanes == 32 ? w->sgpr[AMD_VCC_LO] : w->sgpr[AMD_VCC_LO] | (uint64_t)w->sgpr[AMD_VCC_HI] << 32;
}

uint32_t salu_constant(const amd_wave *w, const amd_inst *in, unsigned code)
{
    static const uint32_t floats[9] = { 0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983 };
    if (code <= AMD_INT_0 + 64)
        return code - AMD_INT_0;
    if (code >= AMD_INT_MINUS && code < AMD_INT_MINUS + 16)
        return 0u - (code - AMD_INT_MINUS + 1);
    if (code >= AMD_FLOAT && code < AMD_FLOAT + 9)
        return floats[code - AMD_FLOAT];
    switch (code) {
    case AMD_LITERAL:
        return in->literal;
    case AMD_SCC:
        return w->scc;
    case AMD_VCCZ:
        return vcc_now(w) == 0;
    case AMD_EXECZ:
        return amd_wave_exec(w) == 0;
    case AMD_SHARED_BASE: /* the apertures' upper halves stand in the upper word of 64 bits */
    case AMD_PRIVATE_BASE:
    case AMD_SHARED_LIMIT:
    case AMD_PRIVATE_LIMIT:
        return (uint32_t)salu_constant64(w, in, code);
    case AMD_POPS_WAVE_ID:
    default:
        return 0;
    }
}

uint64_t salu_constant64(const amd_wave *w, const amd_inst *in, unsigned code)
{
    static const uint64_t floats[9] = { UINT64_C(0x3fe0000000000000), UINT64_C(0xbfe0000000000000),
                                        UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000000),
                                        UINT64_C(0x4000000000000000), UINT64_C(0xc000000000000000),
                                        UINT64_C(0x4010000000000000), UINT64_C(0xc010000000000000),
                                        UINT64_C(0x3fc45f306dc9c882) };
    if (code >= AMD_FLOAT && code < AMD_FLOAT + 9)
        return floats[code - AMD_FLOAT];
    if (code >= AMD_INT_MINUS && code < AMD_INT_MINUS + 16)
        return (uint64_t)(int64_t)(int32_t)salu_constant(w, in, code);
    switch (code) {
    case AMD_NULL:
        return w->target == AMD_GFX803 ? w->sgpr[code] : 0;
    case AMD_SHARED_BASE:
        return w->group ? w->group->shared_base : 0;
    case AMD_SHARED_LIMIT:
        return (w->group ? w->group->shared_base : 0) | UINT32_MAX;
    case AMD_PRIVATE_BASE:
        return w->group ? w->group->private_base : 0;
    case AMD_PRIVATE_LIMIT:
        return (w->group ? w->group->private_base : 0) | UINT32_MAX;
    default:
        return salu_constant(w, in, code);
    }
}

static inline void write32(amd_wave *w, unsigned code, uint32_t value)
{
    if (__builtin_expect(code == AMD_NULL, 0) && w->target != AMD_GFX803)
        return;
    w->sgpr[code & 127u] = value;
}

static inline void write64(amd_wave *w, unsigned code, uint64_t value)
{
    if (__builtin_expect(code >= AMD_NULL, 0)) {
        if (code != AMD_EXEC_LO)
            return;
    }
    memcpy(&w->sgpr[code], &value, sizeof value);
}

static inline uint32_t source_U32(const amd_wave *w, const amd_inst *in, unsigned k)
{
    return salu_read32(w, in, in->src[k].code);
}
static inline int32_t source_I32(const amd_wave *w, const amd_inst *in, unsigned k)
{
    return (int32_t)salu_read32(w, in, in->src[k].code);
}
static inline uint64_t source_U64(const amd_wave *w, const amd_inst *in, unsigned k)
{
    return salu_read64(w, in, in->src[k].code);
}
static inline int64_t source_I64(const amd_wave *w, const amd_inst *in, unsigned k)
{
    if (in->src[k].code == AMD_LITERAL)
        return (int32_t)in->literal;
    return (int64_t)salu_read64(w, in, in->src[k].code);
}

/* A register number with an index must not leave the file. */
static unsigned bounded(unsigned code, unsigned words)
{
    return code + words <= AMD_VCC_LO ? code : 0;
}

static unsigned relative(const amd_wave *w, unsigned code, unsigned words)
{
    return bounded(code + (w->sgpr[AMD_M0] & 0xffffu), words);
}

/* --- bits ----------------------------------------------------------------------------------------------- */

/* Each group of four lanes with any bit set becomes whole. */
static uint64_t whole_quads(uint64_t x)
{
    x |= x >> 1;
    x |= x >> 2;
    x &= UINT64_C(0x1111111111111111);
    return x * 15;
}

static uint32_t quad_mask(uint64_t x)
{
    uint32_t r = 0;
    for (unsigned k = 0; k < 16; k++)
        r |= (x >> 4 * k & 15 ? 1u : 0u) << k;
    return r;
}

static uint64_t bit_replicate(uint32_t x)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 32; k++)
        r |= (uint64_t)(x >> k & 1 ? 3u : 0u) << 2 * k;
    return r;
}

static uint64_t field(uint64_t x, uint32_t offset, uint32_t width)
{
    return width >= 64 ? x >> offset : x >> offset & ((UINT64_C(1) << width) - 1);
}

static uint64_t field_signed(int64_t x, uint32_t offset, uint32_t width, uint32_t bits)
{
    if (width == 0)
        return 0;
    if (offset + width >= bits)
        return (uint64_t)(x >> offset);
    return (uint64_t)((int64_t)((uint64_t)x << (64 - offset - width)) >> (64 - width));
}

/* --- control -------------------------------------------------------------------------------------------- */

static inline void branch(amd_wave *w, const amd_inst *in)
{
    w->pc += (uint64_t)((int64_t)in->simm * 4);
}

static void trap(amd_wave *w, uint32_t id)
{
    w->stop = AMD_FAULTED;
    w->fault = (ls_fault){ .kind = LS_FAULT_TRAP, .address = id };
}

_Atomic uint64_t amd_message_count;

/* Waves of all threads count together; the order does not matter. */
static void message(const amd_wave *w)
{
    (void)w;
    atomic_fetch_add_explicit(&amd_message_count, 1, memory_order_relaxed);
}

/* Only a trap handler or a debugger could let the wave go on. */
static void halt(amd_wave *w)
{
    w->stop = AMD_FAULTED;
    w->fault = (ls_fault){ .kind = LS_FAULT_HALT };
}

static void set_index(amd_wave *w, uint32_t index, uint32_t operands)
{
    w->sgpr[AMD_M0] = (w->sgpr[AMD_M0] & 0xffff0f00u) | index | operands << 12;
}

/* The second source of s_set_gpr_idx_on is the field itself: four bits that name operands. */
static uint32_t gpr_idx_mode(const amd_inst *in)
{
    unsigned code = in->src[1].code;
    if (in->src_count < 2 || code == AMD_NO_OPERAND)
        return (uint32_t)in->simm & 15u;
    return (code >= AMD_INT_0 ? code - AMD_INT_0 : code) & 15u;
}

static unsigned setreg_source(const amd_inst *in)
{
    return in->src_count && in->src[0].code != AMD_NO_OPERAND ? in->src[0].code : in->sdst.code;
}

/* s_subvector_loop: the low half of EXEC first, then the high one, the other half kept in sdst. */
static void subvector_begin(amd_wave *w, const amd_inst *in)
{
    uint32_t *low = &w->sgpr[AMD_EXEC_LO], *high = &w->sgpr[AMD_EXEC_HI];
    if (!*low && !*high) {
        branch(w, in);
    } else if (!*low) {
        write32(w, in->sdst.code, *low);
    } else {
        write32(w, in->sdst.code, *high);
        *high = 0;
    }
}

static void subvector_end(amd_wave *w, const amd_inst *in)
{
    uint32_t *low = &w->sgpr[AMD_EXEC_LO], *high = &w->sgpr[AMD_EXEC_HI];
    uint32_t saved = w->sgpr[in->sdst.code & 127u];
    if (*high) {
        *low = saved;
    } else if (!saved) {
        return;
    } else {
        *high = saved;
        write32(w, in->sdst.code, *low);
        *low = 0;
        branch(w, in);
    }
}

/* --- hardware registers --------------------------------------------------------------------------------- */

enum {
    HWREG_MODE = 1,
    HWREG_STATUS,
    HWREG_TRAPSTS,
    HWREG_HW_ID,
    HWREG_GPR_ALLOC,
    HWREG_LDS_ALLOC,
    HWREG_IB_STS,
    HWREG_SH_MEM_BASES = 15,
    HWREG_FLAT_SCR_LO = 20,
    HWREG_FLAT_SCR_HI = 21,
    HWREG_XNACK_MASK = 22,
    HWREG_SHADER_CYCLES = 29
};

static uint32_t status(const amd_wave *w)
{
    uint32_t r = w->scc;
    r |= (uint32_t)(amd_wave_exec(w) == 0) << 9;
    r |= (uint32_t)(vcc_now(w) == 0) << 10;
    r |= 1u << 11;       /* in a work-group */
    return r | 1u << 16; /* valid */
}

static uint32_t hwreg(const amd_wave *w, uint32_t id)
{
    bool gfx10 = amd_target_is_gfx10((amd_target)w->target);
    switch (id) {
    case HWREG_MODE:
        return w->mode;
    case HWREG_STATUS:
        return status(w);
    case HWREG_TRAPSTS:
        return w->trapsts;
    case HWREG_HW_ID:
        return w->index & 15u; /* the slot of the wave; all else is one compute unit's first */
    case HWREG_GPR_ALLOC:
        return (uint32_t)(w->vgpr_count ? (w->vgpr_count - 1u) / 4u : 0u) << 8 & 0x3f00u;
    case HWREG_LDS_ALLOC:
        return w->group ? ((w->group->lds_bytes + 255u) / 256u & 0x1ffu) << 12 : 0;
    case HWREG_SH_MEM_BASES:
        return w->group
                   ? (uint32_t)(w->group->private_base >> 48) | (uint32_t)(w->group->shared_base >> 48) << 16
                   : 0;
    case HWREG_FLAT_SCR_LO:
        return gfx10 && w->group ? (uint32_t)w->group->scratch : 0;
    case HWREG_FLAT_SCR_HI:
        return gfx10 && w->group ? (uint32_t)(w->group->scratch >> 32) : 0;
    case HWREG_SHADER_CYCLES:
        return (uint32_t)w->time & 0xfffffu;
    default:
        return 0;
    }
}

/* simm16: register in bits 5:0, first bit in 10:6, width - 1 in 15:11. */
static uint32_t salu_getreg(const amd_wave *w, uint32_t simm)
{
    return (uint32_t)field(hwreg(w, simm & 63u), simm >> 6 & 31u, (simm >> 11 & 31u) + 1u);
}

/* MODE and TRAPSTS can be written. A write to any other register has no effect, as on the hardware. */
static void salu_setreg(amd_wave *w, uint32_t simm, uint32_t value)
{
    uint32_t offset = simm >> 6 & 31u, width = (simm >> 11 & 31u) + 1u;
    uint32_t mask = (uint32_t)((UINT64_C(1) << width) - 1u) << offset;
    uint32_t id = simm & 63u;
    if (id == HWREG_MODE) {
        w->mode = (w->mode & ~mask) | (value << offset & mask);
        if (!amd_target_is_gfx10((amd_target)w->target))
            w->gpr_idx_mode = w->mode >> 27 & 1u;
    } else if (id == HWREG_TRAPSTS) {
        w->trapsts = (w->trapsts & ~mask) | (value << offset & mask);
    }
}

/* --- bodies --------------------------------------------------------------------------------------------- */

#define TYPE_U32 uint32_t
#define TYPE_I32 int32_t
#define TYPE_U64 uint64_t
#define TYPE_I64 int64_t
#define WRITE_U32 write32
#define WRITE_U64 write64
#define OLD_U32(w, in) (w)->sgpr[(in)->sdst.code & 127u]
#define OLD_U64(w, in) salu_read64(w, in, (in)->sdst.code)

#define BODY_(op, ...)                                                                                        \
    static void body_##op(amd_wave *w, const amd_inst *in)                                                    \
    {                                                                                                         \
        (void)in;                                                                                             \
        __VA_ARGS__                                                                                           \
    }
#define SCC w->scc
#define S1(op, TD, T0, ...)                                                                                   \
    BODY_(op, TYPE_##T0 S0 = source_##T0(w, in, 0); TYPE_##TD D; __VA_ARGS__; WRITE_##TD(w, in->sdst.code, D);)
#define SD(op, TD, T0, ...)                                                                                   \
    BODY_(op, TYPE_##T0 S0 = source_##T0(w, in, 0); TYPE_##TD D = OLD_##TD(w, in); __VA_ARGS__;               \
          WRITE_##TD(w, in->sdst.code, D);)
#define S2(op, TD, T0, T1, ...)                                                                               \
    BODY_(op, TYPE_##T0 S0 = source_##T0(w, in, 0); TYPE_##T1 S1 = source_##T1(w, in, 1); TYPE_##TD D;        \
          __VA_ARGS__; WRITE_##TD(w, in->sdst.code, D);)
#define SN(op, T0, T1, ...)                                                                                   \
    BODY_(op, TYPE_##T0 S0 = source_##T0(w, in, 0); TYPE_##T1 S1 = source_##T1(w, in, 1); __VA_ARGS__;)
#define SK(op, ...)                                                                                           \
    BODY_(op, uint32_t D = OLD_U32(w, in); int32_t K = in->simm; (void)D; __VA_ARGS__;                        \
          write32(w, in->sdst.code, D);)
#define SC(op, condition)                                                                                     \
    BODY_(op, uint32_t S0 = w->sgpr[setreg_source(in) & 127u]; int32_t K = in->simm; SCC = condition;)
#define SX(op, ...) BODY_(op, __VA_ARGS__;)
#define EXEC64(op, x)                                                                                         \
    BODY_(op, uint64_t S0 = source_U64(w, in, 0), EXEC = salu_read64(w, in, AMD_EXEC_LO);                     \
          write64(w, in->sdst.code, EXEC); EXEC = x; write64(w, AMD_EXEC_LO, EXEC); SCC = EXEC != 0;)
#define EXEC32(op, x)                                                                                         \
    BODY_(op, uint32_t S0 = source_U32(w, in, 0), EXEC = w->sgpr[AMD_EXEC_LO];                                \
          write32(w, in->sdst.code, EXEC); EXEC = x; w->sgpr[AMD_EXEC_LO] = EXEC; SCC = EXEC != 0;)
#define WREXEC64(op, x)                                                                                       \
    BODY_(op, uint64_t S0 = source_U64(w, in, 0), EXEC = salu_read64(w, in, AMD_EXEC_LO); EXEC = x;           \
          write64(w, AMD_EXEC_LO, EXEC); write64(w, in->sdst.code, EXEC); SCC = EXEC != 0;)
#define WREXEC32(op, x)                                                                                       \
    BODY_(op, uint32_t S0 = source_U32(w, in, 0), EXEC = w->sgpr[AMD_EXEC_LO]; EXEC = x;                      \
          w->sgpr[AMD_EXEC_LO] = EXEC; write32(w, in->sdst.code, EXEC); SCC = EXEC != 0;)
#include "isa/amd/exec/salu.def"
#undef S1
#undef SD
#undef S2
#undef SN
#undef SK
#undef SC
#undef SX
#undef EXEC64
#undef EXEC32
#undef WREXEC64
#undef WREXEC32

#define ENTRY_(op) [AMD_##op] = body_##op,
#define S1(op, ...) ENTRY_(op)
#define SD(op, ...) ENTRY_(op)
#define S2(op, ...) ENTRY_(op)
#define SN(op, ...) ENTRY_(op)
#define SK(op, ...) ENTRY_(op)
#define SC(op, ...) ENTRY_(op)
#define SX(op, ...) ENTRY_(op)
#define EXEC64(op, x) ENTRY_(op)
#define EXEC32(op, x) ENTRY_(op)
#define WREXEC64(op, x) ENTRY_(op)
#define WREXEC32(op, x) ENTRY_(op)
static const amd_body bodies[AMD_OP_COUNT] = {
#include "isa/amd/exec/salu.def"
};

amd_body salu_find(amd_target target, const amd_inst *inst)
{
    (void)target;
    return inst->op < AMD_OP_COUNT ? bodies[inst->op] : NULL;
}

bool salu_has(amd_op op)
{
    return bodies[op] != NULL;
}

/* --- entries of direct lists (direct.h) ----------------------------------------------------------------- */

/* The same rows, with operands whose places are known. */
#define GET_U32(k_) (DIRECT_WORD(w, s->src[k_]) + s->k[2 * (k_)])
#define GET_I32(k_) ((int32_t)GET_U32(k_))
#define GET_U64(k_) (direct_read64(w, s->src[k_]) + s->k64[k_])
#define GET_I64(k_) ((int64_t)GET_U64(k_))
#define PUT_(D) memcpy((char *)w + s->d, &(D), sizeof(D))
static inline uint64_t direct_read64(const amd_wave *w, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)w + offset, sizeof value);
    return value;
}

/* A statement may return, so it has a function of its own. */
#define DIRECT_(op, ...)                                                                                      \
    __attribute__((always_inline)) static inline void core_##op(amd_wave *w, const amd_direct *s)             \
    {                                                                                                         \
        (void)s;                                                                                              \
        __VA_ARGS__                                                                                           \
    }                                                                                                         \
    static const amd_direct *direct_##op(amd_wave *w, const amd_direct *s)                                    \
    {                                                                                                         \
        core_##op(w, s);                                                                                      \
        DIRECT_NEXT(w, s);                                                                                    \
    }
#undef S1
#undef SD
#undef S2
#undef SN
#undef SK
#undef SC
#undef SX
#undef EXEC64
#undef EXEC32
#undef WREXEC64
#undef WREXEC32
#define S1(op, TD, T0, ...) DIRECT_(op, TYPE_##T0 S0 = GET_##T0(0); TYPE_##TD D; __VA_ARGS__; PUT_(D);)
#define S2(op, TD, T0, T1, ...)                                                                               \
    DIRECT_(op, TYPE_##T0 S0 = GET_##T0(0); TYPE_##T1 S1 = GET_##T1(1); TYPE_##TD D; __VA_ARGS__; PUT_(D);)
#define SN(op, T0, T1, ...) DIRECT_(op, TYPE_##T0 S0 = GET_##T0(0); TYPE_##T1 S1 = GET_##T1(1); __VA_ARGS__;)
#define SK(op, ...)                                                                                           \
    DIRECT_(op, uint32_t D = DIRECT_WORD(w, s->d); int32_t K = (int32_t)s->k[0]; (void)D; __VA_ARGS__;        \
            PUT_(D);)
#define SC(op, condition)                                                                                     \
    DIRECT_(op, uint32_t S0 = DIRECT_WORD(w, s->src[0]); int32_t K = (int32_t)s->k[0]; SCC = condition;)
#define SD(op, ...)
#define SX(op, ...)
#define EXEC64(op, x)
#define EXEC32(op, x)
#define WREXEC64(op, x)
#define WREXEC32(op, x)
#include "isa/amd/exec/salu.def"
#undef S1
#undef S2
#undef SN
#undef SK
#undef SC

typedef enum salu_type { SALU_NONE, SALU_U32, SALU_I32, SALU_U64, SALU_I64 } salu_type;
typedef struct salu_direct {
    amd_run run;
    uint8_t dst, src[2]; /* salu_type */
    bool k, compares;    /* SOPK, and those of it that compare */
} salu_direct;
#define S1(op, TD, T0, ...) [AMD_##op] = { direct_##op, SALU_##TD, { SALU_##T0, 0 }, false, false },
#define S2(op, TD, T0, T1, ...)                                                                               \
    [AMD_##op] = { direct_##op, SALU_##TD, { SALU_##T0, SALU_##T1 }, false, false },
#define SN(op, T0, T1, ...) [AMD_##op] = { direct_##op, SALU_NONE, { SALU_##T0, SALU_##T1 }, false, false },
#define SK(op, ...) [AMD_##op] = { direct_##op, SALU_U32, { 0, 0 }, true, false },
#define SC(op, ...) [AMD_##op] = { direct_##op, SALU_NONE, { 0, 0 }, true, true },
static const salu_direct directs[AMD_OP_COUNT] = {
#include "isa/amd/exec/salu.def"
};

/* Registers and constants; special registers stay with the bodies. */
static bool salu_direct_source(const amd_inst *inst, unsigned k, salu_type type, amd_direct *out)
{
    unsigned code = inst->src[k].code;
    bool wide = type == SALU_U64 || type == SALU_I64;
    out->src[k] = amd_direct_sgpr(code);
    if (code < AMD_INT_0)
        return wide ? code != AMD_NULL && code < AMD_EXEC_HI : true;
    out->src[k] = offsetof(amd_wave, zero);
    if (!(code <= AMD_INT_MINUS + 15 || (code >= AMD_FLOAT && code < AMD_FLOAT + 9) || code == AMD_LITERAL))
        return false;
    if (type == SALU_I64 && code == AMD_LITERAL)
        out->k64[k] = (uint64_t)(int64_t)(int32_t)inst->literal;
    else
        out->k64[k] = wide ? salu_constant64(NULL, inst, code) : salu_constant(NULL, inst, code);
    return true;
}

bool amd_direct_salu(amd_target target, const amd_inst *inst, amd_direct *out)
{
    const salu_direct *row = &directs[inst->op];
    (void)target;
    if (!row->run)
        return false;
    out->run = row->run;
    unsigned code = inst->sdst.code;
    if (row->compares)
        code = setreg_source(inst) & 127u;
    if (row->k) {
        out->k[0] = (uint32_t)inst->simm;
        out->src[0] = out->d = amd_direct_sgpr(code);
        return code < AMD_INT_0 && code != AMD_NULL;
    }
    for (unsigned k = 0; k < 2; k++)
        if (row->src[k] != SALU_NONE && !salu_direct_source(inst, k, (salu_type)row->src[k], out))
            return false;
    out->d = amd_direct_sgpr(code);
    return row->dst == SALU_NONE ||
           (code < AMD_INT_0 && code != AMD_NULL && !(row->dst == SALU_U64 && code == AMD_EXEC_HI));
}

/* Branches: the place to go to is known. */
#define BRANCH_(op, condition)                                                                                \
    static const amd_direct *branch_##op(amd_wave *w, const amd_direct *s)                                    \
    {                                                                                                         \
        w->pc = s->next + ((condition) ? s->k64[0] : 0);                                                      \
        return s;                                                                                             \
    }
BRANCH_(S_BRANCH, true)
BRANCH_(S_CBRANCH_SCC0, !w->scc)
BRANCH_(S_CBRANCH_SCC1, w->scc)
BRANCH_(S_CBRANCH_VCCZ, !vcc_now(w))
BRANCH_(S_CBRANCH_VCCNZ, vcc_now(w))
BRANCH_(S_CBRANCH_EXECZ, !amd_wave_exec(w))
BRANCH_(S_CBRANCH_EXECNZ, amd_wave_exec(w))
#undef BRANCH_

bool amd_direct_branch(const amd_inst *inst, amd_direct *out)
{
    static const struct {
        amd_op op;
        amd_run run;
    } branches[] = { { AMD_S_BRANCH, branch_S_BRANCH },
                     { AMD_S_CBRANCH_SCC0, branch_S_CBRANCH_SCC0 },
                     { AMD_S_CBRANCH_SCC1, branch_S_CBRANCH_SCC1 },
                     { AMD_S_CBRANCH_VCCZ, branch_S_CBRANCH_VCCZ },
                     { AMD_S_CBRANCH_VCCNZ, branch_S_CBRANCH_VCCNZ },
                     { AMD_S_CBRANCH_EXECZ, branch_S_CBRANCH_EXECZ },
                     { AMD_S_CBRANCH_EXECNZ, branch_S_CBRANCH_EXECNZ } };
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        if (inst->op != branches[i].op)
            continue;
        out->run = branches[i].run;
        out->k64[0] = (uint64_t)((int64_t)inst->simm * 4);
        return true;
    }
    return false;
}
