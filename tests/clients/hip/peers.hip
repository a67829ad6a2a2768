// Two GPUs: each computes, one reads the other's memory and copies from it.
#include "check.h"

#include <vector>

__global__ void fill(int *p, int v)
{
    p[threadIdx.x] = v + (int)threadIdx.x;
}

__global__ void add(int *to, const int *from)
{
    to[threadIdx.x] += from[threadIdx.x];
}

int main()
{
    int count = 0, can = 0, *a, *b, got[64];
    CALL(hipGetDeviceCount(&count));
    CHECK(count >= 2);
    CALL(hipSetDevice(0));
    CALL(hipMalloc(&a, 256));
    fill<<<1, 64>>>(a, 100);
    CALL(hipDeviceSynchronize());
    CALL(hipSetDevice(1));
    CALL(hipMalloc(&b, 256));
    fill<<<1, 64>>>(b, 1000);
    CALL(hipDeviceSynchronize());
    CALL(hipDeviceCanAccessPeer(&can, 1, 0));
    CHECK(can == 1);
    CALL(hipDeviceEnablePeerAccess(0, 0));
    add<<<1, 64>>>(b, a);
    CALL(hipDeviceSynchronize());
    CALL(hipMemcpyPeer(a, 0, b, 1, 256));
    CALL(hipMemcpy(got, a, 256, hipMemcpyDeviceToHost));
    CHECK(got[0] == 1100 && got[63] == 1226);
    return end();
}
