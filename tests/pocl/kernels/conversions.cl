/* conversions.cl: between all types, with saturation and every rounding mode. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* From a float type to an integer: only saturating conversions are defined for every input; a NaN should
 * become 0, but AMD's library makes it the lowest number. */
#define FROM_FLOAT(from, to)                                                                                  \
    __kernel void from_##from##_to_##to(__global const from *a, __global to *out)                             \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const from x = a[i] == a[i] ? a[i] : (from)0;                                                         \
        out[i * 32] = convert_##to##_sat(x);                                                                  \
        out[i * 32 + 1] = convert_##to##_sat_rte(x);                                                          \
        out[i * 32 + 2] = convert_##to##_sat_rtz(x);                                                          \
        out[i * 32 + 3] = convert_##to##_sat_rtp(x);                                                          \
        out[i * 32 + 4] = convert_##to##_sat_rtn(x);                                                          \
    }
/* From an integer: only large ones are rounded. */
#define TO_FLOAT(from, to)                                                                                    \
    __kernel void from_##from##_to_##to(__global const from *a, __global to *out)                             \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = convert_##to(a[i]);                                                                     \
        out[i * 32 + 1] = convert_##to##_rte(a[i]);                                                           \
        out[i * 32 + 2] = convert_##to##_rtz(a[i]);                                                           \
        out[i * 32 + 3] = convert_##to##_rtp(a[i]);                                                           \
        out[i * 32 + 4] = convert_##to##_rtn(a[i]);                                                           \
        out[i * 32 + 5] = convert_##to(a[i] >> (from)1);                                                      \
    }
#define BETWEEN_INTEGERS(from, to)                                                                            \
    __kernel void from_##from##_to_##to(__global const from *a, __global to *out)                             \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = convert_##to(a[i]);                                                                     \
        out[i * 32 + 1] = convert_##to##_sat(a[i]);                                                           \
    }

#define FLOAT(type)                                                                                           \
    FROM_FLOAT(type, char)                                                                                    \
    FROM_FLOAT(type, uchar)                                                                                   \
    FROM_FLOAT(type, short)                                                                                   \
    FROM_FLOAT(type, ushort)                                                                                  \
    FROM_FLOAT(type, int)                                                                                     \
    FROM_FLOAT(type, uint)                                                                                    \
    FROM_FLOAT(type, long)                                                                                    \
    FROM_FLOAT(type, ulong)                                                                                   \
    TO_FLOAT(char, type)                                                                                      \
    TO_FLOAT(uchar, type)                                                                                     \
    TO_FLOAT(short, type)                                                                                     \
    TO_FLOAT(ushort, type)                                                                                    \
    TO_FLOAT(int, type)                                                                                       \
    TO_FLOAT(uint, type)                                                                                      \
    TO_FLOAT(long, type)                                                                                      \
    TO_FLOAT(ulong, type)
FLOAT(float)
FLOAT(double)
FROM_FLOAT(float4, uchar4)
FROM_FLOAT(float2, int2)
TO_FLOAT(int4, float4)
TO_FLOAT(ulong2, float2)

BETWEEN_INTEGERS(long, char)
BETWEEN_INTEGERS(ulong, uchar)
BETWEEN_INTEGERS(int, short)
BETWEEN_INTEGERS(int, ushort)
BETWEEN_INTEGERS(uint, int)
BETWEEN_INTEGERS(int, uint)
BETWEEN_INTEGERS(char, ulong)
BETWEEN_INTEGERS(short, uint)
BETWEEN_INTEGERS(long, uint)
BETWEEN_INTEGERS(ulong, long)
BETWEEN_INTEGERS(ushort, char)
BETWEEN_INTEGERS(int4, uchar4)
BETWEEN_INTEGERS(uint8, short8)

__kernel void between_floats(__global const double *a, __global const float *b, __global float *out,
                             __global double *out_double)
{
    const size_t i = get_global_id(0);
    out[i * 32] = convert_float(a[i]);
    out[i * 32 + 1] = convert_float_rte(a[i]);
    out[i * 32 + 2] = convert_float_rtz(a[i]);
    out[i * 32 + 3] = convert_float_rtp(a[i]);
    out[i * 32 + 4] = convert_float_rtn(a[i]);
    out_double[i * 32] = convert_double(b[i]);
    out_double[i * 32 + 1] = b[i];
}

/* Casts of values that fit. */
__kernel void casts(__global const int *a, __global const float *unit, __global long *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = (char)a[i];
    out[i * 32 + 1] = (uchar)a[i];
    out[i * 32 + 2] = (short)a[i];
    out[i * 32 + 3] = (ushort)a[i];
    out[i * 32 + 4] = (long)a[i];
    out[i * 32 + 5] = (long)(uint)a[i];
    out[i * 32 + 6] = (int)(unit[i] * 1000.0f);
    out[i * 32 + 7] = (uint)(fabs(unit[i]) * 4.0e9f);
    out[i * 32 + 8] = (long)(unit[i] * 9.0e18f);
    out[i * 32 + 9] = (bool)a[i];
    out[i * 32 + 10] = (char)(unit[i] * 127.0f);
}

__kernel void reinterpret(__global const uint4 *a, __global uint4 *out)
{
    const size_t i = get_global_id(0);
    const uchar16 bytes = as_uchar16(a[i]);
    out[i * 32] = as_uint4(bytes.s3210765489abfedc);
    out[i * 32 + 1] = as_uint4(as_ushort8(a[i]).s10325476);
    out[i * 32 + 2] = as_uint4(as_ulong2(a[i]).yx);
    out[i * 32 + 3] =
        (uint4)(as_uint(as_short2(a[i].x) + (short2)(1, -1)), as_uint(as_char4(a[i].y) * (char)3), 0, 0);
}
