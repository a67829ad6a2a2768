/* micro_navisim.cl: the kernels of NaviSim's seven microbenchmarks (its table 3). */

/* Work-groups of any size. */
#ifdef __AMDGCN__
__attribute__((amdgpu_flat_work_group_size(1, 1024)))
#endif
__kernel void micro_empty(void)
{
}

/* A chain of dependent additions; the empty assembly keeps the compiler from adding them up. */
__kernel void micro_loop(__global float *out, uint iterations, float step)
{
    float sum = (float)(get_global_id(0) & 255);
    for (uint i = 0; i < iterations; i++) {
        sum += step;
#ifdef __AMDGCN__
        __asm__ volatile("" : "+v"(sum));
#endif
    }
    out[get_global_id(0)] = sum;
}

/* Cells, each with the address of the next: one work-item follows them and says where it came to. Its own
 * number, 0, keeps the compiler from loading with scalar instructions. */
__kernel void micro_chase(__global const ulong *start, __global ulong *out, uint steps)
{
    __global const ulong *at = start + get_local_id(0);
#pragma unroll 16
    for (uint i = 0; i < steps; i++)
        at = (__global const ulong *)*at;
    *out = (ulong)(at - start);
}

__kernel void micro_copy(__global const float *in, __global float *out, uint count)
{
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        out[i] = in[i];
}
