/* sizes.c: see sizes.h. */
#include "sizes.h"

#include <string.h>

#define DEFAULT UINT64_MAX

static const struct {
    const char *workload;
    uint64_t values[2][SIZES_VALUES_MAX];
} sizes[] = {
    { "aes", { { 1 }, { 12345 } } },
    { "all_gather", { { 1, 1, 1, 1 }, { 1001, 1, 3, 1 } } },
    { "all_reduce", { { 1, 0, 1, 1 }, { 1001, 0, 3, 1 } } },
    { "all_to_all", { { 1, 2, 1, 1 }, { 1001, 2, 3, 1 } } },
    { "atax", { { 1, 1 }, { 77, 131 } } },
    { "bandwidth_cache", { { 16, 1, 1 }, { 64, 3, 2 } } },
    { "bandwidth_shared", { { 1, 1, 0 }, { 5, 2, 3 } } },
    { "bicg", { { 1, 1 }, { 131, 77 } } },
    { "bitonicsort", { { 1, 0 }, { 1001, 1 } } },
    { "broadcast", { { 1, 0, 1, 1, 0, 1 }, { 1001, 1, 3, 2, 1, 3 } } },
    { "empty_kernel", { { 1, 1, 1 }, { 1001, 17, 2 } } },
    { "empty_kernel_multi", { { 1, 1, 1 }, { 99, 64, 10 } } },
    { "fastwalshtransform", { { 1 }, { 777 } } },
    { "fft", { { 1 }, { 7 } } },
    { "fir", { { 1, 1, 1 }, { 1001, 17, 3 } } },
    { "floydwarshall", { { 1, DEFAULT }, { 37, 10 } } },
    { "histogram", { { 1, 1 }, { 10007, 3 } } },
    { "kmeans", { { 1, 1, 1, 1 }, { 333, 7, 5, 4 } } },
    { "matrixmultiplication", { { 1, 1, 1 }, { 33, 51, 19 } } },
    { "matrixtranspose", { { 1, 1 }, { 33, 71 } } },
    { "memory_copy", { { 1, 1 }, { 1001, 3 } } },
    { "mi300a_atax", { { 1, 0 }, { 131, 0 } } },
    { "mi300a_bfs", { { 2, 1, 0 }, { 1001, 7, 0 } } },
    { "mi300a_bicg", { { 1, 0 }, { 131, 0 } } },
    { "mi300a_bitonicsort", { { 128, 0 }, { 2048, 0 } } },
    { "mi300a_conv2d", { { 3, 3, 0 }, { 37, 5, 0 } } },
    { "mi300a_fastwalshtransform", { { 512, 0 }, { 2048, 0 } } },
    { "mi300a_fft1D_512", { { 512, 0 }, { 1536, 0 } } },
    { "mi300a_fir", { { 256, 1, 0 }, { 768, 17, 0 } } },
    { "mi300a_floydwarshall", { { 8, 0 }, { 24, 0 } } },
    { "mi300a_im2col", { { 1, 1, 0 }, { 37, 5, 0 } } },
    { "mi300a_kmeans", { { 1, 1, 1, 0 }, { 333, 7, 5, 0 } } },
    { "mi300a_matrixmultiplication", { { 32, 0 }, { 96, 0 } } },
    { "mi300a_matrixtranspose", { { 64, 0 }, { 192, 0 } } },
    { "mi300a_memcopy_d2d", { { 16, 0 }, { 10000, 0 } } },
    { "mi300a_memcopy_d2h", { { 16, 0 }, { 10000, 0 } } },
    { "mi300a_memcopy_h2d", { { 16, 0 }, { 10000, 0 } } },
    { "mi300a_nbody", { { 256, 0 }, { 768, 0 } } },
    { "mi300a_nw", { { 64, 0 }, { 192, 0 } } },
    { "mi300a_pagerank", { { 1, 0 }, { 77, 0 } } },
    { "mi300a_relu", { { 1, 0 }, { 1001, 0 } } },
    { "mi300a_simpleconvolution", { { 8, 1, 0 }, { 72, 7, 0 } } },
    { "mi300a_spmv_csr_scalar", { { 1, 1, 0 }, { 333, 20, 0 } } },
    { "mi300a_stencil2d", { { 64, 0 }, { 192, 0 } } },
    { "mi300a_vectoradd", { { 1, 0 }, { 1001, 0 } } },
    { "micro_alu", { { 1, 4, 1, 1 }, { 512, 6, 2, 3 } } },
    { "micro_dram", { { 1, 4, 4, 1 }, { 99, 64, 4096, 7 } } },
    { "micro_l1", { { 1, 0, 4, 1 }, { 99, 8, 72, 65 } } },
    { "micro_l2", { { 1, 64, 64, 1 }, { 333, 64, 8192, 3 } } },
    { "multi_thread_loop", { { 1, 1 }, { 10, 1001 } } },
    { "nbody", { { 1, 1 }, { 129, 3 } } },
    { "nw", { { 1, 1, 1 }, { 37, 90, 3 } } },
    { "pagerank", { { 1, 1, 1 }, { 101, 5, 7 } } },
    { "peer_bandwidth", { { 1, 0, 1, 1, 0, 0, 0 }, { 20001, 0, 2, 1, 1, 0, 1 } } },
    { "peer_latency", { { 1, 0, 0, 1 }, { 33, 0, 0, 7 } } },
    { "pointer_chasing_linear", { { 8, 1, 8 }, { 808, 77, 8 } } },
    { "pointer_chasing_random", { { 8, 1, 8 }, { 8064, 999, 64 } } },
    { "reduce_scatter", { { 1, 1, 1, 1 }, { 1001, 0, 3, 1 } } },
    { "reduction", { { 1, 1 }, { 10007, 7 } } },
    { "relu", { { 1 }, { 1001 } } },
    { "scan", { { 1 }, { 300001 } } },
    { "simpleconvolution", { { 1, 1, 1 }, { 33, 71, 5 } } },
    { "single_thread_loop", { { 1, 1 }, { 77, 1 } } },
    { "spmv", { { 1, 1, 0 }, { 333, 20, 1 } } },
    { "stencil2d", { { 1, 1, 1 }, { 19, 35, 5 } } },
    { "vector_add", { { 1 }, { 1001 } } },
};

bool sizes_get(const wl_workload *w, int index, uint64_t values[SIZES_VALUES_MAX])
{
    for (size_t i = 0; i < LS_COUNT_OF(sizes); i++) {
        if (strcmp(sizes[i].workload, w->name) != 0)
            continue;
        for (size_t k = 0; k < w->option_count && k < SIZES_VALUES_MAX; k++) {
            const uint64_t value = index == 0 ? DEFAULT : sizes[i].values[index - 1][k];
            values[k] = value == DEFAULT ? w->options[k].value : value;
        }
        return true;
    }
    return false;
}
