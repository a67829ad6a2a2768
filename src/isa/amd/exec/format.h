/* format.h: number formats of texels and typed buffers: bits per component and their meaning. Bytes become
 * four 32-bit registers and back. Pure arithmetic. */
#ifndef ISA_AMD_EXEC_FORMAT_H
#define ISA_AMD_EXEC_FORMAT_H

#include "isa/amd/amd.h"

typedef enum amd_number {
    AMD_NUMBER_UNORM,
    AMD_NUMBER_SNORM,
    AMD_NUMBER_USCALED,
    AMD_NUMBER_SSCALED,
    AMD_NUMBER_UINT,
    AMD_NUMBER_SINT,
    AMD_NUMBER_SRGB,
    AMD_NUMBER_FLOAT,
} amd_number;

typedef struct amd_texel {
    uint8_t bits[4]; /* of each component from bit 0 on; 0: not there */
    uint8_t bytes;   /* 0: no valid format */
    uint8_t number;  /* amd_number */
} amd_texel;

/* GCN3: the two fields of a descriptor or of MTBUF. gfx10: one number for both. bytes is 0 for a format
 * that does not exist. */
amd_texel amd_format_gcn3(unsigned data_format, unsigned num_format);
amd_texel amd_format_gfx10(unsigned format);
/* The inverses: the fields for a texel; false if the target has no such format. */
bool amd_format_code_gcn3(const amd_texel *texel, unsigned *data_format, unsigned *num_format);
bool amd_format_code_gfx10(const amd_texel *texel, unsigned *format);

/* bytes -> components that are there; missing ones become 0, and the fourth 1 (1.0f, or 1 for integers). */
void amd_format_read(const amd_texel *texel, const void *bytes, uint32_t out[4]);
/* Registers -> bytes: floats are clamped and rounded to nearest even, integers clamped. */
void amd_format_write(const amd_texel *texel, const uint32_t in[4], void *bytes);
bool amd_format_is_integer(const amd_texel *texel);

/* IEEE half precision. */
float amd_half_to_float(uint16_t half);
uint16_t amd_float_to_half(float value); /* to nearest even */

#endif
