/* memory.h: memory instructions in three steps: where (amd_mem_address), what happens there (amd_mem_perform) and what
 * registers get (amd_mem_writeback). A timing core takes the steps apart: it sends what the first one says and
 * does the last one when the reply is there. The emulator's bodies do all three at once, with short cuts for
 * the accesses that programs are made of. Touches the wave, its LDS and the simulated memory, nothing else. */
#ifndef ISA_AMD_EXEC_MEMORY_H
#define ISA_AMD_EXEC_MEMORY_H

#include "base/window.h"
#include "isa/amd/exec/wave.h"

/* --- the simulated memory as lanes see it ---------------------------------------------------------------- */

/* One per host thread. Remembers the allocation that was used last: most accesses of a wave lie in one. */
typedef struct amd_memory {
    ls_window *window;
    ls_window_view view;
    ls_extent last[2]; /* [0] the latest found for reading, [1] for writing; start == end: none */
} amd_memory;

/* Also forgets what was remembered: call it once per launch. */
void amd_memory_init(amd_memory *memory, ls_window *window);

/* --- one access ------------------------------------------------------------------------------------------ */

typedef enum amd_access_kind {
    AMD_ACCESS_NONE, /* caches and counters only, or every lane is switched off */
    AMD_ACCESS_LOAD,
    AMD_ACCESS_STORE,
    AMD_ACCESS_ATOMIC,    /* data returns the old value if inst asks for it (glc, _rtn) */
    AMD_ACCESS_EXCHANGE,  /* between lanes: ds_swizzle, ds_permute; no memory is touched */
} amd_access_kind;

typedef enum amd_access_space {
    AMD_SPACE_GLOBAL,
    AMD_SPACE_LDS,
    AMD_SPACE_GDS,
    AMD_SPACE_SCRATCH, /* addresses are those of global memory, already interleaved; the dwords of a lane lie apart */
    AMD_SPACE_SCALAR,  /* one address for the wave: piece 0, lane 0 */
    AMD_SPACE_FLAT,    /* GLOBAL, LDS and SCRATCH mixed: lanes with bit set in in_lds, in_scratch */
} amd_access_space;

typedef enum amd_atomic {
    AMD_ATOMIC_NONE,
#define ATOMIC(name, help) AMD_ATOMIC_##name,
#include "isa/amd/exec/memory_atomics.def"
#undef ATOMIC
    AMD_ATOMIC_COUNT
} amd_atomic;

/* A lane accesses `pieces` places of `piece_bytes` each: one for a load, two for ds_read2, several texels for a
 * linear sample, several dwords for scratch. data[lane] holds them one after another, each from a multiple of
 * 4 bytes on: what a store writes (and atomics: operand, then comparand), or what a load got. */
#define AMD_PIECES_MAX 8
#define AMD_DATA_DWORDS 16
typedef struct amd_access {
    uint64_t lanes;      /* lanes that access memory */
    uint64_t zero;       /* active lanes out of range: read 0, write nothing */
    uint64_t in_lds;     /* of a FLAT access */
    uint64_t in_scratch; /* of a FLAT access */
    uint8_t kind;        /* amd_access_kind */
    uint8_t space;       /* amd_access_space */
    uint8_t pieces;
    uint8_t piece_bytes; /* 1, 2, 4, 8, 12, 16 */
    uint8_t atomic;      /* amd_atomic */
    uint8_t data_dwords; /* of a lane, in registers: what comes in from or goes to them */
    bool returns;        /* registers get something */
    bool scalar;         /* the data goes to SGPRs */
    uint16_t scalar_dwords; /* of a scalar load: up to 16, all in data[0] */
    uint64_t address[AMD_PIECES_MAX][64];
    uint8_t present[AMD_PIECES_MAX][8]; /* bit per lane: pieces of an image outside of it are not accessed */
    uint32_t data[64][AMD_DATA_DWORDS * 2];
    float weight[3][64]; /* linear filters: how far between two texels, per axis */
} amd_access;

/* Step 1. Reads registers only (and descriptors in them). False: wave->fault and wave->stop are set. */
bool amd_mem_address(amd_wave *wave, const amd_inst *inst, amd_access *access);
/* Step 2 on flat memory. */
bool amd_mem_perform(amd_wave *wave, const amd_inst *inst, amd_access *access);
/* Step 3. */
void amd_mem_writeback(amd_wave *wave, const amd_inst *inst, const amd_access *access);

/* Bytes that one active lane of the instruction moves (the wave for SMEM); 0 if it does not access memory. */
uint32_t amd_mem_bytes(const amd_inst *inst);
amd_access_kind amd_mem_kind(const amd_inst *inst);

#endif
