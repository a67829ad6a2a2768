/* page_kernels.c: kernels, values of single blocks and metrics over time as data of a report. Kernels are columns, because
 * arrays of numbers are smaller than objects. */
#include "report/page/page.h"

#include "base/demangle.h"
#include "base/map.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------- kernels */

static double ns_of(const saved_kernel *k)
{
    return (k->end_fs - k->begin_fs) / 1e6;
}

/* Names are stored once; kernels have their index. */
static void put_names(json_writer *j, const saved_results *s)
{
    string_map known = { 0 };
    size_t count = 0;
    uint32_t *index = calloc(s->kernels.count + 1, sizeof *index);
    json_key(j, "names");
    json_array(j);
    for (size_t k = 0; index && k < s->kernels.count; k++) {
        const char *name = s->kernels.at[k].name;
        uintptr_t found = (uintptr_t)map_get(&known, name);
        if (!found) {
            found = ++count;
            if (!map_put(&known, name, (void *)found))
                j->misuse = "no memory for a report";
            char plain[512];
            (void)demangle(name, false, plain, sizeof plain); /* a name that it does not know stays as it is */
            json_string(j, plain);
        }
        index[k] = (uint32_t)found - 1;
    }
    json_end(j);
    json_key(j, "name");
    json_array(j);
    for (size_t k = 0; index && k < s->kernels.count; k++)
        json_u64(j, index[k]);
    json_end(j);
    if (!index)
        j->misuse = "no memory for a report";
    free(index);
    map_fini(&known);
}

static double id_at(const saved_kernel *k)
{
    return (double)k->id;
}
static double gpu_at(const saved_kernel *k)
{
    return k->gpu;
}
static double stream_at(const saved_kernel *k)
{
    return k->stream;
}
static double begin_at(const saved_kernel *k)
{
    return k->begin_fs / 1e6;
}
static double cycles_at(const saved_kernel *k)
{
    return k->cycles;
}
static double side_at(const saved_kernel *k)
{
    return k->shared ? 2 : k->overlapped;
}

static void put_labels(json_writer *j, const saved_results *s)
{
    static const struct {
        const char *name;
        double (*of)(const saved_kernel *k);
    } labels[] = { { "id", id_at },          { "gpu", gpu_at },       { "stream", stream_at },
                   { "begin_ns", begin_at }, { "cycles", cycles_at }, { "ns", ns_of },
                   { "side", side_at } };
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        json_key(j, labels[i].name);
        json_array(j);
        for (size_t k = 0; k < s->kernels.count; k++)
            page_put_number(j, labels[i].of(&s->kernels.at[k]));
        json_end(j);
    }
}

typedef struct length {
    double ns;
    uint32_t kernel;
} length;

static int longest_first(const void *left, const void *right)
{
    const length *l = left, *r = right;
    if (l->ns != r->ns)
        return l->ns > r->ns ? -1 : 1;
    return l->kernel < r->kernel ? -1 : l->kernel > r->kernel;
}

/* Marks the longest kernels; false without memory. */
static bool choose_kernels(const saved_results *s, bool *chosen)
{
    length *all = calloc(s->kernels.count + 1, sizeof *all);
    if (!all)
        return false;
    for (uint32_t k = 0; k < s->kernels.count; k++)
        all[k] = (length){ ns_of(&s->kernels.at[k]), k };
    qsort(all, s->kernels.count, sizeof *all, longest_first);
    for (size_t i = 0; i < s->kernels.count && i < PAGE_DETAILED_KERNELS; i++)
        chosen[all[i].kernel] = true;
    free(all);
    return true;
}

static bool type_has_value(const saved_value *values, const uint32_t *columns, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (values[columns[i]].present && values[columns[i]].a != 0)
            return true;
    return false;
}

/* An array of numbers per type; zeros at its end are left out. */
static void put_type(json_writer *j, const saved_results *s, const saved_value *values,
                     const uint32_t *columns, size_t from, size_t end)
{
    while (end > from && (!values[columns[end - 1]].present || values[columns[end - 1]].a == 0))
        end--;
    json_key(j, s->metrics.at[columns[from]].type);
    json_array(j);
    for (size_t i = from; i < end; i++) {
        const saved_value *v = &values[columns[i]];
        double number = saved_value_number(s->metrics.at[columns[i]].kind, v);
        page_put_number(j, v->present && !isnan(number) ? number : 0);
    }
    json_end(j);
}

static void put_values(json_writer *j, const saved_results *s, const saved_value *values,
                       const uint32_t *columns, size_t count)
{
    json_begin_object(j);
    for (size_t i = 0, end; i < count; i = end) {
        const char *type = s->metrics.at[columns[i]].type;
        for (end = i; end < count && strcmp(s->metrics.at[columns[end]].type, type) == 0;)
            end++;
        if (type_has_value(values, columns, i, end))
            put_type(j, s, values, columns, i, end);
    }
    json_end(j);
}

void page_put_kernels(json_writer *j, const saved_results *s, const uint32_t *columns, size_t column_count)
{
    saved_value *values = calloc(s->metrics.count + 1, sizeof *values);
    bool *chosen = calloc(s->kernels.count + 1, sizeof *chosen);
    if (!values || !chosen || !choose_kernels(s, chosen))
        j->misuse = "no memory for a report";
    json_key(j, "kernels");
    json_begin_object(j);
    put_names(j, s);
    put_labels(j, s);
    json_key(j, "values");
    json_array(j);
    for (uint32_t k = 0; values && chosen && k < s->kernels.count; k++) {
        if (!chosen[k]) {
            json_null(j);
            continue;
        }
        saved_totals(s, k + 1, values);
        put_values(j, s, values, columns, column_count);
    }
    json_end(j);
    json_end(j);
    free(values);
    free(chosen);
}

/* ---------------------------------------------------------------------------------------------------- blocks */

/* Whether page_blocks.def lists the metric. */
static bool is_shown(const saved_metric_entry *m)
{
    static const struct {
        const char *family, *metric;
    } rows[] = {
#define BLOCK_METRIC(family_, metric_) { family_, metric_ },
#include "report/page/page_blocks.def"
#undef BLOCK_METRIC
    };
    char family[128];
    snprintf(family, sizeof family, "%.*s", (int)strcspn(m->type, "/"), m->type);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (glob_match(rows[i].family, family) && glob_match(rows[i].metric, m->name))
            return true;
    return false;
}

/* The blocks that have a value of a metric, which are those of its type; ends with LS_SAVED_TYPE. */
static size_t blocks_of(const saved_results *s, uint32_t metric, uint32_t *out)
{
    size_t count = 0;
    const saved_cell *end, *cell = saved_cells(s, LS_SAVED_RUN, &end);
    for (; cell < end; cell++)
        if (cell->metric == metric && cell->block != LS_SAVED_TYPE)
            out[count++] = cell->block;
    return count;
}

static void put_block_values(json_writer *j, const saved_results *s, uint32_t metric, const uint32_t *blocks,
                             size_t count)
{
    json_key(j, s->metrics.at[metric].name);
    json_array(j);
    for (size_t b = 0; b < count; b++) {
        const saved_value *v = saved_find(s, LS_SAVED_RUN, blocks[b], metric);
        page_put_number(j, v ? saved_value_number(s->metrics.at[metric].kind, v) : 0);
    }
    json_end(j);
}

static bool any_value(const saved_results *s, uint32_t metric, const uint32_t *blocks, size_t count)
{
    for (size_t b = 0; b < count; b++) {
        const saved_value *v = saved_find(s, LS_SAVED_RUN, blocks[b], metric);
        if (v && v->a != 0)
            return true;
    }
    return false;
}

/* The shown metrics of one type, from the first to before end. */
static void put_block_type(json_writer *j, const saved_results *s, uint32_t first, uint32_t end,
                           uint32_t *blocks)
{
    size_t count = blocks_of(s, first, blocks);
    if (count == 0)
        return;
    json_key(j, s->metrics.at[first].type);
    json_begin_object(j);
    json_key(j, "paths");
    json_array(j);
    for (size_t b = 0; b < count; b++)
        json_string(j, s->blocks.at[blocks[b]].path);
    json_end(j);
    for (uint32_t m = first; m < end; m++)
        if (strcmp(s->metrics.at[m].type, s->metrics.at[first].type) == 0 && is_shown(&s->metrics.at[m]) &&
            any_value(s, m, blocks, count))
            put_block_values(j, s, m, blocks, count);
    json_end(j);
}

void page_put_blocks(json_writer *j, const saved_results *s)
{
    uint32_t *blocks = calloc(s->blocks.count + 1, sizeof *blocks);
    string_map done = { 0 };
    json_key(j, "blocks");
    json_begin_object(j);
    for (uint32_t m = 0; blocks && m < s->metrics.count; m++) {
        const char *type = s->metrics.at[m].type;
        if (!is_shown(&s->metrics.at[m]) || map_get(&done, type))
            continue;
        put_block_type(j, s, m, (uint32_t)s->metrics.count, blocks);
        if (!map_put(&done, type, blocks))
            j->misuse = "no memory for a report";
    }
    json_end(j);
    if (!blocks)
        j->misuse = "no memory for a report";
    free(blocks);
    map_fini(&done);
}

/* ---------------------------------------------------------------------------------------------------- series */

static ls_metric_kind kind_of(const saved_results *s, const saved_series *c)
{
    for (size_t m = 0; m < s->metrics.count; m++)
        if (strcmp(s->metrics.at[m].name, c->name) == 0 && strcmp(s->metrics.at[m].type, c->type) == 0)
            return s->metrics.at[m].kind;
    return LS_METRIC_KIND_COUNTER;
}

/* A counter is the sum of its intervals, a ratio their mean, a level the last of them. */
static double merged(ls_metric_kind kind, const double *values, size_t count)
{
    double sum = 0, last = NAN;
    size_t present = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i])) {
            sum += last = values[i];
            present++;
        }
    if (kind == LS_METRIC_KIND_RATIO)
        return present ? sum / (double)present : NAN;
    return kind == LS_METRIC_KIND_COUNTER && present ? sum : last;
}

static bool has_values(const saved_series *c, size_t intervals)
{
    for (size_t i = 0; i < intervals; i++)
        if (!isnan(c->values[i]) && c->values[i] != 0)
            return true;
    return false;
}

void page_put_series(json_writer *j, const saved_results *s)
{
    size_t step = 1;
    if (s->series_intervals == 0)
        return;
    while ((s->series_intervals + step - 1) / step > PAGE_INTERVALS)
        step *= 2;
    json_key(j, "series");
    json_begin_object(j);
    json_key(j, "every_ns");
    page_put_number(j, s->series_every_fs * (double)step / 1e6);
    json_key(j, "columns");
    json_array(j);
    for (size_t c = 0; c < s->series.count; c++) {
        const saved_series *column = &s->series.at[c];
        if (!has_values(column, s->series_intervals))
            continue;
        json_begin_object(j);
        json_key(j, "gpu");
        json_i64(j, column->gpu);
        json_put_text(j, "type", column->type);
        json_put_text(j, "name", column->name);
        json_put_text(j, "unit", column->unit);
        json_key(j, "values");
        json_array(j);
        ls_metric_kind kind = kind_of(s, column);
        for (size_t i = 0; i < s->series_intervals; i += step) {
            size_t left = s->series_intervals - i;
            page_put_number(j, merged(kind, &column->values[i], left < step ? left : step));
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}
