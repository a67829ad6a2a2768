// A barrier over the whole grid.
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

int main()
{
    int n = 8 * 256, *work, *out;
    std::vector<int> a(n), b(n);
    CALL(hipMalloc(&work, n * sizeof(int)));
    CALL(hipMalloc(&out, n * sizeof(int)));
    void *args[] = { &work, &out, &n };
    CALL(hipLaunchCooperativeKernel((void *)reverse, dim3(8), dim3(256), args, 0, 0));
    CALL(hipDeviceSynchronize());
    CALL(hipMemcpy(a.data(), work, n * sizeof(int), hipMemcpyDeviceToHost));
    CALL(hipMemcpy(b.data(), out, n * sizeof(int), hipMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += a[i] != i || b[i] != n - 1 - i;
    CHECK(bad == 0);
    return end();
}
