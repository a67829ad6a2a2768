/* division.cl: quotients and remainders of integers, which the compiler builds from many instructions. */

#define DIVISION(type, lowest)                                                                                \
    __kernel void div_##type(__global const type *a, __global const type *b, __global type *out)              \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i], y = b[i];                                                                        \
        if (y == 0 || (y == (type)-1 && x == (type)(lowest)))                                                 \
            return;                                                                                           \
        out[i * 32] = x / y;                                                                                  \
        out[i * 32 + 1] = x % y;                                                                              \
        out[i * 32 + 2] = x / (type)7;                                                                        \
        out[i * 32 + 3] = x % (type)10;                                                                       \
        out[i * 32 + 4] = x / (type)16;                                                                       \
        out[i * 32 + 5] = x % (type)16;                                                                       \
    }
DIVISION(char, CHAR_MIN)
DIVISION(uchar, 1)
DIVISION(short, SHRT_MIN)
DIVISION(ushort, 1)
DIVISION(int, INT_MIN)
DIVISION(uint, 1)
DIVISION(long, LONG_MIN)
DIVISION(ulong, 1)

__kernel void div_uint4(__global const uint4 *a, __global const uint4 *b, __global uint4 *out)
{
    const size_t i = get_global_id(0);
    const uint4 y = b[i] | 1u;
    out[i * 32] = a[i] / y;
    out[i * 32 + 1] = a[i] % y;
}

__kernel void div_short8(__global const short8 *a, __global const short8 *b, __global short8 *out)
{
    const size_t i = get_global_id(0);
    const short8 y = (b[i] & (short)0x7fff) | (short)1;
    out[i * 32] = a[i] / y;
    out[i * 32 + 1] = a[i] % y;
}
