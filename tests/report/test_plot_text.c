/* Terminal plots, character by character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *draw(const plot_figure *plot, const plot_text_options *options)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    assert_int_equal(plot_write_text(plot, options, to, NULL), LS_OK);
    fclose(to);
    return text;
}

static void assert_plot(const plot_figure *plot, const plot_text_options *options, const char *expected)
{
    char *text = draw(plot, options);
    assert_string_equal(text, expected);
    free(text);
}

static const double x[] = { 0, 1, 2, 3, 4 }, up[] = { 0, 1, 2, 3, 4 }, down[] = { 4, 3, 2, 1, 0 };

static void test_ascii(void **state)
{
    (void)state;
    plot_series s[] = { { "up", x, up, 5, LS_PLOT_BOTH }, { "down", x, down, 5, LS_PLOT_POINTS } };
    plot_figure plot = {
        .title = "Title", .x_label = "time", .x_unit = "s", .y_label = "level", .series = s, .series_count = 2
    };
    assert_plot(&plot, &(plot_text_options){ .columns = 24, .rows = 11, .ascii = true },
                "           Title\n"
                "level\n"
                "4 +o                 ***\n"
                "  |     o       *****\n"
                "2 +        **o**\n"
                "  |   *****       o\n"
                "0 +***                 o\n"
                "  ++---------+---------+\n"
                "   0         2         4\n"
                "         time [s]\n"
                "  * up   o down\n");
}

static void test_braille(void **state)
{
    (void)state;
    plot_series s[] = { { NULL, x, up, 5, LS_PLOT_LINE } };
    plot_figure plot = { .series = s, .series_count = 1 };
    assert_plot(&plot, &(plot_text_options){ .columns = 24, .rows = 8 },
                "4 ┤                  ⡠⠔⠊\n"
                "  │              ⢀⡠⠒⠉\n"
                "  │           ⣀⠤⠊⠁\n"
                "2 ┤       ⣀⠤⠒⠉\n"
                "  │   ⣀⠤⠒⠉\n"
                "0 ┤⡠⠔⠊\n"
                "  └┬─────────┬─────────┬\n"
                "   0         2         4\n");
    /* Colours replace markers. */
    char *text = draw(&plot, &(plot_text_options){ .columns = 24, .rows = 8, .color = true });
    assert_non_null(strstr(text, "0 ┤\033[34m⡠\033[0m\033[34m⠔\033[0m"));
    free(text);
}

/* Lines that look alike get markers; a point without neighbours is seen, too; a gap stays a gap. */
static void test_markers(void **state)
{
    (void)state;
    plot_series two[] = { { "a", x, up, 5, LS_PLOT_LINE }, { "b", x, down, 5, LS_PLOT_LINE } };
    plot_figure plot = { .series = two, .series_count = 2 };
    char *text = draw(&plot, NULL);
    assert_non_null(strstr(text, "●"));
    assert_non_null(strstr(text, "○"));
    assert_non_null(strstr(text, "  ● a   ○ b\n"));
    free(text);

    const double gap[] = { 0, NAN, 2, NAN, 4 };
    plot_series s[] = { { NULL, x, gap, 5, LS_PLOT_LINE } };
    plot = (plot_figure){ .series = s, .series_count = 1 };
    assert_plot(&plot, &(plot_text_options){ .columns = 24, .rows = 8 },
                "4 ┤                    ●\n"
                "  │\n"
                "2 ┤          ●\n"
                "  │\n"
                "0 ┤●\n"
                "  └┬─────────┬─────────┬\n"
                "   0         2         4\n"
                "  2 of 5 points not draw\n");
}

static void test_empty(void **state)
{
    (void)state;
    plot_figure plot = { .title = "T" };
    assert_plot(&plot, &(plot_text_options){ .columns = 24, .rows = 8, .ascii = true },
                "             T\n"
                "10 +\n"
                "   |\n"
                " 5 +\n"
                " 0 +\n"
                "   ++---------+--------+\n"
                "    0         5       10\n"
                "  no points\n");
}

/* Texts of the user cannot break the frame or the terminal. */
static void test_odd_texts(void **state)
{
    (void)state;
    const double one = 1;
    plot_series s[] = { { "\033[31mred", &one, &one, 1, LS_PLOT_POINTS },
                        { "Größe \xff", &one, &one, 1, LS_PLOT_POINTS } };
    plot_figure plot = { .title = "line\nbreak", .series = s, .series_count = 2 };
    char *text = draw(&plot, NULL);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "● ?[31mred   ○ Größe ?\n"));
    assert_non_null(strstr(text, "line?break\n"));
    free(text);
    text = draw(&plot, &(plot_text_options){ .ascii = true });
    assert_non_null(strstr(text, "o Gr??e ?\n"));
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p < 0x80);
    free(text);

    /* A legend longer than the line wraps, a name longer than the line is cut. */
    char name[200];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    s[0].name = s[1].name = name;
    text = draw(&plot, &(plot_text_options){ .columns = 40 });
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        size_t cells = 0;
        for (const char *p = line; *p; p++)
            cells += ((unsigned char)*p & 0xc0) != 0x80;
        assert_true(cells <= 40);
    }
    free(text);
}

/* Any size works, however small. */
static void test_sizes(void **state)
{
    (void)state;
    plot_series s[] = { { "up", x, up, 5, LS_PLOT_BOTH } };
    plot_figure plot = { .title = "t",
                         .x_label = "x",
                         .y_label = "y",
                         .series = s,
                         .series_count = 1,
                         .x_scale = LS_PLOT_LOG2,
                         .y_scale = LS_PLOT_LOG10 };
    for (unsigned columns = 1; columns < 120; columns += 7)
        for (unsigned rows = 1; rows < 40; rows += 3) {
            char *text = draw(&plot, &(plot_text_options){ .columns = columns, .rows = rows });
            assert_non_null(strstr(text, "● up\n"));
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii), cmocka_unit_test(test_braille),   cmocka_unit_test(test_markers),
        cmocka_unit_test(test_empty), cmocka_unit_test(test_odd_texts), cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
