/* atax.cl: y = A^T (A x) in two launches; A has `rows` rows and `columns` columns, row by row. */

__kernel void atax_rows(__global const float *a, __global const float *x, __global float *product, uint rows,
                        uint columns)
{
    const uint i = get_global_id(0);
    if (i >= rows)
        return;
    float sum = 0.0f;
    for (uint j = 0; j < columns; j++)
        sum += a[i * columns + j] * x[j];
    product[i] = sum;
}

__kernel void atax_columns(__global const float *a, __global const float *product, __global float *y,
                           uint rows, uint columns)
{
    const uint j = get_global_id(0);
    if (j >= columns)
        return;
    float sum = 0.0f;
    for (uint i = 0; i < rows; i++)
        sum += a[i * columns + j] * product[i];
    y[j] = sum;
}
