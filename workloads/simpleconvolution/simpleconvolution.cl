/* simpleconvolution.cl: a square mask over a picture, one pixel per work-item.
 *
 * The input has a border of mask / 2 zeros on each side (padded_width per row): no pixel is special. */

__kernel void simple_convolution(__global const uint *in, __global uint *out, __global const float *mask,
                                 uint width, uint height, uint mask_width, uint padded_width)
{
    const uint x = get_global_id(0);
    const uint y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (uint r = 0; r < mask_width; r++)
        for (uint c = 0; c < mask_width; c++)
            sum += (float)in[(y + r) * padded_width + x + c] * mask[r * mask_width + c];
    out[y * width + x] = (uint)(sum + 0.5f);
}
