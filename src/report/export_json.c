/* export_json.c: results as one JSON document: everything, integers exact. Touches only the stream it was
 * given.
 *
 * A kernel has one array of numbers per type of block, in the order of "columns". A number that does not exist
 * is null. A type whose blocks did nothing is left out. In objects absent values are left out: a ratio over
 * zero, a block's value that is zero in a kernel. */
#include "report/export_impl.h"
#include "report/export_series.h"
#include "report/export_source.h"
#include "report/ranks_text.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>

/* 2: `run.cycles` are those of the core clock with a kernel; the engine's counts are in `run.engine`;
 * `warnings`.
 * 3: a kernel's values are arrays per type, with `columns`; blocks in kernels only on request. */
#define JSON_SCHEMA 3

static void put_string(json_writer *j, const char *key, const char *value)
{
    json_key(j, key);
    json_string(j, value);
}

static void put_u64(json_writer *j, const char *key, uint64_t value)
{
    json_key(j, key);
    json_u64(j, value);
}

static void put_label(json_writer *j, const char *key, int64_t value)
{
    if (value < 0)
        return;
    json_key(j, key);
    json_i64(j, value);
}

/* A number for a counter, peak or level; an object for a value with parts. */
static void put_value(json_writer *j, const metric_value *v)
{
    if (v->kind == LS_METRIC_KIND_RATIO) {
        json_flat(j);
        json_begin_object(j);
        if (v->present) {
            json_key(j, "value");
            json_real(j, v->ratio);
        }
        put_u64(j, "numerator", v->value);
        put_u64(j, "denominator", v->denominator);
        json_end(j);
        return;
    }
    if (v->kind != LS_METRIC_KIND_HISTOGRAM) {
        json_u64(j, v->value);
        return;
    }
    const ls_histogram *h = &v->histogram;
    json_flat(j);
    json_begin_object(j);
    put_u64(j, "count", h->count);
    put_u64(j, "sum", h->sum);
    if (h->count > 0) {
        put_u64(j, "min", h->min);
        put_u64(j, "max", h->max);
    }
    json_key(j, "buckets"); /* by the smallest value that each holds */
    json_begin_object(j);
    for (unsigned b = 0; b < LS_HISTOGRAM_BUCKETS; b++) {
        if (h->bucket[b] == 0)
            continue;
        char from[24];
        snprintf(from, sizeof from, "%" PRIu64, ls_histogram_least(b, v->is_fine));
        put_u64(j, from, h->bucket[b]);
    }
    json_end(j);
    json_end(j);
}

/* The run, reduced per type. */
static void put_types(json_writer *j, const metric_store *m, const metric_view *view)
{
    metric_value v;
    json_key(j, "types");
    json_begin_object(j);
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        metric_type type = metrics_type_at(m, t);
        json_key(j, type.name);
        json_begin_object(j);
        for (size_t k = 0; k < type.metric_count; k++) {
            metric_view_type(view, t, k, &v);
            json_key(j, type.metrics[k].name);
            put_value(j, &v);
        }
        json_end(j);
    }
    json_end(j);
}

/* Each block of one scope; interval NULL: the run. */
static void put_blocks(json_writer *j, const metric_store *m, const metric_view *view,
                       const metric_interval *interval)
{
    metric_value v;
    json_key(j, "blocks");
    json_begin_object(j);
    size_t sources = metrics_source_count(m);
    for (size_t i = 0; i < sources; i++) {
        if (interval && !metric_view_active(view, i))
            continue;
        metric_type type = metrics_type_at(m, metrics_source_type(m, i));
        json_key(j, metrics_source_at(m, i)->path);
        json_begin_object(j);
        for (size_t k = 0; k < type.metric_count; k++) {
            metric_view_source(view, i, k, &v);
            if (export_leaves_out(interval, &v))
                continue;
            json_key(j, type.metrics[k].name);
            put_value(j, &v);
        }
        json_end(j);
    }
    json_end(j);
}

static void put_definitions(json_writer *j, const metric_store *m)
{
    json_key(j, "metrics");
    json_array(j);
    size_t types = metrics_type_count(m);
    for (size_t t = 0; t < types; t++) {
        metric_type type = metrics_type_at(m, t);
        for (size_t k = 0; k < type.metric_count; k++) {
            const ls_metric *metric = &type.metrics[k];
            json_flat(j);
            json_begin_object(j);
            put_string(j, "type", type.name);
            put_string(j, "name", metric->name);
            put_string(j, "kind", metric_kind_name(metric->kind));
            put_string(j, "unit", metric_unit(metric));
            put_string(j, "help", metric_help(metric));
            json_end(j);
        }
    }
    json_end(j);

    json_key(j, "blocks");
    json_array(j);
    size_t sources = metrics_source_count(m);
    for (size_t i = 0; i < sources; i++) {
        const metric_source *s = metrics_source_at(m, i);
        json_flat(j);
        json_begin_object(j);
        put_string(j, "path", s->path);
        put_string(j, "type", s->type);
        put_label(j, "gpu", s->gpu);
        put_label(j, "stream", s->stream);
        json_end(j);
    }
    json_end(j);
}

static ls_status put_untouched(json_writer *j, const metric_store *m, ls_error *err)
{
    metric_untouched *list;
    size_t count;
    ls_status status = export_untouched(m, &list, &count, err);
    if (status != LS_OK)
        return status;
    json_key(j, "untouched");
    json_array(j);
    for (size_t i = 0; i < count; i++) {
        metric_type type = metrics_type_at(m, list[i].type);
        json_flat(j);
        json_begin_object(j);
        put_string(j, "type", type.name);
        put_string(j, "name", type.metrics[list[i].metric].name);
        json_end(j);
    }
    json_end(j);
    free(list);
    return LS_OK;
}

/* The names of the numbers in a kernel's arrays. */
static void put_columns(json_writer *j, const metric_store *m)
{
    json_key(j, "columns");
    json_begin_object(j);
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        metric_type type = metrics_type_at(m, t);
        json_key(j, type.name);
        json_flat(j);
        json_array(j);
        for (size_t k = 0; k < type.metric_count; k++) {
            const char *const *parts;
            size_t count = export_cell_parts(&type.metrics[k], &parts);
            for (size_t i = 0; i < count; i++) {
                char name[256];
                snprintf(name, sizeof name, "%s%s", type.metrics[k].name, parts[i]);
                json_string(j, name);
            }
        }
        json_end(j);
    }
    json_end(j);
}

typedef struct json_kernels {
    const run_results *results;
    metric_totals *totals;
    metric_view *view; /* NULL: without blocks */
    char *cells;       /* of one type */
} json_kernels;

static void put_kernel_types(json_writer *j, const json_kernels *in, const metric_interval *kernel)
{
    const metric_store *m = in->results->metrics;
    const export_cell_style style = { .absent = "null", .separator = ",", .hides_zeros = kernel->overlapped };
    json_key(j, "types");
    json_begin_object(j);
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        if (!metric_totals_active(in->totals, t))
            continue;
        metric_type type = metrics_type_at(m, t);
        in->cells[0] = '[';
        char *end = export_put_cells(in->cells + 1, in->totals, t, &type, &style);
        end[-1] = ']'; /* in place of the last separator */
        json_key(j, type.name);
        json_raw(j, in->cells, (size_t)(end - in->cells));
    }
    json_end(j);
}

static ls_status put_kernel(json_writer *j, const json_kernels *in, size_t index, ls_error *err)
{
    const metric_interval *kernel = metrics_interval_at(in->results->metrics, index);
    ls_status status = metric_totals_load(in->totals, index, err);
    if (status == LS_OK && in->view)
        status = metric_view_load(in->view, index, err);
    if (status != LS_OK)
        return status;
    uint64_t cycles = 0;
    if (!in->view)
        json_flat(j);
    json_begin_object(j);
    put_label(j, "gpu", kernel->gpu);
    put_u64(j, "kernel", kernel->kernel);
    put_string(j, "name", kernel->kernel_name);
    put_label(j, "stream", kernel->stream);
    put_u64(j, "begin_fs", kernel->begin);
    put_u64(j, "end_fs", kernel->end);
    if (export_cycles(in->results, kernel, &cycles))
        put_u64(j, "cycles", cycles);
    if (kernel->overlapped) {
        json_key(j, kernel->shared ? "shared" : "overlapped");
        json_bool(j, true);
    }
    put_kernel_types(j, in, kernel);
    if (in->view)
        put_blocks(j, in->results->metrics, in->view, kernel);
    json_end(j);
    return LS_OK;
}

static ls_status put_kernels(json_writer *j, const run_results *r, metric_view *view, ls_error *err)
{
    json_kernels in = { .results = r, .view = view, .cells = malloc(export_cells_bytes(r->metrics)) };
    ls_status status = in.cells ? metric_totals_create(r->metrics, &in.totals, err)
                                : ls_fail(err, LS_ERR_NOMEM, "no memory for results");
    put_columns(j, r->metrics);
    json_key(j, "kernels");
    json_array(j);
    for (size_t i = 0; i < metrics_interval_count(r->metrics) && status == LS_OK; i++)
        status = put_kernel(j, &in, i, err);
    json_end(j);
    metric_totals_destroy(in.totals);
    free(in.cells);
    return status;
}

static ls_status put_metrics(json_writer *j, const run_results *r, const export_options *options,
                             ls_error *err)
{
    const metric_store *m = r->metrics;
    put_definitions(j, m);
    ls_status status = put_untouched(j, m, err);
    metric_view *view = NULL;
    if (status == LS_OK)
        status = metric_view_create(m, &view, err);
    if (status == LS_OK)
        status = metric_view_load(view, LS_METRICS_RUN, err);
    if (status == LS_OK) {
        json_key(j, "values");
        json_begin_object(j);
        put_types(j, m, view);
        put_blocks(j, m, view, NULL);
        json_end(j);
        status = put_kernels(j, r, options->per_block ? view : NULL, err);
    }
    metric_view_destroy(view);
    return status;
}

static void put_run(json_writer *j, const run_results *r)
{
    char hash[64];
    put_string(j, "format", "lockstep-results");
    put_u64(j, "schema", JSON_SCHEMA);
    put_string(j, "lockstep", LS_VERSION_STRING);
    json_key(j, "partial");
    json_bool(j, r->partial);
    if (r->partial)
        put_string(j, "partial_reason", export_text_or(r->partial_reason, ""));
    json_key(j, "warnings");
    json_array(j);
    for (size_t i = 0; i < r->warning_count; i++) {
        json_flat(j);
        json_begin_object(j);
        put_string(j, "kind", r->warnings[i].kind);
        put_string(j, "text", r->warnings[i].text);
        json_end(j);
    }
    json_end(j);
    json_key(j, "run");
    json_begin_object(j);
    put_string(j, "platform", r->platform);
    put_string(j, "config_hash", export_config_hash(r, hash));
    put_u64(j, "seed", r->seed);
    if (r->hit_rates != NULL)
        put_string(j, "hit_rates", r->hit_rates);
    put_u64(j, "end_time_fs", r->end_time);
    if (r->has_cycles)
        put_u64(j, "cycles", r->cycles);
    json_key(j, "engine");
    json_begin_object(j);
    put_u64(j, "events", r->events);
    put_u64(j, "messages", r->messages);
    put_u64(j, "ticks", r->ticks);
    put_u64(j, "region_cycles", r->region_cycles);
    json_end(j);
    put_string(j, "config", r->config_text);
    json_end(j);
}

static void put_ranks(json_writer *j, const results_host *host)
{
    json_key(j, "ranks");
    json_array(j);
    for (uint32_t i = 0; i < host->rank_count; i++) {
        json_begin_object(j);
        for (size_t k = 0; k < ranks_field_count; k++)
            put_u64(j, ranks_fields[k].name, ranks_field_of(&ranks_fields[k], &host->ranks[i]));
        json_end(j);
    }
    json_end(j);
}

static void put_host(json_writer *j, const results_host *host)
{
    json_key(j, "host");
    json_begin_object(j);
    put_string(j, "run_id", host->run_id);
    put_string(j, "command", host->command);
    put_u64(j, "threads", host->threads);
    put_u64(j, "windows", host->windows);
    json_key(j, "wall_seconds");
    json_real(j, host->wall_seconds);
    if (host->rank_count > 0)
        put_ranks(j, host);
    json_end(j);
}

ls_status export_json(const run_results *r, const export_options *options, FILE *to, ls_error *err)
{
    json_writer j;
    json_to_file(&j, to, 2);
    json_begin_object(&j);
    put_run(&j, r);
    ls_status status = r->metrics ? put_metrics(&j, r, options, err) : LS_OK;
    if (status != LS_OK)
        return status;
    if (r->series)
        export_series_json(&j, r->series);
    if (r->source)
        export_source_json(&j, r->source);
    put_host(&j, &r->host);
    json_end(&j);
    return json_finish(&j, err);
}
