/* groups.cl: local memory, barriers, work-item functions. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define GROUP 64

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reverse(__global const int *a,
                                                                         __global int *out)
{
    __local int held[GROUP];
    const uint id = get_local_id(0);
    held[id] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = held[GROUP - 1 - id];
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void tree_sum(__global const uint *a,
                                                                        __global uint *out)
{
    __local uint held[256];
    const uint id = get_local_id(0);
    held[id] = a[get_global_id(0)];
    for (uint width = 128; width > 0; width >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < width)
            held[id] += held[id + width];
    }
    if (id == 0)
        out[get_group_id(0)] = held[0];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void mixed_sizes(__global const uchar *a,
                                                                             __global const double *b,
                                                                             __global double *out)
{
    __local uchar bytes[GROUP * 3];
    __local double wide[GROUP];
    __local ushort2 pairs[GROUP];
    const uint id = get_local_id(0), i = get_global_id(0);
    bytes[id * 3] = a[i];
    bytes[id * 3 + 1] = a[i] ^ 0x5a;
    bytes[id * 3 + 2] = (uchar)id;
    wide[(id * 7) % GROUP] = b[i];
    pairs[id ^ 5] = (ushort2)(a[i], (ushort)(id << 8));
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i * 32] = wide[id];
    out[i * 32 + 1] = bytes[id] + 256.0 * bytes[GROUP * 2 + id];
    out[i * 32 + 2] = pairs[id].x + 65536.0 * pairs[id].y;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_local(__global const int *a,
                                                                            __global int *out)
{
    __local int held[GROUP];
    const uint id = get_local_id(0);
    held[id] = a[get_global_id(0)];
    for (uint round = 0; round < GROUP; round++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint left = 2 * id + (round & 1);
        if (left + 1 < GROUP && held[left] > held[left + 1]) {
            const int kept = held[left];
            held[left] = held[left + 1];
            held[left + 1] = kept;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = held[id];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void local_argument(__global const uint *a,
                                                                                __local uint *room, uint step,
                                                                                __global uint *out)
{
    const uint id = get_local_id(0);
    room[id] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = room[(id + step) % GROUP] + room[id] * step;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void copy_async(__global const float4 *a,
                                                                            __global float4 *out)
{
    __local float4 held[GROUP];
    const size_t base = get_group_id(0) * GROUP;
    event_t event = async_work_group_copy(held, a + base, GROUP, 0);
    wait_group_events(1, &event);
    held[get_local_id(0)].x += 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    event = async_work_group_copy(out + base, held, GROUP, 0);
    wait_group_events(1, &event);
}

__kernel void ids(__global uint *out)
{
    const size_t i = get_global_id(0);
    __global uint *to = out + i * 32;
    to[0] = (uint)get_global_id(0);
    to[1] = (uint)get_local_id(0);
    to[2] = (uint)get_group_id(0);
    to[3] = (uint)get_global_size(0);
    to[4] = (uint)get_local_size(0);
    to[5] = (uint)get_num_groups(0);
    to[6] = (uint)get_global_id(1) + (uint)get_local_id(2);
    to[7] = (uint)get_global_size(1) + (uint)get_local_size(2);
    to[8] = (uint)get_global_offset(0);
    to[9] = (uint)get_work_dim();
}

/* Launched with 4 x 2 x 2 groups of 8 x 4 x 2. */
__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void ids3(__global uint *out)
{
    const size_t i =
        (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
    __global uint *to = out + i * 16;
    for (uint d = 0; d < 3; d++) {
        to[d] = (uint)get_local_id(d);
        to[3 + d] = (uint)get_group_id(d);
        to[6 + d] = (uint)get_num_groups(d);
        to[9 + d] = (uint)get_global_id(d);
        to[12 + d] = (uint)(get_local_size(d) * 1000 + get_global_size(d));
    }
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void transpose2(__global const uint *a,
                                                                          __global uint *out)
{
    __local uint tile[16][17];
    const size_t x = get_global_id(0), y = get_global_id(1), width = get_global_size(0);
    tile[get_local_id(1)][get_local_id(0)] = a[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * width + x] = tile[get_local_id(0)][get_local_id(1)];
}

/* Barriers in a loop whose length is the same for a whole group only. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void group_loops(__global const uint *a,
                                                                             __global uint *out)
{
    __local uint held[GROUP];
    const uint id = get_local_id(0);
    uint sum = a[get_global_id(0)];
    for (uint round = 0; round < get_group_id(0) % 5 + 1; round++) {
        held[id] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = sum * 3 + held[(id + round + 1) % GROUP];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = sum;
}
