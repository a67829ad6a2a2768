/* fft.cl: many forward transforms of 512 complex points, one per work-group of 64.
 *
 * 512 = 8 x 8 x 8. Each work-item keeps eight points in registers, and the group exchanges them twice through
 * local memory. Stockham's order gives a sorted result. */

#define POINTS 512
#define ITEMS 64

static float2 times(float2 a, float2 b)
{
    return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static float2 times_minus_i(float2 a)
{
    return (float2)(a.y, -a.x);
}

static void fft4(float2 *v0, float2 *v1, float2 *v2, float2 *v3)
{
    const float2 sum_even = *v0 + *v2, difference_even = *v0 - *v2;
    const float2 sum_odd = *v1 + *v3, difference_odd = times_minus_i(*v1 - *v3);
    *v0 = sum_even + sum_odd;
    *v1 = difference_even + difference_odd;
    *v2 = sum_even - sum_odd;
    *v3 = difference_even - difference_odd;
}

static void fft8(float2 v[8])
{
    fft4(&v[0], &v[2], &v[4], &v[6]);
    fft4(&v[1], &v[3], &v[5], &v[7]);
    const float2 odd[4] = { v[1], times(v[3], (float2)(M_SQRT1_2_F, -M_SQRT1_2_F)), times_minus_i(v[5]),
                            times(v[7], (float2)(-M_SQRT1_2_F, -M_SQRT1_2_F)) };
    const float2 even[4] = { v[0], v[2], v[4], v[6] };
    for (int i = 0; i < 4; i++) {
        v[i] = even[i] + odd[i];
        v[i + 4] = even[i] - odd[i];
    }
}

/* v[i] *= exp(-2 pi sqrt(-1) * i * k / n) */
static void twiddle(float2 v[8], uint k, uint n)
{
    for (uint i = 1; i < 8; i++) {
        const float angle = -2.0f * (float)(i * k) / (float)n;
        v[i] = times(v[i], (float2)(cospi(angle), sinpi(angle)));
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void fft512(__global float2 *data)
{
    __local float2 exchange[POINTS];
    __global float2 *points = data + get_group_id(0) * POINTS;
    const uint id = get_local_id(0);
    float2 v[8];
    for (uint i = 0; i < 8; i++)
        v[i] = points[i * ITEMS + id];
    fft8(v);
    for (uint radix_done = 8; radix_done < POINTS; radix_done *= 8) {
        const uint place = id % (radix_done / 8);
        const uint base = (id / (radix_done / 8)) * radix_done + place;
        for (uint i = 0; i < 8; i++)
            exchange[base + i * (radix_done / 8)] = v[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < 8; i++)
            v[i] = exchange[i * ITEMS + id];
        barrier(CLK_LOCAL_MEM_FENCE);
        twiddle(v, id % radix_done, radix_done * 8);
        fft8(v);
    }
    for (uint i = 0; i < 8; i++)
        points[i * ITEMS + id] = v[i];
}
