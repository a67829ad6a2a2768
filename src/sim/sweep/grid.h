/* grid.h: the grid of a sweep. An axis is a key with its values; the grid is every combination, the last axis
 * changing fastest. */
#ifndef SIM_SWEEP_GRID_H
#define SIM_SWEEP_GRID_H

#include "base/arena.h"
#include "base/vec.h"
#include "lockstep/status.h"

typedef struct sweep_axis {
    const char *key;
    LS_VEC(const char *) values; /* as --set takes them */
} sweep_axis;

typedef struct sweep_grid {
    mem_arena *arena;
    LS_VEC(sweep_axis) axes;
    size_t points; /* product of all counts; 1 without axes */
} sweep_grid;

#define SWEEP_POINTS_MAX 100000

/* Adds "key=values": values separated by commas; each may be a range of whole numbers: 1..8, 16..64+16 (steps
 * of 16) or 32..256*2 (doubling). A comma inside brackets belongs to the value. */
ls_status sweep_grid_add(sweep_grid *grid, const char *text, ls_error *err);
void sweep_grid_fini(sweep_grid *grid);

/* The value of an axis at a point. */
const char *sweep_grid_value(const sweep_grid *grid, size_t point, size_t axis);
/* "key=value" of every axis, NULL-terminated, in the arena; NULL without memory. */
const char *const *sweep_grid_sets(const sweep_grid *grid, size_t point);

/* Kendall's tau-b of two orders of the same things: 1 for the same order, -1 for the opposite; ties count in
 * neither direction. NaN if one side has only ties. */
double sweep_kendall_tau(const double *a, const double *b, size_t count);

#endif
