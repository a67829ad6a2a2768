/* nw.cl: Needleman-Wunsch alignment of two sequences: the score table, one anti-diagonal of 16 x 16 tiles per
 * launch, and inside a tile one anti-diagonal of cells per step.
 *
 * The table has (rows + 1) x (columns + 1) cells; row 0 and column 0 hold the gap penalties. */

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, 1, 1))) void nw_diagonal(__global int *score,
                                                                            __global const uchar *sequence_a,
                                                                            __global const uchar *sequence_b,
                                                                            __constant int *similarity,
                                                                            uint rows, uint columns,
                                                                            uint diagonal, uint first_row,
                                                                            int gap)
{
    __local int cell[TILE + 1][TILE + 1];
    const uint id = get_local_id(0);
    const uint pitch = columns + 1;
    const uint tile_row = first_row + get_group_id(0);
    const uint y0 = tile_row * TILE;
    const uint x0 = (diagonal - tile_row) * TILE;
    if (x0 + id < columns)
        cell[0][id + 1] = score[y0 * pitch + x0 + id + 1];
    if (y0 + id < rows)
        cell[id + 1][0] = score[(y0 + id + 1) * pitch + x0];
    if (id == 0)
        cell[0][0] = score[y0 * pitch + x0];
    for (uint step = 0; step < 2 * TILE - 1; step++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint y = step - id;
        if (id > step || y >= TILE || x0 + id >= columns || y0 + y >= rows)
            continue;
        const int match = cell[y][id] + similarity[sequence_a[y0 + y] * 4 + sequence_b[x0 + id]];
        const int gapped = max(cell[y][id + 1], cell[y + 1][id]) - gap;
        cell[y + 1][id + 1] = max(match, gapped);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = 0; y < TILE; y++)
        if (x0 + id < columns && y0 + y < rows)
            score[(y0 + y + 1) * pitch + x0 + id + 1] = cell[y + 1][id + 1];
}
