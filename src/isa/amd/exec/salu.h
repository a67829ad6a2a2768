/* salu.h: the scalar unit: SOP1, SOP2, SOPK, SOPC, SOPP, and the scalar operands that vector instructions
 * read too. */
#ifndef ISA_AMD_EXEC_SALU_H
#define ISA_AMD_EXEC_SALU_H

#include <stdatomic.h>
#include <stdint.h>

#include "isa/amd/exec/wave.h"

amd_body salu_find(amd_target target, const amd_inst *inst);
bool salu_has(amd_op op);

/* Inline constants, special registers and the literal: codes from AMD_INT_0 on. */
uint32_t salu_constant(const amd_wave *wave, const amd_inst *inst, unsigned code);

static inline uint32_t salu_read32(const amd_wave *wave, const amd_inst *inst, unsigned code)
{
    return code < AMD_INT_0 ? wave->sgpr[code] : salu_constant(wave, inst, code);
}

/* Inline constants are sign extended, a literal is not; 1.0 is the double. */
uint64_t salu_constant64(const amd_wave *wave, const amd_inst *inst, unsigned code);

static inline uint64_t salu_read64(const amd_wave *wave, const amd_inst *inst, unsigned code)
{
    if (code >= AMD_INT_0 || code == AMD_NULL)
        return salu_constant64(wave, inst, code);
    uint64_t value;
    memcpy(&value, &wave->sgpr[code], sizeof value);
    return value;
}

/* s_sendmsg that waves executed, of the whole process: a kernel that calls the host sends one. */
extern _Atomic uint64_t amd_message_count;

#endif
