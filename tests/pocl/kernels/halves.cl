/* halves.cl: 16-bit floats: loads and stores with every rounding mode, and arithmetic where the device has
 * it; the CPU does the same in 32 bits and rounds once, which is exact for these operations. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

__kernel void half_store(__global const float *a, __global const double *b, __global ushort *out_half)
{
    const size_t i = get_global_id(0);
    __global half *to = (__global half *)(out_half + i * 32);
    vstore_half(a[i], 0, to);
    vstore_half_rte(a[i], 1, to);
    vstore_half_rtz(a[i], 2, to);
    vstore_half_rtp(a[i], 3, to);
    vstore_half_rtn(a[i], 4, to);
    vstore_half_rtz(b[i], 5, to);
}

__kernel void half_load(__global const ushort *half_a, __global float *out)
{
    const size_t i = get_global_id(0);
    out[i * 32] = vload_half(i, (__global const half *)half_a);
    const float4 four = vload_half4(i / 4, (__global const half *)half_a);
    vstore4(four, 0, out + i * 32 + 4);
}

__kernel void half_arithmetic(__global const ushort *half_a, __global const ushort *half_b,
                              __global ushort *out_half, __global ushort *out_half_zero)
{
    const size_t i = get_global_id(0);
    __global half *to = (__global half *)(out_half + i * 32),
                  *zero = (__global half *)(out_half_zero + i * 32);
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
    const half x = as_half(half_a[i]), y = as_half(half_b[i]);
    to[0] = x + y;
    to[1] = x - y;
    to[2] = x * y;
    to[3] = fabs(x);
    to[4] = -x;
    zero[0] = fmin(x, y);
    zero[1] = fmax(x, y);
    to[7] = floor(x);
    to[8] = ceil(x);
    to[9] = trunc(x);
    to[10] = rint(x);
#else
    const float x = vload_half(i, (__global const half *)half_a),
                y = vload_half(i, (__global const half *)half_b);
    vstore_half_rte(x + y, 0, to);
    vstore_half_rte(x - y, 1, to);
    vstore_half_rte(x * y, 2, to);
    vstore_half_rte(fabs(x), 3, to);
    vstore_half_rte(-x, 4, to);
    vstore_half_rte(fmin(x, y), 0, zero);
    vstore_half_rte(fmax(x, y), 1, zero);
    vstore_half_rte(floor(x), 7, to);
    vstore_half_rte(ceil(x), 8, to);
    vstore_half_rte(trunc(x), 9, to);
    vstore_half_rte(rint(x), 10, to);
#endif
}

__kernel void half_vector(__global const ushort4 *half_a, __global const ushort4 *half_b,
                          __global ushort4 *out_half)
{
    const size_t i = get_global_id(0);
#ifdef cl_khr_fp16
    const half4 x = as_half4(half_a[i]), y = as_half4(half_b[i]);
    out_half[i * 32] = as_ushort4(x + y);
    out_half[i * 32 + 1] = as_ushort4(x * y);
    out_half[i * 32 + 2] = as_ushort4(x - y);
    out_half[i * 32 + 3] = as_ushort4(fabs(x));
#else
    const float4 x = vload_half4(i, (__global const half *)half_a),
                 y = vload_half4(i, (__global const half *)half_b);
    vstore_half4_rte(x + y, i * 32, (__global half *)out_half);
    vstore_half4_rte(x * y, i * 32 + 1, (__global half *)out_half);
    vstore_half4_rte(x - y, i * 32 + 2, (__global half *)out_half);
    vstore_half4_rte(fabs(x), i * 32 + 3, (__global half *)out_half);
#endif
}

__kernel void half_compare(__global const ushort *half_a, __global const ushort *half_b, __global int *out)
{
    const size_t i = get_global_id(0);
#ifdef cl_khr_fp16
    const half x = as_half(half_a[i]), y = as_half(half_b[i]);
    out[i * 32 + 6] = convert_int_sat(x == x ? x : 0);
    out[i * 32 + 7] = convert_short_sat_rtn(x == x ? x : 0);
#else
    const float x = vload_half(i, (__global const half *)half_a),
                y = vload_half(i, (__global const half *)half_b);
    out[i * 32 + 6] = convert_int_sat(x == x ? x : 0);
    out[i * 32 + 7] = convert_short_sat_rtn(x == x ? x : 0);
#endif
    out[i * 32] = x == y;
    out[i * 32 + 1] = x != y;
    out[i * 32 + 2] = x < y;
    out[i * 32 + 3] = x >= y;
    out[i * 32 + 4] = isnan(x) || isinf(y);
    out[i * 32 + 5] = x > y ? 3 : 4;
}
