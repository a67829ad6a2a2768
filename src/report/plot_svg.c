/* plot_svg.c: plots with two axes as one SVG file. Each series has its own marker, so that nothing depends on seeing
 * colours. */
#include "report/plot_axis.h"
#include "report/svg.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SVG_PLOT_HEIGHT 340.0
#define SVG_LEGEND_ROW 22.0

/* The place of the plot's frame in the picture. */
typedef struct frame {
    double left, top, width, height;
} frame;

static double frame_x(const frame *f, double at)
{
    return f->left + at * f->width;
}

static double frame_y(const frame *f, double at)
{
    return f->top + (1 - at) * f->height;
}

/* ------------------------------------------------------------------------------------------------- series */

static void put_point(FILE *to, const char *before, double x, double y)
{
    fputs(before, to);
    svg_number(to, x);
    fputc(' ', to);
    svg_number(to, y);
}

/* Circle, square, triangle, diamond, then the same again, hollow. */
static void put_marker(FILE *to, size_t series, double x, double y, double r)
{
    bool hollow = series / 4 % 2;
    if (series % 4 == 0) {
        fputs("<circle", to);
        svg_attribute(to, "cx", x);
        svg_attribute(to, "cy", y);
        svg_attribute(to, "r", r);
    } else {
        fputs("<path d=\"", to);
        if (series % 4 == 1) {
            double h = r * 0.9;
            put_point(to, "M", x - h, y - h);
            put_point(to, "L", x + h, y - h);
            put_point(to, "L", x + h, y + h);
            put_point(to, "L", x - h, y + h);
        } else if (series % 4 == 2) {
            put_point(to, "M", x, y - r * 1.15);
            put_point(to, "L", x + r * 1.1, y + r * 0.85);
            put_point(to, "L", x - r * 1.1, y + r * 0.85);
        } else {
            put_point(to, "M", x, y - r * 1.25);
            put_point(to, "L", x + r * 1.25, y);
            put_point(to, "L", x, y + r * 1.25);
            put_point(to, "L", x - r * 1.25, y);
        }
        fputs("Z\"", to);
    }
    fprintf(to, hollow ? " fill=\"#fff\" stroke=\"%s\" stroke-width=\"1.6\"/>\n" : " fill=\"%s\"/>\n",
            svg_color(series));
}

/* Each stretch between two gaps is one path. A stretch of one point would be invisible and becomes a dot. */
static void put_stretch(FILE *to, const plot_series *s, const plot_axes *axes, const frame *f, size_t index,
                        size_t first, size_t end)
{
    double x0 = frame_x(f, plot_axis_at(&axes->x, s->x[first]));
    double y0 = frame_y(f, plot_axis_at(&axes->y, s->y[first]));
    if (end - first == 1) {
        if (s->style == LS_PLOT_LINE)
            put_marker(to, index, x0, y0, 3);
        return;
    }
    fputs("<path class=\"line\" d=\"", to);
    put_point(to, "M", x0, y0);
    for (size_t i = first + 1; i < end; i++)
        put_point(to, "L", frame_x(f, plot_axis_at(&axes->x, s->x[i])),
                  frame_y(f, plot_axis_at(&axes->y, s->y[i])));
    fprintf(to, "\" stroke=\"%s\"/>\n", svg_color(index));
}

static void put_series(FILE *to, const plot_figure *plot, const plot_axes *axes, const frame *f, size_t index)
{
    const plot_series *s = &plot->series[index];
    for (size_t i = 0; i < s->count && s->style != LS_PLOT_POINTS;) {
        size_t end = i;
        while (end < s->count && plot_visible(plot, s->x[end], s->y[end]))
            end++;
        if (end > i)
            put_stretch(to, s, axes, f, index, i, end);
        i = end + 1;
    }
    double r = s->count > 100 ? 2.2 : s->count > 40 ? 3 : 4;
    for (size_t i = 0; i < s->count && s->style != LS_PLOT_LINE; i++)
        if (plot_visible(plot, s->x[i], s->y[i]))
            put_marker(to, index, frame_x(f, plot_axis_at(&axes->x, s->x[i])),
                       frame_y(f, plot_axis_at(&axes->y, s->y[i])), r);
}

/* ------------------------------------------------------------------------------------------------- frame */

static void put_grid(FILE *to, const plot_axes *axes, const frame *f)
{
    double right = f->left + f->width, bottom = f->top + f->height;
    for (size_t i = 0; i < axes->y.tick_count; i++) {
        double y = frame_y(f, axes->y.tick[i].at);
        svg_line(to, f->left, y, right, y, "grid");
        svg_text(to, f->left - 8, y + SVG_FONT * 0.35, "tick end", axes->y.tick[i].label);
    }
    double free_from = 0;
    for (size_t i = 0; i < axes->x.tick_count; i++) {
        double x = frame_x(f, axes->x.tick[i].at);
        double half = svg_text_width(axes->x.tick[i].label, SVG_FONT) / 2;
        svg_line(to, x, f->top, x, bottom, "grid");
        svg_line(to, x, bottom, x, bottom + 5, "axis");
        if (x - half < free_from)
            continue; /* no room for the label */
        svg_text(to, x, bottom + 20, "tick middle", axes->x.tick[i].label);
        free_from = x + half + 6;
    }
    svg_line(to, f->left, bottom, right, bottom, "axis");
    svg_line(to, f->left, f->top, f->left, bottom, "axis");
}

/* Writes the legend from (x, y) on, or only counts its rows if to is NULL. */
static unsigned legend(FILE *to, const plot_figure *plot, double left, double y, double right)
{
    if (!plot_has_legend(plot))
        return 0;
    unsigned rows = 1;
    double x = left;
    for (size_t s = 0; s < plot->series_count; s++) {
        const char *name = plot->series[s].name ? plot->series[s].name : "";
        double width = 34 + svg_text_width(name, SVG_FONT);
        if (x > left && x + width > right) {
            rows++;
            x = left;
            y += SVG_LEGEND_ROW;
        }
        if (to) {
            if (plot->series[s].style != LS_PLOT_POINTS) {
                fputs("<path class=\"line\" d=\"", to);
                put_point(to, "M", x, y);
                put_point(to, "L", x + 24, y);
                fprintf(to, "\" stroke=\"%s\"/>\n", svg_color(s));
            }
            if (plot->series[s].style != LS_PLOT_LINE)
                put_marker(to, s, x + 12, y, 4);
            svg_text(to, x + 30, y + SVG_FONT * 0.35, "name", name);
        }
        x += width + 18;
    }
    return rows;
}

void plot_svg_write(const plot_figure *plot, FILE *to)
{
    plot_axes axes;
    plot_axes_init(&axes, plot, 8, 6);
    char x_title[160], y_title[160], note[120];
    plot_axis_title(plot->x_label, plot->x_unit, x_title, sizeof x_title);
    plot_axis_title(plot->y_label, plot->y_unit, y_title, sizeof y_title);
    plot_note(&axes, note, sizeof note);

    double label_width = 0;
    for (size_t i = 0; i < axes.y.tick_count; i++)
        label_width = fmax(label_width, svg_text_width(axes.y.tick[i].label, SVG_FONT));
    frame f = { .left = 22 + label_width + (y_title[0] ? 24 : 0), .height = SVG_PLOT_HEIGHT };
    f.width = SVG_WIDTH - f.left - 28;
    bool title = plot->title && plot->title[0];
    double legend_top = 24 + (title ? 26 : 0);
    unsigned legend_rows = legend(NULL, plot, f.left, legend_top, f.left + f.width);
    f.top = legend_top + legend_rows * SVG_LEGEND_ROW;
    double below = f.top + f.height + 26; /* under the tick labels */
    double height = below + (x_title[0] ? 26 : 0) + (note[0] ? 22 : 0) + 8;

    svg_begin(to, plot->title, height);
    if (title)
        svg_text(to, f.left, 32, "title", plot->title);
    legend(to, plot, f.left, legend_top + 2, f.left + f.width);
    put_grid(to, &axes, &f);
    for (size_t s = 0; s < plot->series_count; s++)
        put_series(to, plot, &axes, &f, s);
    if (x_title[0])
        svg_text(to, f.left + f.width / 2, below + 20, "middle", x_title);
    if (y_title[0]) {
        fputs("<g transform=\"translate(20 ", to);
        svg_number(to, f.top + f.height / 2);
        fputs(") rotate(-90)\">", to);
        svg_text(to, 0, 0, "middle", y_title);
        fputs("</g>\n", to);
    }
    if (note[0])
        svg_text(to, f.left, height - 10, "note", note);
    fputs("</svg>\n", to);
}

ls_status plot_write_svg(const plot_figure *plot, const char *path, ls_error *err)
{
    file_writer w;
    ls_status status = file_writer_open(&w, path, err);
    if (status != LS_OK)
        return status;
    plot_svg_write(plot, w.stream);
    return file_writer_commit(&w, err);
}
