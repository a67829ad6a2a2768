/* limits.h: what a kernel's descriptor may ask for, what a launch may look like, and which registers the
 * instructions of a kernel may name. Everything here is decided before a wave starts, except the fault of an
 * instruction that names a register outside of the allocation: it comes when the instruction is reached. The
 * same for emulation and timing. */
#ifndef ISA_AMD_EXEC_LIMITS_H
#define ISA_AMD_EXEC_LIMITS_H

#include "isa/amd/exec/program.h"

/* Private memory of one wave in bytes: WAVESIZE of the scratch ring counts 256 dwords in 13 bits. */
#define AMD_SCRATCH_WAVE_MAX (8191u * 1024u)
#define AMD_VGPRS_MAX 256u
#define AMD_GFX803_SGPRS_MAX 112u /* 102 that can be named, VCC, FLAT_SCRATCH and XNACK_MASK, in eights */
#define AMD_USER_SGPRS_MAX 16u

/* Registers of a wave as the hardware gives them out. VGPRs: what the descriptor says, in whole granules of the
 * allocation (gfx1030 allocates twice what the field counts in). SGPRs: gfx10 gives every wave all of them. */
unsigned amd_limits_vgprs(const amd_kernel *kernel, unsigned lanes);
unsigned amd_limits_sgprs(const amd_kernel *kernel);
/* User SGPRs that the kernel's properties fill, from s0 on. */
unsigned amd_limits_user_sgprs(const amd_kernel *kernel);

/* LS_ERR_INPUT names the kernel, the quantity and the largest value. */
ls_status amd_limits_kernel(const amd_kernel *kernel, unsigned lanes, ls_error *err);

/* A launch: none of its sizes is 0, its work-groups fit, and so does their LDS. */
ls_status amd_limits_launch(const amd_program *program, const uint32_t grid[3], const uint32_t group[3],
                            uint64_t lds_bytes, ls_error *err);

/* The first register that the instruction names and the wave has not got, as an operand code; false: all of
 * them are there. */
bool amd_limits_stray(const amd_program *program, const amd_inst *inst, unsigned *code);
/* The body of an instruction with a stray register: it faults. */
void amd_limits_body(amd_wave *wave, const amd_inst *inst);

#endif
