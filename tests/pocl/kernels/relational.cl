/* relational.cl: comparisons and the relational built-in functions. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define COMPARE(type, truth)                                                                                  \
    __kernel void compare_##type(__global const type *a, __global const type *b, __global truth *out)         \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i], y = b[i];                                                                        \
        out[i * 32] = x == y;                                                                                 \
        out[i * 32 + 1] = x != y;                                                                             \
        out[i * 32 + 2] = x < y;                                                                              \
        out[i * 32 + 3] = x <= y;                                                                             \
        out[i * 32 + 4] = x > y;                                                                              \
        out[i * 32 + 5] = x >= y;                                                                             \
        out[i * 32 + 6] = !(x < y) && (x || y);                                                               \
        out[i * 32 + 7] = x < y ? (truth)5 : (truth)9;                                                        \
    }
COMPARE(char, int)
COMPARE(ushort, int)
COMPARE(int, int)
COMPARE(uint, int)
COMPARE(long, int)
COMPARE(ulong, int)
COMPARE(float, int)
COMPARE(double, int)
COMPARE(char4, char4)
COMPARE(short2, short2)
COMPARE(uint4, int4)
COMPARE(long2, long2)
COMPARE(float4, int4)
COMPARE(double2, long2)

#define CLASSES(type, truth)                                                                                  \
    __kernel void classes_##type(__global const type *a, __global const type *b, __global truth *out)         \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i], y = b[i];                                                                        \
        out[i * 32] = isequal(x, y);                                                                          \
        out[i * 32 + 1] = isnotequal(x, y);                                                                   \
        out[i * 32 + 2] = isless(x, y);                                                                       \
        out[i * 32 + 3] = islessequal(x, y);                                                                  \
        out[i * 32 + 4] = isgreater(x, y);                                                                    \
        out[i * 32 + 5] = isgreaterequal(x, y);                                                               \
        out[i * 32 + 6] = islessgreater(x, y);                                                                \
        out[i * 32 + 7] = isordered(x, y);                                                                    \
        out[i * 32 + 8] = isunordered(x, y);                                                                  \
        out[i * 32 + 9] = isnan(x);                                                                           \
        out[i * 32 + 10] = isinf(x);                                                                          \
        out[i * 32 + 11] = isfinite(x);                                                                       \
        out[i * 32 + 12] = isnormal(x);                                                                       \
        out[i * 32 + 13] = signbit(x);                                                                        \
    }
CLASSES(float, int)
CLASSES(double, int)
CLASSES(float2, int2)
CLASSES(float4, int4)
CLASSES(double2, long2)

#define SELECT(type, chooser)                                                                                 \
    __kernel void select_##type(__global const type *a, __global const type *b, __global const chooser *c,    \
                                __global type *out)                                                           \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        out[i * 32] = select(a[i], b[i], c[i]);                                                               \
        out[i * 32 + 1] = bitselect(a[i], b[i], as_##type(c[i]));                                             \
    }
SELECT(char, char)
SELECT(short, ushort)
SELECT(int, int)
SELECT(ulong, ulong)
SELECT(float, uint)
SELECT(double, long)
SELECT(char4, char4)
SELECT(int4, int4)
SELECT(float4, int4)
SELECT(double2, ulong2)

__kernel void any_all(__global const int4 *a, __global const char2 *b, __global const long *c,
                      __global int *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = any(a[i]);
    out[i * 32 + 1] = all(a[i]);
    out[i * 32 + 2] = any(b[i]);
    out[i * 32 + 3] = all(b[i]);
    out[i * 32 + 4] = any(c[i]);
    out[i * 32 + 5] = all(c[i]);
}
