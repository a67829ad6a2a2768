// rocPRIM: sort, scan, reduce; rocRAND on the device; against the CPU.
#include "check.h"

#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

template <typename RUN> static void twice(RUN run)
{
    size_t bytes = 0;
    void *work = nullptr;
    CALL(run(work, bytes));
    CALL(hipMalloc(&work, bytes));
    CALL(run(work, bytes));
    CALL(hipDeviceSynchronize());
    CALL(hipFree(work));
}

int main()
{
    const size_t n = 3000;
    std::vector<unsigned> values(n), want, got(n);
    unsigned *in, *out, sum = 0, x = 12345;
    for (auto &v : values)
        v = x = x * 1664525u + 1013904223u;
    CALL(hipMalloc(&in, n * 4));
    CALL(hipMalloc(&out, n * 4));
    CALL(hipMemcpy(in, values.data(), n * 4, hipMemcpyHostToDevice));

    twice([&](void *w, size_t &b) { return rocprim::radix_sort_keys(w, b, in, out, n); });
    CALL(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
    want = values;
    std::sort(want.begin(), want.end());
    CHECK(got == want);

    twice([&](void *w, size_t &b) { return rocprim::inclusive_scan(w, b, in, out, n, rocprim::plus<unsigned>()); });
    CALL(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
    std::partial_sum(values.begin(), values.end(), want.begin());
    CHECK(got == want);

    twice([&](void *w, size_t &b) { return rocprim::reduce(w, b, in, out, n, rocprim::plus<unsigned>()); });
    CALL(hipMemcpy(&sum, out, 4, hipMemcpyDeviceToHost));
    CHECK(sum == std::accumulate(values.begin(), values.end(), 0u));
    return end();
}
