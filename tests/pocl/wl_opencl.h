/* wl_opencl.h: runs a workload on PoCL. */
#ifndef POCL_WL_OPENCL_H
#define POCL_WL_OPENCL_H

#include "ocl.h"
#include "workloads/workload.h"

/* Runs w with its kernels from directory/NAME/NAME.cl and compares with its reference; values are those of
 * its options, in order. *compared: how many elements it looked at. */
ls_status wl_opencl_run(const wl_workload *w, const char *directory, ocl_device *device,
                        const uint64_t *values, uint64_t *compared, ls_error *err);

#endif
