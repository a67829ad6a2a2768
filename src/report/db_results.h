/* db_results.h: runs between databases of results. A run keeps its rows; its keys are given anew. */
#ifndef REPORT_DB_RESULTS_H
#define REPORT_DB_RESULTS_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/db.h"

/* A column of a type's table: a number, or the quotient of two others. */
typedef struct db_column {
    const char *name;
    const char *above, *below; /* of a quotient, else NULL */
    bool is_extreme;           /* min or max: NULL without samples */
} db_column;
typedef LS_VEC(db_column) db_columns;

/* --- db_schema.c: the tables --- */

/* The tables of results on a server, made if there are none, or checked. Inside a transaction. */
ls_status db_schema_prepare(db *d, ls_error *err);
/* Whether the tables are there and of this version; does not change anything. A file is checked too. */
ls_status db_schema_check(db *d, ls_error *err);
/* Makes the tables of a type, or adds the columns that they do not have. *changed: the views need renewal. */
ls_status db_schema_type(db *d, mem_arena *arena, const char *type, const db_columns *columns, bool *changed,
                         ls_error *err);
/* The columns of a type's table in their order; none: there is no such table. */
ls_status db_schema_columns(db *d, mem_arena *arena, const char *type, db_columns *out, ls_error *err);
/* The views that name every metric, after tables changed. */
ls_status db_schema_views(db *d, ls_error *err);
bool db_schema_has_table(db *d, const char *table);

/* --- db_copy.c --- */

/* Copies a run of a file or a server into another one, inside a transaction of `to`. *new_run is its number there; 0:
 * the next one. *changed: db_schema_views() is due before the transaction ends. */
ls_status db_copy_run(db *from, int64_t run, db *to, int64_t *new_run, bool *changed, ls_error *err);
/* A file for a short time, with one run of a server (0: the last) or, with `all`, with every run and the points of
 * sweeps. To be removed by the caller; NULL if this failed. */
ls_status db_copy_to_file(const char *url, int64_t run, bool all, char **path, ls_error *err);
/* Adds the runs of a file to a server, or to another file. */
ls_status db_copy_runs(const char *file, const char *to, ls_error *err);
/* The name of a new, empty file for a short time; and its removal (NULL is fine). */
ls_status db_copy_temp(char **path, ls_error *err);
void db_copy_discard(char *path);
/* Whether a server can take a run with this id (NULL: any): makes its tables if it has none. */
ls_status db_check_id(const char *url, const char *run_id, ls_error *err);

#endif
