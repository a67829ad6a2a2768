/* pass.cl: message passing between the dies of an MI300A. Work-group 0 writes numbers, then a flag; the others have read the
 * numbers before, wait for the flag and add them up. `pass` releases and acquires, `race` does neither. pass.co is this
 * file for gfx942:
 *
 *   clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx942 -x cl -cl-std=CL2.0 -O2 -mcode-object-version=5 -Wl,--strip-all ... */
#define NUMBERS 256u

static void talk(__global uint *data, __global atomic_uint *flag, __global uint *out, bool is_ordered)
{
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint before = data[item] + data[item + 64] + data[item + 128] + data[item + 192];
    if (group == 0) {
        for (uint i = item; i < NUMBERS; i += 64)
            data[i] = i * 3 + 1;
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (item == 0 && is_ordered)
            atomic_store_explicit(flag, 7u, memory_order_release, memory_scope_device);
        else if (item == 0)
            atomic_store_explicit(flag, 7u, memory_order_relaxed, memory_scope_device);
    } else if (item == 0 && is_ordered) {
        while (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) != 7u)
            ;
    } else if (item == 0) {
        while (atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device) != 7u)
            ;
    }
    work_group_barrier(CLK_GLOBAL_MEM_FENCE);
    uint sum = 0;
    for (uint i = 0; i < NUMBERS; i++)
        sum += data[(i + item) & (NUMBERS - 1)];
    out[group * 64 + item] = sum + (before >> 31);
}

__kernel void pass(__global uint *data, __global atomic_uint *flag, __global uint *out)
{
    talk(data, flag, out, true);
}

__kernel void race(__global uint *data, __global atomic_uint *flag, __global uint *out)
{
    talk(data, flag, out, false);
}
