/* hazard_impl.h: shared by hazard.c and hazard_matrix.c. */
#ifndef RUNTIME_STRICT_HAZARD_IMPL_H
#define RUNTIME_STRICT_HAZARD_IMPL_H

#include "runtime/strict/hazard.h"

#define HAZARD_USES 5
#define HAZARD_MATRIX_MAX 19 /* wait states after a matrix or dot instruction */

bool hazard_is_valu(const amd_inst *inst);
bool hazard_is_memory(const amd_inst *inst); /* buffers, images, flat, global, scratch; not LDS */
bool hazard_overlaps(const amd_operand *operand, unsigned code, unsigned dwords);
bool hazard_writes(const amd_inst *inst, unsigned code, unsigned dwords);
/* The registers that it reads; returns how many. */
unsigned hazard_uses(amd_target target, const amd_inst *inst, const amd_operand *uses[HAZARD_USES]);

/* The instruction `steps` before the present one, 0 being the last; NULL if there are `limit` wait states or more
 * between them. */
const hazard_past *hazard_back(const hazard_wave *wave, unsigned steps, unsigned limit, unsigned *have);
/* Always false. */
bool hazard_found(hazard_finding *out, const hazard_past *after, unsigned need, unsigned have, unsigned code,
                  const char *rule);

/* --- hazard_matrix.c --- */

/* A matrix instruction or a dot product: the rules below may concern those that follow. */
bool hazard_matrix_is(const amd_inst *inst);
bool hazard_matrix_check(const hazard_wave *wave, amd_target target, const amd_inst *inst,
                         const amd_operand *const *uses, unsigned count, hazard_finding *out);
/* A matrix instruction after an ordinary VALU one. */
bool hazard_matrix_first(const hazard_wave *wave, const amd_inst *inst, const amd_operand *const *uses,
                         unsigned count, hazard_finding *out);

#endif
