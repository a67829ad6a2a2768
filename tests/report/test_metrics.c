/* The registry's writing side: declarations that are refused, blocks of an engine, and values of marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/metrics.h"

#include <stdio.h>
#include <string.h>

typedef struct counters {
    uint64_t hits, accesses, queue_peak, in_use;
    ls_histogram wait;
} counters;

static const ls_metric table[] = {
    LS_METRIC_COUNTER(counters, hits, "sectors", "found"),
    LS_METRIC_COUNTER(counters, accesses, "sectors", "looked up"),
    LS_METRIC_RATIO(counters, "hit_rate", hits, accesses, "", "hits / accesses"),
    LS_METRIC_PEAK(counters, queue_peak, "entries", "most at once"),
    LS_METRIC_LEVEL(counters, in_use, "entries", "now"),
    LS_METRIC_HISTOGRAM(counters, wait, "cycles", "time in the queue"),
    LS_METRIC_RATIO(counters, "mean_wait", wait.sum, wait.count, "cycles", "mean time in the queue"),
};

static metric_source source_of(const char *path, counters *c)
{
    return (metric_source){ .path = path,
                            .type = "cache/test",
                            .gpu = LS_METRICS_NONE,
                            .stream = LS_METRICS_NONE,
                            .metrics = table,
                            .metric_count = LS_COUNT_OF(table),
                            .counters = c,
                            .counters_size = sizeof *c };
}

static metric_store *create(void)
{
    metric_store *m = NULL;
    assert_int_equal(metrics_create(&m, NULL), LS_OK);
    return m;
}

static void add(metric_store *m, const char *path, counters *c)
{
    metric_source s = source_of(path, c);
    ls_error err = { 0 };
    if (metrics_add(m, &s, &err) != LS_OK)
        fail_msg("%s", err.what);
}

static void mark(metric_store *m, int32_t gpu, uint64_t kernel, const char *name)
{
    metric_interval i = { .gpu = gpu,
                          .kernel = kernel,
                          .kernel_name = name,
                          .stream = 0,
                          .begin = kernel * 100,
                          .end = kernel * 100 + 50 };
    ls_error err = { 0 };
    if (metrics_mark(m, &i, &err) != LS_OK)
        fail_msg("%s", err.what);
}

static metric_value get(metric_store *m, size_t scope, const char *path, const char *name)
{
    metric_value v;
    ls_error err = { 0 };
    if (metrics_get(m, scope, NULL, path, name, &v, &err) != LS_OK)
        fail_msg("%s", err.what);
    return v;
}

/* ------------------------------------------------------------------------------------------- declarations */

static void refuse(const ls_metric *metrics, size_t count, size_t size, const char *part)
{
    static counters c;
    metric_store *m = create();
    metric_source s = source_of("x", &c);
    s.metrics = metrics;
    s.metric_count = count;
    s.counters_size = size;
    ls_error err = { 0 };
    assert_int_equal(metrics_add(m, &s, &err), LS_ERR_INTERNAL);
    if (!strstr(err.what, part))
        fail_msg("\"%s\" does not say \"%s\"", err.what, part);
    assert_int_equal(metrics_source_count(m), 0);
    assert_int_equal(metrics_type_count(m), 0);
    /* The path is free: nothing of the refused source is left. */
    add(m, "x", &c);
    metrics_destroy(m);
}

static void test_bad_declarations(void **state)
{
    (void)state;
    static const ls_metric twice[] = { LS_METRIC_COUNTER(counters, hits, "", ""),
                                       LS_METRIC_PEAK(counters, hits, "", "") };
    refuse(twice, 2, sizeof(counters), "'cache/test' declares metric 'hits' twice");

    static const ls_metric outside[] = { LS_METRIC_COUNTER(counters, in_use, "", "") };
    refuse(outside, 1, 24, "'in_use' of 'cache/test': the field lies outside the counters (offset 24");
    refuse(outside, 1, 31, "lies outside");
    static const ls_metric wide[] = { LS_METRIC_HISTOGRAM(counters, wait, "", "") };
    refuse(wide, 1, sizeof(counters) - 8, "'wait' of 'cache/test': the field lies outside");
    static const ls_metric denominator[] = {
        { .name = "r", .kind = LS_METRIC_KIND_RATIO, .denominator = 4096 }
    };
    refuse(denominator, 1, sizeof(counters), "the denominator lies outside");
    static const ls_metric far[] = { { .name = "r", .kind = LS_METRIC_KIND_COUNTER, .offset = UINT32_MAX } };
    refuse(far, 1, sizeof(counters), "lies outside");

    static const ls_metric odd[] = { { .name = "odd", .kind = LS_METRIC_KIND_COUNTER, .offset = 4 } };
    refuse(odd, 1, sizeof(counters), "not a 64-bit field");
    static const ls_metric unnamed[] = { { .name = "", .kind = LS_METRIC_KIND_COUNTER } };
    refuse(unnamed, 1, sizeof(counters), "has no name");
    static const ls_metric kind[] = { { .name = "k", .kind = (ls_metric_kind)9 } };
    refuse(kind, 1, sizeof(counters), "no known kind (9)");

    static const ls_metric shared[] = { LS_METRIC_COUNTER(counters, hits, "", ""),
                                        { .name = "same", .kind = LS_METRIC_KIND_LEVEL } };
    refuse(shared, 2, sizeof(counters), "'hits' and 'same' of 'cache/test' share a field");
    static const ls_metric inside[] = {
        { .name = "inner", .kind = LS_METRIC_KIND_COUNTER, .offset = offsetof(counters, wait.bucket[3]) },
        LS_METRIC_HISTOGRAM(counters, wait, "", ""),
    };
    refuse(inside, 2, sizeof(counters), "'inner' and 'wait' of 'cache/test' share a field");
    static const ls_metric of_peak[] = { LS_METRIC_PEAK(counters, queue_peak, "", ""),
                                         LS_METRIC_RATIO(counters, "r", hits, queue_peak, "", "") };
    refuse(of_peak, 2, sizeof(counters), "ratio 'r' of 'cache/test' needs counters, but");
    refuse(of_peak, 2, sizeof(counters), "'queue_peak' is a peak");
    static const ls_metric of_max[] = { LS_METRIC_HISTOGRAM(counters, wait, "", ""),
                                        LS_METRIC_RATIO(counters, "r", wait.max, wait.count, "", "") };
    refuse(of_max, 2, sizeof(counters), "'wait' is a histogram's min or max");
}

static void test_bad_sources(void **state)
{
    (void)state;
    counters a = { 0 }, b = { 0 };
    metric_store *m = create();
    add(m, "a", &a);
    ls_error err = { 0 };
    metric_source s = source_of("a", &b);
    assert_int_equal(metrics_add(m, &s, &err), LS_ERR_INTERNAL);
    assert_string_equal(err.what, "two sources of metrics are called 'a'");
    s = source_of("b", &b);
    s.metric_count = 3;
    assert_int_equal(metrics_add(m, &s, &err), LS_ERR_INTERNAL);
    assert_string_equal(err.what, "'b' and an earlier source of type 'cache/test' declare different metrics");
    s = source_of("", &b);
    assert_int_equal(metrics_add(m, &s, &err), LS_ERR_INTERNAL);
    s = source_of("c", NULL);
    assert_int_equal(metrics_add(m, &s, &err), LS_ERR_INTERNAL);
    assert_int_equal(metrics_source_count(m), 1);
    metrics_destroy(m);
}

/* A copy of the table (as a plug-in may carry) is the same type. */
static void test_equal_tables_are_one_type(void **state)
{
    (void)state;
    counters a = { 0 }, b = { 0 };
    ls_metric copy[LS_COUNT_OF(table)];
    memcpy(copy, table, sizeof table);
    metric_store *m = create();
    add(m, "a", &a);
    metric_source s = source_of("b", &b);
    s.metrics = copy;
    assert_int_equal(metrics_add(m, &s, NULL), LS_OK);
    assert_int_equal(metrics_type_count(m), 1);
    assert_int_equal(metrics_type_at(m, 0).sources, 2);
    metrics_destroy(m);
}

/* -------------------------------------------------------------------------------------------------- marks */

static void test_marks_store_differences(void **state)
{
    (void)state;
    counters c = { .hits = 3, .accesses = 4, .queue_peak = 7, .in_use = 2 };
    ls_histogram_add(&c.wait, 5);
    ls_histogram_add(&c.wait, 100);
    metric_store *m = create();
    add(m, "l1", &c);
    mark(m, LS_METRICS_NONE, 0, "first");
    assert_int_equal(c.queue_peak, 0);
    assert_int_equal(c.hits, 3);

    c.hits += 10;
    c.accesses += 40;
    c.queue_peak = 5;
    c.in_use = 1;
    ls_histogram_add(&c.wait, 20);
    ls_histogram_add(&c.wait, 9);
    mark(m, LS_METRICS_NONE, 1, "second");
    mark(m, LS_METRICS_NONE, 2, "second"); /* nothing happened */
    c.hits += 1;
    c.accesses += 1;

    metric_value v = get(m, 0, NULL, "wait");
    assert_int_equal(get(m, 0, NULL, "hits").value, 3);
    assert_int_equal(get(m, 0, NULL, "queue_peak").value, 7);
    assert_int_equal(get(m, 0, NULL, "in_use").value, 2);
    assert_int_equal(v.histogram.count, 2);
    assert_int_equal(v.histogram.min, 5);
    assert_int_equal(v.histogram.max, 100);

    v = get(m, 1, NULL, "hit_rate");
    assert_int_equal(v.value, 10);
    assert_int_equal(v.denominator, 40);
    assert_true(v.present && v.ratio == 0.25);
    assert_int_equal(get(m, 1, NULL, "queue_peak").value, 5);
    assert_int_equal(get(m, 1, NULL, "in_use").value, 1);
    v = get(m, 1, NULL, "wait");
    assert_int_equal(v.histogram.count, 2);
    assert_int_equal(v.histogram.sum, 29);
    assert_int_equal(v.histogram.min, 9);
    assert_int_equal(v.histogram.max, 20);
    assert_int_equal(v.histogram.bucket[4], 1); /* 9 */
    assert_int_equal(v.histogram.bucket[5], 1); /* 20 */
    assert_int_equal(v.histogram.bucket[3], 0); /* the 5 was before */
    assert_true(get(m, 1, NULL, "mean_wait").ratio == 14.5);

    assert_int_equal(get(m, 2, NULL, "hits").value, 0);
    assert_int_equal(get(m, 2, NULL, "queue_peak").value, 0);
    assert_int_equal(get(m, 2, NULL, "in_use").value, 1); /* a level is its present value */
    assert_false(get(m, 2, NULL, "hit_rate").present);
    assert_int_equal(get(m, 2, NULL, "wait").histogram.count, 0);
    assert_int_equal(get(m, 2, NULL, "wait").histogram.min, 0);

    assert_int_equal(get(m, LS_METRICS_RUN, NULL, "hits").value, 14);
    assert_int_equal(get(m, LS_METRICS_RUN, NULL, "accesses").value, 45);
    assert_int_equal(get(m, LS_METRICS_RUN, NULL, "queue_peak").value, 7);
    v = get(m, LS_METRICS_RUN, NULL, "wait");
    assert_int_equal(v.histogram.count, 4);
    assert_int_equal(v.histogram.sum, 134);
    assert_int_equal(v.histogram.min, 5);
    assert_int_equal(v.histogram.max, 100);

    assert_int_equal(metrics_interval_count(m), 3);
    const metric_interval *i = metrics_interval_at(m, 1);
    assert_string_equal(i->kernel_name, "second");
    assert_int_equal(i->begin, 100);
    assert_int_equal(i->end, 150);
    assert_null(metrics_interval_at(m, 3));
    metrics_destroy(m);
}

/* All intervals and the part after the last mark add up to the run. */
static void test_intervals_add_up(void **state)
{
    (void)state;
    enum { SOURCES = 5, MARKS = 40 };
    static counters c[SOURCES];
    memset(c, 0, sizeof c);
    metric_store *m = create();
    char path[16];
    for (int i = 0; i < SOURCES; i++) {
        snprintf(path, sizeof path, "b%d", i);
        add(m, path, &c[i]);
    }
    uint64_t x = 1, peak = 0;
    for (int k = 0; k < MARKS; k++) {
        for (int i = 0; i < SOURCES; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint64_t v = x >> (x >> 58);
            if (v % 3 == 0)
                continue; /* idle */
            c[i].hits += v >> 8;
            c[i].queue_peak = v;
            peak = v > peak ? v : peak;
            ls_histogram_add(&c[i].wait, v);
        }
        mark(m, LS_METRICS_NONE, (uint64_t)k, "k");
    }
    uint64_t hits = 0, largest = 0, count = 0;
    ls_histogram sum = { .min = UINT64_MAX };
    for (size_t k = 0; k < MARKS; k++) {
        hits += get(m, k, NULL, "hits").value;
        uint64_t p = get(m, k, NULL, "queue_peak").value;
        largest = p > largest ? p : largest;
        ls_histogram h = get(m, k, NULL, "wait").histogram;
        count += h.count;
        if (h.count) {
            sum.min = h.min < sum.min ? h.min : sum.min;
            sum.max = h.max > sum.max ? h.max : sum.max;
        }
        for (int b = 0; b < LS_HISTOGRAM_BUCKETS; b++)
            sum.bucket[b] += h.bucket[b];
    }
    assert_int_equal(hits, get(m, LS_METRICS_RUN, NULL, "hits").value);
    assert_int_equal(largest, peak);
    assert_int_equal(peak, get(m, LS_METRICS_RUN, NULL, "queue_peak").value);
    ls_histogram h = get(m, LS_METRICS_RUN, NULL, "wait").histogram;
    assert_int_equal(count, h.count);
    assert_int_equal(sum.min, h.min);
    assert_int_equal(sum.max, h.max);
    assert_memory_equal(sum.bucket, h.bucket, sizeof h.bucket);
    metrics_destroy(m);
}

static void test_mark_takes_one_gpu(void **state)
{
    (void)state;
    counters g0 = { 0 }, g1 = { 0 }, fabric = { 0 };
    metric_store *m = create();
    metric_source s = source_of("gpu0.l1", &g0);
    s.gpu = 0;
    assert_int_equal(metrics_add(m, &s, NULL), LS_OK);
    s = source_of("gpu1.l1", &g1);
    s.gpu = 1;
    assert_int_equal(metrics_add(m, &s, NULL), LS_OK);
    add(m, "fabric", &fabric);
    g0.hits = 1;
    g1.hits = 10;
    fabric.hits = 100;
    mark(m, 0, 0, "a");
    g1.hits += 5;
    mark(m, 1, 1, "b");
    assert_int_equal(get(m, 0, "gpu0.*", "hits").value, 1);
    metric_value v = get(m, 0, "gpu1.*", "hits");
    assert_false(v.present);
    assert_int_equal(v.sources, 0);
    assert_int_equal(get(m, 0, "fabric", "hits").value, 100);
    assert_int_equal(get(m, 1, "gpu1.*", "hits").value, 15);
    assert_int_equal(get(m, 1, "fabric", "hits").value, 0);
    assert_int_equal(get(m, 0, NULL, "hits").sources, 2);
    metrics_destroy(m);
}

static void test_source_added_later(void **state)
{
    (void)state;
    counters a = { .hits = 1 }, b = { .hits = 2 };
    metric_store *m = create();
    add(m, "a", &a);
    mark(m, LS_METRICS_NONE, 0, "k0");
    add(m, "b", &b);
    mark(m, LS_METRICS_NONE, 1, "k1");
    assert_false(get(m, 0, "b", "hits").present);
    assert_true(get(m, 1, "b", "hits").present);
    assert_int_equal(get(m, 1, "b", "hits").value, 2);
    assert_int_equal(get(m, 0, NULL, "hits").sources, 1);
    metrics_destroy(m);
}

static void test_counter_backwards(void **state)
{
    (void)state;
    counters c = { .hits = 9, .queue_peak = 3 };
    metric_store *m = create();
    add(m, "l1", &c);
    mark(m, LS_METRICS_NONE, 0, "k");
    c.hits = 8;
    c.queue_peak = 4;
    metric_interval i = { .gpu = LS_METRICS_NONE, .kernel = 1 };
    ls_error err = { 0 };
    assert_int_equal(metrics_mark(m, &i, &err), LS_ERR_INTERNAL);
    assert_string_equal(err.what, "counter 'hits' of 'l1' went backwards, from 9 to 8");
    assert_int_equal(c.queue_peak, 4); /* nothing was restarted */
    assert_int_equal(metrics_interval_count(m), 1);
    metric_value v;
    assert_int_equal(metrics_get(m, LS_METRICS_RUN, NULL, NULL, "hits", &v, &err), LS_ERR_INTERNAL);
    c.hits = 9;
    mark(m, LS_METRICS_NONE, 1, NULL);
    assert_int_equal(get(m, 1, NULL, "queue_peak").value, 4);
    assert_string_equal(metrics_interval_at(m, 1)->kernel_name, "");
    metrics_destroy(m);
}

/* Thousands of kernels on thousands of blocks must fit: an idle block costs nothing. */
static void test_intervals_are_compact(void **state)
{
    (void)state;
    enum { SOURCES = 500, MARKS = 100 };
    static counters c[SOURCES];
    memset(c, 0, sizeof c);
    metric_store *m = create();
    char path[16];
    for (int i = 0; i < SOURCES; i++) {
        snprintf(path, sizeof path, "b%d", i);
        add(m, path, &c[i]);
    }
    for (int k = 0; k < MARKS; k++) {
        c[k].hits += 1000;
        c[k].accesses += 5000;
        mark(m, LS_METRICS_NONE, (uint64_t)k, "kernel");
    }
    /* Each interval: one source with two numbers, in at most 16 bytes. */
    assert_true(metrics_interval_bytes(m) <= 128 * (16 + 96));
    assert_int_equal(get(m, 99, "b99", "accesses").value, 5000);
    assert_int_equal(get(m, 99, NULL, "hits").value, 1000);
    metrics_destroy(m);
}

/* ------------------------------------------------------------------------------------------------ engine */

typedef struct block_state {
    uint64_t other[3];
    counters counted;
} block_state;

static const ls_metric bad_table[] = { LS_METRIC_COUNTER(counters, hits, "", ""),
                                       { .name = "far", .kind = LS_METRIC_KIND_COUNTER, .offset = 1 << 20 } };

static const ls_block_type good = { .abi = LS_ABI_VERSION,
                                    .slot = "l1",
                                    .name = "test",
                                    .help = "",
                                    .state_size = sizeof(block_state),
                                    .metrics = table,
                                    .metric_count = LS_COUNT_OF(table),
                                    .counters_offset = offsetof(block_state, counted) };
static const ls_block_type quiet = {
    .abi = LS_ABI_VERSION, .slot = "wire", .name = "test", .help = "", .state_size = 8
};
static const ls_block_type bad = { .abi = LS_ABI_VERSION,
                                   .slot = "bad",
                                   .name = "test",
                                   .help = "",
                                   .state_size = sizeof(block_state),
                                   .metrics = bad_table,
                                   .metric_count = 2,
                                   .counters_offset = offsetof(block_state, counted) };

static void test_engine(void **state)
{
    (void)state;
    ls_engine *engine = NULL;
    ls_domain *domain = NULL;
    ls_block *block[4];
    ls_clock clock;
    ls_error err = { 0 };
    assert_int_equal(ls_clock_init(&clock, (ls_ratio){ 1000000000, 1 }, &err), LS_OK);
    assert_int_equal(ls_engine_create(1, &engine, &err), LS_OK);
    assert_int_equal(ls_domain_create(engine, "d", clock, &domain, &err), LS_OK);
    ls_region *region = ls_domain_region(domain, 0);
    const char *names[] = { "gpu1.l1", "wires", "gpu.l1", "gpu12" };
    for (int i = 0; i < 4; i++)
        assert_int_equal(ls_block_create(region, names[i], i == 1 ? &quiet : &good, NULL, &block[i], &err),
                         LS_OK);
    block_state *s0 = ls_block_state(block[0]), *s3 = ls_block_state(block[3]);

    metric_store *m = create();
    assert_int_equal(metrics_add_engine(m, engine, &err), LS_OK);
    assert_int_equal(metrics_source_count(m), 3); /* the wires count nothing */
    assert_string_equal(metrics_source_at(m, 0)->path, "gpu1.l1");
    assert_string_equal(metrics_source_at(m, 0)->type, "l1/test");
    assert_int_equal(metrics_source_at(m, 0)->gpu, 1);
    assert_int_equal(metrics_source_at(m, 1)->gpu, LS_METRICS_NONE); /* "gpu.l1" has no number */
    assert_int_equal(metrics_source_at(m, 2)->gpu, 12);
    assert_int_equal(metrics_source_at(m, 2)->stream, LS_METRICS_NONE);
    s0->counted.hits = 5;
    s3->counted.hits = 6;
    assert_int_equal(get(m, LS_METRICS_RUN, NULL, "hits").value, 11);
    metrics_destroy(m);

    /* A block that is refused takes the whole engine's with it. */
    assert_int_equal(ls_block_create(region, "z", &bad, NULL, &block[0], &err), LS_OK);
    m = create();
    assert_int_equal(metrics_add_engine(m, engine, &err), LS_ERR_INTERNAL);
    assert_non_null(strstr(err.what, "metric 'far' of 'bad/test'"));
    assert_int_equal(metrics_source_count(m), 0);
    assert_int_equal(metrics_type_count(m), 0);
    counters c = { .hits = 4 };
    add(m, "gpu1.l1", &c);
    assert_int_equal(get(m, LS_METRICS_RUN, NULL, "hits").value, 4);
    metrics_destroy(m);
    ls_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_declarations),          cmocka_unit_test(test_bad_sources),
        cmocka_unit_test(test_equal_tables_are_one_type), cmocka_unit_test(test_marks_store_differences),
        cmocka_unit_test(test_intervals_add_up),          cmocka_unit_test(test_mark_takes_one_gpu),
        cmocka_unit_test(test_source_added_later),        cmocka_unit_test(test_counter_backwards),
        cmocka_unit_test(test_intervals_are_compact),     cmocka_unit_test(test_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
