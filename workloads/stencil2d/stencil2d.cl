/* stencil2d.cl: a weighted sum over nine points; the border of one point keeps its values.
 *
 * A work-group of 16 x 16 brings its tile and the ring around it into local memory. */

#define TILE 16
#define HALO (TILE + 2)

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void stencil_nine(__global const float *in,
                                                                                __global float *out,
                                                                                uint width, uint height,
                                                                                float centre, float cardinal,
                                                                                float diagonal)
{
    __local float tile[HALO][HALO];
    const uint x0 = get_group_id(0) * TILE;
    const uint y0 = get_group_id(1) * TILE;
    const uint lx = get_local_id(0);
    const uint ly = get_local_id(1);
    for (uint r = ly; r < HALO; r += TILE)
        for (uint c = lx; c < HALO; c += TILE)
            if (x0 + c < width && y0 + r < height)
                tile[r][c] = in[(y0 + r) * width + x0 + c];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint x = x0 + lx + 1;
    const uint y = y0 + ly + 1;
    if (x + 1 >= width || y + 1 >= height)
        return;
    const float cross = tile[ly][lx + 1] + tile[ly + 2][lx + 1] + tile[ly + 1][lx] + tile[ly + 1][lx + 2];
    const float corners = tile[ly][lx] + tile[ly][lx + 2] + tile[ly + 2][lx] + tile[ly + 2][lx + 2];
    out[y * width + x] = centre * tile[ly + 1][lx + 1] + cardinal * cross + diagonal * corners;
}
