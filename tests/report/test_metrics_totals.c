/* Totals per type: the same numbers as a view reduces, for the run and for every interval; and how many bytes a kernel
 * takes in each format. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"

#include <sys/stat.h>
#include <unistd.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void assert_same(const metric_store *m, size_t scope, const metric_totals *totals,
                        const metric_view *view)
{
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        metric_type type = metrics_type_at(m, t);
        bool any = false;
        for (size_t k = 0; k < type.metric_count; k++) {
            metric_value v;
            metric_view_type(view, t, k, &v);
            metric_parts parts = metric_totals_get(totals, t, k);
            bool histogram = v.kind == LS_METRIC_KIND_HISTOGRAM;
            assert_int_equal(parts.a, histogram ? v.histogram.sum : v.value);
            assert_int_equal(parts.b, histogram ? v.histogram.count : v.denominator);
            assert_int_equal(parts.min, v.histogram.min);
            assert_int_equal(parts.max, v.histogram.max);
            any = any || parts.a || parts.b;
            if (scope != LS_METRICS_RUN)
                assert_int_equal(metric_totals_has(totals, t), v.sources > 0);
        }
        assert_true(!any || metric_totals_active(totals, t));
    }
}

static void test_as_a_view(void **state)
{
    (void)state;
    fixture *f = fixture_create();
    fixture_cache other = { 0 }; /* of another GPU: no interval of GPU 0 takes it */
    fixture_add(f->m, "gpu1.l2", "l2/cycle", 1, fixture_cache_metrics, LS_COUNT_OF(fixture_cache_metrics),
                &other, sizeof other);
    f->dram.reads = UINT64_MAX; /* it cannot grow */
    uint64_t random = 1;
    for (uint64_t i = 2; i < 60; i++) {
        for (int c = 0; c < 2; c++) {
            f->cache[c].hits += next_random(&random) % 3 ? 0 : next_random(&random);
            f->cache[c].accesses += next_random(&random) % 1000;
            f->cache[c].queue_peak = next_random(&random) % 50;
            for (uint64_t n = next_random(&random) % 4; n > 0; n--)
                ls_histogram_add(&f->cache[c].wait, next_random(&random) % 3 * next_random(&random));
        }
        other.hits++;
        f->dram.open_rows = next_random(&random) % 5;
        fixture_mark(f->m, i, "k", i, i + 1);
    }
    metric_totals *totals;
    metric_view *view;
    assert_int_equal(metric_totals_create(f->m, &totals, NULL), LS_OK);
    assert_int_equal(metric_view_create(f->m, &view, NULL), LS_OK);
    for (size_t i = 0; i <= metrics_interval_count(f->m); i++) {
        size_t scope = i == 0 ? LS_METRICS_RUN : i - 1;
        assert_int_equal(metric_totals_load(totals, scope, NULL), LS_OK);
        assert_int_equal(metric_view_load(view, scope, NULL), LS_OK);
        assert_same(f->m, scope, totals, view);
    }
    ls_error err = { 0 };
    assert_int_equal(metric_totals_load(totals, 1000, &err), LS_ERR_USAGE);
    f->cache[0].hits = 1; /* backwards */
    assert_int_equal(metric_totals_load(totals, LS_METRICS_RUN, &err), LS_ERR_INTERNAL);
    metric_totals_destroy(totals);
    metric_view_destroy(view);
    fixture_destroy(f);
}

enum { TYPES = 12, BLOCKS = 64, METRICS = 20 };

/* Bytes of a file with this many kernels of a machine of 768 blocks with 240 metrics; half of them count. */
static double bytes_of(export_format format, uint64_t kernels)
{
    static uint64_t counters[TYPES][BLOCKS][METRICS];
    static ls_metric metrics[METRICS];
    static char names[METRICS][32];
    memset(counters, 0, sizeof counters);
    metric_store *m;
    assert_int_equal(metrics_create(&m, NULL), LS_OK);
    for (uint32_t k = 0; k < METRICS; k++) {
        snprintf(names[k], sizeof names[k], "some_metric_of_a_block_%u", k);
        bool ratio = k % 5 == 4;
        metrics[k] = (ls_metric){ .name = names[k],
                                  .kind = ratio ? LS_METRIC_KIND_RATIO : LS_METRIC_KIND_COUNTER,
                                  .offset = (ratio ? k - 4 : k) * 8,
                                  .denominator = (ratio ? k - 2 : 0) * 8 };
    }
    for (int t = 0; t < TYPES; t++)
        for (int b = 0; b < BLOCKS; b++) {
            char path[32], type[32];
            snprintf(path, sizeof path, "gpu0.block%d[%d]", t, b);
            snprintf(type, sizeof type, "block%d/cycle", t);
            fixture_add(m, path, type, 0, metrics, METRICS, counters[t][b], sizeof counters[t][b]);
        }
    uint64_t random = 1;
    for (uint64_t i = 0; i < kernels; i++) {
        for (int t = 0; t < TYPES; t++)
            for (int b = 0; b < BLOCKS; b++)
                for (int k = 0; k < METRICS; k += 2)
                    counters[t][b][k] += next_random(&random) % 3000;
        fixture_mark(m, i, "void kernel_with_a_usual_name<float, 128>(float const*, float*)", i, i + 1000000);
    }
    char path[64];
    snprintf(path, sizeof path, P_tmpdir "/size_%ld.out", (long)getpid());
    unlink(path);
    const run_results results = { .platform = "p", .metrics = m };
    assert_int_equal(export_results(&results, format, NULL, path, NULL), LS_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    unlink(path);
    metrics_destroy(m);
    return (double)st.st_size;
}

static void test_bytes_per_kernel(void **state)
{
    (void)state;
    static const export_format formats[] = { LS_EXPORT_JSON, LS_EXPORT_CSV, LS_EXPORT_SQLITE };
    for (size_t i = 0; i < LS_COUNT_OF(formats); i++) {
        double few = bytes_of(formats[i], 50), many = bytes_of(formats[i], 150);
        double whole = few + (many - few) / 100 * 20000;
        if (whole > 60e6)
            fail_msg("20,000 kernels take %.1f MB as %s", whole / 1e6, export_format_name(formats[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_a_view),
        cmocka_unit_test(test_bytes_per_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
