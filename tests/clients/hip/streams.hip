// Streams, events between them, graphs, callbacks. Prints the simulated times of events.
#include "check.h"

#include <vector>

__global__ void add(int *p, int v, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        p[i] += v;
}

static void check_all(const int *device, int n, int first, int step)
{
    std::vector<int> got(n);
    CALL(hipMemcpy(got.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += got[i] != first + step * i;
    CHECK(bad == 0);
}

int main()
{
    const int n = 1 << 14;
    int *d, *h;
    hipStream_t s[3];
    hipEvent_t begin, middle, stop;
    float ms = 0, later = 0;
    CALL(hipMalloc(&d, n * sizeof(int)));
    CALL(hipHostMalloc(&h, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        h[i] = i;
    for (auto &one : s)
        CALL(hipStreamCreate(&one));
    CALL(hipEventCreate(&begin));
    CALL(hipEventCreate(&middle));
    CALL(hipEventCreate(&stop));

    // The second stream waits for the first.
    CALL(hipMemcpyAsync(d, h, n * sizeof(int), hipMemcpyHostToDevice, s[0]));
    CALL(hipEventRecord(begin, s[0]));
    add<<<n / 256, 256, 0, s[0]>>>(d, 5, n);
    CALL(hipEventRecord(middle, s[0]));
    CALL(hipStreamWaitEvent(s[1], middle, 0));
    add<<<n / 256, 256, 0, s[1]>>>(d, 7, n);
    CALL(hipEventRecord(stop, s[1]));
    CALL(hipEventSynchronize(stop));
    CALL(hipEventElapsedTime(&ms, begin, middle));
    CALL(hipEventElapsedTime(&later, begin, stop));
    CHECK(ms > 0 && later > ms);
    printf("times %.6f %.6f\n", ms, later);
    check_all(d, n, 12, 1);

    // A program that only asks sees the end, too.
    add<<<n / 256, 256, 0, s[1]>>>(d, 1, n);
    CALL(hipEventRecord(stop, s[1]));
    while (hipEventQuery(stop) == hipErrorNotReady)
        ;
    check_all(d, n, 13, 1);

    // A graph that is launched three times.
    hipGraph_t graph;
    hipGraphExec_t exec;
    CALL(hipMemset(d, 0, n * sizeof(int)));
    CALL(hipDeviceSynchronize());
    CALL(hipStreamBeginCapture(s[2], hipStreamCaptureModeGlobal));
    add<<<n / 256, 256, 0, s[2]>>>(d, 1, n);
    add<<<n / 256, 256, 0, s[2]>>>(d, 2, n);
    CALL(hipStreamEndCapture(s[2], &graph));
    CALL(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 3; i++)
        CALL(hipGraphLaunch(exec, s[2]));
    CALL(hipStreamSynchronize(s[2]));
    check_all(d, n, 9, 0);

    // A function of the host behind a kernel.
    static int called;
    add<<<n / 256, 256, 0, s[0]>>>(d, 1, n);
    CALL(hipStreamAddCallback(
        s[0], [](hipStream_t, hipError_t, void *p) { *(int *)p = 1; }, &called, 0));
    CALL(hipStreamSynchronize(s[0]));
    CHECK(called == 1);
    check_all(d, n, 10, 0);
    return end();
}
