/* keys.cl: kernels that use every part of a compute unit and of the memory below it, so that each key of a platform
 * changes some time or counter (tests/cli/test_keys_amd.c). */

/* Twelve words of data per work-item; words is a power of two. */
__kernel void mix(__global uint *data, __constant uint *table, uint words, uint rounds, __global uint *counters,
                  __local uint *scratch)
{
    const uint id = (uint)get_global_id(0), lane = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint size = (uint)get_local_size(0);
    uint sum = id;
    ulong wide = id + 3;
    double slow = (double)(id + 1);
    for (uint round = 0; round < rounds; round++) {
        /* Scalar loads: the index is the same for the whole wave. */
        for (uint i = 0; i < 6; i++)
            sum += table[((group * 7 + round * 3 + i * 5) * 64) & (words - 1)];
        /* Sixteen words of two lines; reads that pass the cache. */
        __constant uint *row = table + ((group * 48 + round * 16) & (words / 2 - 1)) + 24;
        for (uint i = 0; i < 16; i++)
            sum += row[i];
        uint passed[2];
        __asm__ volatile("s_load_dword %0, %2, 0x0 glc\n s_load_dword %1, %2, 0x200 glc\n s_waitcnt lgkmcnt(0)"
                         : "=&s"(passed[0]), "=&s"(passed[1])
                         : "s"(table));
        sum += passed[0] + passed[1];
        /* Vector loads of one line and of many. */
        sum += data[(id + round * 64) & (words - 1)] + data[(id * 48 + round * 97) & (words - 1)];
        sum += data[(lane * 16 + round * 512) & (words - 1)];
        /* Each rate of the vector unit. */
        wide = (wide << (sum & 7)) ^ (wide >> 9);
        wide = (wide << 3) ^ wide;
        sum = sum * 2654435761u + (uint)wide;
        sum = sum * (sum | 1);
        const float root = native_sqrt((float)(sum & 1023) + 1.0f);
        sum += (uint)(native_recip(root) * 100.0f);
        slow = slow + 1.25;
        slow = slow + (double)lane;
        slow = slow * 1.0000001;
        slow = slow * slow + 1.0;
        sum += (uint)(long)fmin(slow, 1000.0);
        /* LDS with conflicts and without, and barriers. */
        scratch[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += scratch[(lane * 32) & (size - 1)] + scratch[(lane + 1) & (size - 1)];
        barrier(CLK_LOCAL_MEM_FENCE);
        /* Stores: whole lines, single words; atomics with and without an answer. */
        data[(id + round * 1024) & (words - 1)] = sum;
        data[(id * 80 + round * 33) & (words - 1)] = sum;
        sum += atomic_add(&counters[(lane + round) & 63], 1u);
        atomic_max(&counters[64 + (lane & 15)], sum);
        /* More code than a small instruction cache has, and branches. */
        if ((sum & 1) != 0)
            __asm__ volatile(".rept 60\n v_mov_b32 v0, v0\n .endr\n" ::: "v0");
        __asm__ volatile(".rept 150\n s_nop 0\n .endr\n");
        sum += (uint)(__builtin_amdgcn_s_memtime() >> 63);
    }
    data[id & (words - 1)] = sum;
}

/* Many loads in flight from many lines: queues below fill up. Then the rates that `mix` has not. */
__kernel void flood(__global const uint *from, __global uint *to, uint words, uint stride)
{
    const uint id = (uint)get_global_id(0);
    uint sum = 0;
    for (uint i = 0; i < 12; i++)
        sum += from[(id * stride + i * 4099) & (words - 1)];
    const float part = (float)(sum & 255);
    sum += (uint)__builtin_amdgcn_div_fixupf(part, part, 3.0f);
    sum += (uint)(__builtin_amdgcn_rcp((double)(sum & 255) + 1.0) * 1e6);
    for (uint i = 0; i < 4; i++)
        to[(id * stride + i * 2053) & (words - 1)] = sum + i;
}
