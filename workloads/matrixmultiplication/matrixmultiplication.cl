/* matrixmultiplication.cl: C = A B with tiles in local memory; A is m x k, B is k x n, all row by row.
 *
 * A work-group of 16 x 16 computes a tile of 16 rows and 64 columns of C, four neighbouring columns per
 * work-item. Each element of A read from local memory is used four times. */

#define TILE 16
#define COLUMNS 4

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matrix_multiply(__global const float *a,
                                                                                   __global const float *b,
                                                                                   __global float *c, uint m,
                                                                                   uint n, uint k)
{
    __local float tile_a[TILE][TILE];
    __local float4 tile_b[TILE][TILE];
    const uint lx = get_local_id(0);
    const uint ly = get_local_id(1);
    const uint row = get_global_id(1);
    const uint column = get_global_id(0) * COLUMNS;
    float4 sum = (float4)(0.0f);
    for (uint base = 0; base < k; base += TILE) {
        tile_a[ly][lx] = row < m && base + lx < k ? a[row * k + base + lx] : 0.0f;
        float4 four = (float4)(0.0f);
        if (base + ly < k) {
            __global const float *from = b + (base + ly) * n + column;
            if (column + COLUMNS <= n) {
                four = vload4(0, from);
            } else {
                four.x = column < n ? from[0] : 0.0f;
                four.y = column + 1 < n ? from[1] : 0.0f;
                four.z = column + 2 < n ? from[2] : 0.0f;
            }
        }
        tile_b[ly][lx] = four;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++)
            sum += tile_a[ly][i] * tile_b[i][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row >= m)
        return;
    __global float *to = c + row * n + column;
    if (column + COLUMNS <= n) {
        vstore4(sum, 0, to);
        return;
    }
    if (column < n)
        to[0] = sum.x;
    if (column + 1 < n)
        to[1] = sum.y;
    if (column + 2 < n)
        to[2] = sum.z;
}
