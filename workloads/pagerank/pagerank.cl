/* pagerank.cl: one iteration; row r of the compressed matrix lists the pages that link to r, each with the
 * weight 1 / (links on that page). A work-group of 64 serves one page. */

#define GROUP 64

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void pagerank_update(__global const uint
                                                                                     *row_start,
                                                                                 __global const uint *sources,
                                                                                 __global const float *weights,
                                                                                 __global const float *rank,
                                                                                 __global float *new_rank,
                                                                                 float damping, float base)
{
    __local float partial[GROUP];
    const uint page = get_group_id(0);
    const uint id = get_local_id(0);
    float sum = 0.0f;
    for (uint i = row_start[page] + id; i < row_start[page + 1]; i += GROUP)
        sum += rank[sources[i]] * weights[i];
    partial[id] = sum;
    for (uint width = GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < width)
            partial[id] += partial[id + width];
    }
    if (id == 0)
        new_rank[page] = base + damping * partial[0];
}
