/* wave.h: the architectural state of one wavefront and of its work-group, and how one instruction acts on it.
 * The emulator and the timing core both hold these; neither the state nor the bodies depend on the caller. */
#ifndef ISA_AMD_EXEC_WAVE_H
#define ISA_AMD_EXEC_WAVE_H

#include "isa/amd/amd.h"
#include "lockstep/fault.h"

#include <string.h>

struct amd_group;
struct amd_gws;
struct amd_memory; /* exec/memory.h: the simulated memory as lanes see it */

typedef enum amd_stop {
    AMD_RUNNING,
    AMD_AT_BARRIER,
    AMD_AT_GRID_BARRIER, /* in a timing model: ds_gws_barrier */
    AMD_ENDED,
    AMD_FAULTED, /* amd_wave.fault says why */
} amd_stop;

/* One wavefront. A lane's registers lie apart: VGPR r of lane l is vgpr[r * lanes + l], so that a body walks
 * adjacent words. Scalars are indexed by operand code: sgpr[AMD_VCC_LO], sgpr[AMD_M0], sgpr[AMD_EXEC_LO]. */
typedef struct amd_wave {
    uint32_t sgpr[128]; /* [AMD_NULL] stays 0: bodies may write it, the caller need not check */
    uint32_t *vgpr;     /* 64-byte aligned, [vgpr_count][lanes] */
    uint64_t pc;        /* byte address of the next instruction; a body that jumps sets it */
    uint32_t scc;       /* 0 or 1 */
    uint32_t mode;      /* MODE: [3:0] rounding, [7:4] denormals, 8 dx10_clamp, 9 ieee, ... */
    uint32_t trapsts;
    uint16_t vgpr_count;
    uint8_t lanes;        /* 32 or 64 */
    uint8_t target;       /* amd_target */
    uint8_t stop;         /* amd_stop */
    uint8_t index;        /* within the work-group */
    uint8_t gpr_idx_mode; /* s_set_gpr_idx_on */
    uint8_t wait_sleep;   /* the last s_sleep's argument, for a timing model */
    /* How the host's floating point differs from its usual state after the bodies of this wave: a body sets what it
     * needs, and the next that needs the same sets nothing. 0: as usual. */
    uint16_t host_float;
    /* Bit e: that state fits lanes_env e while MODE is host_env_mode. 0: not worked out (exec/direct.h). */
    uint8_t host_env;
    uint32_t host_env_mode;
    uint64_t zero; /* always 0, and a place for results that nobody reads: operands of direct entries */
    uint64_t unread;
    uint64_t time; /* value of s_memtime and s_memrealtime; its runner must keep it rising */
    struct amd_group *group;
    ls_fault fault;
} amd_wave;

/* State that the waves of a work-group share. */
typedef struct amd_group {
    uint8_t *lds; /* 64-byte aligned; 4 bytes past its end must be readable */
    uint32_t lds_bytes;
    uint32_t id[3];
    struct amd_memory *memory;
    /* Flat addresses: the upper 32 bits select LDS or scratch (HSA's apertures). */
    uint64_t shared_base, private_base;
    /* Private memory. Wave w has lanes * scratch_bytes bytes at scratch + w * lanes * scratch_bytes. Its lanes
     * are interleaved by dwords: byte b of lane l is at (b & ~3) * lanes + 4 * l + (b & 3). Flat and scratch
     * instructions see that layout; the buffer resource that a wave starts with describes the same. */
    uint64_t scratch;
    uint32_t scratch_bytes; /* per lane */
    struct amd_gws *gws;    /* of a cooperative launch (exec/gws.h); NULL: none */
} amd_group;

static inline uint64_t amd_wave_exec(const amd_wave *wave)
{
    uint64_t exec;
    memcpy(&exec, &wave->sgpr[AMD_EXEC_LO], sizeof exec);
    return wave->lanes == 32 ? (uint32_t)exec : exec;
}

/* A body. Executes one instruction: reads and writes the wave, its LDS and memory. wave->pc is already
 * the address after the instruction. Sets wave->stop to end, wait or fault. May leave the host's floating point in another
 * state: before code that does not belong to this wave, its runner calls amd_wave_rest(). */
typedef void (*amd_body)(amd_wave *wave, const amd_inst *inst);

/* The body for an instruction on this host (AVX-512, AVX2 or plain), or NULL if there is none. No other
 * function decides which instructions can be executed. Looked up once per static instruction. */
amd_body amd_exec_find(amd_target target, unsigned lanes, const amd_inst *inst);
/* The part of it for memory instructions (SMEM, DS, MUBUF, MTBUF, MIMG, FLAT, GLOBAL, SCRATCH); see
 * exec/memory.h. */
amd_body amd_exec_find_memory(amd_target target, unsigned lanes, const amd_inst *inst);
/* Brings the host's floating point back to its usual state. */
void amd_exec_rest(amd_wave *wave);
static inline void amd_wave_rest(amd_wave *wave)
{
    if (__builtin_expect(wave->host_float != 0, 0))
        amd_exec_rest(wave);
}
/* True if the operation has a body on this target in some encoding: for the coverage list. */
bool amd_exec_has(amd_target target, amd_op op);

#endif
