/* platform_args.c: see platform_args.h. */
#include "cli/platform_args.h"

ls_status cli_platform_request(const cli_context *ctx, const char *platform, config_request *out,
                               ls_error *err)
{
    size_t given = cli_count(ctx, "set"), count = 0;
    const char *const *preset = cli_given(ctx, "fidelity") ? fidelity_presets[cli_choice(ctx, "fidelity")].sets
                                                           : (const char *const[]){ NULL };
    while (preset[count])
        count++;
    const char **sets = arena_array(ctx->arena, given + count + 1, sizeof *sets);
    *out = (config_request){ .platform = platform,
                             .sets = sets,
                             .set_count = given + count,
                             .general_count = count,
                             .gpus = cli_given(ctx, "gpus") ? (uint32_t)cli_uint(ctx, "gpus") : 0,
                             .platform_dirs = cli_texts(ctx, "platform-dir"),
                             .platform_dir_count = cli_count(ctx, "platform-dir") };
    if (!sets || !out->platform_dirs)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    for (size_t i = 0; i < count; i++)
        sets[i] = preset[i];
    for (size_t i = 0; i < given; i++)
        sets[count + i] = cli_text_at(ctx, "set", i);
    return LS_OK;
}
