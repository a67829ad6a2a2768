/* export_tidy.c: results as tidy CSV: one row per number, every row with all its labels. A row without a block is
 * about all blocks of its type. Quoting and line ends as in RFC 4180. Touches only the stream it was given. */
#include "report/export_impl.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The labels of a row; empty texts and negative numbers stay empty cells. */
typedef struct csv_labels {
    const char *scope;
    int64_t gpu;
    bool has_kernel;
    uint64_t kernel;
    const char *kernel_name;
    int64_t stream;
    const char *block, *type, *metric, *kind, *stat, *unit;
} csv_labels;

/* Of a row that is not about a block. */
static csv_labels fact_labels(const char *scope)
{
    return (csv_labels){ .scope = scope,
                         .gpu = -1,
                         .kernel_name = "",
                         .stream = -1,
                         .block = "",
                         .type = scope,
                         .metric = "",
                         .kind = "fact",
                         .stat = "value",
                         .unit = "" };
}

static void put_cell(FILE *to, const char *s)
{
    export_csv_text(to, s);
    fputc(',', to);
}

static void put_number_cell(FILE *to, bool present, int64_t value)
{
    if (present)
        fprintf(to, "%" PRId64, value);
    fputc(',', to);
}

static void put_row(FILE *to, const csv_labels *l, const char *value)
{
    put_cell(to, l->scope);
    put_number_cell(to, l->gpu >= 0, l->gpu);
    if (l->has_kernel)
        fprintf(to, "%" PRIu64, l->kernel);
    fputc(',', to);
    put_cell(to, l->kernel_name);
    put_number_cell(to, l->stream >= 0, l->stream);
    put_cell(to, l->block);
    put_cell(to, l->type);
    put_cell(to, l->metric);
    put_cell(to, l->kind);
    put_cell(to, l->stat);
    put_cell(to, value);
    export_csv_text(to, l->unit);
    fputs("\r\n", to);
}

static void put_u64_row(FILE *to, const csv_labels *l, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put_row(to, l, text);
}

static void put_real_row(FILE *to, const csv_labels *l, double value)
{
    char text[LS_FORMAT_BYTES];
    put_row(to, l, format_real(value, text, sizeof text));
}

static void put_stats(FILE *to, csv_labels *l, const ls_metric *metric, const export_stat *stats, size_t count)
{
    l->metric = metric->name;
    l->kind = metric_kind_name(metric->kind);
    for (size_t i = 0; i < count; i++) {
        l->stat = stats[i].name;
        /* How many values is not in the unit of the values. */
        bool counts = strcmp(l->stat, "count") == 0 || strncmp(l->stat, "bucket_", 7) == 0;
        l->unit = counts ? "" : metric_unit(metric);
        if (stats[i].is_real)
            put_real_row(to, l, stats[i].real);
        else
            put_u64_row(to, l, stats[i].integer);
    }
}

static csv_labels scope_labels(const metric_interval *interval)
{
    return (csv_labels){ .scope = interval ? "kernel" : "run",
                         .gpu = interval ? interval->gpu : -1,
                         .has_kernel = interval != NULL,
                         .kernel = interval ? interval->kernel : 0,
                         .kernel_name = interval ? interval->kernel_name : "",
                         .stream = interval ? interval->stream : -1,
                         .block = "" };
}

static ls_status put_block_value(void *self, const export_row *row, ls_error *err)
{
    (void)err;
    csv_labels l = scope_labels(row->interval);
    l.gpu = row->from->gpu >= 0 ? row->from->gpu : l.gpu;
    l.stream = row->from->stream >= 0 ? row->from->stream : l.stream;
    l.block = row->from->path;
    l.type = row->from->type;
    export_stat stats[EXPORT_STATS];
    size_t count = export_stats(row->value, stats);
    put_stats(self, &l, row->decl, stats, count);
    return LS_OK;
}

/* One scope, reduced over the blocks of each type. */
static void put_type_values(FILE *to, const metric_store *m, const metric_totals *totals,
                            const metric_interval *interval)
{
    csv_labels l = scope_labels(interval);
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        if (interval && !metric_totals_active(totals, t))
            continue;
        metric_type type = metrics_type_at(m, t);
        l.type = type.name;
        for (size_t k = 0; k < type.metric_count; k++) {
            metric_parts parts = metric_totals_get(totals, t, k);
            metric_value value = { .kind = type.metrics[k].kind, .value = parts.a, .denominator = parts.b };
            if (value.kind == LS_METRIC_KIND_HISTOGRAM)
                value.histogram =
                    (ls_histogram){ .count = parts.b, .sum = parts.a, .min = parts.min, .max = parts.max };
            value.present = value.kind == LS_METRIC_KIND_RATIO && parts.b != 0;
            value.ratio = value.present ? (double)parts.a / (double)parts.b : 0;
            if (export_leaves_out(interval, &value))
                continue;
            export_stat stats[EXPORT_STATS];
            size_t count = export_stats(&value, stats);
            put_stats(to, &l, &type.metrics[k], stats, count);
        }
    }
}

static ls_status put_types(FILE *to, const metric_store *m, ls_error *err)
{
    metric_totals *totals = NULL;
    ls_status status = metric_totals_create(m, &totals, err);
    if (status == LS_OK)
        status = metric_totals_load(totals, LS_METRICS_RUN, err);
    if (status == LS_OK)
        put_type_values(to, m, totals, NULL);
    for (size_t i = 0; i < metrics_interval_count(m) && status == LS_OK; i++) {
        status = metric_totals_load(totals, i, err);
        if (status == LS_OK)
            put_type_values(to, m, totals, metrics_interval_at(m, i));
    }
    metric_totals_destroy(totals);
    return status;
}

static void put_facts(FILE *to, const run_results *r)
{
    char hash[64];
    export_fact facts[EXPORT_FACTS];
    size_t count = export_facts(r, hash, facts);
    csv_labels l = fact_labels("run");
    for (size_t i = 0; i < count; i++) {
        l.metric = facts[i].name;
        l.unit = facts[i].unit;
        if (facts[i].text)
            put_row(to, &l, facts[i].text);
        else
            put_u64_row(to, &l, facts[i].integer);
    }
    l.type = "warning";
    l.unit = "";
    for (size_t i = 0; i < r->warning_count; i++) {
        l.metric = r->warnings[i].kind;
        put_row(to, &l, r->warnings[i].text);
    }
}

static void put_kernels(FILE *to, const run_results *r)
{
    const metric_store *m = r->metrics;
    size_t count = m ? metrics_interval_count(m) : 0;
    for (size_t i = 0; i < count; i++) {
        const metric_interval *interval = metrics_interval_at(m, i);
        csv_labels l = fact_labels("kernel");
        l.gpu = interval->gpu;
        l.has_kernel = true;
        l.kernel = interval->kernel;
        l.kernel_name = interval->kernel_name;
        l.stream = interval->stream;
        l.unit = "fs";
        l.metric = "begin";
        put_u64_row(to, &l, interval->begin);
        l.metric = "end";
        put_u64_row(to, &l, interval->end);
        uint64_t cycles = 0;
        if (export_cycles(r, interval, &cycles)) {
            l.unit = l.metric = "cycles";
            put_u64_row(to, &l, cycles);
        }
        if (interval->overlapped) {
            l.unit = "";
            l.metric = interval->shared ? "shared" : "overlapped";
            put_u64_row(to, &l, 1);
        }
    }
}

/* A metric that no block counted has a row of its own: its zeros are not measured. */
static ls_status put_untouched(FILE *to, const metric_store *m, ls_error *err)
{
    metric_untouched *list;
    size_t count;
    ls_status status = export_untouched(m, &list, &count, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        metric_type type = metrics_type_at(m, list[i].type);
        const ls_metric *metric = &type.metrics[list[i].metric];
        csv_labels l = fact_labels("run");
        l.type = type.name;
        l.metric = metric->name;
        l.kind = metric_kind_name(metric->kind);
        l.stat = "untouched";
        put_u64_row(to, &l, 1);
    }
    free(list);
    return LS_OK;
}

static void put_host(FILE *to, const results_host *host)
{
    csv_labels l = fact_labels("host");
    l.metric = "run_id";
    put_row(to, &l, export_text_or(host->run_id, ""));
    l.metric = "command";
    put_row(to, &l, export_text_or(host->command, ""));
    l.metric = "threads";
    put_u64_row(to, &l, host->threads);
    l.metric = "windows";
    put_u64_row(to, &l, host->windows);
    l.metric = "wall_time";
    l.unit = "s";
    put_real_row(to, &l, host->wall_seconds);
}

ls_status export_tidy(const run_results *r, const export_options *options, FILE *to, ls_error *err)
{
    fputs("scope,gpu,kernel,kernel_name,stream,block,type,metric,kind,stat,value,unit\r\n", to);
    put_facts(to, r);
    put_kernels(to, r);
    ls_status status = r->metrics ? put_untouched(to, r->metrics, err) : LS_OK;
    if (status == LS_OK && r->metrics)
        status = put_types(to, r->metrics, err);
    if (status == LS_OK)
        status = export_walk(r->metrics, options->per_block, put_block_value, to, err);
    if (status == LS_OK)
        put_host(to, &r->host);
    return status;
}
