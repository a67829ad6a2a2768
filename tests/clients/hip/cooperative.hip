// Barriers over the whole grid: two in a row with data between, on a GPU that is full, and a grid that does not fit. Prints
// the times of events.
#include "check.h"

#include <hip/hip_cooperative_groups.h>

#include <vector>

__global__ void reverse(int *work, int *out, int n)
{
    auto grid = cooperative_groups::this_grid();
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    work[i] = i;
    grid.sync();
    out[i] = work[n - 1 - i];
    grid.sync();
    work[i] = out[n - 1 - i];
}

__global__ void rounds(unsigned *sums, unsigned *seen, int count)
{
    auto grid = cooperative_groups::this_grid();
    for (int r = 0; r < count; r++) {
        if (threadIdx.x == 0)
            atomicAdd(&sums[r], blockIdx.x + 1);
        grid.sync();
        if (threadIdx.x == 0)
            seen[r * gridDim.x + blockIdx.x] = sums[r];
    }
}

static float reversed()
{
    int n = 8 * 256, *work, *out;
    std::vector<int> a(n), b(n);
    hipEvent_t begin, end;
    float ms = 0;
    CALL(hipMalloc(&work, n * sizeof(int)));
    CALL(hipMalloc(&out, n * sizeof(int)));
    CALL(hipEventCreate(&begin));
    CALL(hipEventCreate(&end));
    void *args[] = { &work, &out, &n };
    CALL(hipEventRecord(begin, 0));
    CALL(hipLaunchCooperativeKernel((void *)reverse, dim3(8), dim3(256), args, 0, 0));
    CALL(hipEventRecord(end, 0));
    CALL(hipDeviceSynchronize());
    CALL(hipEventElapsedTime(&ms, begin, end));
    CHECK(ms > 0 && ms < 1000); // the first event comes before any other work
    CALL(hipMemcpy(a.data(), work, n * sizeof(int), hipMemcpyDeviceToHost));
    CALL(hipMemcpy(b.data(), out, n * sizeof(int), hipMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += a[i] != i || b[i] != n - 1 - i;
    CHECK(bad == 0);
    return ms;
}

// As many work-groups as HIP says there is room for; one more is refused.
static void full()
{
    int per_unit = 0, units = 0, count = 3;
    unsigned *sums, *seen;
    CALL(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, rounds, 1024, 0));
    unsigned groups = (unsigned)(per_unit * units);
    CALL(hipMalloc(&sums, count * sizeof *sums));
    CALL(hipMalloc(&seen, count * (groups + 1) * sizeof *seen));
    CALL(hipMemset(sums, 0, count * sizeof *sums));
    void *args[] = { &sums, &seen, &count };
    CALL(hipLaunchCooperativeKernel((void *)rounds, dim3(groups), dim3(1024), args, 0, 0));
    std::vector<unsigned> all(count * groups);
    CALL(hipMemcpy(all.data(), seen, all.size() * sizeof(unsigned), hipMemcpyDeviceToHost));
    unsigned bad = 0;
    for (unsigned value : all)
        bad += value != groups * (groups + 1) / 2;
    CHECK(bad == 0);
    CHECK(hipLaunchCooperativeKernel((void *)rounds, dim3(groups + 1), dim3(1024), args, 0, 0) ==
          hipErrorCooperativeLaunchTooLarge);
    (void)hipGetLastError();
}

int main()
{
    float ms = reversed();
    full();
    printf("time %.6f\n", ms);
    return end();
}
