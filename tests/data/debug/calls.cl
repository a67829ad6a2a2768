/* calls.cl: a kernel for tests of the debugger: frames of real calls. calls.co is this file, compiled as reverse.txt says. */
__attribute__((noinline)) float square(float x, __global float *trace)
{
    trace[0] = x;
    return x * x;
}

__attribute__((noinline)) float twice(float x, __global float *trace)
{
    return square(x, trace) + square(x + 1, trace);
}

__kernel void calls(__global const float *in, __global float *out, __global float *trace)
{
    const uint i = get_global_id(0);
    out[i] = twice(in[i], trace);
}
