/* series.c: sums of counters at regular times of the simulation. */
#include "report/series.h"

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* A field of the counter structs of all blocks of one type on one GPU. */
typedef struct series_field {
    uint32_t type;
    int32_t gpu;
    uint32_t offset;
    bool is_level;
    const uint64_t **at; /* of each block */
    size_t blocks;
    uint64_t last; /* the sum when the interval began */
} series_field;

typedef struct series_entry {
    series_column declared;
    uint32_t field, denominator; /* the latter of a ratio only */
} series_entry;

struct series {
    ls_run_sampler sampler; /* first: the engine hands it back */
    mem_arena arena;
    ls_time every;
    uint32_t capacity;
    uint32_t count; /* intervals with values */
    ls_time taken;  /* when the counters were read last */
    LS_VEC(series_field) fields;
    LS_VEC(series_entry) columns;
    uint64_t *values; /* capacity rows, one number per field */
};

/* ------------------------------------------------------------------------------------------------ sampling */

static uint64_t sum_of(const series_field *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->blocks; i++)
        sum += *f->at[i];
    return sum;
}

static uint64_t *row_of(const series *s, uint32_t interval)
{
    return &s->values[(size_t)interval * s->fields.count];
}

static void merge_pairs(series *s)
{
    for (uint32_t i = 0; i < s->capacity / 2; i++) {
        uint64_t *to = row_of(s, i);
        const uint64_t *a = row_of(s, 2 * i), *b = row_of(s, 2 * i + 1);
        for (size_t f = 0; f < s->fields.count; f++)
            to[f] = s->fields.at[f].is_level ? b[f] : a[f] + b[f];
    }
    s->count = s->capacity / 2;
    s->every *= 2;
}

/* An interval in which nothing was counted: levels stay. */
static void add_quiet(series *s)
{
    uint64_t *row = row_of(s, s->count);
    for (size_t f = 0; f < s->fields.count; f++)
        row[f] = s->fields.at[f].is_level ? s->fields.at[f].last : 0;
    s->count++;
}

/* Adds the counts of a field since s->taken. Nothing happened at the ends of intervals that passed without a call, so blocks counted
 * nothing but cycles meanwhile: each interval gets its part of the time. */
static void spread(series *s, size_t field, uint64_t count, uint64_t index, ls_time now)
{
    uint64_t interval = s->taken / s->every, given = 0;
    for (; interval < index; interval++) {
        const ls_time passed = (interval + 1) * s->every - s->taken;
        const uint64_t upto = (uint64_t)((u128)count * passed / (now - s->taken));
        row_of(s, (uint32_t)interval)[field] += upto - given;
        given = upto;
    }
    row_of(s, (uint32_t)index)[field] += count - given;
}

/* Reads the counters. The last interval is the one that ends at `now` or contains it. */
static void take(series *s, ls_time now)
{
    uint64_t index;
    while ((index = (now - 1) / s->every) >= s->capacity) {
        while (s->count < s->capacity)
            add_quiet(s);
        merge_pairs(s);
    }
    while (s->count <= index)
        add_quiet(s);
    for (size_t i = 0; i < s->fields.count; i++) {
        series_field *f = &s->fields.at[i];
        uint64_t sum = sum_of(f);
        if (f->is_level)
            row_of(s, (uint32_t)index)[i] = sum;
        else if (sum != f->last)
            spread(s, i, sum - f->last, index, now);
        f->last = sum;
    }
    s->taken = now;
}

/* If nothing happens for several intervals, the next call is at the end of the last of them: blocks that wait count cycles. */
static void look(ls_run_sampler *sampler, ls_time now, ls_time pending)
{
    series *s = (series *)sampler;
    take(s, now);
    ls_time begun = pending / s->every * s->every;
    if (begun > now)
        sampler->next = begun;
    else
        sampler->next = begun >= LS_TIME_MAX - s->every ? LS_TIME_MAX : begun + s->every;
}

ls_run_sampler *series_sampler(series *s)
{
    return &s->sampler;
}

void series_finish(series *s, ls_time end)
{
    take(s, end > 0 ? end : 1);
    s->sampler.next = LS_TIME_MAX;
}

/* ------------------------------------------------------------------------------------------------ creation */

/* The cost of a sample is about three host instructions per block and field, so the usual list is short. Metrics that
 * blocks count late are not in it: a compute unit adds the instructions of a work-group when the work-group ends. */
static const char *const usual[] = {
    "core/*.warp_instructions",
    "core/*.issue_slots",
    "core/*.issued",
    "core/*.stack_*",
    "core/*.resident_warps",
    "core/*.l1_accesses",
    "core/*.l1_hits",

    "cu/*.resident_cycles",
    "cu/*.active_cycles",
    "cu/*.wave_cycles",
    "cu/*.stall_*",
    "vector_cache/*.reads",
    "vector_cache/*.read_hits",
    "l2/cycle.accesses",
    "l2/cycle.hits",
    "l2/lines.reads",
    "l2/lines.read_hits",
    "l2/lines.writes",
    "dram/*.reads",
    "dram/*.writes",
    "dram/*.busy_cycles",
    "dma/*.bytes_*",
    "fabric*.*bytes*",
};

static bool fits(const char *pattern, const char *type, const ls_metric *metric)
{
    char full[256];
    snprintf(full, sizeof full, "%s.%s", type, metric->name);
    return glob_match(pattern, metric->name) || glob_match(pattern, full);
}

static bool has_values(const ls_metric *metric)
{
    return metric->kind == LS_METRIC_KIND_COUNTER || metric->kind == LS_METRIC_KIND_LEVEL ||
           metric->kind == LS_METRIC_KIND_RATIO;
}

static bool is_wanted(const series_options *o, const char *type, const ls_metric *metric, bool *seen)
{
    if (!has_values(metric))
        return false;
    if (o->pattern_count == 0) {
        for (size_t i = 0; i < LS_COUNT_OF(usual); i++)
            if (fits(usual[i], type, metric))
                return true;
        return false;
    }
    bool wanted = false;
    for (size_t i = 0; i < o->pattern_count; i++)
        if (fits(o->patterns[i], type, metric))
            wanted = seen[i] = true;
    return wanted;
}

static uint32_t find_field(series *s, const metric_store *m, uint32_t type, int32_t gpu, uint32_t offset,
                           bool is_level)
{
    for (size_t i = 0; i < s->fields.count; i++) {
        const series_field *f = &s->fields.at[i];
        if (f->type == type && f->gpu == gpu && f->offset == offset)
            return (uint32_t)i;
    }
    series_field field = { .type = type, .gpu = gpu, .offset = offset, .is_level = is_level };
    field.at = arena_array(&s->arena, metrics_type_at(m, type).sources, sizeof *field.at);
    if (!field.at)
        return UINT32_MAX;
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        const metric_source *source = metrics_source_at(m, i);
        if (metrics_source_type(m, i) == type && source->gpu == gpu)
            field.at[field.blocks++] =
                (const uint64_t *)(const void *)((const char *)source->counters + offset);
    }
    field.last = is_level ? 0 : sum_of(&field);
    return vec_push(&s->fields, field) ? (uint32_t)s->fields.count - 1 : UINT32_MAX;
}

static bool add_column(series *s, const metric_store *m, uint32_t type, int32_t gpu, const ls_metric *metric)
{
    series_entry entry = { .declared = {
                               .gpu = gpu, .type = metrics_type_at(m, type).name, .metric = metric } };
    entry.field = find_field(s, m, type, gpu, metric->offset, metric->kind == LS_METRIC_KIND_LEVEL);
    if (metric->kind == LS_METRIC_KIND_RATIO)
        entry.denominator = find_field(s, m, type, gpu, metric->denominator, false);
    return entry.field != UINT32_MAX && entry.denominator != UINT32_MAX && vec_push(&s->columns, entry);
}

/* The GPUs that have blocks of a type, in the order of their first block. */
static bool add_type(series *s, const metric_store *m, uint32_t type, const series_options *o, bool *seen)
{
    metric_type declared = metrics_type_at(m, type);
    int32_t done = INT32_MIN;
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        int32_t gpu = metrics_source_at(m, i)->gpu;
        if (metrics_source_type(m, i) != type || gpu <= done) /* GPUs are registered in order */
            continue;
        done = gpu;
        for (size_t k = 0; k < declared.metric_count; k++)
            if (is_wanted(o, declared.name, &declared.metrics[k], seen) &&
                !add_column(s, m, type, gpu, &declared.metrics[k]))
                return false;
    }
    return true;
}

typedef struct metric_names {
    const metric_store *m;
} metric_names;

static const char *name_at(const void *self, size_t i)
{
    const metric_store *m = ((const metric_names *)self)->m;
    for (size_t t = 0; t < metrics_type_count(m); t++) {
        metric_type type = metrics_type_at(m, t);
        if (i < type.metric_count)
            return type.metrics[i].name;
        i -= type.metric_count;
    }
    return "";
}

static ls_status refuse_pattern(const metric_store *m, const char *pattern, ls_error *err)
{
    size_t all = 0;
    for (size_t t = 0; t < metrics_type_count(m); t++)
        all += metrics_type_at(m, t).metric_count;
    const metric_names names = { m };
    ls_fail(err, LS_ERR_USAGE, "no counter, level or ratio of this machine is called '%s'", pattern);
    return err ? ls_error_nearest(err, nearest_name(pattern, all, name_at, &names)) : LS_ERR_USAGE;
}

static ls_status fill(series *s, const metric_store *m, const series_options *o, ls_error *err)
{
    bool *seen = arena_array(&s->arena, o->pattern_count + 1, sizeof *seen);
    bool ok = seen != NULL;
    for (uint32_t t = 0; t < metrics_type_count(m) && ok; t++)
        ok = add_type(s, m, t, o, seen);
    for (size_t i = 0; i < o->pattern_count && ok; i++)
        if (!seen[i])
            return refuse_pattern(m, o->patterns[i], err);
    if (ok)
        s->values = arena_array(&s->arena, (size_t)s->capacity * s->fields.count, sizeof *s->values);
    return ok && s->values ? LS_OK : ls_fail(err, LS_ERR_NOMEM, "no memory for %u intervals", s->capacity);
}

ls_status series_create(const metric_store *m, const series_options *o, series **out, ls_error *err)
{
    *out = NULL;
    if (o->every == 0)
        return ls_fail(err, LS_ERR_USAGE, "an interval of metrics over time must be longer than 0 s");
    series *s = calloc(1, sizeof *s);
    if (!s)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for metrics over time");
    s->every = o->every;
    s->capacity = o->capacity ? o->capacity & ~1u : SERIES_CAPACITY;
    s->capacity = s->capacity < 2 ? 2 : s->capacity;
    s->sampler = (ls_run_sampler){ .next = s->every, .look = look };
    ls_status status = fill(s, m, o, err);
    if (status == LS_OK)
        *out = s;
    else
        series_destroy(s);
    return status;
}

void series_destroy(series *s)
{
    if (!s)
        return;
    vec_fini(&s->fields);
    vec_fini(&s->columns);
    arena_fini(&s->arena);
    free(s);
}

/* --------------------------------------------------------------------------------------------- checkpoints */

void series_save(const series *s, bytes_out *out)
{
    bytes_put64(out, s->fields.count);
    bytes_put64(out, s->every);
    bytes_put64(out, s->sampler.next);
    bytes_put64(out, s->taken);
    for (size_t i = 0; i < s->fields.count; i++)
        bytes_put64(out, s->fields.at[i].last);
    bytes_put64(out, s->count);
    bytes_put(out, s->values, (size_t)s->count * s->fields.count * sizeof *s->values);
}

void series_load(series *s, bytes_in *in)
{
    in->failed |= bytes_get64(in) != s->fields.count;
    s->every = bytes_get64(in);
    s->sampler.next = bytes_get64(in);
    s->taken = bytes_get64(in);
    in->failed |= s->every == 0;
    for (size_t i = 0; i < s->fields.count; i++)
        s->fields.at[i].last = bytes_get64(in);
    uint64_t count = bytes_get64(in);
    in->failed |= count > s->capacity;
    s->count = in->failed ? 0 : (uint32_t)count;
    s->every = in->failed ? 1 : s->every;
    bytes_get(in, s->values, (size_t)s->count * s->fields.count * sizeof *s->values);
}

/* ------------------------------------------------------------------------------------------------- reading */

ls_time series_every(const series *s)
{
    return s->every;
}

size_t series_intervals(const series *s)
{
    return s->count;
}

size_t series_columns(const series *s)
{
    return s->columns.count;
}

series_column series_column_at(const series *s, size_t column)
{
    return s->columns.at[column].declared;
}

bool series_value(const series *s, size_t interval, size_t column, double *out)
{
    const series_entry *c = &s->columns.at[column];
    const uint64_t *row = row_of(s, (uint32_t)interval);
    *out = (double)row[c->field];
    if (c->declared.metric->kind != LS_METRIC_KIND_RATIO)
        return true;
    if (row[c->denominator] == 0)
        return false;
    *out /= (double)row[c->denominator];
    return true;
}

static void put_name(FILE *to, const series_column *c)
{
    const char *unit = metric_unit(c->metric);
    fputc(',', to);
    if (c->gpu != LS_METRICS_NONE)
        fprintf(to, "gpu%" PRId32 " ", c->gpu);
    fprintf(to, "%s.%s", c->type, c->metric->name);
    if (unit[0])
        fprintf(to, " [%s]", unit);
}

ls_status series_csv(const series *s, FILE *to, ls_error *err)
{
    fputs("begin_ns", to);
    for (size_t c = 0; c < s->columns.count; c++)
        put_name(to, &s->columns.at[c].declared);
    fputs("\r\n", to);
    for (size_t i = 0; i < s->count; i++) {
        uint64_t begin = i * s->every;
        fprintf(to, "%" PRIu64 ".%06" PRIu64, begin / 1000000, begin % 1000000);
        for (size_t c = 0; c < s->columns.count; c++) {
            double value;
            fputc(',', to);
            if (series_value(s, i, c, &value))
                fprintf(to, s->columns.at[c].declared.metric->kind == LS_METRIC_KIND_RATIO ? "%.9g" : "%.17g",
                        value);
        }
        fputs("\r\n", to);
    }
    return ferror(to) ? ls_fail(err, LS_ERR_IO, "metrics over time could not be written") : LS_OK;
}

/* -------------------------------------------------------------------------------------------- words of the user */

static ls_status refuse_interval(const char *text, ls_error *err)
{
    char quoted[80];
    quote_text(text, strlen(text), quoted, sizeof quoted);
    return ls_fail(err, LS_ERR_USAGE, "'%s' is no interval of time: write it as in 500ns, 2us or 1000cycles",
                   quoted);
}

ls_status series_parse_interval(const char *text, const ls_clock *clock, ls_time *out, ls_error *err)
{
    static const char unit[] = "cycles";
    size_t bytes = strlen(text), tail = sizeof unit - 1;
    if (bytes <= tail || strcmp(text + bytes - tail, unit) != 0)
        return parse_time(text, bytes, out, err) == LS_OK ? LS_OK : refuse_interval(text, err);
    uint64_t cycles;
    ls_status status = parse_u64(text, bytes - tail, &cycles, err);
    if (status != LS_OK)
        return refuse_interval(text, err);
    if (!clock)
        return ls_fail(err, LS_ERR_USAGE,
                       "an interval of '%s' needs a machine with cores: give a time, as in 500ns", text);
    *out = ls_clock_time(clock, cycles);
    return LS_OK;
}
