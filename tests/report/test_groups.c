/* Kernels side by side: their own values, shared values, and sums that are the totals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/groups.h"

#include <string.h>

typedef struct counters {
    uint64_t work, time;
} counters;

static const ls_metric table[] = {
    LS_METRIC_COUNTER(counters, work, "", "of a kernel"),
    LS_METRIC_COUNTER(counters, time, "cycles", "of the block"),
    LS_METRIC_RATIO(counters, "rate", work, time, "", "work / time"),
};

typedef struct rig {
    metric_store *m;
    kernel_groups groups;
    counters core, memory;
    uint64_t share; /* of the kernel that ends next, in core.work */
} rig;

static bool take(void *self, const metric_source *source, void *out, size_t bytes)
{
    rig *r = self;
    if (strcmp(source->path, "core") != 0)
        return false;
    assert_true(bytes >= sizeof(counters));
    ((counters *)out)->work = r->share;
    return true;
}

static void setup(rig *r)
{
    *r = (rig){ 0 };
    assert_int_equal(metrics_create(&r->m, NULL), LS_OK);
    for (int i = 0; i < 2; i++) {
        metric_source s = { .path = i == 0 ? "core" : "memory",
                            .type = i == 0 ? "core/t" : "memory/t",
                            .gpu = LS_METRICS_NONE,
                            .stream = LS_METRICS_NONE,
                            .metrics = table,
                            .metric_count = LS_COUNT_OF(table),
                            .counters = i == 0 ? &r->core : &r->memory,
                            .counters_size = sizeof(counters) };
        assert_int_equal(metrics_add(r->m, &s, NULL), LS_OK);
    }
}

static void end(rig *r, uint64_t share, ls_time begin, ls_time end, ls_time next_begin)
{
    metric_interval k = { .gpu = 0, .kernel = 1, .kernel_name = "k", .begin = begin, .end = end };
    r->share = share;
    assert_int_equal(kernel_groups_mark(&r->groups, r->m, &k, next_begin, take, NULL, r, NULL), LS_OK);
}

static uint64_t value(const rig *r, size_t scope, const char *type, const char *name)
{
    metric_value v;
    assert_int_equal(metrics_get(r->m, scope, type, NULL, name, &v, NULL), LS_OK);
    return v.value;
}

static void test_alone(void **state)
{
    (void)state;
    rig r;
    setup(&r);
    r.core = (counters){ 10, 100 };
    r.memory = (counters){ 5, 50 };
    end(&r, 10, 0, 100, 100); /* the next one was launched at its end */
    r.core = (counters){ 30, 150 };
    end(&r, 20, 100, 150, LS_TIME_MAX);
    assert_int_equal(metrics_interval_count(r.m), 2);
    assert_false(metrics_interval_at(r.m, 0)->overlapped || metrics_interval_at(r.m, 1)->overlapped);
    assert_int_equal(value(&r, 0, "memory/t", "work"), 5);
    assert_int_equal(value(&r, 1, "core/t", "work"), 20);
    assert_int_equal(value(&r, 1, "core/t", "time"), 50);
    metrics_destroy(r.m);
}

static void test_overlapping(void **state)
{
    (void)state;
    rig r;
    setup(&r);
    r.core = (counters){ 10, 100 };
    r.memory = (counters){ 5, 50 };
    end(&r, 7, 0, 100, 60); /* another one has begun at 60, and has 3 so far */
    r.core.work += 4;
    end(&r, 1, 80, 120, 60); /* inside of that one */
    r.core = (counters){ 40, 200 };
    r.memory.work += 15;
    end(&r, 32, 60, 200, 200); /* 7 + 1 + 32 are all */
    r.core = (counters){ 50, 260 };
    end(&r, 10, 200, 260, LS_TIME_MAX);
    assert_int_equal(metrics_interval_count(r.m), 5);
    static const uint64_t work[] = { 7, 1, 32, 0, 10 }, time[] = { 0, 0, 0, 200, 60 };
    static const uint64_t memory[] = { 0, 0, 0, 20, 0 };
    for (size_t i = 0; i < 5; i++) {
        const metric_interval *k = metrics_interval_at(r.m, i);
        assert_int_equal(k->overlapped, i < 4);
        assert_int_equal(k->shared, i == 3);
        assert_int_equal(value(&r, i, "core/t", "work"), work[i]);
        assert_int_equal(value(&r, i, "core/t", "time"), time[i]);
        assert_int_equal(value(&r, i, "memory/t", "work"), memory[i]);
    }
    const metric_interval *shared = metrics_interval_at(r.m, 3);
    assert_string_equal(shared->kernel_name, "(shared by 3 kernels)");
    assert_int_equal(shared->begin, 0);
    assert_int_equal(shared->end, 200);
    assert_int_equal(value(&r, LS_METRICS_RUN, "core/t", "work"), 50);
    metrics_destroy(r.m);
}

/* A peak has no share. */
static void test_refusal(void **state)
{
    (void)state;
    static const ls_metric peaks[] = { LS_METRIC_PEAK(counters, work, "", "most") };
    rig r = { 0 };
    ls_error err = { 0 };
    assert_int_equal(metrics_create(&r.m, NULL), LS_OK);
    metric_source s = { .path = "core",
                        .type = "core/t",
                        .gpu = LS_METRICS_NONE,
                        .stream = LS_METRICS_NONE,
                        .metrics = peaks,
                        .metric_count = 1,
                        .counters = &r.core,
                        .counters_size = sizeof(counters) };
    assert_int_equal(metrics_add(r.m, &s, NULL), LS_OK);
    metric_interval k = { .gpu = 0, .kernel_name = "k" };
    assert_int_equal(metrics_mark_part(r.m, &k, take, &r, &err), LS_ERR_INTERNAL);
    assert_non_null(strstr(err.what, "'work' of 'core' is no counter"));
    assert_int_equal(metrics_interval_count(r.m), 0);
    metrics_destroy(r.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_alone), cmocka_unit_test(test_overlapping),
                                        cmocka_unit_test(test_refusal) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
