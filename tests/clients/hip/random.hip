// rocRAND's library, with its own kernels: numbers in range, repeatable, and not all the same.
#include "check.h"

#include <rocrand/rocrand.h>

#include <vector>

int main()
{
    const size_t n = 4096;
    std::vector<float> first(n), again(n);
    float *d;
    CALL(hipMalloc(&d, n * sizeof(float)));
    for (auto *to : { &first, &again }) {
        rocrand_generator generator;
        CHECK(rocrand_create_generator(&generator, ROCRAND_RNG_PSEUDO_PHILOX4_32_10) == ROCRAND_STATUS_SUCCESS);
        CHECK(rocrand_set_seed(generator, 42) == ROCRAND_STATUS_SUCCESS);
        CHECK(rocrand_generate_uniform(generator, d, n) == ROCRAND_STATUS_SUCCESS);
        CALL(hipMemcpy(to->data(), d, n * sizeof(float), hipMemcpyDeviceToHost));
        CHECK(rocrand_destroy_generator(generator) == ROCRAND_STATUS_SUCCESS);
    }
    double mean = 0;
    for (float f : first) {
        CHECK(f > 0 && f <= 1);
        mean += f / (double)n;
    }
    CHECK(first == again && mean > 0.45 && mean < 0.55);
    return end();
}
