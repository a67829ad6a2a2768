/* integer_functions.cl: the integer built-in functions. */

#define FUNCTIONS(type, unsigned_type)                                                                        \
    __kernel void functions_##type(__global const type *a, __global const type *b, __global const type *c,    \
                                   __global type *out, __global unsigned_type *out_unsigned)                  \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i], y = b[i], z = c[i];                                                              \
        __global type *to = out + i * 32;                                                                     \
        to[0] = add_sat(x, y);                                                                                \
        to[1] = sub_sat(x, y);                                                                                \
        to[2] = hadd(x, y);                                                                                   \
        to[3] = rhadd(x, y);                                                                                  \
        to[4] = max(x, y);                                                                                    \
        to[5] = min(x, y);                                                                                    \
        to[6] = clamp(x, min(y, z), max(y, z));                                                               \
        to[7] = mul_hi(x, y);                                                                                 \
        to[8] = mad_hi(x, y, z);                                                                              \
        to[9] = mad_sat(x, y, z);                                                                             \
        to[10] = rotate(x, y);                                                                                \
        to[11] = clz(x);                                                                                      \
        to[12] = popcount(x);                                                                                 \
        out_unsigned[i * 32] = abs(x);                                                                        \
        out_unsigned[i * 32 + 1] = abs_diff(x, y);                                                            \
    }
FUNCTIONS(char, uchar)
FUNCTIONS(uchar, uchar)
FUNCTIONS(short, ushort)
FUNCTIONS(ushort, ushort)
FUNCTIONS(int, uint)
FUNCTIONS(uint, uint)
FUNCTIONS(long, ulong)
FUNCTIONS(ulong, ulong)
FUNCTIONS(uchar4, uchar4)
FUNCTIONS(short2, ushort2)
FUNCTIONS(int4, uint4)
FUNCTIONS(ulong2, ulong2)

__kernel void functions_24(__global const int *a, __global const int *b, __global const int *c,
                           __global int *out, __global uint *out_unsigned)
{
    const size_t i = get_global_id(0);
    const int x = a[i] << 8 >> 8, y = b[i] << 8 >> 8;
    const uint ux = (uint)a[i] & 0xffffffu, uy = (uint)b[i] & 0xffffffu;
    out[i * 32] = mul24(x, y);
    out[i * 32 + 1] = mad24(x, y, c[i]);
    out_unsigned[i * 32] = mul24(ux, uy);
    out_unsigned[i * 32 + 1] = mad24(ux, uy, (uint)c[i]);
}

__kernel void functions_upsample(__global const uchar *a, __global const uchar *b, __global const ushort *c,
                                 __global const ushort *d, __global const uint *e, __global const uint *f,
                                 __global ulong *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = upsample(a[i], b[i]);
    out[i * 32 + 1] = upsample(c[i], d[i]);
    out[i * 32 + 2] = upsample(e[i], f[i]);
    out[i * 32 + 3] = (ulong)(long)upsample((char)a[i], b[i]);
    out[i * 32 + 4] = (ulong)(long)upsample((short)c[i], d[i]);
    out[i * 32 + 5] = (ulong)upsample((int)e[i], f[i]);
}

/* Carries and borrows across words, as big numbers have them. */
__kernel void functions_wide(__global const ulong2 *a, __global const ulong2 *b, __global ulong2 *out)
{
    const size_t i = get_global_id(0);
    const ulong2 x = a[i], y = b[i];
    ulong2 sum = x + y;
    sum.y += sum.x < x.x;
    ulong2 difference = x - y;
    difference.y -= x.x < y.x;
    out[i * 32] = sum;
    out[i * 32 + 1] = difference;
    out[i * 32 + 2] = (ulong2)(x.x * y.x, mul_hi(x.x, y.x) + x.x * y.y + x.y * y.x);
}
