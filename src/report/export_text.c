/* export_text.c: results for people: aligned, with thousands separators, by type of block. Touches only the
 * stream it was given. */
#include "report/export_impl.h"
#include "report/ranks_text.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_SHOWN 20

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define ASSUMPTION "assumption"     /* the kind of warning that has a list of its own */
#define MEMORY_CHECK "memory-check" /* a result, not a warning */
#define LINE_COLUMNS 100
#define RED "\033[1;31m"
#define PLAIN "\033[0m"

typedef struct text_out {
    FILE *to;
    const export_options *options;
    const metric_store *m;
    metric_view *view;
    metric_untouched *untouched; /* in the order of types and metrics */
    size_t untouched_count;
} text_out;

/* Writes in a colour if colours are wanted. */
static void put_styled(const text_out *t, const char *style, const char *text)
{
    if (t->options->color && text[0])
        fprintf(t->to, "%s%s%s", style, text, PLAIN);
    else
        fputs(text, t->to);
}

static void put_heading(const text_out *t, const char *name, const char *note)
{
    fputc('\n', t->to);
    put_styled(t, BOLD, name);
    if (note[0]) {
        fputs("  ", t->to);
        put_styled(t, DIM, note);
    }
    fputc('\n', t->to);
}

/* ------------------------------------------------------------------------------------------------- values */

enum { VALUE_BYTES = 32, NOTE_BYTES = 160 };

typedef struct text_row {
    const char *name, *unit;
    char value[VALUE_BYTES], note[NOTE_BYTES];
} text_row;

/* Four decimals while that says something, a point in every locale. */
static void format_number(double value, char *out)
{
    if (value >= 10000 && value < 1e15) {
        uint64_t tenths = (uint64_t)(value * 10 + 0.5);
        char whole[LS_FORMAT_BYTES];
        format_count(tenths / 10, whole, sizeof whole);
        snprintf(out, VALUE_BYTES, "%.*s.%u", VALUE_BYTES - 3, whole, (unsigned)(tenths % 10));
        return;
    }
    bool plain = value == 0 || (value >= 0.001 && value < 10000);
    snprintf(out, VALUE_BYTES, plain ? "%.4f" : "%.4g", value);
    for (char *p = out; *p; p++)
        if (*p == ',')
            *p = '.';
}

static void format_value(const metric_value *v, text_row *row)
{
    row->note[0] = '\0';
    if (v->kind == LS_METRIC_KIND_RATIO) {
        if (v->present)
            format_number(v->ratio, row->value);
        else
            snprintf(row->value, VALUE_BYTES, "-");
        return;
    }
    if (v->kind != LS_METRIC_KIND_HISTOGRAM) {
        format_count(v->value, row->value, VALUE_BYTES);
        if (v->kind == LS_METRIC_KIND_PEAK && v->sources > 1)
            snprintf(row->note, NOTE_BYTES, "largest of %zu", v->sources);
        return;
    }
    const ls_histogram *h = &v->histogram;
    if (h->count == 0) {
        snprintf(row->value, VALUE_BYTES, "-");
        snprintf(row->note, NOTE_BYTES, "no values");
        return;
    }
    char count[32], min[32], median[32], high[32], most[32], max[32];
    format_number((double)h->sum / (double)h->count, row->value);
    snprintf(row->note, NOTE_BYTES, "mean of %s: min %s, 50%% <= %s, 95%% <= %s, 99%% <= %s, max %s",
             format_count(h->count, count, sizeof count), format_count(h->min, min, sizeof min),
             format_count(metric_percentile(h, v->is_fine, 0.5), median, sizeof median),
             format_count(metric_percentile(h, v->is_fine, 0.95), high, sizeof high),
             format_count(metric_percentile(h, v->is_fine, 0.99), most, sizeof most),
             format_count(h->max, max, sizeof max));
}

/* *at goes on from metric to metric. */
static bool is_untouched(const text_out *t, size_t type, size_t metric, size_t *at)
{
    const metric_untouched *list = t->untouched;
    while (*at < t->untouched_count &&
           (list[*at].type < type || (list[*at].type == type && list[*at].metric < metric)))
        ++*at;
    return *at < t->untouched_count && list[*at].type == type && list[*at].metric == metric;
}

static void add_spaces(text_buffer *text, size_t count)
{
    static const char spaces[] = "                                ";
    for (; count >= sizeof spaces; count -= sizeof spaces - 1)
        text_addn(text, spaces, sizeof spaces - 1);
    text_addn(text, spaces, count);
}

static void add_styled(const text_out *t, text_buffer *text, const char *styled, size_t bytes)
{
    bool color = t->options->color && bytes > 0;
    if (color)
        text_add(text, DIM);
    text_addn(text, styled, bytes);
    if (color)
        text_add(text, PLAIN);
}

/* Columns as wide as their longest text. Rows are put together here: printf would be half of a short run's report. */
static ls_status put_rows(const text_out *t, const text_row *rows, size_t count, unsigned indent,
                          ls_error *err)
{
    size_t name_width = 0, value_width = 0, unit_width = 0;
    for (size_t k = 0; k < count; k++) {
        size_t name = strlen(rows[k].name), value = strlen(rows[k].value), unit = strlen(rows[k].unit);
        name_width = name > name_width ? name : name_width;
        value_width = value > value_width ? value : value_width;
        unit_width = unit > unit_width ? unit : unit_width;
    }
    text_buffer text = { 0 };
    for (size_t k = 0; k < count; k++) {
        const text_row *row = &rows[k];
        size_t name = strlen(row->name), value = strlen(row->value), unit = strlen(row->unit);
        add_spaces(&text, indent);
        text_addn(&text, row->name, name);
        add_spaces(&text, name_width - name + 2 + value_width - value);
        text_addn(&text, row->value, value);
        if (unit > 0 || row->note[0])
            text_addn(&text, "  ", 2);
        add_styled(t, &text, row->unit, unit);
        if (row->note[0]) {
            add_spaces(&text, unit_width - unit + 2);
            add_styled(t, &text, row->note, strlen(row->note));
        }
        text_addn(&text, "\n", 1);
    }
    fwrite(text_get(&text), 1, text.count, t->to);
    ls_status status = text.failed ? ls_fail(err, LS_ERR_NOMEM, "no memory left for the summary") : LS_OK;
    text_fini(&text);
    return status;
}

/* The values of one source, or of one type if source is SIZE_MAX, in aligned columns. */
static ls_status put_values(const text_out *t, size_t type, size_t source, unsigned indent, ls_error *err)
{
    metric_type info = metrics_type_at(t->m, type);
    text_row *rows = malloc((info.metric_count + 1) * sizeof *rows);
    if (!rows)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the summary");
    size_t at = 0;
    for (size_t k = 0; k < info.metric_count; k++) {
        metric_value v;
        if (source == SIZE_MAX)
            metric_view_type(t->view, type, k, &v);
        else
            metric_view_source(t->view, source, k, &v);
        rows[k].name = info.metrics[k].name;
        rows[k].unit = metric_unit(&info.metrics[k]);
        format_value(&v, &rows[k]);
        if (source == SIZE_MAX && is_untouched(t, type, k, &at))
            stpcpy(rows[k].note, "never counted");
    }
    ls_status status = put_rows(t, rows, info.metric_count, indent, err);
    free(rows);
    return status;
}

static ls_status put_types(const text_out *t, ls_error *err)
{
    size_t types = metrics_type_count(t->m), sources = metrics_source_count(t->m);
    ls_status status = LS_OK;
    for (size_t type = 0; type < types && status == LS_OK; type++) {
        metric_type info = metrics_type_at(t->m, type);
        char note[48];
        snprintf(note, sizeof note, "%zu block%s", info.sources, info.sources == 1 ? "" : "s");
        put_heading(t, info.name, note);
        status = put_values(t, type, SIZE_MAX, 2, err);
        for (size_t s = 0; t->options->per_block && s < sources && status == LS_OK; s++) {
            if (metrics_source_type(t->m, s) != type)
                continue;
            fputs("  ", t->to);
            put_styled(t, BOLD, metrics_source_at(t->m, s)->path);
            fputc('\n', t->to);
            status = put_values(t, type, s, 4, err);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------- kernels, untouched */

static void format_label(int64_t value, char *out, size_t bytes)
{
    if (value < 0)
        snprintf(out, bytes, "-");
    else
        snprintf(out, bytes, "%" PRId64, value);
}

static void put_kernels(const text_out *t)
{
    size_t count = metrics_interval_count(t->m);
    if (count == 0)
        return;
    char note[48], begin[LS_FORMAT_BYTES], time[LS_FORMAT_BYTES], gpu[24], stream[24];
    put_heading(t, "kernels", format_count(count, note, sizeof note));
    put_styled(t, DIM, "       #   gpu  stream      begin       time  name");
    fputc('\n', t->to);
    for (size_t i = 0; i < count && i < KERNELS_SHOWN; i++) {
        const metric_interval *k = metrics_interval_at(t->m, i);
        format_label(k->gpu, gpu, sizeof gpu);
        format_label(k->stream, stream, sizeof stream);
        char name[160];
        quote_text(k->kernel_name, strlen(k->kernel_name), name, sizeof name);
        fprintf(t->to, "  %6" PRIu64 "  %4s  %6s  %9s  %9s  %s\n", k->kernel, gpu, stream,
                format_time(k->begin, begin, sizeof begin),
                format_time(k->end >= k->begin ? k->end - k->begin : 0, time, sizeof time),
                export_text_or(name, "-"));
    }
    if (count > KERNELS_SHOWN)
        fprintf(t->to, "  ... and %s more; JSON, CSV and SQLite have them all\n",
                format_count(count - KERNELS_SHOWN, note, sizeof note));
}

static void put_untouched(const text_out *t)
{
    const metric_untouched *list = t->untouched;
    size_t count = t->untouched_count, width = 0;
    put_heading(t, "untouched", count ? "no block ever changed these: not a measured zero" : "none");
    for (size_t i = 0; i < count; i++) {
        metric_type type = metrics_type_at(t->m, list[i].type);
        size_t length = strlen(type.name) + 1 + strlen(type.metrics[list[i].metric].name);
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < count; i++) {
        metric_type type = metrics_type_at(t->m, list[i].type);
        const ls_metric *metric = &type.metrics[list[i].metric];
        fprintf(t->to, "  %s %s", type.name, metric->name);
        if (metric_help(metric)[0]) {
            size_t length = strlen(type.name) + 1 + strlen(metric->name);
            fprintf(t->to, "%*s", (int)(width - length + 2), "");
            put_styled(t, DIM, metric_help(metric));
        }
        fputc('\n', t->to);
    }
}

/* ---------------------------------------------------------------------------------------------- the whole */

static void put_fact(const text_out *t, const char *name, const char *value)
{
    fprintf(t->to, "  %-14s  %s\n", name, value);
}

static void put_count(const text_out *t, const char *name, uint64_t value)
{
    char text[LS_FORMAT_BYTES];
    put_fact(t, name, format_count(value, text, sizeof text));
}

static void put_head(const text_out *t, const run_results *r)
{
    char text[LS_FORMAT_BYTES + 48], hash[64];
    put_styled(t, BOLD, "Lockstep " LS_VERSION_STRING);
    if (r->platform && r->platform[0])
        fprintf(t->to, "  %s", r->platform);
    fputc('\n', t->to);
    if (r->partial) {
        put_styled(t, RED, "PARTIAL RESULTS");
        fprintf(t->to, ": %s\n", export_text_or(r->partial_reason, "the run did not come to its end"));
    }
    for (size_t i = 0; i < r->warning_count; i++) {
        if (strcmp(r->warnings[i].kind, ASSUMPTION) == 0 || strcmp(r->warnings[i].kind, MEMORY_CHECK) == 0)
            continue;
        put_styled(t, RED, "WARNING");
        fprintf(t->to, ": %s: %s\n", r->warnings[i].kind, r->warnings[i].text);
    }
    fputc('\n', t->to);
    put_fact(t, "simulated time", format_time(r->end_time, text, sizeof text));
    if (r->has_cycles)
        put_count(t, "cycles", r->cycles);
    put_count(t, "events", r->events);
    put_count(t, "messages", r->messages);
    put_fact(t, "configuration", export_text_or(export_config_hash(r, hash), "-"));
    snprintf(text, sizeof text, "%" PRIu64, r->seed);
    put_fact(t, "seed", text);
    if (r->hit_rates != NULL)
        put_fact(t, "hit rates", r->hit_rates);
    for (size_t i = 0; i < r->warning_count; i++)
        if (strcmp(r->warnings[i].kind, MEMORY_CHECK) == 0)
            put_fact(t, "memory check", r->warnings[i].text);
}

/* The keys alone: `lockstep config explain KEY -p PLATFORM` says the rest, as do the other forms of results. */
static void put_assumptions(const text_out *t, const run_results *r)
{
    size_t count = 0, column = 0;
    for (size_t i = 0; i < r->warning_count; i++) {
        const ls_warning *w = &r->warnings[i];
        if (strcmp(w->kind, ASSUMPTION) != 0)
            continue;
        if (count++ == 0)
            put_heading(t, "assumptions", "keys whose values no source gives");
        size_t key = strcspn(w->text, " ");
        if (column == 0 || column + key + 2 > LINE_COLUMNS) {
            fputs(column == 0 ? "  " : ",\n  ", t->to);
            column = 2;
        } else {
            fputs(", ", t->to);
            column += 2;
        }
        fprintf(t->to, "%.*s", (int)key, w->text);
        column += key;
    }
    if (count > 0)
        fputc('\n', t->to);
}

static void put_host(const text_out *t, const results_host *host)
{
    char wall[LS_FORMAT_BYTES], text[LS_FORMAT_BYTES + 48];
    put_heading(t, "host", "");
    format_si(host->wall_seconds, "s", wall, sizeof wall);
    snprintf(text, sizeof text, "%s on %" PRIu32 " thread%s", wall, host->threads,
             host->threads == 1 ? "" : "s");
    put_fact(t, "wall time", text);
    put_count(t, "windows", host->windows);
    if (host->run_id && host->run_id[0])
        put_fact(t, "run", host->run_id);
    if (host->command && host->command[0])
        put_fact(t, "command", host->command);
    if (host->rank_count > 0) {
        fputc('\n', t->to);
        ranks_print(host->ranks, host->rank_count, t->to);
    }
}

ls_status export_text(const run_results *r, const export_options *options, FILE *to, ls_error *err)
{
    text_out t = { .to = to, .options = options, .m = r->metrics };
    put_head(&t, r);
    ls_status status = LS_OK;
    if (t.m) {
        status = metric_view_create(t.m, &t.view, err);
        if (status == LS_OK)
            status = metric_view_load(t.view, LS_METRICS_RUN, err);
        if (status == LS_OK)
            status = export_untouched(t.m, &t.untouched, &t.untouched_count, err);
        if (status == LS_OK)
            status = put_types(&t, err);
        if (status == LS_OK)
            put_kernels(&t);
        if (status == LS_OK && options->untouched)
            put_untouched(&t);
        free(t.untouched);
        metric_view_destroy(t.view);
    }
    if (status == LS_OK)
        put_assumptions(&t, r);
    if (status == LS_OK)
        put_host(&t, &r->host);
    return status;
}
