/* Half precision against exact integer arithmetic. Every half is a multiple of 2^-24 and every product a
 * multiple of 2^-48. So sums and products fit 128 bits and are rounded here once, by the definition. Random
 * operands and all pairs of corners, for every rounding and both denormal modes, for every variant, scalar and
 * packed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd_exec.h"

__extension__ typedef __int128 wide;

enum { ADD, MUL, FMA };

static bool is_nan(uint32_t h)
{
    return (h & 0x7fff) > 0x7c00;
}

static bool is_inf(uint32_t h)
{
    return (h & 0x7fff) == 0x7c00;
}

static uint32_t flushed(uint32_t h, bool flush)
{
    return flush && !(h & 0x7c00) ? h & 0x8000 : h;
}

/* In units of 2^-24. */
static int64_t units(uint32_t h)
{
    unsigned e = h >> 10 & 31;
    int64_t m = e ? (int64_t)(0x400 | (h & 0x3ff)) << (e - 1) : (int64_t)(h & 0x3ff);
    return h & 0x8000 ? -m : m;
}

/* x, in units of 2^-48, as a half; `round` as in MODE. */
static uint32_t rounded(wide x, unsigned round, uint32_t zero_sign)
{
    if (x == 0)
        return zero_sign;
    uint32_t sign = x < 0 ? 0x8000 : 0;
    wide a = x < 0 ? -x : x;
    unsigned top = 0;
    while (a >> top > 1)
        top++;
    unsigned shift = top < 34 ? 24 : top - 10; /* 2^-14 is the smallest normal one */
    wide q = a >> shift, rest = a - (q << shift), half = (wide)1 << (shift - 1);
    bool out = round == 1 ? !sign : round == 2 ? sign != 0 : false;
    if (round == 0 ? rest > half || (rest == half && q & 1) : out && rest != 0)
        q++;
    uint32_t r = (uint32_t)q + (top < 34 ? 0 : (top - 34) << 10);
    if (top > 63 || r >= 0x7c00)
        r = round == 0 || out ? 0x7c00 : 0x7bff;
    return r | sign;
}

/* The first NaN source made quiet, or the default one. */
static uint32_t quiet(uint32_t a, uint32_t b, uint32_t c)
{
    return is_nan(a) ? a | 0x200 : is_nan(b) ? b | 0x200 : is_nan(c) ? c | 0x200 : 0xfe00;
}

static uint32_t expected(int what, uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    unsigned round = mode >> 2 & 3;
    bool flush_in = !(mode >> 6 & 1), flush_out = !(mode >> 7 & 1);
    uint32_t third = what == FMA ? c : 0;
    if (is_nan(a) || is_nan(b) || is_nan(third))
        return quiet(a, b, third);
    a = flushed(a, flush_in);
    b = flushed(b, flush_in);
    c = flushed(c, flush_in);
    /* As product and addend: the product of a and 1 for a sum, nothing added to a product. */
    uint32_t x = a, y = what == ADD ? 0x3c00 : b, z = what == ADD ? b : c;
    uint32_t sign = (x ^ y) & 0x8000;
    bool inf = is_inf(x) || is_inf(y);
    if (inf && ((x & 0x7fff) == 0 || (y & 0x7fff) == 0))
        return 0xfe00;
    if (what == MUL)
        return inf ? sign | 0x7c00 : flushed(rounded((wide)units(x) * units(y), round, sign), flush_out);
    if (inf && is_inf(z) && sign != (z & 0x8000))
        return 0xfe00;
    if (inf)
        return sign | 0x7c00;
    if (is_inf(z))
        return z;
    wide sum = (wide)units(x) * units(y) + (wide)units(z) * (1 << 24);
    uint32_t zero = sign == (z & 0x8000) ? sign : round == 2 ? 0x8000 : 0;
    return flushed(rounded(sum, round, zero), flush_out);
}

static const struct {
    amd_op op;
    int what;
    bool packed, acc;
} rows[] = {
    { AMD_V_ADD_F16, ADD, false, false },   { AMD_V_MUL_F16, MUL, false, false },
    { AMD_V_FMA_F16, FMA, false, false },   { AMD_V_FMAC_F16, FMA, false, true },
    { AMD_V_PK_ADD_F16, ADD, true, false }, { AMD_V_PK_MUL_F16, MUL, true, false },
    { AMD_V_PK_FMA_F16, FMA, true, false }, { AMD_V_PK_FMAC_F16, FMA, true, true },
};

/* One instruction on registers 2, 4, 6, with any EXEC; all lanes of the result. */
static void check_wave(rig *r, size_t row, uint32_t exec)
{
    amd_inst in = vop(rows[row].op, V(8), V(2), V(4), rows[row].acc ? AMD_NO_OPERAND : V(6));
    r->wave.sgpr[AMD_EXEC_LO] = exec;
    for (unsigned i = 0; i < r->wave.lanes; i++)
        rig_vgpr(r, 8)[i] = rows[row].acc ? rig_vgpr(r, 6)[i] : rig_vgpr(r, 6)[i] ^ 0x12345678;
    uint32_t before[64] = { 0 };
    memcpy(before, rig_vgpr(r, 8), r->wave.lanes * sizeof *before);
    assert_true(rig_run(r, &in));
    for (unsigned i = 0; i < r->wave.lanes; i++) {
        uint32_t a = rig_vgpr(r, 2)[i], b = rig_vgpr(r, 4)[i], c = rig_vgpr(r, 6)[i];
        uint32_t low = expected(rows[row].what, a & 0xffff, b & 0xffff, c & 0xffff, r->wave.mode);
        uint32_t high = before[i] >> 16;
        if (rows[row].packed)
            high = expected(rows[row].what, a >> 16, b >> 16, c >> 16, r->wave.mode);
        uint32_t want = i >= 32 || exec >> i & 1 ? low | high << 16 : before[i];
        if (rig_vgpr(r, 8)[i] != want)
            fail_msg("%s %s: %08x %08x %08x with MODE %x gives %08x, not %08x", amd_exec_variant(),
                     amd_op_name(rows[row].op), a, b, c, r->wave.mode, rig_vgpr(r, 8)[i], want);
    }
}

/* Halves whose sums and products lie close to each other, and now and then a corner. */
static uint32_t pair(uint64_t *seed)
{
    static const uint16_t corners[] = { 0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x8400, 0x3c00,
                                        0xbc00, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe77 };
    uint32_t r = next_random(seed);
    uint32_t low = r & 0x7000 ? next_random(seed) & 0xffff : corners[r & 15];
    uint32_t high =
        r & 0x70000 ? (next_random(seed) & 0x83ff) | (0x3400 + (r >> 4 & 0xc00)) : corners[r >> 8 & 15];
    return low | high << 16;
}

static void check_rounds(amd_target target, unsigned lanes, unsigned rounds)
{
    static rig r;
    uint64_t seed = 20 + lanes;
    for (unsigned round = 0; round < rounds; round++) {
        rig_init(&r, target, lanes);
        /* Mostly to nearest with denormals, the usual mode of programs. */
        uint32_t pick = next_random(&seed);
        r.wave.mode = pick & 1 ? MODE_ALL | MODE_IEEE : (pick >> 4 & 0x3c) << 2 | (pick >> 10 & 0xf) << 2;
        for (unsigned i = 0; i < lanes; i++) {
            rig_vgpr(&r, 2)[i] = pair(&seed);
            rig_vgpr(&r, 4)[i] = pair(&seed);
            rig_vgpr(&r, 6)[i] = pair(&seed);
        }
        uint32_t exec = pick & 2 ? UINT32_MAX : next_random(&seed);
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
            check_wave(&r, row, exec);
    }
}

static void test_exact(void **state)
{
    (void)state;
    unsigned variants = 0;
    for (size_t v = 0; amd_exec_variant_name(v); v++) {
        if (!amd_exec_use_variant(amd_exec_variant_name(v)))
            continue;
        variants++;
        check_rounds(AMD_GFX1030, 32, 2000);
        check_rounds(AMD_GFX1010, 64, 1000);
    }
    assert_true(variants >= 1);
}

/* Every half through both conversions: the value is exact, and comes back as it was, NaNs quiet. */
static void test_conversions(void **state)
{
    (void)state;
    static rig r;
    for (size_t v = 0; amd_exec_variant_name(v); v++) {
        if (!amd_exec_use_variant(amd_exec_variant_name(v)))
            continue;
        rig_init(&r, AMD_GFX803, 64);
        amd_inst widen = vop(AMD_V_CVT_F32_F16, V(4), V(2), AMD_NO_OPERAND, AMD_NO_OPERAND);
        amd_inst narrow = vop(AMD_V_CVT_F16_F32, V(6), V(4), AMD_NO_OPERAND, AMD_NO_OPERAND);
        for (uint32_t h = 0; h < 0x10000; h += 64) {
            for (uint32_t i = 0; i < 64; i++)
                rig_vgpr(&r, 2)[i] = (h + i) | 0xabcd0000;
            assert_true(rig_run(&r, &widen));
            assert_true(rig_run(&r, &narrow));
            for (uint32_t i = 0; i < 64; i++) {
                uint32_t x = h + i, single = rig_vgpr(&r, 4)[i];
                assert_int_equal(rig_vgpr(&r, 6)[i], is_nan(x) ? x | 0x200 : x);
                if (is_nan(x))
                    assert_int_equal(single, (x & 0x8000) << 16 | 0x7fc00000 | (x & 0x3ff) << 13);
                else if (!is_inf(x))
                    assert_true((double)as_f32(single) == (double)units(x) * 0x1p-24);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
