// Kernels: shuffles, votes, dynamic shared memory, private arrays, atomics, recursion, printf.
#include "check.h"

__global__ void shuffle(int *out)
{
    int v = (int)threadIdx.x;
    for (int k = warpSize / 2; k > 0; k /= 2)
        v += __shfl_down(v, k);
    out[threadIdx.x] = __shfl(v, 0) + (int)__popcll(__ballot(threadIdx.x % 2 == 0));
}

__global__ void reverse(int *out)
{
    extern __shared__ int all[];
    all[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}

__global__ void indexed(int *out, int k)
{
    int a[64], sum = 0;
    for (int i = 0; i < 64; i++)
        a[i] = i * k;
    for (int i = 0; i < 64; i++)
        sum += a[(i * 7 + (int)threadIdx.x) % 64];
    out[threadIdx.x] = sum;
}

__global__ void count(int *out)
{
    atomicAdd(&out[threadIdx.x % 4], 1);
    atomicMax(&out[4], (int)(blockIdx.x * blockDim.x + threadIdx.x));
}

__device__ __attribute__((noinline)) int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__global__ void recurse(int *out)
{
    out[threadIdx.x] = fib((int)threadIdx.x % 8);
}

__global__ void hello(int n)
{
    if ((int)threadIdx.x < n)
        printf("thread %d of block %d says %s %.2f\n", (int)threadIdx.x, (int)blockIdx.x, "hello", 0.5);
}

int main()
{
    int *d, got[256];
    CALL(hipMalloc(&d, 1024));
    shuffle<<<1, 32>>>(d);
    CALL(hipMemcpy(got, d, 128, hipMemcpyDeviceToHost));
    CHECK(got[5] == 496 + 16);
    reverse<<<1, 128, 512>>>(d);
    CALL(hipMemcpy(got, d, 512, hipMemcpyDeviceToHost));
    CHECK(got[0] == 127 && got[127] == 0);
    indexed<<<1, 64>>>(d, 2);
    CALL(hipMemcpy(got, d, 256, hipMemcpyDeviceToHost));
    CHECK(got[3] == 4032);
    CALL(hipMemset(d, 0, 1024));
    count<<<8, 128>>>(d);
    CALL(hipMemcpy(got, d, 20, hipMemcpyDeviceToHost));
    CHECK(got[0] == 256 && got[3] == 256 && got[4] == 1023);
    recurse<<<1, 64>>>(d);
    CALL(hipMemcpy(got, d, 256, hipMemcpyDeviceToHost));
    CHECK(got[7] == 13 && got[15] == 13 && got[6] == 8);
    hello<<<2, 64>>>(2);
    CALL(hipDeviceSynchronize());
    return end();
}
