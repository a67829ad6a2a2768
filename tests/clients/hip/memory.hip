// Pinned, managed, registered and pitched memory, symbols, copies of all sizes.
#include "check.h"

#include <vector>

__device__ int table[64];
__constant__ int factor;
__managed__ int counter;

__global__ void add(int *p, int v, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        p[i] += v;
}

__global__ void use_symbols(int *p)
{
    p[threadIdx.x] = table[threadIdx.x] * factor;
    atomicAdd(&counter, 1);
}

struct node {
    node *next;
    int value;
};

__global__ void sum_list(const node *first, int *out)
{
    int sum = 0;
    for (; first; first = first->next)
        sum += first->value;
    *out = sum;
}

static void copies(size_t bytes)
{
    std::vector<char> a(bytes), b(bytes);
    char *x, *y;
    for (size_t i = 0; i < bytes; i++)
        a[i] = (char)(i * 7 + bytes);
    CALL(hipMalloc(&x, bytes));
    CALL(hipMalloc(&y, bytes));
    CALL(hipMemcpy(x, a.data(), bytes, hipMemcpyHostToDevice));
    CALL(hipMemcpy(y, x, bytes, hipMemcpyDeviceToDevice));
    CALL(hipMemcpy(b.data(), y, bytes, hipMemcpyDeviceToHost));
    CHECK(a == b);
    CALL(hipMemset(y, 0x5a, bytes));
    CALL(hipMemcpy(b.data(), y, bytes, hipMemcpyDeviceToHost));
    CHECK(b == std::vector<char>(bytes, 0x5a));
    CALL(hipFree(x));
    CALL(hipFree(y));
}

int main()
{
    const int n = 4096;
    int *pinned, *managed, *device, *seen, bad = 0;
    CALL(hipHostMalloc(&pinned, n * sizeof(int)));
    CALL(hipMallocManaged(&managed, n * sizeof(int)));
    CALL(hipMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        pinned[i] = i, managed[i] = 2 * i;
    add<<<n / 256, 256>>>(pinned, 3, n);
    add<<<n / 256, 256>>>(managed, 4, n);
    CALL(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        bad += pinned[i] != i + 3 || managed[i] != 2 * i + 4;
    CHECK(bad == 0);

    // Memory of the program, at another address for kernels.
    std::vector<int> own(5000, 9);
    CALL(hipHostRegister(own.data(), own.size() * sizeof(int), 0));
    CALL(hipHostGetDevicePointer((void **)&seen, own.data(), 0));
    add<<<20, 256>>>(seen, 4, 5000);
    CALL(hipDeviceSynchronize());
    CHECK(own == std::vector<int>(5000, 13));
    CALL(hipHostUnregister(own.data()));

    // A list in managed memory, whose nodes are allocations of their own.
    node *list = nullptr;
    for (int i = 1; i <= 10; i++) {
        node *one;
        CALL(hipMallocManaged(&one, sizeof *one));
        *one = { list, i };
        list = one;
    }
    sum_list<<<1, 1>>>(list, managed);
    CALL(hipDeviceSynchronize());
    CHECK(managed[0] == 55);

    int values[64], got[64], three = 3;
    for (int i = 0; i < 64; i++)
        values[i] = i * i;
    counter = 0;
    CALL(hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof values));
    CALL(hipMemcpyToSymbol(HIP_SYMBOL(factor), &three, sizeof three));
    use_symbols<<<1, 64>>>(device);
    CALL(hipDeviceSynchronize());
    CALL(hipMemcpy(got, device, sizeof got, hipMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        bad += got[i] != 3 * i * i;
    CHECK(bad == 0 && counter == 64);
    CALL(hipMemcpyFromSymbol(got, HIP_SYMBOL(table), sizeof got));
    CHECK(got[63] == 63 * 63);

    size_t pitch;
    int *plane;
    std::vector<int> from(100 * 50), to(100 * 50);
    for (size_t i = 0; i < from.size(); i++)
        from[i] = (int)i;
    CALL(hipMallocPitch((void **)&plane, &pitch, 400, 50));
    CHECK(pitch >= 400);
    CALL(hipMemcpy2D(plane, pitch, from.data(), 400, 400, 50, hipMemcpyHostToDevice));
    CALL(hipMemcpy2D(to.data(), 400, plane, pitch, 400, 50, hipMemcpyDeviceToHost));
    CHECK(from == to);

    copies(1);
    copies(4096);
    copies(100000);
    copies((1 << 20) + 4096 + 12);
    return end();
}
