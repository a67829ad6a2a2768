/* SVG plots: well-formed for any texts and numbers, with the points where they belong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *draw(const plot_figure *plot)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    plot_svg_write(plot, to);
    fclose(to);
    return text;
}

/* Every tag is closed in order, and no '<' or '&' stands in text. */
static void assert_well_formed(const char *text)
{
    char open[16][16];
    size_t depth = 0;
    for (const char *p = text; *p;) {
        if (*p == '&')
            assert_true(!strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) || !strncmp(p, "&gt;", 4));
        if (*p != '<') {
            p++;
            continue;
        }
        const char *end = strchr(p, '>');
        assert_non_null(end);
        size_t name = strcspn(p + 1 + (p[1] == '/'), " />");
        assert_true(name > 0 && name < sizeof open[0]);
        if (p[1] == '/') {
            assert_true(depth > 0 && strlen(open[depth - 1]) == name);
            assert_memory_equal(open[--depth], p + 2, name);
        } else if (end[-1] != '/') {
            assert_true(depth < LS_COUNT_OF(open));
            snprintf(open[depth++], sizeof open[0], "%.*s", (int)name, p + 1);
        }
        p = end + 1;
    }
    assert_int_equal(depth, 0);
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
        count++;
    return count;
}

static const double x[] = { 0, 5, 10 }, y[] = { 0, 10, 5 };

static void test_places(void **state)
{
    (void)state;
    plot_series s[] = { { "a", x, y, 3, LS_PLOT_BOTH }, { "b", x, y, 3, LS_PLOT_LINE } };
    plot_figure plot = {
        .title = "T", .x_label = "load", .y_label = "time", .y_unit = "s", .series = s, .series_count = 2
    };
    char *text = draw(&plot);
    assert_well_formed(text);
    assert_has(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"760\"");
    assert_has(text, "<title>T</title>");
    assert_has(text, ">load</text>");
    assert_has(text, ">time [s]</text>");
    assert_has(text, ">10</text>");
    /* The frame is 340 high and begins at 72; 0 is at its foot, 10 at its top, 5 in the middle. */
    assert_has(text, "cy=\"412\"");
    assert_has(text, "cy=\"72\"");
    assert_has(text, "cy=\"242\"");
    assert_has(text, "cx=\"732\"");                     /* the right end */
    assert_int_equal(count_of(text, "<circle"), 3 + 1); /* and one in the legend */
    assert_int_equal(count_of(text, "class=\"line\" d=\""), 2 + 2);
    assert_null(strstr(text, "class=\"note\""));
    free(text);
}

static void test_gaps_and_single_points(void **state)
{
    (void)state;
    const double gx[] = { 1, 2, 3, 4, 5, 6 }, gy[] = { 1, 2, NAN, 4, NAN, INFINITY };
    plot_series s[] = { { NULL, gx, gy, 6, LS_PLOT_LINE } };
    plot_figure plot = { .series = s, .series_count = 1 };
    char *text = draw(&plot);
    assert_well_formed(text);
    assert_int_equal(count_of(text, "class=\"line\""), 1); /* 1 to 2 */
    assert_int_equal(count_of(text, "<circle"), 1);        /* 4, alone */
    assert_has(text, "3 of 6 points not drawn");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
    free(text);
    plot.series_count = 0;
    text = draw(&plot);
    assert_well_formed(text);
    assert_has(text, ">no points</text>");
    free(text);
}

static void test_odd_texts(void **state)
{
    (void)state;
    plot_series s[] = { { "a < b && c > d", x, y, 3, LS_PLOT_POINTS },
                        { "bad \xc3\x28 \x02", x, y, 3, LS_PLOT_LINE } };
    plot_figure plot = { .title = "</svg><script>",
                         .x_label = "\xff",
                         .series = s,
                         .series_count = 2,
                         .x_scale = LS_PLOT_LOG10,
                         .y_scale = LS_PLOT_LOG2 };
    char *text = draw(&plot);
    assert_well_formed(text);
    assert_has(text, "&lt;/svg&gt;&lt;script&gt;");
    assert_has(text, ">a &lt; b &amp;&amp; c &gt; d</text>");
    assert_has(text, ">bad ?( ?</text>");
    assert_has(text, ">?</text>");
    free(text);
}

static void test_file(void **state)
{
    (void)state;
    char dir[] = P_tmpdir "/ls_plot_XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/p.svg", dir);
    plot_series s[] = { { "a", x, y, 3, LS_PLOT_BOTH } };
    plot_figure plot = { .series = s, .series_count = 1 };
    assert_int_equal(plot_write_svg(&plot, path, NULL), LS_OK);
    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(unlink(path), 0);
    ls_error err = { 0 };
    assert_int_equal(plot_write_svg(&plot, "/dev/full", &err), LS_ERR_IO);
    snprintf(path, sizeof path, "%s/no/p.svg", dir);
    assert_int_equal(plot_write_svg(&plot, path, &err), LS_ERR_IO);
    assert_string_equal(err.where, path);
    assert_int_equal(rmdir(dir), 0);
}

static void test_bars(void **state)
{
    static const char *const groups[] = { "FIR", "<KM>" }, *const series[] = { "first", "second" };
    static const double values[] = { 12.5, 99.96, NAN, 0 };
    bar_chart bars = { .title = "Hits",
                       .y_label = "hit rate",
                       .y_unit = "%",
                       .y_max = 100,
                       .groups = groups,
                       .group_count = 2,
                       .series = series,
                       .series_count = 2,
                       .values = values };
    char *text = NULL;
    size_t bytes;
    (void)state;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    bars_svg_write(&bars, to);
    fclose(to);
    assert_well_formed(text);
    assert_null(strstr(text, "e+0"));
    assert_null(strstr(text, "nan"));
    for (int tick = 0; tick <= 100; tick += 20) {
        char label[16];
        snprintf(label, sizeof label, ">%d</text>", tick);
        assert_has(text, label);
    }
    assert_int_equal(count_of(text, "</rect>"), 3); /* not the one without a value */
    assert_has(text, "FIR, first: 12.5 %");
    assert_has(text, "FIR, second: 100 %");
    assert_has(text, "&lt;KM&gt;, second: 0.00 %");
    assert_has(text, ">hit rate [%]</text>");
    /* Tick labels have room at the left of the axis: the first text ends where it ends for all. */
    const char *tick = strstr(text, "class=\"tick end\" x=\"");
    assert_non_null(tick);
    assert_true(strtod(tick + strlen("class=\"tick end\" x=\""), NULL) > 3 * 13 * 0.56);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),    cmocka_unit_test(test_gaps_and_single_points),
        cmocka_unit_test(test_odd_texts), cmocka_unit_test(test_file),
        cmocka_unit_test(test_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
