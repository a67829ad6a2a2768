/* strict.h: finds errors of programs that hardware hides. These are accesses outside of every live allocation,
 * values that depend on unwritten registers or memory, races between waves, and missing wait states. It checks an emulation, one
 * instruction at a time, with a shadow of registers and memory beside the real ones. The emulator's own loop
 * is unchanged. docs/driver.md has the rules. One launch at a time. */
#ifndef RUNTIME_STRICT_STRICT_H
#define RUNTIME_STRICT_STRICT_H

#include "base/address_space.h"
#include "isa/amd/exec/start.h"

typedef struct strict strict;

/* The address space is borrowed. */
ls_status strict_create(const memory_space *address_space, strict **out, ls_error *err);
void strict_destroy(strict *s); /* NULL is fine */

/* --- memory, as the host sees it ------------------------------------------------------------------------- */

/* [address, address + bytes) is an allocation from now on; its bytes are undefined. An allocation that begins at the
 * same address is replaced. */
ls_status strict_alloc(strict *s, uint64_t address, uint64_t bytes, ls_error *err);
void strict_free(strict *s, uint64_t address);
/* The host wrote it, or copied it. */
ls_status strict_define(strict *s, uint64_t address, uint64_t bytes, ls_error *err);
ls_status strict_copy(strict *s, uint64_t to, uint64_t from, uint64_t bytes, ls_error *err);

/* --- a launch --------------------------------------------------------------------------------------------- */

typedef struct strict_launch {
    const amd_program *program;
    uint32_t lds_bytes;     /* static and dynamic, exactly */
    uint64_t scratch;       /* private memory of the first wave of the work-group that runs */
    uint64_t scratch_bytes; /* of all waves that can run at once */
} strict_launch;

/* The lock is held between these two calls: memory commands of the host wait. */
void strict_begin(strict *s, const strict_launch *launch);
void strict_end(strict *s);

/* A work-group starts; group_number counts in the order of the grid. */
void strict_group(strict *s, const amd_wave *waves, uint32_t count, uint64_t group_number);
/* All of its waves pass a barrier. */
void strict_barrier(strict *s);
/* Before an instruction: false if the program must not execute it, and strict_why() is the reason. */
bool strict_step(strict *s, const amd_wave *wave, const amd_inst *inst, uint32_t op, uint64_t pc);
const char *strict_why(const strict *s);

#endif
