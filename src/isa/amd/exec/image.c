/* image.c: the words of image and sampler descriptors. */
#include "isa/amd/exec/image.h"

#define IMAGE_SIDE_MAX 16384u
#define IMAGE_SLICES_MAX 8192u

/* Codes of the type field, the same on all targets. */
static const uint8_t image_type[] = {
    [AMD_IMAGE_1D] = 8,    [AMD_IMAGE_2D] = 9,        [AMD_IMAGE_3D] = 10,
    [AMD_IMAGE_CUBE] = 11, [AMD_IMAGE_1D_ARRAY] = 12, [AMD_IMAGE_2D_ARRAY] = 13,
};

uint32_t amd_image_pitch(uint32_t width, uint32_t texel_bytes)
{
    uint32_t unit = texel_bytes != 0 ? 256 / texel_bytes : 256;
    return (width + unit - 1) / unit * unit;
}

uint64_t amd_image_bytes(const amd_image *image)
{
    return (uint64_t)image->pitch * image->height * image->depth * image->texel.bytes;
}

bool amd_image_pack(amd_target target, const amd_image *image, uint32_t words[8])
{
    unsigned data_format, num_format, format;
    if (image->width == 0 || image->height == 0 || image->depth == 0 || image->width > IMAGE_SIDE_MAX ||
        image->height > IMAGE_SIDE_MAX || image->depth > IMAGE_SLICES_MAX || (image->address & 255) != 0 ||
        image->kind > AMD_IMAGE_2D_ARRAY)
        return false;
    for (unsigned i = 0; i < 8; i++)
        words[i] = 0;
    uint32_t width = image->width - 1, height = image->height - 1, depth = image->depth - 1;
    words[0] = (uint32_t)(image->address >> 8);
    words[1] = (uint32_t)(image->address >> 40) & 0xff;
    for (unsigned i = 0; i < 4; i++)
        words[3] |= (uint32_t)image->select[i] << i * 3;
    words[3] |= (uint32_t)image_type[image->kind] << 28;
    if (target == AMD_GFX803) {
        if (!amd_format_code_gcn3(&image->texel, &data_format, &num_format))
            return false;
        words[1] |= data_format << 20 | num_format << 26;
        words[2] = width | height << 14;
        words[4] = depth | (image->pitch - 1) << 13;
        words[5] = depth << 13;
    } else {
        if (!amd_format_code_gfx10(&image->texel, &format))
            return false;
        words[1] |= format << 20 | (width & 3) << 30;
        words[2] = width >> 2 | height << 14 | 1u << 31;
        words[4] = depth;
    }
    return true;
}

amd_image amd_image_unpack(amd_target target, const uint32_t words[8])
{
    amd_image image = { .address = (uint64_t)words[0] << 8 | (uint64_t)(words[1] & 0xff) << 40,
                        .height = (words[2] >> 14 & 0x3fff) + 1,
                        .depth = (words[4] & 0x1fff) + 1 };
    for (unsigned i = 0; i < 4; i++)
        image.select[i] = (uint8_t)(words[3] >> i * 3 & 7);
    uint32_t type = words[3] >> 28;
    for (unsigned kind = 0; kind <= AMD_IMAGE_2D_ARRAY; kind++)
        if (image_type[kind] == type)
            image.kind = (uint8_t)kind;
    if (target == AMD_GFX803) {
        image.texel = amd_format_gcn3(words[1] >> 20 & 0x3f, words[1] >> 26 & 0xf);
        image.width = (words[2] & 0x3fff) + 1;
        image.pitch = (words[4] >> 13 & 0x3fff) + 1;
        if (image.kind == AMD_IMAGE_1D_ARRAY || image.kind == AMD_IMAGE_2D_ARRAY)
            image.depth = (words[5] >> 13 & 0x1fff) + 1;
    } else {
        image.texel = amd_format_gfx10(words[1] >> 20 & 0x1ff);
        image.width = (words[1] >> 30 | (words[2] & 0xfff) << 2) + 1;
        image.pitch = amd_image_pitch(image.width, image.texel.bytes);
    }
    if (image.kind == AMD_IMAGE_1D || image.kind == AMD_IMAGE_1D_ARRAY)
        image.height = 1;
    if (image.kind == AMD_IMAGE_1D || image.kind == AMD_IMAGE_2D)
        image.depth = 1;
    if (image.kind == AMD_IMAGE_CUBE)
        image.depth = 6;
    if (type < 8) /* a buffer's descriptor: no image */
        image.texel.bytes = 0;
    return image;
}

void amd_sampler_pack(const amd_sampler *sampler, uint32_t words[4])
{
    words[0] = (uint32_t)sampler->wrap[0] | (uint32_t)sampler->wrap[1] << 3 | (uint32_t)sampler->wrap[2] << 6 |
               (uint32_t)sampler->unnormalized << 15;
    words[1] = 0xfffu << 12; /* every level of detail */
    words[2] = (uint32_t)sampler->linear << 20 | (uint32_t)sampler->linear << 22 |
               (uint32_t)(sampler->linear_z ? 2 : 1) << 24;
    words[3] = (uint32_t)sampler->border << 30;
}

amd_sampler amd_sampler_unpack(const uint32_t words[4])
{
    amd_sampler sampler = { .unnormalized = (words[0] >> 15 & 1) != 0,
                            .linear = (words[2] >> 20 & 1) != 0,
                            .linear_z = (words[2] >> 24 & 3) == 2,
                            .border = (uint8_t)(words[3] >> 30) };
    for (unsigned i = 0; i < 3; i++)
        sampler.wrap[i] = (uint8_t)(words[0] >> i * 3 & 7);
    if ((words[2] >> 24 & 3) == 0) /* no filter of its own: as within a slice */
        sampler.linear_z = sampler.linear;
    return sampler;
}
