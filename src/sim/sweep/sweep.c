/* sweep.c: opens a sweep (lockstep/sim.h): its grid, the check and the name of every point; and its results. */
#include "base/file.h"
#include "platform/needs.h"
#include "report/postgres.h"
#include "sim/session.h"
#include "sim/sweep/session.h"
#include "workload/identity.h"
#include "workloads/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the sweep");
}

/* ------------------------------------------------------------------------------------------------ the grid */

/* A server takes the points of all shards. A file is for one: shards write "sweep.2-of-8.db". */
static ls_status name_database(ls_sim_sweep *s, ls_error *err)
{
    const char *path = s->options.database, *dot = strrchr(path, '.');
    if (s->options.shards && (s->options.shard == 0 || s->options.shard > s->options.shards)) {
        ls_fail(err, LS_ERR_USAGE, "there is no shard %u of %u: they are numbered from 1", s->options.shard,
                s->options.shards);
        return ls_error_at(err, "shard", 0, 0);
    }
    s->database = path;
    if (s->options.shards && !postgres_is_url(path))
        s->database = arena_printf(&s->arena, "%.*s.%u-of-%u%s", (int)(dot - path), path, s->options.shard,
                                   s->options.shards, dot);
    s->shown = s->database ? postgres_public_url(&s->arena, s->database) : NULL;
    return s->shown ? LS_OK : no_memory(err);
}

static ls_status check_database(ls_sim_sweep *s, ls_error *err)
{
    export_format format;
    if (!s->options.database)
        return ls_fail(err, LS_ERR_USAGE, "a sweep needs a database");
    ls_status status = export_format_of(s->options.database, &format, err);
    if (status == LS_OK && format != LS_EXPORT_SQLITE) {
        ls_fail(err, LS_ERR_USAGE, "a sweep goes into a database");
        ls_error_nearest(err, "sweep.db");
        return ls_error_at(err, "database", 0, 0);
    }
    if (status == LS_OK)
        status = name_database(s, err);
    return status == LS_OK ? run_output_check(&s->database, 1, NULL, err) : status;
}

static ls_status check_workloads(const ls_sim_sweep *s, ls_error *err)
{
    const sweep *sw = &s->sweep;
    ls_status status = LS_OK;
    if (sw->trace_count == 0)
        return ls_fail(err, LS_ERR_USAGE, "sweep: a workload is missing");
    for (size_t i = 0; i < sw->trace_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(sw->traces[i], sw->traces[k]) == 0)
                return ls_fail(err, LS_ERR_USAGE, "sweep: the workload %s is named twice", sw->traces[i]);
    for (size_t i = 0; i < sw->trace_count && status == LS_OK; i++) {
        ls_sim_options point = s->base;
        point.workload = sw->traces[i];
        status = session_check_kind(&point, run_kind_of(point.workload), err);
    }
    return status;
}

static ls_status read_grid(ls_sim_sweep *s, ls_error *err)
{
    sweep *sw = &s->sweep;
    sw->grid = (sweep_grid){ .arena = &s->arena, .points = 1 };
    sw->platform = s->base.platform;
    sw->traces = s->options.workloads;
    sw->trace_count = s->options.workload_count;
    if (!sw->platform)
        return ls_fail(err, LS_ERR_USAGE, "a platform is missing: a name or a file");
    for (size_t i = 0; i < s->options.vary_count; i++)
        if (sweep_grid_add(&sw->grid, s->options.vary[i], err) != LS_OK)
            return ls_error_at(err, "vary", 0, 0);
    if (sw->grid.axes.count == 0)
        return ls_fail(err, LS_ERR_USAGE, "sweep: nothing is varied: --vary KEY=VALUE,VALUE,...");
    return check_workloads(s, err);
}

/* ------------------------------------------------------------------------------------------ names of points */

/* Of every key that does nothing at some point, whether it is varied or fixed. */
static void warn_once(ls_sim_sweep *s, const platform_config *config)
{
    char text[1024];
    for (size_t next = 0; config_next_idle(config, &next, text, sizeof text);) {
        bool known = false;
        for (size_t i = 0; i < s->warned.count && !known; i++)
            known = strcmp(s->warned.at[i], text) == 0;
        const char *kept = known ? NULL : arena_strdup(&s->arena, text);
        if (kept && vec_push(&s->warned, kept) && s->options.warn)
            s->options.warn(s->options.warn_self, text);
    }
}

/* Checks the configuration of a grid point and gives its hash. */
static ls_status config_hash(ls_sim_sweep *s, size_t point, hash128 *out, ls_error *err)
{
    config_request request;
    ls_status status = session_request(&s->arena, &s->base, &request, err);
    if (status != LS_OK)
        return status;
    const char *const *own = sweep_grid_sets(&s->sweep.grid, point);
    size_t varied = s->sweep.grid.axes.count;
    const char **sets = arena_array(&s->arena, request.set_count + varied, sizeof *sets);
    if (!own || !sets)
        return no_memory(err);
    memcpy(sets, request.sets, request.set_count * sizeof *sets);
    memcpy(sets + request.set_count, own, varied * sizeof *sets);
    request.sets = sets;
    request.set_count += varied;
    platform_config *config;
    status = config_load(&request, &config, NULL, err);
    if (status != LS_OK)
        return status;
    *out = config_hash_of(config);
    warn_once(s, config);
    s->sweep.assumptions = config_assumption_count(config);
    config_destroy(config);
    return LS_OK;
}

/* A workload is its name and its kernels, which the platform's instruction set chooses. Kernels of all targets
 * are taken: a change of any is a change of the build. */
static ls_status workload_identity(const char *name, const char *variant, hash128 *out, ls_error *err)
{
    static const char *const gpus[] = { "gfx803", "gfx1010", "gfx1030", "gfx90a", "gfx942" };
    const wl_workload *w;
    char path[4096];
    hash_stream *hasher = NULL;
    ls_status status = wl_find(name, &w, err);
    if (status == LS_OK)
        status = hasher_create(&hasher, err);
    if (status == LS_OK)
        hasher_add_field(hasher, name, strlen(name));
    for (size_t i = 0; i < LS_COUNT_OF(gpus) && status == LS_OK; i++) {
        hash128 content;
        /* A missing kernel cannot be run. */
        if (wl_kernel_path(w->kernels ? w->kernels : w->name, gpus[i], variant ? variant : "", path,
                           sizeof path, NULL) != LS_OK)
            continue;
        status = trace_identity(path, &content, err);
        if (status == LS_OK)
            hasher_add(hasher, &content, sizeof content);
    }
    if (status == LS_OK)
        *out = hasher_get(hasher);
    hasher_destroy(hasher);
    return status;
}

typedef struct naming {
    hash_stream *hasher;
    hash_stream *sweep, *workloads; /* of the identity */
    hash128 *configs;               /* of the points of the grid */
    const char **keys;
    sweep_word *words;
    size_t word_count;
} naming;

static ls_status name_point(ls_sim_sweep *s, const naming *n, size_t trace, size_t p, hash128 identity,
                            ls_error *err)
{
    sweep *sw = &s->sweep;
    size_t axes = sw->grid.axes.count;
    sweep_point *point = &sw->points[trace * sw->grid.points + p];
    const char **values = arena_array(&s->arena, axes, sizeof *values);
    if (!values)
        return no_memory(err);
    for (size_t a = 0; a < axes; a++)
        values[a] = sweep_grid_value(&sw->grid, p, a);
    *point = (sweep_point){ .trace = sw->traces[trace], .keys = n->keys, .values = values, .key_count = axes };
    hasher_reset(n->hasher);
    hasher_add(n->hasher, &identity, sizeof identity);
    hasher_add(n->hasher, &n->configs[p], sizeof n->configs[p]);
    hasher_add_field(n->hasher, LS_VERSION_STRING, strlen(LS_VERSION_STRING));
    if (s->options.warm)
        hasher_add(n->hasher, &s->warm_hash, sizeof s->warm_hash);
    ls_status status = sweep_words_hash(&s->base, n->words, n->word_count, n->hasher, err);
    hash128_text(hasher_get(n->hasher), point->id);
    hasher_add_field(n->sweep, point->id, strlen(point->id));
    return status;
}

static ls_status name_points(ls_sim_sweep *s, ls_error *err)
{
    sweep *sw = &s->sweep;
    size_t axes = sw->grid.axes.count;
    naming n = { .configs = arena_array(&s->arena, sw->grid.points, sizeof *n.configs),
                 .keys = arena_array(&s->arena, axes, sizeof *n.keys) };
    size_t count = sw->grid.points * sw->trace_count;
    sw->points = arena_array(&s->arena, count, sizeof *sw->points);
    if (!n.configs || !n.keys || !sw->points)
        return no_memory(err);
    memset(sw->points, 0, count * sizeof *sw->points);
    sw->point_count = count;
    for (size_t a = 0; a < axes; a++)
        n.keys[a] = sw->grid.axes.at[a].key;
    ls_status status = sweep_words(&s->arena, &s->base, &n.words, &n.word_count, err);
    if (status == LS_OK)
        status = hasher_create(&n.hasher, err);
    if (status == LS_OK)
        status = hasher_create(&n.sweep, err);
    if (status == LS_OK)
        status = hasher_create(&n.workloads, err);
    for (size_t p = 0; p < sw->grid.points && status == LS_OK; p++)
        status = config_hash(s, p, &n.configs[p], err);
    for (size_t t = 0; t < sw->trace_count && status == LS_OK; t++) {
        hash128 identity;
        status = run_kind_of(sw->traces[t]) == RUN_WORKLOAD
                     ? workload_identity(sw->traces[t], s->base.variant, &identity, err)
                     : trace_identity(sw->traces[t], &identity, err);
        if (status == LS_OK)
            hasher_add(n.workloads, &identity, sizeof identity);
        for (size_t p = 0; p < sw->grid.points && status == LS_OK; p++)
            status = name_point(s, &n, t, p, identity, err);
    }
    if (status == LS_OK) {
        hash128_text(hasher_get(n.sweep), s->identity.sweep);
        hash128_text(hasher_get(n.workloads), s->identity.workload_hash);
        hash128_text(hash128_of(n.configs, sw->grid.points * sizeof *n.configs), s->identity.config_hash);
        s->identity.description = sweep_description(s);
        status = s->identity.description ? LS_OK : no_memory(err);
    }
    hasher_destroy(n.hasher);
    hasher_destroy(n.sweep);
    hasher_destroy(n.workloads);
    return status;
}

/* ------------------------------------------------------------------------------------------------- opening */

static ls_status open_sweep(ls_sim_sweep *s, const ls_sim_sweep_options *options, ls_error *err)
{
    ls_status status = session_take(&s->options, sizeof s->options, options, "ls_sim_sweep_options", err);
    if (status == LS_OK && !s->options.base)
        status = ls_fail(err, LS_ERR_USAGE, "a sweep needs the options of its points");
    if (status == LS_OK)
        status = session_take(&s->base, sizeof s->base, s->options.base, "ls_sim_options", err);
    if (status == LS_OK)
        status = check_database(s, err);
    if (status == LS_OK)
        status = ls_sim_load_plugins(s->base.plugins, s->base.plugin_count, err);
    if (status == LS_OK)
        status = read_grid(s, err);
    if (status == LS_OK)
        status = sweep_warm_open(s, err);
    return status == LS_OK ? name_points(s, err) : status;
}

ls_status ls_sim_sweep_open(const ls_sim_sweep_options *options, ls_sim_sweep **out, ls_error *err)
{
    *out = NULL;
    ls_sim_sweep *s = calloc(1, sizeof *s);
    if (!s)
        return no_memory(err);
    ls_status status = open_sweep(s, options, err);
    if (status == LS_OK)
        *out = s;
    else
        ls_sim_sweep_close(s);
    return status;
}

void ls_sim_sweep_close(ls_sim_sweep *s)
{
    if (!s)
        return;
    vec_fini(&s->sweep.columns.names);
    vec_fini(&s->warned);
    sweep_grid_fini(&s->sweep.grid);
    arena_fini(&s->arena);
    free(s);
}

/* ------------------------------------------------------------------------------------------------- results */

size_t ls_sim_sweep_key_count(const ls_sim_sweep *s)
{
    return s->sweep.grid.axes.count;
}

const char *ls_sim_sweep_key(const ls_sim_sweep *s, size_t key)
{
    return key < s->sweep.grid.axes.count ? s->sweep.grid.axes.at[key].key : NULL;
}

size_t ls_sim_sweep_point_count(const ls_sim_sweep *s)
{
    return s->sweep.point_count;
}

ls_status ls_sim_get_point(const ls_sim_sweep *s, size_t index, ls_sim_point *out, ls_error *err)
{
    if (index >= s->sweep.point_count)
        return ls_fail(err, LS_ERR_USAGE, "the sweep has %zu points: there is no point %zu",
                       s->sweep.point_count, index);
    const sweep_point *p = &s->sweep.points[index];
    *out = (ls_sim_point){
        .id = p->id,
        .workload = p->trace,
        .values = p->values,
        .done = p->done,
        .run = p->run,
        .time_ns = p->time_ns,
        .cycles = p->cycles,
        .wall_seconds = p->wall_seconds,
        .error = p->error,
    };
    return LS_OK;
}

ls_sim_sweep_progress ls_sim_sweep_get_progress(const ls_sim_sweep *s)
{
    return s->progress;
}

const char *ls_sim_sweep_database(const ls_sim_sweep *s)
{
    return s->shown;
}

size_t ls_sim_sweep_column_count(const ls_sim_sweep *s)
{
    return s->sweep.columns.names.count;
}

const char *ls_sim_sweep_column(const ls_sim_sweep *s, size_t column)
{
    return column < s->sweep.columns.names.count ? s->sweep.columns.names.at[column] : NULL;
}

double ls_sim_sweep_value(const ls_sim_sweep *s, size_t point, size_t column)
{
    const sweep_columns *c = &s->sweep.columns;
    bool is_there = point < s->sweep.point_count && column < c->names.count && c->values;
    return is_there ? c->values[point * c->names.count + column] : NAN;
}

ls_status ls_sim_sweep_print(const ls_sim_sweep *s, size_t top, FILE *to, ls_error *err)
{
    sweep_render(&s->sweep, top, to);
    return ferror(to) ? ls_fail(err, LS_ERR_IO, "cannot write the ranking") : LS_OK;
}

ls_status ls_sim_sweep_write(const ls_sim_sweep *s, const char *path, ls_error *err)
{
    const char *dot = strrchr(path, '.');
    bool is_page = dot && strcmp(dot, ".html") == 0;
    file_writer writer;
    if (!dot || (!is_page && strcmp(dot, ".csv") != 0)) {
        ls_fail(err, LS_ERR_USAGE, "a sweep is written as .csv or .html");
        return ls_error_at(err, path, 0, 0);
    }
    ls_status status = file_writer_open(&writer, path, err);
    if (status != LS_OK)
        return status;
    (is_page ? sweep_render_html : sweep_render_csv)(&s->sweep, writer.stream);
    return file_writer_commit(&writer, err);
}
