/* session_results.c: kernels, streams, metrics and stall stacks of a run, one by one (lockstep/sim.h). */
#include "sim/session.h"

#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------- kernels and streams */

static ls_status add_stream(ls_sim *s, const ls_sim_kernel *k, ls_error *err)
{
    size_t i = 0;
    while (i < s->streams.count && s->streams.at[i].s.stream != k->stream)
        i++;
    if (i == s->streams.count &&
        !vec_push(&s->streams, ((session_stream){ .s = { .stream = k->stream, .begin = k->begin } })))
        return no_memory(err);
    session_stream *stream = &s->streams.at[i];
    stream->s.kernels++;
    stream->s.begin = k->begin < stream->s.begin ? k->begin : stream->s.begin;
    stream->s.end = k->end > stream->s.end ? k->end : stream->s.end;
    if (!spans_add(&stream->busy, k->begin_cycle, k->end_cycle))
        return no_memory(err);
    stream->s.cycles = stream->busy.total;
    return LS_OK;
}

static ls_status add_kernel(ls_sim *s, ls_sim_kernel k, size_t scope, ls_error *err)
{
    k.overlapped = metrics_interval_at(s->metrics, scope)->overlapped;
    if (!vec_push(&s->kernels, ((session_kernel){ .k = k, .scope = scope })))
        return no_memory(err);
    return add_stream(s, &k, err);
}

static ls_status gather_trace(ls_sim *s, const run_trace *t, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < t->intervals.count && status == LS_OK; i++) {
        const replay_kernel *k = replay_kernel_at(t->replay, i);
        status = add_kernel(s,
                            (ls_sim_kernel){ .number = k->number,
                                             .name = k->name,
                                             .stream = k->stream,
                                             .gpu = t->gpu->number,
                                             .begin = ls_clock_time(t->clock, k->begin),
                                             .end = ls_clock_time(t->clock, k->end),
                                             .begin_cycle = k->begin,
                                             .end_cycle = k->end },
                            t->intervals.at[i], err);
    }
    return status;
}

static ls_status gather_devices(ls_sim *s, ls_error *err)
{
    ls_status status = LS_OK;
    for (uint32_t i = 0; i < s->devices.count && status == LS_OK; i++)
        if (s->devices.at[i].replay)
            status = gather_trace(s, &s->devices.at[i], err);
    return status;
}

static ls_status gather_program(ls_sim *s, ls_error *err)
{
    const run_program *p = &s->program;
    ls_status status = LS_OK;
    size_t launches = 0;
    for (size_t i = 0; i < p->log.records.count && status == LS_OK; i++) {
        const timing_record *r = &p->log.records.at[i];
        if (r->kind != DRV_WORK_LAUNCH)
            continue;
        const ls_clock *clock = timing_clock(p->request.system, r->gpu);
        status = add_kernel(s,
                            (ls_sim_kernel){ .number = r->number + 1,
                                             .name = r->kernel,
                                             .gpu = r->gpu,
                                             .begin = r->begin,
                                             .end = r->end,
                                             .begin_cycle = ls_clock_cycle_at(clock, r->begin),
                                             .end_cycle = ls_clock_cycle_at(clock, r->end) },
                            p->log.intervals.at[launches++], err);
    }
    return status;
}

size_t ls_sim_kernel_count(const ls_sim *s)
{
    return s->kernels.count;
}

ls_status ls_sim_get_kernel(const ls_sim *s, size_t kernel, ls_sim_kernel *out, ls_error *err)
{
    if (kernel >= s->kernels.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no kernel %zu: %zu have ended", kernel, s->kernels.count);
    *out = s->kernels.at[kernel].k;
    return LS_OK;
}

size_t ls_sim_stream_count(const ls_sim *s)
{
    return s->streams.count;
}

ls_status ls_sim_get_stream(const ls_sim *s, size_t stream, ls_sim_stream *out, ls_error *err)
{
    if (stream >= s->streams.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no stream %zu: %zu had kernels", stream, s->streams.count);
    *out = s->streams.at[stream].s;
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------- metrics */

/* The stall stacks of a machine: blocks with reasons "stall_*", the part without one, and the whole. */
static const struct {
    const char *slot, *busy, *reason, *whole;
} stacks[] = {
    { "core/", "issued", "issued", "issue_slots" },
    { "cu/", "active_cycles", "active", "resident_cycles" },
};

static size_t find_metric(const metric_type *type, const char *name)
{
    size_t i = 0;
    while (i < type->metric_count && strcmp(type->metrics[i].name, name) != 0)
        i++;
    return i;
}

static bool add_stack(ls_sim *s, size_t index, const metric_type *type)
{
    for (size_t k = 0; k < LS_COUNT_OF(stacks); k++) {
        size_t busy = find_metric(type, stacks[k].busy), whole = find_metric(type, stacks[k].whole);
        if (strncmp(type->name, stacks[k].slot, strlen(stacks[k].slot)) != 0 || busy == type->metric_count ||
            whole == type->metric_count)
            continue;
        if (!vec_push(&s->stalls, ((session_metric){ .type = index, .metric = busy, .whole = whole })))
            return false;
        for (size_t m = 0; m < type->metric_count; m++)
            if (strncmp(type->metrics[m].name, "stall_", 6) == 0 &&
                !vec_push(&s->stalls, ((session_metric){ .type = index, .metric = m, .whole = whole })))
                return false;
    }
    return true;
}

static ls_status gather_metrics(ls_sim *s, ls_error *err)
{
    for (size_t i = 0; i < metrics_type_count(s->metrics); i++) {
        metric_type type = metrics_type_at(s->metrics, i);
        for (size_t m = 0; m < type.metric_count; m++)
            if (!vec_push(&s->list, ((session_metric){ .type = i, .metric = m })))
                return no_memory(err);
        if (!add_stack(s, i, &type))
            return no_memory(err);
    }
    return metric_view_create(s->metrics, &s->view, err);
}

ls_status session_gather(ls_sim *s, ls_error *err)
{
    ls_status status = s->has_devices   ? gather_devices(s, err)
                       : s->has_trace   ? gather_trace(s, &s->trace, err)
                       : s->has_program ? gather_program(s, err)
                                        : LS_OK;
    return status == LS_OK ? gather_metrics(s, err) : status;
}

void session_results_fini(ls_sim *s)
{
    for (size_t i = 0; i < s->streams.count; i++)
        spans_fini(&s->streams.at[i].busy);
    vec_fini(&s->streams);
    vec_fini(&s->kernels);
    vec_fini(&s->list);
    vec_fini(&s->stalls);
    metric_view_destroy(s->view);
}

/* The scope of the registry that is a kernel's. */
static ls_status find_scope(const ls_sim *s, size_t scope, size_t *out, ls_error *err)
{
    if (scope != LS_SIM_RUN && scope >= s->kernels.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no kernel %zu: %zu have ended", scope, s->kernels.count);
    *out = scope == LS_SIM_RUN ? LS_METRICS_RUN : s->kernels.at[scope].scope;
    return LS_OK;
}

/* Values of one scope are unpacked once. */
static ls_status load_scope(ls_sim *s, size_t scope, ls_error *err)
{
    if (!s->view)
        return ls_fail(err, LS_ERR_USAGE, "the simulation has no results before ls_sim_run()");
    if (s->view_loaded && s->view_scope == scope)
        return LS_OK;
    size_t interval = LS_METRICS_RUN;
    ls_status status = find_scope(s, scope, &interval, err);
    if (status == LS_OK)
        status = metric_view_load(s->view, interval, err);
    s->view_loaded = status == LS_OK;
    s->view_scope = scope;
    return status;
}

static void fill_value(const metric_value *v, ls_sim_metric *out)
{
    out->kind = v->kind;
    out->present = v->present;
    out->blocks = v->sources;
    out->value = v->value;
    out->real = (double)v->value;
    out->min = out->max = 0;
    if (v->kind == LS_METRIC_KIND_RATIO)
        out->real = v->present ? v->ratio : 0;
    if (v->kind == LS_METRIC_KIND_HISTOGRAM) {
        const ls_histogram *h = &v->histogram;
        out->value = h->count;
        out->real = h->count ? (double)h->sum / (double)h->count : 0;
        out->min = h->min;
        out->max = h->max;
    }
}

size_t ls_sim_metric_count(const ls_sim *s)
{
    return s->list.count;
}

ls_status ls_sim_get_metric(ls_sim *s, size_t scope, size_t metric, ls_sim_metric *out, ls_error *err)
{
    metric_value value;
    if (s->view && metric >= s->list.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no metric %zu: there are %zu", metric, s->list.count);
    ls_status status = load_scope(s, scope, err);
    if (status != LS_OK)
        return status;
    const session_metric *at = &s->list.at[metric];
    metric_type type = metrics_type_at(s->metrics, at->type);
    const ls_metric *m = &type.metrics[at->metric];
    metric_view_type(s->view, at->type, at->metric, &value);
    *out =
        (ls_sim_metric){ .type = type.name, .name = m->name, .unit = metric_unit(m), .help = metric_help(m) };
    fill_value(&value, out);
    return LS_OK;
}

ls_status ls_sim_find_metric(ls_sim *s, size_t scope, const char *type, const char *path, const char *name,
                             ls_sim_metric *out, ls_error *err)
{
    size_t interval = LS_METRICS_RUN;
    metric_value value;
    ls_status status = find_scope(s, scope, &interval, err);
    if (status == LS_OK)
        status = metrics_get(s->metrics, interval, type, path, name, &value, err);
    if (status != LS_OK)
        return status;
    *out = (ls_sim_metric){ .type = type ? type : "*", .name = name, .unit = "", .help = "" };
    for (size_t i = 0; i < metrics_type_count(s->metrics); i++) {
        metric_type t = metrics_type_at(s->metrics, i);
        size_t m = find_metric(&t, name);
        if (m == t.metric_count || (type && !glob_match(type, t.name)))
            continue;
        out->name = t.metrics[m].name; /* the caller's text may not live as long */
        out->type = t.name;
        out->unit = metric_unit(&t.metrics[m]);
        out->help = metric_help(&t.metrics[m]);
        break;
    }
    fill_value(&value, out);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- stall stacks */

size_t ls_sim_stall_count(const ls_sim *s)
{
    return s->stalls.count;
}

ls_status ls_sim_get_stall(ls_sim *s, size_t scope, size_t stall, ls_sim_stall *out, ls_error *err)
{
    metric_value part, whole;
    if (s->view && stall >= s->stalls.count)
        return ls_fail(err, LS_ERR_USAGE, "there is no stall %zu: there are %zu", stall, s->stalls.count);
    ls_status status = load_scope(s, scope, err);
    if (status != LS_OK)
        return status;
    const session_metric *at = &s->stalls.at[stall];
    metric_type type = metrics_type_at(s->metrics, at->type);
    const ls_metric *m = &type.metrics[at->metric];
    metric_view_type(s->view, at->type, at->metric, &part);
    metric_view_type(s->view, at->type, at->whole, &whole);
    *out = (ls_sim_stall){ .type = type.name,
                           .reason = m->name + (strncmp(m->name, "stall_", 6) == 0 ? 6 : 0),
                           .unit = metric_unit(m),
                           .help = metric_help(m),
                           .value = part.value,
                           .share = whole.value ? (double)part.value / (double)whole.value : 0 };
    for (size_t i = 0; i < LS_COUNT_OF(stacks); i++)
        if (strcmp(m->name, stacks[i].busy) == 0)
            out->reason = stacks[i].reason;
    return LS_OK;
}
