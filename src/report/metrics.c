/* metrics.c: the registry of sources: their declarations, checked, and the layout of their rows. Marks are in
 * metrics_mark.c. */
#include "report/metrics_impl.h"

#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for metrics");
}

ls_status metrics_create(metric_store **out, ls_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out ? LS_OK : no_memory(err);
}

void metrics_destroy(metric_store *m)
{
    if (!m)
        return;
    metric_view_destroy(m->view);
    for (size_t i = 0; i < m->intervals.count; i++)
        free(m->intervals.at[i].packed);
    for (size_t i = 0; i < m->types.count; i++)
        vec_fini(&m->types.at[i]->sources);
    vec_fini(&m->types);
    vec_fini(&m->sources);
    vec_fini(&m->intervals);
    vec_fini(&m->scratch);
    vec_fini(&m->row);
    map_fini(&m->paths);
    arena_fini(&m->arena);
    free(m);
}

/* ------------------------------------------------------------------------------------------- declarations */

static size_t field_bytes(ls_metric_kind kind)
{
    return kind == LS_METRIC_KIND_HISTOGRAM ? sizeof(ls_histogram) : sizeof(uint64_t);
}

/* The field that holds the byte at `offset`, or SIZE_MAX. */
static size_t field_at(const metrics_type *t, uint32_t offset)
{
    for (size_t i = 0; i < t->field_count; i++) {
        const metrics_field *f = &t->fields[i];
        if (offset >= f->offset && offset - f->offset < field_bytes(f->kind))
            return i;
    }
    return SIZE_MAX;
}

static ls_status check_place(const metric_source *s, const ls_metric *metric, uint32_t offset,
                             const char *part, ls_error *err)
{
    size_t bytes = field_bytes(metric->kind);
    if (offset > s->counters_size || bytes > s->counters_size - offset)
        return ls_fail(err, LS_ERR_INTERNAL,
                       "metric '%s' of '%s': the %s lies outside the counters (offset %u, %zu bytes, of %zu)",
                       metric->name, s->type, part, offset, bytes, s->counters_size);
    if (((uintptr_t)s->counters + offset) % sizeof(uint64_t) != 0)
        return ls_fail(err, LS_ERR_INTERNAL, "metric '%s' of '%s': the %s is not a 64-bit field (offset %u)",
                       metric->name, s->type, part, offset);
    return LS_OK;
}

/* Whether an earlier metric of the table has the name of metric i. The set has a bit for each hash that was seen: most
 * names need no comparison. */
static bool stands_twice(const metric_source *s, size_t i, uint64_t seen[16])
{
    const char *name = s->metrics[i].name;
    unsigned hash = 0;
    for (const char *c = name; *c; c++)
        hash = hash * 31 + (unsigned char)*c;
    uint64_t *word = &seen[hash / 64 % 16], bit = UINT64_C(1) << hash % 64;
    bool maybe = (*word & bit) != 0;
    *word |= bit;
    for (size_t j = 0; j < i && maybe; j++)
        if (strcmp(s->metrics[j].name, name) == 0)
            return true;
    return false;
}

static ls_status check_table(const metric_source *s, ls_error *err)
{
    uint64_t seen[16] = { 0 };
    for (size_t i = 0; i < s->metric_count; i++) {
        const ls_metric *metric = &s->metrics[i];
        if (!metric->name || !metric->name[0])
            return ls_fail(err, LS_ERR_INTERNAL, "metric %zu of '%s' has no name", i, s->type);
        if ((unsigned)metric->kind > LS_METRIC_KIND_RATIO)
            return ls_fail(err, LS_ERR_INTERNAL, "metric '%s' of '%s' has no known kind (%u)", metric->name,
                           s->type, (unsigned)metric->kind);
        if (stands_twice(s, i, seen))
            return ls_fail(err, LS_ERR_INTERNAL, "'%s' declares metric '%s' twice", s->type, metric->name);
        bool ratio = metric->kind == LS_METRIC_KIND_RATIO;
        ls_status status = check_place(s, metric, metric->offset, ratio ? "numerator" : "field", err);
        if (status == LS_OK && ratio)
            status = check_place(s, metric, metric->denominator, "denominator", err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* Blocks share the tables of their types: each is checked once, with the first of them. */
static bool checked_before(const metric_store *m, const metric_source *s)
{
    for (size_t i = 0; i < m->types.count; i++) {
        const metrics_type *t = m->types.at[i];
        /* Types of the same kind of block in several slots share one table. */
        if (t->metrics != s->metrics || t->sources.count == 0 || strcmp(t->name, s->type) != 0)
            continue;
        const metric_source *first = &m->sources.at[t->sources.at[0]].decl;
        return first->metric_count == s->metric_count && first->counters_size == s->counters_size &&
               (uintptr_t)first->counters % sizeof(uint64_t) == (uintptr_t)s->counters % sizeof(uint64_t);
    }
    return false;
}

static uint32_t push_field(metrics_type *t, uint32_t offset, ls_metric_kind kind, const char *name)
{
    t->fields[t->field_count] =
        (metrics_field){ .offset = offset, .word = (uint32_t)t->words, .kind = kind, .name = name };
    t->words += field_bytes(kind) / sizeof(uint64_t);
    return (uint32_t)t->field_count++;
}

/* A ratio's operand is a counter of its own, one declared by another metric, or a part of a histogram that
 * adds up (count, sum, a bucket): "wait.sum" over "wait.count" is a mean. */
static ls_status operand_field(metrics_type *t, const ls_metric *metric, uint32_t offset, uint32_t *out,
                               ls_error *err)
{
    for (size_t i = 0; i < t->field_count; i++)
        if (t->fields[i].offset == offset && t->fields[i].kind == LS_METRIC_KIND_COUNTER) {
            *out = (uint32_t)i;
            return LS_OK;
        }
    size_t i = field_at(t, offset);
    if (i != SIZE_MAX) {
        const metrics_field *f = &t->fields[i];
        size_t word = (offset - f->offset) / sizeof(uint64_t);
        bool histogram = f->kind == LS_METRIC_KIND_HISTOGRAM;
        if (!histogram || word == METRICS_HIST_MIN || word == METRICS_HIST_MAX)
            return ls_fail(err, LS_ERR_INTERNAL, "ratio '%s' of '%s' needs counters, but '%s' is a %s",
                           metric->name, t->name, f->name,
                           histogram ? "histogram's min or max" : metric_kind_name(f->kind));
    }
    *out = push_field(t, offset, LS_METRIC_KIND_COUNTER, metric->name);
    return LS_OK;
}

/* The field that has a byte of the metric's; `end` is where the last field ends. Most tables are in order. */
static size_t overlap(const metrics_type *t, const ls_metric *metric, size_t end)
{
    if (metric->offset >= end)
        return SIZE_MAX;
    size_t behind = metric->offset + field_bytes(metric->kind);
    for (size_t i = 0; i < t->field_count; i++) {
        const metrics_field *f = &t->fields[i];
        if (f->offset < behind && metric->offset < f->offset + field_bytes(f->kind))
            return i;
    }
    return SIZE_MAX;
}

static ls_status build_fields(metrics_type *t, ls_error *err)
{
    size_t end = 0;
    for (size_t i = 0; i < t->metric_count; i++) {
        const ls_metric *metric = &t->metrics[i];
        if (metric->kind == LS_METRIC_KIND_RATIO)
            continue;
        size_t other = overlap(t, metric, end);
        if (other != SIZE_MAX)
            return ls_fail(err, LS_ERR_INTERNAL, "metrics '%s' and '%s' of '%s' share a field",
                           t->fields[other].name, metric->name, t->name);
        size_t behind = metric->offset + field_bytes(metric->kind);
        end = behind > end ? behind : end;
        t->field[i] = push_field(t, metric->offset, metric->kind, metric->name);
    }
    for (size_t i = 0; i < t->metric_count; i++) {
        const ls_metric *metric = &t->metrics[i];
        if (metric->kind != LS_METRIC_KIND_RATIO)
            continue;
        ls_status status = operand_field(t, metric, metric->offset, &t->field[i], err);
        if (status == LS_OK)
            status = operand_field(t, metric, metric->denominator, &t->denominator[i], err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

/* Neighbouring counters are read together. */
static void build_runs(metrics_type *t)
{
    for (size_t i = 0; i < t->field_count; i++) {
        const metrics_field *f = &t->fields[i];
        metrics_run *last = t->run_count > 0 ? &t->runs[t->run_count - 1] : NULL;
        size_t bytes = field_bytes(f->kind);
        t->has_level |= f->kind == LS_METRIC_KIND_LEVEL;
        t->begin = i == 0 || f->offset < t->begin ? f->offset : t->begin;
        t->end = f->offset + bytes > t->end ? f->offset + bytes : t->end;
        if (last && last->kind == LS_METRIC_KIND_COUNTER && f->kind == LS_METRIC_KIND_COUNTER &&
            f->offset == last->offset + last->count * sizeof(uint64_t))
            last->count++;
        else
            t->runs[t->run_count++] = (metrics_run){
                .offset = f->offset, .word = f->word, .kind = f->kind, .first = (uint32_t)i, .count = 1
            };
    }
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Equal content is enough: two shared objects may each carry a copy of one table. */
static bool same_table(const metrics_type *t, const metric_source *s)
{
    if (t->metric_count != s->metric_count)
        return false;
    for (size_t i = 0; i < t->metric_count && t->metrics != s->metrics; i++) {
        const ls_metric *a = &t->metrics[i], *b = &s->metrics[i];
        bool same = same_text(a->name, b->name) && a->kind == b->kind && a->offset == b->offset &&
                    a->denominator == b->denominator && same_text(a->unit, b->unit);
        if (!same)
            return false;
    }
    return true;
}

/* Finds the source's type, or makes it. */
static ls_status find_type(metric_store *m, const metric_source *s, uint32_t *out, ls_error *err)
{
    for (size_t i = 0; i < m->types.count; i++) /* most are one more of a type that is there */
        if (m->types.at[i]->metrics == s->metrics && m->types.at[i]->metric_count == s->metric_count &&
            strcmp(m->types.at[i]->name, s->type) == 0) {
            *out = (uint32_t)i;
            return LS_OK;
        }
    for (size_t i = 0; i < m->types.count; i++) {
        metrics_type *t = m->types.at[i];
        if (strcmp(t->name, s->type) != 0)
            continue;
        if (!same_table(t, s))
            return ls_fail(err, LS_ERR_INTERNAL,
                           "'%s' and an earlier source of type '%s' declare different metrics", s->path,
                           s->type);
        *out = (uint32_t)i;
        return LS_OK;
    }
    metrics_type *t = arena_alloc(&m->arena, sizeof *t);
    if (!t)
        return no_memory(err);
    t->metrics = s->metrics;
    t->metric_count = s->metric_count;
    t->name = arena_strdup(&m->arena, s->type);
    t->field = arena_array(&m->arena, s->metric_count, sizeof *t->field);
    t->denominator = arena_array(&m->arena, s->metric_count, sizeof *t->denominator);
    t->fields = arena_array(&m->arena, 2 * s->metric_count, sizeof *t->fields);
    t->runs = arena_array(&m->arena, 2 * s->metric_count, sizeof *t->runs);
    if (!t->name || !t->field || !t->denominator || !t->fields || !t->runs)
        return no_memory(err);
    ls_status status = build_fields(t, err);
    if (status != LS_OK)
        return status;
    build_runs(t);
    if (!vec_push(&m->types, t))
        return no_memory(err);
    *out = (uint32_t)(m->types.count - 1);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ sources */

/* Whether all counters are zero, as they nearly always are at first. */
static bool is_zero(const metrics_type *t, const void *counters)
{
    const char *at = (const char *)counters + t->begin;
    size_t bytes = t->end - t->begin;
    uint64_t first = 0;
    if (bytes < sizeof first)
        return true;
    memcpy(&first, at, sizeof first);
    return first == 0 && memcmp(at, at + sizeof first, bytes - sizeof first) == 0;
}

/* Takes back the newest sources and types. A type lists its sources in order, so each is its type's last. */
static void forget(metric_store *m, size_t sources, size_t types)
{
    while (m->sources.count > sources) {
        metrics_source *s = &m->sources.at[--m->sources.count];
        m->types.at[s->type]->sources.count--;
        m->words = s->first_word;
        (void)map_put(&m->paths, s->decl.path, NULL); /* replaces: needs no memory */
    }
    for (; m->types.count > types; m->types.count--)
        vec_fini(&m->types.at[m->types.count - 1]->sources);
}

ls_status metrics_add(metric_store *m, const metric_source *source, ls_error *err)
{
    if (!source->path || !source->path[0] || !source->type || !source->type[0])
        return ls_fail(err, LS_ERR_INTERNAL, "a source of metrics needs a path and a type");
    if (map_get(&m->paths, source->path))
        return ls_fail(err, LS_ERR_INTERNAL, "two sources of metrics are called '%s'", source->path);
    if (!source->counters || !source->metrics || source->metric_count == 0)
        return ls_fail(err, LS_ERR_INTERNAL, "'%s' has no metrics or no counters", source->path);
    uint32_t type = 0;
    size_t types = m->types.count;
    ls_status status = checked_before(m, source) ? LS_OK : check_table(source, err);
    if (status == LS_OK)
        status = find_type(m, source, &type, err);
    if (status != LS_OK)
        return status;

    metrics_type *t = m->types.at[type];
    metrics_source s = { .decl = *source, .type = type, .first_word = m->words };
    s.decl.path = arena_strdup(&m->arena, source->path);
    s.decl.type = t->name;
    s.last = arena_array(&m->arena, t->words, sizeof *s.last);
    s.raw = arena_alloc(&m->arena, t->end - t->begin);
    bool room = s.decl.path && s.last && s.raw && vec_reserve(&m->row, t->words) &&
                vec_reserve(&t->sources, 1) && vec_reserve(&m->sources, 1);
    if (room && !is_zero(t, s.decl.counters)) {
        /* Cannot fail: last is all zero, and nothing goes backwards from zero. */
        (void)metrics_read_row(m, &s, METRICS_SCOPE_RUN, m->row.at, NULL);
        if (metrics_next_word(m->row.at, 0, t->words) < t->words) {
            s.initial = arena_array(&m->arena, t->words, sizeof *s.initial);
            room = s.initial != NULL;
            if (room)
                memcpy(s.initial, m->row.at, t->words * sizeof *s.initial);
        }
    }
    if (!room || !map_put(&m->paths, source->path, (void *)(m->sources.count + 1))) {
        forget(m, m->sources.count, types);
        return no_memory(err);
    }
    t->sources.at[t->sources.count++] = (uint32_t)m->sources.count;
    m->sources.at[m->sources.count++] = s;
    m->words += t->words;
    return LS_OK;
}

/* "gpu12.core0" belongs to GPU 12. */
static int32_t gpu_of_path(const char *path)
{
    if (strncmp(path, "gpu", 3) != 0)
        return LS_METRICS_NONE;
    int32_t gpu = 0;
    const char *p = path + 3;
    for (; *p >= '0' && *p <= '9' && p - path < 3 + 9; p++)
        gpu = gpu * 10 + (*p - '0');
    bool number = p > path + 3 && (*p == '.' || *p == '\0');
    return number ? gpu : LS_METRICS_NONE;
}

static ls_status add_block(metric_store *m, ls_block *block, ls_error *err)
{
    const ls_block_type *type = ls_block_type_of(block);
    if (type->metric_count == 0)
        return LS_OK;
    const char *name = ls_block_name(block);
    if (type->counters_offset >= type->state_size)
        return ls_fail(err, LS_ERR_INTERNAL,
                       "the counters of '%s' (%s/%s) lie outside its state (offset %u of %zu)", name,
                       type->slot, type->name, type->counters_offset, type->state_size);
    /* There are hundreds of blocks, and printf is slow. */
    char short_label[128], *label = short_label;
    if (strlen(type->slot) + strlen(type->name) + 2 <= sizeof short_label)
        stpcpy(stpcpy(stpcpy(label, type->slot), "/"), type->name);
    else
        label = arena_printf(&m->arena, "%s/%s", type->slot, type->name);
    if (!label)
        return no_memory(err);
    metric_source source = {
        .path = name,
        .type = label,
        .gpu = gpu_of_path(name),
        .stream = LS_METRICS_NONE,
        .metrics = type->metrics,
        .metric_count = type->metric_count,
        .counters = (char *)ls_block_state(block) + type->counters_offset,
        .counters_size = type->state_size - type->counters_offset,
    };
    return metrics_add(m, &source, err);
}

ls_status metrics_add_engine(metric_store *m, const ls_engine *engine, ls_error *err)
{
    size_t sources = m->sources.count, types = m->types.count;
    uint32_t blocks = ls_engine_block_count(engine);
    for (uint32_t i = 0; i < blocks; i++) {
        ls_status status = add_block(m, ls_engine_block(engine, i), err);
        if (status != LS_OK) {
            forget(m, sources, types);
            return status;
        }
    }
    return LS_OK;
}
