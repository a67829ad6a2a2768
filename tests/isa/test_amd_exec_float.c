/* Floating point of the vector unit: IEEE results against the host's own arithmetic, MODE's rounding and
 * denormals, NaN rules, half precision against an exact reference, conversions, and whole division sequences
 * as compilers emit them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "isa/amd_exec.h"

#include <fenv.h>
#include <math.h>

static rig r;

static int setup(void **state)
{
    (void)state;
    rig_init(&r, AMD_GFX803, 64);
    return 0;
}

static bool is_nan(uint32_t x)
{
    return (x & 0x7fffffff) > 0x7f800000;
}

/* The first NaN source made quiet, or the default. */
static uint32_t nan_rule(uint32_t a, uint32_t b, uint32_t c)
{
    return is_nan(a) ? a | 0x400000 : is_nan(b) ? b | 0x400000 : is_nan(c) ? c | 0x400000 : 0xffc00000;
}

static uint32_t flushed(uint32_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

/* Single precision by way of double: sums and products of floats are exact or innocuously rounded there. */
static void test_f32_against_double(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned k = 0; k < 3000; k++) {
        uint32_t a = corner(&seed), b = corner(&seed), c = corner(&seed);
        volatile double x = as_f32(a), y = as_f32(b);
        uint32_t sum = of_f32((float)(x + y)), product = of_f32((float)(x * y));
        assert_int_equal(rig_op(&r, AMD_V_ADD_F32, a, b, 0), is_nan(sum) ? nan_rule(a, b, 0) : sum);
        assert_int_equal(rig_op(&r, AMD_V_MUL_F32, a, b, 0), is_nan(product) ? nan_rule(a, b, 0) : product);
        uint32_t fused = of_f32(fmaf(as_f32(a), as_f32(b), as_f32(c)));
        assert_int_equal(rig_op(&r, AMD_V_FMA_F32, a, b, c), is_nan(fused) ? nan_rule(a, b, c) : fused);
    }
}

static void test_flushing(void **state)
{
    (void)state;
    uint64_t seed = 2;
    r.wave.mode = MODE_FLUSH_32 | MODE_IEEE;
    assert_int_equal(rig_op(&r, AMD_V_ADD_F32, 0x007fffff, 0x80000001, 0), 0);
    assert_int_equal(rig_op(&r, AMD_V_MUL_F32, 0x00800000, of_f32(0.5f), 0), 0);
    assert_int_equal(rig_op(&r, AMD_V_MUL_F32, 0x80800000, of_f32(0.5f), 0), 0x80000000);
    assert_int_equal(rig_op(&r, AMD_V_MAX_F32, 1, 0, 0), 1); /* gfx803 leaves denormals alone here */
    /* v_mad always flushes and rounds the product; v_fma follows MODE. */
    r.wave.mode = MODE_ALL;
    assert_int_equal(rig_op(&r, AMD_V_MAD_F32, 0x00800000, of_f32(0.5f), 0), 0);
    assert_int_equal(rig_op(&r, AMD_V_FMA_F32, 0x00800000, of_f32(0.5f), 0), 0x00400000);
    for (unsigned k = 0; k < 1000; k++) {
        uint32_t a = flushed(corner(&seed)), b = flushed(corner(&seed)), c = flushed(corner(&seed));
        volatile float p = as_f32(a) * as_f32(b);
        p = as_f32(flushed(of_f32(p)));
        volatile float s = p + as_f32(c);
        uint32_t expect = flushed(of_f32(s));
        assert_int_equal(rig_op(&r, AMD_V_MAC_F32, a, b, c), is_nan(expect) ? nan_rule(a, b, c) : expect);
    }
    rig_init(&r, AMD_GFX1030, 32);
    r.wave.mode = MODE_FLUSH_32;
    assert_int_equal(rig_op(&r, AMD_V_MAX_F32, 1, 0, 0), 0);
    /* Doubles keep theirs by their own bits. */
    assert_int_equal(rig_op64(&r, AMD_V_ADD_F64, 1, 1, 0), 2);
    r.wave.mode = 0x30;
    assert_int_equal(rig_op64(&r, AMD_V_ADD_F64, 1, 1, 0), 0);
}

static void test_rounding_modes(void **state)
{
    (void)state;
    uint32_t third = of_f32(1.0f / 3.0f), one = of_f32(1.0f), tiny = of_f32(0x1p-40f);
    static const uint32_t expect[4] = { 0x3f800000, 0x3f800001, 0x3f800000, 0x3f800000 };
    for (uint32_t mode = 0; mode < 4; mode++) {
        r.wave.mode = MODE_ALL | mode;
        assert_int_equal(rig_op(&r, AMD_V_ADD_F32, one, tiny, 0), expect[mode]);
    }
    r.wave.mode = MODE_ALL | 2;
    assert_int_equal(rig_op(&r, AMD_V_SUB_F32, one, tiny, 0), 0x3f7fffff);
    assert_int_equal(rig_op(&r, AMD_V_CVT_F32_U32, 0x01000001, 0, 0), 0x4b800000);
    r.wave.mode = MODE_ALL | 1;
    assert_int_equal(rig_op(&r, AMD_V_CVT_F32_U32, 0x01000001, 0, 0), 0x4b800001);
    /* Doubles and halves have their own field. */
    r.wave.mode = MODE_ALL | 1 << 2;
    assert_int_equal(rig_op64(&r, AMD_V_ADD_F64, of_f64(1), of_f64(0x1p-80), 0), of_f64(1) + 1);
    assert_int_equal(rig_op(&r, AMD_V_CVT_F16_F32, of_f32(1.0001f), 0, 0), 0x3c01);
    assert_int_equal(rig_op(&r, AMD_V_ADD_F32, one, tiny, 0), one);
    r.wave.mode = MODE_ALL | 3 << 2;
    assert_int_equal(rig_op(&r, AMD_V_CVT_F16_F32, of_f32(1e9f), 0, 0), 0x7bff);
    assert_int_equal(fegetround(), FE_TONEAREST); /* the host's own state is untouched */
    volatile float host = as_f32(third);
    assert_true(host * 3.0f == 1.0f);
}

static void test_min_max(void **state)
{
    (void)state;
    static const struct {
        uint32_t mode, a, b, low, high;
    } rows[] = {
        { MODE_IEEE, 0x80000000, 0, 0x80000000, 0 },
        { MODE_IEEE, 0, 0x80000000, 0x80000000, 0 },
        { MODE_IEEE, 0x7fc00001, 0x3f800000, 0x3f800000, 0x3f800000 },
        { MODE_IEEE, 0x3f800000, 0x7fc00001, 0x3f800000, 0x3f800000 },
        { MODE_IEEE, 0x7f800001, 0x3f800000, 0x7fc00001, 0x7fc00001 },
        { MODE_IEEE, 0x3f800000, 0xff800001, 0xffc00001, 0xffc00001 },
        { 0, 0x7f800001, 0x3f800000, 0x3f800000, 0x3f800000 },
        { 0, 0xff800000, 0x7f800000, 0xff800000, 0x7f800000 },
        { 0, 0xbf800000, 0xc0000000, 0xc0000000, 0xbf800000 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        r.wave.mode = MODE_ALL | rows[k].mode;
        assert_int_equal(rig_op(&r, AMD_V_MIN_F32, rows[k].a, rows[k].b, 0), rows[k].low);
        assert_int_equal(rig_op(&r, AMD_V_MAX_F32, rows[k].a, rows[k].b, 0), rows[k].high);
    }
    uint32_t one = of_f32(1), two = of_f32(2), three = of_f32(3);
    assert_int_equal(rig_op(&r, AMD_V_MED3_F32, two, three, one), two);
    assert_int_equal(rig_op(&r, AMD_V_MED3_F32, three, one, two), two);
    assert_int_equal(rig_op(&r, AMD_V_MED3_F32, 0x7fc00000, three, one), one);
    assert_int_equal(rig_op(&r, AMD_V_MIN3_F32, two, three, one), one);
    assert_int_equal(rig_op(&r, AMD_V_MAX3_F16, 0x3c00, 0xbc00, 0x4000), 0x4000);
    assert_int_equal(rig_op64(&r, AMD_V_MAX_F64, of_f64(-1), of_f64(-2), 0), of_f64(-1));
}

/* --- half precision ------------------------------------------------------------------------------------- */

static double half_value(uint32_t h)
{
    int e = (int)(h >> 10 & 31);
    double m = (double)(h & 0x3ff), v = e == 0    ? ldexp(m, -24)
                                        : e == 31 ? (m != 0 ? (double)NAN : (double)INFINITY)
                                                  : ldexp(m + 1024, e - 25);
    return h & 0x8000 ? -v : v;
}

/* The nearest half by search: among candidates around, least distance, ties to even. */
static uint32_t half_nearest(long double x)
{
    uint32_t sign = signbit(x) ? 0x8000 : 0;
    long double a = fabsl(x);
    if (a >= 65520.0L)
        return sign | 0x7c00;
    uint32_t low = 0, high = 0x7c00;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if ((long double)half_value(middle) <= a)
            low = middle;
        else
            high = middle;
    }
    long double down = a - (long double)half_value(low);
    long double up = (high == 0x7c00 ? 65536.0L : (long double)half_value(high)) - a;
    return sign | (down < up || (down == up && !(low & 1)) ? low : high);
}

static void test_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x10000; h += 7) {
        bool nan = (h & 0x7fff) > 0x7c00;
        uint32_t f = rig_op(&r, AMD_V_CVT_F32_F16, h, 0, 0);
        assert_int_equal(f, nan ? (h & 0x8000) << 16 | 0x7f800000 | 0x400000 | (h & 0x3ff) << 13
                                : of_f32((float)half_value(h)));
        assert_int_equal(rig_op(&r, AMD_V_CVT_F16_F32, f, 0, 0), nan ? h | 0x200 : h);
    }
    uint64_t seed = 3;
    for (unsigned k = 0; k < 4000; k++) {
        uint32_t a = next_random(&seed) & 0xffff, b = next_random(&seed) & 0xffff,
                 c = next_random(&seed) & 0xffff;
        if (k % 4 == 0) {
            a &= 0x83ff;
            c = (c & 0x83ff) | 0x0400;
        }
        if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00 || (c & 0x7c00) == 0x7c00)
            continue;
        long double x = half_value(a), y = half_value(b), z = half_value(c);
        uint32_t sum = x + y == 0 ? (a & b & 0x8000) : half_nearest(x + y);
        assert_int_equal(rig_op(&r, AMD_V_ADD_F16, a, b, 0), sum);
        assert_int_equal(rig_op(&r, AMD_V_MUL_F16, a, b, 0), half_nearest(x * y));
        if (x * y + z != 0)
            assert_int_equal(rig_op(&r, AMD_V_FMA_F16, a, b, c), half_nearest(x * y + z));
        uint32_t f = next_random(&seed);
        if ((f & 0x7f800000) != 0x7f800000)
            assert_int_equal(rig_op(&r, AMD_V_CVT_F16_F32, f, 0, 0), half_nearest((long double)as_f32(f)));
    }
    assert_int_equal(rig_op(&r, AMD_V_CVT_PKRTZ_F16_F32, of_f32(1.9999f), of_f32(-1e9f), 0), 0xfbff3fff);
    assert_int_equal(rig_op(&r, AMD_V_LDEXP_F16, 0x3c00, 3, 0), 0x4800);
    assert_int_equal(rig_op(&r, AMD_V_RCP_F16, 0x4000, 0, 0), 0x3800);
}

/* --- conversions ---------------------------------------------------------------------------------------- */

static void test_conversions(void **state)
{
    (void)state;
    static const struct {
        amd_op op;
        float x;
        uint32_t expect;
    } rows[] = {
        { AMD_V_CVT_I32_F32, -1.9f, 0xffffffff },
        { AMD_V_CVT_I32_F32, 3e9f, 0x7fffffff },
        { AMD_V_CVT_I32_F32, -3e9f, 0x80000000 },
        { AMD_V_CVT_I32_F32, -2147483648.0f, 0x80000000 },
        { AMD_V_CVT_I32_F32, NAN, 0 },
        { AMD_V_CVT_U32_F32, -0.9f, 0 },
        { AMD_V_CVT_U32_F32, 3e9f, 3000000000u },
        { AMD_V_CVT_U32_F32, 5e9f, 0xffffffff },
        { AMD_V_CVT_U32_F32, -5.0f, 0 },
        { AMD_V_CVT_RPI_I32_F32, 1.5f, 2 },
        { AMD_V_CVT_RPI_I32_F32, -1.5f, 0xffffffff },
        { AMD_V_CVT_FLR_I32_F32, -1.5f, 0xfffffffe },
        { AMD_V_FREXP_EXP_I32_F32, 8.0f, 4 },
        { AMD_V_FREXP_EXP_I32_F32, 0x1p-149f, (uint32_t)-148 },
        { AMD_V_FREXP_EXP_I32_F32, INFINITY, 0 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        assert_int_equal(rig_op(&r, rows[k].op, of_f32(rows[k].x), 0, 0), rows[k].expect);
    uint64_t seed = 4;
    for (unsigned k = 0; k < 500; k++) {
        uint32_t a = corner(&seed);
        assert_int_equal(rig_op(&r, AMD_V_CVT_F32_I32, a, 0, 0), of_f32((float)(int32_t)a));
        assert_int_equal(rig_op(&r, AMD_V_CVT_F32_U32, a, 0, 0), of_f32((float)a));
        assert_int_equal(rig_op64(&r, AMD_V_CVT_F64_U32, a, 0, 0), of_f64(a));
        assert_int_equal(rig_op(&r, AMD_V_CVT_F32_UBYTE2, a, 0, 0), of_f32((float)(a >> 16 & 255)));
        uint64_t d = (uint64_t)corner(&seed) << 32 | a;
        if ((d & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000)) {
            assert_int_equal((uint32_t)rig_op64(&r, AMD_V_CVT_F32_F64, d, 0, 0), of_f32((float)as_f64(d)));
            double x = as_f64(d);
            int32_t i = x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
            assert_int_equal((int32_t)rig_op64(&r, AMD_V_CVT_I32_F64, d, 0, 0), i);
            int e;
            double m = frexp(x, &e);
            assert_int_equal(rig_op64(&r, AMD_V_FREXP_MANT_F64, d, 0, 0), of_f64(m));
            int n = (int)(a % 3000) - 1500;
            assert_int_equal(rig_op64(&r, AMD_V_LDEXP_F64, d, (uint32_t)n, 0), of_f64(ldexp(x, n)));
        }
        if (!is_nan(a)) {
            int n = (int)(d >> 40 & 511) - 256;
            assert_int_equal(rig_op(&r, AMD_V_LDEXP_F32, a, (uint32_t)n, 0), of_f32(ldexpf(as_f32(a), n)));
            assert_int_equal(rig_op(&r, AMD_V_FLOOR_F32, a, 0, 0), of_f32(floorf(as_f32(a))));
            assert_int_equal(rig_op(&r, AMD_V_RNDNE_F32, a, 0, 0), of_f32(rintf(as_f32(a))));
        }
    }
    assert_int_equal(rig_op(&r, AMD_V_CVT_PK_U8_F32, of_f32(300), 2, 0x11223344), 0x11ff3344);
    assert_int_equal(rig_op(&r, AMD_V_CVT_PKNORM_I16_F32, of_f32(-1), of_f32(0.5f), 0), 0x40008001);
    assert_int_equal(rig_op(&r, AMD_V_CVT_OFF_F32_I4, 0xf, 0, 0), of_f32(-0.0625f));
    assert_int_equal(rig_op(&r, AMD_V_FRACT_F32, of_f32(-0x1p-30f), 0, 0), 0x3f7fffff);
}

/* --- transcendental ------------------------------------------------------------------------------------- */

/* Within one unit in the last place of the long double result. */
static void check_ulp(const char *what, float x, uint32_t got, long double exact)
{
    long double error = fabsl((long double)as_f32(got) - exact);
    int e;
    frexpl(exact, &e);
    long double ulp = ldexpl(1, (e < -125 ? -125 : e) - 24);
    if (error > ulp)
        fail_msg("%s(%a): %a, error %Lf ulp", what, (double)x, (double)as_f32(got), error / ulp);
}

static void test_transcendental(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned k = 0; k < 2000; k++) {
        float x = as_f32(0x3f000000 + (next_random(&seed) & 0x3ffffff)) * (k & 1 ? 1.0f : 0x1p-20f);
        check_ulp("rcp", x, rig_op(&r, AMD_V_RCP_F32, of_f32(x), 0, 0), 1.0L / (long double)x);
        check_ulp("rsq", x, rig_op(&r, AMD_V_RSQ_F32, of_f32(x), 0, 0), 1.0L / sqrtl((long double)x));
        check_ulp("sqrt", x, rig_op(&r, AMD_V_SQRT_F32, of_f32(x), 0, 0), sqrtl((long double)x));
        check_ulp("log", x, rig_op(&r, AMD_V_LOG_F32, of_f32(x), 0, 0), log2l((long double)x));
        float y = (float)(int32_t)next_random(&seed) * 0x1p-24f * 0.98f;
        check_ulp("exp", y, rig_op(&r, AMD_V_EXP_F32, of_f32(y), 0, 0), exp2l((long double)y));
        float t = (float)(int32_t)next_random(&seed) * 0x1p-27f;
        const long double turn = 6.283185307179586476925286766559L;
        long double fraction = (long double)t - rintl((long double)t);
        check_ulp("sin", t, rig_op(&r, AMD_V_SIN_F32, of_f32(t), 0, 0), sinl(turn * fraction));
        if (fabsl(fabsl(fraction) - 0.25L) > 1e-6L)
            check_ulp("cos", t, rig_op(&r, AMD_V_COS_F32, of_f32(t), 0, 0), cosl(turn * fraction));
    }
    static const struct {
        amd_op op;
        uint32_t x, expect;
    } rows[] = {
        { AMD_V_RCP_F32, 0, 0x7f800000 },           { AMD_V_RCP_F32, 0x80000000, 0xff800000 },
        { AMD_V_RCP_F32, 0x00400000, 0x7f800000 },  { AMD_V_RCP_F32, 0x7f800000, 0 },
        { AMD_V_RSQ_F32, 0x80000000, 0xff800000 },  { AMD_V_RSQ_F32, 0xbf800000, 0xffc00000 },
        { AMD_V_SQRT_F32, 0x80000000, 0x80000000 }, { AMD_V_LOG_F32, 0, 0xff800000 },
        { AMD_V_LOG_F32, 0xbf800000, 0xffc00000 },  { AMD_V_LOG_F32, 0x3f800000, 0 },
        { AMD_V_LOG_F32, 0x7f800000, 0x7f800000 },  { AMD_V_EXP_F32, 0xff800000, 0 },
        { AMD_V_EXP_F32, 0x7f800000, 0x7f800000 },  { AMD_V_EXP_F32, 0x41200000, 0x44800000 },
        { AMD_V_EXP_F32, 0x7fc01234, 0x7fc01234 },  { AMD_V_SIN_F32, 0x3e800000, 0x3f800000 },
        { AMD_V_SIN_F32, 0x43808000, 0 },           { AMD_V_COS_F32, 0x43808000, 0x3f800000 },
        { AMD_V_SIN_F32, 0x7f800000, 0xffc00000 },  { AMD_V_COS_F32, 0x3e800000, 0 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint32_t got = rig_op(&r, rows[k].op, rows[k].x, 0, 0);
        if (got != rows[k].expect)
            fail_msg("%s(%08x): %08x", amd_op_name(rows[k].op), rows[k].x, got);
    }
    /* 2/pi: the first 53 digits, and the following ones */
    assert_int_equal(rig_op64(&r, AMD_V_TRIG_PREOP_F64, of_f64(1.0), 0, 0), of_f64(0x1.45f306dc9c882p-1));
    double next = as_f64(rig_op64(&r, AMD_V_TRIG_PREOP_F64, of_f64(1.0), 1, 0));
    assert_true(fabsl((long double)next - (0.636619772367581343075535053490057448L - 0x1.45f306dc9c882p-1L)) <
                0x1p-70L);
}

/* --- division ------------------------------------------------------------------------------------------- */

static uint32_t step(amd_op op, uint32_t a, uint32_t b, uint32_t c, unsigned neg)
{
    rig_fill(&r, 2, a);
    rig_fill(&r, 4, b);
    rig_fill(&r, 6, c);
    amd_inst in = vop(op, V(8), V(2), V(4), V(6));
    in.neg = (uint8_t)neg;
    if (!rig_run(&r, &in))
        abort();
    return rig_vgpr(&r, 8)[5];
}

static uint64_t step64(amd_op op, uint64_t a, uint64_t b, uint64_t c, unsigned neg)
{
    rig_fill64(&r, 2, a);
    rig_fill64(&r, 4, b);
    rig_fill64(&r, 6, c);
    amd_inst in = vop(op, V(8), V(2), V(4), V(6));
    in.neg = (uint8_t)neg;
    if (!rig_run(&r, &in))
        abort();
    return (uint64_t)rig_vgpr(&r, 9)[5] << 32 | rig_vgpr(&r, 8)[5];
}

/* n / d as compilers expand it. */
static uint32_t divide32(uint32_t n, uint32_t d)
{
    const uint32_t one = 0x3f800000;
    uint32_t ds = step(AMD_V_DIV_SCALE_F32, d, d, n, 0);
    uint32_t ns = step(AMD_V_DIV_SCALE_F32, n, d, n, 0); /* its VCC is used */
    uint32_t y = step(AMD_V_RCP_F32, ds, 0, 0, 0);
    uint32_t e = step(AMD_V_FMA_F32, ds, y, one, 1);
    y = step(AMD_V_FMA_F32, e, y, y, 0);
    uint32_t q = step(AMD_V_MUL_F32, ns, y, 0, 0);
    e = step(AMD_V_FMA_F32, ds, q, ns, 1);
    q = step(AMD_V_FMA_F32, e, y, q, 0);
    e = step(AMD_V_FMA_F32, ds, q, ns, 1);
    q = step(AMD_V_DIV_FMAS_F32, e, y, q, 0);
    return step(AMD_V_DIV_FIXUP_F32, q, d, n, 0);
}

static uint64_t divide64(uint64_t n, uint64_t d)
{
    const uint64_t one = of_f64(1.0);
    uint64_t ds = step64(AMD_V_DIV_SCALE_F64, d, d, n, 0);
    uint64_t ns = step64(AMD_V_DIV_SCALE_F64, n, d, n, 0);
    uint64_t y = step64(AMD_V_RCP_F64, ds, 0, 0, 0);
    uint64_t e = step64(AMD_V_FMA_F64, ds, y, one, 1);
    y = step64(AMD_V_FMA_F64, y, e, y, 0);
    e = step64(AMD_V_FMA_F64, ds, y, one, 1);
    y = step64(AMD_V_FMA_F64, y, e, y, 0);
    uint64_t q = step64(AMD_V_MUL_F64, ns, y, 0, 0);
    e = step64(AMD_V_FMA_F64, ds, q, ns, 1);
    q = step64(AMD_V_DIV_FMAS_F64, e, y, q, 0);
    return step64(AMD_V_DIV_FIXUP_F64, q, d, n, 0);
}

static void test_division(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (unsigned k = 0; k < 3000; k++) {
        uint32_t n = corner(&seed), d = corner(&seed);
        volatile float q = as_f32(n) / as_f32(d);
        if (!is_nan(n) && !is_nan(d)) {
            uint32_t got = divide32(n, d);
            if (got != of_f32(q))
                fail_msg("%08x / %08x: %08x, not %08x", n, d, got, of_f32(q));
        }
        uint64_t wn = (uint64_t)n << 32 | next_random(&seed), wd = (uint64_t)d << 32 | next_random(&seed);
        volatile double wq = as_f64(wn) / as_f64(wd);
        if (!isnan(as_f64(wn)) && !isnan(as_f64(wd))) {
            uint64_t got = divide64(wn, wd);
            if (got != of_f64(wq))
                fail_msg("%016llx / %016llx: %016llx, not %016llx", (unsigned long long)wn,
                         (unsigned long long)wd, (unsigned long long)got, (unsigned long long)of_f64(wq));
        }
    }
    assert_int_equal(divide32(0x7f800001, of_f32(1)), 0x7fc00001);
    assert_int_equal(divide32(0, 0), 0xffc00000);
}

static void test_doubles(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (unsigned k = 0; k < 1000; k++) {
        uint64_t a = (uint64_t)corner(&seed) << 32 | corner(&seed),
                 b = (uint64_t)corner(&seed) << 32 | corner(&seed);
        uint64_t c = (uint64_t)corner(&seed) << 32 | corner(&seed);
        if (isnan(as_f64(a)) || isnan(as_f64(b)) || isnan(as_f64(c)))
            continue;
        volatile double sum = as_f64(a) + as_f64(b), product = as_f64(a) * as_f64(b);
        double fused = fma(as_f64(a), as_f64(b), as_f64(c));
        if (!isnan(sum))
            assert_int_equal(rig_op64(&r, AMD_V_ADD_F64, a, b, 0), of_f64(sum));
        if (!isnan(product))
            assert_int_equal(rig_op64(&r, AMD_V_MUL_F64, a, b, 0), of_f64(product));
        if (!isnan(fused))
            assert_int_equal(rig_op64(&r, AMD_V_FMA_F64, a, b, c), of_f64(fused));
        assert_int_equal(rig_op64(&r, AMD_V_FLOOR_F64, a, 0, 0), of_f64(floor(as_f64(a))));
    }
    assert_int_equal(rig_op64(&r, AMD_V_SQRT_F64, of_f64(2), 0, 0), of_f64(sqrt(2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_f32_against_double, setup),
        cmocka_unit_test_setup(test_flushing, setup),
        cmocka_unit_test_setup(test_rounding_modes, setup),
        cmocka_unit_test_setup(test_min_max, setup),
        cmocka_unit_test_setup(test_half, setup),
        cmocka_unit_test_setup(test_conversions, setup),
        cmocka_unit_test_setup(test_transcendental, setup),
        cmocka_unit_test_setup(test_division, setup),
        cmocka_unit_test_setup(test_doubles, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
