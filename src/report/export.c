/* export.c: the choice of a file's format, and functions that all exporters share. */
#include "report/export_impl.h"

#include "base/file.h"
#include "base/text.h"
#include "report/packed.h"
#include "report/postgres.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------------ formats */

static const struct {
    const char *name;
    const char *extensions; /* separated by one space */
} formats[LS_EXPORT_FORMATS] = {
    [LS_EXPORT_TEXT] = { "text", ".txt" },
    [LS_EXPORT_JSON] = { "json", ".json" },
    [LS_EXPORT_CSV] = { "csv", ".csv" },
    [LS_EXPORT_TIDY] = { "tidy", ".tidy.csv" },
    [LS_EXPORT_SQLITE] = { "sqlite", ".db .sqlite .sqlite3" },
};

const char *export_format_name(export_format format)
{
    return (unsigned)format < LS_EXPORT_FORMATS ? formats[format].name : "unknown";
}

const char *export_format_extensions(export_format format)
{
    return (unsigned)format < LS_EXPORT_FORMATS ? formats[format].extensions : "";
}

/* True if the name ends with one of the extensions and does not consist of it alone. */
static bool has_extension(const char *name, size_t length, const char *extensions)
{
    for (const char *at = extensions; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        size_t bytes = strcspn(at, " ");
        if (length > bytes && strncasecmp(name + length - bytes, at, bytes) == 0)
            return true;
    }
    return false;
}

ls_status export_format_of(const char *path, export_format *out, ls_error *err)
{
    if (postgres_is_url(path)) {
        *out = LS_EXPORT_SQLITE;
        return LS_OK;
    }
    const char *base = path_base(path);
    size_t length = strlen(base) - packed_suffix_bytes(base);
    for (int i = LS_EXPORT_FORMATS - 1; i >= 0; i--) { /* backwards: ".tidy.csv" before ".csv" */
        bool may = packed_suffix_bytes(base) == 0 || i == LS_EXPORT_CSV || i == LS_EXPORT_TIDY;
        if (may && has_extension(base, length, formats[i].extensions)) {
            *out = (export_format)i;
            return LS_OK;
        }
    }
    char quoted[200];
    quote_text(path, strlen(path), quoted, sizeof quoted);
    return ls_fail(
        err, LS_ERR_USAGE,
        "cannot tell the format of '%s' from its name: use %s (SQLite), %s, %s (also .csv.gz, .csv.zst), %s "
        "or %s",
        quoted, formats[LS_EXPORT_SQLITE].extensions, formats[LS_EXPORT_JSON].extensions,
        formats[LS_EXPORT_CSV].extensions, formats[LS_EXPORT_TIDY].extensions,
        formats[LS_EXPORT_TEXT].extensions);
}

ls_status export_stream(const run_results *results, export_format format, const export_options *options,
                        FILE *to, ls_error *err)
{
    static const export_options defaults = { 0 };
    options = options ? options : &defaults;
    switch (format) {
    case LS_EXPORT_TEXT:
        return export_text(results, options, to, err);
    case LS_EXPORT_JSON:
        return export_json(results, options, to, err);
    case LS_EXPORT_CSV:
        return export_csv(results, to, err);
    case LS_EXPORT_TIDY:
        return export_tidy(results, options, to, err);
    default:
        return ls_fail(err, LS_ERR_USAGE, "results cannot be written to a stream as '%s'",
                       export_format_name(format));
    }
}

ls_status export_results(const run_results *results, export_format format, const export_options *options,
                         const char *path, ls_error *err)
{
    static const export_options defaults = { 0 };
    options = options ? options : &defaults;
    if (format == LS_EXPORT_SQLITE && strcmp(path, "-") != 0)
        return export_sqlite(results, options, path, err);
    file_writer w;
    ls_status status = file_writer_open(&w, path, err);
    if (status != LS_OK)
        return status;
    packed_writer packed;
    status = packed_writer_open(&packed, packed_suffix_of(path), w.stream, err);
    if (status == LS_OK) {
        status = export_stream(results, format, options, packed.stream, err);
        packed_writer_close(&packed);
    }
    if (status == LS_OK || ferror(w.stream)) /* a failed write: commit knows the file's name and the reason */
        return file_writer_commit(&w, err);
    file_writer_abort(&w);
    return status;
}

/* ------------------------------------------------------------------------------------------------- values */

static void push(export_stat *out, size_t *count, const char *name, uint64_t integer)
{
    export_stat *stat = &out[(*count)++];
    *stat = (export_stat){ .integer = integer };
    snprintf(stat->name, sizeof stat->name, "%s", name);
}

size_t export_stats(const metric_value *value, export_stat *out)
{
    size_t count = 0;
    if (value->kind == LS_METRIC_KIND_RATIO) {
        push(out, &count, "numerator", value->value);
        push(out, &count, "denominator", value->denominator);
        if (value->present) {
            push(out, &count, "value", 0);
            out[count - 1].is_real = true;
            out[count - 1].real = value->ratio;
        }
        return count;
    }
    if (value->kind != LS_METRIC_KIND_HISTOGRAM) {
        push(out, &count, "value", value->value);
        return count;
    }
    const ls_histogram *h = &value->histogram;
    push(out, &count, "count", h->count);
    push(out, &count, "sum", h->sum);
    if (h->count > 0) {
        push(out, &count, "min", h->min);
        push(out, &count, "max", h->max);
    }
    for (unsigned b = 0; b < LS_HISTOGRAM_BUCKETS; b++) {
        if (h->bucket[b] == 0)
            continue;
        char name[32];
        snprintf(name, sizeof name, "bucket_%" PRIu64, ls_histogram_least(b, value->is_fine));
        push(out, &count, name, h->bucket[b]);
    }
    return count;
}

bool export_leaves_out(const metric_interval *interval, const metric_value *value)
{
    if (interval == NULL)
        return false;
    bool split = interval->shared && value->kind == LS_METRIC_KIND_RATIO;
    return value->value == 0 && (value->denominator == 0 || split) && value->histogram.count == 0;
}

static ls_status walk_scope(const metric_store *m, const metric_view *view, size_t scope, export_row_fn fn,
                            void *self, ls_error *err)
{
    const metric_interval *interval = metrics_interval_at(m, scope);
    size_t sources = metrics_source_count(m);
    for (size_t i = 0; i < sources; i++) {
        if (interval && !metric_view_active(view, i))
            continue;
        size_t type = metrics_source_type(m, i);
        metric_type t = metrics_type_at(m, type);
        for (size_t k = 0; k < t.metric_count; k++) {
            metric_value value;
            metric_view_source(view, i, k, &value);
            if (export_leaves_out(interval, &value))
                continue;
            export_row row = { .scope = scope,
                               .interval = interval,
                               .source = i,
                               .type = type,
                               .metric = k,
                               .from = metrics_source_at(m, i),
                               .decl = &t.metrics[k],
                               .value = &value };
            ls_status status = fn(self, &row, err);
            if (status != LS_OK)
                return status;
        }
    }
    return LS_OK;
}

ls_status export_walk(const metric_store *m, bool per_block, export_row_fn fn, void *self, ls_error *err)
{
    if (!m)
        return LS_OK;
    metric_view *view = NULL;
    ls_status status = metric_view_create(m, &view, err);
    if (status == LS_OK)
        status = metric_view_load(view, LS_METRICS_RUN, err);
    if (status == LS_OK)
        status = walk_scope(m, view, LS_METRICS_RUN, fn, self, err);
    size_t intervals = per_block ? metrics_interval_count(m) : 0;
    for (size_t i = 0; i < intervals && status == LS_OK; i++) {
        status = metric_view_load(view, i, err);
        if (status == LS_OK)
            status = walk_scope(m, view, i, fn, self, err);
    }
    metric_view_destroy(view);
    return status;
}

ls_status export_untouched(const metric_store *m, metric_untouched **list, size_t *count, ls_error *err)
{
    size_t all = 0;
    for (size_t i = 0; i < metrics_type_count(m); i++)
        all += metrics_type_at(m, i).metric_count;
    *list = malloc((all + 1) * sizeof **list);
    if (!*list)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the list of untouched metrics");
    *count = metrics_untouched(m, *list, all);
    return LS_OK;
}

/* -------------------------------------------------------------------------------------------------- facts */

const char *export_text_or(const char *text, const char *otherwise)
{
    return text && text[0] ? text : otherwise;
}

const char *export_config_hash(const run_results *r, char hash[64])
{
    hash[0] = '\0';
    if (r->config_hash)
        snprintf(hash, 64, "%s", r->config_hash);
    else if (r->config_text)
        hash128_text(hash128_of(r->config_text, strlen(r->config_text)), hash);
    return hash;
}

bool export_cycles(const run_results *r, const metric_interval *kernel, uint64_t *out)
{
    if (!r->clock)
        return false;
    *out = ls_clock_cycle_at(r->clock, kernel->end) - ls_clock_cycle_at(r->clock, kernel->begin);
    return true;
}

size_t export_facts(const run_results *r, char hash[64], export_fact *out)
{
    const export_fact facts[EXPORT_FACTS] = {
        { "lockstep", "", LS_VERSION_STRING, 0 },
        { "platform", "", export_text_or(r->platform, ""), 0 },
        { "config_hash", "", export_config_hash(r, hash), 0 },
        { "partial", "", NULL, r->partial },
        { "partial_reason", "", r->partial ? export_text_or(r->partial_reason, "") : "", 0 },
        { "seed", "", NULL, r->seed },
        { "end_time", "fs", NULL, r->end_time },
        { "engine.events", "events", NULL, r->events },
        { "engine.messages", "messages", NULL, r->messages },
        { "engine.ticks", "ticks", NULL, r->ticks },
        { "engine.region_cycles", "cycles", NULL, r->region_cycles },
        { "cycles", "cycles", NULL, r->cycles },
        { "hit_rates", "", r->hit_rates, 0 },
    };
    size_t count = 0;
    for (size_t i = 0; i < EXPORT_FACTS; i++) {
        bool absent = (strcmp(facts[i].name, "cycles") == 0 && !r->has_cycles) ||
                      (strcmp(facts[i].name, "hit_rates") == 0 && r->hit_rates == NULL);
        if (!absent)
            out[count++] = facts[i];
    }
    return count;
}

ls_status export_hash(const run_results *results, hash128 *out, ls_error *err)
{
    run_results simulated = *results;
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for results");
    simulated.host = (results_host){ 0 };
    const export_options everything = { .per_block = true };
    ls_status status = export_stream(&simulated, LS_EXPORT_JSON, &everything, to, err);
    bool failed = ferror(to) != 0;
    if ((fclose(to) != 0 || failed) && status == LS_OK)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory for results");
    if (status == LS_OK)
        *out = hash128_of(text, bytes);
    free(text);
    return status;
}
