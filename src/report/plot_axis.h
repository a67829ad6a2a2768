/* plot_axis.h: functions for the terminal and the SVG drawing: the range of an axis, its round ticks and their
 * labels. Only plot_*.c include this. */
#ifndef REPORT_PLOT_AXIS_H
#define REPORT_PLOT_AXIS_H

#include "report/plot.h"

#define PLOT_TICKS 16

typedef struct plot_tick {
    double value;
    double at; /* 0 (low end) to 1 (high end) */
    char label[24];
} plot_tick;

/* min < max, finite; positive on a logarithmic axis. */
typedef struct plot_axis {
    plot_scale scale;
    bool has_unit; /* then small numbers may have prefixes: 10u */
    double min, max;
    plot_tick tick[PLOT_TICKS];
    size_t tick_count;
} plot_axis;

typedef struct plot_axes {
    plot_axis x, y;
    size_t drawn, omitted; /* points */
} plot_axes;

/* Chooses ranges that hold all points, with about so many ticks. */
void plot_axes_init(plot_axes *axes, const plot_figure *plot, unsigned x_ticks, unsigned y_ticks);

/* Where value lies on the axis, 0 to 1. */
double plot_axis_at(const plot_axis *axis, double value);

/* Can this point be drawn? */
bool plot_visible(const plot_figure *plot, double x, double y);

/* "label [unit]" into out, cut to its size; empty if there is neither. Returns out. */
const char *plot_axis_title(const char *label, const char *unit, char *out, size_t bytes);

/* "2 of 40 points not drawn: ..."; empty if all can. Returns out. */
const char *plot_note(const plot_axes *axes, char *out, size_t bytes);

/* Does any series have a name? */
bool plot_has_legend(const plot_figure *plot);

#endif
