/* page_data.c: one result as data of a report: facts, totals of the run and of each GPU, configuration, histograms. */
#include "report/page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void page_put_number(json_writer *j, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_null(j);
        return;
    }
    bool whole = value == floor(value) && fabs(value) < 9e15;
    int bytes = snprintf(text, sizeof text, whole ? "%.0f" : "%.7g", value);
    json_raw(j, text, (size_t)bytes);
}

static void put_number(json_writer *j, const char *key, double value)
{
    json_key(j, key);
    page_put_number(j, value);
}

/* ---------------------------------------------------------------------------------------------------- totals */

static size_t gpu_count(const saved_results *s)
{
    size_t count = 0;
    for (size_t b = 0; b < s->blocks.count; b++) {
        unsigned gpu;
        if (sscanf(s->blocks.at[b].path, "gpu%u.", &gpu) == 1 && gpu + 1 > count && gpu < 1024)
            count = gpu + 1;
    }
    return count;
}

static bool same_type(const saved_results *s, uint32_t a, uint32_t b)
{
    return strcmp(s->metrics.at[a].type, s->metrics.at[b].type) == 0;
}

static bool counted(const saved_value *v)
{
    return v->present && (v->a != 0 || v->b != 0);
}

/* Metrics whose total in the run is not zero: the others are left out. Those of one type stand together. Returns how
 * many. */
static size_t choose_columns(const saved_results *s, const saved_value *run, uint32_t *out)
{
    size_t count = 0;
    for (uint32_t first = 0; first < s->metrics.count; first++) {
        bool known = false;
        for (size_t i = 0; i < count && !known; i++)
            known = same_type(s, out[i], first);
        for (uint32_t m = first; m < s->metrics.count && !known; m++)
            if (counted(&run[m]) && same_type(s, m, first))
                out[count++] = m;
    }
    return count;
}

static const char *kind_text(const saved_metric_entry *m)
{
    return m->kind == LS_METRIC_KIND_RATIO       ? "ratio"
           : m->kind == LS_METRIC_KIND_HISTOGRAM ? "mean"
           : m->kind == LS_METRIC_KIND_PEAK      ? "peak"
                                                 : "counter";
}

static void put_declarations(json_writer *j, const saved_results *s, const uint32_t *columns, size_t count)
{
    json_key(j, "metrics");
    json_begin_object(j);
    for (size_t i = 0; i < count; i++) {
        const saved_metric_entry *m = &s->metrics.at[columns[i]];
        if (i == 0 || !same_type(s, columns[i], columns[i - 1])) {
            json_key(j, m->type);
            json_array(j);
        }
        json_array(j);
        json_string(j, m->name);
        json_string(j, kind_text(m));
        json_string(j, m->unit);
        json_string(j, m->help);
        json_end(j);
        if (i + 1 == count || !same_type(s, columns[i], columns[i + 1]))
            json_end(j);
    }
    json_end(j);
}

static void put_totals(json_writer *j, const saved_results *s, const saved_value *values,
                       const uint32_t *columns, size_t count)
{
    json_begin_object(j);
    for (size_t i = 0; i < count; i++) {
        const saved_metric_entry *m = &s->metrics.at[columns[i]];
        if (i == 0 || !same_type(s, columns[i], columns[i - 1])) {
            json_key(j, m->type);
            json_array(j);
        }
        page_put_number(j, saved_value_number(m->kind, &values[columns[i]]));
        if (i + 1 == count || !same_type(s, columns[i], columns[i + 1]))
            json_end(j);
    }
    json_end(j);
}

/* The totals of the blocks of one GPU. */
static void gpu_totals(const saved_results *s, size_t gpu, saved_value *out)
{
    char prefix[24];
    int bytes = snprintf(prefix, sizeof prefix, "gpu%zu.", gpu);
    memset(out, 0, s->metrics.count * sizeof *out);
    const saved_cell *end, *cell = saved_cells(s, LS_SAVED_RUN, &end);
    for (; cell < end; cell++) {
        if (cell->block == LS_SAVED_TYPE ||
            strncmp(s->blocks.at[cell->block].path, prefix, (size_t)bytes) != 0)
            continue;
        saved_value *total = &out[cell->metric];
        total->present = true;
        if (s->metrics.at[cell->metric].kind == LS_METRIC_KIND_PEAK)
            total->a = fmax(total->a, cell->value.a);
        else
            total->a += cell->value.a;
        total->b += cell->value.b;
    }
}

static void put_gpus(json_writer *j, const saved_results *s, const uint32_t *columns, size_t count,
                     saved_value *room)
{
    size_t gpus = gpu_count(s);
    put_number(j, "gpus", gpus ? (double)gpus : 1);
    if (gpus < 2)
        return;
    json_key(j, "by_gpu");
    json_array(j);
    for (size_t g = 0; g < gpus; g++) {
        gpu_totals(s, g, room);
        put_totals(j, s, room, columns, count);
    }
    json_end(j);
}

/* ----------------------------------------------------------------------------------------------------- facts */

static void put_keys(json_writer *j, const page_result *r)
{
    json_key(j, "config");
    json_array(j);
    for (size_t i = 0; i < r->key_count; i++) {
        const page_key *k = &r->keys[i];
        json_array(j);
        json_string(j, k->key);
        json_string(j, k->value);
        json_string(j, k->unit);
        json_string(j, k->origin);
        json_string(j, k->source);
        json_string(j, k->platform);
        json_string(j, k->base);
        json_end(j);
    }
    json_end(j);
}

static void put_warnings(json_writer *j, const saved_results *s)
{
    json_key(j, "warnings");
    json_array(j);
    for (size_t i = 0; i < s->warnings.count; i++) {
        json_array(j);
        json_string(j, s->warnings.at[i].kind);
        json_string(j, s->warnings.at[i].text);
        json_end(j);
    }
    json_end(j);
}

static void put_buckets(json_writer *j, const saved_results *s)
{
    json_key(j, "buckets");
    json_begin_object(j);
    for (size_t i = 0; i < s->buckets.count; i++) {
        const saved_bucket *b = &s->buckets.at[i];
        if (i == 0 || b->metric != s->buckets.at[i - 1].metric) {
            char name[256];
            snprintf(name, sizeof name, "%s.%s", s->metrics.at[b->metric].type, s->metrics.at[b->metric].name);
            json_key(j, name);
            json_array(j);
        }
        json_array(j);
        page_put_number(j, b->least);
        page_put_number(j, b->count);
        json_end(j);
        if (i + 1 == s->buckets.count || s->buckets.at[i + 1].metric != b->metric)
            json_end(j);
    }
    json_end(j);
}

static void put_facts(json_writer *j, const page_result *r)
{
    const saved_results *s = r->saved;
    json_put_text(j, "label", r->label);
    json_put_text(j, "platform", s->platform);
    json_put_text(j, "lockstep", s->version);
    json_key(j, "partial");
    json_bool(j, s->partial);
    put_number(j, "end_ns", s->end_time_fs / 1e6);
    put_number(j, "cycles", s->cycles);
    json_key(j, "host");
    json_begin_object(j);
    json_put_text(j, "file", s->path);
    json_put_text(j, "command", s->command);
    put_number(j, "wall_seconds", s->host.wall_seconds);
    put_number(j, "threads", s->host.threads);
    put_number(j, "windows", s->host.windows);
    json_end(j);
}

void page_put_result(json_writer *j, const page_result *r)
{
    const saved_results *s = r->saved;
    saved_value *totals = calloc(s->metrics.count + 1, sizeof *totals);
    uint32_t *columns = calloc(s->metrics.count + 1, sizeof *columns);
    if (!totals || !columns) {
        j->misuse = "no memory for a report";
        free(totals);
        free(columns);
        return;
    }
    saved_totals(s, LS_SAVED_RUN, totals);
    size_t count = choose_columns(s, totals, columns);
    json_begin_object(j);
    put_facts(j, r);
    put_warnings(j, s);
    put_declarations(j, s, columns, count);
    json_key(j, "run");
    put_totals(j, s, totals, columns, count);
    put_gpus(j, s, columns, count, totals);
    put_buckets(j, s);
    page_put_findings(j, s);
    page_put_blocks(j, s);
    page_put_kernels(j, s, columns, count);
    page_put_series(j, s);
    page_put_source(j, s);
    put_keys(j, r);
    json_end(j);
    free(totals);
    free(columns);
}
