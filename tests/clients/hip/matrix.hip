// Matrix instructions of gfx90a: products of 32-bit floats, halves and doubles, compared with the CPU.
#include "check.h"

#include <hip/hip_fp16.h>

#include <cmath>
#include <vector>

typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));

// D = A * B: 16 x k times k x 16, one wave; lane L has row or column L mod 16 and k = 4 * step + L / 16.
__global__ void singles(const float *a, const float *b, float *d, int k)
{
    int lane = (int)threadIdx.x, i = lane % 16, part = lane / 16;
    f4 sum = { 0, 0, 0, 0 };
    for (int at = 0; at < k; at += 4)
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[i * k + at + part], b[(at + part) * 16 + i], sum, 0, 0, 0);
    for (int r = 0; r < 4; r++)
        d[(4 * part + r) * 16 + i] = sum[r];
}

// 32 x 32, eight halves along k at a time.
__global__ void halves(const _Float16 *a, const _Float16 *b, float *d, int k)
{
    int lane = (int)threadIdx.x, i = lane % 32, part = lane / 32;
    f16 sum = {};
    for (int at = 0; at < k; at += 8) {
        h4 left, right;
        for (int n = 0; n < 4; n++) {
            left[n] = a[i * k + at + 4 * part + n];
            right[n] = b[(at + 4 * part + n) * 32 + i];
        }
        sum = __builtin_amdgcn_mfma_f32_32x32x8f16(left, right, sum, 0, 0, 0);
    }
    for (int r = 0; r < 16; r++)
        d[(8 * (r / 4) + 4 * part + r % 4) * 32 + i] = sum[r];
}

__global__ void doubles(const double *a, const double *b, double *d, int k)
{
    int lane = (int)threadIdx.x, i = lane % 16, part = lane / 16;
    d4 sum = { 0, 0, 0, 0 };
    for (int at = 0; at < k; at += 4)
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[i * k + at + part], b[(at + part) * 16 + i], sum, 0, 0, 0);
    for (int r = 0; r < 4; r++)
        d[(4 * r + part) * 16 + i] = sum[r];
}

template <typename In, typename Out, typename Kernel> static void compare(Kernel kernel, int side, int k)
{
    std::vector<In> a((size_t)side * k), b((size_t)side * k);
    std::vector<Out> d((size_t)side * side);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = (In)((double)((i * 7) % 19) / 8 - 1);
        b[i] = (In)((double)((i * 5) % 23) / 8 - 1.25);
    }
    In *da, *db;
    Out *dd;
    CALL(hipMalloc(&da, a.size() * sizeof(In)));
    CALL(hipMalloc(&db, b.size() * sizeof(In)));
    CALL(hipMalloc(&dd, d.size() * sizeof(Out)));
    CALL(hipMemcpy(da, a.data(), a.size() * sizeof(In), hipMemcpyHostToDevice));
    CALL(hipMemcpy(db, b.data(), b.size() * sizeof(In), hipMemcpyHostToDevice));
    hipLaunchKernelGGL(kernel, dim3(1), dim3(64), 0, 0, da, db, dd, k);
    CALL(hipGetLastError());
    CALL(hipMemcpy(d.data(), dd, d.size() * sizeof(Out), hipMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            double sum = 0;
            for (int n = 0; n < k; n++)
                sum += (double)a[(size_t)i * k + n] * (double)b[(size_t)n * side + j];
            bad += std::fabs((double)d[(size_t)i * side + j] - sum) > 1e-3;
        }
    CHECK(bad == 0);
    CALL(hipFree(da));
    CALL(hipFree(db));
    CALL(hipFree(dd));
}

int main()
{
    compare<float, float>(singles, 16, 32);
    compare<_Float16, float>(halves, 32, 64);
    compare<double, double>(doubles, 16, 24);
    return end();
}
