/* tell_html.c: a validation as one self-contained page: summary, plots, tables. */
#include "cli/validate/validate.h"
#include "report/plot.h"

#include <stdlib.h>
#include <string.h>

#define SERIES 8

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 "
    "1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}"
    "th,td{padding:.2em .7em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}"
    "th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}"
    ".pass{color:#176d2c}.known{color:#8a5a00}.FAIL{color:#b00020;font-weight:bold}.skipped{color:#777}"
    "svg{max-width:100%;height:auto}";

static void escaped(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(*text, to);
        }
}

/* Ours over the reference, a series for each platform, and the line of equality. Without memory there is
 * no plot. */
static void scatter(const validate_section *s, FILE *to)
{
    size_t n = s->rows.count, count = 0, used = 0;
    double *points = calloc(2 * n + 4, sizeof *points), low = 0, high = 0;
    ls_plot_series series[SERIES + 1];
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
        series[count++] = (ls_plot_series){ platform, x, y, in_series, LS_PLOT_POINTS };
    }
    if (count) {
        points[n] = points[2 * n + 2] = low;
        points[n + 1] = points[2 * n + 3] = high;
        series[count++] = (ls_plot_series){ "equal", points + n, points + 2 * n + 2, 2, LS_PLOT_LINE };
        ls_plot_svg_write(&(ls_plot){ .title = s->title,
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
    escaped(to, s->title);
    fputs("</h2>\n<p>", to);
    escaped(to, s->about);
    fputs("</p>\n", to);
    if (s->plot_label)
        scatter(s, to);
    fputs("<table><thead><tr>", to);
    for (size_t c = 0; c < s->column_count; c++)
        fprintf(to, "<th>%s</th>", s->columns[c]);
    fputs("<th>verdict</th></tr></thead>\n<tbody>\n", to);
    for (size_t i = 0; i < s->rows.count; i++) {
        const validate_row *row = &s->rows.at[i];
        fputs("<tr>", to);
        for (size_t c = 0; c < s->column_count; c++) {
            fputs("<td>", to);
            escaped(to, row->cells[c]);
            fputs("</td>", to);
        }
        fprintf(to, "<td class=\"%s\"", validate_verdict_name(row->verdict));
        if (row->note) {
            fputs(" title=\"", to);
            escaped(to, row->note);
            fputc('"', to);
        }
        fprintf(to, ">%s%s</td></tr>\n", validate_verdict_name(row->verdict), row->note ? " *" : "");
    }
    fputs("</tbody></table>\n<ul>\n", to);
    for (size_t i = 0; i < s->rows.count; i++) {
        const char *note = s->rows.at[i].note;
        bool told = !note;
        for (size_t j = 0; j < i && !told; j++)
            told = s->rows.at[j].note && strcmp(s->rows.at[j].note, note) == 0;
        if (told)
            continue;
        fputs("<li>", to);
        escaped(to, note);
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
}

void validate_tell_html(const validate_report *report, FILE *to)
{
    fprintf(to,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>Lockstep: "
            "validation</title>\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n<style>%s</style></head>\n<body>\n"
            "<h1>Lockstep %s: validation</h1>\n<ul>\n",
            style, LS_VERSION_STRING);
    for (size_t i = 0; i < report->sections.count; i++) {
        fputs("<li>", to);
        escaped(to, report->sections.at[i]->summary);
        fputs("</li>\n", to);
    }
    fputs("</ul>\n", to);
    for (size_t i = 0; i < report->sections.count; i++)
        section_html(report->sections.at[i], to);
    fputs("</body></html>\n", to);
}
