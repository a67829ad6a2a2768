/* memory.cl: private arrays, structures, pointers, tables, vectors in memory. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__constant uint primes[16] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53 };
__constant char letters[] = "the quick brown fox jumps over the lazy dog";

typedef struct {
    uchar tag;
    short pair[3];
    int number;
    ulong wide;
    float real;
} record_t;

typedef struct {
    int a;
    char b;
    short c;
    long d;
    float4 e;
} args_32;

typedef struct __attribute__((packed)) {
    uchar tag;
    uint number;
    ushort rest;
} packed_t;

__kernel void private_array(__global const uint *a, __global const uint *small, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint held[16];
    for (uint k = 0; k < 16; k++)
        held[k] = a[i] * (k + 1);
    held[small[i]] ^= 0xdeadbeef;
    uint sum = 0;
    for (uint k = 0; k < 16; k++)
        sum = sum * 31 + held[(k * 5 + small[i]) & 15];
    out[i] = sum;
}

__kernel void private_sort(__global const int *a, __global int *out)
{
    const size_t i = get_global_id(0);
    int held[12];
    uint seed = (uint)a[i];
    for (int k = 0; k < 12; k++) {
        seed = seed * 1664525u + 1013904223u;
        held[k] = (int)seed >> 8;
    }
    for (int k = 1; k < 12; k++) {
        const int value = held[k];
        int at = k;
        for (; at > 0 && held[at - 1] > value; at--)
            held[at] = held[at - 1];
        held[at] = value;
    }
    for (int k = 0; k < 12; k++)
        out[i * 32 + k] = held[k];
}

__kernel void private_bytes(__global const uint *a, __global const uint *small, __global uint *out)
{
    const size_t i = get_global_id(0);
    union {
        uint words[4];
        uchar bytes[16];
        ushort halves[8];
    } u;
    for (uint k = 0; k < 4; k++)
        u.words[k] = a[i] + k * 0x01020304u;
    u.bytes[small[i]] = 0xee;
    u.halves[(small[i] + 3) & 7] += 7;
    out[i * 32] = u.words[0];
    out[i * 32 + 1] = u.words[1];
    out[i * 32 + 2] = u.words[2];
    out[i * 32 + 3] = u.words[3];
    out[i * 32 + 4] = u.bytes[(small[i] + 9) & 15];
}

__kernel void tables(__global const uint *small, __global uint *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = primes[small[i]];
    out[i * 32 + 1] = (uint)letters[small[i] * 2 + 3];
    const uint squares[4] = { 9, 16, 25, 36 };
    out[i * 32 + 2] = squares[small[i] & 3];
}

__kernel void records(__global const uint *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    __global record_t *to = (__global record_t *)(out + i * 32);
    record_t r;
    r.tag = (uchar)a[i];
    r.pair[0] = (short)(a[i] >> 3);
    r.pair[1] = (short)-1;
    r.pair[2] = (short)(a[i] * 7);
    r.number = -(int)a[i];
    r.wide = (ulong)a[i] * a[i];
    r.real = (float)(a[i] & 0xffff);
    to->tag = r.tag;
    to->pair[0] = r.pair[0];
    to->pair[1] = r.pair[1];
    to->pair[2] = r.pair[2];
    to->number = r.number;
    to->wide = r.wide;
    to->real = r.real;
    __global packed_t *packed = (__global packed_t *)(to + 1);
    packed[0].tag = 1;
    packed[0].number = a[i];
    packed[0].rest = (ushort)a[i];
    packed[1] = packed[0];
    packed[1].number += 1;
}

__kernel void struct_argument(args_32 first, __global const uint *a, args_32 second, char small_value,
                              __global long *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = first.a + (long)first.b * first.c + first.d;
    out[i * 32 + 1] = second.a - (long)second.b + second.c - second.d;
    out[i * 32 + 2] = as_int(first.e.y) ^ as_int(second.e.w);
    out[i * 32 + 3] = a[i] + small_value;
}

__kernel void value_arguments(char c, uchar uc, short s, ushort us, int n, uint u, long l, ulong ul, float f,
                              double d, float4 v, char2 c2, uint3 u3, short8 s8, __global double *out)
{
    __global double *to = out + get_global_id(0) * 32;
    to[0] = c;
    to[1] = uc;
    to[2] = s;
    to[3] = us;
    to[4] = n;
    to[5] = u;
    to[6] = (double)(l >> 12);
    to[7] = (double)(ul >> 12);
    to[8] = f;
    to[9] = d;
    to[10] = v.x;
    to[11] = v.w;
    to[12] = c2.x;
    to[13] = c2.y;
    to[14] = u3.x;
    to[15] = u3.z;
    to[16] = s8.s0;
    to[17] = s8.s7;
}

__kernel void pointers(__global const uchar *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    __global const uchar *at = a + i;
    __global const uchar *end = a + get_global_size(0);
    uint sum = 0;
    for (__global const uchar *p = at; p < end && p - at < 9; p += 2)
        sum = sum * 3 + *p;
    out[i * 32] = sum;
    out[i * 32 + 1] = (uint)(end - at);
    out[i * 32 + 2] = at[-(long)(i > 0)];
    __global const uint *words = (__global const uint *)a;
    out[i * 32 + 3] = words[i >> 2] >> ((i & 3) * 8);
    out[i * 32 + 4] = at == a ? 1 : 2;
}

__kernel void vectors_in_memory(__global const int *a, __global int *out)
{
    const size_t i = get_global_id(0);
    const size_t from = min(i, get_global_size(0) - 16);
    __global int *to = out + i * 32;
    vstore2(vload2(0, a + from).yx, 0, to);
    vstore3(vload3(0, a + from + 1).zxy, 0, to + 2);
    vstore4(vload4(0, a + from + 3).s3120, 0, to + 5);
    vstore8(vload8(0, a + from + 5).s76543210, 0, to + 9);
    const int16 all = vload16(0, a + from);
    to[17] = all.s0 + all.sf - all.s7;
    to[18] = all.even.s3 ^ all.odd.s4 ^ all.lo.s5 ^ all.hi.s6;
}

__kernel void vector_bytes(__global const uchar *a, __global uchar *out)
{
    const size_t i = get_global_id(0);
    const size_t from = min(i, get_global_size(0) - 8);
    vstore3(vload3(0, a + from), 0, out + i * 32);
    vstore4(vload4(0, a + from + 1), 0, out + i * 32 + 3);
    vstore8(vload8(0, a + from), 0, out + i * 32 + 7);
    vstore2(as_uchar2(as_ushort(vload2(0, a + from))), 0, out + i * 32 + 15);
}

__kernel void shuffles(__global const uint4 *a, __global const uint4 *b, __global const uint4 *small,
                       __global uint4 *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = shuffle(a[i], small[i]);
    out[i * 32 + 1] = shuffle2(a[i], b[i], small[i]);
    uint4 v = a[i];
    v.xz = b[i].yw;
    v.y += v.w;
    out[i * 32 + 2] = v;
    out[i * 32 + 3] = (uint4)(a[i].x, b[i].yz, a[i].w);
}

/* Pointers that may be to either memory, chosen at run time. */
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void chosen_pointer(__global const uint *a,
                                                                             __global uint *out)
{
    uint mine[4], other[4];
    const size_t i = get_global_id(0);
    for (uint k = 0; k < 4; k++) {
        mine[k] = a[i] + k;
        other[k] = a[i] ^ k;
    }
    uint *chosen = a[i] & 1 ? mine : other;
    chosen[a[i] & 3] = 77;
    out[i * 32] = mine[0] + mine[1] * 3 + mine[2] * 5 + mine[3] * 7;
    out[i * 32 + 1] = other[0] + other[1] * 3 + other[2] * 5 + other[3] * 7;
}

/* Many values alive at once: more than registers. */
__kernel void pressure(__global const uint *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint held[64];
    for (uint k = 0; k < 64; k++)
        held[k] = a[(i + k * 17) % get_global_size(0)] * (2 * k + 1);
    uint x = 0;
    for (uint round = 0; round < 4; round++)
        for (uint k = 0; k < 64; k++) {
            held[k] = held[(k + 11) & 63] + rotate(held[k], round + 1);
            x ^= held[k];
        }
    out[i * 32] = x;
    for (uint k = 0; k < 31; k++)
        out[i * 32 + 1 + k] = held[k * 2];
}
