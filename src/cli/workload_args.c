/* workload_args.c: see workload_args.h. */
#include "cli/workload_args.h"

#include <string.h>

const char *const workload_gpus[] = { "gfx803", "gfx1010", "gfx1030", NULL };

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

ls_status workload_args_read(const cli_context *ctx, const wl_workload *w, wl_setting **out, size_t *count,
                             ls_error *err)
{
    wl_setting *settings = ls_arena_array(ctx->arena, cli_count(ctx, "param") + 1, sizeof *settings);
    *out = settings;
    *count = 0;
    if (!settings)
        return no_memory(err);
    if (cli_given(ctx, "size")) {
        if (w->option_count == 0)
            return ls_fail(err, LS_ERR_USAGE, "workload %s has no size", w->name);
        settings[(*count)++] = (wl_setting){ w->options[0].name, cli_uint(ctx, "size") };
    }
    for (size_t i = 0; i < cli_count(ctx, "param"); i++) {
        const char *text = cli_text_at(ctx, "param", i), *value = strchr(text, '=') + 1;
        wl_setting *setting = &settings[(*count)++];
        setting->name = ls_arena_strndup(ctx->arena, text, (size_t)(value - 1 - text));
        if (!setting->name)
            return no_memory(err);
        if (ls_parse_u64(value, strlen(value), &setting->value, err) != LS_OK)
            return ls_error_prefix(err, "--param %s", setting->name);
    }
    return LS_OK;
}
