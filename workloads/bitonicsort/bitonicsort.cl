/* bitonicsort.cl: one pass of Batcher's bitonic network; the host launches log2(n) * (log2(n) + 1) / 2 of
 * them.
 *
 * Stage s merges runs of 2^(s+1) elements that alternate in direction; its pass p compares at distance
 * 2^(s-p). */

__kernel void bitonic_pass(__global uint *data, uint stage, uint pass, uint pairs, uint descending)
{
    const uint i = get_global_id(0);
    if (i >= pairs)
        return;
    const uint distance = 1u << (stage - pass);
    const uint left = (i / distance) * distance * 2 + i % distance;
    const uint right = left + distance;
    const uint a = data[left];
    const uint b = data[right];
    const uint falling = ((i >> stage) & 1) ^ descending;
    data[left] = falling ? max(a, b) : min(a, b);
    data[right] = falling ? min(a, b) : max(a, b);
}
