/* Metrics over time: differences, levels and ratios, intervals without work, merging, patterns, CSV. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counters {
    uint64_t hits, accesses, in_use, most;
} counters;

static const ls_metric table[] = {
    LS_METRIC_COUNTER(counters, hits, "sectors", "found"),
    LS_METRIC_COUNTER(counters, accesses, "sectors", "looked up"),
    LS_METRIC_RATIO(counters, "hit_rate", hits, accesses, "", "hits / accesses"),
    LS_METRIC_LEVEL(counters, in_use, "entries", "now"),
    LS_METRIC_PEAK(counters, most, "entries", "at once"),
};

typedef struct rig {
    metric_store *m;
    series *s;
    counters c[3]; /* two blocks of GPU 0, one of GPU 1 */
} rig;

static void rig_begin(rig *r, const char *const *patterns, size_t count, uint32_t capacity)
{
    static const char *const paths[] = { "gpu0.a", "gpu0.b", "gpu1.a" };
    *r = (rig){ 0 };
    r->c[0].hits = 1000; /* before the series began */
    assert_int_equal(metrics_create(&r->m, NULL), LS_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(metrics_add(r->m,
                                     &(metric_source){ .path = paths[i],
                                                       .type = "cache/test",
                                                       .gpu = i / 2,
                                                       .stream = LS_METRICS_NONE,
                                                       .metrics = table,
                                                       .metric_count = LS_COUNT_OF(table),
                                                       .counters = &r->c[i],
                                                       .counters_size = sizeof r->c[i] },
                                     NULL),
                         LS_OK);
    const series_options o = {
        .every = 100, .patterns = patterns, .pattern_count = count, .capacity = capacity
    };
    assert_int_equal(series_create(r->m, &o, &r->s, NULL), LS_OK);
}

static void rig_end(rig *r)
{
    series_destroy(r->s);
    metrics_destroy(r->m);
}

/* As the engine does it at the time that the sampler chose. */
static void sample(rig *r, ls_time pending)
{
    ls_run_sampler *sampler = series_sampler(r->s);
    sampler->look(sampler, sampler->next, pending);
}

static double value(const rig *r, size_t interval, size_t column)
{
    double v;
    return series_value(r->s, interval, column, &v) ? v : -1;
}

static const char *const all[] = { "*" };

static void test_values(void **state)
{
    (void)state;
    rig r;
    rig_begin(&r, all, 1, 0);
    assert_int_equal(series_columns(r.s), 8); /* four of each GPU: a peak has no value over time */
    assert_int_equal(series_column_at(r.s, 0).gpu, 0);
    assert_string_equal(series_column_at(r.s, 6).metric->name, "hit_rate");
    assert_int_equal(series_column_at(r.s, 6).gpu, 1);
    assert_int_equal(series_sampler(r.s)->next, 100);
    r.c[0].hits += 3;
    r.c[1].hits += 4;
    r.c[0].accesses += 14;
    r.c[1].in_use = 9;
    sample(&r, 120);
    assert_int_equal(series_sampler(r.s)->next, 200);
    r.c[2].accesses += 5;
    sample(&r, 470); /* nothing in [200, 400) */
    assert_int_equal(series_sampler(r.s)->next, 400);
    sample(&r, 470);
    assert_int_equal(series_sampler(r.s)->next, 500);
    r.c[1].in_use = 2;
    r.c[1].hits += 1;
    series_finish(r.s, 480);
    assert_int_equal(series_intervals(r.s), 5);
    const double hits[] = { 7, 0, 0, 0, 1 }, level[] = { 9, 9, 9, 9, 2 }, other[] = { 0, 5, 0, 0, 0 };
    for (size_t i = 0; i < 5; i++) {
        assert_true(value(&r, i, 0) == hits[i]);
        assert_true(value(&r, i, 3) == level[i]);
        assert_true(value(&r, i, 5) == other[i]);
    }
    assert_true(value(&r, 0, 2) == 0.5);
    assert_true(value(&r, 1, 2) == -1); /* a ratio over zero has no value */
    assert_true(value(&r, 1, 6) == 0);
    rig_end(&r);
}

/* All counts stay when intervals merge, and the sampler is called half as often. */
static void test_merging(void **state)
{
    (void)state;
    rig r;
    rig_begin(&r, all, 1, 8);
    uint64_t total = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        ls_time now = series_sampler(r.s)->next;
        r.c[0].hits += i;
        r.c[1].in_use = i;
        total += i;
        sample(&r, now + 1);
        assert_true(series_intervals(r.s) <= 8);
        double sum = 0;
        for (size_t k = 0; k < series_intervals(r.s); k++)
            sum += value(&r, k, 0);
        assert_true(sum == (double)total);
        assert_true(value(&r, series_intervals(r.s) - 1, 3) == (double)i);
        if (now > 100 * 1000)
            break;
    }
    assert_int_equal(series_every(r.s), 100 * 128); /* 8 intervals of 12,800 reach beyond 100,000 */
    rig_end(&r);
}

/* A pause that is longer than all intervals together. */
static void test_long_pause(void **state)
{
    (void)state;
    rig r;
    rig_begin(&r, all, 1, 4);
    r.c[0].hits += 2;
    sample(&r, 1000000);
    assert_int_equal(series_sampler(r.s)->next, 1000000);
    sample(&r, 1000000);
    r.c[0].hits += 3;
    sample(&r, 1000001);
    series_finish(r.s, 1000100);
    assert_true(series_intervals(r.s) <= 4);
    assert_true(value(&r, 0, 0) == 2);
    assert_true(value(&r, series_intervals(r.s) - 1, 0) == 3);
    assert_true(series_every(r.s) * 4 >= 1000100);
    rig_end(&r);
}

/* A block that waits through several intervals counts its cycles when it is asked: each interval gets its own, also the
 * intervals that were merged or that an earlier look had cut. */
static void test_cycles_of_a_pause(void **state)
{
    (void)state;
    rig r;
    rig_begin(&r, all, 1, 4);
    r.c[0].hits += 80; /* in 80 of the first 100 time units */
    sample(&r, 350);
    assert_int_equal(series_sampler(r.s)->next, 300);
    r.c[0].hits += 200;
    sample(&r, 350);
    assert_int_equal(series_sampler(r.s)->next, 400);
    const double each[] = { 80, 100, 100 };
    for (size_t i = 0; i < 3; i++)
        assert_true(value(&r, i, 0) == each[i]);
    r.c[0].hits += 50;
    r.c[2].hits += 7;
    sample(&r, 1399);
    assert_int_equal(series_sampler(r.s)->next, 1300);
    r.c[0].hits += 900; /* intervals become 200, then 400 long */
    r.c[2].hits += 5;
    sample(&r, 1399);
    assert_int_equal(series_every(r.s), 400);
    assert_int_equal(series_sampler(r.s)->next, 1600);
    const double merged[] = { 330, 400, 400, 100 }, other[] = { 7, 2, 2, 1 };
    for (size_t i = 0; i < 4; i++) {
        assert_true(value(&r, i, 0) == merged[i]);
        assert_true(value(&r, i, 4) == other[i]);
    }
    rig_end(&r);
}

static void test_patterns(void **state)
{
    (void)state;
    rig r;
    static const char *const two[] = { "cache/*.accesses", "hit_r?te" };
    rig_begin(&r, two, 2, 0);
    assert_int_equal(series_columns(r.s), 4);
    rig_end(&r);
    static const char *const wrong[] = { "accesses", "hit_rat" }, *const peak[] = { "most" };
    rig_begin(&r, all, 1, 0);
    series *s;
    ls_error err = { 0 };
    series_options o = { .every = 1, .patterns = wrong, .pattern_count = 2 };
    assert_int_equal(series_create(r.m, &o, &s, &err), LS_ERR_USAGE);
    assert_null(s);
    assert_non_null(strstr(err.what, "'hit_rat'"));
    o = (series_options){ .every = 1, .patterns = peak, .pattern_count = 1 };
    assert_int_equal(series_create(r.m, &o, &s, &err), LS_ERR_USAGE);
    o = (series_options){ .every = 0 };
    assert_int_equal(series_create(r.m, &o, &s, &err), LS_ERR_USAGE);
    rig_end(&r);
}

static void test_csv(void **state)
{
    (void)state;
    rig r;
    static const char *const some[] = { "hits", "hit_rate" };
    rig_begin(&r, some, 2, 0);
    r.c[0].hits += 1;
    r.c[0].accesses += 3;
    sample(&r, 101);
    series_finish(r.s, 150);
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    assert_int_equal(series_csv(r.s, to, NULL), LS_OK);
    fclose(to);
    assert_string_equal(text, "begin_ns,gpu0 cache/test.hits [sectors],gpu0 cache/test.hit_rate,"
                              "gpu1 cache/test.hits [sectors],gpu1 cache/test.hit_rate\r\n"
                              "0.000000,1,0.333333333,0,\r\n0.000100,0,,0,\r\n");
    free(text);
    rig_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_merging),
        cmocka_unit_test(test_long_pause), cmocka_unit_test(test_cycles_of_a_pause),
        cmocka_unit_test(test_patterns),   cmocka_unit_test(test_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
