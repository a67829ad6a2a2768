/* progress.h: one line on a terminal that says how far a run is, how fast, and when it will be done.
 *
 * It appears only on a terminal, only after a second (short runs stay quiet), at most ten times a second, and
 * is wiped away at the end. The clock is the caller's, so that a test can be it. */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include "lockstep/time.h"

#include <stdio.h>

typedef struct progress_state {
    ls_time now; /* simulated */
    uint64_t events;
    double fraction; /* done, 0 to 1; negative: the total is unknown */
    /* Work in pieces instead, "3 of 12 points"; total 0: not so. */
    uint64_t done, total;
    const char *unit;
} progress_state;

typedef struct progress_line {
    FILE *to;
    bool on;
    bool has_clock;
    ls_clock clock;   /* the clock whose cycles are counted; without it the rate is simulated time */
    unsigned columns; /* of the terminal */
    bool visible;     /* something stands on the line */
    uint64_t start_ns;
    uint64_t drawn_ns; /* when the line was last drawn */
    uint64_t seen_ns;  /* when the state was last looked at */
    progress_state seen;
    bool rated;                                /* the rates hold something */
    double fs_rate, event_rate, fraction_rate; /* per second, smoothed over some seconds */
} progress_line;

/* force: even if `to` is not a terminal. clock may be NULL. columns 0: the terminal's width, else 80. */
void progress_begin(progress_line *p, FILE *to, bool force, const ls_clock *clock, unsigned columns,
                    uint64_t now_ns);
void progress_update(progress_line *p, const progress_state *state, uint64_t now_ns);
/* Wipes the line; a later update draws it again. Call it before writing anything else to the terminal. */
void progress_clear(progress_line *p);

#endif
