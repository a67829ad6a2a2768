/* metrics.c: the registry's writing side: sources with their declarations checked, and marks.
 *
 * Touches the sources' counter structs only to read them, except for fields that a mark must reset: peaks, and
 * min and max of histograms. */
#include "report/metrics_impl.h"

#include <inttypes.h>
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

static ls_status check_table(const metric_source *s, ls_error *err)
{
    for (size_t i = 0; i < s->metric_count; i++) {
        const ls_metric *metric = &s->metrics[i];
        if (!metric->name || !metric->name[0])
            return ls_fail(err, LS_ERR_INTERNAL, "metric %zu of '%s' has no name", i, s->type);
        if ((unsigned)metric->kind > LS_METRIC_KIND_RATIO)
            return ls_fail(err, LS_ERR_INTERNAL, "metric '%s' of '%s' has no known kind (%u)", metric->name,
                           s->type, (unsigned)metric->kind);
        const char *name = metric->name;
        for (size_t j = 0; j < i; j++) /* there are many pairs, most with different first letters */
            if (s->metrics[j].name[0] == name[0] && strcmp(s->metrics[j].name, name) == 0)
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

static ls_status build_fields(metrics_type *t, ls_error *err)
{
    for (size_t i = 0; i < t->metric_count; i++) {
        const ls_metric *metric = &t->metrics[i];
        if (metric->kind == LS_METRIC_KIND_RATIO)
            continue;
        size_t last_byte = metric->offset + field_bytes(metric->kind) - 1;
        size_t other = field_at(t, metric->offset);
        if (other == SIZE_MAX)
            other = field_at(t, (uint32_t)last_byte);
        for (size_t j = 0; j < t->field_count && other == SIZE_MAX; j++)
            if (t->fields[j].offset > metric->offset && t->fields[j].offset <= last_byte)
                other = j;
        if (other != SIZE_MAX)
            return ls_fail(err, LS_ERR_INTERNAL, "metrics '%s' and '%s' of '%s' share a field",
                           t->fields[other].name, metric->name, t->name);
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
    if (!t->name || !t->field || !t->denominator || !t->fields)
        return no_memory(err);
    ls_status status = build_fields(t, err);
    if (status != LS_OK)
        return status;
    if (!vec_push(&m->types, t))
        return no_memory(err);
    *out = (uint32_t)(m->types.count - 1);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ sources */

static bool any_word(const uint64_t *row, size_t words)
{
    for (size_t i = 0; i < words; i++)
        if (row[i] != 0)
            return true;
    return false;
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
    bool room = s.decl.path && s.last && vec_reserve(&m->row, t->words) && vec_reserve(&t->sources, 1) &&
                vec_reserve(&m->sources, 1);
    if (room) {
        /* Cannot fail: last is all zero, and nothing goes backwards from zero. */
        (void)metrics_read_row(m, &s, METRICS_SCOPE_RUN, m->row.at, NULL);
        if (any_word(m->row.at, t->words)) {
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

/* -------------------------------------------------------------------------------------------------- marks */

/* Since the last mark, min and max of the struct are the interval's; for the run they join those kept. */
static void read_histogram(const ls_histogram *now, const uint64_t *last, metrics_scope scope, uint64_t *row)
{
    bool run = scope == METRICS_SCOPE_RUN;
    bool kept = run && last[METRICS_HIST_COUNT] > 0; /* before row is written: it may be last itself */
    uint64_t fresh = now->count - last[METRICS_HIST_COUNT];
    row[METRICS_HIST_COUNT] = run ? now->count : fresh;
    row[METRICS_HIST_SUM] = run ? now->sum : now->sum - last[METRICS_HIST_SUM];
    for (size_t b = 0; b < LS_HISTOGRAM_BUCKETS; b++)
        row[METRICS_HIST_BUCKET + b] = now->bucket[b] - (run ? 0 : last[METRICS_HIST_BUCKET + b]);
    uint64_t min = fresh ? now->min : UINT64_MAX;
    uint64_t max = fresh ? now->max : 0;
    if (kept) {
        min = last[METRICS_HIST_MIN] < min ? last[METRICS_HIST_MIN] : min;
        max = last[METRICS_HIST_MAX] > max ? last[METRICS_HIST_MAX] : max;
    }
    row[METRICS_HIST_MIN] = row[METRICS_HIST_COUNT] ? min : 0;
    row[METRICS_HIST_MAX] = max;
}

static inline ls_status read_field(const metrics_source *s, const metrics_field *f, metrics_scope scope,
                                   uint64_t *row, ls_error *err)
{
    bool run = scope == METRICS_SCOPE_RUN;
    const void *at = (const char *)s->decl.counters + f->offset;
    const uint64_t *last = &s->last[f->word];
    uint64_t now = *(const uint64_t *)at; /* of a histogram: its count */
    if (now < *last && (f->kind == LS_METRIC_KIND_COUNTER || f->kind == LS_METRIC_KIND_HISTOGRAM))
        return ls_fail(err, LS_ERR_INTERNAL,
                       "counter '%s' of '%s' went backwards, from %" PRIu64 " to %" PRIu64, f->name,
                       s->decl.path, *last, now);
    switch (f->kind) {
    case LS_METRIC_KIND_COUNTER:
        row[f->word] = run ? now : now - *last;
        break;
    case LS_METRIC_KIND_PEAK:
        row[f->word] = run && *last > now ? *last : now;
        break;
    case LS_METRIC_KIND_HISTOGRAM:
        read_histogram(at, last, scope, &row[f->word]);
        break;
    default:
        row[f->word] = now;
    }
    return LS_OK;
}

ls_status metrics_read_row(const metric_store *m, const metrics_source *s, metrics_scope scope, uint64_t *row,
                           ls_error *err)
{
    const metrics_type *t = m->types.at[s->type];
    for (size_t i = 0; i < t->field_count; i++) {
        ls_status status = read_field(s, &t->fields[i], scope, row, err);
        if (status != LS_OK)
            return status;
    }
    return LS_OK;
}

ls_status metrics_read_field(const metrics_source *s, const metrics_field *f, uint64_t *row, ls_error *err)
{
    return read_field(s, f, METRICS_SCOPE_RUN, row, err);
}

static void put_number(uint8_t **p, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *(*p)++ = (uint8_t)(value | 0x80);
    *(*p)++ = (uint8_t)value;
}

/* Appends the row's words that are not zero to the scratch bytes. */
static bool pack_row(metric_store *m, size_t distance, const uint64_t *row, size_t words)
{
    enum { NUMBER_BYTES = 10 };
    size_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += row[i] != 0;
    if (!vec_reserve(&m->scratch, (2 + 2 * count) * NUMBER_BYTES))
        return false;
    uint8_t *p = m->scratch.at + m->scratch.count;
    put_number(&p, distance);
    put_number(&p, count);
    size_t next = 0;
    for (size_t i = 0; i < words; i++)
        if (row[i] != 0) {
            put_number(&p, i - next);
            put_number(&p, row[i]);
            next = i + 1;
        }
    m->scratch.count = (size_t)(p - m->scratch.at);
    return true;
}

/* The interval is stored: the next one starts here. Cannot fail. */
static void restart(const metrics_type *t, metrics_source *s)
{
    for (size_t i = 0; i < t->field_count; i++) {
        metrics_field *f = &t->fields[i];
        void *at = (char *)s->decl.counters + f->offset;
        uint64_t *last = &s->last[f->word];
        if (f->kind == LS_METRIC_KIND_HISTOGRAM) {
            ls_histogram *h = at;
            read_histogram(h, last, METRICS_SCOPE_RUN, last);
            if (h->count > 0) {
                h->min = UINT64_MAX;
                h->max = 0;
            }
            continue;
        }
        uint64_t *now = at;
        if (f->kind == LS_METRIC_KIND_PEAK) {
            *last = *now > *last ? *now : *last;
            *now = 0;
        } else {
            *last = *now;
            if (f->kind == LS_METRIC_KIND_LEVEL && *now != (s->initial ? s->initial[f->word] : 0))
                f->touched = true;
        }
    }
}

/* Stores what pack_row() has put into the scratch bytes. */
static ls_status store(metric_store *m, const metric_interval *interval, ls_error *err)
{
    const char *name = interval->kernel_name ? interval->kernel_name : "";
    metrics_interval stored = { .decl = *interval, .source_count = m->sources.count };
    if (m->intervals.count && strcmp(m->intervals.at[m->intervals.count - 1].decl.kernel_name, name) == 0)
        stored.decl.kernel_name = m->intervals.at[m->intervals.count - 1].decl.kernel_name;
    else
        stored.decl.kernel_name = arena_strdup(&m->arena, name);
    stored.packed_bytes = m->scratch.count;
    stored.packed = malloc(m->scratch.count ? m->scratch.count : 1);
    if (!stored.decl.kernel_name || !stored.packed || !vec_push(&m->intervals, stored)) {
        free(stored.packed);
        return no_memory(err);
    }
    if (m->scratch.count)
        memcpy(stored.packed, m->scratch.at, m->scratch.count);
    m->packed_bytes += stored.packed_bytes;
    return LS_OK;
}

ls_status metrics_mark(metric_store *m, const metric_interval *interval, ls_error *err)
{
    vec_clear(&m->scratch);
    size_t next = 0;
    for (size_t i = 0; i < m->sources.count; i++) {
        const metrics_source *s = &m->sources.at[i];
        if (!metrics_takes(interval, s))
            continue;
        const metrics_type *t = m->types.at[s->type];
        ls_status status = metrics_read_row(m, s, METRICS_SCOPE_SINCE_MARK, m->row.at, err);
        if (status != LS_OK)
            return status;
        if (!any_word(m->row.at, t->words))
            continue;
        if (!pack_row(m, i - next, m->row.at, t->words))
            return no_memory(err);
        next = i + 1;
    }
    ls_status status = store(m, interval, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < m->sources.count; i++)
        if (metrics_takes(interval, &m->sources.at[i]))
            restart(m->types.at[m->sources.at[i].type], &m->sources.at[i]);
    return LS_OK;
}

/* Reads one source's share into the row, and leaves it out of all that comes later. */
static ls_status take_row(metric_store *m, metrics_source *s, const void *counters, ls_error *err)
{
    const metrics_type *t = m->types.at[s->type];
    for (size_t i = 0; i < t->field_count; i++) {
        const metrics_field *f = &t->fields[i];
        if (f->kind != LS_METRIC_KIND_COUNTER)
            return ls_fail(err, LS_ERR_INTERNAL, "'%s' of '%s' is no counter: it has no kernel's share",
                           f->name, s->decl.path);
        uint64_t share = *(const uint64_t *)(const void *)((const char *)counters + f->offset);
        m->row.at[f->word] = share;
        s->last[f->word] += share;
    }
    return LS_OK;
}

ls_status metrics_mark_part(metric_store *m, const metric_interval *interval, metrics_take_fn take, void *self,
                            ls_error *err)
{
    enum { SHARE_BYTES = 32768 }; /* a state may be much larger than the counters in it */
    char *share = malloc(SHARE_BYTES);
    size_t next = 0;
    ls_status status = share ? LS_OK : no_memory(err);
    vec_clear(&m->scratch);
    for (size_t i = 0; i < m->sources.count && status == LS_OK; i++) {
        metrics_source *s = &m->sources.at[i];
        const metrics_type *t = m->types.at[s->type];
        if (!metrics_takes(interval, s))
            continue;
        memset(share, 0, SHARE_BYTES);
        size_t bytes = s->decl.counters_size < SHARE_BYTES ? s->decl.counters_size : SHARE_BYTES;
        if (!take(self, &s->decl, share, bytes))
            continue;
        status = take_row(m, s, share, err);
        if (status != LS_OK || !any_word(m->row.at, t->words))
            continue;
        if (!pack_row(m, i - next, m->row.at, t->words))
            status = no_memory(err);
        next = i + 1;
    }
    free(share);
    return status == LS_OK ? store(m, interval, err) : status;
}
