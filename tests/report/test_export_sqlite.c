/* The database, read back through SQLite; a second run in it; and every way in which writing can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = P_tmpdir "/ls_sqlite_XXXXXX";
static char path[64];
static unsigned exports; /* of this test: each run has an id of its own */

static int setup(void **state)
{
    exports = 0;
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/r.db", dir);
    *state = fixture_create();
    return 0;
}

static int teardown(void **state)
{
    fixture_destroy(*state);
    unlink(path);
    return rmdir(dir); /* fails if anything else was left: a journal, a temporary file */
}

static ls_status export_to(const fixture *f, ls_error *err)
{
    export_options options = { .lock_wait_ms = 1 };
    run_results results = f->results;
    char id[24];
    snprintf(id, sizeof id, "run-%u", ++exports);
    results.host.run_id = id;
    return export_results(&results, LS_EXPORT_SQLITE, &options, path, err);
}

/* All rows of a query in one text: cells by '|', rows by ';'. */
static void assert_query(const char *sql, const char *expected)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    char text[2048] = "";
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *cell = (const char *)sqlite3_column_text(s, i);
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%s", i ? "|" : "", cell ? cell : "NULL");
        }
        strcat(text, ";");
    }
    assert_string_equal(text, expected);
    sqlite3_finalize(s);
    sqlite3_close(db);
}

static void execute(const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static char *read_file(size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

/* The export fails with this status and sentence, and the file is unchanged, to the last byte. */
static void assert_refused(const fixture *f, ls_status status, const char *part)
{
    size_t before_bytes, after_bytes;
    char *before = read_file(&before_bytes);
    ls_error err = { 0 };
    assert_int_equal(export_to(f, &err), status);
    assert_contains(err.what, part);
    assert_string_equal(err.where, path);
    char *after = read_file(&after_bytes);
    assert_int_equal(before_bytes, after_bytes);
    assert_memory_equal(before, after, before_bytes);
    free(before);
    free(after);
}

static void test_contents(void **state)
{
    fixture *f = *state;
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("PRAGMA integrity_check", "ok;");
    assert_query("PRAGMA foreign_key_check", "");
    assert_query("SELECT * FROM runs",
                 "1|" LS_VERSION_STRING "|rtx2060|00ff|0|NULL|42|4000000|4|1234567|1000|5|77;");
    assert_query("SELECT * FROM host", "1|run-1|lockstep run a,b|1.5|2|99;");
    assert_query("SELECT text FROM config", "machine: gpu\nl1: \"64 KiB\"\n;");
    assert_query("SELECT name, kind, unit, untouched FROM metrics WHERE type = 'dram/bank'",
                 "reads|counter|bursts|0;refreshes|counter||1;open_rows|level|rows|0;refresh_rate|ratio||1;");
    assert_query("SELECT path, type, gpu, stream FROM blocks",
                 "gpu0.l1[0]|l1/cycle|0|NULL;gpu0.l1[1]|l1/cycle|0|NULL;dram|dram/bank|NULL|NULL;");
    assert_query("SELECT gpu, kernel, name, stream, begin_fs, end_fs FROM kernels",
                 "0|0|void add<int, 4>(int*, \"x\")|7|1000000|2500000;0|1||7|2500000|4000000;");
    assert_query(
        "SELECT v.scope, path, hits, accesses, hit_rate, \"wait.count\", \"wait.sum\", \"wait.min\","
        " \"wait.max\", wait FROM \"l1/cycle.blocks\" v JOIN blocks USING(block)",
        "1|gpu0.l1[0]|1500000|2000000|0.75|2|5|0|5|2.5;1|gpu0.l1[1]|500000|2000000|0.25|0|0|NULL|NULL|NULL;");
    assert_query("SELECT scope, path, name, least, count FROM buckets JOIN blocks USING(block) JOIN metrics"
                 " USING(metric)",
                 "1|gpu0.l1[0]|wait|0|1;1|gpu0.l1[0]|wait|4|1;");
    assert_query(
        "SELECT kernel, type, metric, value FROM totals WHERE type = 'l1/cycle' ORDER BY scope, metric",
        "NULL|l1/cycle|accesses|4000000;NULL|l1/cycle|hit_rate|0.5;NULL|l1/cycle|hits|2000000;"
        "NULL|l1/cycle|queue_peak|12;NULL|l1/cycle|wait|2.5;"
        "0|l1/cycle|accesses|2000000;0|l1/cycle|hit_rate|0.75;0|l1/cycle|hits|1500000;"
        "0|l1/cycle|queue_peak|9;0|l1/cycle|wait|2.5;"
        "1|l1/cycle|accesses|2000000;1|l1/cycle|hit_rate|0.25;1|l1/cycle|hits|500000;"
        "1|l1/cycle|queue_peak|12;1|l1/cycle|wait|NULL;");
    /* 0 / 0 has no value; a number beyond 2^63 is exact, as text. */
    assert_query("SELECT DISTINCT value FROM totals WHERE metric = 'refresh_rate'", "NULL;");
    assert_query("SELECT typeof(reads), reads FROM \"dram/bank\"",
                 "text|18446744073709551615;integer|0;text|18446744073709551615;");
    assert_query("SELECT DISTINCT typeof(hits), typeof(hit_rate) FROM \"l1/cycle\"", "integer|real;");
    assert_query("SELECT count(*) FROM readings WHERE kernel IS NOT NULL", "0;");
}

/* The questions of docs/results.md. */
static void test_views(void **state)
{
    fixture *f = *state;
    fixture_mark(f->m, 2, "", 4000000, 10000000);
    assert_int_equal(export_to(f, NULL), LS_OK);
    f->results.metrics = NULL;
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("SELECT kernel, time_ns FROM kernels WHERE run = 1", "0|1.5;1|1.5;2|6.0;");
    assert_query("SELECT name, launches, time_ns, round(share, 4) FROM top_kernels WHERE run = 1",
                 "|2|7.5|0.8333;void add<int, 4>(int*, \"x\")|1|1.5|0.1667;");
    assert_query("SELECT kernel, type, metric, hit_rate FROM hit_rates WHERE run = 1",
                 "NULL|l1/cycle|hit_rate|0.5;0|l1/cycle|hit_rate|0.75;1|l1/cycle|hit_rate|0.25;"
                 "2|l1/cycle|hit_rate|NULL;");
    assert_query("SELECT count(*) FROM ipc", "0;");
    assert_query("SELECT count(*) FROM stalls", "0;");
}

static void test_differences(void **state)
{
    fixture *f = *state;
    assert_int_equal(export_to(f, NULL), LS_OK);
    f->cache[0].hits += 500000;
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query(
        "SELECT metric, value_a, value_b, difference FROM run_differences WHERE run_a = 1 AND run_b = 2"
        " AND difference > 0 ORDER BY metric",
        "hit_rate|0.5|0.625|0.2;hits|2000000|2500000|0.2;");
    assert_query("SELECT run_b, kernel, time_a_ns, time_b_ns, ratio FROM kernel_differences WHERE run_a = 1",
                 "2|0|1.5|1.5|1.0;2|1|1.5|1.5|1.0;");
}

/* On request kernels have the blocks that did something. */
static void test_per_block(void **state)
{
    fixture *f = *state;
    const export_options options = { .per_block = true };
    assert_int_equal(export_results(&f->results, LS_EXPORT_SQLITE, &options, path, NULL), LS_OK);
    assert_query("SELECT kernel, block, value FROM readings WHERE metric = 'hits'",
                 "NULL|gpu0.l1[0]|1500000;NULL|gpu0.l1[1]|500000;0|gpu0.l1[0]|1500000;1|gpu0.l1[1]|500000;");
    assert_query("SELECT scope, count(*) FROM buckets GROUP BY scope", "1|2;2|2;");
    /* A run that is removed takes its values along. */
    execute("DELETE FROM scopes");
    assert_query("SELECT (SELECT count(*) FROM \"l1/cycle\"), (SELECT count(*) FROM \"l1/cycle.blocks\"),"
                 " (SELECT count(*) FROM buckets)",
                 "0|0|0;");
}

/* A later run of the same type with one more metric: a new column, empty for the run before. */
static void test_new_metric(void **state)
{
    fixture *f = *state;
    static const ls_metric more[] = {
        LS_METRIC_COUNTER(fixture_dram, reads, "bursts", "bursts read"),
        LS_METRIC_COUNTER(fixture_dram, open_rows, "rows", "it was a level"),
        LS_METRIC_COUNTER(fixture_dram, refreshes, "", "refreshes"),
        LS_METRIC_RATIO(fixture_dram, "new \"rate\"", refreshes, reads, "", "refreshes per read"),
    };
    fixture_dram dram = { .reads = 8, .refreshes = 2 };
    assert_int_equal(export_to(f, NULL), LS_OK);
    metric_store *m;
    assert_int_equal(metrics_create(&m, NULL), LS_OK);
    fixture_add(m, "dram", "dram/bank", LS_METRICS_NONE, more, LS_COUNT_OF(more), &dram, sizeof dram);
    fixture_add(m, "other", "new/type", LS_METRICS_NONE, more, LS_COUNT_OF(more), &dram, sizeof dram);
    f->results.metrics = m;
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("SELECT run, metric, value FROM totals WHERE metric LIKE 'new%'",
                 "2|new \"rate\"|0.25;2|new \"rate\"|0.25;");
    assert_query("SELECT run, kernel, value FROM totals WHERE type = 'dram/bank' AND metric = 'refreshes'",
                 "1|NULL|0;1|0|0;1|1|0;2|NULL|2;");
    assert_query("PRAGMA integrity_check", "ok;");
    metrics_destroy(m);
}

static void test_second_run(void **state)
{
    fixture *f = *state;
    static const char index[] = "SELECT count(*) FROM sqlite_master WHERE name = 'scopes_by_run'";
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query(index, "0;"); /* a single run needs none */
    f->cache[0].hits += 7;
    f->results.partial = true;
    f->results.partial_reason = "interrupted by the user";
    f->results.has_cycles = false;
    fixture_warn(f);
    f->results.host.threads = 1;
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query(index, "1;");
    assert_query("SELECT run, partial, partial_reason FROM runs", "1|0|NULL;2|1|interrupted by the user;");
    assert_query("SELECT cycles, region_cycles FROM runs", "4|77;NULL|77;");
    assert_query("SELECT run, kind, text FROM warnings",
                 "2|key|'a.b' has no effect: it needs \"c\", not \"d\";"
                 "2|unmodelled|7 instructions, of 2 kinds;");
    assert_query("SELECT run, threads FROM host", "1|2;2|1;");
    assert_query("SELECT run, value FROM readings WHERE metric = 'hits' AND kernel IS NULL",
                 "1|1500000;1|500000;2|1500007;2|500000;");
    assert_query("SELECT run, kernel, value FROM totals WHERE metric = 'hits' AND kernel = 1",
                 "1|1|500000;2|1|500000;");
    assert_query("PRAGMA integrity_check", "ok;");
    assert_query("PRAGMA foreign_key_check", "");
    /* Nothing else differs. */
    assert_query("SELECT kernel, block, metric FROM (SELECT kernel, block, metric, value"
                 " FROM readings WHERE run = 1 EXCEPT SELECT kernel, block, metric, value"
                 " FROM readings WHERE run = 2) ORDER BY metric",
                 "NULL|gpu0.l1[0]|hit_rate;NULL|gpu0.l1[0]|hits;");
}

static void test_empty_file_is_filled(void **state)
{
    fixture *f = *state;
    fclose(fopen(path, "w"));
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("SELECT count(*) FROM runs", "1;");
}

static void test_without_metrics(void **state)
{
    fixture *f = *state;
    f->results.metrics = NULL;
    f->results.platform = NULL;
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("SELECT count(*), max(platform) FROM runs", "1|NULL;");
    assert_query("SELECT count(*) FROM totals", "0;");
    assert_query("SELECT count(*) FROM readings", "0;");
}

static void test_other_files_are_refused(void **state)
{
    fixture *f = *state;
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 300; i++)
        fputs("this is not a database\n", file);
    fclose(file);
    assert_refused(f, LS_ERR_INPUT, "not an SQLite database");
    unlink(path);
    execute("CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    assert_refused(f, LS_ERR_INPUT, "does not hold Lockstep results");
    unlink(path);
    assert_int_equal(export_to(f, NULL), LS_OK);
    execute("PRAGMA user_version = 7");
    assert_refused(f, LS_ERR_INPUT, "the database has schema version 7, this Lockstep writes version 3");
}

static void test_damaged(void **state)
{
    fixture *f = *state;
    assert_int_equal(export_to(f, NULL), LS_OK);
    /* Keep the header and the schema page; destroy the rest. */
    FILE *file = fopen(path, "r+b");
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    fseek(file, 4096, SEEK_SET);
    for (long i = 4096; i < bytes; i++)
        fputc(0xa5, file);
    fclose(file);
    assert_refused(f, LS_ERR_INPUT, "damaged");
}

static void test_locked(void **state)
{
    fixture *f = *state;
    assert_int_equal(export_to(f, NULL), LS_OK);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    ls_error err = { 0 };
    assert_int_equal(export_to(f, &err), LS_ERR_IO);
    assert_string_equal(err.what, "the database is locked by another program");
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_query("SELECT count(*) FROM runs", "1;");
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("SELECT count(*) FROM runs", "2;");
}

/* An id names one run; a run without an id is never refused. */
static void test_run_ids(void **state)
{
    fixture *f = *state;
    ls_error err = { 0 };
    run_results results = f->results;
    results.host.run_id = "mine";
    assert_int_equal(export_check_id(path, "mine", &err), LS_OK); /* no database yet */
    assert_int_equal(export_results(&results, LS_EXPORT_SQLITE, NULL, path, &err), LS_OK);
    assert_int_equal(export_results(&results, LS_EXPORT_SQLITE, NULL, path, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "the database already has a run with the id 'mine', run 1");
    assert_string_equal(err.where, path);
    assert_int_equal(export_check_id(path, "mine", &err), LS_ERR_USAGE);
    assert_int_equal(export_check_id(path, "other", &err), LS_OK);
    results.host.run_id = NULL;
    for (int i = 0; i < 2; i++)
        assert_int_equal(export_results(&results, LS_EXPORT_SQLITE, NULL, path, &err), LS_OK);
    assert_query("SELECT count(*) FROM runs", "3;");
}

/* An empty file is a database without content. */
static void test_empty_file(void **state)
{
    fixture *f = *state;
    fclose(fopen(path, "w"));
    assert_int_equal(export_to(f, NULL), LS_OK);
    assert_query("SELECT count(*) FROM runs", "1;");
}

enum { WRITERS = 8, TRIES = 100 };

/* One process of many: waits until the gate opens, then writes its run. */
static void write_at_once(const fixture *f, unsigned writer, int gate)
{
    char id[24], byte;
    run_results results = f->results;
    snprintf(id, sizeof id, "writer-%u", writer);
    results.host.run_id = id;
    (void)!read(gate, &byte, 1); /* returns when the other end is closed */
    _exit(export_results(&results, LS_EXPORT_SQLITE, NULL, path, NULL) == LS_OK ? 0 : 1);
}

/* Nothing is lost or duplicated, whichever process makes the database. */
static void test_writers_at_once(void **state)
{
    fixture *f = *state;
    for (int try = 0; try < TRIES; try++) {
        pid_t pids[WRITERS];
        int gate[2], status;
        assert_int_equal(pipe(gate), 0);
        for (unsigned i = 0; i < WRITERS; i++) {
            pids[i] = fork();
            assert_true(pids[i] >= 0);
            if (pids[i] == 0) {
                close(gate[1]);
                write_at_once(f, i, gate[0]);
            }
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < WRITERS; i++) {
            assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
            assert_int_equal(status, 0);
        }
        assert_query("SELECT count(*), count(DISTINCT run_id) FROM runs JOIN host USING(run)", "8|8;");
        assert_query("SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM readings GROUP BY run)", "1;");
        assert_query("PRAGMA integrity_check", "ok;");
        unlink(path);
    }
}

/* A failure in the middle of a run that is added takes all of it back. */
static void test_failure_rolls_back(void **state)
{
    fixture *f = *state;
    assert_int_equal(export_to(f, NULL), LS_OK);
    execute("CREATE TRIGGER no BEFORE INSERT ON \"l1/cycle\" WHEN NEW.hits = 500000"
            " BEGIN SELECT RAISE(ABORT, 'no sums here'); END");
    assert_refused(f, LS_ERR_IO, "cannot write the database: no sums here");
    assert_query("SELECT count(*) FROM runs", "1;");
    execute("DROP TRIGGER no");
    f->cache[0].hits = 1; /* and so does a counter that went backwards */
    size_t bytes;
    char *before = read_file(&bytes);
    ls_error err = { 0 };
    assert_int_equal(export_to(f, &err), LS_ERR_INTERNAL);
    size_t after_bytes;
    char *after = read_file(&after_bytes);
    assert_int_equal(bytes, after_bytes);
    assert_memory_equal(before, after, bytes);
    free(before);
    free(after);
}

/* A full disk, as a limit on the size of files. */
static void test_full_disk(void **state)
{
    fixture *f = *state;
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = (struct rlimit){ .rlim_cur = 8192, .rlim_max = old.rlim_max };
    ls_error err = { 0 };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    ls_status status = export_to(f, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, LS_ERR_IO);
    assert_contains(err.what, "cannot write the database");
    assert_int_not_equal(access(path, F_OK), 0); /* nothing half-written */

    assert_int_equal(export_to(f, NULL), LS_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    small.rlim_cur = (rlim_t)st.st_size; /* no room to grow */
    for (uint64_t i = 2; i < 400; i++) {
        f->cache[0].hits++;
        fixture_mark(f->m, i, "another kernel with a long name, so that pages fill", i, i);
    }
    size_t before_bytes, after_bytes;
    char *before = read_file(&before_bytes);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    status = export_to(f, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, LS_ERR_IO);
    char *after = read_file(&after_bytes);
    assert_int_equal(before_bytes, after_bytes);
    assert_memory_equal(before, after, before_bytes);
    free(before);
    free(after);
    assert_query("SELECT count(*) FROM runs", "1;");
    signal(SIGXFSZ, SIG_DFL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_contents),
        TEST(test_views),
        TEST(test_differences),
        TEST(test_per_block),
        TEST(test_new_metric),
        TEST(test_second_run),
        TEST(test_empty_file_is_filled),
        TEST(test_without_metrics),
        TEST(test_other_files_are_refused),
        TEST(test_damaged),
        TEST(test_locked),
        TEST(test_run_ids),
        TEST(test_empty_file),
        TEST(test_writers_at_once),
        TEST(test_failure_rolls_back),
        TEST(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
