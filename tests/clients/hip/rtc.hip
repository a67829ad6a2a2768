// hiprtc: a kernel that is compiled while the program runs.
#include "check.h"

#include <hip/hiprtc.h>

#include <string>
#include <vector>

int main()
{
    static const char source[] = "extern \"C\" __global__ void scale(float *p, float f, int n)\n"
                                 "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= f; }\n";
    hiprtcProgram program;
    hipDeviceProp_t p;
    CALL(hipGetDeviceProperties(&p, 0));
    std::string arch = std::string("--offload-arch=") + p.gcnArchName;
    const char *options[] = { arch.c_str() };
    CHECK(hiprtcCreateProgram(&program, source, "scale.hip", 0, nullptr, nullptr) == HIPRTC_SUCCESS);
    if (hiprtcCompileProgram(program, 1, options) != HIPRTC_SUCCESS) {
        size_t bytes = 0;
        hiprtcGetProgramLogSize(program, &bytes);
        std::vector<char> log(bytes + 1);
        hiprtcGetProgramLog(program, log.data());
        printf("FAILED: hiprtc: %s\n", log.data());
        return 1;
    }
    size_t bytes;
    CHECK(hiprtcGetCodeSize(program, &bytes) == HIPRTC_SUCCESS);
    std::vector<char> code(bytes);
    CHECK(hiprtcGetCode(program, code.data()) == HIPRTC_SUCCESS);
    hipModule_t module;
    hipFunction_t kernel;
    CALL(hipModuleLoadData(&module, code.data()));
    CALL(hipModuleGetFunction(&kernel, module, "scale"));
    std::vector<float> v(1000);
    for (int i = 0; i < 1000; i++)
        v[i] = (float)i;
    float *d, f = 2.5f;
    int n = 1000;
    CALL(hipMalloc(&d, 4000));
    CALL(hipMemcpy(d, v.data(), 4000, hipMemcpyHostToDevice));
    void *args[] = { &d, &f, &n };
    CALL(hipModuleLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
    CALL(hipMemcpy(v.data(), d, 4000, hipMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < 1000; i++)
        bad += v[i] != 2.5f * (float)i;
    CHECK(bad == 0);
    return end();
}
