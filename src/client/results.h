/* results.h: results of a program when its process ends: the summary on standard error (report/summary.h) and the file of
 * LOCKSTEP_ROCPROF. */
#ifndef CLIENT_RESULTS_H
#define CLIENT_RESULTS_H

#include "client/settings.h"

/* Before the first command: begins to record commands if time is simulated and a setting needs them. */
ls_status client_results_begin(const client_settings *settings, ls_error *err);
/* When no command runs any more. A program without commands has no summary. */
ls_status client_results_end(ls_error *err);

#endif
