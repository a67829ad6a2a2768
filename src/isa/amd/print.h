/* print.h: types and functions that the printer's files share. Private to this folder. */
#ifndef ISA_AMD_PRINT_H
#define ISA_AMD_PRINT_H

#include "isa/amd/tables.h"

/* Where the text goes. Counts on when the room is used up, as snprintf does. */
typedef struct amd_printer {
    char *out;
    size_t capacity, length;
    amd_target target;
    bool gfx10, gfx9;
    unsigned lanes;
    const amd_inst *inst;
    const amd_row *row;
    bool has_operand; /* the next one needs a comma */
} amd_printer;

void amd_put(amd_printer *p, const char *text);
void amd_putf(amd_printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begins the next operand: a space, or a comma. */
void amd_print_next(amd_printer *p);
void amd_print_register(amd_printer *p, unsigned code, unsigned dwords);
void amd_print_operand(amd_printer *p, const amd_operand *operand);
/* An integer as LLVM shows immediates: small ones in decimal, others in hexadecimal. */
void amd_print_immediate(amd_printer *p, int32_t value);

void amd_print_vop(amd_printer *p);
void amd_print_memory(amd_printer *p);
void amd_print_image(amd_printer *p);

/* Numbers that have names (print_names.c). */
/* The mnemonic on this target: a few operations have other names on gfx9. */
const char *amd_print_name(const amd_printer *p);
void amd_print_hwreg(amd_printer *p, unsigned simm16);
void amd_print_message(amd_printer *p, unsigned simm16);
void amd_print_waitcnt(amd_printer *p, unsigned simm16);
void amd_print_depctr(amd_printer *p, unsigned simm16);
void amd_print_gpr_index(amd_printer *p, unsigned mode);
void amd_print_buffer_format(amd_printer *p, unsigned format);
void amd_print_export_target(amd_printer *p, unsigned target);
void amd_print_dpp_control(amd_printer *p, unsigned control);
const char *amd_image_dim_name(unsigned dim);

#endif
