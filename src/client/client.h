/* client.h: a library that unmodified programs load to reach the simulated GPUs: the OpenCL driver, or the HSA runtime
 * below HIP. The library starts one system that environment variables describe, and writes results when the process
 * ends. Both libraries do that here, in the same way. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "client/settings.h"

#include <stdatomic.h>

typedef struct client_state {
    const char *library;   /* before each line on standard error: "lockstep-opencl" */
    const char *interface; /* that the program calls: "OpenCL" */
    ls_gpu_system *system;
    ls_gpu_counts
        counts;      /* of all launches, if has_counts; the library adds to them, under a lock of its own */
    bool has_counts; /* for LOCKSTEP_METRICS or LOCKSTEP_SUMMARY */
    bool is_child;   /* of a fork after the start: files remain the parent's */
    bool is_strict;  /* programs are checked */
    atomic_bool has_finding; /* a launch failed */
    const char *metrics_path;
} client_state;

extern client_state client;

/* One line on standard error. */
void client_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Makes the system and begins to keep results. options: what the library wants beyond the settings; NULL: nothing. A
 * failure was told. */
ls_status client_begin(const client_settings *settings, const ls_gpu_options *options);
/* When no command runs any more: files, summary, findings. Ends the process if a strict check found something. */
void client_end(void);

#endif
