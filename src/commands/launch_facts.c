/* launch_facts.c: see launch_facts.h. The questions that facts ask are found by asking them once of the registry. After that
 * an answer is a sum over known fields: no names are compared while a program runs. */
#include "commands/launch_facts.h"

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

/* A question: the sum of some fields, and for a ratio the sum of others. */
typedef struct question {
    const char *type, *name; /* of the string table in facts.c: they live as long as the program */
    bool is_ratio;
    size_t first, count; /* of plan.fields; denominators follow the numerators */
} question;

/* The questions about launches of one GPU. */
typedef struct plan {
    int32_t gpu;
    LS_VEC(question) questions;
    LS_VEC(const uint64_t *) fields;
    uint64_t *last; /* two sums for each question, at the end of the launch before */
} plan;

/* The longest launch of a name. */
typedef struct longest {
    size_t launch, plan;
    ls_time time;
    uint64_t *sums; /* two for each question of its plan */
} longest;

struct launch_facts {
    metric_store *metrics;
    fact_reader whole;
    LS_VEC(plan *) plans;
    LS_VEC(longest) kernels;
    string_map names; /* index of kernels + 1 */
    plan *asked;      /* whose questions are being found */
    bool has_failed;
    bool is_open; /* kernels run beside the last one */
    ls_time open_until;
};

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* --------------------------------------------------------------------------------------------- questions */

static const ls_metric *find_metric(const metric_source *source, const char *name)
{
    for (size_t i = 0; i < source->metric_count; i++)
        if (strcmp(source->metrics[i].name, name) == 0)
            return &source->metrics[i];
    return NULL;
}

static bool is_of(const plan *p, const metric_source *source)
{
    return source->gpu == LS_METRICS_NONE || source->gpu == p->gpu;
}

/* Fields of one half of a question. */
static bool add_fields(const metric_store *m, plan *p, const question *q, bool denominator)
{
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        const metric_source *source = metrics_source_at(m, i);
        if (!is_of(p, source) || !glob_match(q->type, source->type))
            continue;
        const ls_metric *metric = find_metric(source, q->name);
        bool is_counted = metric && (metric->kind == LS_METRIC_KIND_COUNTER ||
                                     (metric->kind == LS_METRIC_KIND_RATIO && q->is_ratio));
        const char *counters = source->counters;
        const void *field =
            is_counted ? counters + (denominator ? metric->denominator : metric->offset) : NULL;
        if (is_counted && !vec_push(&p->fields, field))
            return false;
    }
    return true;
}

static bool is_ratio(const metric_store *m, const char *type, const char *name)
{
    for (size_t i = 0; i < metrics_source_count(m); i++) {
        const metric_source *source = metrics_source_at(m, i);
        const ls_metric *metric = glob_match(type, source->type) ? find_metric(source, name) : NULL;
        if (metric)
            return metric->kind == LS_METRIC_KIND_RATIO;
    }
    return false;
}

static const question *find_question(const plan *p, const char *type, const char *name)
{
    for (size_t i = 0; i < p->questions.count; i++)
        if (strcmp(p->questions.at[i].name, name) == 0 && strcmp(p->questions.at[i].type, type) == 0)
            return &p->questions.at[i];
    return NULL;
}

/* Answers from the registry, and notes the question. */
static bool note_question(void *self, size_t scope, const char *type, const char *path, const char *name,
                          double *a, double *b)
{
    launch_facts *f = self;
    plan *p = f->asked;
    if (!find_question(p, type, name)) {
        question q = { .type = type, .name = name, .first = p->fields.count };
        q.is_ratio = is_ratio(f->metrics, type, name);
        bool good = add_fields(f->metrics, p, &q, false);
        q.count = p->fields.count - q.first;
        good = good && (!q.is_ratio || add_fields(f->metrics, p, &q, true)) && vec_push(&p->questions, q);
        f->has_failed |= !good;
    }
    return f->whole.metric(f->whole.self, scope, type, path, name, a, b);
}

static size_t ask_blocks(void *self, const char *type, const char *path)
{
    const launch_facts *f = self;
    return f->whole.blocks(f->whole.self, type, path);
}

static const char *ask_block(void *self, const char *type, size_t i)
{
    const launch_facts *f = self;
    return f->whole.block(f->whole.self, type, i);
}

/* The first launch of a GPU is over: its counters are not zero any more, so that all questions are asked. */
static plan *make_plan(launch_facts *f, int32_t gpu)
{
    plan *p = calloc(1, sizeof *p);
    if (!p || !vec_push(&f->plans, p)) {
        free(p);
        return NULL;
    }
    const fact_reader reader = { .self = f,
                                 .metric = note_question,
                                 .blocks = ask_blocks,
                                 .block = ask_block,
                                 .config_text = f->whole.config_text };
    const fact_scope scope = {
        .scope = LS_METRICS_RUN, .busy_fs = 1, .launched_fs = 1, .kernels = 1, .gpus = 1
    };
    fact_set unused;
    p->gpu = gpu;
    f->asked = p;
    facts_read(&reader, &scope, &unused);
    p->last = calloc(2 * p->questions.count + 1, sizeof *p->last);
    return p->last && !f->has_failed ? p : NULL;
}

static plan *find_plan(launch_facts *f, int32_t gpu, size_t *index)
{
    for (*index = 0; *index < f->plans.count; (*index)++)
        if (f->plans.at[*index]->gpu == gpu)
            return f->plans.at[*index];
    return make_plan(f, gpu);
}

/* ----------------------------------------------------------------------------------------------- answers */

static uint64_t add_up(const uint64_t *const *fields, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += *fields[i];
    return sum;
}

/* The sums since the end of the launch before; into *out unless it is NULL. */
static void read_sums(plan *p, uint64_t *out)
{
    for (size_t i = 0; i < p->questions.count; i++) {
        const question *q = &p->questions.at[i];
        const uint64_t *const *fields = (const uint64_t *const *)&p->fields.at[q->first];
        uint64_t sums[2] = { add_up(fields, q->count), q->is_ratio ? add_up(fields + q->count, q->count) : 0 };
        for (size_t k = 0; k < 2; k++) {
            if (out)
                out[2 * i + k] = sums[k] - p->last[2 * i + k];
            p->last[2 * i + k] = sums[k];
        }
    }
}

static bool runs_alone(launch_facts *f, const launch_facts_launch *launch)
{
    ls_time end = f->is_open && f->open_until > launch->end ? f->open_until : launch->end;
    bool beside = f->is_open || launch->next_begin < end;
    f->is_open = launch->next_begin < end;
    f->open_until = end;
    return !beside;
}

ls_status launch_facts_add(launch_facts *f, const launch_facts_launch *launch, size_t *scope, size_t *replaced,
                           ls_error *err)
{
    size_t index, at = (size_t)(uintptr_t)map_get(&f->names, launch->name);
    plan *p = find_plan(f, launch->gpu, &index);
    bool alone = runs_alone(f, launch);
    ls_time time = launch->end - launch->begin;
    *scope = SUMMARY_NO_SCOPE;
    *replaced = SIZE_MAX;
    if (!p)
        return no_memory(err);
    if (!alone || (at != 0 && f->kernels.at[at - 1].time >= time)) {
        read_sums(p, NULL);
        return LS_OK;
    }
    uint64_t *sums = at != 0 && f->kernels.at[at - 1].plan == index
                         ? f->kernels.at[at - 1].sums
                         : calloc(2 * p->questions.count + 1, sizeof *sums);
    if (!sums)
        return no_memory(err);
    read_sums(p, sums);
    if (at == 0) {
        at = f->kernels.count + 1;
        if (!vec_push(&f->kernels, (longest){ 0 }) ||
            !map_put(&f->names, launch->name, (void *)(uintptr_t)at)) {
            free(sums);
            return no_memory(err);
        }
    } else {
        *replaced = f->kernels.at[at - 1].launch;
        if (f->kernels.at[at - 1].sums != sums)
            free(f->kernels.at[at - 1].sums);
    }
    f->kernels.at[at - 1] = (longest){ .launch = launch->launch, .plan = index, .time = time, .sums = sums };
    *scope = at - 1;
    return LS_OK;
}

static bool answer(void *self, size_t scope, const char *type, const char *path, const char *name, double *a,
                   double *b)
{
    const launch_facts *f = self;
    if (scope == LS_METRICS_RUN)
        return f->whole.metric(f->whole.self, scope, type, path, name, a, b);
    const longest *kernel = &f->kernels.at[scope];
    const plan *p = f->plans.at[kernel->plan];
    const question *q = find_question(p, type, name);
    if (!q || q->count == 0)
        return false;
    size_t i = 2 * (size_t)(q - p->questions.at);
    *a = (double)kernel->sums[i];
    *b = q->is_ratio ? (double)kernel->sums[i + 1] : 1;
    return true;
}

fact_reader launch_facts_reader(launch_facts *f)
{
    return (fact_reader){ .self = f,
                          .metric = answer,
                          .blocks = ask_blocks,
                          .block = ask_block,
                          .config_text = f->whole.config_text };
}

/* -------------------------------------------------------------------------------------------------- life */

ls_status launch_facts_create(metric_store *metrics, const char *config_text, launch_facts **out,
                              ls_error *err)
{
    launch_facts *f = calloc(1, sizeof *f);
    *out = f;
    if (!f)
        return no_memory(err);
    f->metrics = metrics;
    f->whole = facts_of_store(metrics, config_text);
    return LS_OK;
}

void launch_facts_destroy(launch_facts *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->plans.count; i++) {
        vec_fini(&f->plans.at[i]->questions);
        vec_fini(&f->plans.at[i]->fields);
        free(f->plans.at[i]->last);
        free(f->plans.at[i]);
    }
    for (size_t i = 0; i < f->kernels.count; i++)
        free(f->kernels.at[i].sums);
    vec_fini(&f->plans);
    vec_fini(&f->kernels);
    map_fini(&f->names);
    free(f);
}
