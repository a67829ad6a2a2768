/* Common functions of all exporters: the choice of the format, whole files or none, the same data for any
 * host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/export_impl.h"
#include "report/fixture.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_format_by_extension(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        export_format format;
    } good[] = { { "a.txt", LS_EXPORT_TEXT },       { "a.JSON", LS_EXPORT_JSON },
                 { "dir.db/a.csv", LS_EXPORT_CSV }, { "a.b.db", LS_EXPORT_SQLITE },
                 { "a.sqlite", LS_EXPORT_SQLITE },  { "/x/a.sqlite3", LS_EXPORT_SQLITE },
                 { "a.tidy.csv", LS_EXPORT_TIDY },  { "a.csv.gz", LS_EXPORT_CSV },
                 { "a.CSV.ZST", LS_EXPORT_CSV },    { "a.tidy.csv.gz", LS_EXPORT_TIDY },
                 { "tidy.csv", LS_EXPORT_CSV } };
    for (size_t i = 0; i < LS_COUNT_OF(good); i++) {
        export_format format;
        assert_int_equal(export_format_of(good[i].path, &format, NULL), LS_OK);
        assert_int_equal(format, good[i].format);
    }
    const char *bad[] = { "a",     "a.",        ".",        "",     "dir.db/a", "a.jso",   "a.jsonx",
                          "a. db", "a.json.gz", "a.db.zst", "a.gz", ".csv",     "a.csv.xz" };
    for (size_t i = 0; i < LS_COUNT_OF(bad); i++) {
        export_format format;
        ls_error err = { 0 };
        assert_int_equal(export_format_of(bad[i], &format, &err), LS_ERR_USAGE);
        assert_contains(
            err.what,
            ".db .sqlite .sqlite3 (SQLite), .json, .csv (also .csv.gz, .csv.zst), .tidy.csv or .txt");
    }
    assert_string_equal(export_format_name(LS_EXPORT_SQLITE), "sqlite");
}

static void test_stats(void **state)
{
    (void)state;
    export_stat stats[EXPORT_STATS];
    metric_value v = {
        .kind = LS_METRIC_KIND_RATIO, .present = true, .value = 1, .denominator = 8, .ratio = 0.125
    };
    assert_int_equal(export_stats(&v, stats), 3);
    assert_string_equal(stats[2].name, "value");
    assert_true(stats[2].is_real && stats[2].real == 0.125);
    v.present = false;
    assert_int_equal(export_stats(&v, stats), 2);

    v = (metric_value){ .kind = LS_METRIC_KIND_HISTOGRAM, .present = true };
    assert_int_equal(export_stats(&v, stats), 2); /* an empty one has no min and max */
    /* The most a histogram can have fits. */
    ls_histogram_add(&v.histogram, 0);
    for (int b = 0; b < 64; b++)
        ls_histogram_add(&v.histogram, UINT64_C(1) << b);
    assert_int_equal(export_stats(&v, stats), EXPORT_STATS);
    assert_string_equal(stats[4].name, "bucket_0");
    assert_string_equal(stats[5].name, "bucket_1");
    assert_string_equal(stats[EXPORT_STATS - 1].name, "bucket_9223372036854775808");
}

static size_t files_in(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    size_t count = 0;
    for (struct dirent *e; (e = readdir(d));)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static void test_failed_files(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    char dir[] = P_tmpdir "/ls_export_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    /* No such directory, a directory in the way, a file system that takes no files, a full device. */
    snprintf(path, sizeof path, "%s/no/such.x", dir);
    const char *bad[] = { path, dir, "/proc/x.db", "/dev/full" };
    for (int format = 0; format < LS_EXPORT_FORMATS; format++)
        for (size_t i = 0; i < LS_COUNT_OF(bad); i++) {
            ls_error err = { 0 };
            assert_int_equal(export_results(&f->results, (export_format)format, NULL, bad[i], &err),
                             LS_ERR_IO);
            assert_string_equal(err.where, bad[i]);
            assert_true(err.what[0]);
        }
    assert_int_equal(files_in(dir), 0);
    struct stat st;
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode)); /* still the device */
    ls_error err = { 0 };
    assert_int_equal(export_stream(&f->results, LS_EXPORT_SQLITE, NULL, stderr, &err), LS_ERR_USAGE);
    rmdir(dir);
    fixture_destroy(f);
}

/* A registry that cannot be read leaves the old file. */
static void test_failed_export_keeps_old_file(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    char dir[] = P_tmpdir "/ls_export_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    f->cache[0].hits = 1; /* backwards */
    for (int format = 0; format < LS_EXPORT_SQLITE; format++) {
        snprintf(path, sizeof path, "%s/old", dir);
        FILE *old = fopen(path, "w");
        fputs("old", old);
        fclose(old);
        ls_error err = { 0 };
        assert_int_equal(export_results(&f->results, (export_format)format, NULL, path, &err),
                         LS_ERR_INTERNAL);
        assert_contains(err.what, "went backwards");
        char text[8] = { 0 };
        old = fopen(path, "r");
        assert_int_equal(fread(text, 1, sizeof text, old), 3);
        fclose(old);
        assert_string_equal(text, "old");
        assert_int_equal(files_in(dir), 1);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/new.db", dir);
    assert_int_equal(export_results(&f->results, LS_EXPORT_SQLITE, NULL, path, NULL), LS_ERR_INTERNAL);
    assert_int_equal(files_in(dir), 0);
    rmdir(dir);
    fixture_destroy(f);
}

static void test_files_are_written(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    char dir[] = P_tmpdir "/ls_export_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    for (int format = 0; format < LS_EXPORT_SQLITE; format++) {
        snprintf(path, sizeof path, "%s/r.%s", dir, export_format_name((export_format)format));
        assert_int_equal(export_results(&f->results, (export_format)format, NULL, path, NULL), LS_OK);
        char *expected = fixture_export(f, (export_format)format, NULL);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        char *text = calloc(1, strlen(expected) + 2);
        assert_int_equal(fread(text, 1, strlen(expected) + 1, file), strlen(expected));
        assert_string_equal(text, expected);
        fclose(file);
        free(text);
        free(expected);
        unlink(path);
    }
    assert_int_equal(rmdir(dir), 0);
    fixture_destroy(f);
}

/* Cuts the host part out of a text. */
static void cut_host(char *text, export_format format)
{
    const char *starts[] = {
        [LS_EXPORT_TEXT] = "\nhost\n", [LS_EXPORT_JSON] = "\"host\": {", [LS_EXPORT_TIDY] = "\r\nhost,"
    };
    char *at = strstr(text, starts[format]);
    assert_non_null(at);
    *at = '\0';
}

static void test_data_is_free_of_the_host(void **state)
{
    (void)state;
    fixture *a = fixture_create(), *b = fixture_create();
    b->results.host = (results_host){
        .run_id = "other", .command = "lockstep -j8", .wall_seconds = 0.1, .threads = 8, .windows = 7
    };
    for (int format = 0; format < LS_EXPORT_SQLITE; format++) {
        char *left = fixture_export(a, (export_format)format, NULL);
        char *right = fixture_export(b, (export_format)format, NULL);
        if (format != LS_EXPORT_CSV) { /* which has no host part at all */
            assert_true(strcmp(left, right) != 0);
            cut_host(left, (export_format)format);
            cut_host(right, (export_format)format);
        }
        assert_string_equal(left, right);
        free(left);
        free(right);
    }
    fixture_destroy(a);
    fixture_destroy(b);
}

/* Equal hashes are equal results: the host part does not count, anything simulated does. */
static void test_hash(void **state)
{
    (void)state;
    const run_results one = {
        .platform = "p", .end_time = 5, .events = 7, .host = { .threads = 1, .wall_seconds = 3 }
    };
    run_results other = one;
    hash128 a, b;
    other.host = (results_host){ .threads = 8, .wall_seconds = 1, .command = "lockstep run" };
    assert_int_equal(export_hash(&one, &a, NULL), LS_OK);
    assert_int_equal(export_hash(&other, &b, NULL), LS_OK);
    assert_memory_equal(&a, &b, sizeof a);
    other.events = 8;
    assert_int_equal(export_hash(&other, &b, NULL), LS_OK);
    assert_memory_not_equal(&a, &b, sizeof a);
}

static void test_without_metrics(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    f->results = (run_results){ .partial = true }; /* nothing known at all */
    for (int format = 0; format < LS_EXPORT_SQLITE; format++) {
        char *text = fixture_export(f, (export_format)format, NULL);
        assert_contains(text, format == LS_EXPORT_CSV ? "run,,,,,0,0,,,,,0,1," : LS_VERSION_STRING);
        free(text);
    }
    /* The hash of a configuration is computed if none was given. */
    char hash[64];
    assert_string_equal(export_config_hash(&f->results, hash), "");
    f->results.config_text = "a: 1\n";
    assert_int_equal(strlen(export_config_hash(&f->results, hash)), 32);
    fixture_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_by_extension), cmocka_unit_test(test_stats),
        cmocka_unit_test(test_failed_files),        cmocka_unit_test(test_failed_export_keeps_old_file),
        cmocka_unit_test(test_files_are_written),   cmocka_unit_test(test_data_is_free_of_the_host),
        cmocka_unit_test(test_without_metrics),     cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
