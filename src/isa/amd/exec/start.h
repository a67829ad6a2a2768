/* start.h: the state in which the waves of a work-group begin: registers that the command processor and
 * the dispatcher fill by the kernel's descriptor, exec, MODE. The same for emulation and timing. Touches
 * the wave it is given. */
#ifndef ISA_AMD_EXEC_START_H
#define ISA_AMD_EXEC_START_H

#include "isa/amd/exec/direct.h"
#include "isa/amd/exec/program.h"

/* Rows beyond register 255: a wide load at the last register would reach them; then those of direct lists. On gfx9 the
 * accumulation registers follow v255, wherever the descriptor lets them begin in the hardware's file. */
#define AMD_VGPR_ROWS (256 + 32 + AMD_DIRECT_ROWS)
#define AMD_VGPR_ROWS_GFX9 (512 + 32 + AMD_DIRECT_ROWS)
#define AMD_LDS_UNIT 512u /* LDS is allocated in multiples of this, and programs see all of it */
#define AMD_LDS_MAX 65536u
#define AMD_GROUP_MAX 1024u /* work-items of a work-group */
#define AMD_WAVES_MAX 32    /* of a work-group */

/* The upper halves of the flat addresses of LDS and private memory: hidden arguments of code objects v5
 * need them. */
#define AMD_SHARED_BASE_HI 0x00010000u
#define AMD_PRIVATE_BASE_HI 0x00020000u

/* One launch, as its waves see it. */
typedef struct amd_start {
    const amd_program *program;
    uint32_t grid[3], group[3];                   /* work-items */
    uint64_t kernarg, packet, queue, dispatch_id; /* simulated addresses; the number of the dispatch */
} amd_start;

/* Rows of registers that waves of this target need room for. */
static inline size_t amd_start_rows(amd_target target)
{
    return amd_target_is_gfx9(target) ? AMD_VGPR_ROWS_GFX9 : AMD_VGPR_ROWS;
}

/* How many work-items a work-group has along each axis (fewer at the end of the grid); returns its waves. */
uint32_t amd_start_size(const amd_start *start, const uint32_t id[3], uint32_t size[3]);

/* Wave `index` of `wave_count` begins. Its numbers and addresses come from its group. `vgpr` has room for
 * amd_start_rows() * lanes registers. The kernel's registers are cleared: a program that reads one before it
 * writes it always reads 0. */
void amd_wave_start(const amd_start *start, amd_group *group, const uint32_t size[3], uint32_t wave_count,
                    uint32_t index, uint32_t *vgpr, amd_wave *wave);

/* Clears registers or LDS: a multiple of 16 words at a 64-byte aligned address. */
void amd_start_clear(uint32_t *registers, size_t count);

#endif
