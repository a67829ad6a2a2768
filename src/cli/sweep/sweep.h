/* sweep.h: a grid of configurations over some traces: what cmd_sweep.c prepares, farm.c runs and tell.c
 * shows. */
#ifndef CLI_SWEEP_SWEEP_H
#define CLI_SWEEP_SWEEP_H

#include "cli/cli.h"
#include "cli/sweep/grid.h"
#include "report/points.h"

/* Point p of trace t is points[t * grid.points + p]. */
typedef struct sweep {
    sweep_grid grid;
    const char *platform;
    const char *const *traces;
    size_t trace_count;
    ls_point *points;
    size_t point_count;
} sweep;

/* Orders of a trace's points, fastest first; those without a result are left out. Returns how many. */
size_t sweep_rank(const sweep *s, size_t trace, size_t *order);

/* The ranking, at most `top` lines of it (0: all). */
void sweep_tell(const sweep *s, size_t top, FILE *to);
void sweep_tell_csv(const sweep *s, FILE *to);
void sweep_tell_html(const sweep *s, FILE *to);

#endif
