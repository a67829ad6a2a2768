/* fir.cl: finite impulse response filter: out[i] = sum over t of coefficients[t] * in[i - t].
 *
 * The signal arrives in blocks; history holds the taps - 1 samples before this block, oldest first. */

__kernel void fir(__global const float *in, __global float *out, __global const float *coefficients,
                  __global const float *history, uint taps, uint count)
{
    const uint i = get_global_id(0);
    if (i >= count)
        return;
    float sum = 0.0f;
    for (uint t = 0; t < taps; t++) {
        const float sample = i >= t ? in[i - t] : history[taps - 1 + i - t];
        sum += coefficients[t] * sample;
    }
    out[i] = sum;
}
