/* cmd_study.c: `lockstep study`: experiments of the literature, repeated with one command. study/studies.def
 * describes them, study/render.c prints them. */
#include "base/file.h"
#include "base/text.h"
#include "cli/study/study.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

/* "key=value ..." of a configuration, as a request wants them; text is the arena's own copy. */
static size_t split_sets(char *text, const char *out[STUDY_SETS_MAX])
{
    size_t count = 0;
    for (char *at = strtok(text, " "); at && count < STUDY_SETS_MAX; at = strtok(NULL, " "))
        out[count++] = at;
    return count;
}

static ls_status run_one(const cli_context *ctx, const study_row *row, const study_config *config,
                         program_result *out, ls_error *err)
{
    const char *sets[STUDY_SETS_MAX];
    char *text = arena_strdup(ctx->arena, config->sets);
    const char *const *dirs = cli_texts(ctx, "platform-dir");
    if (!text || !dirs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    const wl_setting setting = { "size", row->size };
    const program_job job = { .platform = { .platform = config->platform,
                                            .sets = sets,
                                            .set_count = split_sets(text, sets),
                                            .platform_dirs = dirs,
                                            .platform_dir_count = cli_count(ctx, "platform-dir") },
                              .gpu = config->gpu,
                              .devices = config->devices,
                              .spread = config->devices == WL_UNIFIED ? config->spread : NULL,
                              .workload = row->workload->name,
                              .settings = &setting,
                              .setting_count = 1,
                              .threads = (uint32_t)cli_uint(ctx, "threads"),
                              .verify = true };
    return program_simulate(&job, out, err);
}

/* -------------------------------------------------------------------------------------------- what to run */

/* NAME or NAME:SIZE. */
static ls_status choose_one(const char *text, study_row *out, ls_error *err)
{
    const char *names[64], *colon = strchr(text, ':');
    size_t count = study_workload_count() < 64 ? study_workload_count() : 64;
    size_t length = colon ? (size_t)(colon - text) : strlen(text), w = 0;
    for (size_t i = 0; i < count; i++)
        names[i] = study_workload_at(i)->name;
    while (w < count && (strlen(names[w]) != length || strncmp(names[w], text, length) != 0))
        w++;
    if (w == count) { /* would silently choose nothing */
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        ls_fail(err, LS_ERR_USAGE, "no study has the workload '%s'", name);
        return ls_error_nearest(err, nearest_of(name, names, count));
    }
    out->workload = study_workload_at(w);
    out->size = 0;
    if (!colon)
        return LS_OK;
    ls_status status = parse_u64(colon + 1, strlen(colon + 1), &out->size, err);
    if (status == LS_OK && out->size == 0)
        status = ls_fail(err, LS_ERR_USAGE, "a size is at least 1");
    return status == LS_OK ? LS_OK : ls_error_prefix(err, "--workload %s", text);
}

/* The study's own size, halved as the user wants. */
static ls_status choose_size(const cli_context *ctx, const study *s, study_row *row, ls_error *err)
{
    uint64_t size = row->workload->sizes[s->sizes];
    if (row->size)
        return LS_OK;
    if (size == 0)
        return ls_fail(err, LS_ERR_USAGE, "study %s has no size for '%s': give one, as in -w %s:1024", s->name,
                       row->workload->name, row->workload->name);
    size >>= cli_uint(ctx, "shrink");
    row->size = size ? size : 1;
    return LS_OK;
}

/* The rows that are to be filled. */
static ls_status choose(const cli_context *ctx, const study *s, study_row **rows, size_t *count, ls_error *err)
{
    size_t named = cli_count(ctx, "workload"), all = named ? named : study_workload_count();
    ls_status status = LS_OK;
    *count = 0;
    *rows = arena_array(ctx->arena, all, sizeof **rows);
    if (!*rows)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < all && status == LS_OK; i++) {
        study_row *row = &(*rows)[*count];
        if (!named && study_workload_at(i)->sizes[s->sizes] == 0)
            continue;
        status = choose_one(named ? cli_text_at(ctx, "workload", i) : study_workload_at(i)->name, row, err);
        if (status == LS_OK)
            status = choose_size(ctx, s, row, err);
        ++*count;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ scaling */

static void show_progress(void *self, const scaling_curve *curve, uint32_t x)
{
    fprintf(stderr, "\r\033[K%s: %s, %s, %s, %u %s", (const char *)self, scaling_part_name(curve->part),
            curve->workload->label, curve->fabric, x, scaling_x_label(curve->part));
}

static ls_status run_scaling(const cli_context *ctx, const study *s, bool plan_only, scaling_result *out,
                             ls_error *err)
{
    bool is_watched = isatty(STDERR_FILENO) != 0;
    char name[64];
    snprintf(name, sizeof name, "%s", s->name);
    const scaling_request request = { .workloads = cli_texts(ctx, "workload"),
                                      .workload_count = cli_count(ctx, "workload"),
                                      .shrink = (unsigned)cli_uint(ctx, "shrink"),
                                      .gpus_max = (uint32_t)cli_uint(ctx, "gpus"),
                                      .threads = (uint32_t)cli_uint(ctx, "threads"),
                                      .platform_dirs = cli_texts(ctx, "platform-dir"),
                                      .platform_dir_count = cli_count(ctx, "platform-dir"),
                                      .progress = is_watched ? show_progress : NULL,
                                      .progress_self = name };
    if (!request.workloads || !request.platform_dirs)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    ls_status status = (plan_only ? scaling_plan : scaling_run)(&request, out, err);
    if (is_watched && !plan_only)
        fprintf(stderr, "\r\033[K");
    return status;
}

static ls_status run_study(const cli_context *ctx, const study *s, study_result *out, ls_error *err)
{
    study_row *rows;
    bool is_watched = isatty(STDERR_FILENO) != 0;
    out->study = s;
    if (s->sizes == STUDY_SCALING) {
        scaling_result *scaling = arena_array(ctx->arena, 1, sizeof *scaling);
        out->scaling = scaling;
        return scaling ? run_scaling(ctx, s, false, scaling, err)
                       : ls_fail(err, LS_ERR_NOMEM, "out of memory");
    }
    ls_status status = choose(ctx, s, &rows, &out->row_count, err);
    out->rows = rows;
    for (size_t i = 0; i < out->row_count && status == LS_OK; i++) {
        for (size_t c = 0; c < s->config_count && status == LS_OK; c++) {
            if (is_watched)
                fprintf(stderr, "\r\033[K%s: %s, %s", s->name, rows[i].workload->label, s->configs[c].label);
            status = run_one(ctx, &rows[i], &s->configs[c], &rows[i].results[c], err);
        }
    }
    if (is_watched)
        fprintf(stderr, "\r\033[K");
    return status;
}

/* ------------------------------------------------------------------------------------------------ results */

static void list(FILE *to)
{
    fprintf(to, "Studies\n");
    for (size_t i = 0; i < study_count(); i++)
        fprintf(to, "  %-16s %s\n", study_at(i)->name, study_at(i)->title);
}

static ls_status write_files(const cli_context *ctx, const study_result *const *results, size_t count,
                             ls_error *err)
{
    file_writer writer;
    ls_status status = LS_OK;
    if (cli_text(ctx, "html")) {
        status = file_writer_open(&writer, cli_text(ctx, "html"), err);
        if (status == LS_OK) {
            study_render_html(results, count, writer.stream);
            status = file_writer_commit(&writer, err);
        }
    }
    if (status == LS_OK && cli_text(ctx, "out")) {
        status = file_writer_open(&writer, cli_text(ctx, "out"), err);
        if (status == LS_OK) {
            fprintf(writer.stream,
                    "study,workload,configuration,size,kernel_seconds,kernel_cycles,instructions,"
                    "times_faster,l0_reads,l0_hits,l1_reads,l1_hits,l2_reads,l2_hits,"
                    "remote_bytes,link_bytes\n");
            for (size_t i = 0; i < count; i++)
                study_render_csv(results[i], writer.stream);
            status = file_writer_commit(&writer, err);
        }
    }
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    size_t count = ctx->positional_count;
    if (count == 0) {
        list(ctx->out);
        return LS_OK;
    }
    const study **chosen = arena_array(ctx->arena, count, sizeof *chosen);
    study_result *results = arena_array(ctx->arena, count, sizeof *results);
    const study_result **pointers = arena_array(ctx->arena, count, sizeof *pointers);
    if (!chosen || !results || !pointers)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    /* Each machine's large tables come from the kernel, with zeros that take no memory before they are used. Otherwise
     * the allocator keeps those of the first machine and clears them for the next one. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    study_row *rows; /* wrong names are reported before the first study is run */
    size_t row_count;
    ls_status status = LS_OK;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = study_find(ctx->positionals[i], &chosen[i], err);
    scaling_result *plan = arena_array(ctx->arena, 1, sizeof *plan);
    if (!plan)
        return ls_fail(err, LS_ERR_NOMEM, "out of memory");
    bool has_scaling = false;
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        bool is_scaling = chosen[i]->sizes == STUDY_SCALING;
        has_scaling |= is_scaling;
        status = is_scaling ? run_scaling(ctx, chosen[i], true, plan, err)
                            : choose(ctx, chosen[i], &rows, &row_count, err);
    }
    if (status == LS_OK && cli_given(ctx, "gpus") && !has_scaling)
        status = ls_fail(err, LS_ERR_USAGE, "study: --gpus is for studies of scaling");
    if (status == LS_OK)
        status = cli_check_outputs(ctx, (const char *[]){ "html", "out", NULL }, err);
    for (size_t i = 0; i < count && status == LS_OK; i++) {
        pointers[i] = &results[i];
        status = run_study(ctx, chosen[i], &results[i], err);
    }
    if (status == LS_OK)
        status = write_files(ctx, pointers, count, err);
    for (size_t i = 0; i < count && status == LS_OK; i++)
        study_render_text(&results[i], ctx->out);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "workload", .letter = 'w', .type = CLI_TEXT, .arg = "NAME[:SIZE]", .repeatable = true,
      .help = "only this one; of a size of your own" },
    { .name = "shrink", .type = CLI_UINT, .arg = "N", .max = 16, .default_text = "0",
      .help = "halve the problems so many times: for a first look" },
    { .name = "gpus", .type = CLI_UINT, .arg = "N", .min = 1, .max = 16, .default_text = "16",
      .help = "studies of scaling: no more GPUs than this" },
    { .name = "threads", .letter = 'j', .type = CLI_UINT, .arg = "N", .min = 1, .max = 1024, .default_text = "1",
      .help = "host threads of each simulation; no result depends on it" },
    { .name = "html", .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write one self-contained page with tables and plots" },
    { .name = "out", .letter = 'o', .type = CLI_TEXT, .arg = "FILE", .complete = CLI_COMPLETE_FILE,
      .help = "write one CSV row per workload and configuration" },
};
/* clang-format on */

static const cli_positional positionals[] = {
    { .name = "STUDY", .optional = true, .repeatable = true, .help = "its name; without one, all are listed" },
};

static const cli_example examples[] = {
    { "lockstep study", "list the studies" },
    { "lockstep study navisim-8 --html figure8.html", "CUs and DCUs, each with both instruction sets" },
    { "lockstep study mgpusim-9 --threads 2", "four GPUs, and what the paper says about them" },
    { "lockstep study navisim-11 -w kmeans -w kmeans:24576",
      "one workload, in its usual size and in a larger one" },
};

static const cli_command command = {
    .name = "study",
    .summary = "repeat experiments of the literature on AMD platforms",
    .about =
        "Runs the workloads of a study under each of its configurations in simulated time, verifies their "
        "results, and shows how many times faster each is than under the first, with the hit rates of caches, "
        "the traffic between GPUs, and what the literature found.",
    .order = 45,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
CLI_REGISTER(command);
