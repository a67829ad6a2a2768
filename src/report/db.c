/* db.c: see db.h. Files here, servers in db_postgres.c. */
#include "report/db.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "report/postgres.h"
#include "report/sqlite.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELLS_MOST = 2000, /* SQLite's own limit of columns */
    STATEMENTS = 8,    /* kept prepared: sweeps ask the same few questions for every point */
};

typedef struct statement {
    char *sql;
    sqlite3_stmt *prepared;
    bool in_use;
} statement;

struct db {
    mem_arena arena;
    const char *name; /* without a password */
    sqlite3 *file;
    sqlite_wait wait;
    db_server *server;
    db_value *cells; /* of the row that is read */
    statement statements[STATEMENTS];
    size_t oldest;
};

struct db_rows {
    db *of;
    sqlite3_stmt *insert;
    size_t count;
};

/* -------------------------------------------------------------------------------------------------- values */

double db_real_of(const db_value *v)
{
    return v->kind == DB_INT    ? (double)v->integer
           : v->kind == DB_REAL ? v->real
           : v->kind == DB_TEXT ? strtod(v->text, NULL)
                                : 0;
}

int64_t db_int_of(const db_value *v)
{
    return v->kind == DB_INT    ? v->integer
           : v->kind == DB_REAL ? (int64_t)llround(v->real)
           : v->kind == DB_TEXT ? strtoll(v->text, NULL, 10)
                                : 0;
}

const char *db_text_of(const db_value *v)
{
    return v->kind == DB_TEXT ? v->text : "";
}

/* -------------------------------------------------------------------------------------------------- errors */

ls_status db_fail(const db *d, ls_status status, ls_error *err, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ls_fail(err, status, "%s", text);
    ls_error_at(err, d->name, 0, 0);
    return status;
}

static ls_status fail_sqlite(const db *d, ls_error *err)
{
    int code = d->file ? sqlite.errcode(d->file) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    if (code == SQLITE_NOTADB)
        return db_fail(d, LS_ERR_INPUT, err, "the file exists and is not an SQLite database");
    return db_fail(d, LS_ERR_IO, err, "%s", sqlite.errmsg(d->file));
}

/* ------------------------------------------------------------------------------------------------- opening */

static ls_status open_file(db *d, const char *path, db_mode mode, ls_error *err)
{
    char *head; /* gives the usual sentence for a file that is not there */
    size_t bytes;
    if (!file_exists(path))
        return file_read(&d->arena, path, 1, &head, &bytes, err);
    ls_status status = file_check_input(path, err);
    if (status == LS_OK)
        status = sqlite_load(err);
    if (status != LS_OK)
        return status;
    if (sqlite.open_v2(path, &d->file, mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK)
        return fail_sqlite(d, err);
    sqlite_wait_for_locks(d->file, &d->wait, SQLITE_LOCK_WAIT_MS);
    return LS_OK;
}

ls_status db_open(const char *path, db_mode mode, db **out, ls_error *err)
{
    *out = NULL;
    db *d = calloc(1, sizeof *d);
    if (!d)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    d->name = postgres_public_url(&d->arena, path);
    d->cells = arena_array(&d->arena, CELLS_MOST, sizeof *d->cells);
    ls_status status = !d->name || !d->cells   ? ls_fail(err, LS_ERR_NOMEM, "no memory left for the database")
                       : postgres_is_url(path) ? db_server_open(path, mode, d, &d->server, err)
                                               : open_file(d, path, mode, err);
    if (status == LS_OK)
        *out = d;
    else
        db_close(d);
    return status;
}

void db_close(db *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < STATEMENTS; i++) {
        if (d->statements[i].prepared)
            sqlite.finalize(d->statements[i].prepared);
        free(d->statements[i].sql);
    }
    if (d->file)
        sqlite.close(d->file);
    db_server_close(d->server);
    arena_fini(&d->arena);
    free(d);
}

bool db_is_server(const db *d)
{
    return d->server != NULL;
}

const char *db_name(const db *d)
{
    return d->name;
}

struct sqlite3 *db_sqlite(const db *d)
{
    return d->file;
}

/* -------------------------------------------------------------------------------------------------- asking */

ls_status db_run(db *d, const char *sql, ls_error *err)
{
    if (d->server)
        return db_server_run(d->server, sql, err);
    return sqlite.exec(d->file, sql, NULL, NULL, NULL) == SQLITE_OK ? LS_OK : fail_sqlite(d, err);
}

static int bind(sqlite3_stmt *s, int at, const db_value *v)
{
    switch (v->kind) {
    case DB_INT:
        return sqlite.bind_int64(s, at, v->integer);
    case DB_REAL:
        return sqlite.bind_double(s, at, v->real);
    case DB_TEXT:
        return sqlite.bind_text(s, at, v->text, -1, SQLITE_TRANSIENT);
    default:
        return sqlite.bind_null(s, at);
    }
}

static db_value cell_of(sqlite3_stmt *s, int at)
{
    switch (sqlite.column_type(s, at)) {
    case SQLITE_INTEGER:
        return DB_I(sqlite.column_int64(s, at));
    case SQLITE_FLOAT:
        return (db_value){ .kind = DB_REAL, .real = sqlite.column_double(s, at) };
    case SQLITE_NULL:
        return (db_value){ .kind = DB_NULL };
    default:
        return DB_T((const char *)sqlite.column_text(s, at));
    }
}

/* A prepared statement that is not running; NULL: the error is in the connection. */
static statement *prepare(db *d, const char *sql)
{
    statement *place = NULL;
    for (size_t i = 0; i < STATEMENTS; i++) {
        statement *s = &d->statements[(d->oldest + i) % STATEMENTS];
        if (s->in_use)
            continue;
        if (s->sql && strcmp(s->sql, sql) == 0)
            return s;
        place = place ? place : s;
    }
    if (!place) /* a row asks in a row that asks ...: not so deep */
        return NULL;
    d->oldest = (size_t)(place - d->statements + 1) % STATEMENTS;
    if (place->prepared)
        sqlite.finalize(place->prepared);
    free(place->sql);
    *place = (statement){ .sql = strdup(sql) };
    if (place->sql && sqlite.prepare_v2(d->file, sql, -1, &place->prepared, NULL) == SQLITE_OK)
        return place;
    free(place->sql);
    *place = (statement){ 0 };
    return NULL;
}

static ls_status query_file(db *d, const char *sql, const db_value *values, size_t count, db_row row,
                            void *self, ls_error *err)
{
    statement *kept = prepare(d, sql);
    if (!kept)
        return fail_sqlite(d, err);
    sqlite3_stmt *s = kept->prepared;
    kept->in_use = true;
    for (size_t i = 0; i < count; i++)
        bind(s, (int)i + 1, &values[i]);
    int columns = sqlite.column_count(s), code = SQLITE_DONE;
    /* A row may ask for more: each query has cells of its own. */
    db_value own[16], *cells = columns <= 16 ? own : d->cells;
    ls_status status = columns <= CELLS_MOST ? LS_OK : db_fail(d, LS_ERR_INPUT, err, "a table is too wide");
    while (status == LS_OK && (code = sqlite.step(s)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            cells[i] = cell_of(s, i);
        status = row ? row(self, cells, (size_t)columns, err) : LS_OK;
    }
    if (status == LS_OK && code != SQLITE_DONE)
        status = fail_sqlite(d, err);
    sqlite.reset(s);
    kept->in_use = false;
    return status;
}

ls_status db_query(db *d, const char *sql, const db_value *values, size_t count, db_row row, void *self,
                   ls_error *err)
{
    return d->server ? db_server_query(d->server, sql, values, count, row, self, err)
                     : query_file(d, sql, values, count, row, self, err);
}

ls_status db_put(db *d, const char *sql, const db_value *values, size_t count, ls_error *err)
{
    return db_query(d, sql, values, count, NULL, NULL, err);
}

static ls_status take_number(void *self, const db_value *cells, size_t count, ls_error *err)
{
    (void)err;
    if (count > 0)
        *(int64_t *)self = db_int_of(&cells[0]);
    return LS_OK;
}

ls_status db_number(db *d, const char *sql, const db_value *values, size_t count, int64_t *out, ls_error *err)
{
    *out = 0;
    return db_query(d, sql, values, count, take_number, out, err);
}

/* -------------------------------------------------------------------------------------------- transactions */

/* The number is any that other programs of the same server do not take. It is released with the transaction. */
ls_status db_begin(db *d, ls_error *err)
{
    if (!d->server)
        return db_run(d, "BEGIN IMMEDIATE", err);
    ls_status status = db_run(d, "BEGIN", err);
    if (status == LS_OK)
        status = db_run(d, "SELECT pg_advisory_xact_lock(1282102132)", err);
    if (status != LS_OK)
        db_rollback(d);
    return status;
}

ls_status db_commit(db *d, ls_error *err)
{
    ls_status status = db_run(d, "COMMIT", err);
    if (status != LS_OK)
        db_rollback(d);
    return status;
}

void db_rollback(db *d)
{
    (void)db_run(d, "ROLLBACK", NULL);
}

/* ---------------------------------------------------------------------------------------------- many rows */

static ls_status prepare_insert(db_rows *r, const char *table, const char *columns, ls_error *err)
{
    text_buffer sql = { 0 };
    text_printf(&sql, "INSERT INTO %s(%s) VALUES(", table, columns);
    for (size_t i = 0; i < r->count; i++)
        text_add(&sql, i ? ", ?" : "?");
    text_add(&sql, ")");
    ls_status status = LS_OK;
    if (sql.failed)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    else if (sqlite.prepare_v2(r->of->file, text_get(&sql), -1, &r->insert, NULL) != SQLITE_OK)
        status = fail_sqlite(r->of, err);
    text_fini(&sql);
    return status;
}

ls_status db_rows_begin(db *d, const char *table, const char *columns, size_t count, db_rows **out,
                        ls_error *err)
{
    *out = NULL;
    db_rows *r = calloc(1, sizeof *r);
    if (!r)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    *r = (db_rows){ .of = d, .count = count };
    ls_status status = d->server ? db_server_copy_begin(d->server, table, columns, err)
                                 : prepare_insert(r, table, columns, err);
    if (status == LS_OK)
        *out = r;
    else
        free(r);
    return status;
}

ls_status db_rows_put(db_rows *r, const db_value *cells, ls_error *err)
{
    if (r->of->server)
        return db_server_copy_put(r->of->server, cells, r->count, err);
    int code = SQLITE_OK;
    for (size_t i = 0; i < r->count && code == SQLITE_OK; i++)
        code = bind(r->insert, (int)i + 1, &cells[i]);
    if (code == SQLITE_OK)
        code = sqlite.step(r->insert);
    ls_status status = code == SQLITE_DONE ? LS_OK : fail_sqlite(r->of, err);
    sqlite.reset(r->insert);
    return status;
}

ls_status db_rows_end(db_rows *r, ls_status status, ls_error *err)
{
    if (!r)
        return status;
    if (r->of->server)
        status = db_server_copy_end(r->of->server, status, err);
    else
        sqlite.finalize(r->insert);
    free(r);
    return status;
}
