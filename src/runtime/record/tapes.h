/* tapes.h: the work-groups of a recorded launch as compute units read them: opened when a work-group starts,
 * closed when it ends, so that memory is bounded by those in flight. Called from any thread. */
#ifndef RUNTIME_RECORD_TAPES_H
#define RUNTIME_RECORD_TAPES_H

#include "model/cu/cu_api.h"
#include "workload/pack/amd_file.h"

typedef struct tapes tapes;

/* File and program are borrowed. */
ls_status tapes_create(amd_file *file, size_t launch, const amd_program *program, tapes **out, ls_error *err);
/* Open work-groups must not be used after this. */
void tapes_destroy(tapes *t);
/* For ls_cu_kernel.tapes; valid as long as t. */
const cu_tapes *tapes_of(tapes *t);
/* The first thing that went wrong in a work-group that could not be opened, or LS_OK. */
ls_status tapes_status(tapes *t, ls_error *err);

#endif
