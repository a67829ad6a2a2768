/* mi300a_signal.cl: kernels of the MI300A suite on signals and pictures: fir, fastwalshtransform, fft1D_512,
 * simpleconvolution, im2col, and the matrix product of conv2d. */

#define INDEX(d_) ((int)(get_group_id(d_) * get_local_size(d_) + get_local_id(d_)))
#define EVERYTHING (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

__kernel void fir(__global float *output, __global const float *coeff, __global const float *input,
                  __global const float *history, uint taps)
{
    const uint t = (uint)INDEX(0);
    float sum = 0;
    for (uint i = 0; i < taps; i++)
        if (t >= i)
            sum += coeff[i] * input[t - i];
        else
            sum += coeff[i] * history[taps - (i - t)];
    output[t] = sum;
}

__kernel void fastwalshtransform(__global float *array, int step)
{
    const uint i = (uint)INDEX(0);
    const uint in_group = i % (uint)step;
    const uint low = 2 * (uint)step * (i / (uint)step) + in_group, high = low + (uint)step;
    const float a = array[low], b = array[high];
    array[low] = a + b;
    array[high] = a - b;
}

/* 512 points per group of 64, 8 per item: radix 8, three times, with two exchanges through local memory, real parts
 * first. */
typedef float2 complex;

static complex times(complex a, complex b)
{
    return (complex)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static complex turned(complex a) /* by -i */
{
    return (complex)(a.y, -a.x);
}

static void fft2(complex *a, complex *b)
{
    const complex t = *a;
    *a = t + *b;
    *b = t - *b;
}

static void fft4(complex *a, complex *b, complex *c, complex *d)
{
    fft2(a, c);
    fft2(b, d);
    *d = turned(*d);
    fft2(a, b);
    fft2(c, d);
}

/* The results are in the order 0, 4, 2, 6, 1, 5, 3, 7. */
static void fft8(complex v[8])
{
    const float s = 0.70710678118654752f;
    fft2(&v[0], &v[4]);
    fft2(&v[1], &v[5]);
    fft2(&v[2], &v[6]);
    fft2(&v[3], &v[7]);
    v[5] = (complex)(s * (v[5].x + v[5].y), s * (v[5].y - v[5].x));
    v[6] = turned(v[6]);
    v[7] = (complex)(s * (v[7].y - v[7].x), -s * (v[7].x + v[7].y));
    fft4(&v[0], &v[1], &v[2], &v[3]);
    fft4(&v[4], &v[5], &v[6], &v[7]);
}

__constant int order[8] = { 0, 4, 2, 6, 1, 5, 3, 7 };

static void twiddle8(complex v[8], int i, int n)
{
    for (int j = 1; j < 8; j++) {
        const float angle = -2.0f * 3.14159265358979f * (float)order[j] * (float)i / (float)n;
        v[j] = times(v[j], (complex)(cos(angle), sin(angle)));
    }
}

static void exchange(complex v[8], __local float *to, int to_step, __local float *from, int from_step)
{
    for (int j = 0; j < 8; j++)
        to[order[j] * to_step] = v[j].x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 8; j++)
        v[j].x = from[j * from_step];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 8; j++)
        to[order[j] * to_step] = v[j].y;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 8; j++)
        v[j].y = from[j * from_step];
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel void fft1d_512(__global float2 *work)
{
    __local float shared[576];
    const int item = (int)get_local_id(0);
    const int low = item & 7, high = item >> 3;
    __global float2 *data = work + (int)get_group_id(0) * 512 + item;
    complex v[8];
    for (int j = 0; j < 8; j++)
        v[j] = data[j * 64];
    fft8(v);
    twiddle8(v, item, 512);
    exchange(v, &shared[high * 8 + low], 66, &shared[low * 66 + high], 8);
    fft8(v);
    twiddle8(v, high, 64);
    exchange(v, &shared[high * 8 + low], 72, &shared[high * 72 + low], 8);
    fft8(v);
    for (int j = 0; j < 8; j++)
        data[order[j] * 64] = v[j];
}

__kernel void simpleconvolution(__global const uint *input, __global const float *mask, __global int *output,
                                uint width, uint height, uint mask_width, uint mask_height, uint padded_width)
{
    const uint i = (uint)INDEX(0);
    const uint x = i % width, y = i / width;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (uint my = 0; my < mask_height; my++)
        for (uint mx = 0; mx < mask_width; mx++)
            sum += (float)input[(y + my) * padded_width + x + mx] * mask[my * mask_width + mx];
    output[i] = (int)(sum + 0.5f);
}

/* One column of the matrix per item: the cells of the picture under the mask. */
__kernel void im2col(__global const float *input, __global float *output, uint width, uint height, uint mask_width,
                     uint mask_height, uint stride, uint pad)
{
    const uint field_width = (width + 2 * pad - mask_width) / stride + 1;
    const uint field_height = (height + 2 * pad - mask_height) / stride + 1;
    const uint field = field_width * field_height;
    const uint i = (uint)INDEX(0);
    if (i >= field)
        return;
    const uint fx = i % field_width, fy = i / field_width;
    for (uint m = 0; m < mask_width * mask_height; m++) {
        const int x = (int)(fx * stride + m % mask_width) - (int)pad;
        const int y = (int)(fy * stride + m / mask_width) - (int)pad;
        float value = 0;
        if (x >= 0 && x < (int)width && y >= 0 && y < (int)height)
            value = input[y * (int)width + x];
        output[m * field + i] = value;
    }
}

/* d = alpha a b + beta c; tiles of 16x16. */
#define TILE 16
__kernel void gemm(int m, int n, int k, float alpha, float beta, __global const float *a, __global const float *b,
                   __global const float *c, __global float *d)
{
    __local float tile_a[TILE * TILE], tile_b[TILE * TILE];
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    const int x = INDEX(0), y = INDEX(1);
    float sum = 0;
    if (x < n && y < m)
        d[y * n + x] = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        const int ka = t * TILE + lx, kb = t * TILE + ly;
        tile_a[ly * TILE + lx] = y < m && ka < k ? a[y * k + ka] : 0;
        tile_b[ly * TILE + lx] = x < n && kb < k ? b[kb * n + x] : 0;
        barrier(EVERYTHING);
        for (int i = 0; i < TILE; i++)
            sum += tile_a[ly * TILE + i] * tile_b[i * TILE + lx];
        barrier(EVERYTHING);
    }
    if (x < n && y < m)
        d[y * n + x] = alpha * sum + beta * c[y * n + x];
}
