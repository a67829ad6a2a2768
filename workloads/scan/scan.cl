/* scan.cl: exclusive prefix sums, a block of 512 per work-group of 256 (Blelloch's up and down sweep in local
 * memory). The host scans the blocks' totals the same way and adds them in. */

#define GROUP 256
#define BLOCK (2 * GROUP)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_blocks(__global const uint *in,
                                                                             __global uint *out,
                                                                             __global uint *totals, uint count)
{
    __local uint tree[BLOCK];
    const uint id = get_local_id(0);
    const uint base = get_group_id(0) * BLOCK;
    tree[id] = base + id < count ? in[base + id] : 0;
    tree[id + GROUP] = base + id + GROUP < count ? in[base + id + GROUP] : 0;
    uint stride = 1;
    for (uint active = GROUP; active > 0; active /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < active)
            tree[stride * (2 * id + 2) - 1] += tree[stride * (2 * id + 1) - 1];
        stride *= 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id == 0) {
        totals[get_group_id(0)] = tree[BLOCK - 1];
        tree[BLOCK - 1] = 0;
    }
    for (uint active = 1; active <= GROUP; active *= 2) {
        stride /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < active) {
            const uint left = stride * (2 * id + 1) - 1;
            const uint right = stride * (2 * id + 2) - 1;
            const uint kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (base + id < count)
        out[base + id] = tree[id];
    if (base + id + GROUP < count)
        out[base + id + GROUP] = tree[id + GROUP];
}

__kernel void scan_add(__global uint *out, __global const uint *offsets, uint count)
{
    const uint i = get_global_id(0);
    if (i < count)
        out[i] += offsets[i / BLOCK];
}
