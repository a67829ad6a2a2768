/* run_signal.h: SIGINT, SIGTERM, SIGHUP and SIGUSR1 turned into the flags of a run. */
#ifndef CLI_RUN_SIGNAL_H
#define CLI_RUN_SIGNAL_H

#include "lockstep/engine.h"

/* From now on SIGINT, SIGTERM and SIGHUP set control->stop (the second one of a kind ends the process as it would
 * have without us), and SIGUSR1 sets control->dump. One run at a time. */
void run_signal_begin(ls_run_control *control);
/* Puts everything back as it was. */
void run_signal_end(void);

#endif
