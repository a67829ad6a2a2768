/* trans.h: transcendental functions and the odd conversions that rows name, one value at a time. They use
 * polynomials in double precision without branches and without fused operations, so that every variant gives
 * the same bits. The error before the last rounding is below 2^-40, far below the hardware's 1 ulp. Needs
 * round to nearest. */
#ifndef ISA_AMD_EXEC_TRANS_H
#define ISA_AMD_EXEC_TRANS_H

#include "isa/amd/exec/floats.h"
#include "isa/amd/exec/ints.h"

/* The nearest integer of |x| < 2^51, by pushing the fraction out of the significand. */
static inline double trans_nearest(double x)
{
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* 2^x: the integer part goes to the exponent, the rest (at most 1/2) through e^y's series. */
static inline float trans_exp2(float x)
{
    double v = (double)x;
    v = v > 200.0 ? 200.0 : v;
    v = v < -200.0 ? -200.0 : v;
    v = x == x ? v : 0.0;
    double n = trans_nearest(v);
    double y = (v - n) * 0.693147180559945309417;
    double p = 1.0 / 479001600.0;
    p = p * y + 1.0 / 39916800.0;
    p = p * y + 1.0 / 3628800.0;
    p = p * y + 1.0 / 362880.0;
    p = p * y + 1.0 / 40320.0;
    p = p * y + 1.0 / 5040.0;
    p = p * y + 1.0 / 720.0;
    p = p * y + 1.0 / 120.0;
    p = p * y + 1.0 / 24.0;
    p = p * y + 1.0 / 6.0;
    p = p * y + 0.5;
    p = p * y + 1.0;
    p = p * y + 1.0;
    double scale = f64_of((uint64_t)(uint32_t)((int32_t)n + 1023) << 52);
    float r = (float)(p * scale);
    return x == x ? r : x;
}

/* log2(x): exponent plus log2 of a significand near 1, by the series of atanh. */
static inline float trans_log2(float x)
{
    uint64_t bits = f64_bits((double)x);
    uint32_t high = (uint32_t)(bits >> 52) & 0x7ffu;
    double m = f64_of((bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000));
    bool upper = m > 1.41421356237309504880;
    double e = (double)(int32_t)(high - 1023u) + (upper ? 1.0 : 0.0);
    m = upper ? m * 0.5 : m;
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0.1373995277037108;
    p = p * z + 0.15186263588304877;
    p = p * z + 0.16972882833987804;
    p = p * z + 0.19235933878519512;
    p = p * z + 0.22195308321368667;
    p = p * z + 0.2623081892525388;
    p = p * z + 0.3205988979753252;
    p = p * z + 0.4121985831111324;
    p = p * z + 0.5770780163555853;
    p = p * z + 0.9617966939259756;
    p = p * z + 2.8853900817779268;
    float r = (float)(e + p * s);
    r = x == 0 ? -INFINITY : r;
    r = x < 0 ? NAN : r;
    return x == x && x != INFINITY ? r : x;
}

/* sin(2 pi r) for |r| <= 1/4 */
static inline double trans_sine(double r)
{
    double y = r * 6.28318530717958647693, z = y * y;
    double p = 1.0 / 51090942171709440000.0;
    p = p * z - 1.0 / 121645100408832000.0;
    p = p * z + 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return y + y * z * p;
}

/* The fraction of a revolution, in [-1/2, 1/2]; whole revolutions are exact in single precision. Infinity:
 * NaN. */
static inline double trans_turn(float x)
{
    double v = (double)x;
    double whole = __builtin_fabs(v) > 0x1p30 ? v : trans_nearest(v);
    return v - whole;
}

/* Arguments are revolutions. gfx803 and gfx9 give 0 and 1 beyond 256 of them. */
static inline float trans_sin(float x, const amd_wave *w)
{
    double r = trans_turn(x);
    double fold = r > 0.25 ? 0.5 - r : r < -0.25 ? -0.5 - r : r;
    float s = (float)trans_sine(fold);
    bool outside = !amd_target_is_gfx10((amd_target)w->target) && (x > 256.0f || x < -256.0f) && x - x == 0;
    s = x == 0 ? f32_of(f32_bits(x) & 0x80000000u) : s; /* the sine of -0 is -0 */
    return outside ? 0.0f : s;
}

static inline float trans_cos(float x, const amd_wave *w)
{
    double r = trans_turn(x);
    float c = (float)trans_sine(0.25 - (r < 0 ? -r : r));
    bool outside = !amd_target_is_gfx10((amd_target)w->target) && (x > 256.0f || x < -256.0f) && x - x == 0;
    return outside ? 1.0f : c;
}

/* --- fractions ------------------------------------------------------------------------------------------ */

/* Never 1, also where the subtraction rounds up to it. The sign of floor(0) is not left to the host: without
 * an instruction for it, it depends on the rounding mode. */
static inline float fract32(float x)
{
    float r = x - (x == 0 ? x : __builtin_floorf(x));
    return r > 0x1.fffffep-1f ? 0x1.fffffep-1f : r;
}

static inline double fract64(double x)
{
    double r = x - (x == 0 ? x : __builtin_floor(x));
    return r > 0x1.fffffffffffffp-1 ? 0x1.fffffffffffffp-1 : r;
}

static inline float fract16(float x)
{
    float r = x - (x == 0 ? x : __builtin_floorf(x));
    return r > 0x1.ffcp-1f ? 0x1.ffcp-1f : r;
}

/* --- conversions ---------------------------------------------------------------------------------------- */

static inline float f16_quiet_value(uint32_t h)
{
    return f16_value(f16_is_nan(h) ? h | 0x200u : h);
}

/* [-1, 1] and [0, 1] as fixed point, rounded to nearest; NaN is 0. */
static inline int32_t norm_i16(float x)
{
    float y = x > 1.0f ? 1.0f : x < -1.0f ? -1.0f : x == x ? x : 0.0f;
    return (int32_t)trans_nearest((double)y * 32767.0);
}

static inline uint32_t norm_u16(float x)
{
    float y = x > 1.0f ? 1.0f : x > 0.0f ? x : 0.0f;
    return (uint32_t)(int32_t)trans_nearest((double)y * 65535.0);
}

static inline uint32_t f32_to_u8(float x)
{
    return min_u(f32_to_u32(x), 255u);
}

static inline uint32_t put_byte(uint32_t into, uint32_t where, uint32_t byte)
{
    uint32_t shift = 8u * (where & 3u);
    return (into & ~(0xffu << shift)) | byte << shift;
}

/* --- odds and ends -------------------------------------------------------------------------------------- */

static inline float mullit(float a, float b, float c)
{
    bool low = b == -INFINITY || b == -0x1.fffffep127f || b != b || !(c > 0);
    float p = a == 0 || b == 0 ? 0.0f : a * b;
    p = p == p ? p : f32_of(f32_is_nan(f32_bits(a)) ? f32_bits(a) | 0x400000u : 0xffc00000u);
    return low ? -0x1.fffffep127f : p;
}

/* Faces of a cube map: the largest of |x|, |y|, |z| decides, z before y before x. */
static inline bool cube_z(float x, float y, float z)
{
    return __builtin_fabsf(z) >= __builtin_fabsf(x) && __builtin_fabsf(z) >= __builtin_fabsf(y);
}
static inline bool cube_y(float x, float y)
{
    return __builtin_fabsf(y) >= __builtin_fabsf(x);
}
static inline float cube_id(float x, float y, float z)
{
    float on_x = x < 0 ? 1.0f : 0.0f, on_y = y < 0 ? 3.0f : 2.0f, on_z = z < 0 ? 5.0f : 4.0f;
    return cube_z(x, y, z) ? on_z : cube_y(x, y) ? on_y : on_x;
}
static inline float cube_sc(float x, float y, float z)
{
    float on_x = x < 0 ? z : -z, on_z = z < 0 ? -x : x;
    return cube_z(x, y, z) ? on_z : cube_y(x, y) ? x : on_x;
}
static inline float cube_tc(float x, float y, float z)
{
    float on_y = y < 0 ? -z : z;
    return cube_z(x, y, z) ? -y : cube_y(x, y) ? on_y : -y;
}
static inline float cube_ma(float x, float y, float z)
{
    return 2.0f * (cube_z(x, y, z) ? z : cube_y(x, y) ? y : x);
}

static inline float dot2_f32(uint32_t a, uint32_t b, float c)
{
    float a0 = f16_value(a & 0xffffu), b0 = f16_value(b & 0xffffu), a1 = f16_value(a >> 16),
          b1 = f16_value(b >> 16);
    float r = __builtin_fmaf(a1, b1, __builtin_fmaf(a0, b0, c));
    return r == r ? r : f32_of(0xffc00000u);
}
static inline uint32_t dot2_i(uint32_t a, uint32_t b)
{
    return (uint32_t)(half_i(a, 0) * half_i(b, 0)) + (uint32_t)(half_i(a, 1) * half_i(b, 1));
}
static inline uint32_t dot2_u(uint32_t a, uint32_t b)
{
    return (a & 0xffffu) * (b & 0xffffu) + (a >> 16) * (b >> 16);
}

#endif
