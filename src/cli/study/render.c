/* render.c: prints a study as text, CSV and HTML. */
#include "cli/study/study.h"

#include "report/html.h"
#include "report/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static bool has_level(const study_result *result, program_level level)
{
    for (size_t i = 0; i < result->row_count; i++)
        for (size_t c = 0; c < result->study->config_count; c++)
            if (result->rows[i].results[c].reads[level])
                return true;
    return false;
}

/* --------------------------------------------------------------------------------------------------- text */

static void print_rate(FILE *to, double rate)
{
    if (isnan(rate))
        fprintf(to, " %6s", "-");
    else
        fprintf(to, " %5.1f%%", 100 * rate);
}

/* Values of the platforms that no source gives; a platform with several configurations counts once each. */
static void print_assumptions(const study_result *result, FILE *to)
{
    const study *s = result->study;
    const program_result *first = result->row_count > 0 ? result->rows[0].results : NULL;
    bool any = false;
    for (size_t c = 0; first != NULL && c < s->config_count; c++) {
        if (first[c].assumptions > 0)
            fprintf(to, "%s %s %zu",
                    any ? "," : "  values that are assumptions, by configuration:", s->configs[c].label,
                    first[c].assumptions);
        any |= first[c].assumptions > 0;
    }
    if (any)
        fputs("\n\n", to);
}

/* Bytes between GPUs, for studies that have several. */
static void print_traffic(const study_result *result, FILE *to)
{
    const study *s = result->study;
    size_t base = study_traffic_base(result);
    if (base == s->config_count)
        return;
    fprintf(to, "  between GPUs, MB (share of %s)\n  %-8s %8s", s->configs[base].label, "workload", "size");
    for (size_t c = base; c < s->config_count; c++)
        fprintf(to, " %21s", s->configs[c].label);
    fputc('\n', to);
    for (size_t i = 0; i < result->row_count; i++) {
        const study_row *row = &result->rows[i];
        fprintf(to, "  %-8s %8" PRIu64, row->workload->label, row->size);
        for (size_t c = base; c < s->config_count; c++)
            fprintf(to, " %14.3f (%.2f)", 1e-6 * (double)row->results[c].remote_bytes,
                    study_traffic(row, c, base));
        fputc('\n', to);
    }
    fputc('\n', to);
}

static void print_claims(const study_result *result, FILE *to)
{
    const study *s = result->study;
    char numbers[256];
    for (size_t i = 0; i < s->claim_count; i++) {
        study_verdict verdict = study_judge(result, &s->claims[i], numbers, sizeof numbers);
        if (i == 0)
            fprintf(to, "  %-8s %-50s here\n", "verdict", "the paper");
        fprintf(to, "  %-8s %-50s %s\n", study_verdict_name(verdict), s->claims[i].text, numbers);
    }
    if (s->claim_count)
        fputc('\n', to);
}

void study_render_text(const study_result *result, FILE *to)
{
    const study *s = result->study;
    fprintf(to, "%s\n", s->title);
    cli_help_fill(to, s->about, 2, 100, true);
    if (result->scaling != NULL) {
        fputc('\n', to);
        scaling_render_text(result->scaling, to);
        cli_help_fill(to, s->discussion, 2, 100, true);
        fputc('\n', to);
        return;
    }
    fprintf(to, "\n  %-8s %8s %14s", "", "", "time");
    for (size_t c = 1; c < s->config_count; c++)
        fprintf(to, " %16s", "times faster");
    fprintf(to, "\n  %-8s %8s %14s", "workload", "size", s->configs[0].label);
    for (size_t c = 1; c < s->config_count; c++)
        fprintf(to, " %16s", s->configs[c].label);
    fputc('\n', to);
    for (size_t i = 0; i < result->row_count; i++) {
        const study_row *row = &result->rows[i];
        fprintf(to, "  %-8s %8" PRIu64 " %11.1f us", row->workload->label, row->size,
                1e6 * row->results[0].kernel_seconds);
        for (size_t c = 1; c < s->config_count; c++)
            fprintf(to, " %16.2f", study_speedup(row, c));
        fputc('\n', to);
    }
    fprintf(to, "  %-8s %8s %14s", "mean", "", "");
    for (size_t c = 1; c < s->config_count; c++)
        fprintf(to, " %16.2f", study_mean(result, c));
    fprintf(to, "  (geometric)\n\n  hits     ");
    for (size_t c = 0; c < s->config_count; c++)
        fprintf(to, " %-20s", s->configs[c].label);
    fprintf(to, "\n  %-8s ", "");
    for (size_t c = 0; c < s->config_count; c++) {
        for (program_level l = 0; l < PROGRAM_LEVELS; l++)
            fprintf(to, " %6s", program_level_name(l));
    }
    fputc('\n', to);
    for (size_t i = 0; i < result->row_count; i++) {
        fprintf(to, "  %-8s ", result->rows[i].workload->label);
        for (size_t c = 0; c < s->config_count; c++)
            for (program_level l = 0; l < PROGRAM_LEVELS; l++)
                print_rate(to, study_hit_rate(&result->rows[i].results[c], l));
        fputc('\n', to);
    }
    fputc('\n', to);
    print_traffic(result, to);
    print_claims(result, to);
    print_assumptions(result, to);
    cli_help_fill(to, s->discussion, 2, 100, true);
    fputc('\n', to);
}

/* ---------------------------------------------------------------------------------------------------- CSV */

void study_render_csv(const study_result *result, FILE *to)
{
    if (result->scaling != NULL)
        scaling_render_csv(result->scaling, result->study->name, to);
    for (size_t i = 0; i < result->row_count; i++)
        for (size_t c = 0; c < result->study->config_count; c++) {
            const program_result *r = &result->rows[i].results[c];
            fprintf(to, "%s,%s,%s,%" PRIu64 ",%.9f,%.0f,%" PRIu64 ",%.4f", result->study->name,
                    result->rows[i].workload->label, result->study->configs[c].label, result->rows[i].size,
                    r->kernel_seconds, r->kernel_cycles, r->instructions, study_speedup(&result->rows[i], c));
            for (program_level l = 0; l < PROGRAM_LEVELS; l++)
                fprintf(to, ",%" PRIu64 ",%" PRIu64, r->reads[l], r->hits[l]);
            fprintf(to, ",%" PRIu64 ",%" PRIu64 "\n", r->remote_bytes, r->link_bytes);
        }
}

/* --------------------------------------------------------------------------------------------------- page */

/* One bar per configuration in a group per workload. Without memory there is no picture. */
static void bars(const study_result *result, FILE *to, const char *title, const char *label, const char *unit,
                 double top, double (*value)(const study_row *row, size_t config))
{
    const study *s = result->study;
    const char *names[STUDY_CONFIGS_MAX];
    const char **groups = calloc(result->row_count + 1, sizeof *groups);
    double *values = calloc(result->row_count * s->config_count + 1, sizeof *values);
    for (size_t c = 0; c < s->config_count; c++)
        names[c] = s->configs[c].label;
    for (size_t i = 0; groups && values && i < result->row_count; i++) {
        groups[i] = result->rows[i].workload->label;
        for (size_t c = 0; c < s->config_count; c++)
            values[i * s->config_count + c] = value(&result->rows[i], c);
    }
    if (groups && values)
        bars_svg_write(&(bar_chart){ .title = title,
                                     .y_label = label,
                                     .y_unit = unit,
                                     .y_max = top,
                                     .groups = groups,
                                     .group_count = result->row_count,
                                     .series = names,
                                     .series_count = s->config_count,
                                     .values = values },
                       to);
    free(groups);
    free(values);
}

static double level_value(const study_row *row, size_t config, program_level level)
{
    return 100 * study_hit_rate(&row->results[config], level);
}
static double l0_value(const study_row *row, size_t config)
{
    return level_value(row, config, PROGRAM_L0);
}
static double l1_value(const study_row *row, size_t config)
{
    return level_value(row, config, PROGRAM_L1);
}
static double l2_value(const study_row *row, size_t config)
{
    return level_value(row, config, PROGRAM_L2);
}

static double traffic_value(const study_row *row, size_t config)
{
    return 1e-6 * (double)row->results[config].remote_bytes;
}

static void page_claims(const study_result *result, FILE *to)
{
    const study *s = result->study;
    char numbers[256];
    if (s->claim_count == 0)
        return;
    fprintf(to, "<table><tr><th>the paper</th><th>here</th><th>verdict</th></tr>\n");
    for (size_t i = 0; i < s->claim_count; i++) {
        study_verdict verdict = study_judge(result, &s->claims[i], numbers, sizeof numbers);
        fprintf(to, "<tr>");
        html_cell(to, "td", s->claims[i].text);
        html_cell(to, "td", numbers);
        html_cell(to, "td", study_verdict_name(verdict));
        fprintf(to, "</tr>\n");
    }
    fprintf(to, "</table>\n");
}

static void page_table(const study_result *result, FILE *to)
{
    const study *s = result->study;
    fprintf(to, "<table><tr>");
    html_cell(to, "th", "workload");
    for (size_t c = 0; c < s->config_count; c++)
        html_head_cell(to, s->configs[c].label, NULL);
    fprintf(to, "</tr>\n");
    for (size_t i = 0; i < result->row_count; i++) {
        fprintf(to, "<tr>");
        html_cell(to, "td", result->rows[i].workload->label);
        for (size_t c = 0; c < s->config_count; c++)
            fprintf(to, "<td>%.1f us (%.2f)</td>", 1e6 * result->rows[i].results[c].kernel_seconds,
                    study_speedup(&result->rows[i], c));
        fprintf(to, "</tr>\n");
    }
    fprintf(to, "<tr>");
    html_cell(to, "td", "geometric mean");
    for (size_t c = 0; c < s->config_count; c++)
        fprintf(to, "<td>%.2f</td>", study_mean(result, c));
    fprintf(to, "</tr></table>\n");
}

static void page_of(const study_result *result, FILE *to)
{
    static double (*const rates[PROGRAM_LEVELS])(const study_row *, size_t) = { l0_value, l1_value, l2_value };
    const study *s = result->study;
    char title[128];
    fprintf(to, "<h2>");
    html_text(to, s->title);
    fprintf(to, "</h2>\n<p>");
    html_text(to, s->about);
    fprintf(to, "</p>\n");
    if (result->scaling != NULL) {
        scaling_render_html(result->scaling, to);
        fprintf(to, "<p>");
        html_text(to, s->discussion);
        fprintf(to, "</p>\n");
        return;
    }
    snprintf(title, sizeof title, "Times faster than %s", s->configs[0].label);
    bars(result, to, title, "speed-up", "", 1, study_speedup);
    for (program_level l = 0; l < PROGRAM_LEVELS; l++)
        if (has_level(result, l)) {
            snprintf(title, sizeof title, "Reads that hit in %s", program_level_name(l));
            bars(result, to, title, "hit rate", "%", 100, rates[l]);
        }
    if (study_traffic_base(result) < s->config_count)
        bars(result, to, "Bytes between GPUs", "traffic", "MB", 0, traffic_value);
    page_table(result, to);
    page_claims(result, to);
    fprintf(to, "<p>");
    html_text(to, s->discussion);
    fprintf(to, "</p>\n");
}

void study_render_html(const study_result *const *results, size_t count, FILE *to)
{
    html_begin(to, "studies");
    for (size_t i = 0; i < count; i++)
        page_of(results[i], to);
    html_end(to);
}
