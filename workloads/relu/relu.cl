/* relu.cl: the rectified linear unit of a neural network's layer. */

__kernel void relu_forward(__global const float *in, __global float *out, uint count)
{
    const uint i = get_global_id(0);
    if (i < count)
        out[i] = in[i] > 0.0f ? in[i] : 0.0f;
}
