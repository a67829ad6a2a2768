/* bicg.cl: the two products of a step of the biconjugate gradient method: q = A p and s = A^T r. */

__kernel void bicg_q(__global const float *a, __global const float *p, __global float *q, uint rows,
                     uint columns)
{
    const uint i = get_global_id(0);
    if (i >= rows)
        return;
    float sum = 0.0f;
    for (uint j = 0; j < columns; j++)
        sum += a[i * columns + j] * p[j];
    q[i] = sum;
}

__kernel void bicg_s(__global const float *a, __global const float *r, __global float *s, uint rows,
                     uint columns)
{
    const uint j = get_global_id(0);
    if (j >= columns)
        return;
    float sum = 0.0f;
    for (uint i = 0; i < rows; i++)
        sum += a[i * columns + j] * r[i];
    s[j] = sum;
}
