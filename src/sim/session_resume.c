/* session_resume.c: a simulation goes on from a checkpoint (session_checkpoint.h). */
#include "sim/session.h"
#include "sim/session_checkpoint.h"
#include "sim/warm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "out of memory");
}

/* The keys of the checkpoint's platform, then the new ones. */
static ls_status join_sets(mem_arena *arena, ls_sim_options *o, const ls_sim_resume_options *resume,
                           ls_error *err)
{
    const char **sets = arena_array(arena, o->set_count + resume->set_count + 1, sizeof *sets);
    if (sets == NULL)
        return no_memory(err);
    for (size_t i = 0; i < o->set_count; i++)
        sets[i] = o->sets[i];
    for (size_t i = 0; i < resume->set_count; i++)
        sets[o->set_count + i] = resume->sets[i];
    o->sets = sets;
    o->set_count += resume->set_count;
    return LS_OK;
}

static ls_status read_options(checkpoint_reader *r, mem_arena *arena, ls_sim_options *o,
                              const ls_sim_resume_options *resume, ls_error *err)
{
    bytes_in in;
    ls_sim_run_options run = { LS_SIM_RUN_OPTIONS };
    ls_status status = checkpoint_find_in(r, "options", &in, err);
    if (status == LS_OK)
        status = checkpoint_get_options(&in, arena, o, err);
    if (status == LS_OK && !in.failed)
        status = checkpoint_get_run(&in, arena, &run, err);
    if (status == LS_OK)
        status = checkpoint_check_end(r, "options", &in, err);
    return status == LS_OK ? join_sets(arena, o, resume, err) : status;
}

static ls_status check_version(checkpoint_reader *r, mem_arena *arena, ls_error *err)
{
    bytes_in in;
    ls_status status = checkpoint_find_in(r, "identity", &in, err);
    const char *version = status == LS_OK ? bytes_get_text(&in, arena) : NULL;
    if (status == LS_OK && (version == NULL || strcmp(version, LS_VERSION_STRING) != 0))
        status = ls_fail(err, LS_ERR_INPUT, "checkpoint '%s' is of Lockstep %.40s; this is %s",
                         checkpoint_path(r), version ? version : "?", LS_VERSION_STRING);
    return status;
}

/* Whether the platform and the workload are those of the checkpoint. With new keys the platform is another one: the
 * machine's description decides then (ls_engine_load). */
static ls_status check_identity(ls_sim *s, ls_error *err)
{
    bytes_in in;
    hash128 workload;
    source_position begin = { 0 };
    ls_status status = checkpoint_find_in(s->resume, "identity", &in, err);
    if (status != LS_OK)
        return status;
    (void)bytes_get_text(&in, &s->arena);
    const char *hash = bytes_get_text(&in, &s->arena);
    bytes_get(&in, &workload, sizeof workload);
    uint64_t kind = bytes_get64(&in);
    status = checkpoint_check_end(s->resume, "identity", &in, err);
    if (status != LS_OK)
        return status;
    if (s->warm_sets == 0 && (hash == NULL || strcmp(hash, s->config_hash) != 0))
        return ls_fail(
            err, LS_ERR_INPUT,
            "platform '%s' has changed since checkpoint '%s' was written: its configuration was %.40s and is "
            "now %s",
            config_name(session_config(s)), checkpoint_path(s->resume), hash ? hash : "?", s->config_hash);
    status = s->has_program   ? run_program_source(&s->program, &begin, err)
             : s->has_devices ? devices_identity(s->devices.list, &begin.identity, err)
                              : position_begin(s->workload, &begin, err);
    if (status == LS_OK && (kind != s->kind || !hash_same(begin.identity, workload)))
        status = ls_fail(err, LS_ERR_INPUT, "'%s' has changed since checkpoint '%s' was written", s->workload,
                         checkpoint_path(s->resume));
    return status;
}

ls_status ls_sim_resume(const ls_sim_resume_options *options, ls_sim **out, ls_error *err)
{
    ls_sim_resume_options resume;
    ls_sim_options o;
    checkpoint_reader *reader = NULL;
    mem_arena arena = { 0 };
    *out = NULL;
    ls_status status = session_take(&resume, sizeof resume, options, "ls_sim_resume_options", err);
    if (status == LS_OK && resume.file == NULL)
        status = ls_fail(err, LS_ERR_USAGE, "the file of a checkpoint is missing");
    if (status == LS_OK)
        status = checkpoint_open(resume.file, &reader, err);
    if (status == LS_OK)
        status = check_version(reader, &arena, err);
    if (status == LS_OK)
        status = read_options(reader, &arena, &o, &resume, err);
    if (status == LS_OK)
        status = ls_sim_open(&o, out, err);
    if (status != LS_OK) {
        checkpoint_close(reader);
        arena_fini(&arena);
        return status;
    }
    (*out)->resume = reader;
    (*out)->resume_arena = arena;
    (*out)->warm_sets = resume.set_count;
    status = warm_check(session_config(*out), resume.sets, resume.set_count, err);
    if (status == LS_OK)
        status = check_identity(*out, err);
    if (status != LS_OK) {
        ls_sim_close(*out);
        *out = NULL;
    }
    return status;
}

ls_status session_resume_options(ls_sim *s, ls_sim_run_options *o, ls_error *err)
{
    bytes_in in;
    ls_sim_options unused;
    if (s->resume == NULL)
        return LS_OK;
    if (o->until != 0 || o->series_every != NULL)
        return ls_fail(err, LS_ERR_USAGE,
                       "a resumed run has the end and the series of the run that wrote the checkpoint");
    bool is_given = o->checkpoint != NULL || o->checkpoint_every != NULL;
    ls_status status = checkpoint_find_in(s->resume, "options", &in, err);
    if (status == LS_OK)
        status = checkpoint_get_options(&in, &s->resume_arena, &unused, err);
    if (status == LS_OK)
        status = checkpoint_get_run(&in, &s->resume_arena, o, err);
    if (status == LS_OK)
        status = checkpoint_check_end(s->resume, "options", &in, err);
    if (status == LS_OK && o->checkpoint == NULL)
        o->checkpoint = checkpoint_path(s->resume);
    /* A time that is over would not come again, and a warm start leaves its file to others. */
    bool is_over = o->checkpoint_every == NULL || strncmp(o->checkpoint_every, "at=", 3) == 0;
    if (status == LS_OK && !is_given && (is_over || s->warm_sets > 0))
        o->checkpoint = o->checkpoint_every = NULL;
    return status;
}

ls_status session_resume_machine(ls_sim *s, ls_error *err)
{
    const void *state;
    size_t bytes;
    bytes_in in;
    ls_status status = LS_OK;
    if (!s->has_program) { /* a program loads the machine itself, and its metrics come from its log */
        status = checkpoint_find(s->resume, "engine", &state, &bytes, err);
        if (status == LS_OK)
            status = ls_engine_load(s->engine, state, bytes, err);
        checkpoint_drop(s->resume, "engine");
        if (status == LS_OK)
            status = checkpoint_find_in(s->resume, "metrics", &in, err);
        if (status == LS_OK)
            status = metrics_load(s->metrics, &in, err);
        if (status == LS_OK)
            status = checkpoint_check_end(s->resume, "metrics", &in, err);
    }
    if (status == LS_OK && s->series != NULL) {
        status = checkpoint_find_in(s->resume, "series", &in, err);
        if (status == LS_OK) {
            series_load(s->series, &in);
            status = checkpoint_check_end(s->resume, "series", &in, err);
        }
    }
    return status;
}

static ls_status program_resumed(void *self, ls_error *err)
{
    return session_resume_machine(self, err);
}

/* A reader of the results must know that they are of two configurations. */
static void warn_of_keys(ls_sim *s)
{
    text_buffer text = { 0 };
    for (size_t i = 0; i < s->warm_sets; i++)
        text_printf(&text, "%s%s", i > 0 ? ", " : "",
                    s->options.sets[s->options.set_count - s->warm_sets + i]);
    (void)ls_engine_warn(s->engine, "assumption",
                         "these keys have their values only from checkpoint '%s' on: %s",
                         checkpoint_path(s->resume), text_get(&text));
    text_fini(&text);
}

ls_status session_resume_begin(ls_sim *s, ls_error *err)
{
    if (s->resume == NULL)
        return LS_OK;
    if (s->warm_sets > 0)
        warn_of_keys(s);
    if (s->has_program) {
        s->program.resumed = program_resumed;
        s->program.resumed_self = s;
        return run_program_resume(&s->program, s->resume, err);
    }
    ls_status status = s->has_devices ? run_devices_resume(&s->devices, s->resume, s->threads, err)
                                      : run_trace_resume(&s->trace, "trace", s->resume, s->threads, err);
    if (status == LS_OK)
        status = session_resume_machine(s, err);
    if (s->has_devices)
        run_devices_resumed(&s->devices);
    else
        replay_resumed(s->trace.replay);
    return status;
}
