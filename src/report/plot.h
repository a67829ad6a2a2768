/* plot.h: small plots for demos and reports: the same series on a terminal and as a self-contained SVG file.
 *
 * A point is not drawn if a coordinate is not a number, infinite, or not positive on a logarithmic axis. A
 * line has a gap there, and the plot says how many points were left out. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum plot_style {
    LS_PLOT_LINE,   /* a line through the points in their order */
    LS_PLOT_POINTS, /* markers */
    LS_PLOT_BOTH,
} plot_style;

typedef enum plot_scale {
    LS_PLOT_LINEAR,
    LS_PLOT_LOG10,
    LS_PLOT_LOG2, /* ticks at powers of two: sizes, threads */
} plot_scale;

typedef struct plot_series {
    const char *name; /* for the legend; NULL: none */
    const double *x, *y;
    size_t count;
    plot_style style;
} plot_series;

/* Texts are UTF-8 and may be NULL. */
typedef struct plot_figure {
    const char *title;
    const char *x_label, *x_unit;
    const char *y_label, *y_unit;
    plot_scale x_scale, y_scale;
    bool x_zero, y_zero; /* a linear axis begins at zero if it can */
    const plot_series *series;
    size_t series_count;
} plot_figure;

/* LS_PLOT_LOG2 if the values are powers of two over three doublings or more, as sizes and numbers of cores are; otherwise
 * LS_PLOT_LINEAR. */
plot_scale plot_scale_for(const double *values, size_t count);

/* The last part of a path, without .yaml: titles do not show where a file is. A generator's name (synth:...) stays whole.
 * Returns out. */
const char *plot_name(const char *path, char *out, size_t bytes);

typedef struct plot_text_options {
    unsigned columns, rows; /* of everything, with labels and legend; 0: 72 and 20; at least 24 and 8 */
    bool ascii;             /* no characters beyond ASCII */
    bool color;             /* ANSI colours */
} plot_text_options;

/* options may be NULL. Write errors show in the stream (ferror). */
ls_status plot_write_text(const plot_figure *plot, const plot_text_options *options, FILE *to, ls_error *err);

/* The SVG text; write errors show in the stream (ferror). */
void plot_svg_write(const plot_figure *plot, FILE *to);
/* The SVG as a file, whole or not at all. */
ls_status plot_write_svg(const plot_figure *plot, const char *path, ls_error *err);

/* Bars in groups: a group per workload, in it a bar per configuration. A value that is not finite has no bar. */
typedef struct bar_chart {
    const char *title; /* may be NULL, as the label and the unit */
    const char *y_label, *y_unit;
    double y_max; /* the axis reaches so far or farther: 100 for percent; 0: the values decide */
    const char *const *groups;
    size_t group_count;
    const char *const *series;
    size_t series_count;
    const double *values; /* of group g and series s: [g * series_count + s] */
} bar_chart;

void bars_svg_write(const bar_chart *bars, FILE *to);

#endif
