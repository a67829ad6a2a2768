/* render_html.c: prints a validation as one self-contained page: summary, plots, tables. */
#include "cli/validate/validate.h"
#include "report/html.h"
#include "report/plot.h"

#include <stdlib.h>
#include <string.h>

#define SERIES 8

/* Ours over the reference, a series for each platform, and the line of equality. Without memory there is
 * no plot. */
static void scatter(const validate_section *s, FILE *to)
{
    size_t n = s->rows.count, count = 0, used = 0;
    double *points = calloc(2 * n + 4, sizeof *points), low = 0, high = 0;
    plot_series series[SERIES + 1];
    for (size_t i = 0; points && i < n && count < SERIES; i++) {
        const char *platform = s->rows.at[i].cells[1];
        bool seen = s->rows.at[i].reference <= 0;
        for (size_t j = 0; j < count && !seen; j++)
            seen = strcmp(series[j].name, platform) == 0;
        if (seen)
            continue;
        double *x = points + used, *y = points + n + 2 + used;
        size_t in_series = 0;
        for (size_t j = i; j < n; j++) {
            const validate_row *row = &s->rows.at[j];
            if (strcmp(row->cells[1], platform) != 0 || row->reference <= 0)
                continue;
            x[in_series] = row->reference;
            y[in_series++] = row->ours;
            low = low <= 0 || row->reference < low ? row->reference : low;
            high = row->reference > high ? row->reference : high;
        }
        used += in_series;
        series[count++] = (plot_series){ platform, x, y, in_series, LS_PLOT_POINTS };
    }
    if (count) {
        points[n] = points[2 * n + 2] = low;
        points[n + 1] = points[2 * n + 3] = high;
        series[count++] = (plot_series){ "equal", points + n, points + 2 * n + 2, 2, LS_PLOT_LINE };
        plot_svg_write(&(plot_figure){ .title = s->title,
                                       .x_label = "reference",
                                       .x_unit = s->plot_unit,
                                       .y_label = s->plot_label,
                                       .y_unit = s->plot_unit,
                                       .x_scale = LS_PLOT_LOG10,
                                       .y_scale = LS_PLOT_LOG10,
                                       .series = series,
                                       .series_count = count },
                       to);
    }
    free(points);
}

static void section_html(const validate_section *s, FILE *to)
{
    fputs("<h2>", to);
    html_text(to, s->title);
    fputs("</h2>\n<p>", to);
    html_text(to, s->about);
    fputs("</p>\n", to);
    if (s->plot_label)
        scatter(s, to);
    fputs("<table><thead><tr>", to);
    for (size_t c = 0; c < s->column_count; c++)
        html_head_cell(to, s->columns[c], s->rows.count ? s->rows.at[0].cells[c] : NULL);
    fputs("<th>verdict</th></tr></thead>\n<tbody>\n", to);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        fputs("<tr>", to);
        for (size_t c = 0; c < s->column_count; c++)
            html_cell(to, "td", row->cells[c]);
        fprintf(to, "<td class=\"%s\"", validate_verdict_name(row->verdict));
        if (row->note) {
            fputs(" title=\"", to);
            html_text(to, row->note);
            fputc('"', to);
        }
        fprintf(to, ">%s%s</td></tr>\n", validate_verdict_name(row->verdict), row->note ? " *" : "");
    }
    fputs("</tbody></table>\n<ul>\n", to);
    for (size_t i = 0; i < s->rows.count; i++) {
        const char *note = s->rows.at[i].note;
        bool printed = !note;
        for (size_t j = 0; j < i && !printed; j++)
            printed = s->rows.at[j].note && strcmp(s->rows.at[j].note, note) == 0;
        if (printed)
            continue;
        fputs("<li>", to);
        html_text(to, note);
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
}

void validate_render_html(const validate_report *report, FILE *to)
{
    html_begin(to, "validation");
    fputs("<ul>\n", to);
    for (size_t i = 0; i < report->sections.count; i++) {
        fputs("<li>", to);
        html_text(to, report->sections.at[i]->summary);
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
    for (size_t i = 0; i < report->sections.count; i++)
        section_html(report->sections.at[i], to);
    html_end(to);
}
