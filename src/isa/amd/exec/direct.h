/* direct.h: a program in the form that the emulator runs. Every instruction is one entry: a function chosen for the
 * operation and for the kinds of its operands, and the places of these operands, worked out once. A run is a straight
 * piece of code. Its entries call each other, from the first to the last, without returning in between. Entries hold
 * for waves with all lanes active; where something is special (a NaN, another rounding) they use the instruction's
 * body, which is always right. Part of amd_program; changes nothing but the wave that runs. */
#ifndef ISA_AMD_EXEC_DIRECT_H
#define ISA_AMD_EXEC_DIRECT_H

#include "isa/amd/exec/wave.h"

#include <stddef.h>

typedef struct amd_direct amd_direct;
/* Executes the entry and those after it. Returns the entry that ended the run: the last one, or one that stopped the wave. */
typedef const amd_direct *(*amd_run)(amd_wave *wave, const amd_direct *entry);

/* Operands are byte offsets: of a vector register from wave->vgpr, of a scalar from the wave. A scalar's value is the
 * word there plus `k`; a constant is wave->zero plus itself. */
struct amd_direct {
    amd_run run;
    amd_body body;
    const amd_inst *inst;
    uint64_t next; /* simulated address after the instruction */
    uint32_t d, src[3];
    union {
        uint32_t k[4]; /* k[3]: offset of the mask that an instruction with a carry writes */
        uint64_t k64[2];
    };
};
_Static_assert(sizeof(amd_direct) == 64, "an entry is one line of the host's caches");

/* How a function ends: with the next entry, or with its own one by the body. Optimised builds jump there (a sibling call).
 * In others a function returns the next entry, and a loop goes on. */
#if defined(LANES_THREADED) && defined(__has_attribute)
#if __has_attribute(musttail)
#define DIRECT_JUMP __attribute__((musttail)) return
#endif
#endif
#ifndef DIRECT_JUMP
#define DIRECT_JUMP return
#endif
#if defined(LANES_THREADED)
#define DIRECT_NEXT(w, s) DIRECT_JUMP(s)[1].run((w), (s) + 1)
#else
#define DIRECT_NEXT(w, s) return (s) + 1
#endif
#define DIRECT_BODY(w, s) DIRECT_JUMP amd_direct_body((w), (s))

/* A run from this entry on. */
const amd_direct *amd_direct_run(amd_wave *wave, const amd_direct *entry);

/* Executes the entry by its body, then the entries after it: the way out of every special case. */
const amd_direct *amd_direct_body(amd_wave *wave, const amd_direct *entry);

/* Prepares a wave for a run: entries ask wave->host_env only. */
void amd_direct_sync_slow(amd_wave *wave);
static inline void amd_direct_sync(amd_wave *wave)
{
    if (__builtin_expect(wave->host_env == 0 || wave->host_env_mode != wave->mode, 0))
        amd_direct_sync_slow(wave);
}

/* --- building (direct.c) --- */

/* Sources with a minus sign or bars are first copied to rows of their own, the last ones of a wave's registers. */
#define AMD_DIRECT_ROWS 4
#define AMD_DIRECT_PARTS 5 /* entries of one instruction at most */

struct amd_program;

/* Fills program->direct and program->entry. False: no memory. */
bool amd_direct_build(struct amd_program *program);

/* The parts of it: each sets run, d, src and k if it has a function for the instruction. That of vector instructions may
 * write several entries and returns their number. */
bool amd_direct_salu(amd_target target, const amd_inst *inst, amd_direct *out);
bool amd_direct_branch(const amd_inst *inst, amd_direct *out);
unsigned amd_direct_valu(amd_target target, unsigned lanes, const amd_inst *inst, amd_direct *out);
bool amd_direct_memory(amd_target target, unsigned lanes, const amd_inst *inst, amd_direct *out);

static inline uint32_t amd_direct_sgpr(unsigned code)
{
    return (uint32_t)(offsetof(amd_wave, sgpr) + 4 * code);
}

#define DIRECT_WORD(w, offset) (*(const uint32_t *)(const void *)((const char *)(w) + (offset)))

#endif
