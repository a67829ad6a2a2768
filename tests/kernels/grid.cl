// grid.cl: a kernel whose work-groups wait for each other, as those of a cooperative launch do.

static void sync_grid(void)
{
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        __builtin_amdgcn_ds_gws_barrier((uint)get_num_groups(0) - 1, 0);
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
}

// In each round every work-group adds its number and 1, one of them late, and all read the sum after the barrier.
// Work-group `stray` writes to an address that is not mapped instead of coming to the second barrier.
__kernel void rounds(__global uint *sums, __global uint *out, uint count, uint stray)
{
    uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);
    for (uint r = 0; r < count; r++) {
        if (group == r % groups)
            for (uint i = 0; i < 8; i++)
                __builtin_amdgcn_s_sleep(15);
        if (get_local_id(0) == 0)
            atomic_add(&sums[r], group + 1);
        sync_grid();
        if (get_local_id(0) == 0)
            out[r * groups + group] = sums[r];
        if (group == stray)
            *(__global uint *)(ulong)64 = 1;
    }
}
