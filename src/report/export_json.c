/* export_json.c: results as one JSON document: everything, integers exact. Touches only the stream it was
 * given.
 *
 * A kernel has one array of numbers per type of block, in the order of "columns"; a number that does not exist is
 * null, a type whose blocks did nothing is left out. In objects whatever is absent is left out: a ratio over zero, a
 * block's value in a kernel that is zero. */
#include "report/export_impl.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>

/* 2: `run.cycles` are those of the core clock with a kernel; the engine's counts are in `run.engine`;
 * `warnings`.
 * 3: a kernel's values are arrays per type, with `columns`; blocks in kernels only on request. */
#define JSON_SCHEMA 3

static void put_string(ls_json *j, const char *key, const char *value)
{
    ls_json_key(j, key);
    ls_json_string(j, value);
}

static void put_u64(ls_json *j, const char *key, uint64_t value)
{
    ls_json_key(j, key);
    ls_json_u64(j, value);
}

static void put_label(ls_json *j, const char *key, int64_t value)
{
    if (value < 0)
        return;
    ls_json_key(j, key);
    ls_json_i64(j, value);
}

/* A number for a counter, peak or level; an object for what has parts. */
static void put_value(ls_json *j, const ls_metric_value *v)
{
    if (v->kind == LS_METRIC_KIND_RATIO) {
        ls_json_flat(j);
        ls_json_object(j);
        if (v->present) {
            ls_json_key(j, "value");
            ls_json_real(j, v->ratio);
        }
        put_u64(j, "numerator", v->value);
        put_u64(j, "denominator", v->denominator);
        ls_json_end(j);
        return;
    }
    if (v->kind != LS_METRIC_KIND_HISTOGRAM) {
        ls_json_u64(j, v->value);
        return;
    }
    const ls_histogram *h = &v->histogram;
    ls_json_flat(j);
    ls_json_object(j);
    put_u64(j, "count", h->count);
    put_u64(j, "sum", h->sum);
    if (h->count > 0) {
        put_u64(j, "min", h->min);
        put_u64(j, "max", h->max);
    }
    ls_json_key(j, "buckets"); /* by the smallest value that each holds */
    ls_json_object(j);
    for (unsigned b = 0; b < LS_HISTOGRAM_BUCKETS; b++) {
        if (h->bucket[b] == 0)
            continue;
        char from[24];
        snprintf(from, sizeof from, "%" PRIu64, b == 0 ? 0 : UINT64_C(1) << (b - 1));
        put_u64(j, from, h->bucket[b]);
    }
    ls_json_end(j);
    ls_json_end(j);
}

/* The run, reduced per type. */
static void put_types(ls_json *j, const ls_metrics *m, const ls_metric_view *view)
{
    ls_metric_value v;
    ls_json_key(j, "types");
    ls_json_object(j);
    for (size_t t = 0; t < ls_metrics_type_count(m); t++) {
        ls_metric_type type = ls_metrics_type(m, t);
        ls_json_key(j, type.name);
        ls_json_object(j);
        for (size_t k = 0; k < type.metric_count; k++) {
            ls_metric_view_type(view, t, k, &v);
            ls_json_key(j, type.metrics[k].name);
            put_value(j, &v);
        }
        ls_json_end(j);
    }
    ls_json_end(j);
}

/* Each block of one scope; interval NULL: the run. */
static void put_blocks(ls_json *j, const ls_metrics *m, const ls_metric_view *view,
                       const ls_metric_interval *interval)
{
    ls_metric_value v;
    ls_json_key(j, "blocks");
    ls_json_object(j);
    size_t sources = ls_metrics_source_count(m);
    for (size_t i = 0; i < sources; i++) {
        if (interval && !ls_metric_view_active(view, i))
            continue;
        ls_metric_type type = ls_metrics_type(m, ls_metrics_source_type(m, i));
        ls_json_key(j, ls_metrics_source(m, i)->path);
        ls_json_object(j);
        for (size_t k = 0; k < type.metric_count; k++) {
            ls_metric_view_source(view, i, k, &v);
            if (export_leaves_out(interval, &v))
                continue;
            ls_json_key(j, type.metrics[k].name);
            put_value(j, &v);
        }
        ls_json_end(j);
    }
    ls_json_end(j);
}

static void put_definitions(ls_json *j, const ls_metrics *m)
{
    ls_json_key(j, "metrics");
    ls_json_array(j);
    size_t types = ls_metrics_type_count(m);
    for (size_t t = 0; t < types; t++) {
        ls_metric_type type = ls_metrics_type(m, t);
        for (size_t k = 0; k < type.metric_count; k++) {
            const ls_metric *metric = &type.metrics[k];
            ls_json_flat(j);
            ls_json_object(j);
            put_string(j, "type", type.name);
            put_string(j, "name", metric->name);
            put_string(j, "kind", ls_metric_kind_name(metric->kind));
            put_string(j, "unit", ls_metric_unit(metric));
            put_string(j, "help", ls_metric_help(metric));
            ls_json_end(j);
        }
    }
    ls_json_end(j);

    ls_json_key(j, "blocks");
    ls_json_array(j);
    size_t sources = ls_metrics_source_count(m);
    for (size_t i = 0; i < sources; i++) {
        const ls_metric_source *s = ls_metrics_source(m, i);
        ls_json_flat(j);
        ls_json_object(j);
        put_string(j, "path", s->path);
        put_string(j, "type", s->type);
        put_label(j, "gpu", s->gpu);
        put_label(j, "stream", s->stream);
        ls_json_end(j);
    }
    ls_json_end(j);
}

static ls_status put_untouched(ls_json *j, const ls_metrics *m, ls_error *err)
{
    ls_metric_untouched *list;
    size_t count;
    ls_status status = export_untouched(m, &list, &count, err);
    if (status != LS_OK)
        return status;
    ls_json_key(j, "untouched");
    ls_json_array(j);
    for (size_t i = 0; i < count; i++) {
        ls_metric_type type = ls_metrics_type(m, list[i].type);
        ls_json_flat(j);
        ls_json_object(j);
        put_string(j, "type", type.name);
        put_string(j, "name", type.metrics[list[i].metric].name);
        ls_json_end(j);
    }
    ls_json_end(j);
    free(list);
    return LS_OK;
}

/* The names of the numbers in a kernel's arrays. */
static void put_columns(ls_json *j, const ls_metrics *m)
{
    ls_json_key(j, "columns");
    ls_json_object(j);
    for (size_t t = 0; t < ls_metrics_type_count(m); t++) {
        ls_metric_type type = ls_metrics_type(m, t);
        ls_json_key(j, type.name);
        ls_json_flat(j);
        ls_json_array(j);
        for (size_t k = 0; k < type.metric_count; k++) {
            const char *const *parts;
            size_t count = export_cell_parts(&type.metrics[k], &parts);
            for (size_t i = 0; i < count; i++) {
                char name[256];
                snprintf(name, sizeof name, "%s%s", type.metrics[k].name, parts[i]);
                ls_json_string(j, name);
            }
        }
        ls_json_end(j);
    }
    ls_json_end(j);
}

typedef struct json_kernels {
    const ls_results *results;
    ls_metric_totals *totals;
    ls_metric_view *view; /* NULL: without blocks */
    char *cells;          /* of one type */
} json_kernels;

static void put_kernel_types(ls_json *j, const json_kernels *in, const ls_metric_interval *kernel)
{
    const ls_metrics *m = in->results->metrics;
    const export_cell_style style = { .absent = "null", .separator = ",", .hides_zeros = kernel->overlapped };
    ls_json_key(j, "types");
    ls_json_object(j);
    for (size_t t = 0; t < ls_metrics_type_count(m); t++) {
        if (!ls_metric_totals_active(in->totals, t))
            continue;
        ls_metric_type type = ls_metrics_type(m, t);
        in->cells[0] = '[';
        char *end = export_put_cells(in->cells + 1, in->totals, t, &type, &style);
        end[-1] = ']'; /* in place of the last separator */
        ls_json_key(j, type.name);
        ls_json_raw(j, in->cells, (size_t)(end - in->cells));
    }
    ls_json_end(j);
}

static ls_status put_kernel(ls_json *j, const json_kernels *in, size_t index, ls_error *err)
{
    const ls_metric_interval *kernel = ls_metrics_interval(in->results->metrics, index);
    ls_status status = ls_metric_totals_load(in->totals, index, err);
    if (status == LS_OK && in->view)
        status = ls_metric_view_load(in->view, index, err);
    if (status != LS_OK)
        return status;
    uint64_t cycles = 0;
    if (!in->view)
        ls_json_flat(j);
    ls_json_object(j);
    put_label(j, "gpu", kernel->gpu);
    put_u64(j, "kernel", kernel->kernel);
    put_string(j, "name", kernel->kernel_name);
    put_label(j, "stream", kernel->stream);
    put_u64(j, "begin_fs", kernel->begin);
    put_u64(j, "end_fs", kernel->end);
    if (export_cycles(in->results, kernel, &cycles))
        put_u64(j, "cycles", cycles);
    if (kernel->overlapped) {
        ls_json_key(j, kernel->shared ? "shared" : "overlapped");
        ls_json_bool(j, true);
    }
    put_kernel_types(j, in, kernel);
    if (in->view)
        put_blocks(j, in->results->metrics, in->view, kernel);
    ls_json_end(j);
    return LS_OK;
}

static ls_status put_kernels(ls_json *j, const ls_results *r, ls_metric_view *view, ls_error *err)
{
    json_kernels in = { .results = r, .view = view, .cells = malloc(export_cells_bytes(r->metrics)) };
    ls_status status = in.cells ? ls_metric_totals_create(r->metrics, &in.totals, err)
                                : ls_fail(err, LS_ERR_NOMEM, "no memory for results");
    put_columns(j, r->metrics);
    ls_json_key(j, "kernels");
    ls_json_array(j);
    for (size_t i = 0; i < ls_metrics_interval_count(r->metrics) && status == LS_OK; i++)
        status = put_kernel(j, &in, i, err);
    ls_json_end(j);
    ls_metric_totals_destroy(in.totals);
    free(in.cells);
    return status;
}

static ls_status put_metrics(ls_json *j, const ls_results *r, const ls_export_options *options, ls_error *err)
{
    const ls_metrics *m = r->metrics;
    put_definitions(j, m);
    ls_status status = put_untouched(j, m, err);
    ls_metric_view *view = NULL;
    if (status == LS_OK)
        status = ls_metric_view_create(m, &view, err);
    if (status == LS_OK)
        status = ls_metric_view_load(view, LS_METRICS_RUN, err);
    if (status == LS_OK) {
        ls_json_key(j, "values");
        ls_json_object(j);
        put_types(j, m, view);
        put_blocks(j, m, view, NULL);
        ls_json_end(j);
        status = put_kernels(j, r, options->per_block ? view : NULL, err);
    }
    ls_metric_view_destroy(view);
    return status;
}

static void put_run(ls_json *j, const ls_results *r)
{
    char hash[64];
    put_string(j, "format", "lockstep-results");
    put_u64(j, "schema", JSON_SCHEMA);
    put_string(j, "lockstep", LS_VERSION_STRING);
    ls_json_key(j, "partial");
    ls_json_bool(j, r->partial);
    if (r->partial)
        put_string(j, "partial_reason", export_text_or(r->partial_reason, ""));
    ls_json_key(j, "warnings");
    ls_json_array(j);
    for (size_t i = 0; i < r->warning_count; i++) {
        ls_json_flat(j);
        ls_json_object(j);
        put_string(j, "kind", r->warnings[i].kind);
        put_string(j, "text", r->warnings[i].text);
        ls_json_end(j);
    }
    ls_json_end(j);
    ls_json_key(j, "run");
    ls_json_object(j);
    put_string(j, "platform", r->platform);
    put_string(j, "config_hash", export_config_hash(r, hash));
    put_u64(j, "seed", r->seed);
    if (r->hit_rates != NULL)
        put_string(j, "hit_rates", r->hit_rates);
    put_u64(j, "end_time_fs", r->end_time);
    if (r->has_cycles)
        put_u64(j, "cycles", r->cycles);
    ls_json_key(j, "engine");
    ls_json_object(j);
    put_u64(j, "events", r->events);
    put_u64(j, "messages", r->messages);
    put_u64(j, "ticks", r->ticks);
    put_u64(j, "region_cycles", r->region_cycles);
    ls_json_end(j);
    put_string(j, "config", r->config_text);
    ls_json_end(j);
}

static void put_host(ls_json *j, const ls_results_host *host)
{
    ls_json_key(j, "host");
    ls_json_object(j);
    put_string(j, "run_id", host->run_id);
    put_string(j, "command", host->command);
    put_u64(j, "threads", host->threads);
    put_u64(j, "windows", host->windows);
    ls_json_key(j, "wall_seconds");
    ls_json_real(j, host->wall_seconds);
    ls_json_end(j);
}

ls_status export_json(const ls_results *r, const ls_export_options *options, FILE *to, ls_error *err)
{
    ls_json j;
    ls_json_to_file(&j, to, 2);
    ls_json_object(&j);
    put_run(&j, r);
    ls_status status = r->metrics ? put_metrics(&j, r, options, err) : LS_OK;
    if (status != LS_OK)
        return status;
    put_host(&j, &r->host);
    ls_json_end(&j);
    return ls_json_finish(&j, err);
}
