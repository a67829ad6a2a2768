/* Ranges, round ticks and their labels, also for the values that break naive arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/plot_axis.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The labels of the x axis for these points, joined by spaces. */
static const char *labels(const double *x, size_t count, plot_scale scale, const char *unit)
{
    static char text[512];
    plot_series s = { .x = x, .y = x, .count = count };
    plot_figure plot = { .series = &s, .series_count = 1, .x_scale = scale, .x_unit = unit };
    plot_axes axes;
    plot_axes_init(&axes, &plot, 6, 6);
    text[0] = '\0';
    for (size_t i = 0; i < axes.x.tick_count; i++) {
        assert_true(axes.x.tick[i].at >= 0 && axes.x.tick[i].at <= 1);
        strcat(text, i ? " " : "");
        strcat(text, axes.x.tick[i].label);
    }
    return text;
}

#define LABELS(scale, unit, ...)                                                                              \
    labels((const double[]){ __VA_ARGS__ }, LS_COUNT_OF(((const double[]){ __VA_ARGS__ })), scale, unit)

static void test_linear(void **state)
{
    (void)state;
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "", 0, 10), "0 2 4 6 8 10");
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "", 0, 41), "0 5 10 15 20 25 30 35 40 45");
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "", -0.3, 0.31), "-0.3 -0.2 -0.1 0.0 0.1 0.2 0.3 0.4");
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "", 1e6, 3e6), "1.0M 1.5M 2.0M 2.5M 3.0M");
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "s", 0, 3e-6), "0.0 0.5u 1.0u 1.5u 2.0u 2.5u 3.0u");
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "", 0, 3e-6), "0 5e-7 1e-6 1.5e-6 2e-6 2.5e-6 3e-6");
    assert_string_equal(LABELS(LS_PLOT_LINEAR, "", 0, 2e30), "0 5e29 1e30 1.5e30 2e30");
}

static void test_scale_for(void **state)
{
#define SCALE(...)                                                                                            \
    plot_scale_for((const double[]){ __VA_ARGS__ }, LS_COUNT_OF(((const double[]){ __VA_ARGS__ })))
    (void)state;
    assert_int_equal(SCALE(4, 8, 16, 32), LS_PLOT_LOG2);
    assert_int_equal(SCALE(64, 1, 0.5), LS_PLOT_LOG2);
    assert_int_equal(SCALE(1, 2, 4), LS_PLOT_LINEAR); /* two doublings */
    assert_int_equal(SCALE(4, 8, 12, 64), LS_PLOT_LINEAR);
    assert_int_equal(SCALE(0, 1, 8), LS_PLOT_LINEAR);
    assert_int_equal(SCALE(-1, 8, 64), LS_PLOT_LINEAR);
    assert_int_equal(SCALE(NAN, 8, 64), LS_PLOT_LINEAR);
    assert_int_equal(plot_scale_for(NULL, 0), LS_PLOT_LINEAR);
#undef SCALE
}

static void test_name(void **state)
{
    char out[32], small[4];
    (void)state;
    assert_string_equal(plot_name("dir/traces/bfs", out, sizeof out), "bfs");
    assert_string_equal(plot_name("dir/traces/bfs/", out, sizeof out), "bfs");
    assert_string_equal(plot_name("/x/my-gpu.yaml", out, sizeof out), "my-gpu");
    assert_string_equal(plot_name("rtx3070", out, sizeof out), "rtx3070");
    assert_string_equal(plot_name("synth:gemm,m=1/2", out, sizeof out), "synth:gemm,m=1/2");
    assert_string_equal(plot_name("/", out, sizeof out), "");
    assert_string_equal(plot_name("", out, sizeof out), "");
    assert_string_equal(plot_name("long-name", small, sizeof small), "lon");
}

static void test_logarithmic(void **state)
{
    (void)state;
    assert_string_equal(LABELS(LS_PLOT_LOG2, "", 1, 64), "1 2 4 8 16 32 64");
    assert_string_equal(LABELS(LS_PLOT_LOG2, "", 1024, 4194304), "1Ki 4Ki 16Ki 64Ki 256Ki 1Mi 4Mi");
    assert_string_equal(LABELS(LS_PLOT_LOG2, "", 0.25, 3), "1/4 1/2 1 2 4");
    assert_string_equal(LABELS(LS_PLOT_LOG10, "", 1, 1e6), "1 10 100 1000 10k 100k 1M");
    assert_string_equal(LABELS(LS_PLOT_LOG10, "", 3, 8), "2 5 10");
    assert_string_equal(LABELS(LS_PLOT_LOG10, "", 20, 600), "20 50 100 200 500 1000");
    assert_string_equal(LABELS(LS_PLOT_LOG10, "s", 1e-6, 0.1), "1u 10u 100u 1m 10m 100m");
    assert_string_equal(LABELS(LS_PLOT_LOG10, "", 1e-6, 0.1), "1e-6 1e-5 0.0001 0.001 0.01 0.1");
    assert_string_equal(LABELS(LS_PLOT_LOG10, "", 5), "2 5 10"); /* one round value */
    assert_string_equal(LABELS(LS_PLOT_LOG2, "", 8), "4 8 16");
}

static void check_range(const double *x, const double *y, size_t count, plot_scale scale)
{
    plot_series s = { .x = x, .y = y, .count = count };
    plot_figure plot = { .series = &s, .series_count = 1, .x_scale = scale, .y_scale = scale };
    plot_axes axes;
    plot_axes_init(&axes, &plot, 8, 6);
    assert_true(isfinite(axes.x.min) && isfinite(axes.x.max) && axes.x.min < axes.x.max);
    assert_true(isfinite(axes.y.min) && isfinite(axes.y.max) && axes.y.min < axes.y.max);
    assert_true(axes.x.tick_count >= 2 && axes.y.tick_count >= 2);
    for (size_t i = 0; i < axes.x.tick_count; i++)
        assert_true(isfinite(axes.x.tick[i].at) && axes.x.tick[i].label[0]);
    for (size_t i = 0; i < count; i++)
        if (plot_visible(&plot, x[i], y[i])) {
            double at = plot_axis_at(&axes.y, y[i]);
            assert_true(at >= 0 && at <= 1);
        }
}

static void test_extremes(void **state)
{
    (void)state;
    static const double v[][2] = {
        { 0, 0 },
        { 5, 5 },
        { -5, -5 },
        { 1e16, 1e16 + 2 },
        { -DBL_MAX, DBL_MAX },
        { DBL_MIN, DBL_MIN },
        { 4.9e-324, 4.9e-324 },
        { DBL_MAX, DBL_MAX },
        { 0, 1e-310 },
        { NAN, NAN },
        { INFINITY, 1 },
        { -INFINITY, NAN },
        { -0.0, 0.0 },
        { 0.1 + 0.2, 0.3 },
        { 999.9999999, 1000.0000001 },
    };
    for (size_t i = 0; i < LS_COUNT_OF(v); i++) {
        check_range(v[i], v[i], 2, LS_PLOT_LINEAR);
        check_range(v[i], v[i], 2, LS_PLOT_LOG10);
        check_range(v[i], v[i], 2, LS_PLOT_LOG2);
    }
    check_range(v[0], v[0], 0, LS_PLOT_LINEAR); /* no points at all */
    check_range(v[0], v[0], 0, LS_PLOT_LOG10);
}

static void test_zero_and_notes(void **state)
{
    (void)state;
    const double x[] = { 3, 4, NAN, -1, 5 }, y[] = { 30, 40, 1, 1, INFINITY };
    plot_series s = { .x = x, .y = y, .count = 5 };
    plot_figure plot = { .series = &s, .series_count = 1, .x_zero = true, .x_scale = LS_PLOT_LINEAR };
    plot_axes axes;
    char note[120];
    plot_axes_init(&axes, &plot, 5, 5);
    assert_true(axes.x.min == -1 && axes.x.max == 4);
    assert_int_equal(axes.drawn, 3);
    assert_string_equal(plot_note(&axes, note, sizeof note),
                        "2 of 5 points not drawn: NaN, infinite or log of <= 0");
    s.count = 2;
    plot_axes_init(&axes, &plot, 5, 5);
    assert_true(axes.x.min == 0 && axes.x.max == 4);
    assert_true(axes.y.min == 30);
    assert_string_equal(plot_note(&axes, note, sizeof note), "");
    plot.series_count = 0;
    plot_axes_init(&axes, &plot, 5, 5);
    assert_string_equal(plot_note(&axes, note, sizeof note), "no points");
    char title[16];
    assert_string_equal(plot_axis_title("time", "s", title, sizeof title), "time [s]");
    assert_string_equal(plot_axis_title(NULL, "s", title, sizeof title), "[s]");
    assert_string_equal(plot_axis_title("time", NULL, title, sizeof title), "time");
    assert_string_equal(plot_axis_title("a very long label", "s", title, sizeof title), "a very long lab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),    cmocka_unit_test(test_logarithmic),
        cmocka_unit_test(test_scale_for), cmocka_unit_test(test_name),
        cmocka_unit_test(test_extremes),  cmocka_unit_test(test_zero_and_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
