/* test_db.c: URLs of servers without their passwords, and databases behind one interface (here: files). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/db_results.h"
#include "report/export.h"
#include "report/postgres.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------- URLs */

static void urls_are_known(void **state)
{
    (void)state;
    assert_true(postgres_is_url("postgresql://host/db"));
    assert_true(postgres_is_url("POSTGRES://host/db"));
    assert_false(postgres_is_url("postgresql.db"));
    assert_false(postgres_is_url("results/postgres://x.db"));
    assert_false(postgres_is_url(NULL));
}

static void passwords_are_left_out(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "sweep.db", "sweep.db" },
        { "postgresql://host/db", "postgresql://host/db" },
        { "postgresql://me@host/db", "postgresql://me@host/db" },
        { "postgresql://me:secret@host:5432/db#3", "postgresql://me@host:5432/db#3" },
        { "postgresql://me:se:c@ret@host/db", "postgresql://me@host/db" },
        { "postgresql://me:se/cret@host/db", "postgresql://me@host/db" },
        { "postgresql://host:5432/db", "postgresql://host:5432/db" },
        { "postgresql:///db?host=/run&password=secret&user=me", "postgresql:///db?host=/run&user=me" },
        { "postgresql:///db?password=secret", "postgresql:///db" },
        { "postgresql:///db?PASSWORD=secret&sslpassword=secret&a=b", "postgresql:///db?a=b" },
    };
    mem_arena arena = { 0 };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        assert_string_equal(postgres_public_url(&arena, cases[i][0]), cases[i][1]);
        assert_int_equal(postgres_has_password(cases[i][0]), strcmp(cases[i][0], cases[i][1]) != 0);
    }
    arena_fini(&arena);
}

static void a_url_names_files(void **state)
{
    (void)state;
    mem_arena arena = { 0 };
    assert_string_equal(postgres_database(&arena, "postgresql://me:p@host:5432/results?x=y"), "results");
    assert_string_equal(postgres_database(&arena, "postgresql://host"), "sweep");
    assert_string_equal(postgres_database(&arena, "postgresql:///"), "sweep");
    arena_fini(&arena);
}

/* --------------------------------------------------------------------------------------------------- files */

typedef struct opened {
    char *path;
    db *db;
} opened;

static void open_results(opened *o)
{
    ls_error err;
    assert_int_equal(db_copy_temp(&o->path, &err), LS_OK);
    assert_int_equal(export_database(o->path, &err), LS_OK);
    assert_int_equal(db_open(o->path, DB_WRITE, &o->db, &err), LS_OK);
}

static void close_results(opened *o)
{
    db_close(o->db);
    db_copy_discard(o->path);
}

static ls_status take_text(void *self, const db_value *cells, size_t count, ls_error *err)
{
    (void)err;
    for (size_t i = 0; i < count; i++)
        text_printf(self, "%d:%lld:%s ", (int)cells[i].kind, (long long)db_int_of(&cells[i]),
                    db_text_of(&cells[i]));
    return LS_OK;
}

static void values_keep_their_kind(void **state)
{
    (void)state;
    opened o;
    ls_error err;
    db_rows *rows;
    text_buffer text = { 0 };
    open_results(&o);
    assert_int_equal(db_run(o.db, "CREATE TABLE t(a, b)", &err), LS_OK);
    assert_int_equal(db_begin(o.db, &err), LS_OK);
    assert_int_equal(db_rows_begin(o.db, "t", "a, b", 2, &rows, &err), LS_OK);
    const db_value first[] = { DB_I(-7), DB_T("18446744073709551615") }, second[] = { DB_T(NULL), DB_T("x") };
    ls_status status = db_rows_put(rows, first, &err);
    assert_int_equal(status, LS_OK);
    status = db_rows_put(rows, second, &err);
    assert_int_equal(db_rows_end(rows, status, &err), LS_OK);
    assert_int_equal(db_commit(o.db, &err), LS_OK);
    assert_int_equal(db_query(o.db, "SELECT a, b FROM t", NULL, 0, take_text, &text, &err), LS_OK);
    assert_string_equal(text_get(&text), "1:-7: 3:9223372036854775807:18446744073709551615 0:0: 3:0:x ");
    text_fini(&text);
    close_results(&o);
}

static void a_transaction_can_be_undone(void **state)
{
    (void)state;
    opened o;
    ls_error err;
    int64_t count = -1;
    const db_value which[] = { DB_I(3) };
    open_results(&o);
    assert_int_equal(db_run(o.db, "CREATE TABLE t(a)", &err), LS_OK);
    assert_int_equal(db_begin(o.db, &err), LS_OK);
    assert_int_equal(db_put(o.db, "INSERT INTO t VALUES(?1)", which, 1, &err), LS_OK);
    db_rollback(o.db);
    assert_int_equal(db_number(o.db, "SELECT count(*) FROM t", NULL, 0, &count, &err), LS_OK);
    assert_int_equal(count, 0);
    close_results(&o);
}

/* More statements than are kept, one inside another. */
static ls_status ask_again(void *self, const db_value *cells, size_t count, ls_error *err)
{
    int64_t more = 0;
    const db_value limit[] = { DB_I(db_int_of(&cells[0])) };
    (void)count;
    ls_status status = db_number(self, "SELECT 10 * ?1", limit, 1, &more, err);
    assert_int_equal(more, 10 * db_int_of(&cells[0]));
    return status;
}

static void statements_are_kept_and_replaced(void **state)
{
    (void)state;
    opened o;
    ls_error err;
    open_results(&o);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 20; i++) {
            char sql[64];
            int64_t number = 0;
            snprintf(sql, sizeof sql, "SELECT %d", i);
            assert_int_equal(db_number(o.db, sql, NULL, 0, &number, &err), LS_OK);
            assert_int_equal(number, i);
        }
    assert_int_equal(db_query(o.db, "SELECT 1 UNION ALL SELECT 2", NULL, 0, ask_again, o.db, &err), LS_OK);
    close_results(&o);
}

static void mistakes_name_the_database(void **state)
{
    (void)state;
    opened o;
    ls_error err;
    open_results(&o);
    assert_int_equal(db_run(o.db, "SELECT * FROM nothing", &err), LS_ERR_IO);
    assert_string_equal(err.where, o.path);
    assert_int_equal(db_schema_check(o.db, &err), LS_OK);
    assert_int_equal(db_run(o.db, "PRAGMA user_version = 99", &err), LS_OK);
    assert_int_equal(db_schema_check(o.db, &err), LS_ERR_INPUT);
    assert_non_null(strstr(err.what, "schema version 99"));
    close_results(&o);
}

/* The operands of a quotient are read back from the text of its table. */
static void quotients_are_read_back(void **state)
{
    (void)state;
    opened o;
    ls_error err;
    mem_arena arena = { 0 };
    db_columns made = { 0 }, read = { 0 };
    bool changed = false;
    const db_column columns[] = { { .name = "hits" },
                                  { .name = "wait.max", .is_extreme = true },
                                  { .name = "odd \"name\".denominator" },
                                  { .name = "rate", .above = "hits", .below = "odd \"name\".denominator" } };
    open_results(&o);
    for (size_t i = 0; i < 3; i++)
        assert_true(vec_push(&made, columns[i]));
    assert_int_equal(db_schema_type(o.db, &arena, "l2/x", &made, &changed, &err), LS_OK);
    assert_true(changed);
    changed = false;
    assert_int_equal(db_schema_type(o.db, &arena, "l2/x", &made, &changed, &err), LS_OK);
    assert_false(changed);
    assert_true(vec_push(&made, columns[3]));
    assert_int_equal(db_schema_type(o.db, &arena, "l2/x", &made, &changed, &err), LS_OK);
    assert_true(changed);
    assert_int_equal(db_schema_columns(o.db, &arena, "l2/x", &read, &err), LS_OK);
    assert_int_equal(read.count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(read.at[i].name, columns[i].name);
    assert_null(read.at[2].above);
    assert_string_equal(read.at[3].above, "hits");
    assert_string_equal(read.at[3].below, "odd \"name\".denominator");
    vec_fini(&made);
    vec_fini(&read);
    arena_fini(&arena);
    close_results(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_known),
        cmocka_unit_test(passwords_are_left_out),
        cmocka_unit_test(a_url_names_files),
        cmocka_unit_test(values_keep_their_kind),
        cmocka_unit_test(a_transaction_can_be_undone),
        cmocka_unit_test(statements_are_kept_and_replaced),
        cmocka_unit_test(mistakes_name_the_database),
        cmocka_unit_test(quotients_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
