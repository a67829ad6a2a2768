/* timeline.h: the timeline of an OpenCL program in simulated time (LOCKSTEP_TIMELINE), a file that is written when its
 * process ends. */
#ifndef OPENCL_TIMELINE_H
#define OPENCL_TIMELINE_H

#include "opencl/settings.h"

/* Before the first command; nothing without the setting. */
ls_status ocl_timeline_begin(const ocl_settings *settings, ls_error *err);
/* When no command runs any more: the whole file, or none. Filters that match nothing are told with `warn`. */
ls_status ocl_timeline_end(void (*warn)(const char *text), ls_error *err);

#endif
