/* render.c: prints a sweep as a ranking, as CSV and as a page with a plot per trace. */
#include "sim/sweep/sweep.h"
#include "report/html.h"
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SERIES 12

static const sweep_point *point_at(const sweep *s, size_t trace, size_t point)
{
    return &s->points[trace * s->grid.points + point];
}

typedef struct ranked {
    double time_ns;
    size_t point;
} ranked;

static int faster_first(const void *a, const void *b)
{
    const ranked *l = a, *r = b;
    if (l->time_ns != r->time_ns)
        return l->time_ns < r->time_ns ? -1 : 1;
    return (l->point > r->point) - (l->point < r->point);
}

size_t sweep_rank(const sweep *s, size_t trace, size_t *order)
{
    ranked *list = calloc(s->grid.points, sizeof *list);
    size_t count = 0;
    for (size_t p = 0; list && p < s->grid.points; p++)
        if (point_at(s, trace, p)->done)
            list[count++] = (ranked){ point_at(s, trace, p)->time_ns, p };
    if (count)
        qsort(list, count, sizeof *list, faster_first);
    for (size_t i = 0; i < count; i++)
        order[i] = list[i].point;
    free(list);
    return count;
}

/* --------------------------------------------------------------------------------------------------- text */

static size_t column_width(const sweep_axis *axis)
{
    size_t width = strlen(axis->key);
    for (size_t i = 0; i < axis->values.count; i++)
        width = strlen(axis->values.at[i]) > width ? strlen(axis->values.at[i]) : width;
    return width;
}

/* The columns of a line; run: the number of its run in the database, 0: it has none. */
static void print_header(const sweep *s, const char *what, bool runs, FILE *to)
{
    fprintf(to, "  %5s", "");
    if (runs)
        fprintf(to, "  %5s", "run");
    for (size_t a = 0; a < s->grid.axes.count; a++)
        fprintf(to, "  %*s", (int)column_width(&s->grid.axes.at[a]), s->grid.axes.at[a].key);
    fprintf(to, "  %14s  %8s\n", what, "to best");
}

static void print_line(const sweep *s, size_t rank, int64_t run, size_t point, double value, double best,
                       FILE *to)
{
    fprintf(to, "  %5zu", rank + 1);
    if (run)
        fprintf(to, "  %5lld", (long long)run);
    for (size_t a = 0; a < s->grid.axes.count; a++)
        fprintf(to, "  %*s", (int)column_width(&s->grid.axes.at[a]), sweep_grid_value(&s->grid, point, a));
    fprintf(to, "  %14.3f  %8.4f\n", value, value / best);
}

/* All traces together: the geometric mean of the time relative to the fastest of each trace. */
static void print_mean(const sweep *s, size_t top, FILE *to)
{
    ranked *list = calloc(s->grid.points, sizeof *list);
    size_t count = 0;
    for (size_t p = 0; list && p < s->grid.points; p++) {
        double sum = 0;
        for (size_t t = 0; t < s->trace_count; t++)
            sum += point_at(s, t, p)->done ? log(point_at(s, t, p)->time_ns) : NAN;
        if (!isnan(sum))
            list[count++] = (ranked){ exp(sum / (double)s->trace_count), p };
    }
    if (count) {
        qsort(list, count, sizeof *list, faster_first);
        fprintf(to, "\nall traces: geometric mean\n");
        print_header(s, "ns", false, to);
    }
    for (size_t i = 0; i < count && (top == 0 || i < top); i++)
        print_line(s, i, 0, list[i].point, list[i].time_ns, list[0].time_ns, to);
    free(list);
}

void sweep_render(const sweep *s, size_t top, FILE *to)
{
    size_t *order = calloc(s->grid.points, sizeof *order);
    for (size_t t = 0; order && t < s->trace_count; t++) {
        size_t count = sweep_rank(s, t, order);
        fprintf(to, "%s%s on %s, fastest first\n", t ? "\n" : "", s->traces[t], s->platform);
        if (count)
            print_header(s, "simulated us", true, to);
        for (size_t i = 0; i < count && (top == 0 || i < top); i++)
            print_line(s, i, point_at(s, t, order[i])->run, order[i], point_at(s, t, order[i])->time_ns / 1000,
                       point_at(s, t, order[0])->time_ns / 1000, to);
        if (top && count > top)
            fprintf(to, "  and %zu more; --top 0 shows all\n", count - top);
        for (size_t p = 0; p < s->grid.points; p++) {
            const sweep_point *point = point_at(s, t, p);
            if (point->done || !point->error)
                continue;
            fprintf(to, "  failed");
            for (size_t a = 0; a < point->key_count; a++)
                fprintf(to, " %s=%s", point->keys[a], point->values[a]);
            fprintf(to, ": %s\n", point->error);
        }
    }
    free(order);
    if (s->trace_count > 1)
        print_mean(s, top, to);
    if (s->assumptions > 0)
        fprintf(to,
                "\n%zu values of %s are assumptions that no source gives; the results of each run list them\n",
                s->assumptions, s->platform);
}

/* ---------------------------------------------------------------------------------------------------- csv */

static void csv_cell(FILE *to, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void sweep_render_csv(const sweep *s, FILE *to)
{
    fputs("workload", to);
    for (size_t a = 0; a < s->grid.axes.count; a++) {
        fputc(',', to);
        csv_cell(to, s->grid.axes.at[a].key);
    }
    fputs(",time_ns,cycles,run,wall_seconds", to);
    for (size_t c = 0; c < s->columns.names.count; c++) {
        fputc(',', to);
        csv_cell(to, s->columns.names.at[c]);
    }
    fputs(",error\r\n", to);
    for (size_t i = 0; i < s->point_count; i++) {
        const sweep_point *point = &s->points[i];
        char time[LS_FORMAT_BYTES];
        csv_cell(to, point->trace);
        for (size_t a = 0; a < point->key_count; a++) {
            fputc(',', to);
            csv_cell(to, point->values[a]);
        }
        if (point->done)
            fprintf(to, ",%s,%.0f,%lld,%.3f", format_real(point->time_ns, time, sizeof time), point->cycles,
                    (long long)point->run, point->wall_seconds);
        else
            fputs(",,,,", to);
        for (size_t c = 0; c < s->columns.names.count; c++) {
            double value = s->columns.values[i * s->columns.names.count + c];
            fprintf(to, ",%s", isnan(value) ? "" : format_real(value, time, sizeof time));
        }
        fputc(',', to);
        csv_cell(to, !point->done && point->error ? point->error : "");
        fputs("\r\n", to);
    }
}

/* --------------------------------------------------------------------------------------------------- page */

static bool is_numeric(const sweep_axis *axis)
{
    double number;
    for (size_t i = 0; i < axis->values.count; i++)
        if (parse_real(axis->values.at[i], strlen(axis->values.at[i]), &number, NULL) != LS_OK)
            return false;
    return true;
}

/* The horizontal axis: numbers, as many as possible; SIZE_MAX if no axis has numbers. */
static size_t plot_axis(const sweep_grid *grid)
{
    size_t best = SIZE_MAX;
    for (size_t a = 0; a < grid->axes.count; a++)
        if (is_numeric(&grid->axes.at[a]) &&
            (best == SIZE_MAX || grid->axes.at[a].values.count > grid->axes.at[best].values.count))
            best = a;
    return best;
}

/* How many points share a value of `axis` with the axes after it: the distance to its next value. */
static size_t stride_of(const sweep_grid *grid, size_t axis)
{
    size_t stride = 1;
    for (size_t a = axis + 1; a < grid->axes.count; a++)
        stride *= grid->axes.at[a].values.count;
    return stride;
}

static const char *series_name(const sweep *s, size_t point, size_t without, text_buffer *text)
{
    text_clear(text);
    for (size_t a = 0; a < s->grid.axes.count; a++)
        if (a != without)
            text_printf(text, "%s%s=%s", text->count ? " " : "", s->grid.axes.at[a].key,
                        sweep_grid_value(&s->grid, point, a));
    return text_get(text);
}

static void plot_trace(const sweep *s, size_t trace, FILE *to)
{
    size_t axis = plot_axis(&s->grid);
    if (axis == SIZE_MAX)
        return;
    const sweep_axis *across = &s->grid.axes.at[axis];
    size_t n = across->values.count, lines = s->grid.points / n, stride = stride_of(&s->grid, axis);
    if (lines == 0 || lines > SERIES)
        return;
    double *numbers = calloc(2 * n * lines, sizeof *numbers);
    plot_series series[SERIES];
    text_buffer names[SERIES] = { 0 };
    size_t count = 0;
    for (size_t p = 0; numbers && p < s->grid.points; p++) {
        if (p / stride % n != 0) /* not the first of its line */
            continue;
        double *x = numbers + 2 * n * count, *y = x + n;
        for (size_t i = 0; i < n; i++) {
            const sweep_point *point = point_at(s, trace, p + i * stride);
            x[i] = NAN;
            parse_real(across->values.at[i], strlen(across->values.at[i]), &x[i], NULL);
            y[i] = point->done ? point->time_ns / 1000 : NAN;
        }
        series[count] = (plot_series){ series_name(s, p, axis, &names[count]), x, y, n, LS_PLOT_BOTH };
        count++;
    }
    plot_svg_write(&(plot_figure){ .x_label = across->key,
                                   .x_scale = plot_scale_for(numbers, numbers ? n : 0),
                                   .y_label = "simulated time",
                                   .y_unit = "us",
                                   .y_zero = true,
                                   .series = series,
                                   .series_count = count },
                   to);
    for (size_t i = 0; i < SERIES; i++)
        text_fini(&names[i]);
    free(numbers);
}

void sweep_render_html(const sweep *s, FILE *to)
{
    size_t *order = calloc(s->grid.points, sizeof *order);
    html_begin(to, "sweep");
    for (size_t t = 0; order && t < s->trace_count; t++) {
        size_t count = sweep_rank(s, t, order);
        char name[128];
        fputs("<h2>", to);
        html_text(to, plot_name(s->traces[t], name, sizeof name));
        fputs(" on ", to);
        html_text(to, plot_name(s->platform, name, sizeof name));
        fputs("</h2>\n", to);
        plot_trace(s, t, to);
        fputs("<table><thead><tr><th>rank</th>", to);
        for (size_t a = 0; a < s->grid.axes.count; a++)
            html_head_cell(to, s->grid.axes.at[a].key, s->grid.axes.at[a].values.at[0]);
        fputs("<th>simulated us</th><th>to best</th><th>run</th></tr></thead>\n<tbody>\n", to);
        for (size_t i = 0; i < count; i++) {
            const sweep_point *point = point_at(s, t, order[i]), *best = point_at(s, t, order[0]);
            fprintf(to, "<tr><td>%zu</td>", i + 1);
            for (size_t a = 0; a < point->key_count; a++)
                html_cell(to, "td", point->values[a]);
            fprintf(to, "<td>%.3f</td><td>%.4f</td><td>%lld</td></tr>\n", point->time_ns / 1000,
                    point->time_ns / best->time_ns, (long long)point->run);
        }
        fputs("</tbody></table>\n", to);
    }
    html_end(to);
    free(order);
}
