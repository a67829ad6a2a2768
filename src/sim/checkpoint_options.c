/* checkpoint_options.c: the options of a simulation in its checkpoint (session_checkpoint.h). */
#include "base/file.h"
#include "sim/session_checkpoint.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of members; all of ls_sim_options stand in one table, so that none is forgotten (the test counts bytes). */
typedef enum member_kind { TEXT, PATH, FLAG, NUMBER, NUMBER32, TEXTS, PATHS, SETTINGS } member_kind;

typedef struct member {
    member_kind kind;
    size_t at, count_at; /* offsets; count_at of lists only */
} member;

/* clang-format off */
#define ONE(kind, field) { kind, offsetof(ls_sim_options, field), 0 }
#define LIST(kind, field, count) { kind, offsetof(ls_sim_options, field), offsetof(ls_sim_options, count) }
static const member members[] = {
    ONE(PATH, platform), LIST(TEXTS, sets, set_count), ONE(TEXT, fidelity),
    LIST(PATHS, platform_dirs, platform_dir_count), LIST(PATHS, plugins, plugin_count), ONE(NUMBER, seed),
    ONE(PATH, workload), ONE(TEXT, kernels), ONE(NUMBER, cta_limit), ONE(PATH, profile), ONE(FLAG, warm_l2),
    ONE(FLAG, unknown_as_alu), ONE(FLAG, skip_unmodelled), ONE(TEXT, gpu), LIST(SETTINGS, settings, setting_count),
    ONE(TEXT, variant), ONE(FLAG, verify), ONE(FLAG, strict), ONE(NUMBER, memory_bytes), ONE(NUMBER, max_instructions),
    ONE(TEXT, record), ONE(TEXT, kernel), ONE(TEXT, grid), ONE(TEXT, group), ONE(TEXT, offset),
    LIST(TEXTS, args, arg_count), LIST(TEXTS, prints, print_count), LIST(TEXTS, dumps, dump_count),
    ONE(NUMBER32, gpus), ONE(TEXT, on), ONE(TEXT, devices), ONE(TEXT, spread), ONE(TEXT, pages),
    ONE(TEXT, timeline), ONE(TEXT, timeline_format), LIST(TEXTS, timeline_filters, timeline_filter_count),
    ONE(FLAG, check_memory), ONE(FLAG, source),
};
/* clang-format on */

/* A file that is there gets its name from the root; other words ("rtx3070", "synth:gemm") stay as they are. */
static void put_path(bytes_out *out, const char *path)
{
    char *whole = path != NULL && file_exists(path) ? realpath(path, NULL) : NULL;
    bytes_put_text(out, whole != NULL ? whole : path);
    free(whole);
}

static void put_list(bytes_out *out, const void *base, const member *m)
{
    const char *const *texts;
    const ls_sim_setting *settings;
    size_t count;
    memcpy(&count, (const char *)base + m->count_at, sizeof count);
    memcpy(&texts, (const char *)base + m->at, sizeof texts);
    memcpy(&settings, (const char *)base + m->at, sizeof settings);
    bytes_put64(out, count);
    for (size_t i = 0; i < count; i++) {
        if (m->kind == SETTINGS) {
            bytes_put_text(out, settings[i].name);
            bytes_put64(out, settings[i].value);
        } else if (m->kind == PATHS) {
            put_path(out, texts[i]);
        } else {
            bytes_put_text(out, texts[i]);
        }
    }
}

static void put_member(bytes_out *out, const ls_sim_options *o, const member *m)
{
    const void *at = (const char *)o + m->at;
    switch (m->kind) {
    case TEXT:
        bytes_put_text(out, *(const char *const *)at);
        break;
    case PATH:
        put_path(out, *(const char *const *)at);
        break;
    case FLAG:
        bytes_put64(out, *(const bool *)at);
        break;
    case NUMBER:
        bytes_put64(out, *(const uint64_t *)at);
        break;
    case NUMBER32:
        bytes_put64(out, *(const uint32_t *)at);
        break;
    case TEXTS:
    case PATHS:
    case SETTINGS:
        put_list(out, o, m);
        break;
    }
}

void checkpoint_put_options(bytes_out *out, const ls_sim_options *options)
{
    bytes_put64(out, LS_COUNT_OF(members));
    for (size_t i = 0; i < LS_COUNT_OF(members); i++)
        put_member(out, options, &members[i]);
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status get_texts(bytes_in *in, mem_arena *arena, const char *const **out, size_t *count,
                           ls_error *err)
{
    *count = (size_t)bytes_get_count(in, 8);
    const char **texts = arena_array(arena, *count + 1, sizeof *texts);
    if (texts == NULL)
        return no_memory(err);
    for (size_t i = 0; i < *count; i++) {
        texts[i] = bytes_get_text(in, arena);
        in->failed |= texts[i] == NULL;
    }
    *out = texts;
    return LS_OK;
}

static ls_status get_settings(bytes_in *in, mem_arena *arena, const ls_sim_setting **out, size_t *count,
                              ls_error *err)
{
    *count = (size_t)bytes_get_count(in, 16);
    ls_sim_setting *settings = arena_array(arena, *count + 1, sizeof *settings);
    if (settings == NULL)
        return no_memory(err);
    for (size_t i = 0; i < *count; i++) {
        settings[i].name = bytes_get_text(in, arena);
        settings[i].value = bytes_get64(in);
    }
    *out = settings;
    return LS_OK;
}

static ls_status get_member(bytes_in *in, mem_arena *arena, ls_sim_options *o, const member *m, ls_error *err)
{
    void *at = (char *)o + m->at;
    size_t *count = (size_t *)(void *)((char *)o + m->count_at);
    switch (m->kind) {
    case TEXT:
    case PATH:
        *(const char **)at = bytes_get_text(in, arena);
        break;
    case FLAG:
        *(bool *)at = bytes_get64(in) != 0;
        break;
    case NUMBER:
        *(uint64_t *)at = bytes_get64(in);
        break;
    case NUMBER32:
        *(uint32_t *)at = (uint32_t)bytes_get64(in);
        break;
    case TEXTS:
    case PATHS:
        return get_texts(in, arena, at, count, err);
    case SETTINGS:
        return get_settings(in, arena, at, count, err);
    }
    return LS_OK;
}

ls_status checkpoint_get_options(bytes_in *in, mem_arena *arena, ls_sim_options *o, ls_error *err)
{
    ls_status status = LS_OK;
    *o = (ls_sim_options){ LS_SIM_OPTIONS };
    in->failed |= bytes_get64(in) != LS_COUNT_OF(members);
    for (size_t i = 0; i < LS_COUNT_OF(members) && status == LS_OK && !in->failed; i++)
        status = get_member(in, arena, o, &members[i], err);
    return status;
}

void checkpoint_put_run(bytes_out *out, const ls_sim_run_options *o)
{
    bytes_put64(out, o->until);
    bytes_put64(out, o->watchdog_fs);
    bytes_put_text(out, o->series_every);
    bytes_put64(out, o->series_count);
    for (size_t i = 0; i < o->series_count; i++)
        bytes_put_text(out, o->series[i]);
    bytes_put_text(out, o->checkpoint_every);
}

ls_status checkpoint_get_run(bytes_in *in, mem_arena *arena, ls_sim_run_options *o, ls_error *err)
{
    o->until = bytes_get64(in);
    o->watchdog_fs = bytes_get64(in);
    o->series_every = bytes_get_text(in, arena);
    ls_status status = get_texts(in, arena, &o->series, &o->series_count, err);
    const char *every = bytes_get_text(in, arena);
    o->checkpoint_every = o->checkpoint_every ? o->checkpoint_every : every;
    return status;
}
