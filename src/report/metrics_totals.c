/* metrics_totals.c: one scope of the registry reduced per type, for exporters that read thousands of kernels.
 * Reads counter structs in place for the run and packed rows for intervals; changes neither. */
#include "report/metrics_impl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* How a word of a source's row joins that of the total. */
typedef enum word_rule { RULE_ADD, RULE_MAX, RULE_COUNT, RULE_MIN } word_rule;

struct metric_totals {
    const metric_store *m;
    size_t type_count;
    size_t scope;
    uint64_t **rows; /* per type: its reduced row */
    bool *active;    /* per type: its row is not all zero */
    uint8_t **rules; /* per type: the rule of each word of its row */
    uint64_t *row;   /* of one source */
};

void metric_totals_destroy(metric_totals *totals)
{
    if (!totals)
        return;
    if (totals->rows)
        free(totals->rows[0]);
    if (totals->rules)
        free(totals->rules[0]);
    free(totals->rows);
    free(totals->active);
    free(totals->rules);
    free(totals->row);
    free(totals);
}

static void fill_rules(const metrics_type *t, uint8_t *rules)
{
    for (size_t i = 0; i < t->field_count; i++) {
        uint8_t *rule = &rules[t->fields[i].word];
        if (t->fields[i].kind == LS_METRIC_KIND_PEAK)
            *rule = RULE_MAX;
        if (t->fields[i].kind != LS_METRIC_KIND_HISTOGRAM)
            continue;
        rule[METRICS_HIST_COUNT] = RULE_COUNT;
        rule[METRICS_HIST_MIN] = RULE_MIN;
        rule[METRICS_HIST_MAX] = RULE_MAX;
    }
}

ls_status metric_totals_create(const metric_store *m, metric_totals **out, ls_error *err)
{
    size_t words = 0, longest = 0;
    for (size_t i = 0; i < m->types.count; i++) {
        words += m->types.at[i]->words;
        longest = m->types.at[i]->words > longest ? m->types.at[i]->words : longest;
    }
    metric_totals *totals = calloc(1, sizeof *totals);
    if (totals) {
        totals->m = m;
        totals->type_count = m->types.count;
        totals->rows = calloc(m->types.count + 1, sizeof *totals->rows);
        totals->active = calloc(m->types.count + 1, sizeof *totals->active);
        totals->rules = calloc(m->types.count + 1, sizeof *totals->rules);
        totals->row = calloc(longest + 1, sizeof *totals->row);
    }
    uint64_t *all = totals && totals->rows ? calloc(words + 1, sizeof *all) : NULL;
    uint8_t *rules = totals && totals->rules ? calloc(words + 1, sizeof *rules) : NULL;
    if (all)
        totals->rows[0] = all;
    if (rules)
        totals->rules[0] = rules;
    if (!all || !totals->active || !rules || !totals->row) {
        metric_totals_destroy(totals);
        *out = NULL;
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for reading metrics");
    }
    for (size_t i = 0; i < m->types.count; i++) {
        totals->rows[i] = all;
        totals->rules[i] = rules;
        fill_rules(m->types.at[i], rules);
        all += m->types.at[i]->words;
        rules += m->types.at[i]->words;
    }
    *out = totals;
    return LS_OK;
}

static void clear(metric_totals *totals)
{
    for (size_t i = 0; i < totals->type_count; i++) {
        if (!totals->active[i])
            continue;
        memset(totals->rows[i], 0, totals->m->types.at[i]->words * sizeof **totals->rows);
        totals->active[i] = false;
    }
}

static void merge_histogram(uint64_t *into, const uint64_t *row)
{
    if (row[METRICS_HIST_COUNT] == 0)
        return;
    bool smaller = into[METRICS_HIST_COUNT] == 0 || row[METRICS_HIST_MIN] < into[METRICS_HIST_MIN];
    into[METRICS_HIST_MIN] = smaller ? row[METRICS_HIST_MIN] : into[METRICS_HIST_MIN];
    if (row[METRICS_HIST_MAX] > into[METRICS_HIST_MAX])
        into[METRICS_HIST_MAX] = row[METRICS_HIST_MAX];
    into[METRICS_HIST_COUNT] += row[METRICS_HIST_COUNT];
    into[METRICS_HIST_SUM] += row[METRICS_HIST_SUM];
    for (size_t b = METRICS_HIST_BUCKET; b < METRICS_HIST_WORDS; b++)
        into[b] += row[b];
}

static void merge_row(const metrics_type *t, uint64_t *into, const uint64_t *row)
{
    for (size_t i = 0; i < t->field_count; i++) {
        size_t word = t->fields[i].word;
        if (t->fields[i].kind == LS_METRIC_KIND_HISTOGRAM)
            merge_histogram(&into[word], &row[word]);
        else if (t->fields[i].kind != LS_METRIC_KIND_PEAK)
            into[word] += row[word];
        else if (row[word] > into[word])
            into[word] = row[word];
    }
}

static ls_status load_run(metric_totals *totals, ls_error *err)
{
    const metric_store *m = totals->m;
    for (size_t i = 0; i < m->sources.count; i++) {
        const metrics_source *s = &m->sources.at[i];
        ls_status status = metrics_read_row(m, s, METRICS_SCOPE_RUN, totals->row, err);
        if (status != LS_OK)
            return status;
        totals->active[s->type] = true;
        merge_row(m->types.at[s->type], totals->rows[s->type], totals->row);
    }
    return LS_OK;
}

/* Merges the packed row of one source, which has only the words that are not 0. A histogram's count comes before its
 * minimum, and a minimum that is 0 does not come at all: then the total's is 0, too. */
static void merge_packed(uint64_t *into, const uint8_t *rules, const uint8_t **p)
{
    size_t word = 0;
    uint64_t least = 0; /* of the sources before, in the histogram at hand */
    for (uint64_t count = metrics_take_number(p); count > 0; count--, word++) {
        word += metrics_take_number(p);
        uint64_t value = metrics_take_number(p);
        switch ((word_rule)rules[word]) {
        case RULE_COUNT:
            least = into[word] == 0 ? UINT64_MAX : into[word + METRICS_HIST_MIN];
            into[word + METRICS_HIST_MIN] = 0;
            into[word] += value;
            break;
        case RULE_ADD:
            into[word] += value;
            break;
        case RULE_MIN:
            into[word] = value < least ? value : least;
            break;
        case RULE_MAX:
            into[word] = value > into[word] ? value : into[word];
            break;
        }
    }
}

static void load_interval(metric_totals *totals, const metrics_interval *interval)
{
    const uint8_t *p = interval->packed, *end = p + interval->packed_bytes;
    for (size_t source = 0; p < end; source++) {
        source += metrics_take_number(&p);
        uint32_t type = totals->m->sources.at[source].type;
        totals->active[type] = true;
        merge_packed(totals->rows[type], totals->rules[type], &p);
    }
}

ls_status metric_totals_load(metric_totals *totals, size_t scope, ls_error *err)
{
    const metric_store *m = totals->m;
    clear(totals);
    totals->scope = scope;
    if (scope == LS_METRICS_RUN)
        return load_run(totals, err);
    if (scope >= m->intervals.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no interval %zu: %zu were recorded", scope,
                       m->intervals.count);
    load_interval(totals, &m->intervals.at[scope]);
    return LS_OK;
}

bool metric_totals_has(const metric_totals *totals, size_t type)
{
    if (totals->active[type] || totals->scope == LS_METRICS_RUN)
        return true;
    const metrics_interval *interval = &totals->m->intervals.at[totals->scope];
    const metrics_type *t = totals->m->types.at[type];
    for (size_t i = 0; i < t->sources.count && t->sources.at[i] < interval->source_count; i++)
        if (metrics_takes(&interval->decl, &totals->m->sources.at[t->sources.at[i]]))
            return true;
    return false;
}

bool metric_totals_active(const metric_totals *totals, size_t type)
{
    return totals->active[type];
}

const uint64_t *metric_totals_word(const metric_totals *totals, size_t type, size_t metric, metric_part part)
{
    static const uint64_t zero = 0;
    static const unsigned of_histogram[] = { METRICS_HIST_SUM, METRICS_HIST_COUNT, METRICS_HIST_MIN,
                                             METRICS_HIST_MAX };
    const metrics_type *t = totals->m->types.at[type];
    assert(metric < t->metric_count);
    const uint64_t *row = totals->rows[type], *field = &row[t->fields[t->field[metric]].word];
    if (t->metrics[metric].kind == LS_METRIC_KIND_HISTOGRAM)
        return &field[of_histogram[part]];
    if (t->metrics[metric].kind == LS_METRIC_KIND_RATIO && part == METRIC_PART_B)
        return &row[t->fields[t->denominator[metric]].word];
    return part == METRIC_PART_A ? field : &zero;
}

metric_parts metric_totals_get(const metric_totals *totals, size_t type, size_t metric)
{
    const metrics_type *t = totals->m->types.at[type];
    assert(metric < t->metric_count);
    const uint64_t *row = totals->rows[type], *field = &row[t->fields[t->field[metric]].word];
    switch (t->metrics[metric].kind) {
    case LS_METRIC_KIND_HISTOGRAM:
        return (metric_parts){ .a = field[METRICS_HIST_SUM],
                               .b = field[METRICS_HIST_COUNT],
                               .min = field[METRICS_HIST_MIN],
                               .max = field[METRICS_HIST_MAX] };
    case LS_METRIC_KIND_RATIO:
        return (metric_parts){ .a = *field, .b = row[t->fields[t->denominator[metric]].word] };
    default:
        return (metric_parts){ .a = *field };
    }
}
