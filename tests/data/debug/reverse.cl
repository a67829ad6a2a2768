/* reverse.cl: a kernel for tests of the debugger: an inlined function, LDS and a barrier. reverse.co is this file,
 * compiled with -g as reverse.txt says. */
float scale(float x, float factor)
{
    return x * factor;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void reverse(__global const float *in,
                                                                       __global float *out, float factor, uint count)
{
    __local float tile[64];
    const uint l = get_local_id(0);
    const uint i = get_global_id(0);
    tile[l] = scale(in[i], factor);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < count)
        out[i] = tile[63 - l];
}
