/* fastwalshtransform.cl: one step of the fast Walsh-Hadamard transform: butterflies at distance `step`. */

__kernel void walsh_step(__global float *data, uint step, uint pairs)
{
    const uint i = get_global_id(0);
    if (i >= pairs)
        return;
    const uint left = (i / step) * step * 2 + i % step;
    const float a = data[left];
    const float b = data[left + step];
    data[left] = a + b;
    data[left + step] = a - b;
}
