/* cmd_profile.c: `lockstep profile`: the hit rates of a trace's instructions on a platform, without
 * simulating time. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/workload_args.h"
#include "platform/machine.h"
#include "platform/needs.h"
#include "workload/profile/profile.h"
#include "workload/select.h"
#include "workload/share.h"
#include "workload/trace.h"
#include "workload/unmodelled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* By the order of ls_profile_method. */
static const char *const method_names[] = { "cache", "reuse", NULL };
static const char *const unknown_modes[] = { "fail", "alu", NULL };

/* Everything the command owns; all zero is nothing. */
typedef struct session {
    cli_context *ctx;
    ls_config *config;
    ls_machine *machine;
    gpu_shape shape;
    ls_trace *trace;
    ls_selection selection;
    ls_pool *pool; /* NULL: one thread */
    ls_profiler *profiler;
    ls_profile profile;
    ls_unmodelled unmodelled;
} session;

/* ----------------------------------------------------------------------------------------------- building */

/* The platform's keys, and one more: profiles are about machines whose memory is a formula. */
static const char *const *with_analytic(cli_context *ctx)
{
    size_t count = cli_count(ctx, "set");
    const char **sets = ls_arena_alloc(ctx->arena, (count + 2) * sizeof *sets);
    if (sets == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        sets[i] = cli_text_at(ctx, "set", i);
    sets[count] = "core.memory=analytic";
    sets[count + 1] = NULL;
    return sets;
}

/* Before a key of the machine is set that others have not got. */
static ls_status check_machine(ls_config_request request, ls_error *err)
{
    ls_config *config;
    request.set_count--; /* the own keys only */
    ls_status status = ls_config_load(&request, &config, NULL, err);
    if (status != LS_OK)
        return status;
    const char *machine = ls_config_machine(config)->name;
    ls_config_log_idle(config);
    if (strcmp(machine, "gpu") != 0)
        status =
            ls_fail(err, LS_ERR_USAGE,
                    "profile: platform '%s' is a machine of type '%s', which runs no traces of NVIDIA GPUs",
                    ls_config_name(config), machine);
    ls_config_destroy(config);
    return status;
}

static ls_status build(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const ls_config_request request = {
        .platform = cli_text(ctx, "platform"),
        .sets = with_analytic(ctx),
        .set_count = cli_count(ctx, "set") + 1,
        .platform_dirs = cli_texts(ctx, "platform-dir"),
        .platform_dir_count = cli_count(ctx, "platform-dir"),
    };
    if (!request.platform)
        return ls_fail(err, LS_ERR_USAGE,
                       "profile: a platform is missing: --platform NAME or --platform FILE.yaml");
    if (!request.sets || !request.platform_dirs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    ls_status status = check_machine(request, err);
    if (status == LS_OK)
        status = ls_config_load(&request, &s->config, NULL, err);
    if (status == LS_OK)
        status = ls_machine_create(s->config, 1, &s->machine, err);
    if (status == LS_OK)
        status = gpu_get_shape(ls_machine_engine(s->machine), &s->shape, err);
    if (status == LS_OK)
        status = gpu_shape_check(&s->shape, err);
    s->unmodelled.allowed = cli_choice(ctx, "unmodelled") == 1;
    const ls_trace_options options = { .unknown_opcodes_as_alu = cli_choice(ctx, "unknown-opcodes") == 1,
                                       .drop_values = true };
    if (status == LS_OK)
        status = ls_trace_open(ctx->positionals[0], &options, &s->trace, err);
    if (status == LS_OK)
        status = ls_select_kernels(s->trace, cli_text(ctx, "kernels"), &s->selection, err);
    if (status == LS_OK)
        status =
            ls_profiler_create(&s->shape, (ls_profile_method)cli_choice(ctx, "method"), &s->profiler, err);
    uint32_t threads = (uint32_t)cli_uint(ctx, "threads");
    if (status == LS_OK && threads > 1)
        status = ls_pool_create(threads, &s->pool, err);
    if (status == LS_OK && s->pool != NULL)
        status = ls_profiler_use(s->profiler, s->pool, err);
    return status;
}

static void dispose(session *s)
{
    ls_profile_fini(&s->profile);
    ls_profiler_destroy(s->profiler);
    ls_pool_destroy(s->pool);
    ls_selection_fini(&s->selection);
    ls_trace_close(s->trace);
    ls_machine_destroy(s->machine);
    ls_config_destroy(s->config);
}

/* ---------------------------------------------------------------------------------------------- profiling */

typedef struct blocks {
    ls_share *share;
    session *s;
    const ls_kernel *kernel;
    uint64_t command;
    ls_unmodelled_scan scan;
} blocks;

static ls_status next_block(void *self, const ls_cta **out, ls_error *err)
{
    blocks *b = self;
    bool end = false;
    ls_cta *cta = calloc(1, sizeof *cta);
    *out = NULL;
    if (cta == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a thread block");
    ls_status status = ls_share_next(b->share, cta, &end, err);
    if (status == LS_OK && !end)
        status = ls_unmodelled_block(&b->s->unmodelled, &b->scan, b->s->trace, b->command,
                                     cli_uint(b->s->ctx, "ctas"), b->kernel, cta, err);
    if (status == LS_OK && !end) {
        *out = cta;
        return LS_OK;
    }
    ls_cta_fini(cta);
    free(cta);
    return status;
}

static void block_done(void *self, const ls_cta *cta)
{
    ls_cta *own = (ls_cta *)(uintptr_t)cta;
    (void)self;
    ls_cta_fini(own);
    free(own);
}

static ls_status profile_kernel(session *s, uint64_t command, ls_error *err)
{
    blocks b = { .s = s, .command = command };
    ls_kernel *from;
    ls_status status = ls_trace_open_kernel(s->trace, command, &from, err);
    b.kernel = from;
    if (status == LS_OK)
        status = ls_share_create(from, &b.share, err);
    if (status != LS_OK) {
        ls_kernel_close(from);
        return status;
    }
    ls_kernel_limit(from, cli_uint(s->ctx, "ctas"));
    const ls_profile_request request = { .info = ls_kernel_get_info(from),
                                         .insts = ls_kernel_insts(from),
                                         .command = command,
                                         .ctas = ls_kernel_blocks(from),
                                         .source = { .self = &b, .next = next_block, .done = block_done },
                                         .sample = cli_uint(s->ctx, "sample") };
    ls_profile_kernel kernel;
    status = ls_profiler_run(s->profiler, &request, &kernel, err);
    ls_share_destroy(b.share);
    ls_kernel_close(from);
    if (status != LS_OK)
        return status;
    if (!ls_vec_push(&s->profile.kernels, kernel)) {
        ls_profile_kernel_fini(&kernel);
        return ls_fail(err, LS_ERR_NOMEM, "no memory for a profile");
    }
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- printing */

static double percent(uint64_t part, uint64_t of)
{
    return of == 0 ? 0 : 100.0 * (double)part / (double)of;
}

static void print_shares(FILE *to, const ls_profile_inst *inst)
{
    uint64_t insts = 0, sectors = 0, l2 = 0, dram = 0;
    for (int depth = 0; depth < RATES_LEVELS; depth++) {
        insts += inst->level[depth].insts;
        sectors += inst->level[depth].sectors;
        l2 += inst->level[depth].l2;
        dram += inst->level[depth].dram;
    }
    char count[LS_FORMAT_BYTES];
    fprintf(to, " %13s %7.2f %6.1f%% %6.1f%% %6.1f%% %6.1f%% %8.1f%% %8.1f%%\n",
            ls_format_count(insts, count, sizeof count), insts == 0 ? 0 : (double)sectors / (double)insts,
            percent(inst->level[RATES_L1].insts, insts), percent(inst->level[RATES_WAIT].insts, insts),
            percent(inst->level[RATES_L2].insts, insts), percent(inst->level[RATES_DRAM].insts, insts),
            percent(l2, sectors), percent(dram, sectors));
}

static void print_kernel(const session *s, const ls_profile_kernel *k, uint64_t number)
{
    FILE *to = s->ctx->out;
    ls_profile_inst sum = ls_profile_sum(k);
    fprintf(to, "  %5" PRIu64 "  %-34.34s", number, k->name);
    print_shares(to, &sum);
    if (!cli_flag(s->ctx, "pc"))
        return;
    for (uint32_t i = 0; i < k->count; i++) {
        fprintf(to, "         pc 0x%-29" PRIx64, k->at[i].pc);
        print_shares(to, &k->at[i]);
    }
}

static void print_profile(const session *s)
{
    FILE *to = s->ctx->out;
    fprintf(to, "\n  %5s  %-34s %13s %7s %7s %7s %7s %7s %9s %9s\n", "", "kernel", "accesses", "sectors", "L1",
            "wait", "L2", "DRAM", "L2/sec", "DRAM/sec");
    for (size_t i = 0; i < s->profile.kernels.count; i++)
        print_kernel(s, &s->profile.kernels.at[i], s->selection.at[i].number);
    fputc('\n', to);
}

/* ------------------------------------------------------------------------------------------------ the run */

static ls_status save(session *s, ls_error *err)
{
    cli_context *ctx = s->ctx;
    const char *path = cli_text(ctx, "output");
    if (path == NULL) {
        if (cli_flag(ctx, "no-cache"))
            return LS_OK;
        path = ls_profile_cache_path(ctx->arena, s->profile.hash);
        if (path == NULL)
            return LS_OK; /* no home: nothing to keep it in */
        ls_status status = ls_profile_make_folders(ctx->arena, path, err);
        if (status != LS_OK)
            return status;
    }
    ls_status status = ls_profile_write(&s->profile, path, err);
    if (status == LS_OK && strcmp(path, "-") != 0)
        fprintf(ctx->out, "  written to %s\n", path);
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    session s = { .ctx = ctx };
    const char *path = cli_text(ctx, "output");
    bool to_stdout = path != NULL && strcmp(path, "-") == 0;
    ls_status status = path == NULL || to_stdout ? LS_OK : ls_file_check_writable(path, err);
    if (status == LS_OK)
        status = build(&s, err);
    s.profile.method = (ls_profile_method)cli_choice(ctx, "method");
    if (status == LS_OK)
        status = ls_profile_hash(ctx->positionals[0], cli_text(ctx, "kernels"), cli_uint(ctx, "ctas"),
                                 &s.shape, s.profile.method, &s.profile.hash, err);
    for (size_t i = 0; status == LS_OK && i < s.selection.count; i++)
        status = profile_kernel(&s, s.selection.at[i].command, err);
    if (status == LS_OK) {
        if (!to_stdout)
            print_profile(&s);
        status = save(&s, err);
    }
    dispose(&s);
    return status;
}

/* ------------------------------------------------------------------------------------------------ command */

/* clang-format off */
static const cli_option options[] = {
    { .name = "platform", .letter = 'p', .type = CLI_TEXT, .arg = "PLATFORM", .complete = CLI_COMPLETE_PLATFORM,
      .help = "whose caches and memory: a name of the search path, or a file" },
    { .name = "set", .letter = 's', .type = CLI_KEY_VALUE, .arg = "KEY=VALUE", .repeatable = true,
      .complete = CLI_COMPLETE_KEY, .help = "override a key of the platform; the last one of a key counts" },
    { .name = "method", .letter = 'm', .type = CLI_CHOICE, .arg = "HOW", .choices = method_names,
      .default_text = "cache",
      .help = "cache: the caches with their sets and policies; reuse: reuse distances with a correction for sets" },
    { .name = "kernels", .letter = 'k', .type = CLI_TEXT, .arg = "LIST",
      .help = "only these kernels of the trace, as in 3-7,12,name:*gemm*" },
    { .name = "ctas", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "only the first N thread blocks of each kernel; 0: all" },
    { .name = "sample", .type = CLI_UINT, .arg = "N", .default_text = "0",
      .help = "stop in each kernel after N warp instructions or a twentieth of it up to 40 N, whichever is more; 0: never" },
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "host threads; the profile does not depend on it" },
    { .name = "pc", .help = "show each static instruction, not only each kernel" },
    { .name = "output", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write the profile here, for run --profile; else to the cache, where run --profile auto finds it" },
    { .name = "no-cache", .help = "only print; write no file without --output" },
    { .name = "unknown-opcodes", .type = CLI_CHOICE, .arg = "HOW", .choices = unknown_modes, .default_text = "fail",
      .help = "what to do with opcodes that are not in the tables" },
    CLI_UNMODELLED_OPTION,
};

static const cli_positional positionals[] = {
    { .name = "TRACE", .complete = CLI_COMPLETE_FILE,
      .help = "a directory, a kernelslist.g, one kernel, a packed trace, or synth:KIND" },
};

static const cli_example examples[] = {
    { "lockstep profile -p rtx2060 --no-cache synth:stencil", "hit rates of a generated kernel" },
    { "lockstep profile -p rtx2060 --pc --method reuse --no-cache synth:gemm", "of each instruction, by reuse distances" },
};

static const cli_command command = {
    .name = "profile",
    .order = 15,
    .summary = "find out how often a trace's instructions hit L1, L2 and DRAM",
    .about = "Walks the thread blocks through the platform's caches without simulating time: blocks lie on the cores as "
             "the dispatcher places them, warps take turns. The result is what core.memory=analytic runs on.\n\n"
             "Columns: accesses of warps; 32-byte sectors of each; the share of accesses that hit L1, that wait "
             "for sectors which another has asked for, whose last sector comes from L2 or from DRAM; sectors sent to L2 and moved by DRAM per sector touched.\n\n"
             "Profiles are kept in $XDG_CACHE_HOME/lockstep/profiles, or in $HOME/.cache/lockstep/profiles, by a hash of "
             "the trace, the chosen kernels and the geometry; `lockstep run --profile auto` uses the one that fits.",
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
/* clang-format on */
CLI_REGISTER(command);
