/* matrixtranspose.cl: out of place, through a tile of local memory, so that reads and writes both follow
 * rows.
 *
 * A work-group of 32 x 8 moves a tile of 32 x 32. The extra column keeps the transposed reads off one
 * bank. */

#define TILE 32
#define ROWS 8

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void matrix_transpose(__global const float *in,
                                                                                    __global float *out,
                                                                                    uint width, uint height)
{
    __local float tile[TILE][TILE + 1];
    const uint x0 = get_group_id(0) * TILE;
    const uint y0 = get_group_id(1) * TILE;
    const uint lx = get_local_id(0);
    const uint ly = get_local_id(1);
    for (uint r = ly; r < TILE; r += ROWS)
        if (x0 + lx < width && y0 + r < height)
            tile[r][lx] = in[(y0 + r) * width + x0 + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = ly; r < TILE; r += ROWS)
        if (y0 + lx < height && x0 + r < width)
            out[(x0 + r) * height + y0 + lx] = tile[lx][r];
}
