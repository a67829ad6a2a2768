/* decode.h: types and functions that the decoder's files share. Private to this folder. */
#ifndef ISA_AMD_DECODE_H
#define ISA_AMD_DECODE_H

#include "isa/amd/tables.h"

/* One call of amd_decode. `out->bytes` grows as words are taken. */
typedef struct amd_decoder {
    amd_target target;
    bool gfx10, gfx9;
    unsigned lanes;
    const uint8_t *bytes;
    size_t count;
    uint32_t w0, w1; /* w1 is 0 if there are less than 8 bytes */
    bool has_literal;
    const amd_row *row;
    amd_inst *out;
} amd_decoder;

static inline unsigned amd_bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1u << count) - 1);
}

static inline bool amd_bit(uint32_t word, unsigned position)
{
    return word >> position & 1;
}

static inline uint32_t amd_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Each fills one operand, or returns false if the code is not allowed there. A scalar is one of the codes 0 to
 * 127; a source is any of the 9-bit codes, and takes the literal from the bytes if there is one. */
bool amd_decode_scalar(amd_decoder *d, amd_operand *operand, unsigned code, amd_shape shape);
bool amd_decode_vector(amd_decoder *d, amd_operand *operand, unsigned vgpr, amd_shape shape);
/* The same, of accumulation registers if `accumulation`. */
bool amd_decode_register(amd_decoder *d, amd_operand *operand, unsigned number, amd_shape shape,
                         bool accumulation);
bool amd_decode_source(amd_decoder *d, amd_operand *operand, unsigned code, amd_shape shape);
bool amd_decode_literal(amd_decoder *d);
/* An operand that the instruction has without a field for it, or whose width is no shape. */
void amd_decode_fixed(amd_decoder *d, amd_operand *operand, unsigned code, amd_kind kind, unsigned dwords);
/* VCC as a mask of the wave's width. */
void amd_decode_vcc(amd_decoder *d, amd_operand *operand);

/* The encodings; decode.c has checked that the bytes of the base encoding (4 or 8) are there. */
bool amd_decode_vop1(amd_decoder *d);
bool amd_decode_vop2(amd_decoder *d);
bool amd_decode_vopc(amd_decoder *d);
bool amd_decode_vop3(amd_decoder *d);
bool amd_decode_vop3p(amd_decoder *d);
bool amd_decode_matrix(amd_decoder *d); /* a VOP3P row with MAI */
bool amd_decode_vintrp(amd_decoder *d);
bool amd_decode_smem(amd_decoder *d);
bool amd_decode_ds(amd_decoder *d);
bool amd_decode_flat(amd_decoder *d);
bool amd_decode_mubuf(amd_decoder *d);
bool amd_decode_mtbuf(amd_decoder *d);
bool amd_decode_mimg(amd_decoder *d);
bool amd_decode_exp(amd_decoder *d);

/* Finds the row and fills what every instruction has. */
bool amd_decode_row(amd_decoder *d, amd_format format, unsigned opcode);

#endif
