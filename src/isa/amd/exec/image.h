/* image.h: image and sampler descriptors as plain records, and the words that hardware reads them from.
 * Images are kept in rows from front to back (linear), which both generations can express; there are no
 * mip levels. */
#ifndef ISA_AMD_EXEC_IMAGE_H
#define ISA_AMD_EXEC_IMAGE_H

#include "isa/amd/exec/format.h"

typedef enum amd_image_kind {
    AMD_IMAGE_1D,
    AMD_IMAGE_2D,
    AMD_IMAGE_3D,
    AMD_IMAGE_CUBE,
    AMD_IMAGE_1D_ARRAY,
    AMD_IMAGE_2D_ARRAY,
} amd_image_kind;

/* amd_image.select: the component or constant that a register gets. */
enum { AMD_SELECT_0, AMD_SELECT_1, AMD_SELECT_X = 4, AMD_SELECT_Y, AMD_SELECT_Z, AMD_SELECT_W };

typedef struct amd_image {
    uint64_t address;       /* a multiple of 256 */
    amd_texel texel;        /* bytes 0: no valid format */
    uint8_t select[4];      /* AMD_SELECT_*: of red, green, blue, alpha */
    uint8_t kind;           /* amd_image_kind */
    uint32_t width, height; /* texels; height 1 for 1D */
    uint32_t depth;         /* slices of 3D, layers of arrays, 6 for a cube; else 1 */
    uint32_t pitch;         /* texels from row to row: amd_image_pitch() */
} amd_image;

/* Texels from row to row that a descriptor of this width means. */
uint32_t amd_image_pitch(uint32_t width, uint32_t texel_bytes);
/* Bytes of all slices. */
uint64_t amd_image_bytes(const amd_image *image);
/* False if the target has no such format or the size does not fit (16,384 a side, 8,192 slices). */
bool amd_image_pack(amd_target target, const amd_image *image, uint32_t words[8]);
amd_image amd_image_unpack(amd_target target, const uint32_t words[8]);

typedef enum amd_wrap {
    AMD_WRAP_REPEAT,
    AMD_WRAP_MIRROR,
    AMD_WRAP_EDGE,
    AMD_WRAP_MIRROR_ONCE_EDGE,
    AMD_WRAP_HALF_BORDER,
    AMD_WRAP_MIRROR_ONCE_HALF_BORDER,
    AMD_WRAP_BORDER,
    AMD_WRAP_MIRROR_ONCE_BORDER,
} amd_wrap;

typedef struct amd_sampler {
    uint8_t wrap[3];   /* amd_wrap of x, y, z */
    bool unnormalized; /* coordinates count texels */
    bool linear;       /* between texels of a slice */
    bool linear_z;     /* between slices of 3D */
    uint8_t border;    /* 0 transparent black, 1 opaque black, 2 opaque white */
} amd_sampler;

void amd_sampler_pack(const amd_sampler *sampler, uint32_t words[4]);
amd_sampler amd_sampler_unpack(const uint32_t words[4]);

#endif
