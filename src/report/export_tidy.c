/* export_tidy.c: results as tidy CSV: one row per number, every row with all its labels. A row without a block is
 * about all blocks of its type. Quoting and line ends as in RFC 4180. Touches only the stream it was given. */
#include "report/export_impl.h"
#include "report/ranks_text.h"

#include "base/arena.h"
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

/* The cells of a metric that are the same in all rows: before its statistic and behind the value. */
typedef struct csv_metric {
    const char *head, *tail;
    uint32_t head_bytes, tail_bytes;
} csv_metric;

/* A file has thousands of rows per kernel, and most of their bytes are labels. So labels that stay are made once, and
 * rows are copied together in memory. */
typedef struct tidy {
    FILE *to;
    text_buffer rows;     /* not written yet */
    text_buffer labels;   /* up to the type, with the comma behind it */
    csv_metric **metrics; /* by type, then by metric */
    mem_arena arena;
} tidy;

#define WRITE_BYTES 2048u /* rows are given to the stream when there is so much of them */

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

/* ------------------------------------------------------------------------------------------------- cells */

static void add_text(text_buffer *to, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        text_add(to, s);
        return;
    }
    text_add(to, "\"");
    for (; *s; s++)
        text_addn(to, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    text_add(to, "\"");
}

static void add_cell(text_buffer *to, const char *s)
{
    add_text(to, s);
    text_addn(to, ",", 1);
}

static void add_number_cell(text_buffer *to, bool present, uint64_t value)
{
    char text[24];
    if (present)
        text_addn(to, text, (size_t)(format_uint(text, value) - text));
    text_addn(to, ",", 1);
}

/* The labels of the rows that follow. */
static void set_labels(tidy *t, const csv_labels *l)
{
    text_clear(&t->labels);
    add_cell(&t->labels, l->scope);
    add_number_cell(&t->labels, l->gpu >= 0, (uint64_t)l->gpu);
    add_number_cell(&t->labels, l->has_kernel, l->kernel);
    add_cell(&t->labels, l->kernel_name);
    add_number_cell(&t->labels, l->stream >= 0, (uint64_t)l->stream);
    add_cell(&t->labels, l->block);
    add_cell(&t->labels, l->type);
}

static void write_rows(tidy *t)
{
    if (t->rows.count > 0)
        fwrite(t->rows.at, 1, t->rows.count, t->to);
    text_clear(&t->rows);
}

/* ------------------------------------------------------------------------------------------------- rows */

/* A row with the present labels up to its type. */
static void put_value(tidy *t, const csv_labels *l, const char *value)
{
    text_addn(&t->rows, text_get(&t->labels), t->labels.count);
    add_cell(&t->rows, l->metric);
    add_cell(&t->rows, l->kind);
    add_cell(&t->rows, l->stat);
    add_cell(&t->rows, value);
    add_text(&t->rows, l->unit);
    text_addn(&t->rows, "\r\n", 2);
    if (t->rows.count > WRITE_BYTES)
        write_rows(t);
}

static void put_row(tidy *t, const csv_labels *l, const char *value)
{
    set_labels(t, l);
    put_value(t, l, value);
}

static void put_u64_value(tidy *t, const csv_labels *l, uint64_t value)
{
    char text[24];
    format_uint(text, value);
    put_value(t, l, text);
}

static void put_u64_row(tidy *t, const csv_labels *l, uint64_t value)
{
    char text[24];
    format_uint(text, value);
    put_row(t, l, text);
}

static void put_real_row(tidy *t, const csv_labels *l, double value)
{
    char text[LS_FORMAT_BYTES];
    put_row(t, l, format_real(value, text, sizeof text));
}

static char *copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

/* How many values is not in the unit of the values. */
static bool has_unit(const char *stat)
{
    return stat[0] == 'c' ? strcmp(stat, "count") != 0 : stat[0] != 'b' || strncmp(stat, "bucket_", 7) != 0;
}

/* Rows with the present labels. Names of statistics and numbers need no quotes. */
static void put_stats(tidy *t, const csv_metric *metric, const export_stat *stats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t most =
            t->labels.count + metric->head_bytes + metric->tail_bytes + sizeof stats[i].name + LS_FORMAT_BYTES;
        if (!text_reserve(&t->rows, most))
            return;
        char *to = t->rows.at + t->rows.count;
        to = copy(to, text_get(&t->labels), t->labels.count);
        to = copy(to, metric->head, metric->head_bytes);
        to = stpcpy(to, stats[i].name);
        *to++ = ',';
        if (stats[i].is_real)
            to += strlen(format_real(stats[i].real, to, LS_FORMAT_BYTES));
        else
            to = format_uint(to, stats[i].integer);
        to = has_unit(stats[i].name) ? copy(to, metric->tail, metric->tail_bytes) : copy(to, ",\r\n", 3);
        *to = '\0';
        t->rows.count = (size_t)(to - t->rows.at);
        if (t->rows.count > WRITE_BYTES)
            write_rows(t);
    }
}

static bool make_metric(tidy *t, const ls_metric *metric, csv_metric *out)
{
    text_buffer text = { 0 };
    add_cell(&text, metric->name);
    add_cell(&text, metric_kind_name(metric->kind));
    out->head_bytes = (uint32_t)text.count;
    text_add(&text, ",");
    add_text(&text, metric_unit(metric));
    text_add(&text, "\r\n");
    out->tail_bytes = (uint32_t)text.count - out->head_bytes;
    out->head = text.failed ? NULL : arena_strndup(&t->arena, text_get(&text), text.count);
    out->tail = out->head == NULL ? NULL : out->head + out->head_bytes;
    text_fini(&text);
    return out->head != NULL;
}

static bool make_metrics(tidy *t, const metric_store *m)
{
    t->metrics = arena_array(&t->arena, metrics_type_count(m), sizeof *t->metrics);
    bool ok = t->metrics != NULL;
    for (size_t i = 0; i < metrics_type_count(m) && ok; i++) {
        metric_type type = metrics_type_at(m, i);
        t->metrics[i] = arena_array(&t->arena, type.metric_count, sizeof **t->metrics);
        ok = t->metrics[i] != NULL;
        for (size_t k = 0; k < type.metric_count && ok; k++)
            ok = make_metric(t, &type.metrics[k], &t->metrics[i][k]);
    }
    return ok;
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

/* The walk: values of one block follow each other. */
typedef struct block_rows {
    tidy *t;
    size_t scope, source; /* of the labels */
    bool any;
} block_rows;

static ls_status put_block_value(void *self, const export_row *row, ls_error *err)
{
    (void)err;
    block_rows *rows = self;
    if (!rows->any || rows->scope != row->scope || rows->source != row->source) {
        csv_labels l = scope_labels(row->interval);
        l.gpu = row->from->gpu >= 0 ? row->from->gpu : l.gpu;
        l.stream = row->from->stream >= 0 ? row->from->stream : l.stream;
        l.block = row->from->path;
        l.type = row->from->type;
        set_labels(rows->t, &l);
        *rows = (block_rows){ .t = rows->t, .scope = row->scope, .source = row->source, .any = true };
    }
    export_stat stats[EXPORT_STATS];
    size_t count = export_stats(row->value, stats);
    put_stats(rows->t, &rows->t->metrics[row->type][row->metric], stats, count);
    return LS_OK;
}

/* One scope, reduced over the blocks of each type. */
static void put_type_values(tidy *to, const metric_store *m, const metric_totals *totals,
                            const metric_interval *interval)
{
    csv_labels l = scope_labels(interval);
    metric_value value = { 0 };               /* buckets of histograms stay 0 */
    export_stat single = { .name = "value" }; /* of counters, which most metrics are */
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        if (interval && !metric_totals_active(totals, t))
            continue;
        metric_type type = metrics_type_at(m, t);
        l.type = type.name;
        set_labels(to, &l);
        for (size_t k = 0; k < type.metric_count; k++) {
            metric_parts parts = metric_totals_get(totals, t, k);
            if (interval && parts.a == 0 && parts.b == 0)
                continue; /* as export_leaves_out() */
            bool histogram = type.metrics[k].kind == LS_METRIC_KIND_HISTOGRAM;
            if (!histogram && type.metrics[k].kind != LS_METRIC_KIND_RATIO) {
                single.integer = parts.a;
                put_stats(to, &to->metrics[t][k], &single, 1);
                continue;
            }
            value.kind = type.metrics[k].kind;
            value.value = parts.a;
            value.denominator = parts.b;
            value.histogram.count = histogram ? parts.b : 0;
            value.histogram.sum = parts.a;
            value.histogram.min = parts.min;
            value.histogram.max = parts.max;
            value.present = value.kind == LS_METRIC_KIND_RATIO && parts.b != 0;
            value.ratio = value.present ? (double)parts.a / (double)parts.b : 0;
            if (export_leaves_out(interval, &value))
                continue;
            export_stat stats[EXPORT_STATS];
            size_t count = export_stats(&value, stats);
            put_stats(to, &to->metrics[t][k], stats, count);
        }
    }
}

static ls_status put_types(tidy *to, const metric_store *m, ls_error *err)
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

static void put_facts(tidy *to, const run_results *r)
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

static void put_kernels(tidy *to, const run_results *r)
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
        set_labels(to, &l);
        l.unit = "fs";
        l.metric = "begin";
        put_u64_value(to, &l, interval->begin);
        l.metric = "end";
        put_u64_value(to, &l, interval->end);
        uint64_t cycles = 0;
        if (export_cycles(r, interval, &cycles)) {
            l.unit = l.metric = "cycles";
            put_u64_value(to, &l, cycles);
        }
        if (interval->overlapped) {
            l.unit = "";
            l.metric = interval->shared ? "shared" : "overlapped";
            put_u64_value(to, &l, 1);
        }
    }
}

/* A metric that no block counted has a row of its own: its zeros are not measured. */
static ls_status put_untouched(tidy *to, const metric_store *m, ls_error *err)
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

static void put_host(tidy *to, const results_host *host)
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
    for (uint32_t i = 0; i < host->rank_count; i++) {
        char rank[24];
        snprintf(rank, sizeof rank, "rank%u", i);
        csv_labels of = fact_labels("host");
        of.block = rank;
        for (size_t k = 0; k < ranks_field_count; k++) {
            of.metric = ranks_fields[k].name;
            of.unit = ranks_fields[k].unit;
            put_u64_row(to, &of, ranks_field_of(&ranks_fields[k], &host->ranks[i]));
        }
    }
    l.metric = "wall_time";
    l.unit = "s";
    put_real_row(to, &l, host->wall_seconds);
}

static ls_status put_metrics(tidy *t, const metric_store *m, const export_options *options, ls_error *err)
{
    block_rows rows = { .t = t };
    if (!make_metrics(t, m))
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the rows of metrics");
    ls_status status = put_untouched(t, m, err);
    if (status == LS_OK)
        status = put_types(t, m, err);
    return status == LS_OK ? export_walk(m, options->per_block, put_block_value, &rows, err) : status;
}

ls_status export_tidy(const run_results *r, const export_options *options, FILE *to, ls_error *err)
{
    tidy t = { .to = to };
    fputs("scope,gpu,kernel,kernel_name,stream,block,type,metric,kind,stat,value,unit\r\n", to);
    put_facts(&t, r);
    put_kernels(&t, r);
    ls_status status = r->metrics ? put_metrics(&t, r->metrics, options, err) : LS_OK;
    if (status == LS_OK)
        put_host(&t, &r->host);
    write_rows(&t);
    if (status == LS_OK && (t.rows.failed || t.labels.failed))
        status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the rows of metrics");
    text_fini(&t.rows);
    text_fini(&t.labels);
    arena_fini(&t.arena);
    return status;
}
