// vector_add.cl: c = a + b, one element per work-item.
__kernel void vector_add(__global const float *a, __global const float *b, __global float *c, uint count)
{
    uint i = (uint)get_global_id(0);
    if (i < count)
        c[i] = a[i] + b[i];
}
