/* live.h: the program while it runs in simulated time: metrics over time (report/series.h) and the live page (src/monitor). */
#ifndef OPENCL_LIVE_H
#define OPENCL_LIVE_H

#include "commands/command_log.h"
#include "opencl/settings.h"

/* Whether a setting asks for it. */
bool ocl_live_is_wanted(const ocl_settings *settings);
/* Before the first command. The registry is complete, and the log begins with it. */
ls_status ocl_live_begin(const ocl_settings *settings, metric_store *metrics, command_log *log, ls_error *err);
/* When no command runs any more: writes the file, and the page shows the end. */
ls_status ocl_live_end(ls_error *err);

#endif
