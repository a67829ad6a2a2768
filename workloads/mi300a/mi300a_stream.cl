/* mi300a_stream.cl: kernels of the MI300A suite that stream through arrays: vectoradd, relu, and the copy
 * inside the GPU, which HIP's run time does with a kernel.
 *
 * All kernels of the suite take indices as HIP programs do, 32 bits from the group and the item, and numbers of the
 * problem as arguments. They are for wavefronts of 64. */

#define INDEX(d_) ((int)(get_group_id(d_) * get_local_size(d_) + get_local_id(d_)))

__kernel void vectoradd(__global float *a, __global const float *b, __global const float *c, int width, int height)
{
    const int x = INDEX(0);
    const int y = INDEX(1);
    const int i = y * width + x;
    if (i < width * height)
        a[i] = b[i] + c[i];
}

__kernel void relu(__global const float *in, __global float *out, int count)
{
    const int i = INDEX(0);
    if (i < count)
        out[i] = in[i] > 0 ? in[i] : 0;
}

/* 16 bytes per item and step; the grid is at most as large as the GPU, so that items go on at a distance of it. */
__kernel void blit_copy(__global const uint4 *from, __global uint4 *to, ulong count)
{
    const ulong step = get_global_size(0);
    for (ulong i = get_global_id(0); i < count; i += step)
        to[i] = from[i];
}
