/* limits.cl: kernels whose limit is known by construction, for the rules of `lockstep explain` that AMD GPUs can meet
 * (docs/explain.md). They have no host: `lockstep run limits.co --kernel NAME` launches one. Buffers are zero. */

/* Bytes of DRAM: every work-item streams, neighbours read neighbours, and `passes` walk over more than the caches hold. */
__kernel void limit_bandwidth(__global const float4 *in, __global float *out, uint count, uint passes)
{
    const uint items = (uint)get_global_size(0), item = (uint)get_global_id(0);
    float4 sum = 0;
    for (uint p = 0; p < passes; p++) {
#pragma unroll 4
        for (uint i = item; i < count; i += items)
            sum += in[i];
    }
    if (sum.x + sum.y + sum.z + sum.w != 0)
        out[item] = sum.x;
}

/* A chain of loads, each at an address that the one before gives. mask + 1 words are a power of two. */
static uint chase(__global const uint *data, uint at, uint loads, uint step, uint mask)
{
    for (uint i = 0; i < loads; i++)
        at = (at + step + data[at]) & mask;
    return at;
}

__kernel void limit_latency(__global const uint *data, __global uint *out, uint loads, uint step, uint mask)
{
    const uint item = (uint)get_global_id(0);
    const uint end = chase(data, (item >> 6) * 7919 * 64 & mask, loads, step, mask);
    if (end == 0xffffffff)
        out[item] = end;
}

/* The same chain by waves that need so many registers that few of them fit. */
__kernel void limit_registers(__global const uint *data, __global uint *out, uint loads, uint step, uint mask)
{
    const uint item = (uint)get_global_id(0);
#ifdef __AMDGCN__
    __asm__ volatile("v_mov_b32 v250, 0" ::: "v250");
#endif
    const uint end = chase(data, (item >> 6) * 7919 * 64 & mask, loads, step, mask);
    if (end == 0xffffffff)
        out[item] = end;
}

/* The same chain by work-groups that need so much LDS that few of them fit. */
__kernel void limit_lds(__global const uint *data, __global uint *out, uint loads, uint step, uint mask,
                        __local uint *room)
{
    const uint item = (uint)get_global_id(0);
    room[get_local_id(0)] = item;
    const uint end = chase(data, (item >> 6) * 7919 * 64 & mask, loads, step, mask);
    if (end == 0xffffffff)
        out[item] = room[get_local_id(0)];
}

/* Lanes of a wave access words of one bank. */
__kernel void limit_conflicts(__global uint *out, uint count, __local uint *room)
{
    const uint at = ((uint)get_local_id(0) & 63) * 32;
    uint sum = 0;
    room[at] = at;
    for (uint i = 0; i < count; i++)
        sum += ((volatile __local uint *)room)[at];
    if (sum == 0xffffffff)
        out[get_global_id(0)] = sum;
}

/* Lanes of a wave read a line each. */
__kernel void limit_uncoalesced(__global const uint *data, __global uint *out, uint count, uint mask)
{
    const uint item = (uint)get_global_id(0);
    uint sum = 0;
#pragma unroll 4
    for (uint i = 0; i < count; i++)
        sum += data[(item * 64 + i * 16384) & mask];
    if (sum == 0xffffffff)
        out[item] = sum;
}

static float arithmetic(float x, uint count)
{
    float a = x, b = x + 1, c = x + 2, d = x + 3;
    for (uint i = 0; i < count; i++) {
#pragma unroll
        for (uint k = 0; k < 16; k++) {
            a = fma(a, 0.5f, 1.0f);
            b = fma(b, 0.5f, 1.0f);
            c = fma(c, 0.5f, 1.0f);
            d = fma(d, 0.5f, 1.0f);
        }
    }
    return a + b + c + d;
}

__kernel void limit_alu(__global float *out, uint count)
{
    const uint item = (uint)get_global_id(0);
    const float x = arithmetic((float)item, count);
    if (x < 0)
        out[item] = x;
}

/* One lane of sixteen works. */
__kernel void limit_divergence(__global float *out, uint count)
{
    const uint item = (uint)get_global_id(0);
    if ((item & 15) != 0)
        return;
    const float x = arithmetic((float)item, count);
    if (x < 0)
        out[item] = x;
}

/* Work-groups that fill a compute unit with their LDS: the last one runs alone. */
__kernel void limit_tail(__global float *out, uint count, __local float *room)
{
    const uint item = (uint)get_global_id(0);
    room[get_local_id(0)] = (float)item;
    const float x = arithmetic(room[get_local_id(0)], count);
    if (x < 0)
        out[item] = x;
}

/* Between two barriers one wave works and the others wait. */
__attribute__((reqd_work_group_size(512, 1, 1))) __kernel void limit_barrier(__global float *out, uint count,
                                                                             uint rounds, __local float *room)
{
    const uint wave = (uint)get_local_id(0) >> 6;
    float x = 0;
    room[get_local_id(0)] = 0;
    for (uint r = 0; r < rounds; r++) {
        if (wave == r % ((uint)get_local_size(0) >> 6))
            for (uint i = 0; i < count; i++)
                x = fma(x, 0.5f, 1.0f);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < 0)
        out[get_global_id(0)] = x + room[0];
}

/* All lanes add to one word, and wait for its old value. */
__kernel void limit_atomics(__global uint *out, uint count)
{
    uint sum = 0;
    for (uint i = 0; i < count; i++)
        sum += atomic_add(&out[0], 1 + (sum & 1));
    if (sum == 0xffffffff)
        out[1] = sum;
}
