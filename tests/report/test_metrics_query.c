/* The registry's reading side: reduction in a fixed order, ratios, percentiles, wildcards, untouched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/metrics.h"

#include <string.h>

typedef struct cache_counters {
    uint64_t hits, accesses, peak, level;
    ls_histogram wait;
} cache_counters;

static const ls_metric cache_table[] = {
    LS_METRIC_COUNTER(cache_counters, hits, "sectors", "found"),
    LS_METRIC_COUNTER(cache_counters, accesses, "sectors", "looked up"),
    LS_METRIC_RATIO(cache_counters, "hit_rate", hits, accesses, "", "hits / accesses"),
    LS_METRIC_PEAK(cache_counters, peak, "entries", "most at once"),
    LS_METRIC_LEVEL(cache_counters, level, "entries", "now"),
    LS_METRIC_HISTOGRAM(cache_counters, wait, "cycles", "time in the queue"),
};

typedef struct dram_counters {
    uint64_t reads, hits;
} dram_counters;

static const ls_metric dram_table[] = {
    LS_METRIC_COUNTER(dram_counters, reads, "bursts", "read"),
    { .name = "hits", .kind = LS_METRIC_KIND_COUNTER, .offset = 8, .unit = "rows" },
};

typedef struct fixture {
    metric_store *m;
    cache_counters c[3];
    dram_counters d;
} fixture;

static void add(metric_store *m, const char *path, const char *type, const ls_metric *table, size_t count,
                void *counters, size_t size)
{
    metric_source s = { .path = path,
                        .type = type,
                        .gpu = LS_METRICS_NONE,
                        .stream = LS_METRICS_NONE,
                        .metrics = table,
                        .metric_count = count,
                        .counters = counters,
                        .counters_size = size };
    ls_error err = { 0 };
    if (metrics_add(m, &s, &err) != LS_OK)
        fail_msg("%s", err.what);
}

static int setup(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    assert_int_equal(metrics_create(&f.m, NULL), LS_OK);
    /* Registration order differs from the order of addresses. */
    add(f.m, "gpu0.core1.l1", "l1/cycle", cache_table, LS_COUNT_OF(cache_table), &f.c[2], sizeof f.c[0]);
    add(f.m, "gpu0.dram", "dram/bank", dram_table, LS_COUNT_OF(dram_table), &f.d, sizeof f.d);
    add(f.m, "gpu0.core2.l1", "l1/cycle", cache_table, LS_COUNT_OF(cache_table), &f.c[0], sizeof f.c[0]);
    add(f.m, "gpu1.core1.l1", "l1/cycle", cache_table, LS_COUNT_OF(cache_table), &f.c[1], sizeof f.c[0]);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    metrics_destroy(((fixture *)*state)->m);
    return 0;
}

static metric_value get(fixture *f, const char *type, const char *path, const char *name)
{
    metric_value v;
    ls_error err = { 0 };
    if (metrics_get(f->m, LS_METRICS_RUN, type, path, name, &v, &err) != LS_OK)
        fail_msg("%s", err.what);
    return v;
}

static void test_order_is_registration(void **state)
{
    fixture *f = *state;
    const char *paths[] = { "gpu0.core1.l1", "gpu0.dram", "gpu0.core2.l1", "gpu1.core1.l1" };
    assert_int_equal(metrics_source_count(f->m), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(metrics_source_at(f->m, i)->path, paths[i]);
    assert_null(metrics_source_at(f->m, 4));
    assert_int_equal(metrics_type_count(f->m), 2);
    assert_string_equal(metrics_type_at(f->m, 0).name, "l1/cycle");
    assert_int_equal(metrics_type_at(f->m, 0).sources, 3);
    assert_int_equal(metrics_source_type(f->m, 1), 1);
    assert_int_equal(metrics_source_type(f->m, 3), 0);
    assert_string_equal(metric_kind_name(LS_METRIC_KIND_HISTOGRAM), "histogram");
    assert_string_equal(metric_help(&dram_table[1]), "");
}

static void test_reduction(void **state)
{
    fixture *f = *state;
    for (uint64_t i = 0; i < 3; i++) {
        f->c[i].hits = 10 * (i + 1);
        f->c[i].accesses = 100;
        f->c[i].peak = 5 + (i == 1) * 90;
        f->c[i].level = 2;
    }
    ls_histogram_add(&f->c[0].wait, 4);
    ls_histogram_add(&f->c[2].wait, 3);
    ls_histogram_add(&f->c[2].wait, 0);

    metric_value v = get(f, "l1/*", NULL, "hits");
    assert_int_equal(v.value, 60);
    assert_int_equal(v.sources, 3);
    assert_int_equal(get(f, NULL, "gpu0.core*", "hits").value, 40);
    assert_int_equal(get(f, NULL, "gpu?.core1.l1", "hits").value, 50);
    assert_int_equal(get(f, NULL, NULL, "level").value, 6);
    assert_int_equal(get(f, NULL, NULL, "peak").value, 95);
    assert_int_equal(get(f, NULL, "gpu0*", "peak").value, 5);
    v = get(f, NULL, NULL, "hit_rate");
    assert_int_equal(v.value, 60);
    assert_int_equal(v.denominator, 300);
    assert_true(v.present && v.ratio == 0.2);
    v = get(f, NULL, NULL, "wait");
    assert_int_equal(v.histogram.count, 3);
    assert_int_equal(v.histogram.sum, 7);
    assert_int_equal(v.histogram.min, 0);
    assert_int_equal(v.histogram.max, 4);
    assert_int_equal(v.histogram.bucket[0], 1);
    assert_int_equal(v.histogram.bucket[2], 1);
    assert_int_equal(v.histogram.bucket[3], 1);
}

static void test_merge_skips_empty(void **state)
{
    fixture *f = *state;
    ls_histogram_add(&f->c[1].wait, 8);
    metric_value v = get(f, NULL, NULL, "wait");
    assert_int_equal(v.histogram.count, 1);
    assert_int_equal(v.histogram.min, 8);
    assert_int_equal(v.histogram.max, 8);
}

static void test_ratio_over_zero_is_absent(void **state)
{
    fixture *f = *state;
    metric_value v = get(f, NULL, NULL, "hit_rate");
    assert_false(v.present);
    assert_int_equal(v.sources, 3);
    assert_true(v.ratio == 0);
    f->c[0].hits = 7; /* a numerator alone makes no ratio, either */
    v = get(f, NULL, NULL, "hit_rate");
    assert_false(v.present);
    assert_int_equal(v.value, 7);
    f->c[1].accesses = 2; /* sums first: 7 / 2, not a mean of ratios */
    assert_true(get(f, NULL, NULL, "hit_rate").ratio == 3.5);
    f->c[1].accesses = UINT64_MAX;
    f->c[0].hits = UINT64_MAX;
    assert_true(get(f, NULL, NULL, "hit_rate").ratio == 1.0);
}

static void test_questions_without_answer(void **state)
{
    fixture *f = *state;
    metric_value v;
    ls_error err = { 0 };
    assert_int_equal(metrics_get(f->m, LS_METRICS_RUN, NULL, NULL, "acesses", &v, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "no block has a metric called 'acesses'");
    assert_string_equal(err.nearest, "accesses");
    assert_int_equal(metrics_get(f->m, LS_METRICS_RUN, NULL, "gpu0.cor1.l1", "hits", &v, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "no block of type '*' matches 'gpu0.cor1.l1' and has a metric 'hits'");
    assert_string_equal(err.nearest, "gpu0.core1.l1");
    assert_int_equal(metrics_get(f->m, LS_METRICS_RUN, "dram/*", NULL, "peak", &v, &err), LS_ERR_USAGE);
    assert_int_equal(metrics_get(f->m, LS_METRICS_RUN, "dram/*", NULL, "peak", &v, NULL), LS_ERR_USAGE);
    assert_int_equal(metrics_get(f->m, LS_METRICS_RUN, NULL, NULL, "hits", &v, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "'hits' is a counter (sectors) in 'l1/cycle' but a counter (rows) in "
                                  "'dram/bank': name one type");
    assert_false(v.present);
    assert_int_equal(metrics_get(f->m, 0, NULL, NULL, "peak", &v, &err), LS_ERR_USAGE);
    assert_string_equal(err.what, "there is no interval 0: 0 were recorded");
}

static void test_view(void **state)
{
    fixture *f = *state;
    f->c[0].hits = 4; /* gpu0.core2.l1: source 2 */
    metric_interval i = { .gpu = LS_METRICS_NONE, .kernel = 0 };
    assert_int_equal(metrics_mark(f->m, &i, NULL), LS_OK);
    f->c[1].hits = 6;
    assert_int_equal(metrics_mark(f->m, &i, NULL), LS_OK);
    metric_view *view = NULL;
    assert_int_equal(metric_view_create(f->m, &view, NULL), LS_OK);
    metric_value v;
    assert_false(metric_view_has(view, 2)); /* nothing loaded */
    assert_int_equal(metric_view_load(view, 0, NULL), LS_OK);
    assert_true(metric_view_has(view, 2));
    assert_true(metric_view_active(view, 2));
    assert_false(metric_view_active(view, 3));
    metric_view_source(view, 2, 0, &v);
    assert_int_equal(v.value, 4);
    metric_view_type(view, 0, 0, &v);
    assert_int_equal(v.value, 4);
    assert_int_equal(v.sources, 3);
    /* The next load leaves nothing of the one before. */
    assert_int_equal(metric_view_load(view, 1, NULL), LS_OK);
    metric_view_source(view, 2, 0, &v);
    assert_int_equal(v.value, 0);
    metric_view_source(view, 3, 0, &v);
    assert_int_equal(v.value, 6);
    assert_int_equal(metric_view_load(view, LS_METRICS_RUN, NULL), LS_OK);
    metric_view_type(view, 0, 0, &v);
    assert_int_equal(v.value, 10);
    assert_int_equal(metric_view_load(view, 2, NULL), LS_ERR_USAGE);
    assert_false(metric_view_has(view, 2));
    metric_view_destroy(view);
    metric_view_destroy(NULL);
}

static void test_percentile(void **state)
{
    (void)state;
    ls_histogram h = { 0 };
    assert_int_equal(metric_percentile(&h, false, 0.5), 0);
    ls_histogram_add(&h, 0);
    assert_int_equal(metric_percentile(&h, false, 0.99), 0);
    for (uint64_t i = 1; i < 100; i++)
        ls_histogram_add(&h, i);
    assert_int_equal(metric_percentile(&h, false, 0.0), 0);
    assert_int_equal(metric_percentile(&h, false, 0.5), 63);  /* 0..63 are 64 of 100 */
    assert_int_equal(metric_percentile(&h, false, 0.99), 99); /* never beyond max */
    ls_histogram_add(&h, UINT64_MAX);
    assert_int_equal(metric_percentile(&h, false, 1.0), UINT64_MAX);
}

static void test_untouched(void **state)
{
    fixture *f = *state;
    metric_untouched list[16];
    assert_int_equal(metrics_untouched(f->m, list, 16), 8); /* everything */

    f->c[2].hits = 1; /* one instance is enough, and a ratio is touched with either field */
    f->c[0].peak = 3;
    f->c[1].level = 1;
    metric_interval i = { .gpu = LS_METRICS_NONE };
    assert_int_equal(metrics_mark(f->m, &i, NULL), LS_OK);
    f->c[1].level = 0; /* back again, but the mark saw it */
    size_t count = metrics_untouched(f->m, list, 16);
    assert_int_equal(count, 4);
    const char *names[] = { "accesses", "wait", "reads", "hits" };
    for (size_t k = 0; k < count; k++)
        assert_string_equal(metrics_type_at(f->m, list[k].type).metrics[list[k].metric].name, names[k]);
    assert_int_equal(list[3].type, 1);
    assert_int_equal(metrics_untouched(f->m, list, 1), 4);
    assert_int_equal(metrics_untouched(f->m, NULL, 0), 4);
    ls_histogram_add(&f->c[1].wait, 0);
    assert_int_equal(metrics_untouched(f->m, NULL, 0), 3);
}

/* A state that is not zero at registration is not a change. */
static void test_untouched_from_initial(void **state)
{
    fixture *f = *state;
    cache_counters c = { .hits = 5, .accesses = 6, .peak = 7, .level = 8 };
    ls_histogram_add(&c.wait, 1);
    add(f->m, "late", "other", cache_table, LS_COUNT_OF(cache_table), &c, sizeof c);
    assert_int_equal(metrics_untouched(f->m, NULL, 0), 8 + 6);
    metric_interval i = { .gpu = LS_METRICS_NONE };
    assert_int_equal(metrics_mark(f->m, &i, NULL), LS_OK); /* resets the peak field: still no change */
    assert_int_equal(metrics_untouched(f->m, NULL, 0), 8 + 6);
    c.peak = 8;
    c.level = 0;
    assert_int_equal(metrics_untouched(f->m, NULL, 0), 8 + 4);
}

/* Four buckets for each power of two: a value is in the last bucket whose least value is not above it. */
static void test_fine_buckets(void **state)
{
    static const uint64_t values[] = { 0,  1,  7,   8,   9,   10,     15,     16,
                                       19, 20, 140, 159, 160, 131071, 131072, UINT64_MAX };
    (void)state;
    assert_int_equal(ls_histogram_least(8, true), 8);
    assert_int_equal(ls_histogram_least(9, true), 10);
    assert_int_equal(ls_histogram_least(LS_HISTOGRAM_BUCKETS - 1, true), 131072);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ls_histogram h = { 0 };
        unsigned at = 0;
        ls_histogram_add_fine(&h, values[i]);
        while (h.bucket[at] == 0)
            at++;
        assert_true(ls_histogram_least(at, true) <= values[i]);
        assert_true(at + 1 == LS_HISTOGRAM_BUCKETS || ls_histogram_least(at + 1, true) > values[i]);
        assert_int_equal(metric_percentile(&h, true, 0.5), values[i]); /* never beyond max */
    }
    ls_histogram many = { 0 };
    for (uint64_t v = 100; v < 200; v++)
        ls_histogram_add_fine(&many, v);
    assert_int_equal(metric_percentile(&many, true, 0.5), 159); /* 128..159 end at 60 of 100 */
    assert_int_equal(metric_percentile(&many, true, 0.95), 199);
    assert_int_equal(many.sum, 14950);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_order_is_registration),
        TEST(test_reduction),
        TEST(test_merge_skips_empty),
        TEST(test_ratio_over_zero_is_absent),
        TEST(test_questions_without_answer),
        TEST(test_view),
        TEST(test_percentile),
        TEST(test_fine_buckets),
        TEST(test_untouched),
        TEST(test_untouched_from_initial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
