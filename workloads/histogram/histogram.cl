/* histogram.cl: how often each of 256 values occurs; counted per work-group in local memory, then added up,
 * both with atomics. */

#define BINS 256

__kernel void histogram_bytes(__global const uchar *in, __global uint *bins, uint count)
{
    __local uint local_bins[BINS];
    for (uint b = get_local_id(0); b < BINS; b += get_local_size(0))
        local_bins[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        atomic_inc(&local_bins[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < BINS; b += get_local_size(0))
        if (local_bins[b] != 0)
            atomic_add(&bins[b], local_bins[b]);
}
