/* fault.h: facts that only the driver knows about a program's fault: the source line and the nearest allocation. */
#ifndef RUNTIME_DRIVER_FAULT_H
#define RUNTIME_DRIVER_FAULT_H

#include "lockstep/fault.h"
#include "runtime/driver/backend.h"

/* Adds them to the sentence in err, which amd_fault_report() made. pc: simulated address of the instruction. Takes the
 * system's lock. err may be NULL. */
void drv_fault_explain(const drv_dispatch *dispatch, const ls_fault *fault, uint64_t pc, ls_error *err);

#endif
