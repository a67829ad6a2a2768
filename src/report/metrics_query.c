/* metrics_query.c: the registry's reading side: listing, views of one scope, reduction, and the list of
 * untouched metrics.
 *
 * Reads counter structs in place for the run and packed rows for intervals; changes neither. */
#include "base/text.h"
#include "report/metrics_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ listing */

size_t metrics_source_count(const metric_store *m)
{
    return m->sources.count;
}

const metric_source *metrics_source_at(const metric_store *m, size_t source)
{
    return source < m->sources.count ? &m->sources.at[source].decl : NULL;
}

size_t metrics_source_type(const metric_store *m, size_t source)
{
    assert(source < m->sources.count);
    return m->sources.at[source].type;
}

size_t metrics_type_count(const metric_store *m)
{
    return m->types.count;
}

metric_type metrics_type_at(const metric_store *m, size_t type)
{
    assert(type < m->types.count);
    const metrics_type *t = m->types.at[type];
    return (metric_type){ t->name, t->metrics, t->metric_count, t->sources.count };
}

size_t metrics_interval_count(const metric_store *m)
{
    return m->intervals.count;
}

const metric_interval *metrics_interval_at(const metric_store *m, size_t interval)
{
    return interval < m->intervals.count ? &m->intervals.at[interval].decl : NULL;
}

const char *metric_kind_name(ls_metric_kind kind)
{
    static const char *const names[] = { "counter", "peak", "level", "histogram", "ratio" };
    return (size_t)kind < LS_COUNT_OF(names) ? names[kind] : "unknown";
}

const char *metric_unit(const ls_metric *metric)
{
    return metric->unit ? metric->unit : "";
}

const char *metric_help(const ls_metric *metric)
{
    return metric->help ? metric->help : "";
}

size_t metrics_interval_bytes(const metric_store *m)
{
    return m->packed_bytes + m->intervals.capacity * sizeof *m->intervals.at;
}

/* -------------------------------------------------------------------------------------------------- views */

/* Rows of all sources, one after another. Only the active ones are not zero, so a load clears only the rows
 * that the load before it filled. */
struct metric_view {
    const metric_store *m;
    size_t source_count;
    size_t scope;
    bool loaded;
    mem_arena arena;
    uint64_t *words;
    bool *active; /* per source */
};

ls_status metric_view_create(const metric_store *m, metric_view **out, ls_error *err)
{
    metric_view *view = calloc(1, sizeof *view);
    if (view) {
        view->m = m;
        view->source_count = m->sources.count;
        view->words = arena_array(&view->arena, m->words + 1, sizeof *view->words);
        view->active = arena_array(&view->arena, m->sources.count + 1, sizeof *view->active);
    }
    if (!view || !view->words || !view->active) {
        metric_view_destroy(view);
        *out = NULL;
        ls_fail(err, LS_ERR_NOMEM, "no memory left for reading metrics");
        return LS_ERR_NOMEM;
    }
    *out = view;
    return LS_OK;
}

void metric_view_destroy(metric_view *view)
{
    if (!view)
        return;
    arena_fini(&view->arena);
    free(view);
}

static void clear_view(metric_view *view)
{
    view->loaded = false;
    for (size_t i = 0; i < view->source_count; i++) {
        if (!view->active[i])
            continue;
        const metrics_source *s = &view->m->sources.at[i];
        memset(&view->words[s->first_word], 0, view->m->types.at[s->type]->words * sizeof *view->words);
        view->active[i] = false;
    }
}

static ls_status load_run(metric_view *view, ls_error *err)
{
    const metric_store *m = view->m;
    for (size_t i = 0; i < view->source_count; i++) {
        const metrics_source *s = &m->sources.at[i];
        uint64_t *row = &view->words[s->first_word];
        view->active[i] = true; /* until the row is known to be zero: a failed read must be cleared, too */
        ls_status status = metrics_read_row(m, s, METRICS_SCOPE_RUN, row, err);
        if (status != LS_OK)
            return status;
        size_t words = m->types.at[s->type]->words;
        view->active[i] = metrics_next_word(row, 0, words) < words;
    }
    return LS_OK;
}

static void load_interval(metric_view *view, const metrics_interval *interval)
{
    const uint8_t *p = interval->packed, *end = p + interval->packed_bytes;
    for (size_t source = 0; p < end; source++) {
        source += metrics_take_number(&p);
        uint64_t *row = &view->words[view->m->sources.at[source].first_word];
        view->active[source] = true;
        size_t word = 0;
        for (uint64_t count = metrics_take_number(&p); count > 0; count--, word++) {
            word += metrics_take_number(&p);
            row[word] = metrics_take_number(&p);
        }
    }
}

ls_status metric_view_load(metric_view *view, size_t scope, ls_error *err)
{
    const metric_store *m = view->m;
    clear_view(view);
    if (scope == LS_METRICS_RUN) {
        ls_status status = load_run(view, err);
        if (status != LS_OK)
            return status;
    } else {
        if (scope >= m->intervals.count)
            return ls_fail(err, LS_ERR_USAGE, "there is no interval %zu: %zu were recorded", scope,
                           m->intervals.count);
        load_interval(view, &m->intervals.at[scope]);
    }
    view->scope = scope;
    view->loaded = true;
    return LS_OK;
}

bool metric_view_has(const metric_view *view, size_t source)
{
    if (!view->loaded || source >= view->source_count)
        return false;
    if (view->scope == LS_METRICS_RUN)
        return true;
    const metrics_interval *interval = &view->m->intervals.at[view->scope];
    return source < interval->source_count && metrics_takes(&interval->decl, &view->m->sources.at[source]);
}

bool metric_view_active(const metric_view *view, size_t source)
{
    return source < view->source_count && view->active[source];
}

/* ---------------------------------------------------------------------------------------------- reduction */

static void merge_histogram(ls_histogram *into, const uint64_t *row)
{
    uint64_t count = row[METRICS_HIST_COUNT];
    if (count == 0)
        return;
    uint64_t min = row[METRICS_HIST_MIN], max = row[METRICS_HIST_MAX];
    into->min = into->count == 0 || min < into->min ? min : into->min;
    into->max = max > into->max ? max : into->max;
    into->count += count;
    into->sum += row[METRICS_HIST_SUM];
    for (size_t b = 0; b < LS_HISTOGRAM_BUCKETS; b++)
        into->bucket[b] += row[METRICS_HIST_BUCKET + b];
}

/* Adds one source's row to *out. */
static void reduce(const metrics_type *t, size_t metric, const uint64_t *row, metric_value *out)
{
    const uint64_t *field = &row[t->fields[t->field[metric]].word];
    out->is_fine = out->kind == LS_METRIC_KIND_HISTOGRAM && t->metrics[metric].denominator != 0;
    out->sources++;
    out->present = true;
    switch (out->kind) {
    case LS_METRIC_KIND_PEAK:
        out->value = *field > out->value ? *field : out->value;
        break;
    case LS_METRIC_KIND_HISTOGRAM:
        merge_histogram(&out->histogram, field);
        break;
    case LS_METRIC_KIND_RATIO:
        out->value += *field;
        out->denominator += row[t->fields[t->denominator[metric]].word];
        break;
    default:
        out->value += *field;
    }
}

static void finish(metric_value *out)
{
    if (out->kind != LS_METRIC_KIND_RATIO)
        return;
    out->present = out->denominator != 0;
    out->ratio = out->present ? (double)out->value / (double)out->denominator : 0;
}

void metric_view_source(const metric_view *view, size_t source, size_t metric, metric_value *out)
{
    assert(source < view->source_count);
    const metrics_source *s = &view->m->sources.at[source];
    const metrics_type *t = view->m->types.at[s->type];
    assert(metric < t->metric_count);
    *out = (metric_value){ .kind = t->metrics[metric].kind };
    if (metric_view_has(view, source))
        reduce(t, metric, &view->words[s->first_word], out);
    finish(out);
}

/* The commonest case, in a short loop: a run has hundreds of counters of dozens of blocks. */
static void add_counters(const metric_view *view, const metrics_type *t, size_t metric, metric_value *out)
{
    uint32_t word = t->fields[t->field[metric]].word;
    uint64_t sum = 0;
    for (size_t i = 0; i < t->sources.count; i++)
        sum += view->words[view->m->sources.at[t->sources.at[i]].first_word + word];
    out->value = sum;
    out->sources = t->sources.count;
    out->present = t->sources.count > 0;
}

void metric_view_type(const metric_view *view, size_t type, size_t metric, metric_value *out)
{
    assert(type < view->m->types.count);
    const metrics_type *t = view->m->types.at[type];
    assert(metric < t->metric_count);
    *out = (metric_value){ .kind = t->metrics[metric].kind };
    if (view->loaded && view->scope == LS_METRICS_RUN && out->kind == LS_METRIC_KIND_COUNTER)
        add_counters(view, t, metric, out);
    else
        for (size_t i = 0; i < t->sources.count; i++) {
            uint32_t source = t->sources.at[i];
            if (metric_view_has(view, source))
                reduce(t, metric, &view->words[view->m->sources.at[source].first_word], out);
        }
    finish(out);
}

uint64_t metric_percentile(const ls_histogram *h, bool is_fine, double fraction)
{
    if (h->count == 0)
        return 0;
    double wanted = fraction * (double)h->count;
    uint64_t seen = 0;
    for (unsigned b = 0; b < LS_HISTOGRAM_BUCKETS; b++) {
        seen += h->bucket[b];
        if (seen == 0 || (double)seen < wanted)
            continue;
        bool is_last = b + 1 == LS_HISTOGRAM_BUCKETS;
        uint64_t end = is_last ? UINT64_MAX : ls_histogram_least(b + 1, is_fine) - 1;
        return end < h->max ? end : h->max;
    }
    return h->max;
}

/* ---------------------------------------------------------------------------------------------- questions */

static size_t find_metric(const metrics_type *t, const char *name)
{
    for (size_t i = 0; i < t->metric_count; i++) {
        const char *other = t->metrics[i].name;
        if (other[0] == name[0] && strcmp(other, name) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Candidates for "did you mean": all metrics of all types. */
static const char *metric_name_at(const void *self, size_t index)
{
    const metric_store *m = self;
    for (size_t i = 0; i < m->types.count; i++) {
        if (index < m->types.at[i]->metric_count)
            return m->types.at[i]->metrics[index].name;
        index -= m->types.at[i]->metric_count;
    }
    return "";
}

static const char *path_at(const void *self, size_t index)
{
    return ((const metric_store *)self)->sources.at[index].decl.path;
}

static ls_status nothing_found(const metric_store *m, const char *type, const char *path, const char *name,
                               ls_error *err)
{
    size_t metrics = 0, declared = 0;
    for (size_t i = 0; i < m->types.count; i++) {
        metrics += m->types.at[i]->metric_count;
        declared += find_metric(m->types.at[i], name) != SIZE_MAX;
    }
    if (!declared) {
        ls_fail(err, LS_ERR_USAGE, "no block has a metric called '%s'", name);
        return err ? ls_error_nearest(err, nearest_name(name, metrics, metric_name_at, m)) : LS_ERR_USAGE;
    }
    ls_fail(err, LS_ERR_USAGE, "no block of type '%s' matches '%s' and has a metric '%s'", type ? type : "*",
            path ? path : "*", name);
    const char *nearest = path ? nearest_name(path, m->sources.count, path_at, m) : NULL;
    return err ? ls_error_nearest(err, nearest) : LS_ERR_USAGE;
}

/* The registry's own view of an interval. */
static ls_status own_view(metric_store *m, size_t scope, ls_error *err)
{
    if (m->view && m->view->source_count != m->sources.count) {
        metric_view_destroy(m->view);
        m->view = NULL;
    }
    ls_status status = m->view ? LS_OK : metric_view_create(m, &m->view, err);
    if (status != LS_OK)
        return status;
    if (m->view->loaded && m->view->scope == scope)
        return LS_OK;
    return metric_view_load(m->view, scope, err);
}

/* Of the run only the requested metric is read, in place. */
static ls_status reduce_run(metric_store *m, const metrics_type *t, size_t metric, const char *path,
                            metric_value *out, ls_error *err)
{
    for (size_t i = 0; i < t->sources.count; i++) {
        const metrics_source *s = &m->sources.at[t->sources.at[i]];
        if (path && !glob_match(path, s->decl.path))
            continue;
        ls_status status =
            metrics_read_field(s, &t->fields[t->field[metric]], METRICS_SCOPE_RUN, m->row.at, err);
        if (status == LS_OK && out->kind == LS_METRIC_KIND_RATIO)
            status =
                metrics_read_field(s, &t->fields[t->denominator[metric]], METRICS_SCOPE_RUN, m->row.at, err);
        if (status != LS_OK)
            return status;
        reduce(t, metric, m->row.at, out);
    }
    return LS_OK;
}

static void reduce_interval(const metric_store *m, const metrics_type *t, size_t metric, const char *path,
                            metric_value *out)
{
    for (size_t i = 0; i < t->sources.count; i++) {
        uint32_t source = t->sources.at[i];
        const metrics_source *s = &m->sources.at[source];
        if ((!path || glob_match(path, s->decl.path)) && metric_view_has(m->view, source))
            reduce(t, metric, &m->view->words[s->first_word], out);
    }
}

static bool any_path(const metric_store *m, const metrics_type *t, const char *path)
{
    for (size_t i = 0; i < t->sources.count; i++)
        if (glob_match(path, m->sources.at[t->sources.at[i]].decl.path))
            return true;
    return false;
}

ls_status metrics_get(metric_store *m, size_t scope, const char *type, const char *path, const char *name,
                      metric_value *out, ls_error *err)
{
    *out = (metric_value){ 0 };
    ls_status status = scope == LS_METRICS_RUN ? LS_OK : own_view(m, scope, err);
    const metrics_type *first = NULL;
    const ls_metric *first_metric = NULL;
    for (size_t i = 0; i < m->types.count && status == LS_OK; i++) {
        const metrics_type *t = m->types.at[i];
        size_t metric = !type || glob_match(type, t->name) ? find_metric(t, name) : SIZE_MAX;
        if (metric == SIZE_MAX || (path && !any_path(m, t, path)))
            continue;
        const ls_metric *declared = &t->metrics[metric];
        if (!first) {
            first = t;
            first_metric = declared;
            out->kind = declared->kind;
        } else if (declared->kind != first_metric->kind ||
                   strcmp(metric_unit(declared), metric_unit(first_metric)) != 0) {
            *out = (metric_value){ 0 };
            return ls_fail(err, LS_ERR_USAGE, "'%s' is a %s (%s) in '%s' but a %s (%s) in '%s': name one type",
                           name, metric_kind_name(first_metric->kind), metric_unit(first_metric), first->name,
                           metric_kind_name(declared->kind), metric_unit(declared), t->name);
        }
        if (scope == LS_METRICS_RUN)
            status = reduce_run(m, t, metric, path, out, err);
        else
            reduce_interval(m, t, metric, path, out);
    }
    if (status != LS_OK)
        return status;
    if (!first)
        return nothing_found(m, type, path, name, err);
    finish(out);
    return LS_OK;
}

/* ---------------------------------------------------------------------------------------------- untouched */

static bool field_touched(const metric_store *m, const metrics_type *t, const metrics_field *f)
{
    if (f->touched)
        return true;
    for (size_t i = 0; i < t->sources.count; i++) {
        const metrics_source *s = &m->sources.at[t->sources.at[i]];
        const void *at = (const char *)s->decl.counters + f->offset;
        uint64_t now = *(const uint64_t *)at; /* of a histogram: its count */
        if (f->kind == LS_METRIC_KIND_PEAK && s->last[f->word] > now)
            now = s->last[f->word];
        if (now != (s->initial ? s->initial[f->word] : 0))
            return true;
    }
    return false;
}

size_t metrics_untouched(const metric_store *m, metric_untouched *out, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < m->types.count; i++) {
        const metrics_type *t = m->types.at[i];
        for (size_t k = 0; k < t->metric_count; k++) {
            bool touched = field_touched(m, t, &t->fields[t->field[k]]);
            if (!touched && t->metrics[k].kind == LS_METRIC_KIND_RATIO)
                touched = field_touched(m, t, &t->fields[t->denominator[k]]);
            if (touched)
                continue;
            if (count < capacity)
                out[count] = (metric_untouched){ .type = i, .metric = k };
            count++;
        }
    }
    return count;
}
