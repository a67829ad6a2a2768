/* reduction.cl: the sum of an array. Each work-group strides over the input and leaves one partial sum; the
 * same kernel with one group adds those up. */

#define GROUP 256

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void reduce_sum(__global const float *in,
                                                                            __global float *out, uint count)
{
    __local float partial[GROUP];
    const uint id = get_local_id(0);
    float sum = 0.0f;
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        sum += in[i];
    partial[id] = sum;
    for (uint width = GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < width)
            partial[id] += partial[id + width];
    }
    if (id == 0)
        out[get_group_id(0)] = partial[0];
}
