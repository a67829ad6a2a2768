/* points.h: the points of a sweep beside their runs in one database of results. A point is done when its run
 * is present and complete. Each is written in one transaction, so a killed sweep continues where it
 * stopped. */
#ifndef REPORT_POINTS_H
#define REPORT_POINTS_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/db.h"
#include "lockstep/status.h"

#include <stdbool.h>

typedef struct point_store point_store;

typedef struct sweep_point {
    char id[LS_HASH_TEXT_BYTES]; /* of trace, configuration and options: also the run_id of its run */
    const char *trace;
    const char *const *keys, *const *values; /* the values that were varied */
    size_t key_count;
    /* filled by points_read() */
    bool done;
    int64_t run;         /* its number in the database */
    double time_ns;      /* simulated, with a kernel; kernels side by side count once */
    double cycles;       /* GPU cycles, likewise; 0 without kernels */
    double wall_seconds; /* host */
    const char *error;   /* of the last try; NULL: none; in the arena of the read */
} sweep_point;

/* What a sweep is: databases of its parts belong together if all of this is equal. */
typedef struct sweep_identity {
    char sweep[LS_HASH_TEXT_BYTES];         /* of all its points in their order */
    char config_hash[LS_HASH_TEXT_BYTES];   /* of all configurations */
    char workload_hash[LS_HASH_TEXT_BYTES]; /* of the contents of all workloads */
    const char *description;                /* its options, a line each */
} sweep_identity;

/* Opens or makes the database of results: a file, or a server that a URL names. A file that is something else is
 * refused and stays as it is. */
ls_status points_open(const char *path, point_store **out, ls_error *err);
/* A database that holds a sweep, only to read it. */
ls_status points_open_read(const char *path, point_store **out, ls_error *err);
void points_close(point_store *points);
db *points_db(const point_store *points);

/* Lists the points that will be run, with the command line of the sweep; keeps existing points. Partial runs
 * of these points, left by an interrupted process, are removed. sweep NULL: the points are no whole sweep. */
ls_status points_declare(point_store *points, const sweep_identity *sweep, const sweep_point *list,
                         size_t count, const char *command, ls_error *err);

/* Several sweeps may share a database: each point is run by the sweep that claims it. A claim ends with its
 * process. */
typedef enum point_claim {
    LS_CLAIM_MINE, /* run it */
    LS_CLAIM_DONE, /* its run is complete */
    LS_CLAIM_OTHER /* another sweep runs it now */
} point_claim;
ls_status points_claim(point_store *points, const char *id, point_claim *out, ls_error *err);
/* Ends a claim and remembers why the point failed (NULL: it did not). */
ls_status points_release(point_store *points, const char *id, const char *error, ls_error *err);
/* Shows sweeps on other hosts that the claims of this process are alive: call it every LS_CLAIM_BEAT_S. */
#define LS_CLAIM_BEAT_S 10
ls_status points_beat(point_store *points, ls_error *err);

/* Fills the second half of each point. */
ls_status points_read(point_store *points, mem_arena *arena, sweep_point *list, size_t count, ls_error *err);
/* Points of the file that are not in the list: of other grids, or of an earlier state of the trace. */
ls_status points_others(point_store *points, const sweep_point *list, size_t count, size_t *others,
                        ls_error *err);

/* --- whole sweeps --- */

typedef struct point_state {
    const char *sweep, *id, *trace;
    size_t position;
    int64_t run;       /* 0: it has no complete run */
    const char *error; /* of its last try; NULL: none */
    bool running;      /* a living process has claimed it */
} point_state;
/* Every point of every sweep, in the order of the grid. */
typedef ls_status (*point_fn)(void *self, const point_state *point, ls_error *err);
ls_status points_each(point_store *points, point_fn fn, void *self, ls_error *err);
/* Adds "trace  key=value  key=value". */
ls_status points_describe(point_store *points, const char *id, const char *trace, text_buffer *out,
                          ls_error *err);
/* Adds the points and sweeps that the other database does not have; inside a transaction. Runs are not copied. */
ls_status points_copy(db *from, db *to, ls_error *err);
/* The points of a sweep have not been tried. */
ls_status points_forget_errors(point_store *points, const char *sweep, ls_error *err);
/* Nobody works on this database any more: for a scheduler that knows it. */
ls_status points_drop_claims(point_store *points, ls_error *err);

#endif
