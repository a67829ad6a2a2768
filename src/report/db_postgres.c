/* db_postgres.c: a database of results on a PostgreSQL server: the connection, statements, and rows by COPY. */
#include "report/db.h"

#include "base/arena.h"
#include "base/text.h"
#include "report/postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LOCKSTEP_LIBPQ

enum {
    VERSION_LEAST = 120000, /* generated columns */
    PARAMETERS_MOST = 16,
};

struct db_server {
    const db *of; /* its name, for errors */
    PGconn *connection;
    text_buffer line, sql;
};

/* Types of columns, by the numbers that every server gives them. */
enum {
    OID_BOOL = 16,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_NUMERIC = 1700
};

/* -------------------------------------------------------------------------------------------------- errors */

/* The first line of libpq's text, without its own prefix. */
static void first_line(const char *text, char *out, size_t bytes)
{
    static const char *const prefixes[] = { "ERROR:", "FATAL:" };
    for (size_t i = 0; i < LS_COUNT_OF(prefixes); i++)
        if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
            text += strlen(prefixes[i]);
    text += strspn(text, " \t\n");
    snprintf(out, bytes, "%.*s", (int)strcspn(text, "\n"), text);
}

static ls_status fail_server(const db_server *s, const PGresult *result, ls_error *err)
{
    char line[400];
    const char *state = result ? postgres.PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    first_line(postgres.PQerrorMessage(s->connection), line, sizeof line);
    if (state && strcmp(state, "42501") == 0)
        return db_fail(s->of, LS_ERR_IO, err, "the server refuses it: %s", line);
    if (state && strcmp(state, "42P01") == 0)
        return db_fail(s->of, LS_ERR_INPUT, err, "the database does not hold Lockstep results (%s)", line);
    return db_fail(s->of, LS_ERR_IO, err, "%s", line[0] ? line : "the server has gone");
}

/* ------------------------------------------------------------------------------------------------- opening */

static void be_silent(void *self, const char *text)
{
    (void)self;
    (void)text;
}

/* libpq quotes parts of a URL that it does not understand, and a password may be among them. */
static ls_status check_url(const db_server *s, const char *url, ls_error *err)
{
    char *reason = NULL, line[300];
    PQconninfoOption *parts = postgres.PQconninfoParse(url, &reason);
    if (parts) {
        postgres.PQconninfoFree(parts);
        return LS_OK;
    }
    first_line(reason ? reason : "", line, sizeof line);
    postgres.PQfreemem(reason);
    if (postgres_has_password(url))
        return db_fail(s->of, LS_ERR_USAGE, err, "this is no valid URL of a PostgreSQL database");
    return db_fail(s->of, LS_ERR_USAGE, err, "this is no valid URL of a PostgreSQL database: %s", line);
}

static ls_status connect_to(db_server *s, const char *url, db_mode mode, ls_error *err)
{
    const char *const keys[] = { "dbname", "fallback_application_name", "connect_timeout", NULL };
    const char *const values[] = { url, "lockstep", "30", NULL };
    char line[400];
    s->connection = postgres.PQconnectdbParams(keys, values, 1);
    if (!s->connection)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    if (postgres.PQstatus(s->connection) != CONNECTION_OK) {
        first_line(postgres.PQerrorMessage(s->connection), line, sizeof line);
        return db_fail(s->of, LS_ERR_IO, err, "%s", line);
    }
    postgres.PQsetNoticeProcessor(s->connection, be_silent, NULL);
    int version = postgres.PQserverVersion(s->connection);
    if (version < VERSION_LEAST)
        return db_fail(s->of, LS_ERR_UNSUPPORTED, err,
                       "the server is PostgreSQL %d.%d, and results need %d or newer", version / 10000,
                       version / 100 % 100, VERSION_LEAST / 10000);
    return mode == DB_READ ? db_server_run(s, "SET default_transaction_read_only = on", err) : LS_OK;
}

ls_status db_server_open(const char *url, db_mode mode, const db *d, db_server **out, ls_error *err)
{
    *out = NULL;
    ls_status status = postgres_load(err);
    if (status != LS_OK)
        return status;
    db_server *s = calloc(1, sizeof *s);
    if (!s)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    s->of = d;
    status = check_url(s, url, err);
    if (status == LS_OK)
        status = connect_to(s, url, mode, err);
    if (status == LS_OK)
        *out = s;
    else
        db_server_close(s);
    return status;
}

void db_server_close(db_server *s)
{
    if (!s)
        return;
    if (s->connection)
        postgres.PQfinish(s->connection);
    text_fini(&s->line);
    text_fini(&s->sql);
    free(s);
}

/* -------------------------------------------------------------------------------------------------- asking */

static bool is_good(const PGresult *result)
{
    ExecStatusType status = postgres.PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
}

ls_status db_server_run(db_server *s, const char *sql, ls_error *err)
{
    PGresult *result = postgres.PQexec(s->connection, sql);
    ls_status status = is_good(result) ? LS_OK : fail_server(s, result, err);
    postgres.PQclear(result);
    return status;
}

/* ?1 becomes $1; a text in quotes has no question mark. */
static const char *with_dollars(db_server *s, const char *sql)
{
    text_clear(&s->sql);
    for (const char *at = sql; *at; at++)
        text_addn(&s->sql, *at == '?' ? "$" : at, 1);
    return s->sql.failed ? NULL : text_get(&s->sql);
}

static db_value numeric(const char *text)
{
    char *end;
    if (strspn(text, "-0123456789") != strlen(text))
        return (db_value){ .kind = DB_REAL, .real = strtod(text, &end) };
    uint64_t value = strtoull(text[0] == '-' ? text + 1 : text, &end, 10);
    if (value > INT64_MAX)
        return DB_T(text); /* as SQLite keeps it */
    return DB_I(text[0] == '-' ? -(int64_t)value : (int64_t)value);
}

static db_value cell_of(const PGresult *result, int row, int column)
{
    if (postgres.PQgetisnull(result, row, column))
        return (db_value){ .kind = DB_NULL };
    const char *text = postgres.PQgetvalue(result, row, column);
    switch (postgres.PQftype(result, column)) {
    case OID_BOOL:
        return DB_I(text[0] == 't');
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
        return DB_I(strtoll(text, NULL, 10));
    case OID_FLOAT4:
    case OID_FLOAT8:
        return (db_value){ .kind = DB_REAL, .real = strtod(text, NULL) };
    case OID_NUMERIC:
        return numeric(text);
    default:
        return DB_T(text);
    }
}

static const char *parameter_text(const db_value *v, char digits[40])
{
    if (v->kind == DB_TEXT)
        return v->text;
    if (v->kind == DB_INT)
        snprintf(digits, 40, "%" PRId64, v->integer);
    else if (v->kind == DB_REAL)
        format_real(v->real, digits, 40);
    return v->kind == DB_NULL ? NULL : digits;
}

static ls_status give_rows(const PGresult *result, db_row row, void *self, ls_error *err)
{
    int columns = postgres.PQnfields(result), rows = postgres.PQntuples(result);
    db_value *cells = calloc((size_t)columns + 1, sizeof *cells);
    ls_status status = cells ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    for (int r = 0; r < rows && status == LS_OK; r++) {
        for (int c = 0; c < columns; c++)
            cells[c] = cell_of(result, r, c);
        status = row(self, cells, (size_t)columns, err);
    }
    free(cells);
    return status;
}

ls_status db_server_query(db_server *s, const char *sql, const db_value *values, size_t count, db_row row,
                          void *self, ls_error *err)
{
    char digits[PARAMETERS_MOST][40];
    const char *texts[PARAMETERS_MOST];
    const char *dollars = with_dollars(s, sql);
    if (!dollars || count > PARAMETERS_MOST)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    for (size_t i = 0; i < count; i++)
        texts[i] = parameter_text(&values[i], digits[i]);
    PGresult *result = postgres.PQexecParams(s->connection, dollars, (int)count, NULL, texts, NULL, NULL, 0);
    ls_status status = is_good(result) ? LS_OK : fail_server(s, result, err);
    if (status == LS_OK && row)
        status = give_rows(result, row, self, err);
    postgres.PQclear(result);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- COPY */

ls_status db_server_copy_begin(db_server *s, const char *table, const char *columns, ls_error *err)
{
    text_clear(&s->sql);
    text_printf(&s->sql, "COPY %s(%s) FROM STDIN", table, columns);
    if (s->sql.failed)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    PGresult *result = postgres.PQexec(s->connection, text_get(&s->sql));
    ls_status status = postgres.PQresultStatus(result) == PGRES_COPY_IN ? LS_OK : fail_server(s, result, err);
    postgres.PQclear(result);
    return status;
}

static void add_escaped(text_buffer *line, const char *text)
{
    for (size_t bytes; *text; text += bytes) {
        bytes = strcspn(text, "\\\t\n\r");
        text_addn(line, text, bytes);
        if (text[bytes]) {
            const char *escape = text[bytes] == '\t'   ? "\\t"
                                 : text[bytes] == '\n' ? "\\n"
                                 : text[bytes] == '\r' ? "\\r"
                                                       : "\\\\";
            text_add(line, escape);
            bytes++;
        }
    }
}

ls_status db_server_copy_put(db_server *s, const db_value *cells, size_t count, ls_error *err)
{
    char digits[40];
    text_clear(&s->line);
    for (size_t i = 0; i < count; i++) {
        const char *text = parameter_text(&cells[i], digits);
        text_add(&s->line, i ? "\t" : "");
        if (!text)
            text_add(&s->line, "\\N");
        else if (cells[i].kind == DB_TEXT)
            add_escaped(&s->line, text);
        else
            text_add(&s->line, text);
    }
    text_add(&s->line, "\n");
    if (s->line.failed)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the database");
    return postgres.PQputCopyData(s->connection, text_get(&s->line), (int)s->line.count) == 1
               ? LS_OK
               : fail_server(s, NULL, err);
}

ls_status db_server_copy_end(db_server *s, ls_status status, ls_error *err)
{
    if (postgres.PQputCopyEnd(s->connection, status == LS_OK ? NULL : "a row could not be written") != 1 &&
        status == LS_OK)
        status = fail_server(s, NULL, err);
    for (PGresult *result; (result = postgres.PQgetResult(s->connection)) != NULL;) {
        if (!is_good(result) && status == LS_OK)
            status = fail_server(s, result, err);
        postgres.PQclear(result);
    }
    return status;
}

#else

ls_status db_server_open(const char *url, db_mode mode, const db *d, db_server **out, ls_error *err)
{
    (void)url;
    (void)mode;
    (void)d;
    *out = NULL;
    return postgres_load(err);
}

void db_server_close(db_server *s)
{
    (void)s;
}

/* Nothing can be open. */
static ls_status never(ls_error *err)
{
    return postgres_load(err);
}

ls_status db_server_run(db_server *s, const char *sql, ls_error *err)
{
    (void)s;
    (void)sql;
    return never(err);
}

ls_status db_server_query(db_server *s, const char *sql, const db_value *values, size_t count, db_row row,
                          void *self, ls_error *err)
{
    (void)s;
    (void)sql;
    (void)values;
    (void)count;
    (void)row;
    (void)self;
    return never(err);
}

ls_status db_server_copy_begin(db_server *s, const char *table, const char *columns, ls_error *err)
{
    (void)s;
    (void)table;
    (void)columns;
    return never(err);
}

ls_status db_server_copy_put(db_server *s, const db_value *cells, size_t count, ls_error *err)
{
    (void)s;
    (void)cells;
    (void)count;
    return never(err);
}

ls_status db_server_copy_end(db_server *s, ls_status status, ls_error *err)
{
    (void)s;
    (void)status;
    return never(err);
}

#endif
