/* mi300a_matrix.cl: kernels of the MI300A suite on dense matrices: matrixtranspose, matrixmultiplication, atax, bicg,
 * stencil2d. */

#define INDEX(d_) ((int)(get_group_id(d_) * get_local_size(d_) + get_local_id(d_)))
#define EVERYTHING (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

/* Each item moves a tile of 4x4 floats through local memory. The column of groups rotates with the row, so that groups
 * that run together use different channels. */
__kernel void matrixtranspose(__global float4 *output, __global const float4 *input, __local float4 *block, uint width)
{
    const uint size = (uint)get_local_size(0), pitch = width / 4;
    const uint lix = (uint)get_local_id(0), liy = (uint)get_local_id(1);
    const uint giy = (uint)get_group_id(0);
    const uint gix = ((uint)get_group_id(0) + (uint)get_group_id(1)) % (uint)get_num_groups(0);

    const uint from = gix * size + lix + (giy * size + liy) * pitch * 4;
    uint at = liy * size * 4 + lix;
    block[at] = input[from];
    block[at + size] = input[from + pitch];
    block[at + size * 2] = input[from + pitch * 2];
    block[at + size * 3] = input[from + pitch * 3];
    barrier(EVERYTHING);

    const uint to = giy * size + lix + (gix * size + liy) * pitch * 4;
    at = lix * size * 4 + liy;
    const float4 a = block[at], b = block[at + size], c = block[at + size * 2], d = block[at + size * 3];
    output[to] = (float4)(a.x, b.x, c.x, d.x);
    output[to + pitch] = (float4)(a.y, b.y, c.y, d.y);
    output[to + pitch * 2] = (float4)(a.z, b.z, c.z, d.z);
    output[to + pitch * 3] = (float4)(a.w, b.w, c.w, d.w);
}

/* 4x4 outputs per item. The measured program keeps the block of A in global memory, the same 4 KB for all groups, and
 * reads rows 0 to 31 of A in every group: its result is not defined. steps: of the loop; width / 32 for all of it. */
__kernel void matrixmultiplication(__global const float4 *a, __global const float4 *b, __global float4 *c, int width,
                                   int steps, __global float4 *block)
{
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1), size = (int)get_local_size(0);
    const int gx = INDEX(0), gy = INDEX(1), pitch = width / 4;
    const int at = lx + size * (ly << 2);
    const int to = gx + (gy << 2) * pitch;
    float4 sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    for (int i = 0; i < steps; i++) {
        const int from_a = i * size + lx + (ly << 2) * pitch;
        block[at] = a[from_a];
        block[at + size] = a[from_a + pitch];
        block[at + 2 * size] = a[from_a + 2 * pitch];
        block[at + 3 * size] = a[from_a + 3 * pitch];
        barrier(EVERYTHING);
        const int from_b = gx + ((i * size) << 2) * pitch;
        for (int j = 0; j < size * 4; j += 4) {
            const float4 a0 = block[(j >> 2) + ly * 4 * size];
            const float4 a1 = block[(j >> 2) + (ly * 4 + 1) * size];
            const float4 a2 = block[(j >> 2) + (ly * 4 + 2) * size];
            const float4 a3 = block[(j >> 2) + (ly * 4 + 3) * size];
            const float4 b0 = b[from_b + j * pitch];
            const float4 b1 = b[from_b + (j + 1) * pitch];
            const float4 b2 = b[from_b + (j + 2) * pitch];
            const float4 b3 = b[from_b + (j + 3) * pitch];
            sum0 += a0.x * b0 + a0.y * b1 + a0.z * b2 + a0.w * b3;
            sum1 += a1.x * b0 + a1.y * b1 + a1.z * b2 + a1.w * b3;
            sum2 += a2.x * b0 + a2.y * b1 + a2.z * b2 + a2.w * b3;
            sum3 += a3.x * b0 + a3.y * b1 + a3.z * b2 + a3.w * b3;
        }
        barrier(EVERYTHING);
    }
    c[to] = sum0;
    c[to + pitch] = sum1;
    c[to + 2 * pitch] = sum2;
    c[to + 3 * pitch] = sum3;
}

/* tmp = A x, a row per item; the sum stays in memory. steps: of the loop; ny for all of it. */
__kernel void atax_rows(__global const float *a, __global const float *x, __global float *tmp, int nx, int ny, int steps)
{
    const int i = INDEX(0);
    if (i < nx)
        for (int j = 0; j < steps; j++)
            tmp[i] += a[i * ny + j] * x[j];
}

/* y = A^T tmp, a column per item. */
__kernel void atax_columns(__global const float *a, __global float *y, __global const float *tmp, int nx, int ny,
                           int steps)
{
    const int j = INDEX(0);
    if (j < ny)
        for (int i = 0; i < steps; i++)
            y[j] += a[i * ny + j] * tmp[i];
}

__kernel void bicg_rows(__global const float *a, __global const float *p, __global float *q, int nx, int ny, int steps)
{
    const int i = INDEX(0);
    if (i < nx) {
        q[i] = 0;
        for (int j = 0; j < steps; j++)
            q[i] += a[i * ny + j] * p[j];
    }
}

__kernel void bicg_columns(__global const float *a, __global const float *r, __global float *s, int nx, int ny,
                           int steps)
{
    const int j = INDEX(0);
    if (j < ny) {
        s[j] = 0;
        for (int i = 0; i < steps; i++)
            s[j] += r[i] * a[i * ny + j];
    }
}

/* Nine points. A group has 16 rows and 64 columns: x counts blocks of rows, y is the column. Arrays have a border of one
 * cell, and rows are padded. */
#define ROWS 16
#define LINE 66
__kernel void stencil2d(__global const float *in, __global float *out, int pitch, float center, float cardinal,
                        float diagonal)
{
    __local float tile[(ROWS + 2) * LINE];
    const int column = (int)get_local_id(1), columns = (int)get_local_size(1);
    const int row = (int)get_group_id(0) * ROWS + 1;             /* of the array, as the next */
    const int gcol = (int)get_group_id(1) * columns + column + 1;
    for (int i = 0; i < ROWS + 2; i++)
        tile[i * LINE + column + 1] = in[(row - 1 + i) * pitch + gcol];
    if (column == 0)
        for (int i = 0; i < ROWS + 2; i++)
            tile[i * LINE] = in[(row - 1 + i) * pitch + gcol - 1];
    else if (column == columns - 1)
        for (int i = 0; i < ROWS + 2; i++)
            tile[i * LINE + column + 2] = in[(row - 1 + i) * pitch + gcol + 1];
    barrier(EVERYTHING);
    for (int i = 0; i < ROWS; i++) {
        const int at = (i + 1) * LINE + column + 1;
        const float c = tile[at];
        const float straight = tile[at - LINE] + tile[at + LINE] + tile[at - 1] + tile[at + 1];
        const float oblique = tile[at - LINE - 1] + tile[at - LINE + 1] + tile[at + LINE - 1] + tile[at + LINE + 1];
        out[(row + i) * pitch + gcol] = center * c + cardinal * straight + diagonal * oblique;
    }
}

/* HIP's run time fills memory with a kernel. */
__kernel void blit_fill(__global uint *to, uint value, ulong count)
{
    const ulong step = get_global_size(0);
    for (ulong i = get_global_id(0); i < count; i += step)
        to[i] = value;
}
