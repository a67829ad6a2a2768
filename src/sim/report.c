/* report.c: reports for clients of lockstep/sim.h: loads results, finds the origins of their keys, writes the page. */
#include "base/file.h"
#include "base/vec.h"
#include "platform/config.h"
#include "report/page/page.h"
#include "report/postgres.h"
#include "report/timeline/spans.h"
#include "sim/session.h"

#include <stdlib.h>
#include <string.h>

typedef struct report_job {
    mem_arena arena;
    ls_sim_page_options options;
    LS_VEC(page_result) results;
    LS_VEC(saved_results *) loaded;
    page_sweep *sweep;
    const timeline_spans *timeline; /* of the session; NULL: none */
} report_job;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "no memory left for the report");
}

static void job_fini(report_job *job)
{
    for (size_t i = 0; i < job->loaded.count; i++)
        saved_destroy(job->loaded.at[i]);
    vec_fini(&job->loaded);
    vec_fini(&job->results);
    page_sweep_destroy(job->sweep);
    arena_fini(&job->arena);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ----------------------------------------------------------------------------------------------------- keys */

/* The platform of a result by its name, NULL if this installation has none. Its origins are shown only if it has the key. */
static platform_config *named_platform(const report_job *job, const saved_results *saved)
{
    platform_config *config = NULL;
    const config_request request = { .platform = saved->platform,
                                     .platform_dirs = job->options.platform_dirs,
                                     .platform_dir_count = job->options.platform_dir_count };
    ls_error ignored;
    if (!saved->platform[0] || config_load(&request, &config, NULL, &ignored) != LS_OK)
        return NULL;
    return config;
}

static platform_config *run_platform(const saved_results *saved)
{
    platform_config *config = NULL;
    const config_request request = { .platform = "result",
                                     .text = saved->config_text,
                                     .text_bytes = strlen(saved->config_text) };
    ls_error ignored;
    if (!saved->config_text[0] || config_load(&request, &config, NULL, &ignored) != LS_OK)
        return NULL;
    return config;
}

static const char *copy(report_job *job, const char *text)
{
    return text && text[0] ? arena_strdup(&job->arena, text) : NULL;
}

static page_key key_of(report_job *job, const config_value *value, const config_value *named)
{
    char origin[512];
    page_key key = { .key = copy(job, value->key->path),
                     .value = arena_strdup(&job->arena, value->text),
                     .unit = copy(job, value->key->param->unit) };
    if (!named)
        return key;
    if (strcmp(value->text, named->text) != 0) {
        key.origin = "this run";
        key.platform = arena_strdup(&job->arena, named->text);
        return key;
    }
    const value_origin *first = &named->origins[0];
    key.origin = copy(job, base_name(origin_text(first, origin, sizeof origin)));
    key.source = copy(job, first->comment);
    if (first->kind == LS_ORIGIN_FILE && named->origin_count > 1 &&
        strcmp(named->origins[1].text, named->text) != 0)
        key.base = arena_strdup(&job->arena, named->origins[1].text);
    return key;
}

/* Without a schema for it (a plug-in that is not loaded), the keys of the text alone. */
static ls_status keys_of_text(report_job *job, const char *text, page_key *out, size_t *count, ls_error *err)
{
    *count = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *begin = line + strspn(line, " -");
        const char *colon = strchr(begin, ':'), *end = line + strcspn(line, "\n");
        if (!colon || colon >= end || *begin == '#')
            continue;
        colon += 1 + (colon + 1 < end && colon[1] == ' ');
        page_key *key = &out[(*count)++];
        key->key = arena_strndup(&job->arena, begin, (size_t)(strchr(begin, ':') - begin));
        key->value = arena_strndup(&job->arena, colon, (size_t)(end - colon));
        if (!key->key || !key->value)
            return no_memory(err);
    }
    return LS_OK;
}

static ls_status find_keys(report_job *job, page_result *r, ls_error *err)
{
    platform_config *own = run_platform(r->saved), *named = own ? named_platform(job, r->saved) : NULL;
    size_t room = 1, count = 0;
    for (const char *at = r->saved->config_text; *at; at++)
        room += *at == '\n';
    room = own ? config_value_count(own) + 1 : room + 1;
    page_key *keys = arena_array(&job->arena, room, sizeof *keys);
    ls_status status = keys ? LS_OK : no_memory(err);
    if (keys)
        memset(keys, 0, room * sizeof *keys);
    if (status == LS_OK && !own)
        status = keys_of_text(job, r->saved->config_text, keys, &count, err);
    for (size_t i = 0; status == LS_OK && own && i < config_value_count(own); i++) {
        const config_value *value = config_at(own, i);
        keys[count++] = key_of(job, value, named ? config_find(named, value->key->path) : NULL);
    }
    r->keys = keys;
    r->key_count = count;
    config_destroy(own);
    config_destroy(named);
    return status;
}

/* -------------------------------------------------------------------------------------------------- results */

static ls_status add_result(report_job *job, const char *label, saved_results *saved, ls_error *err)
{
    if (!vec_push(&job->loaded, saved)) {
        saved_destroy(saved);
        return no_memory(err);
    }
    page_result r = { .label = arena_strdup(&job->arena, label), .saved = saved };
    ls_status status = r.label ? find_keys(job, &r, err) : no_memory(err);
    if (status == LS_OK && !vec_push(&job->results, r))
        status = no_memory(err);
    return status;
}

static ls_status load_result(report_job *job, const char *path, ls_error *err)
{
    saved_results *saved;
    const char *shown = postgres_public_url(&job->arena, path);
    if (!shown)
        return no_memory(err);
    if (!strrchr(path, '#') && !job->sweep) {
        ls_status status = page_sweep_load(path, &job->sweep, err);
        if (status != LS_OK)
            return err && err->where[0] ? status : ls_error_at(err, shown, 0, 0);
        if (job->sweep)
            return LS_OK;
    }
    ls_status status = saved_load(path, &saved, err);
    return status == LS_OK ? add_result(job, base_name(shown), saved, err) : status;
}

static const char *title_of(report_job *job, const char *first)
{
    if (job->options.title)
        return job->options.title;
    if (job->results.count == 0)
        return arena_printf(&job->arena, "sweep %s", base_name(job->sweep ? job->sweep->label : first));
    if (job->results.count == 1)
        return arena_printf(&job->arena, "%s on %s", job->results.at[0].label,
                            job->results.at[0].saved->platform);
    return arena_printf(&job->arena, "%s and %zu more", job->results.at[0].label, job->results.count - 1);
}

static ls_status write_page(report_job *job, const char *first, const char *path, ls_error *err)
{
    const page_input in = { .title = title_of(job, first),
                            .results = job->results.at,
                            .result_count = job->results.count,
                            .sweep = job->sweep,
                            .timeline = job->timeline };
    return in.title ? page_write_file(&in, path, err) : no_memory(err);
}

ls_status ls_sim_page(const char *const *results, size_t count, const char *path,
                      const ls_sim_page_options *options, ls_error *err)
{
    report_job job = { .options = { LS_SIM_PAGE_OPTIONS } };
    ls_status status =
        options ? session_take(&job.options, sizeof job.options, options, "ls_sim_page_options", err) : LS_OK;
    if (status == LS_OK && count == 0)
        status = ls_fail(err, LS_ERR_USAGE, "a report needs at least one file of results");
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = load_result(&job, results[i], err);
    if (status == LS_OK)
        status = write_page(&job, results[0], path, err);
    job_fini(&job);
    return status;
}

ls_status ls_sim_write_page(ls_sim *s, const char *path, const ls_sim_page_options *options, ls_error *err)
{
    report_job job = { .options = { LS_SIM_PAGE_OPTIONS } };
    ls_status status =
        options ? session_take(&job.options, sizeof job.options, options, "ls_sim_page_options", err) : LS_OK;
    if (status == LS_OK && !s->has_run)
        status = ls_fail(err, LS_ERR_USAGE, "the simulation has no results before ls_sim_run()");
    if (status != LS_OK)
        return status;
    run_results results = session_results(s, NULL, job.options.command);
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    saved_results *saved = NULL;
    if (!stream)
        return no_memory(err);
    status = export_stream(&results, LS_EXPORT_JSON, NULL, stream, err);
    if (fclose(stream) != 0 && status == LS_OK)
        status = no_memory(err);
    if (status == LS_OK)
        status = saved_load_text("run", text, bytes, &saved, err);
    if (status == LS_OK)
        status = add_result(&job, "run", saved, err);
    if (status == LS_OK && s->timeline != NULL)
        status = timeline_make_spans(s->timeline, s->result.end_time, &job.timeline, err);
    if (status == LS_OK)
        status = write_page(&job, "run", path, err);
    free(text);
    job_fini(&job);
    return status;
}
