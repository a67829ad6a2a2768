/* fixture.h: a small finished run for the tests of the exporters: two caches, one memory, two kernels. */
#ifndef TESTS_REPORT_FIXTURE_H
#define TESTS_REPORT_FIXTURE_H

#include "report/export.h"

#include <stdlib.h>
#include <string.h>

typedef struct fixture_cache {
    uint64_t hits, accesses, queue_peak;
    ls_histogram wait;
} fixture_cache;

static const ls_metric fixture_cache_metrics[] = {
    LS_METRIC_COUNTER(fixture_cache, hits, "sectors", "sectors found valid"),
    LS_METRIC_COUNTER(fixture_cache, accesses, "sectors", "sectors looked up"),
    LS_METRIC_RATIO(fixture_cache, "hit_rate", hits, accesses, "", "hits / accesses"),
    LS_METRIC_PEAK(fixture_cache, queue_peak, "entries", "most entries at once"),
    LS_METRIC_HISTOGRAM(fixture_cache, wait, "cycles", "time in the queue"),
};

typedef struct fixture_dram {
    uint64_t reads, refreshes, open_rows;
} fixture_dram;

static const ls_metric fixture_dram_metrics[] = {
    LS_METRIC_COUNTER(fixture_dram, reads, "bursts", "bursts read"),
    LS_METRIC_COUNTER(fixture_dram, refreshes, "", "refreshes, \"all bank\""),
    LS_METRIC_LEVEL(fixture_dram, open_rows, "rows", "rows open now"),
    LS_METRIC_RATIO(fixture_dram, "refresh_rate", refreshes, refreshes, "", "0 / 0 here"),
};

typedef struct fixture {
    metric_store *m;
    fixture_cache cache[2];
    fixture_dram dram;
    run_results results;
} fixture;

static inline void fixture_add(metric_store *m, const char *path, const char *type, int32_t gpu,
                               const ls_metric *metrics, size_t count, void *counters, size_t size)
{
    metric_source s = { .path = path,
                        .type = type,
                        .gpu = gpu,
                        .stream = LS_METRICS_NONE,
                        .metrics = metrics,
                        .metric_count = count,
                        .counters = counters,
                        .counters_size = size };
    assert_int_equal(metrics_add(m, &s, NULL), LS_OK);
}

static inline void fixture_mark(metric_store *m, uint64_t kernel, const char *name, ls_time begin, ls_time end)
{
    metric_interval i = {
        .gpu = 0, .kernel = kernel, .kernel_name = name, .stream = 7, .begin = begin, .end = end
    };
    assert_int_equal(metrics_mark(m, &i, NULL), LS_OK);
}

static inline fixture *fixture_create(void)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(metrics_create(&f->m, NULL), LS_OK);
    fixture_add(f->m, "gpu0.l1[0]", "l1/cycle", 0, fixture_cache_metrics, LS_COUNT_OF(fixture_cache_metrics),
                &f->cache[0], sizeof f->cache[0]);
    fixture_add(f->m, "gpu0.l1[1]", "l1/cycle", 0, fixture_cache_metrics, LS_COUNT_OF(fixture_cache_metrics),
                &f->cache[1], sizeof f->cache[1]);
    fixture_add(f->m, "dram", "dram/bank", LS_METRICS_NONE, fixture_dram_metrics,
                LS_COUNT_OF(fixture_dram_metrics), &f->dram, sizeof f->dram);

    f->cache[0].hits = 1500000;
    f->cache[0].accesses = 2000000;
    f->cache[0].queue_peak = 9;
    ls_histogram_add(&f->cache[0].wait, 0);
    ls_histogram_add(&f->cache[0].wait, 5);
    f->dram.open_rows = 3;
    fixture_mark(f->m, 0, "void add<int, 4>(int*, \"x\")", 1000000, 2500000);
    f->cache[1].hits = 500000;
    f->cache[1].accesses = 2000000;
    f->cache[1].queue_peak = 12;
    f->dram.reads = UINT64_MAX; /* more than a signed or a floating-point number can hold */
    fixture_mark(f->m, 1, "", 2500000, 4000000);

    f->results = (run_results){ .platform = "rtx2060",
                                .config_text = "machine: gpu\nl1: \"64 KiB\"\n",
                                .config_hash = "00ff",
                                .end_time = 4000000,
                                .seed = 42,
                                .events = 1234567,
                                .messages = 1000,
                                .ticks = 5,
                                .region_cycles = 77,
                                .has_cycles = true,
                                .cycles = 4,
                                .metrics = f->m,
                                .host = { .run_id = "run-1",
                                          .command = "lockstep run a,b",
                                          .wall_seconds = 1.5,
                                          .threads = 2,
                                          .windows = 99 } };
    return f;
}

/* Two warnings that need quoting in every format. */
static inline void fixture_warn(fixture *f)
{
    static const ls_warning warnings[] = { { "key", "'a.b' has no effect: it needs \"c\", not \"d\"" },
                                           { "unmodelled", "7 instructions, of 2 kinds" } };
    f->results.warnings = warnings;
    f->results.warning_count = 2;
}

static inline void fixture_destroy(fixture *f)
{
    metrics_destroy(f->m);
    free(f);
}

/* The results as text; to be freed. */
static inline char *fixture_export(const fixture *f, export_format format, const export_options *options)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    ls_error err = { 0 };
    if (export_stream(&f->results, format, options, to, &err) != LS_OK)
        fail_msg("%s", err.what);
    fclose(to);
    return text;
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

#endif
