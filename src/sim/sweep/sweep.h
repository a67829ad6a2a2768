/* sweep.h: a grid of configurations over some traces: sweep.c prepares it, sweep_run.c and
 * farm.c run it, columns.c reads its metrics back, render.c prints it. */
#ifndef SIM_SWEEP_SWEEP_H
#define SIM_SWEEP_SWEEP_H

#include "base/text.h"
#include "base/vec.h"
#include "sim/sweep/grid.h"
#include "report/points.h"

#include <stdio.h>

/* Metrics of the runs: a column for each that a pattern names. */
typedef struct sweep_columns {
    LS_VEC(const char *) names; /* "core/cycle.ipc" */
    double *values; /* of point p, column c: [p * names.count + c]; NaN: its run does not have it */
} sweep_columns;

/* Point p of trace t is points[t * grid.points + p]. */
typedef struct sweep {
    sweep_grid grid;
    const char *platform;
    size_t assumptions; /* values of the platform that no source gives */
    const char *const *traces;
    size_t trace_count;
    sweep_point *points;
    size_t point_count;
    sweep_columns columns;
} sweep;

/* Fills s->columns from the runs of the database. A pattern that no run has is refused with the nearest name. */
ls_status sweep_read_columns(sweep *s, mem_arena *arena, const char *database, const char *const *patterns,
                             size_t pattern_count, ls_error *err);

/* Orders of a trace's points, fastest first; those without a result are left out. Returns how many. */
size_t sweep_rank(const sweep *s, size_t trace, size_t *order);

/* The ranking, at most `top` lines of it (0: all). */
void sweep_render(const sweep *s, size_t top, FILE *to);
void sweep_render_csv(const sweep *s, FILE *to);
void sweep_render_html(const sweep *s, FILE *to);

#endif
