/* live.h: the program while it runs in simulated time: metrics over time (report/series.h) and the live page (src/monitor). */
#ifndef CLIENT_LIVE_H
#define CLIENT_LIVE_H

#include "commands/command_log.h"
#include "client/settings.h"

/* Whether a setting asks for it. */
bool client_live_is_wanted(const client_settings *settings);
/* Before the first command. The registry is complete, and the log begins with it. */
ls_status client_live_begin(const client_settings *settings, metric_store *metrics, command_log *log,
                            ls_error *err);
/* When no command runs any more: writes the file, and the page shows the end. */
ls_status client_live_end(ls_error *err);

#endif
