/* Differences of two saved runs, through all three formats, with numbers worked out by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "report/compare.h"
#include "report/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct counters {
    uint64_t cycles, hits, accesses, peak;
    ls_histogram wait;
} counters;

static const ls_metric metrics[] = {
    LS_METRIC_COUNTER(counters, cycles, "cycles", "cycles"),
    LS_METRIC_COUNTER(counters, hits, "sectors", "hits"),
    LS_METRIC_COUNTER(counters, accesses, "sectors", "accesses"),
    LS_METRIC_RATIO(counters, "hit_rate", hits, accesses, "", "hits / accesses"),
    LS_METRIC_PEAK(counters, peak, "entries", "most entries"),
    LS_METRIC_HISTOGRAM(counters, wait, "cycles", "time in the queue"),
};

static char dir[] = P_tmpdir "/lockstep-compare-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[4][256];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", dir, name);
    return out;
}

/* Two caches, one kernel called "k, \"quoted\"". */
static void write_run(const char *name, uint64_t cycles, uint64_t hits, const char *config)
{
    counters c[2] = { 0 };
    metric_store *m;
    assert_int_equal(metrics_create(&m, NULL), LS_OK);
    for (size_t i = 0; i < 2; i++) {
        char path[32];
        snprintf(path, sizeof path, "gpu0.cache%zu", i);
        const metric_source source = { .path = path,
                                       .type = "l2/cycle",
                                       .gpu = 0,
                                       .stream = LS_METRICS_NONE,
                                       .metrics = metrics,
                                       .metric_count = LS_COUNT_OF(metrics),
                                       .counters = &c[i],
                                       .counters_size = sizeof c[i] };
        assert_int_equal(metrics_add(m, &source, NULL), LS_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        c[i].cycles = cycles;
        c[i].hits = hits * (i + 1);
        c[i].accesses = 100;
        c[i].peak = 5 + i;
        ls_histogram_add(&c[i].wait, 10 * (i + 1));
    }
    const metric_interval kernel = { .gpu = 0, .kernel = 7, .kernel_name = "k, \"quoted\"", .end = 2000000 };
    assert_int_equal(metrics_mark(m, &kernel, NULL), LS_OK);
    const run_results results = { .platform = "p",
                                  .config_text = config,
                                  .end_time = cycles * 1000000,
                                  .metrics = m,
                                  .host = { .command = "lockstep run", .threads = 1 } };
    export_format format;
    assert_int_equal(export_format_of(name, &format, NULL), LS_OK);
    const export_options options = { .per_block = strncmp(name, "blocks", 6) == 0 };
    assert_int_equal(export_results(&results, format, &options, in_dir(name), NULL), LS_OK);
    metrics_destroy(m);
}

static const compare_row *row_of(const result_diff *c, const char *name)
{
    for (size_t i = 0; i < c->rows.count; i++)
        if (strcmp(c->rows.at[i].name, name) == 0)
            return &c->rows.at[i];
    return NULL;
}

enum { FILES = 8 };

static void check_totals(const saved_results *saved, uint32_t scope)
{
    saved_value totals[LS_COUNT_OF(metrics)];
    saved_totals(saved, scope, totals);
    for (size_t k = 0; k < LS_COUNT_OF(metrics); k++) {
        static const double wanted[] = { 200, 60, 200, 0.3, 6, 15 };
        size_t declared = 0;
        while (strcmp(metrics[declared].name, saved->metrics.at[k].name) != 0)
            declared++;
        assert_true(saved_value_number(saved->metrics.at[k].kind, &totals[k]) == wanted[declared]);
        assert_string_equal(saved->metrics.at[k].unit, metric_unit(&metrics[declared]));
    }
}

static void test_formats_agree(void **state)
{
    (void)state;
    static const char *const names[FILES] = { "a.json",      "a.csv",           "a.db",          "a.tidy.csv",
                                              "blocks.json", "blocks.tidy.csv", "blocks.sqlite", "a.csv.gz" };
    saved_results *saved[FILES];
    for (size_t i = 0; i < FILES; i++) {
        write_run(names[i], 100, 20, "x: 1\n");
        assert_int_equal(saved_load(in_dir(names[i]), &saved[i], NULL), LS_OK);
        assert_string_equal(saved[i]->platform, "p");
        assert_int_equal(saved[i]->kernels.count, 1);
        assert_int_equal(saved[i]->kernels.at[0].id, 7);
        assert_string_equal(saved[i]->kernels.at[0].name, "k, \"quoted\"");
        assert_true(saved[i]->kernels.at[0].end_fs == 2000000);
        assert_int_equal(saved[i]->metrics.count, LS_COUNT_OF(metrics));
        check_totals(saved[i], LS_SAVED_RUN);
        check_totals(saved[i], 1);
    }
    for (size_t i = 0; i < FILES; i++)
        for (size_t k = 0; k < FILES; k++) {
            for (int form = 0; form < 4; form++) { /* run or kernel, types or blocks */
                uint32_t scope = form & 1;
                bool per_block = form >= 2;
                bool blocks = saved_has_blocks(saved[i], scope) && saved_has_blocks(saved[k], scope);
                result_diff compare;
                ls_error err = { 0 };
                const compare_options options = { .per_block = per_block, .kernel = scope ? "7" : NULL };
                ls_status status = compare_runs(saved[i], saved[k], &options, &compare, &err);
                if (per_block && !blocks) {
                    assert_int_equal(status, LS_ERR_USAGE);
                    assert_non_null(strstr(err.what, "no values of single blocks"));
                    continue;
                }
                assert_int_equal(status, LS_OK);
                assert_int_equal(compare.rows.count, 0);
                assert_int_equal(compare.compared, per_block ? 12 : 6);
                compare_fini(&compare);
            }
        }
    /* Only files written with --per-block have blocks in kernels; only CSV has none in the run. */
    for (size_t i = 0; i < FILES; i++) {
        assert_int_equal(saved_has_blocks(saved[i], 1), i >= 4 && i <= 6);
        assert_int_equal(saved_has_blocks(saved[i], LS_SAVED_RUN), i != 1 && i != 7);
        saved_destroy(saved[i]);
    }
}

static void test_largest_first(void **state)
{
    (void)state;
    write_run("one.json", 100, 20, "l1: 32\nsame: x\nold: 1\n");
    write_run("two.csv", 120, 5, NULL);
    static const char config[] = "l1: 64\nsame: x\nnew: 2\n";
    assert_int_equal(file_write(in_dir("two.csv.platform.yaml"), config, sizeof config - 1, NULL), LS_OK);
    saved_results *a, *b;
    assert_int_equal(saved_load(in_dir("one.json"), &a, NULL), LS_OK);
    assert_int_equal(saved_load(in_dir("two.csv"), &b, NULL), LS_OK);
    result_diff compare;
    const compare_options all = { 0 };
    assert_int_equal(compare_runs(a, b, &all, &compare, NULL), LS_OK);
    /* hits 60 -> 15 and the rate with it (0.75), then cycles 200 -> 240 (1/6). */
    assert_int_equal(compare.rows.count, 3);
    assert_string_equal(compare.rows.at[0].name, "hits");
    assert_true(fabs(compare.rows.at[0].difference - 0.75) < 1e-12);
    assert_string_equal(compare.rows.at[1].name, "hit_rate");
    assert_string_equal(compare.rows.at[2].name, "cycles");
    assert_true(compare.rows.at[2].a == 200 && compare.rows.at[2].b == 240);
    assert_int_equal(compare.keys.count, 3);
    assert_string_equal(compare.keys.at[0].key, "l1");
    assert_string_equal(compare.keys.at[0].b, "64");
    assert_string_equal(compare.keys.at[1].key, "old");
    assert_null(compare.keys.at[1].b);
    assert_null(compare.keys.at[2].a);
    assert_true(compare.times.at[0].a == 100 && compare.times.at[0].b == 120);
    compare_fini(&compare);

    const compare_options some = { .metric = "l2/*.cyc*", .kernel = "7", .threshold = 0.1 };
    assert_int_equal(compare_runs(a, b, &some, &compare, NULL), LS_OK);
    assert_int_equal(compare.rows.count, 1);
    assert_int_equal(compare.rows.at[0].kernel, 7);
    assert_null(row_of(&compare, "hits"));
    compare_fini(&compare);

    ls_error err;
    const compare_options wrong = { .metric = "cycle" };
    assert_int_equal(compare_runs(a, b, &wrong, &compare, &err), LS_ERR_USAGE);
    assert_string_equal(err.nearest, "cycles");
    const compare_options nobody = { .kernel = "gemm" };
    assert_int_equal(compare_runs(a, b, &nobody, &compare, &err), LS_ERR_USAGE);
    saved_destroy(a);
    saved_destroy(b);
}

static void test_difference(void **state)
{
    (void)state;
    assert_true(compare_difference(0, 0) == 0);
    assert_true(compare_difference(50, 100) == 0.5);
    assert_true(compare_difference(0, 1) == 1);
    assert_true(compare_difference(NAN, 1) == 1);
    assert_true(compare_difference(NAN, NAN) == 0);
}

/* A database keeps several runs; files that are cut are refused wherever the cut is. */
static void test_runs_and_damage(void **state)
{
    (void)state;
    write_run("runs.db", 1, 1, NULL);
    write_run("runs.db", 2, 1, NULL);
    saved_results *saved;
    ls_error err;
    char path[300];
    snprintf(path, sizeof path, "%s#1", in_dir("runs.db"));
    assert_int_equal(saved_load(path, &saved, NULL), LS_OK);
    assert_true(saved->end_time_fs == 1e6);
    saved_destroy(saved);
    assert_int_equal(saved_load(in_dir("runs.db"), &saved, NULL), LS_OK);
    assert_true(saved->end_time_fs == 2e6);
    saved_destroy(saved);
    snprintf(path, sizeof path, "%s#3", in_dir("runs.db"));
    assert_int_equal(saved_load(path, &saved, &err), LS_ERR_INPUT);
    assert_null(saved);
    assert_int_equal(saved_load(in_dir("missing.json"), &saved, &err), LS_ERR_IO);
    assert_int_equal(saved_load(in_dir("a.txt"), &saved, &err), LS_ERR_USAGE);

    static const char *const names[] = { "cut.json", "cut.csv", "cut.tidy.csv" };
    for (size_t i = 0; i < LS_COUNT_OF(names); i++) {
        write_run(names[i], 3, 1, NULL);
        mem_arena arena = { 0 };
        char *data;
        size_t bytes;
        assert_int_equal(file_read(&arena, in_dir(names[i]), 1 << 20, &data, &bytes, NULL), LS_OK);
        /* The last line break alone may be missing. */
        for (size_t keep = 0; keep + (i == 1 ? 1 : 20) < bytes; keep += 1 + bytes / 97) {
            assert_int_equal(file_write(in_dir(names[i]), data, keep, NULL), LS_OK);
            assert_int_not_equal(saved_load(in_dir(names[i]), &saved, &err), LS_OK);
            assert_non_null(strstr(err.where, "cut."));
        }
        arena_fini(&arena);
    }
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_agree),
        cmocka_unit_test(test_largest_first),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_runs_and_damage),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
