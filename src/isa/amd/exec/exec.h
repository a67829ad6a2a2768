/* exec.h: the variants of the vector bodies. Every variant gives the same bits; tests select each of them;
 * other code uses amd_exec_find() (wave.h), which takes the fastest that the host supports. */
#ifndef ISA_AMD_EXEC_EXEC_H
#define ISA_AMD_EXEC_EXEC_H

#include "isa/amd/exec/wave.h"

const char *amd_exec_variant(void); /* in use: "plain", "avx2", "avx512" */
/* The variants of this build, fastest first; NULL after the last. The host may not support all of them. */
const char *amd_exec_variant_name(size_t index);
/* From now on amd_exec_find() answers with that variant. False if the build or the host does not have it. */
bool amd_exec_use_variant(const char *name);

#endif
