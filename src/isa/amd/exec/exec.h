/* exec.h: the variants of the vector bodies. Every variant gives the same bits; tests ask for each, others
 * take what amd_exec_find() (wave.h) chooses: the fastest that the host has. */
#ifndef ISA_AMD_EXEC_EXEC_H
#define ISA_AMD_EXEC_EXEC_H

#include "isa/amd/exec/wave.h"

const char *amd_exec_variant(void); /* in use: "plain", "avx2", "avx512" */
/* The variants of this build, fastest first; NULL behind the last. The host may lack some. */
const char *amd_exec_variant_name(size_t index);
/* From now on amd_exec_find() answers with that variant. False if the build or the host does not have it. */
bool amd_exec_use_variant(const char *name);

#endif
