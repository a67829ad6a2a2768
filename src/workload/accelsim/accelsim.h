/* accelsim.h: traces of Accel-Sim: kernelslist.g and the kernel files beside it. A simulation reads through
 * workload/trace.h. This header offers a second reader, which continues after defects and lists them all. */
#ifndef ACCELSIM_ACCELSIM_H
#define ACCELSIM_ACCELSIM_H

#include "workload/accelsim/report.h"
#include "workload/trace.h"

typedef struct acc_totals {
    uint64_t kernels; /* in the list */
    uint64_t read;    /* of them, to their end */
    uint64_t blocks, warp_insts;
} acc_totals;

/* Reads the whole trace. LS_OK however many defects there are; other statuses mean that it could not be
 * looked at (no such directory, no memory). */
ls_status acc_check(const char *path, acc_report *report, acc_totals *totals, ls_error *err);

/* A kernel from text in memory: for tests. `data` must stay until the kernel is closed. */
ls_status acc_open_memory(const char *name, const void *data, size_t bytes, const trace_options *options,
                          acc_report *report, trace_kernel **out, ls_error *err);

#endif
