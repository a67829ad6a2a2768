// driver.cl: kernels for the tests of the loader and of the driver.
typedef struct {
    int a;
    double d;
    char c;
} mixed;

__constant uint table[4] = { 11, 22, 33, 44 };
__global uint counter = 7;
__global uint *counter_address = &counter;

__kernel void nothing(void)
{
}

__kernel void increment(__global uint *p, uint count)
{
    uint i = (uint)get_global_id(0);
    if (i < count)
        p[i] += 1;
}

// Everything that hidden arguments and the dispatch packet say, for the last work-item.
__kernel void sizes(__global ulong *out)
{
    for (uint d = 0; d < 3; d++)
        if (get_global_id(d) != get_global_offset(d) + get_global_size(d) - 1)
            return;
    out[0] = get_work_dim();
    for (uint d = 0; d < 3; d++) {
        out[1 + d] = get_global_size(d);
        out[4 + d] = get_local_size(d);
        out[7 + d] = get_enqueued_local_size(d);
        out[10 + d] = get_num_groups(d);
        out[13 + d] = get_global_offset(d);
        out[16 + d] = get_global_id(d);
        out[19 + d] = get_group_id(d);
    }
}

__kernel void values(__global double *out, char c, short s, int i, long l, float f, double d, float4 v, mixed m)
{
    out[0] = c;
    out[1] = s;
    out[2] = i;
    out[3] = l;
    out[4] = f;
    out[5] = d;
    out[6] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
    out[7] = m.a;
    out[8] = m.d;
    out[9] = m.c;
}

// Two arrays of local memory that the launch sizes, after one of the kernel's own.
__kernel void locals(__global const uint *in, __global uint *out, __local uint *a, __local ulong *b)
{
    __local uint own[64];
    uint l = (uint)get_local_id(0), n = (uint)get_local_size(0);
    own[l] = in[l];
    a[l] = in[l] + 1000;
    b[l] = in[l] + 1000000;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = own[n - 1 - l] + a[n - 1 - l] + (uint)b[n - 1 - l];
}

__kernel __attribute__((reqd_work_group_size(32, 2, 1))) void required(__global uint *out)
{
    atomic_inc(out);
}

// The variables of the program.
__kernel void globals(__global uint *out)
{
    out[0] = table[get_global_id(0) & 3];
    out[1] = atomic_add(counter_address, 5);
}

__kernel void stray(__global uint *p, ulong distance)
{
    p[distance] = 1;
}

__kernel void forever(__global volatile uint *p)
{
    while (*p == 0)
        ;
}
