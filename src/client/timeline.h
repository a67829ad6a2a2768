/* timeline.h: the timeline of a program in simulated time (LOCKSTEP_TIMELINE), a file that is written when its
 * process ends. */
#ifndef CLIENT_TIMELINE_H
#define CLIENT_TIMELINE_H

#include "client/settings.h"

/* Before the first command; nothing without the setting. */
ls_status client_timeline_begin(const client_settings *settings, ls_error *err);
/* When no command runs any more: the whole file, or none. Filters that match nothing are told with `warn`. */
ls_status client_timeline_end(void (*warn)(const char *text), ls_error *err);

#endif
