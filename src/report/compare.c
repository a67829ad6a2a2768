/* compare.c: two runs side by side. */
#include "report/compare.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDED 1e-8 /* a difference that rounding to nine digits can make */

typedef struct pair { /* kernels that belong together, as scopes; LS_SAVED_RUN twice for the run */
    uint32_t a, b;
} pair;

typedef struct comparing {
    const saved_results *a, *b;
    const compare_options *options;
    result_diff *out;
    LS_VEC(pair) pairs;
    bool metric_seen, kernel_seen;
    saved_value *totals_a, *totals_b;
} comparing;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the comparison");
}

double compare_difference(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : 1;
    double largest = fmax(fabs(a), fabs(b));
    return largest > 0 ? fabs(a - b) / largest : 0;
}

/* ------------------------------------------------------------------------------------------ configuration */

static ls_status read_keys(mem_arena *arena, const char *text, string_map *keys, ls_error *err)
{
    while (*text) {
        size_t line = strcspn(text, "\n");
        const char *colon = memchr(text, ':', line);
        if (colon && *text != '#') {
            const char *value = colon + 1 + strspn(colon + 1, " ");
            const char *copy = value < text + line ? arena_strndup(arena, value, (size_t)(text + line - value))
                                                   : arena_strdup(arena, "");
            if (!copy || !map_putn(keys, text, (size_t)(colon - text), (void *)(uintptr_t)copy))
                return no_memory(err);
        }
        text += line + (text[line] == '\n');
    }
    return LS_OK;
}

static ls_status add_key(result_diff *out, const char *key, const char *a, const char *b, ls_error *err)
{
    compare_key row = { .key = arena_strdup(&out->arena, key), .a = a, .b = b };
    return row.key && vec_push(&out->keys, row) ? LS_OK : no_memory(err);
}

static ls_status compare_keys(comparing *c, ls_error *err)
{
    string_map a = { 0 }, b = { 0 };
    ls_status status = read_keys(&c->out->arena, c->a->config_text, &a, err);
    if (status == LS_OK)
        status = read_keys(&c->out->arena, c->b->config_text, &b, err);
    /* Without one of the two there is nothing to say, least of all that every key is missing. */
    bool both = c->a->config_text[0] && c->b->config_text[0];
    for (size_t i = 0; both && i < a.count && status == LS_OK; i++) {
        const char *other = map_get(&b, a.entries[i].key);
        if (!other || strcmp(other, a.entries[i].value) != 0)
            status = add_key(c->out, a.entries[i].key, a.entries[i].value, other, err);
    }
    for (size_t i = 0; both && i < b.count && status == LS_OK; i++)
        if (!map_has(&a, b.entries[i].key))
            status = add_key(c->out, b.entries[i].key, NULL, b.entries[i].value, err);
    map_fini(&a);
    map_fini(&b);
    return status;
}

/* ------------------------------------------------------------------------------------------------ kernels */

static bool kernel_wanted(const comparing *c, const saved_kernel *kernel)
{
    const char *pattern = c->options->kernel;
    uint64_t id;
    if (!pattern || glob_match(pattern, kernel->name))
        return true;
    return parse_u64(pattern, strlen(pattern), &id, NULL) == LS_OK && id == kernel->id;
}

/* The n-th kernel of a name belongs to the n-th of the same name. */
static ls_status pair_kernels(comparing *c, ls_error *err)
{
    const saved_results *a = c->a, *b = c->b;
    string_map next = { 0 }; /* name -> first kernel of b that may still be taken, + 1 */
    ls_status status = LS_OK;
    size_t taken = 0;
    if (!c->options->kernel && !vec_push(&c->pairs, ((pair){ LS_SAVED_RUN, LS_SAVED_RUN })))
        status = no_memory(err);
    for (size_t i = 0; i < a->kernels.count && status == LS_OK; i++) {
        const char *name = a->kernels.at[i].name;
        size_t j = (size_t)(uintptr_t)map_get(&next, name);
        while (j < b->kernels.count && strcmp(b->kernels.at[j].name, name) != 0)
            j++;
        if (!map_put(&next, name, (void *)(uintptr_t)(j + 1)))
            status = no_memory(err);
        else if (j >= b->kernels.count)
            c->out->only_a++;
        else {
            taken++;
            if (kernel_wanted(c, &a->kernels.at[i])) {
                c->kernel_seen = true;
                if (!vec_push(&c->pairs, ((pair){ (uint32_t)i + 1, (uint32_t)j + 1 })))
                    status = no_memory(err);
            }
        }
    }
    c->out->only_b = b->kernels.count - taken;
    map_fini(&next);
    return status;
}

static const char *kernel_name_at(const void *self, size_t i)
{
    return ((const saved_results *)self)->kernels.at[i].name;
}

static ls_status compare_times(comparing *c, ls_error *err)
{
    for (size_t i = 0; i < c->pairs.count; i++) {
        pair p = c->pairs.at[i];
        compare_row row = { .kernel_name = "", .type = "run", .name = "time", .unit = "ns" };
        if (p.a == LS_SAVED_RUN) {
            row.a = c->a->end_time_fs * 1e-6;
            row.b = c->b->end_time_fs * 1e-6;
        } else {
            const saved_kernel *a = &c->a->kernels.at[p.a - 1], *b = &c->b->kernels.at[p.b - 1];
            row.kernel = a->id;
            row.kernel_name = a->name;
            row.a = (a->end_fs - a->begin_fs) * 1e-6;
            row.b = (b->end_fs - b->begin_fs) * 1e-6;
        }
        row.difference = compare_difference(row.a, row.b);
        if (!vec_push(&c->out->times, row))
            return no_memory(err);
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ metrics */

static bool metric_wanted(comparing *c, const saved_metric_entry *metric)
{
    const char *pattern = c->options->metric;
    bool wanted = !pattern || saved_metric_is(metric, pattern);
    c->metric_seen = c->metric_seen || wanted;
    return wanted;
}

static const char *metric_name_at(const void *self, size_t i)
{
    return ((const saved_results *)self)->metrics.at[i].name;
}

/* For each metric of a its index in b, or SIZE_MAX. Types are matched by their slot, so that metrics of two
 * models of one slot are compared. */
static size_t find_metric(const saved_results *in, const saved_metric_entry *metric)
{
    size_t slot = strcspn(metric->type, "/");
    size_t near = SIZE_MAX;
    for (size_t i = 0; i < in->metrics.count; i++) {
        const saved_metric_entry *m = &in->metrics.at[i];
        bool same_kind = m->kind == metric->kind || m->kind_is_unknown || metric->kind_is_unknown;
        if (strcmp(m->name, metric->name) != 0 || !same_kind)
            continue;
        if (strcmp(m->type, metric->type) == 0)
            return i;
        if (near == SIZE_MAX && strcspn(m->type, "/") == slot && strncmp(m->type, metric->type, slot) == 0)
            near = i;
    }
    return near;
}

static ls_status add_row(comparing *c, uint32_t scope, const char *block, const saved_metric_entry *metric,
                         double a, double b, ls_error *err)
{
    c->out->compared++;
    compare_row row = { .kernel_name = "",
                        .block = block,
                        .type = metric->type,
                        .name = metric->name,
                        .unit = metric->unit,
                        .a = a,
                        .b = b,
                        .difference = compare_difference(a, b) };
    if (row.difference <= c->options->threshold)
        return LS_OK;
    if (scope != LS_SAVED_RUN) {
        row.kernel = c->a->kernels.at[scope - 1].id;
        row.kernel_name = c->a->kernels.at[scope - 1].name;
    }
    return vec_push(&c->out->rows, row) ? LS_OK : no_memory(err);
}

/* A zero of a kernel may be left out of a file. known: the same metric, of the side that knows its kind. */
static double number_or_zero(const saved_metric_entry *metric, const saved_metric_entry *known,
                             const saved_value *value, uint32_t scope)
{
    bool counted = !known->kind_is_unknown && known->kind != LS_METRIC_KIND_RATIO &&
                   known->kind != LS_METRIC_KIND_HISTOGRAM;
    if (!value->present && scope != LS_SAVED_RUN && counted)
        return 0;
    return saved_value_number(metric->kind, value);
}

/* Both sides of one metric; right is NULL if only the left side has it. */
static ls_status compare_values(comparing *c, pair p, const char *block, const saved_metric_entry *left,
                                const saved_value *a, const saved_metric_entry *right, const saved_value *b,
                                ls_error *err)
{
    static const saved_value none = { 0 };
    const saved_metric_entry *known = left->kind_is_unknown && right ? right : left;
    double x = number_or_zero(left, known, a ? a : &none, p.a);
    double y = right ? number_or_zero(right, known, b ? b : &none, p.b) : NAN;
    /* Some files have ratios of kernels with nine digits. */
    if (p.a != LS_SAVED_RUN && known->kind == LS_METRIC_KIND_RATIO && compare_difference(x, y) < ROUNDED)
        y = x;
    return add_row(c, p.a, block, left, x, y, err);
}

static const saved_metric_entry *metric_at(const saved_results *in, size_t index)
{
    return index == SIZE_MAX ? NULL : &in->metrics.at[index];
}

static ls_status compare_totals(comparing *c, const size_t *match, pair p, ls_error *err)
{
    saved_totals(c->a, p.a, c->totals_a);
    saved_totals(c->b, p.b, c->totals_b);
    ls_status status = LS_OK;
    for (size_t i = 0; i < c->a->metrics.count && status == LS_OK; i++) {
        const saved_metric_entry *metric = &c->a->metrics.at[i];
        if (metric_wanted(c, metric))
            status = compare_values(c, p, NULL, metric, &c->totals_a[i], metric_at(c->b, match[i]),
                                    match[i] == SIZE_MAX ? NULL : &c->totals_b[match[i]], err);
    }
    return status;
}

static ls_status need_blocks(const saved_results *in, uint32_t scope, ls_error *err)
{
    if (saved_has_blocks(in, scope) || in->metrics.count == 0)
        return LS_OK;
    ls_fail(err, LS_ERR_USAGE, "the file has no values of single blocks here: %s",
            scope == LS_SAVED_RUN ? "CSV with a row per kernel never has; use .json, .db or .tidy.csv"
                                  : "`lockstep run --per-block` writes those of each kernel");
    return ls_error_at(err, in->path, 0, 0);
}

static ls_status compare_blocks(comparing *c, const size_t *match, pair p, ls_error *err)
{
    ls_status status = need_blocks(c->a, p.a, err);
    if (status == LS_OK)
        status = need_blocks(c->b, p.b, err);
    const saved_cell *end, *cell = saved_cells(c->a, p.a, &end);
    for (; cell < end && status == LS_OK; cell++) {
        const saved_metric_entry *metric = &c->a->metrics.at[cell->metric];
        if (cell->block == LS_SAVED_TYPE || !metric_wanted(c, metric))
            continue;
        const char *path = c->a->blocks.at[cell->block].path;
        size_t other = match[cell->metric], block = (size_t)(uintptr_t)map_get(&c->b->block_index, path);
        const saved_value *b =
            other != SIZE_MAX && block ? saved_find(c->b, p.b, (uint32_t)block - 1, (uint32_t)other) : NULL;
        status = compare_values(c, p, path, metric, &cell->value, metric_at(c->b, other), b, err);
    }
    return status;
}

static double magnitude(const compare_row *row)
{
    return fmax(isnan(row->a) ? 0 : fabs(row->a), isnan(row->b) ? 0 : fabs(row->b));
}

static int larger_first(const void *left, const void *right)
{
    const compare_row *l = left, *r = right;
    if (l->difference != r->difference)
        return l->difference > r->difference ? -1 : 1;
    double a = magnitude(l), b = magnitude(r);
    if (a != b)
        return a > b ? -1 : 1;
    if (l->kernel != r->kernel)
        return l->kernel < r->kernel ? -1 : 1;
    int order = strcmp(l->type, r->type);
    if (order == 0)
        order = strcmp(l->name, r->name);
    if (order == 0 && l->block && r->block)
        order = strcmp(l->block, r->block);
    return order;
}

static ls_status compare_metrics(comparing *c, ls_error *err)
{
    mem_arena *arena = &c->out->arena;
    size_t *match = arena_array(arena, c->a->metrics.count + 1, sizeof *match);
    c->totals_a = arena_array(arena, c->a->metrics.count + 1, sizeof *c->totals_a);
    c->totals_b = arena_array(arena, c->b->metrics.count + 1, sizeof *c->totals_b);
    if (!match || !c->totals_a || !c->totals_b)
        return no_memory(err);
    for (size_t i = 0; i < c->a->metrics.count; i++)
        match[i] = find_metric(c->b, &c->a->metrics.at[i]);
    ls_status status = LS_OK;
    for (size_t i = 0; i < c->pairs.count && status == LS_OK; i++) {
        if (!c->options->kernel && c->pairs.at[i].a != LS_SAVED_RUN)
            continue;
        status = c->options->per_block ? compare_blocks(c, match, c->pairs.at[i], err)
                                       : compare_totals(c, match, c->pairs.at[i], err);
    }
    if (status == LS_OK && c->out->rows.count)
        qsort(c->out->rows.at, c->out->rows.count, sizeof *c->out->rows.at, larger_first);
    return status;
}

ls_status compare_runs(const saved_results *a, const saved_results *b, const compare_options *options,
                       result_diff *out, ls_error *err)
{
    *out = (result_diff){ 0 };
    comparing c = { .a = a, .b = b, .options = options, .out = out };
    ls_status status = compare_keys(&c, err);
    if (status == LS_OK)
        status = pair_kernels(&c, err);
    if (status == LS_OK && options->kernel && !c.kernel_seen) {
        ls_fail(err, LS_ERR_USAGE, "no kernel that both runs have is called '%s'", options->kernel);
        status = ls_error_nearest(err, nearest_name(options->kernel, a->kernels.count, kernel_name_at, a));
    }
    if (status == LS_OK)
        status = compare_times(&c, err);
    if (status == LS_OK)
        status = compare_metrics(&c, err);
    if (status == LS_OK && options->metric && !c.metric_seen) {
        ls_fail(err, LS_ERR_USAGE, "no metric is called '%s'", options->metric);
        status = ls_error_nearest(err, nearest_name(options->metric, a->metrics.count, metric_name_at, a));
    }
    vec_fini(&c.pairs);
    if (status != LS_OK)
        compare_fini(out);
    return status;
}

void compare_fini(result_diff *compare)
{
    vec_fini(&compare->rows);
    vec_fini(&compare->times);
    vec_fini(&compare->keys);
    arena_fini(&compare->arena);
}
