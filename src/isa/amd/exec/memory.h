/* memory.h: memory instructions in three steps: addresses (amd_mem_address), the access itself
 * (amd_mem_perform), and the write to registers (amd_mem_writeback). A timing core separates the steps: it
 * sends the addresses of the first one and does the last one when the reply arrives. The emulator's bodies do
 * all three at once, with short cuts for common accesses. Touches the wave, its LDS and the simulated memory,
 * nothing else. */
#ifndef ISA_AMD_EXEC_MEMORY_H
#define ISA_AMD_EXEC_MEMORY_H

#include "base/address_space.h"
#include "isa/amd/exec/format.h"
#include "isa/amd/exec/wave.h"

/* --- the simulated memory as lanes see it --------------------------------------------------------------- */

/* One per host thread. Remembers the allocation that an instruction used last: it mostly uses the same one
 * again. */
#define AMD_MEMORY_SLOTS 64
typedef struct amd_memory {
    memory_space *address_space;
    address_space_view view;
    memory_extent last[2][AMD_MEMORY_SLOTS]; /* [0] for reading, [1] for writing; start == end: none */
} amd_memory;

/* Also clears cached addresses: call it once per launch. */
void amd_memory_init(amd_memory *memory, memory_space *address_space);

/* --- one access ----------------------------------------------------------------------------------------- */

typedef enum amd_access_kind {
    AMD_ACCESS_NONE, /* caches and counters only, or every lane is switched off */
    AMD_ACCESS_LOAD,
    AMD_ACCESS_STORE,
    AMD_ACCESS_ATOMIC,   /* data becomes the old value */
    AMD_ACCESS_EXCHANGE, /* between lanes, clocks: nothing is accessed, but registers get data */
} amd_access_kind;

typedef enum amd_access_space {
    AMD_SPACE_GLOBAL,
    AMD_SPACE_LDS,
    AMD_SPACE_SCRATCH, /* addresses of global memory, already interleaved: the dwords of a lane lie apart */
    AMD_SPACE_SCALAR,  /* one address for the wave */
    AMD_SPACE_FLAT,    /* by address: see in_lds; private memory is interleaved as above */
} amd_access_space;

typedef enum amd_atomic {
    AMD_ATOMIC_NONE,
#define ATOMIC(name, help) AMD_ATOMIC_##name,
#include "isa/amd/exec/memory_atomics.def"
#undef ATOMIC
    AMD_ATOMIC_COUNT
} amd_atomic;

/* A lane accesses `pieces` places of `piece_bytes` each: one for a load, two for ds_read2, several texels for
 * a linear sample, several dwords for scratch. data[lane] holds them one after another, each at a multiple of
 * 4 bytes. It holds the data of a store, the operand and then the comparand of an atomic, or the result of a
 * load. Scalar accesses are those of lane 0 with one piece. Only the lanes and pieces in use are ever set. */
#define AMD_PIECES_MAX 8
#define AMD_DATA_DWORDS 32
typedef struct amd_access {
    uint64_t lanes;  /* that access memory */
    uint64_t zero;   /* active lanes that are out of range: they read 0 and write nothing */
    uint64_t in_lds; /* of a FLAT access: lanes whose address is one of LDS */
    uint8_t kind;    /* amd_access_kind */
    uint8_t space;   /* amd_access_space */
    uint8_t pieces;
    uint8_t piece_bytes; /* 1, 2, 4, 8, 12, 16; scalar: also 32, 64, or less where a buffer ends */
    uint8_t atomic;      /* amd_atomic */
    bool returns;        /* registers get something */
    uint8_t select[4];   /* typed: which component each register gets: 0 zero, 1 one, 4 to 7 x to w */
    amd_texel texel;     /* typed: meaning of the bytes */
    uint8_t filter;      /* a sample's linear axes: bits x, y, z */
    uint8_t border;      /* a sample's border colour, as amd_sampler has it */
    uint64_t
        absent[AMD_PIECES_MAX]; /* lanes whose piece is not there (a texel outside of the image): it reads 0 */
    uint64_t address[AMD_PIECES_MAX][64];
    uint32_t data[64][AMD_DATA_DWORDS];
    float weight[3][64]; /* linear filters: how far between two texels, per axis */
} amd_access;

/* Step 1. Reads registers only (and descriptors in them). False: wave->fault and wave->stop are set. */
bool amd_mem_address(amd_wave *wave, const amd_inst *inst, amd_access *access);
/* Step 2 on flat memory. */
bool amd_mem_perform(amd_wave *wave, const amd_inst *inst, amd_access *access);
/* Step 3. */
void amd_mem_writeback(amd_wave *wave, const amd_inst *inst, const amd_access *access);

/* An atomic on memory that no other thread touches, aligned, of 4 or 8 bytes. data: the operand, then the
 * comparand; receives the old value. */
void amd_atomic_apply(uint8_t *place, uint32_t bytes, amd_atomic what, uint32_t data[4]);

/* Bytes that one active lane of the instruction moves (the wave for SMEM); 0 if it does not access memory. */
uint32_t amd_mem_bytes(const amd_inst *inst);
amd_access_kind amd_mem_kind(const amd_inst *inst);
/* True for a vector load whose registers are the dwords of memory as they are: no conversion, no LDS, no
 * status. */
bool amd_mem_plain(const amd_inst *inst);

/* --- LDS instructions as they are written --------------------------------------------------------------- */

/* One whose lanes have their addresses in a register: piece p of a lane is at the register's value +
 * offset[p]. */
typedef struct amd_lds_form {
    uint8_t kind;   /* amd_access_kind */
    uint8_t pieces; /* 1 or 2 */
    uint8_t bytes;  /* of a piece */
    bool whole;     /* a load or store of registers without conversion; the registers of the second piece
                     * follow those of the first */
    uint16_t address, data[2]; /* operand codes; data: the registers that a store writes */
    uint32_t offset[2];
} amd_lds_form;
/* False: it is no LDS instruction of that form. */
bool amd_mem_lds_form(const amd_inst *inst, amd_lds_form *out);

/* Bytes of LDS that the wave may use: GCN3 has a limit in M0 too. */
static inline uint32_t amd_mem_lds_bytes(const amd_wave *wave)
{
    uint32_t bytes = wave->group->lds_bytes;
    if (wave->target == AMD_GFX803 && wave->sgpr[AMD_M0] < bytes)
        bytes = wave->sgpr[AMD_M0];
    return bytes;
}

#endif
