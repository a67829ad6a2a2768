/* scaling_render.c: prints the study of scaling as text, CSV and HTML. */
#include "cli/study/scaling.h"

#include "report/html.h"
#include "report/plot.h"

#include <inttypes.h>

typedef double (*point_value)(const scaling_curve *curve, size_t point);

static double link_megabytes(const scaling_curve *curve, size_t i)
{
    return 1e-6 * (double)curve->results[i].link_bytes;
}

static double sent_megabytes(const scaling_curve *curve, size_t i)
{
    return 1e-6 * (double)curve->results[i].remote_bytes;
}

static const scaling_curve *next_of(const scaling_result *result, size_t *at, scaling_part part)
{
    while (*at < result->count && result->curves[*at].part != part)
        ++*at;
    return *at < result->count ? &result->curves[(*at)++] : NULL;
}

/* --------------------------------------------------------------------------------------------------- text */

static void print_part(const scaling_result *result, scaling_part part, const char *title, int decimals,
                       point_value value, FILE *to)
{
    size_t at = 0;
    const scaling_curve *curve = next_of(result, &at, part);
    if (curve == NULL)
        return;
    fprintf(to, "  %s\n  %-10s %-6s", title, "workload", "fabric");
    for (size_t i = 0; i < curve->count; i++) {
        char head[32];
        snprintf(head, sizeof head, "%u %s", curve->x[i], curve->x[i] == 1 ? "GPU" : scaling_x_label(part));
        fprintf(to, " %9s", head);
    }
    fputc('\n', to);
    for (; curve != NULL; curve = next_of(result, &at, part)) {
        fprintf(to, "  %-10s %-6s", curve->workload->label, curve->fabric);
        for (size_t i = 0; i < curve->count; i++)
            fprintf(to, " %9.*f", decimals, value(curve, i));
        fputc('\n', to);
    }
    fputc('\n', to);
}

void scaling_render_text(const scaling_result *result, FILE *to)
{
    static const int decimals[SCALING_PARTS] = { 2, 2, 2, 1, 1 };
    for (scaling_part part = 0; part < SCALING_PARTS; part++)
        print_part(result, part, scaling_part_title(part), decimals[part], scaling_value, to);
    print_part(result, SCALING_STRONG, "Strong scaling: MB between GPUs", 3, sent_megabytes, to);
    print_part(result, SCALING_STRONG, "Strong scaling: MB times links", 3, link_megabytes, to);
    print_part(result, SCALING_BUS, "Collectives: MB between GPUs", 3, sent_megabytes, to);
    print_part(result, SCALING_BUS, "Collectives: MB times links", 3, link_megabytes, to);
}

/* ---------------------------------------------------------------------------------------------------- CSV */

/* The columns of all studies; a configuration is part, fabric and number. */
void scaling_render_csv(const scaling_result *result, const char *study, FILE *to)
{
    for (size_t k = 0; k < result->count; k++)
        for (size_t i = 0; i < result->curves[k].count; i++) {
            const scaling_curve *curve = &result->curves[k];
            const program_result *r = &curve->results[i];
            fprintf(to, "%s,%s,%s %s %u %s,%" PRIu64 ",%.9f,%.0f,%" PRIu64 ",%.4f", study,
                    curve->workload->label, scaling_part_name(curve->part), curve->fabric, curve->x[i],
                    scaling_x_label(curve->part), curve->size[i],
                    curve->workload->is_collective ? (double)r->transfer.ns * 1e-9 : r->kernel_seconds,
                    r->kernel_cycles, r->instructions, scaling_value(curve, i));
            for (program_level l = 0; l < PROGRAM_LEVELS; l++)
                fprintf(to, ",%" PRIu64 ",%" PRIu64, r->reads[l], r->hits[l]);
            fprintf(to, ",%" PRIu64 ",%" PRIu64 "\n", r->remote_bytes, r->link_bytes);
        }
}

/* --------------------------------------------------------------------------------------------------- page */

/* The curves of one workload, a fabric each. *at: the first of them; afterwards the first of the next one. */
static void page_plot(const scaling_result *result, scaling_part part, const char *title, const char *y_label,
                      point_value value, size_t *at, FILE *to)
{
    enum { SERIES_MAX = 4 };
    static double x[SERIES_MAX][SCALING_POINTS_MAX], y[SERIES_MAX][SCALING_POINTS_MAX];
    plot_series series[SERIES_MAX];
    size_t count = 0;
    const scaling_workload *workload = result->curves[*at].workload;
    char text[160];
    for (; *at < result->count && result->curves[*at].part == part && result->curves[*at].workload == workload;
         ++*at) {
        const scaling_curve *curve = &result->curves[*at];
        if (count == SERIES_MAX)
            continue;
        for (size_t i = 0; i < curve->count; i++) {
            x[count][i] = curve->x[i];
            y[count][i] = value(curve, i);
        }
        series[count] = (plot_series){
            .name = curve->fabric, .x = x[count], .y = y[count], .count = curve->count, .style = LS_PLOT_BOTH
        };
        count++;
    }
    snprintf(text, sizeof text, "%s: %s", workload->label, title);
    bool is_gpus = part <= SCALING_BUS;
    const plot_figure figure = { .title = text,
                                 .x_label = is_gpus ? "GPUs" : scaling_part_name(part),
                                 .x_unit = is_gpus ? NULL : scaling_x_label(part),
                                 .y_label = y_label,
                                 .x_scale = is_gpus ? LS_PLOT_LOG2 : LS_PLOT_LOG10,
                                 .y_zero = true,
                                 .series = series,
                                 .series_count = count };
    plot_svg_write(&figure, to);
}

static void page_part(const scaling_result *result, scaling_part part, const char *title, const char *y_label,
                      point_value value, FILE *to)
{
    size_t at = 0;
    fprintf(to, "<h3>");
    html_text(to, title);
    fprintf(to, "</h3>\n");
    while (at < result->count)
        if (result->curves[at].part == part)
            page_plot(result, part, title, y_label, value, &at, to);
        else
            at++;
}

void scaling_render_html(const scaling_result *result, FILE *to)
{
    static const char *const labels[SCALING_PARTS] = { "times faster", "efficiency", "GB/s", "us", "us" };
    for (scaling_part part = 0; part < SCALING_PARTS; part++)
        page_part(result, part, scaling_part_title(part), labels[part], scaling_value, to);
    page_part(result, SCALING_STRONG, "Strong scaling: MB times links", "MB", link_megabytes, to);
    page_part(result, SCALING_BUS, "Collectives: MB times links", "MB", link_megabytes, to);
}
