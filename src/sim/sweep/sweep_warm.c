/* sweep_warm.c: a sweep whose points go on from one checkpoint: the part before it is simulated once. */
#include "base/file.h"
#include "sim/checkpoint.h"
#include "sim/session.h"
#include "sim/session_checkpoint.h"
#include "sim/sweep/session.h"
#include "sim/warm.h"

#include <stdlib.h>
#include <string.h>

/* The configuration before any key is varied. */
static ls_status load_base(ls_sim_sweep *s, platform_config **out, ls_error *err)
{
    config_request request;
    ls_status status = ls_sim_load_plugins(s->base.plugins, s->base.plugin_count, err);
    if (status == LS_OK)
        status = session_request(&s->arena, &s->base, &request, err);
    return status == LS_OK ? config_load(&request, out, NULL, err) : status;
}

static bool is_same_file(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    bool same = x != NULL && y != NULL ? strcmp(x, y) == 0 : strcmp(a, b) == 0;
    free(x);
    free(y);
    return same;
}

static ls_status check_source(ls_sim_sweep *s, checkpoint_reader *r, const platform_config *base,
                              ls_error *err)
{
    bytes_in identity, options;
    ls_sim_options saved = { 0 };
    char hash[LS_HASH_TEXT_BYTES];
    ls_status status = checkpoint_find_in(r, "identity", &identity, err);
    if (status == LS_OK)
        status = checkpoint_find_in(r, "options", &options, err);
    if (status == LS_OK)
        status = checkpoint_get_options(&options, &s->arena, &saved, err);
    if (status != LS_OK)
        return status;
    (void)bytes_get_text(&identity, &s->arena); /* the version: every point looks at it */
    const char *was = bytes_get_text(&identity, &s->arena);
    hash128_text(config_hash_of(base), hash);
    if (was == NULL || strcmp(was, hash) != 0)
        return ls_fail(
            err, LS_ERR_USAGE,
            "checkpoint '%s' is of another configuration than '%s' with the keys and the fidelity given here",
            s->options.warm, s->base.platform);
    if (saved.workload == NULL || !is_same_file(saved.workload, s->options.workloads[0]))
        return ls_fail(err, LS_ERR_USAGE, "checkpoint '%s' is of '%s', not of '%s'", s->options.warm,
                       saved.workload ? saved.workload : "", s->options.workloads[0]);
    return LS_OK;
}

static ls_status hash_file(ls_sim_sweep *s, ls_error *err)
{
    mem_arena arena = { 0 };
    char *data;
    size_t bytes;
    ls_status status = file_read(&arena, s->options.warm, SIZE_MAX / 2, &data, &bytes, err);
    if (status == LS_OK)
        s->warm_hash = hash128_of(data, bytes);
    arena_fini(&arena);
    return status;
}

ls_status sweep_warm_open(ls_sim_sweep *s, ls_error *err)
{
    checkpoint_reader *reader = NULL;
    platform_config *base = NULL;
    if (s->options.warm == NULL)
        return LS_OK;
    if (s->options.workload_count != 1 || s->sweep.grid.axes.count == 0)
        return ls_fail(
            err, LS_ERR_USAGE,
            "a sweep from a checkpoint has one workload, which is the checkpoint's, and varies some key");
    ls_status status = checkpoint_open(s->options.warm, &reader, err);
    if (status == LS_OK)
        status = load_base(s, &base, err);
    if (status == LS_OK)
        status = check_source(s, reader, base, err);
    for (size_t i = 0; i < s->sweep.grid.axes.count && status == LS_OK; i++)
        status = warm_check(base, &s->sweep.grid.axes.at[i].key, 1, err);
    if (status == LS_OK)
        status = hash_file(s, err);
    config_destroy(base);
    checkpoint_close(reader);
    return status;
}
