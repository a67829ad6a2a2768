/* db.h: a database of results, in a file (SQLite) or on a server (PostgreSQL). One set of SQL texts serves both. The
 * exporter of runs talks to SQLite itself, for speed; points of sweeps, merging and servers go through here.
 *
 * Parameters are ?1, ?2, ... in both. Every error names the database, never with a password. */
#ifndef REPORT_DB_H
#define REPORT_DB_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct db db;

typedef enum db_kind { DB_NULL, DB_INT, DB_REAL, DB_TEXT } db_kind;

typedef struct db_value {
    db_kind kind;
    int64_t integer;
    double real;
    const char *text; /* borrowed until the call returns */
} db_value;

#define DB_T(text_) db_text(text_)
#define DB_I(number_) ((db_value){ .kind = DB_INT, .integer = (number_) })
static inline db_value db_text(const char *text)
{
    return (db_value){ .kind = text ? DB_TEXT : DB_NULL, .text = text };
}

/* As numbers and texts, whatever the database keeps; "" and 0 for NULL. */
double db_real_of(const db_value *value);
int64_t db_int_of(const db_value *value);
const char *db_text_of(const db_value *value);

typedef enum db_mode { DB_READ, DB_WRITE } db_mode;

/* Opens a database that exists. A server may have no tables yet. */
ls_status db_open(const char *path, db_mode mode, db **out, ls_error *err);
void db_close(db *d);
bool db_is_server(const db *d);
const char *db_name(const db *d);       /* for messages */
struct sqlite3 *db_sqlite(const db *d); /* NULL: a server */

/* Some statements without parameters. */
ls_status db_run(db *d, const char *sql, ls_error *err);
/* One statement. */
ls_status db_put(db *d, const char *sql, const db_value *values, size_t count, ls_error *err);
/* Calls row for each row of the answer. */
typedef ls_status (*db_row)(void *self, const db_value *cells, size_t count, ls_error *err);
ls_status db_query(db *d, const char *sql, const db_value *values, size_t count, db_row row, void *self,
                   ls_error *err);
/* The one number that a query gives; 0 without a row. */
ls_status db_number(db *d, const char *sql, const db_value *values, size_t count, int64_t *out, ls_error *err);

/* A transaction that writes. Those of other programs wait for its end. */
ls_status db_begin(db *d, ls_error *err);
ls_status db_commit(db *d, ls_error *err);
void db_rollback(db *d);

/* Many rows into one table, inside a transaction. `columns` is a list with commas. No other statement runs between
 * begin and end. */
typedef struct db_rows db_rows;
ls_status db_rows_begin(db *d, const char *table, const char *columns, size_t count, db_rows **out,
                        ls_error *err);
ls_status db_rows_put(db_rows *rows, const db_value *cells, ls_error *err);
/* Ends it in every case; `status` is that of the rows so far. */
ls_status db_rows_end(db_rows *rows, ls_status status, ls_error *err);

/* A failure at this database. */
ls_status db_fail(const db *d, ls_status status, ls_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* --- db_postgres.c: the calls above for a server --- */
typedef struct db_server db_server;
ls_status db_server_open(const char *url, db_mode mode, const db *d, db_server **out, ls_error *err);
void db_server_close(db_server *s);
ls_status db_server_run(db_server *s, const char *sql, ls_error *err);
ls_status db_server_query(db_server *s, const char *sql, const db_value *values, size_t count, db_row row,
                          void *self, ls_error *err);
ls_status db_server_copy_begin(db_server *s, const char *table, const char *columns, ls_error *err);
ls_status db_server_copy_put(db_server *s, const db_value *cells, size_t count, ls_error *err);
ls_status db_server_copy_end(db_server *s, ls_status status, ls_error *err);

#endif
