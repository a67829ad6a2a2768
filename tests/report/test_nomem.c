/* Every allocation of the registry, the exporters and the plots fails once: each time they say so, change
 * nothing and leave no file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/fixture.h"
#include "report/plot.h"

#include <unistd.h>

/* Sanitizers bring an allocator of their own that must not be replaced. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);

static bool armed;
static long until_fail; /* calls that still succeed; all after it fail */

static bool fails(void)
{
    return armed && until_fail-- <= 0;
}

/* Visible, so that the C library and SQLite call them too. */
LS_API void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

LS_API void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

LS_API void *realloc(void *at, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(at, bytes);
}

/* Runs `attempt` with memory ending at the first allocation, then `step` later, and so on until it is
 * enough. */
static void with_every_end(ls_status (*attempt)(fixture *f), long step)
{
    fixture *f = fixture_create();
    long refused = 0;
    for (long n = 0;; n += step) {
        assert_true(n < 100000);
        until_fail = n;
        armed = true;
        ls_status status = attempt(f);
        armed = false;
        if (until_fail >= 0) {
            assert_int_equal(status, LS_OK);
            break;
        }
        assert_true(status == LS_OK || status == LS_ERR_NOMEM);
        refused += status == LS_ERR_NOMEM;
    }
    assert_true(refused > 0);
    fixture_destroy(f);
}

static ls_status try_registry(fixture *f)
{
    fixture_cache c = { .hits = 3 };
    metric_store *m = NULL;
    ls_status status = metrics_create(&m, NULL);
    char path[16];
    for (int i = 0; i < 20 && status == LS_OK; i++) {
        snprintf(path, sizeof path, "block%d", i);
        metric_source s = *metrics_source_at(f->m, 0);
        s.path = path;
        s.counters = &c;
        status = metrics_add(m, &s, NULL);
        assert_int_equal(metrics_source_count(m), i + (status == LS_OK));
    }
    for (uint64_t k = 0; k < 20 && status == LS_OK; k++) {
        c.queue_peak = 5;
        snprintf(path, sizeof path, "kernel%d", (int)k);
        status = metrics_mark(m, &(metric_interval){ .gpu = 0, .kernel_name = path }, NULL);
        assert_int_equal(metrics_interval_count(m), k + (status == LS_OK));
        assert_int_equal(c.queue_peak, status == LS_OK ? 0 : 5);
    }
    metric_value v;
    if (status == LS_OK)
        status = metrics_get(m, 3, NULL, NULL, "hits", &v, NULL);
    metrics_destroy(m);
    return status;
}

static char out_path[64];

static ls_status try_export(fixture *f, export_format format)
{
    unlink(out_path);
    export_options options = { .per_block = true, .untouched = true };
    ls_error err = { 0 };
    ls_status status = export_results(&f->results, format, &options, out_path, &err);
    assert_int_equal(access(out_path, F_OK) == 0, status == LS_OK);
    assert_true(status == LS_OK || err.what[0]);
    unlink(out_path);
    return status;
}

static ls_status try_text(fixture *f)
{
    return try_export(f, LS_EXPORT_TEXT);
}

static ls_status try_json(fixture *f)
{
    return try_export(f, LS_EXPORT_JSON);
}

static ls_status try_csv(fixture *f)
{
    return try_export(f, LS_EXPORT_CSV);
}

static ls_status try_tidy(fixture *f)
{
    return try_export(f, LS_EXPORT_TIDY);
}

static ls_status try_sqlite(fixture *f)
{
    return try_export(f, LS_EXPORT_SQLITE);
}

static ls_status try_plot(fixture *f)
{
    (void)f;
    static FILE *null;
    if (!null) {
        armed = false;
        null = fopen("/dev/null", "w");
        armed = true;
    }
    double x[] = { 1, 2 };
    plot_series s = { "a", x, x, 2, LS_PLOT_BOTH };
    return plot_write_text(&(plot_figure){ .series = &s, .series_count = 1 }, NULL, null, NULL);
}

static void test_every_allocation(void **state)
{
    (void)state;
    snprintf(out_path, sizeof out_path, P_tmpdir "/nomem_%ld.out", (long)getpid());
    with_every_end(try_registry, 1);
    with_every_end(try_text, 1);
    with_every_end(try_json, 1);
    with_every_end(try_csv, 1);
    with_every_end(try_tidy, 1);
    /* Its library is loaded once, by the dynamic linker. */
    assert_int_equal(export_database(out_path, NULL), LS_OK);
    with_every_end(try_sqlite, 11);
    with_every_end(try_plot, 1);
}

#else

static void test_every_allocation(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
