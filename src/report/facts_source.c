/* facts_source.c: the two readers of facts.h, and keys of a resolved configuration. */
#include "report/facts.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- keys */

static const char *const machine_names[] = { [FACTS_NONE] = "", [FACTS_NVIDIA] = "gpu", [FACTS_AMD] = "amd" };

/* The value of a line "KEY: value", which a part of a system indents; NULL: the line has another key. */
static const char *line_value(const char *line, const char *key, size_t *bytes)
{
    size_t length = strcspn(line, "\n"), name = strlen(key);
    size_t begin = strspn(line, " ");
    if (line[begin] == '-' && line[begin + 1] == ' ')
        begin += 2;
    if (begin + name >= length || strncmp(line + begin, key, name) != 0 || line[begin + name] != ':')
        return NULL;
    begin += name + 1;
    begin += strspn(line + begin, " ");
    *bytes = length > begin ? length - begin : 0;
    return line + begin;
}

bool facts_is_system(const char *text)
{
    return strncmp(text, "machine: system", 15) == 0 || strstr(text, "\nmachine: system") != NULL;
}

/* Where the lines of the machine's first part begin: the text itself if it is one GPU. */
static const char *part_of(const char *text, facts_machine machine)
{
    const char *begin = text;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t bytes;
        if (line[strspn(line, " ")] == '-')
            begin = line;
        const char *value = line_value(line, "machine", &bytes);
        if (value && bytes == strlen(machine_names[machine]) &&
            strncmp(value, machine_names[machine], bytes) == 0)
            return begin;
    }
    return text;
}

const char *facts_key(const char *text, facts_machine machine, const char *key, char *out, size_t out_bytes)
{
    const char *begin = part_of(text, machine);
    for (const char *line = begin; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t bytes;
        const char *value = line_value(line, key, &bytes);
        if (!value)
            continue;
        snprintf(out, out_bytes, "%.*s", (int)bytes, value);
        return out;
    }
    return NULL;
}

double facts_key_number(const char *text, facts_machine machine, const char *key)
{
    char value[64], *end;
    if (!facts_key(text, machine, key, value, sizeof value))
        return NAN;
    double number = strtod(value, &end);
    return end == value ? NAN : number;
}

/* ------------------------------------------------------------------------------------------ live registry */

static bool store_metric(void *self, size_t scope, const char *type, const char *path, const char *name,
                         double *a, double *b)
{
    metric_value value;
    if (metrics_get(self, scope, type, path, name, &value, NULL) != LS_OK || value.sources == 0)
        return false;
    *a = (double)value.value;
    *b = 1;
    if (value.kind == LS_METRIC_KIND_RATIO)
        *b = (double)value.denominator;
    if (value.kind == LS_METRIC_KIND_HISTOGRAM) {
        *a = (double)value.histogram.sum;
        *b = (double)value.histogram.count;
    }
    return true;
}

static const char *store_block(void *self, const char *type, size_t index)
{
    const metric_store *m = self;
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        const metric_source *source = metrics_source_at(m, i);
        if (glob_match(type, source->type) && index-- == 0)
            return source->path;
    }
    return NULL;
}

static size_t store_blocks(void *self, const char *type, const char *path)
{
    const metric_store *m = self;
    size_t found = 0;
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        const metric_source *source = metrics_source_at(m, i);
        found += glob_match(type, source->type) && (!path || glob_match(path, source->path));
    }
    return found;
}

fact_reader facts_of_store(metric_store *metrics, const char *config_text)
{
    return (fact_reader){ .self = metrics,
                          .metric = store_metric,
                          .blocks = store_blocks,
                          .block = store_block,
                          .config_text = config_text };
}

/* ------------------------------------------------------------------------------------------ saved results */

static void add_value(ls_metric_kind kind, const saved_value *value, double *a, double *b)
{
    bool parts = kind == LS_METRIC_KIND_RATIO || kind == LS_METRIC_KIND_HISTOGRAM;
    *a = kind == LS_METRIC_KIND_PEAK ? fmax(*a, value->a) : *a + value->a;
    *b = parts ? *b + value->b : 1;
}

/* Of single blocks: the run has values of each. */
static bool saved_of_path(const saved_results *s, uint32_t scope, const char *type, const char *path,
                          const char *name, double *a, double *b)
{
    const saved_cell *end, *cell = saved_cells(s, scope, &end);
    bool found = false;
    for (; cell < end; cell++) {
        const saved_metric_entry *metric = &s->metrics.at[cell->metric];
        if (cell->block == LS_SAVED_TYPE || !cell->value.present || strcmp(metric->name, name) != 0 ||
            !glob_match(type, metric->type) || !glob_match(path, s->blocks.at[cell->block].path))
            continue;
        add_value(metric->kind, &cell->value, a, b);
        found = true;
    }
    return found;
}

static bool saved_metric_value(void *self, size_t scope, const char *type, const char *path, const char *name,
                               double *a, double *b)
{
    facts_saved *state = self;
    const saved_results *s = state->saved;
    uint32_t number = scope == LS_METRICS_RUN ? LS_SAVED_RUN : (uint32_t)scope;
    bool found = false;
    *a = *b = 0;
    if (path)
        return saved_of_path(s, number, type, path, name, a, b);
    if (!state->totals)
        return false;
    if (state->loaded != scope) {
        saved_totals(s, number, state->totals);
        state->loaded = scope;
    }
    for (size_t i = 0; i < s->metrics.count; i++)
        if (strcmp(s->metrics.at[i].name, name) == 0 && glob_match(type, s->metrics.at[i].type)) {
            if (state->totals[i].present)
                add_value(s->metrics.at[i].kind, &state->totals[i], a, b);
            /* A file leaves out zeros of kernels. */
            found = true;
        }
    return found;
}

/* A block's type is that of any of its values. */
static const char *saved_next(const saved_results *s, const char *type, const saved_cell **at,
                              const saved_cell *end, uint32_t *last)
{
    for (; *at < end; ++*at) {
        uint32_t block = (*at)->block;
        if (block == LS_SAVED_TYPE || block == *last || !glob_match(type, s->metrics.at[(*at)->metric].type))
            continue;
        *last = block;
        return s->blocks.at[block].path;
    }
    return NULL;
}

static const char *saved_block_at(void *self, const char *type, size_t index)
{
    const facts_saved *state = self;
    const saved_cell *end, *at = saved_cells(state->saved, LS_SAVED_RUN, &end);
    uint32_t last = LS_SAVED_TYPE;
    const char *path = saved_next(state->saved, type, &at, end, &last);
    while (path && index-- > 0)
        path = saved_next(state->saved, type, &at, end, &last);
    return path;
}

static size_t saved_blocks(void *self, const char *type, const char *pattern)
{
    const facts_saved *state = self;
    const saved_cell *end, *at = saved_cells(state->saved, LS_SAVED_RUN, &end);
    uint32_t last = LS_SAVED_TYPE;
    size_t found = 0;
    for (const char *path; (path = saved_next(state->saved, type, &at, end, &last)) != NULL;)
        found += !pattern || glob_match(pattern, path);
    return found;
}

fact_reader facts_of_saved(facts_saved *state, const saved_results *saved)
{
    *state = (facts_saved){ .saved = saved,
                            .totals = calloc(saved->metrics.count + 1, sizeof *state->totals),
                            .loaded = SIZE_MAX - 1 };
    return (fact_reader){ .self = state,
                          .metric = saved_metric_value,
                          .blocks = saved_blocks,
                          .block = saved_block_at,
                          .config_text = saved->config_text };
}

void facts_saved_fini(facts_saved *state)
{
    free(state->totals);
}
