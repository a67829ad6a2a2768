/* run_signal.c: the signal handlers, and the handlers before them. */
#include "cli/run_signal.h"

#include <signal.h>

static ls_run_control *_Atomic active; /* read by the handlers */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
static struct sigaction before[LS_COUNT_OF(signals)];

static void on_stop(int signal)
{
    ls_run_control *control = atomic_load(&active);
    (void)signal;
    if (control)
        atomic_store(&control->stop, 1);
}

static void on_dump(int signal)
{
    ls_run_control *control = atomic_load(&active);
    (void)signal;
    if (control)
        atomic_store(&control->dump, 1);
}

void run_signal_begin(ls_run_control *control)
{
    atomic_store(&active, control);
    for (size_t i = 0; i < LS_COUNT_OF(signals); i++) {
        /* Interrupted system calls go on: a signal must not look like a failed write. */
        struct sigaction action = { .sa_flags = SA_RESTART };
        sigemptyset(&action.sa_mask);
        if (signals[i] == SIGUSR1)
            action.sa_handler = on_dump;
        else {
            action.sa_handler = on_stop;
            action.sa_flags |= (int)SA_RESETHAND;
        }
        sigaction(signals[i], &action, &before[i]);
        /* nohup ignores the end of the terminal. */
        if (signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
            sigaction(SIGHUP, &before[i], NULL);
    }
}

void run_signal_end(void)
{
    for (size_t i = 0; i < LS_COUNT_OF(signals); i++)
        sigaction(signals[i], &before[i], NULL);
    atomic_store(&active, NULL);
}
