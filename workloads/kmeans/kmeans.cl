/* kmeans.cl: the two GPU steps of Lloyd's algorithm; the host moves the centres between iterations. */

/* Points by feature instead of features by point: neighbouring work-items then read neighbouring words. */
__kernel void kmeans_swap(__global const float *features, __global float *swapped, uint points,
                          uint dimensions)
{
    const uint p = get_global_id(0);
    if (p >= points)
        return;
    for (uint d = 0; d < dimensions; d++)
        swapped[d * points + p] = features[p * dimensions + d];
}

__kernel void kmeans_assign(__global const float *swapped, __global const float *centres,
                            __global int *membership, uint points, uint clusters, uint dimensions)
{
    const uint p = get_global_id(0);
    if (p >= points)
        return;
    int nearest = 0;
    float best = FLT_MAX;
    for (uint c = 0; c < clusters; c++) {
        float distance = 0.0f;
        for (uint d = 0; d < dimensions; d++) {
            const float difference = swapped[d * points + p] - centres[c * dimensions + d];
            distance += difference * difference;
        }
        if (distance < best) {
            best = distance;
            nearest = (int)c;
        }
    }
    membership[p] = nearest;
}
