/* atomics.cl: atomics of 32 and 64 bits on global and local memory. Results do not depend on the order. */
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#define GLOBAL(type, name, add, sub, inc, dec, min_, max_, and_, or_, xor_)                                   \
    __kernel void global_##name(__global const type *a, __global type *out)                                   \
    {                                                                                                         \
        const size_t i = get_global_id(0);                                                                    \
        const type x = a[i];                                                                                  \
        add(&out[0], x);                                                                                      \
        sub(&out[1], x);                                                                                      \
        inc(&out[2]);                                                                                         \
        dec(&out[3]);                                                                                         \
        min_(&out[4], x);                                                                                     \
        max_(&out[5], x);                                                                                     \
        and_(&out[6], x);                                                                                     \
        or_(&out[7], x);                                                                                      \
        xor_(&out[8], x);                                                                                     \
        add(&out[16 + (i & 15)], (type)i);                                                                    \
    }
GLOBAL(int, int, atomic_add, atomic_sub, atomic_inc, atomic_dec, atomic_min, atomic_max, atomic_and, atomic_or,
       atomic_xor)
GLOBAL(uint, uint, atomic_add, atomic_sub, atomic_inc, atomic_dec, atomic_min, atomic_max, atomic_and,
       atomic_or, atomic_xor)
GLOBAL(long, long, atom_add, atom_sub, atom_inc, atom_dec, atom_min, atom_max, atom_and, atom_or, atom_xor)
GLOBAL(ulong, ulong, atom_add, atom_sub, atom_inc, atom_dec, atom_min, atom_max, atom_and, atom_or, atom_xor)

#define LOCAL(type, name, add, min_, max_, xor_, xchg)                                                        \
    __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void local_##name(__global const type *a,        \
                                                                               __global type *out)            \
    {                                                                                                         \
        __local type cells[8];                                                                                \
        const size_t i = get_global_id(0), id = get_local_id(0);                                              \
        if (id < 8)                                                                                           \
            cells[id] = 0;                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
        add(&cells[0], a[i]);                                                                                 \
        min_(&cells[1], a[i]);                                                                                \
        max_(&cells[2], a[i]);                                                                                \
        xor_(&cells[3], a[i]);                                                                                \
        if (id == 17)                                                                                         \
            xchg(&cells[4], a[i]);                                                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
        if (id < 8)                                                                                           \
            out[get_group_id(0) * 8 + id] = cells[id];                                                        \
    }
LOCAL(int, int, atomic_add, atomic_min, atomic_max, atomic_xor, atomic_xchg)
LOCAL(uint, uint, atomic_add, atomic_min, atomic_max, atomic_xor, atomic_xchg)
LOCAL(long, long, atom_add, atom_min, atom_max, atom_xor, atom_xchg)

/* What the atomics return: every ticket is given once. */
__kernel void global_tickets(__global uint *out, __global ulong *out_wide)
{
    const uint ticket = atomic_inc(&out[0]);
    atomic_add(&out[16 + ticket], 1 + ticket);
    const ulong wide = atom_add(&out_wide[0], 3);
    atom_add(&out_wide[16 + wide / 3], wide);
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void local_tickets(__global uint *out)
{
    __local uint next;
    if (get_local_id(0) == 0)
        next = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint ticket = atomic_add(&next, 2);
    out[get_group_id(0) * 64 + ticket / 2] = ticket + 1;
}

__kernel void compare_swap(__global const uint *small, __global uint *out, __global ulong *out_wide)
{
    const uint x = small[get_global_id(0)];
    uint seen = out[0], before;
    do {
        before = seen;
        seen = atomic_cmpxchg(&out[0], before, before * 5 + x - before * 4);
    } while (seen != before);
    ulong wide_seen = out_wide[0], wide_before;
    do {
        wide_before = wide_seen;
        wide_seen = atom_cmpxchg(&out_wide[0], wide_before, wide_before + ((ulong)x << 32) + 1);
    } while (wide_seen != wide_before);
}

/* Sums of whole numbers in float through compare and swap. */
__kernel void float_sum(__global const uint *small, __global uint *out)
{
    const float x = (float)small[get_global_id(0)];
    uint before = out[3];
    for (;;) {
        const uint seen = atomic_cmpxchg(&out[3], before, as_uint(as_float(before) + x));
        if (seen == before)
            break;
        before = seen;
    }
}
