/* micro_load.cl: loads that wait for each other: MGPUSim's cache and DRAM microbenchmarks (its section 4.2).
 *
 * Load i reads byte (i * stride) % region of the buffer; all work-items read the same addresses. A region of
 * one word stays in the first-level cache, one between the caches' sizes in the second, and a fresh line each
 * time comes from DRAM. */

static uint load_and_wait(__global const uint *at)
{
    uint value;
#if !defined(__AMDGCN__)
    value = *at;
#elif defined(__gfx803__)
    __asm__ volatile("flat_load_dword %0, %1\n\ts_waitcnt vmcnt(0) lgkmcnt(0)"
                     : "=v"(value)
                     : "v"(at)
                     : "memory");
#else
    __asm__ volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(value) : "v"(at) : "memory");
#endif
    return value;
}

/* Loads in a row between two checks for the end of the region. So a load costs its latency and the step of its
 * address, as in the straight code of the measurements. */
#define RUN 16u

__kernel void micro_load(__global const uint *data, __global uint *out, uint loads, uint stride_words,
                         uint region_words)
{
    uint sum = 0, at = 0;
    for (uint i = 0; i < loads;) {
        if (loads - i >= RUN && at + RUN * (ulong)stride_words < region_words) {
            __global const uint *from = data + at;
#pragma unroll
            for (uint k = 0; k < RUN; k++) {
                sum += load_and_wait(from);
                from += stride_words;
            }
            at += RUN * stride_words;
            i += RUN;
        } else {
            sum += load_and_wait(data + at);
            at += stride_words;
            at = at >= region_words ? at - region_words : at;
            i++;
        }
    }
    out[get_global_id(0)] = sum;
}
