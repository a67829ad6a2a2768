/* limits.h: limits of kernel descriptors, of launches, and of the registers that a kernel's instructions may
 * name. All are checked before a wave starts, with one exception. An instruction that names a register outside
 * of the allocation faults when it is reached. Emulation and timing use the same rules. */
#ifndef ISA_AMD_EXEC_LIMITS_H
#define ISA_AMD_EXEC_LIMITS_H

#include "isa/amd/exec/program.h"

/* Private memory of one wave in bytes: WAVESIZE of the scratch ring counts 256 dwords in 13 bits. */
#define AMD_SCRATCH_WAVE_MAX (8191u * 1024u)
#define AMD_VGPRS_MAX 256u
#define AMD_GFX9_VGPRS_MAX 512u   /* with the AGPRs */
#define AMD_GFX803_SGPRS_MAX 112u /* 102 that can be named, VCC, FLAT_SCRATCH and XNACK_MASK, in eights */
#define AMD_USER_SGPRS_MAX 16u

/* Registers that the hardware allocates to a wave. VGPRs: the descriptor's number, in whole granules of the
 * allocation (on gfx1030 a granule is twice the field's unit). SGPRs: gfx9 and gfx10 give every wave all of
 * them. */
unsigned amd_limits_vgprs(const amd_kernel *kernel, unsigned lanes);
/* Of `vgprs` registers, those before the first AGPR: all of them if the target has none. */
unsigned amd_limits_first_agpr(const amd_kernel *kernel, unsigned vgprs);
unsigned amd_limits_sgprs(const amd_kernel *kernel);
/* User SGPRs that the kernel's properties fill, from s0 on. */
unsigned amd_limits_user_sgprs(const amd_kernel *kernel);

/* LS_ERR_INPUT names the kernel, the quantity and the largest value. */
ls_status amd_limits_kernel(const amd_kernel *kernel, unsigned lanes, ls_error *err);

/* Checks a launch: no size is 0, and its work-groups and their LDS fit. */
ls_status amd_limits_launch(const amd_program *program, const uint32_t grid[3], const uint32_t group[3],
                            uint64_t lds_bytes, ls_error *err);

/* The operand code of the first register that the instruction names but the wave does not have. False if the
 * wave has all of them. */
bool amd_limits_stray(const amd_program *program, const amd_inst *inst, unsigned *code);
/* The body of an instruction with a stray register: it faults. */
void amd_limits_body(amd_wave *wave, const amd_inst *inst);

#endif
