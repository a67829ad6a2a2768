/* mi300a_graph.cl: kernels of the MI300A suite on graphs and sparse matrices: floydwarshall, bfs, pagerank,
 * spmv_csr_scalar. */

#define INDEX(d_) ((int)(get_group_id(d_) * get_local_size(d_) + get_local_id(d_)))

__kernel void floydwarshall(__global uint *distance, __global uint *path, uint nodes, uint pass)
{
    const uint x = (uint)INDEX(0), y = (uint)INDEX(1);
    const uint old = distance[y * nodes + x];
    const uint indirect = distance[y * nodes + pass] + distance[pass * nodes + x];
    if (indirect < old) {
        distance[y * nodes + x] = indirect;
        path[y * nodes + x] = pass;
    }
}

/* 32 items share 32 vertices: they walk them together, and divide the neighbours of each. */
#define UNSEEN 0xffffffffu
__kernel void bfs(__global uint *levels, __global const uint *starts, __global const uint *edges, uint vertices,
                  uint level, __global uint *flag)
{
    const uint item = (uint)INDEX(0);
    const uint lane = item % 32;
    const uint first = item / 32 * 32;
    for (uint v = first; v < first + 32 && v < vertices; v++)
        if (levels[v] == level) {
            const uint begin = starts[v], count = starts[v + 1] - begin;
            for (uint i = lane; i < count; i += 32) {
                const uint to = edges[begin + i];
                if (levels[to] == UNSEEN) {
                    levels[to] = level + 1;
                    *flag = 1;
                }
            }
        }
}

/* A row per wave of 64. One wave needs no barriers: its items go in step, and the measured kernel has none. The sums are
 * volatile so that the compiler keeps their order. Devices whose items do not go in step (PoCL's) need them. */
#ifdef __AMDGCN__
#define IN_STEP()
#else
#define IN_STEP() barrier(CLK_LOCAL_MEM_FENCE)
#endif
__kernel void pagerank(uint rows, __global const uint *starts, __global const uint *columns,
                       __global const float *values, __global const float *x, __global float *y)
{
    __local float sums[64];
    const uint lane = (uint)get_local_id(0);
    const uint row = (uint)INDEX(0) / 64;
    volatile __local float *sum = sums;
    if (row >= rows)
        return;
    const uint begin = starts[row], end = starts[row + 1];
    sums[lane] = 0;
    for (uint i = begin + lane; i < end; i += 64)
        sums[lane] += values[i] * x[columns[i]];
    for (uint apart = 32; apart > 0; apart /= 2) {
        IN_STEP();
        if (lane < apart)
            sum[lane] += sum[lane + apart];
    }
    if (lane == 0)
        y[row] += sum[0];
}

__kernel void spmv_csr_scalar(__global const float *values, __global const int *columns, __global const int *starts,
                              __global const float *vector, int rows, __global float *out)
{
    const int row = INDEX(0);
    if (row < rows) {
        float sum = 0;
        const int begin = starts[row], end = starts[row + 1];
        for (int i = begin; i < end; i++)
            sum += values[i] * vector[columns[i]];
        out[row] = sum;
    }
}
