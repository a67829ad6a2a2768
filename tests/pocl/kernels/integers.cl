/* integers.cl: operators on integers of every type and width.
 *
 * In all kernels of this folder the name of an argument says what the test puts there or how it compares: see
 * tests/pocl/diff.h. */

#define OPERATORS(type, element)                                                                              \
    __kernel void ops_##type(__global const type *a, __global const type *b, __global type *out)              \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i], y = b[i], count = y & (type)(sizeof(element) * 8 - 1);                           \
        __global type *to = out + i * 32;                                                                     \
        to[0] = x + y;                                                                                        \
        to[1] = x - y;                                                                                        \
        to[2] = x * y;                                                                                        \
        to[3] = x & y;                                                                                        \
        to[4] = x | y;                                                                                        \
        to[5] = x ^ y;                                                                                        \
        to[6] = ~x;                                                                                           \
        to[7] = -y;                                                                                           \
        to[8] = x << count;                                                                                   \
        to[9] = x >> count;                                                                                   \
        to[10] = x * (type)3 + (y >> (type)1);                                                                \
        to[11] = (x & ~y) | (y & (type)0x55);                                                                 \
    }

#define WIDTHS(type)                                                                                          \
    OPERATORS(type, type)                                                                                     \
    OPERATORS(type##2, type)                                                                                  \
    OPERATORS(type##4, type)                                                                                  \
    OPERATORS(type##8, type)                                                                                  \
    OPERATORS(type##16, type)

WIDTHS(char)
WIDTHS(uchar)
WIDTHS(short)
WIDTHS(ushort)
WIDTHS(int)
WIDTHS(uint)
WIDTHS(long)
WIDTHS(ulong)

/* Three elements, stored as four. */
#define OPERATORS3(type)                                                                                      \
    __kernel void ops_##type##3(__global const type *a, __global const type *b, __global type *out)           \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type##3 x = vload3(i / 4, a), y = vload3(i / 4, b);                                             \
        vstore3(x + y * x, 0, out + i * 32);                                                                  \
        vstore3(x.zyx - y.xxz, 1, out + i * 32);                                                              \
        vstore3((type##3)(x.s12, y.s0), 2, out + i * 32);                                                     \
    }
OPERATORS3(char)
OPERATORS3(short)
OPERATORS3(int)
OPERATORS3(ulong)
