/* plot_bars.c: bars in groups as SVG, with the axis and the colours of other plots. */
#include "report/plot_axis.h"
#include "report/svg.h"

#include <math.h>
#include <stdlib.h>

#define BARS_HEIGHT 240.0
#define BARS_LEGEND_ROW 22.0
#define BARS_GROUP_MOST 130.0 /* pixels: few groups do not fill the width */
#define BARS_VALUE_FONT 10.0

typedef struct bars_frame {
    double left, top, group, bar; /* group and bar: widths */
} bars_frame;

/* The axis of values begins at zero and has round ticks. */
static void bars_axis(const bar_chart *b, plot_axis *out)
{
    double low = 0, high = b->y_max > 0 ? b->y_max : 0;
    for (size_t i = 0; i < b->group_count * b->series_count; i++) {
        if (!isfinite(b->values[i]))
            continue;
        low = fmin(low, b->values[i]);
        high = fmax(high, b->values[i]);
    }
    plot_axes axes;
    const double x[] = { 0, 1 }, y[] = { low, high };
    const plot_series series = { .x = x, .y = y, .count = 2 };
    plot_axes_init(&axes,
                   &(plot_figure){ .y_unit = b->y_unit, .y_zero = true, .series = &series, .series_count = 1 },
                   2, 5);
    *out = axes.y;
}

/* Three digits: 0.97, 12.5, 140. */
static void value_text(double value, char *out, size_t bytes)
{
    int decimals = fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
    snprintf(out, bytes, "%.*f", decimals, value);
    for (char *p = out; *p; p++)
        if (*p == ',')
            *p = '.';
}

/* Writes the legend from (left, y) on, or only counts its rows if to is NULL. */
static unsigned bars_legend(const bar_chart *b, FILE *to, double left, double y)
{
    unsigned rows = 1;
    double x = left;
    for (size_t s = 0; s < b->series_count; s++) {
        double width = 18 + svg_text_width(b->series[s], SVG_FONT);
        if (x > left && x + width > SVG_WIDTH - 20) {
            rows++;
            x = left;
            y += BARS_LEGEND_ROW;
        }
        if (to) {
            fputs("<rect", to);
            svg_attribute(to, "x", x);
            svg_attribute(to, "y", y - 6);
            fprintf(to, " width=\"12\" height=\"12\" fill=\"%s\"/>\n", svg_color(s));
            svg_text(to, x + 18, y + SVG_FONT * 0.35, "name", b->series[s]);
        }
        x += width + 18;
    }
    return rows;
}

static void put_bar(const bar_chart *b, FILE *to, const bars_frame *f, const plot_axis *axis, size_t group,
                    size_t s)
{
    double value = b->values[group * b->series_count + s];
    char text[32];
    if (!isfinite(value))
        return;
    double x = f->left + f->group * (double)group + f->bar * ((double)s + 0.5);
    double y = f->top + BARS_HEIGHT * (1 - plot_axis_at(axis, value));
    double zero = f->top + BARS_HEIGHT * (1 - plot_axis_at(axis, 0));
    value_text(value, text, sizeof text);
    fputs("<rect", to);
    svg_attribute(to, "x", x);
    svg_attribute(to, "y", fmin(y, zero));
    svg_attribute(to, "width", f->bar * 0.92);
    svg_attribute(to, "height", fabs(zero - y));
    fprintf(to, " fill=\"%s\"><title>", svg_color(s));
    svg_escaped(to, b->groups[group]);
    fputs(", ", to);
    svg_escaped(to, b->series[s]);
    fprintf(to, ": %s%s%s</title></rect>\n", text, b->y_unit && b->y_unit[0] ? " " : "",
            b->y_unit ? b->y_unit : "");
    if (svg_text_width(text, BARS_VALUE_FONT) + 5 <= f->bar) /* neighbours stay apart */
        svg_text(to, x + f->bar * 0.46, fmin(y, zero) - 3, "value middle", text);
}

static void put_group_name(const bar_chart *b, FILE *to, const bars_frame *f, size_t group, bool slanted)
{
    double x = f->left + f->group * ((double)group + 0.5), y = f->top + BARS_HEIGHT + 18;
    if (!slanted) {
        svg_text(to, x, y, "tick middle", b->groups[group]);
        return;
    }
    fputs("<g transform=\"translate(", to);
    svg_number(to, x + 4);
    fputc(' ', to);
    svg_number(to, y - 2);
    fputs(") rotate(-35)\">", to);
    svg_text(to, 0, 0, "tick end", b->groups[group]);
    fputs("</g>\n", to);
}

void bars_svg_write(const bar_chart *b, FILE *to)
{
    plot_axis axis;
    char y_title[160];
    double label_width = 0, name_width = 0;
    bars_axis(b, &axis);
    plot_axis_title(b->y_label, b->y_unit, y_title, sizeof y_title);
    for (size_t i = 0; i < axis.tick_count; i++)
        label_width = fmax(label_width, svg_text_width(axis.tick[i].label, SVG_FONT));
    for (size_t g = 0; g < b->group_count; g++)
        name_width = fmax(name_width, svg_text_width(b->groups[g], SVG_FONT));

    bars_frame f = { .left = 22 + label_width + (y_title[0] ? 24 : 0) };
    f.group = fmin(BARS_GROUP_MOST, (SVG_WIDTH - f.left - 20) / (double)(b->group_count ? b->group_count : 1));
    f.bar = f.group / ((double)b->series_count + 1);
    bool has_title = b->title && b->title[0], slanted = name_width > f.group - 4;
    double right = f.left + f.group * (double)b->group_count, legend_top = 24 + (has_title ? 26 : 0);
    f.top = legend_top + bars_legend(b, NULL, f.left, legend_top) * BARS_LEGEND_ROW;
    double height = f.top + BARS_HEIGHT + (slanted ? 30 + 0.6 * name_width : 34);

    svg_begin(to, b->title, height);
    if (has_title)
        svg_text(to, f.left, 32, "title", b->title);
    bars_legend(b, to, f.left, legend_top + 2);
    for (size_t i = 0; i < axis.tick_count; i++) {
        double y = f.top + BARS_HEIGHT * (1 - axis.tick[i].at);
        svg_line(to, f.left, y, right, y, axis.tick[i].value == 0 ? "axis" : "grid");
        svg_text(to, f.left - 8, y + SVG_FONT * 0.35, "tick end", axis.tick[i].label);
    }
    for (size_t g = 0; g < b->group_count; g++) {
        for (size_t s = 0; s < b->series_count; s++)
            put_bar(b, to, &f, &axis, g, s);
        put_group_name(b, to, &f, g, slanted);
    }
    if (y_title[0]) {
        fputs("<g transform=\"translate(20 ", to);
        svg_number(to, f.top + BARS_HEIGHT / 2);
        fputs(") rotate(-90)\">", to);
        svg_text(to, 0, 0, "middle", y_title);
        fputs("</g>\n", to);
    }
    fputs("</svg>\n", to);
}
