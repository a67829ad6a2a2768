/* floydwarshall.cl: shortest paths between all pairs of nodes; pass k allows node k as a stop on the way.
 *
 * Row and column k do not change in pass k (the distance of k to itself is 0), so the pass works in place. */

__kernel void floyd_warshall_pass(__global uint *distance, __global uint *via, uint nodes, uint k)
{
    const uint to = get_global_id(0);
    const uint from = get_global_id(1);
    if (to >= nodes || from >= nodes)
        return;
    const uint direct = distance[from * nodes + to];
    const uint indirect = distance[from * nodes + k] + distance[k * nodes + to];
    if (indirect < direct) {
        distance[from * nodes + to] = indirect;
        via[from * nodes + to] = k;
    }
}
