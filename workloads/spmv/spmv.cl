/* spmv.cl: y = A x for a sparse matrix in compressed rows: row r owns the elements row_start[r] ..
 * row_start[r+1]. */

#define ROW_ITEMS 32
#define GROUP 128

__kernel void spmv_scalar(__global const float *values, __global const uint *columns,
                          __global const uint *row_start, __global const float *x, __global float *y,
                          uint rows)
{
    const uint row = get_global_id(0);
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (uint i = row_start[row]; i < row_start[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

/* 32 work-items share a row, read it together and add their sums up as a tree. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv_vector(__global const float *values,
                                                                             __global const uint *columns,
                                                                             __global const uint *row_start,
                                                                             __global const float *x,
                                                                             __global float *y, uint rows)
{
    __local float partial[GROUP];
    const uint id = get_local_id(0);
    const uint lane = id % ROW_ITEMS;
    const uint row = get_group_id(0) * (GROUP / ROW_ITEMS) + id / ROW_ITEMS;
    float sum = 0.0f;
    if (row < rows)
        for (uint i = row_start[row] + lane; i < row_start[row + 1]; i += ROW_ITEMS)
            sum += values[i] * x[columns[i]];
    partial[id] = sum;
    for (uint half_width = ROW_ITEMS / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_width)
            partial[id] += partial[id + half_width];
    }
    if (lane == 0 && row < rows)
        y[row] = partial[id];
}
