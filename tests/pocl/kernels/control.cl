/* control.cl: control flow that differs between the work-items of a wavefront. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void switch_dense(__global const int *a, __global const int *small, __global int *out)
{
    const size_t i = get_global_id(0);
    int x = a[i];
    switch (small[i]) {
    case 0:
        x += 1;
        break;
    case 1:
        x ^= 0x55;
    case 2: /* falls through from 1 */
        x *= 3;
        break;
    case 3:
    case 4:
        x = -x;
        break;
    case 5:
        x >>= 3;
        break;
    case 7:
        x = x & 1 ? x / 3 : x << 2;
        break;
    case 9:
        return;
    default:
        x = small[i];
    }
    out[i] = x;
}

__kernel void switch_sparse(__global const int *a, __global int *out)
{
    const size_t i = get_global_id(0);
    switch (a[i]) {
    case 0:
        out[i] = 10;
        break;
    case 1:
        out[i] = 20;
        break;
    case -1:
        out[i] = 30;
        break;
    case 0x7fffffff:
        out[i] = 40;
        break;
    case 1000000:
        out[i] = 50;
        break;
    default:
        out[i] = a[i] & 255;
    }
}

__kernel void loops_nested(__global const uint *small, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint sum = 0;
    for (uint x = 0; x < small[i]; x++) {
        for (uint y = x; y < 12; y++) {
            if (((x * y) & 3) == 2)
                continue;
            if (x + y > 17)
                break;
            sum += x * 16 + y;
        }
        if (sum > 3000)
            break;
    }
    out[i] = sum;
}

__kernel void collatz(__global const uint *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint x = (a[i] & 0xffff) + 1, steps = 0;
    while (x != 1) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    out[i] = steps;
}

__kernel void divisor(__global const uint *a, __global const uint *b, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint x = a[i], y = b[i];
    while (y) {
        const uint rest = x % y;
        x = y;
        y = rest;
    }
    out[i] = x;
}

__kernel void early_return(__global const int *a, __global const int *b, __global int *out)
{
    const size_t i = get_global_id(0);
    if (a[i] < 0)
        return;
    out[i] = 1;
    if (b[i] < 0 || (a[i] & 4)) {
        out[i] = 2;
        return;
    }
    for (int k = 0; k < 10; k++) {
        if (((a[i] >> k) & 3) == 3) {
            out[i] = 100 + k;
            return;
        }
    }
    out[i] = 3;
}

__kernel void short_circuit(__global const int *a, __global const int *b, __global const int *c,
                            __global int *out)
{
    const size_t i = get_global_id(0);
    int count = 0;
    if (a[i] > 0 && ++count && b[i] > 0 && ++count)
        count += 10;
    if (a[i] < -5 || (b[i] < -5 && c[i] != 0 && 100 / c[i] > 3) || ++count > 2)
        count += 100;
    out[i] = count + (a[i] > b[i] ? (b[i] > c[i] ? 1000 : 2000) : (a[i] > c[i] ? 3000 : 4000));
}

__attribute__((noinline)) static uint mix_bits(uint x, uint y)
{
    x ^= y * 0x9e3779b9u;
    x = rotate(x, 13u);
    return x * 5 + 0xe6546b64u;
}

__attribute__((noinline)) static uint fold(uint x, uint depth)
{
    for (uint i = 0; i < depth; i++)
        x = mix_bits(x, i + depth);
    return x;
}

__attribute__((noinline)) static void swap_ends(uint *first, uint *second)
{
    const uint kept = *first;
    *first = *second ^ 1;
    *second = kept + 1;
}

__kernel void calls(__global const uint *a, __global const uint *small, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint x = fold(a[i], small[i]), y = mix_bits(x, small[i]);
    if (x & 1)
        swap_ends(&x, &y);
    else
        y = fold(y, 3);
    out[i * 32] = x;
    out[i * 32 + 1] = y;
}

__kernel void search(__global const uint *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    /* the whole square root, by halving */
    uint low = 0, high = 65536;
    while (low + 1 < high) {
        const uint middle = (low + high) / 2;
        if (middle * (ulong)middle <= a[i])
            low = middle;
        else
            high = middle;
    }
    out[i] = low;
}

__kernel void do_while(__global const uint *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint x = a[i], digits = 0, sum = 0;
    do {
        sum += x % 10;
        x /= 10;
        digits++;
    } while (x);
    out[i] = digits * 1000 + sum;
}

/* Only some lanes enter, and they leave one after the other. */
__kernel void one_by_one(__global const uint *small, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint mine = small[i], order = 0;
    for (uint turn = 0; turn < 16; turn++) {
        if (mine == turn) {
            out[i] = order * 3 + turn;
            mine = 99;
        }
        order += mine == 99 ? 2 : 1;
    }
}

__kernel void machine(__global const uint *a, __global uint *out)
{
    const size_t i = get_global_id(0);
    uint state = 0, output = 0, bits = a[i];
    for (int k = 0; k < 32; k++, bits >>= 1) {
        switch (state) {
        case 0:
            state = bits & 1 ? 1 : 0;
            break;
        case 1:
            state = bits & 1 ? 2 : 3;
            break;
        case 2:
            output++;
            state = bits & 1 ? 2 : 0;
            break;
        default:
            output += 64;
            state = bits & 1 ? 0 : 3;
        }
    }
    out[i] = output;
}

__kernel void mandelbrot(__global const double *unit, __global const double *unit_b, __global uint *out)
{
#pragma OPENCL FP_CONTRACT OFF
    const size_t i = get_global_id(0);
    double x = 0, y = 0;
    uint steps = 0;
    while (x * x + y * y < 4.0 && steps < 200) {
        const double next = x * x - y * y + unit[i] * 1.5;
        y = 2.0 * x * y + unit_b[i];
        x = next;
        steps++;
    }
    out[i] = steps;
}
