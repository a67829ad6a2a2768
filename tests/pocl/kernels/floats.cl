/* floats.cl: float operations whose result is defined to the bit. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define EXACT(type)                                                                                           \
    __kernel void exact_##type(__global const type *a, __global const type *b, __global const type *c,        \
                               __global type *out, __global type *out_zero)                                   \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i], y = b[i], z = c[i];                                                              \
        __global type *to = out + i * 32;                                                                     \
        to[0] = x + y;                                                                                        \
        to[1] = x - y;                                                                                        \
        to[2] = x * y;                                                                                        \
        to[3] = fma(x, y, z);                                                                                 \
        to[4] = fabs(x);                                                                                      \
        to[5] = -x;                                                                                           \
        to[6] = copysign(x, y);                                                                               \
        out_zero[i * 32] = fmin(x, y);                                                                        \
        out_zero[i * 32 + 1] = fmax(x, y);                                                                    \
        to[9] = fdim(x, y);                                                                                   \
    }
EXACT(float)
EXACT(float2)
EXACT(float4)
EXACT(float8)
EXACT(double)
EXACT(double2)
EXACT(double4)

#define ROUNDING(type)                                                                                        \
    __kernel void rounding_##type(__global const type *a, __global type *out, __global type *out_zero)        \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = floor(a[i]);                                                                            \
        out[i * 32 + 1] = ceil(a[i]);                                                                         \
        out[i * 32 + 2] = trunc(a[i]);                                                                        \
        out[i * 32 + 3] = rint(a[i]);                                                                         \
        out_zero[i * 32] = round(a[i]);                                                                       \
        out_zero[i * 32 + 1] = sign(a[i]);                                                                    \
    }
ROUNDING(float)
ROUNDING(float4)
ROUNDING(double)
ROUNDING(double2)

#define PARTS(type, whole)                                                                                    \
    __kernel void parts_##type(__global const type *a, __global const type *b, __global const int *small,     \
                               __global type *out, __global type *out_zero, __global int *out_int)            \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        type fraction;                                                                                        \
        int exponent;                                                                                         \
        out[i * 32] = fract(a[i], &fraction);                                                                 \
        out[i * 32 + 1] = fraction;                                                                           \
        out[i * 32 + 2] = modf(a[i], &fraction);                                                              \
        out[i * 32 + 3] = fraction;                                                                           \
        out[i * 32 + 4] = frexp(a[i], &exponent);                                                             \
        out_int[i * 32] = isfinite(a[i]) ? exponent : 0;                                                      \
        out[i * 32 + 5] = ldexp(a[i], small[i] * 9 - 60);                                                     \
        out[i * 32 + 6] = logb(a[i]);                                                                         \
        out_int[i * 32 + 1] = ilogb(a[i]);                                                                    \
        out_zero[i * 32 + 2] = nextafter(a[i], b[i]);                                                         \
        out_zero[i * 32] = maxmag(a[i], b[i]);                                                                \
        out_zero[i * 32 + 1] = minmag(a[i], b[i]);                                                            \
    }
PARTS(float, int)
PARTS(double, long)

#define REMAINDERS(type)                                                                                      \
    __kernel void remainders_##type(__global const type *a, __global const type *b, __global type *out,       \
                                    __global int *out_int)                                                    \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        int quotient;                                                                                         \
        out[i * 32] = fmod(a[i], b[i]);                                                                       \
        out[i * 32 + 1] = remainder(a[i], b[i]);                                                              \
        out[i * 32 + 2] = remquo(a[i], b[i], &quotient);                                                      \
        out_int[i * 32] = isfinite(out[i * 32 + 2]) && isfinite(b[i]) ? quotient & 7 : 0;                     \
    }
REMAINDERS(float)
REMAINDERS(double)

/* Chains in which a single wrong rounding grows; inputs are tame. */
__kernel void chain_float(__global const float *unit, __global float *out)
{
    const size_t i = get_global_id(0);
    float x = unit[i] * 0.5f + 0.25f;
    for (int k = 0; k < 50; k++)
        x = 3.7f * x * (1.0f - x);
    out[i * 32] = x;
}

__kernel void chain_double(__global const double *unit, __global double *out)
{
    const size_t i = get_global_id(0);
    double x = unit[i] * 0.5 + 0.25;
    for (int k = 0; k < 100; k++)
        x = fma(-3.7 * x, x, 3.7 * x);
    out[i * 32] = x;
}
