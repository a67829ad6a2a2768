/* monitor.h: a page on loopback that shows a run while it goes on, and controls it.
 *
 * The server has a thread of its own. It never touches the simulation: the thread that plans windows writes snapshots as
 * JSON, and takes commands, when it calls monitor_tick(). It writes none while nobody looks. docs/monitor.md describes page
 * and addresses.
 *
 * Only programs of this host reach the server. Requests for another host name or from a page of another origin are refused;
 * commands need the token that the run was started with. */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include "base/json.h"
#include "lockstep/engine.h"

typedef struct monitor monitor;

typedef struct monitor_options {
    uint16_t port;     /* 0: any that is free */
    const char *token; /* commands need it; NULL: there are none */
    void *self;
    /* Members of the snapshot's object that only the run knows. On the thread of monitor_tick(). */
    void (*describe)(void *self, json_writer *j);
    void (*stop)(void *self);      /* ends the run at the next window, with partial results */
    const ls_run_control *control; /* its stop flag also ends a pause; may be NULL */
    ls_engine *engine;             /* NULL: nothing about links and waiters */
    bool is_sweep;                 /* the page of a sweep, not of a run */
} monitor_options;

/* Refuses a port that is taken, naming it. */
ls_status monitor_start(const monitor_options *options, monitor **out, ls_error *err);
/* The last snapshot, with this word for the state, stays until monitor_close(): "done", "failed". */
void monitor_end(monitor *m, const char *state);
void monitor_close(monitor *m); /* NULL is fine */

/* After monitor_end(): waits for a moment if somebody looks, so that the page shows the end before the server is gone. */
void monitor_linger(monitor *m);

uint16_t monitor_port(const monitor *m);
/* For ls_run_options: a step ends at an exact time. */
ls_run_sampler *monitor_sampler(monitor *m);
/* Some times a second, while no domain runs. It returns when the run may go on: a pause lasts here. */
void monitor_tick(monitor *m, const ls_run_progress *now);

/* --- monitor_setup.c: words of the user --- */

#define MONITOR_TOKEN_BYTES 40
#define MONITOR_URL_BYTES 160
ls_status monitor_parse_port(const char *text, uint16_t *out, ls_error *err);
/* NULL stays NULL; "auto" becomes a word in `room` that nobody can guess. */
ls_status monitor_choose_token(const char *wanted, char room[MONITOR_TOKEN_BYTES], const char **out,
                               ls_error *err);
const char *monitor_url(const monitor *m, const char *token, char *out, size_t bytes);

#endif
