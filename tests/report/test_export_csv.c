/* CSV with a row per kernel: names and places of columns, numbers, what is empty, and compressed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"

#include "report/saved.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#define LABELS                                                                                                \
    "row,gpu,kernel,name,stream,begin_fs,end_fs,cycles,overlapped,platform,config_hash,seed,partial,warnings"
#define CACHE_COLUMNS                                                                                         \
    ",l1/cycle.hits [sectors],l1/cycle.accesses [sectors],l1/cycle.hit_rate,l1/cycle.queue_peak [entries]"    \
    ",l1/cycle.wait.count,l1/cycle.wait.sum [cycles],l1/cycle.wait.min [cycles],l1/cycle.wait.max [cycles]"
#define DRAM_COLUMNS                                                                                          \
    ",dram/bank.reads [bursts],dram/bank.refreshes,dram/bank.open_rows [rows],dram/bank.refresh_rate"

static void test_rows(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    ls_clock clock;
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ 2000000000, 1 }, NULL), LS_OK); /* 500,000 fs */
    f->results.clock = &clock;
    char *text = fixture_export(f, LS_EXPORT_CSV, NULL);
    assert_string_equal(text, LABELS CACHE_COLUMNS DRAM_COLUMNS
                        "\r\n"
                        "kernel,0,0,\"void add<int, 4>(int*, \"\"x\"\")\",7,1000000,2500000,3,0,,,,,"
                        ",1500000,2000000,0.75,9,2,5,0,5,0,0,3,\r\n"
                        "kernel,0,1,,7,2500000,4000000,3,0,,,,,"
                        ",500000,2000000,0.25,12,0,0,,,18446744073709551615,0,3,\r\n"
                        "run,,,,,0,4000000,4,,rtx2060,00ff,42,0,"
                        ",2000000,4000000,0.5,12,2,5,0,5,18446744073709551615,0,3,\r\n");
    free(text);
    fixture_destroy(f);
}

/* The facts that are sentences stand in one cell; kernels that overlap have empty cells in place of zeros. */
static void test_warnings_and_overlap(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    fixture_warn(f);
    f->results.partial = true;
    f->results.partial_reason = "stopped";
    f->cache[1].hits += 4;
    metric_interval shared = {
        .gpu = 0, .kernel = 2, .kernel_name = "s", .stream = -1, .end = 5, .overlapped = true, .shared = true
    };
    assert_int_equal(metrics_mark(f->m, &shared, NULL), LS_OK);
    char *text = fixture_export(f, LS_EXPORT_CSV, NULL);
    assert_contains(text, "\r\nshared,0,2,s,,0,5,,1,,,,,,4,,,,,,,,,,3,\r\n");
    assert_contains(text, "rtx2060,00ff,42,1,\"partial: stopped\n"
                          "key: 'a.b' has no effect: it needs \"\"c\"\", not \"\"d\"\"\n"
                          "unmodelled: 7 instructions, of 2 kinds\n\",2000004,");
    free(text);
    fixture_destroy(f);
}

/* Quotients of kernels have nine digits, at any size. */
static void test_quotients(void **state)
{
    (void)state;
    static const struct {
        uint64_t above, below;
        const char *text;
    } cases[] = { { 1, 3, "0.333333333" },
                  { 2, 3, "0.666666667" },
                  { 1, 30, "0.0333333333" },
                  { 1, 300, "0.00333333333" },
                  { 1, 3000, "0.000333333333" },
                  { 10, 3, "3.33333333" },
                  { 100000000, 3, "33333333.3" },
                  { 1000000000, 3, "333333333" },
                  { 999999999999, 1000000000000, "1" },
                  { 9999999999, 1000000000, "10" },
                  { 5, 1, "5" },
                  { 0, 7, "0" },
                  { 1, 1024, "0.0009765625" },
                  { 1, 512, "0.001953125" },
                  { UINT64_MAX, 1, "1.84467441e+19" } };
    for (size_t i = 0; i < LS_COUNT_OF(cases); i++) {
        fixture *f = fixture_create();
        f->cache[0].hits += cases[i].above;
        f->cache[0].accesses += cases[i].below;
        if (cases[i].above == UINT64_MAX) /* only from the beginning */
            f->cache[0].hits = UINT64_MAX, f->cache[0].accesses = 2000001;
        fixture_mark(f->m, 2, "q", 0, 1);
        char *text = fixture_export(f, LS_EXPORT_CSV, NULL), expected[160];
        uint64_t above = cases[i].above == UINT64_MAX ? UINT64_MAX - 1500000 : cases[i].above;
        snprintf(expected, sizeof expected, "kernel,0,2,q,7,0,1,,0,,,,,,%llu,%llu,%s,",
                 (unsigned long long)above, (unsigned long long)cases[i].below, cases[i].text);
        assert_contains(text, expected);
        free(text);
        fixture_destroy(f);
    }
}

static off_t written(const fixture *f, const char *dir, const char *name, char *path, size_t bytes)
{
    export_format format;
    struct stat st;
    snprintf(path, bytes, "%s/%s", dir, name);
    assert_int_equal(export_format_of(path, &format, NULL), LS_OK);
    assert_int_equal(export_results(&f->results, format, NULL, path, NULL), LS_OK);
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

/* A compressed file is smaller and reads back the same; cut short it is refused. */
static void test_compressed(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    for (uint64_t i = 2; i < 3000; i++) {
        f->cache[0].hits += i * i % 1000;
        f->cache[0].accesses += 1000;
        fixture_mark(f->m, i, "again", i, i + 1);
    }
    char dir[] = P_tmpdir "/ls_packed_XXXXXX", path[96], plain[96];
    ls_error err = { 0 };
    assert_non_null(mkdtemp(dir));
    off_t size = written(f, dir, "a.csv", plain, sizeof plain);
    static const char *const names[] = { "a.csv.gz", "a.csv.zst", "a.tidy.csv.gz" };
    for (size_t i = 0; i < LS_COUNT_OF(names); i++) {
        off_t packed = written(f, dir, names[i], path, sizeof path);
        assert_true(packed * 3 < size || i == 2);
        saved_results *saved;
        if (saved_load(path, &saved, &err) != LS_OK)
            fail_msg("%s: %s", err.where, err.what);
        assert_int_equal(saved->kernels.count, 3000);
        saved_value totals[16];
        assert_true(saved->metrics.count <= LS_COUNT_OF(totals));
        saved_totals(saved, 2003, totals);
        for (size_t k = 0; k < saved->metrics.count; k++)
            if (strcmp(saved->metrics.at[k].name, "hits") == 0)
                assert_true(totals[k].a == 2002 * 2002 % 1000);
        saved_destroy(saved);
        assert_int_equal(truncate(path, packed - 20), 0);
        assert_int_equal(saved_load(path, &saved, &err), LS_ERR_INPUT);
        assert_contains(err.what, "damaged or cut short");
        unlink(path);
    }
    unlink(plain);
    /* A full disk below the compressor is named. */
    (void)symlink("/dev/full", path);
    assert_int_equal(export_results(&f->results, LS_EXPORT_TIDY, NULL, path, &err), LS_ERR_IO);
    unlink(path);
    rmdir(dir);
    fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_warnings_and_overlap),
        cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_compressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
