/* exec.c: finds the body of an instruction. Also code that all variants share: choice of variant, scalar
 * operands, DPP's lane patterns. The only state is the variant, chosen once per process by the host's
 * features. */
#include "isa/amd/exec/exec.h"
#include "isa/amd/exec/lanes.h"
#include "isa/amd/exec/matrix.h"
#include "isa/amd/exec/salu.h"

#include <stdatomic.h>
#if defined(LANES_HAVE_AVX2)
#include <cpuid.h>
#endif

#define FOUR_ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX
#define SIXTEEN_ FOUR_, FOUR_, FOUR_, FOUR_
const uint32_t lanes_ones[64] __attribute__((aligned(64))) = { SIXTEEN_, SIXTEEN_, SIXTEEN_, SIXTEEN_ };
#define LOW_4_ 0xffffu, 0xffffu, 0xffffu, 0xffffu
#define LOW_16_ LOW_4_, LOW_4_, LOW_4_, LOW_4_
const uint32_t lanes_low[64] __attribute__((aligned(64))) = { LOW_16_, LOW_16_, LOW_16_, LOW_16_ };

#define PLUS_(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define MINUS_(n) -(n), -(n)-1, -(n)-2, -(n)-3, -(n)-4, -(n)-5, -(n)-6, -(n)-7
const int32_t lanes_inline[128] = {
    PLUS_(0),    PLUS_(8),   PLUS_(16),   PLUS_(24),  PLUS_(32),   PLUS_(40),
    PLUS_(48),   PLUS_(56),  64,          MINUS_(1),  MINUS_(9),   [AMD_FLOAT - AMD_INT_0] = 0x3f000000,
    -0x41000000, 0x3f800000, -0x40800000, 0x40000000, -0x40000000, 0x40800000,
    -0x3f800000, 0x3e22f983,
};

/* --- variants ------------------------------------------------------------------------------------------- */

static const lanes_variant *const variants[] = {
#if defined(LANES_HAVE_AVX512)
    &lanes_variant_avx512,
#endif
#if defined(LANES_HAVE_AVX2)
    &lanes_variant_avx2,
#endif
    &lanes_variant_plain,
};
#define VARIANTS (sizeof variants / sizeof *variants)

#if defined(LANES_HAVE_AVX2)
/* Conversions of halves; the compilers' own question does not know the word everywhere. */
static bool host_has_f16c(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && c >> 29 & 1u;
}
#endif

static bool host_has(const lanes_variant *variant)
{
#if defined(LANES_HAVE_AVX512)
    if (variant == &lanes_variant_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && host_has_f16c();
#endif
#if defined(LANES_HAVE_AVX2)
    if (variant == &lanes_variant_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && host_has_f16c();
#endif
    return variant == &lanes_variant_plain;
}

static _Atomic(const lanes_variant *) chosen;

static const lanes_variant *variant_now(void)
{
    const lanes_variant *now = atomic_load_explicit(&chosen, memory_order_relaxed);
    for (size_t k = 0; !now && k < VARIANTS; k++)
        if (host_has(variants[k]))
            now = variants[k];
    atomic_store_explicit(&chosen, now, memory_order_relaxed);
    return now;
}

const char *amd_exec_variant(void)
{
    return variant_now()->name;
}

const char *amd_exec_variant_name(size_t index)
{
    return index < VARIANTS ? variants[index]->name : NULL;
}

bool amd_exec_use_variant(const char *name)
{
    for (size_t k = 0; k < VARIANTS; k++) {
        if (strcmp(variants[k]->name, name) == 0 && host_has(variants[k])) {
            atomic_store_explicit(&chosen, variants[k], memory_order_relaxed);
            return true;
        }
    }
    return false;
}

/* --- looking up ----------------------------------------------------------------------------------------- */

amd_body amd_exec_find(amd_target target, unsigned lanes, const amd_inst *inst)
{
    switch (inst->format) {
    case AMD_SOP1:
    case AMD_SOP2:
    case AMD_SOPK:
    case AMD_SOPC:
    case AMD_SOPP:
        return salu_find(target, inst);
    case AMD_VOP1:
    case AMD_VOP2:
    case AMD_VOPC:
    case AMD_VOP3:
    case AMD_VOP3B:
    case AMD_VOP3P:
        if (amd_matrix_of(inst->op))
            return amd_matrix_body;
        if (amd_dpp_is_void(inst))
            return NULL;
        /* cppcheck-suppress CastIntegerToAddressAtReturn ; find returns this type of function too */
        return variant_now()->find(target, lanes, inst);
    case AMD_VINTRP:
    case AMD_EXP:
        return NULL; /* compute has neither parameters nor exports */
    default:
        return amd_exec_find_memory(target, lanes, inst);
    }
}

unsigned amd_direct_valu(amd_target target, unsigned lanes, const amd_inst *inst, amd_direct *out)
{
    return variant_now()->direct(target, lanes, inst, out);
}

bool amd_exec_has(amd_target target, amd_op op)
{
    if (op <= AMD_OP_INVALID || op >= AMD_OP_COUNT || !amd_op_exists(target, op))
        return false;
    if (salu_has(op) || lanes_variant_plain.has(op) || amd_matrix_of(op))
        return true;
    amd_inst inst = { .op = (uint16_t)op };
    static const amd_format memory[] = { AMD_SMEM, AMD_DS,   AMD_MUBUF,  AMD_MTBUF,
                                         AMD_MIMG, AMD_FLAT, AMD_GLOBAL, AMD_SCRATCH };
    for (size_t k = 0; k < sizeof memory / sizeof *memory; k++) {
        inst.format = (uint8_t)memory[k];
        if (amd_exec_find_memory(target, amd_target_is_gfx10(target) ? 32 : 64, &inst))
            return true;
    }
    return false;
}

__attribute__((cold)) void amd_exec_rest(amd_wave *wave)
{
    lanes_env_need(wave, LANES_ENV_EXACT);
}

/* --- scalar operands of vector instructions ------------------------------------------------------------- */

uint64_t lanes_scalar(const amd_wave *w, const amd_inst *inst, unsigned code, lanes_type type)
{
    static const uint64_t f64[9] = { UINT64_C(0x3fe0000000000000), UINT64_C(0xbfe0000000000000),
                                     UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000000),
                                     UINT64_C(0x4000000000000000), UINT64_C(0xc000000000000000),
                                     UINT64_C(0x4010000000000000), UINT64_C(0xc010000000000000),
                                     UINT64_C(0x3fc45f306dc9c882) };
    static const uint16_t f16[9] = { 0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118 };
    bool wide = lanes_is_wide(type);
    if (code < AMD_INT_0)
        return wide ? salu_read64(w, inst, code) : w->sgpr[code];
    if (code == AMD_LITERAL && type == LANES_F64)
        return (uint64_t)inst->literal << 32;
    if (code == AMD_LITERAL && type == LANES_I64)
        return (uint64_t)(int64_t)(int32_t)inst->literal;
    if (code >= AMD_FLOAT && code < AMD_FLOAT + 9) {
        /* 16-bit integers see the low half of the 32-bit constant (LLVM's issues 46302 and 84106). */
        if (type == LANES_F16 || type == LANES_PF16)
            return f16[code - AMD_FLOAT];
        if (wide)
            return f64[code - AMD_FLOAT];
    }
    return wide ? salu_read64(w, inst, code) : salu_read32(w, inst, code);
}

/* --- DPP ------------------------------------------------------------------------------------------------ */

/* A row is 16 lanes. Shifts leave lanes without a source; rotations and mirrors do not. */
static unsigned dpp_source(unsigned ctrl, unsigned lane, unsigned lanes)
{
    unsigned row = lane & ~15u, at = lane & 15u, n = ctrl & 15u;
    if (ctrl < 0x100)
        return (lane & ~3u) | (ctrl >> 2 * (lane & 3u) & 3u);
    switch (ctrl & 0x1f0) {
    case 0x100: /* row_shl: from the lane n above */
        return at + n < 16 ? lane + n : 0x80;
    case 0x110:
        return at >= n ? lane - n : 0x80;
    case 0x120: /* row_ror */
        return row | ((at - n) & 15u);
    case 0x150: /* row_share */
        return row | n;
    case 0x160: /* row_xmask */
        return row | (at ^ n);
    default:
        break;
    }
    switch (ctrl) {
    case 0x130: /* wave_shl:1 */
        return lane + 1 < lanes ? lane + 1 : 0x80;
    case 0x134: /* wave_rol:1 */
        return (lane + 1) % lanes;
    case 0x138: /* wave_shr:1 */
        return lane ? lane - 1 : 0x80;
    case 0x13c: /* wave_ror:1 */
        return (lane + lanes - 1) % lanes;
    case 0x140: /* row_mirror */
        return row | (15u - at);
    case 0x141: /* row_half_mirror */
        return (lane & ~7u) | (7u - (lane & 7u));
    case 0x142: /* row_bcast:15: the last lane of a row to the next row */
        return lane >= 16 ? row - 1 : 0x80;
    case 0x143: /* row_bcast:31 */
        return lane >= 32 ? 31 : 0x80;
    default:
        return 0x80;
    }
}

void lanes_dpp_map(const amd_inst *inst, unsigned lanes, uint8_t *map)
{
    for (unsigned lane = 0; lane < lanes; lane++)
        map[lane] = (uint8_t)(inst->form == AMD_DPP8 ? (lane & ~7u) | inst->dpp8[lane & 7u]
                                                     : dpp_source(inst->dpp.ctrl, lane, lanes));
}
