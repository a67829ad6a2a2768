/* micro_bandwidth.cl: the reads of gpu-benches (RRZE) that measure the bandwidth of a cache. Nearly all of the
 * data is zero, so nearly nothing is written. */

/* gpu-cache: every work-group reads the same two arrays of `count` elements again and again. Its work-items always
 * read the same elements, so the caches of a dual compute unit share the data. count is a power of two. */
#define CACHE_GROUP 512u
__attribute__((reqd_work_group_size(CACHE_GROUP, 1, 1))) __kernel void micro_bandwidth_cache(__global const
                                                                                                 float4 *data,
                                                                                             __global float4
                                                                                                 *out,
                                                                                             uint count,
                                                                                             uint steps)
{
    /* Offsets in bytes below 2^32, and two bases that all work-items share: a load needs one register for its
     * address, and the step to the next one is two operations. */
    const uint item = get_local_id(0), mask = count * (uint)sizeof(float4) - 1;
    __global const char *first = (__global const char *)data, *second = (__global const char *)(data + count);
    float4 sum = 0;
    uint at = item * (uint)sizeof(float4);
#pragma unroll 4
    for (uint i = 0; i < steps; i++) {
        sum += *(__global const float4 *)(first + at) * *(__global const float4 *)(second + at);
        at = (at + CACHE_GROUP * (uint)sizeof(float4)) & mask;
    }
    if (sum.x != 0)
        out[item] = sum;
}

/* gpu-l2-cache: work-group g reads part g % run of the data, which lies in pieces: the same 64 elements of each
 * work-item as all others that read this part. */
#define SHARED_GROUP 1024u
#define SHARED_LOADS 64u
__attribute__((reqd_work_group_size(SHARED_GROUP, 1, 1))) __kernel void
micro_bandwidth_shared(__global const double *data, __global double *out, uint run)
{
    const uint item = get_local_id(0), part = get_group_id(0) % run;
    double sum = 0;
#pragma unroll 8
    for (uint i = 0; i < SHARED_LOADS / 2; i++) {
        const uint at = (run * i + part) * SHARED_GROUP * 2 + item;
        sum += data[at] * data[at + SHARED_GROUP];
    }
    if (sum != 0)
        out[item] = sum;
}
