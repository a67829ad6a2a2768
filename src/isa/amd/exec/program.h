/* program.h: the code of a kernel, decoded once. The emulator walks it, a compute unit issues it. Immutable
 * after creation, so threads share it. Creation reads the simulated memory; nothing else does. */
#ifndef ISA_AMD_EXEC_PROGRAM_H
#define ISA_AMD_EXEC_PROGRAM_H

#include "base/address_space.h"
#include "isa/amd/exec/wave.h"

/* A kernel as the loader found it. The words are those of the 64-byte kernel descriptor. */
typedef struct amd_kernel {
    const char *name; /* for messages; copied */
    amd_target target;
    uint64_t code; /* simulated address of the section that holds the code; it must be mapped */
    uint64_t code_bytes;
    uint64_t entry; /* simulated address of the first instruction */
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties;    /* kernel code properties: which user SGPRs, wave32 */
    uint32_t lds_bytes;     /* static */
    uint32_t scratch_bytes; /* per lane */
    uint32_t kernarg_bytes;
} amd_kernel;

/* One per instruction, in the order of addresses: straight code is walked without looking anything up. */
typedef struct amd_step {
    amd_body body;
    const amd_inst *inst;
    uint64_t next; /* simulated address after it */
    /* Control flow, EXEC or the time may change here, so a run of steps ends. After a step without this mark,
     * the next step is the instruction at `next`. */
    uint64_t last;
} amd_step;

typedef struct amd_program {
    char *name;
    amd_kernel kernel;     /* kernel.name is `name` */
    unsigned lanes;        /* 32 or 64 */
    unsigned vgprs;        /* per lane, as allocated; on gfx9 VGPRs and AGPRs together */
    unsigned accumulation; /* gfx9: how many of them are AGPRs */
    uint64_t base;         /* simulated address of the first instruction */
    uint64_t word_count;   /* dwords from base on */
    uint32_t *place;       /* [word_count]: the step that begins there; 0: none */
    amd_step *ops;         /* [op_count + 1]; [0] is none */
    uint32_t op_count;
    struct amd_direct *direct; /* the same for the emulator (exec/direct.h) */
    uint32_t *entry;           /* [op_count + 1]: where a step begins in it */
    amd_inst *insts;
    uint8_t *code; /* a copy of the code section */
    bool uses_gws; /* it has barriers over all work-groups (exec/gws.h) */
} amd_program;

/* Decodes everything that can be reached from the entry. LS_ERR_UNSUPPORTED names pc, bytes and mnemonic
 * of the first instruction without semantics. */
ls_status amd_program_create(const amd_kernel *kernel, const memory_space *address_space, amd_program **out,
                             ls_error *err);
/* The same, of code whose bytes lie at another address of the space than programs see: in a frame. */
ls_status amd_program_create_at(const amd_kernel *kernel, const memory_space *address_space, uint64_t bytes_at,
                                amd_program **out, ls_error *err);
void amd_program_destroy(amd_program *program);

/* The number of the step that begins at a simulated address, or 0. */
static inline uint32_t amd_program_place(const amd_program *program, uint64_t pc)
{
    uint64_t offset = pc - program->base;
    uint64_t word = offset >> 2 | offset << 62; /* an odd pc is far outside */
    return word < program->word_count ? program->place[word] : 0;
}

/* Writes a pc as it is shown everywhere: "fir+0x40", or "0x100001040" outside of the code from the entry on. Returns out. */
const char *amd_program_pc(const amd_program *program, uint64_t pc, char *out, size_t capacity);

/* The instruction that begins at a simulated address, or NULL. */
const amd_inst *amd_program_at(const amd_program *program, uint64_t pc);

#endif
