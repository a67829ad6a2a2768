/* cmd_trace_view.c: `lockstep trace view`: looks into packed instruction traces: filters, searches, and follows a register
 * back to the instructions that made its value. */
#include "cli/cmd_trace.h"

#include "base/file.h"
#include "runtime/emulate/trace_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define DEPTH_MAX 1000

/* Which records are wanted. */
typedef struct view_filter {
    const char *kernel, *find;
    bool one_group, one_wave, one_launch, has_address;
    uint32_t group[3], wave;
    uint64_t launch;
    const char *pc;    /* as it is shown */
    uint64_t from, to; /* addresses of memory */
    unsigned writes;   /* operand code; UINT_MAX: any */
    uint64_t first, last;
} view_filter;

typedef struct view_run {
    cli_context *ctx;
    FILE *file;
    trace_reader *reader;
    view_filter filter;
    uint64_t number, shown; /* of records */
    bool json;
} view_run;

/* --------------------------------------------------------------------------------------------- matching */

static bool writes_register(const trace_record *r, unsigned code)
{
    for (uint32_t i = 0; i < r->writes.scalar_count; i++)
        if (r->writes.scalars[i].code == code)
            return true;
    for (uint32_t i = 0; i < r->writes.vector_count; i++)
        if (r->writes.vectors[i].number + (unsigned)AMD_VGPR == code)
            return true;
    return code == AMD_SCC && r->writes.has_scc;
}

static bool touches(const trace_access *a, uint64_t from, uint64_t to)
{
    if (a->kind == AMD_ACCESS_NONE)
        return false;
    for (unsigned p = 0; p < a->pieces; p++)
        for (unsigned lane = 0; lane < 64; lane++)
            if ((a->lanes >> lane & 1) && a->address[p][lane] < to &&
                from < a->address[p][lane] + a->piece_bytes)
                return true;
    return false;
}

static bool is_wanted(const view_run *v, const trace_launch *launch, const trace_record *r)
{
    const view_filter *f = &v->filter;
    if (v->number < f->first || v->number > f->last || (f->one_launch && launch->number != f->launch))
        return false;
    if (f->kernel && strcmp(f->kernel, launch->kernel) != 0)
        return false;
    if ((f->one_group && memcmp(f->group, r->group, sizeof f->group) != 0) ||
        (f->one_wave && f->wave != r->wave))
        return false;
    if ((f->pc && strcmp(f->pc, launch->ops[r->op].pc) != 0) ||
        (f->find && !strstr(launch->ops[r->op].text, f->find)))
        return false;
    if (f->writes != UINT32_MAX && !writes_register(r, f->writes))
        return false;
    return !f->has_address || touches(&r->access, f->from, f->to);
}

/* --------------------------------------------------------------------------------------------- showing */

static void show(view_run *v, const trace_launch *launch, const trace_record *r)
{
    if (v->json)
        trace_print_json(v->ctx->out, launch, r);
    else
        trace_print_text(v->ctx->out, launch, r, v->number);
    v->shown++;
}

static ls_status show_all(view_run *v, ls_error *err)
{
    uint64_t limit = cli_uint(v->ctx, "limit");
    trace_item item;
    ls_status status;
    while ((status = trace_reader_next(v->reader, &item, err)) == LS_OK && item != TRACE_ITEM_END) {
        const trace_launch *launch = trace_reader_launch(v->reader);
        if (item == TRACE_ITEM_LAUNCH && v->json)
            trace_print_launch(v->ctx->out, launch);
        else if (item == TRACE_ITEM_LAUNCH)
            fprintf(v->ctx->out, "launch %" PRIu64 ": %s\n", launch->number, launch->kernel);
        if (item != TRACE_ITEM_RECORD)
            continue;
        v->number++;
        if (!is_wanted(v, launch, trace_reader_record(v->reader)))
            continue;
        show(v, launch, trace_reader_record(v->reader));
        if (limit != 0 && v->shown == limit)
            break;
    }
    if (status == LS_OK && v->shown == 0)
        fprintf(v->json ? v->ctx->err : v->ctx->out, "none of the %" PRIu64 " instructions matches\n",
                v->number);
    return status;
}

/* ------------------------------------------------------------------------------------------- following */

/* A record of the wave that is followed, with the registers that it wrote. */
typedef struct view_step {
    uint64_t number;
    uint32_t op;
    uint32_t writes[8]; /* bits of operand codes below 256 */
    uint32_t vectors[8];
} view_step;

static void mark(uint32_t *bits, unsigned i)
{
    bits[i / 32] |= 1u << i % 32;
}

static bool is_marked(const uint32_t *bits, unsigned i)
{
    return bits[i / 32] >> i % 32 & 1;
}

static view_step keep(uint64_t number, const trace_record *r)
{
    view_step step = { .number = number, .op = r->op };
    for (uint32_t i = 0; i < r->writes.scalar_count; i++)
        mark(step.writes, r->writes.scalars[i].code);
    if (r->writes.has_scc)
        mark(step.writes, AMD_SCC);
    for (uint32_t i = 0; i < r->writes.vector_count; i++)
        mark(step.vectors, r->writes.vectors[i].number);
    return step;
}

static bool made(const view_step *step, unsigned code)
{
    return code >= AMD_VGPR ? is_marked(step->vectors, code - AMD_VGPR) : is_marked(step->writes, code);
}

typedef LS_VEC(view_step) view_steps;

/* The first pass finds the record. */
static ls_status find_record(view_run *v, uint64_t at, trace_record *place, ls_error *err)
{
    trace_item item;
    ls_status status;
    while ((status = trace_reader_next(v->reader, &item, err)) == LS_OK && item != TRACE_ITEM_END) {
        const trace_record *r = trace_reader_record(v->reader);
        if (item == TRACE_ITEM_LAUNCH || ++v->number != at)
            continue;
        *place = *r;
        return LS_OK;
    }
    if (status == LS_OK)
        status = ls_fail(err, LS_ERR_USAGE, "there is no instruction %" PRIu64 ": the trace has %" PRIu64, at,
                         v->number);
    return status;
}

/* The second pass: records of the same launch and wave before the place. */
static ls_status collect_wave(view_run *v, uint64_t at, const trace_record *place, view_steps *steps,
                              ls_error *err)
{
    trace_item item;
    ls_status status = LS_OK;
    while (v->number < at && status == LS_OK) {
        status = trace_reader_next(v->reader, &item, err);
        if (status != LS_OK || item == TRACE_ITEM_END)
            return status;
        if (item == TRACE_ITEM_LAUNCH) {
            vec_clear(steps);
            continue;
        }
        const trace_record *r = trace_reader_record(v->reader);
        v->number++;
        if (r->wave != place->wave || memcmp(r->group, place->group, sizeof r->group) != 0)
            continue;
        if (!vec_push(steps, keep(v->number, r)))
            return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    return status;
}

static void show_step(view_run *v, const trace_launch *launch, const view_step *step, unsigned code,
                      unsigned depth)
{
    char name[16];
    fprintf(v->ctx->out, "%*s%s <- #%" PRIu64 " %s: %s\n", (int)(2 * depth), "",
            trace_register_name(code, name, sizeof name), step->number, launch->ops[step->op].pc,
            launch->ops[step->op].text);
}

/* From the writer of a register to those of its sources. Each instruction is shown once. */
static void follow(view_run *v, const trace_launch *launch, const view_steps *steps, bool *seen, size_t before,
                   unsigned code, unsigned depth, unsigned most)
{
    size_t i = before;
    char name[16];
    while (i > 0 && !made(&steps->at[i - 1], code))
        i--;
    if (i == 0) {
        fprintf(v->ctx->out, "%*s%s was there when the trace began\n", (int)(2 * depth), "",
                trace_register_name(code, name, sizeof name));
        return;
    }
    const view_step *step = &steps->at[i - 1];
    show_step(v, launch, step, code, depth);
    if (depth + 1 >= most || seen[i - 1])
        return;
    seen[i - 1] = true;
    const trace_op *op = &launch->ops[step->op];
    for (unsigned k = 0; k < op->source_count; k++)
        for (unsigned d = 0; d < op->sources[k].dwords; d++)
            follow(v, launch, steps, seen, i - 1, op->sources[k].code + d, depth + 1, most);
}

static ls_status open_reader(view_run *v, ls_error *err)
{
    trace_reader_destroy(v->reader);
    v->reader = NULL;
    v->number = 0;
    rewind(v->file);
    return trace_reader_create(v->file, &v->reader, err);
}

static ls_status run_follow(view_run *v, ls_error *err)
{
    const char *name = cli_text(v->ctx, "follow");
    uint64_t at = cli_uint(v->ctx, "at");
    view_steps steps = { 0 };
    unsigned code;
    if (!trace_register_find(name, &code))
        return ls_fail(err, LS_ERR_USAGE, "--follow: '%s' is no register: s4, v3, vcc_lo, exec_lo, m0, scc",
                       name);
    trace_record *place = arena_alloc(v->ctx->arena, sizeof *place);
    if (!place)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    ls_status status = find_record(v, at, place, err);
    if (status == LS_OK)
        status = open_reader(v, err);
    if (status == LS_OK)
        status = collect_wave(v, at, place, &steps, err);
    bool *seen = arena_alloc(v->ctx->arena, steps.count + 1);
    if (status == LS_OK && seen && steps.count > 0) {
        const trace_launch *launch = trace_reader_launch(v->reader);
        trace_print_text(v->ctx->out, launch, place, at);
        follow(v, launch, &steps, seen, steps.count - 1, code, 0, (unsigned)cli_uint(v->ctx, "depth"));
    }
    vec_fini(&steps);
    return status;
}

/* ------------------------------------------------------------------------------------------ command line */

static ls_status read_address(const char *text, view_filter *f, ls_error *err)
{
    const char *colon = strchr(text, ':');
    uint64_t bytes = 1;
    ls_status status = parse_u64(text, colon ? (size_t)(colon - text) : strlen(text), &f->from, err);
    if (status == LS_OK && colon)
        status = parse_u64(colon + 1, strlen(colon + 1), &bytes, err);
    f->has_address = true;
    f->to = f->from + bytes;
    return status == LS_OK ? LS_OK : ls_error_prefix(err, "--touches %s", text);
}

static ls_status read_group(const char *text, uint32_t out[3], ls_error *err)
{
    out[0] = out[1] = out[2] = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        size_t n = strcspn(text, ",");
        uint64_t value;
        ls_status status = parse_u64(text, n, &value, err);
        if (status != LS_OK || value > UINT32_MAX)
            return ls_fail(err, LS_ERR_USAGE, "--group: '%s' is no work-group: X,Y,Z", text);
        out[axis] = (uint32_t)value;
        text += n;
        if (*text == '\0')
            return LS_OK;
        text++;
    }
    return ls_fail(err, LS_ERR_USAGE, "--group: a work-group has at most three coordinates");
}

static ls_status read_filter(const cli_context *ctx, view_filter *f, ls_error *err)
{
    ls_status status = LS_OK;
    *f = (view_filter){ .kernel = cli_text(ctx, "kernel"),
                        .find = cli_text(ctx, "find"),
                        .pc = cli_text(ctx, "at-pc"),
                        .one_group = cli_given(ctx, "group"),
                        .one_wave = cli_given(ctx, "wave"),
                        .wave = (uint32_t)cli_uint(ctx, "wave"),
                        .one_launch = cli_given(ctx, "launch"),
                        .launch = cli_uint(ctx, "launch"),
                        .writes = UINT32_MAX,
                        .first = cli_uint(ctx, "from"),
                        .last = cli_given(ctx, "to") ? cli_uint(ctx, "to") : UINT64_MAX };
    if (f->one_group)
        status = read_group(cli_text(ctx, "group"), f->group, err);
    if (status == LS_OK && cli_given(ctx, "touches"))
        status = read_address(cli_text(ctx, "touches"), f, err);
    if (status == LS_OK && cli_given(ctx, "writes") &&
        !trace_register_find(cli_text(ctx, "writes"), &f->writes))
        status = ls_fail(err, LS_ERR_USAGE, "--writes: '%s' is no register: s4, v3, vcc_lo, exec_lo, m0, scc",
                         cli_text(ctx, "writes"));
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    view_run v = { .ctx = ctx, .json = cli_flag(ctx, "json") };
    const char *path = ctx->positionals[0];
    int fd = -1;
    if (cli_given(ctx, "follow") != cli_given(ctx, "at"))
        return ls_fail(err, LS_ERR_USAGE, "--follow REGISTER needs --at NUMBER, and --at needs --follow");
    ls_status status = read_filter(ctx, &v.filter, err);
    if (status == LS_OK)
        status = file_open(path, &fd, NULL, err);
    if (status != LS_OK)
        return status;
    v.file = fdopen(fd, "rb");
    if (!v.file) {
        close(fd);
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    }
    status = open_reader(&v, err);
    if (status == LS_OK)
        status = cli_given(ctx, "follow") ? run_follow(&v, err) : show_all(&v, err);
    if (status == LS_ERR_INPUT)
        ls_error_at(err, path, 0, 0);
    trace_reader_destroy(v.reader);
    fclose(v.file);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "kernel", .letter = 'k', .type = CLI_TEXT, .arg = "NAME", .help = "only launches of this kernel" },
    { .name = "launch", .type = CLI_UINT, .arg = "N", .min = 1, .help = "only this launch" },
    { .name = "group", .type = CLI_TEXT, .arg = "X,Y,Z", .help = "only this work-group" },
    { .name = "wave", .type = CLI_UINT, .arg = "N", .max = 31, .help = "only this wave of each work-group" },
    { .name = "at-pc", .type = CLI_TEXT, .arg = "KERNEL+0x40", .help = "only this instruction" },
    { .name = "find", .type = CLI_TEXT, .arg = "TEXT", .help = "only instructions with this text: global_store" },
    { .name = "writes", .type = CLI_TEXT, .arg = "REGISTER", .help = "only instructions that write it: s4, v3, vcc_lo, scc" },
    { .name = "touches", .type = CLI_TEXT, .arg = "ADDRESS[:BYTES]", .help = "only accesses to these bytes of memory or LDS" },
    { .name = "from", .type = CLI_UINT, .arg = "N", .help = "only from this number on; the first is 1" },
    { .name = "to", .type = CLI_UINT, .arg = "N", .help = "only up to this number" },
    { .name = "limit", .letter = 'n', .type = CLI_UINT, .arg = "N", .help = "stop after so many; 0: never" },
    { .name = "follow", .type = CLI_TEXT, .arg = "REGISTER",
      .help = "the instruction that wrote it last before --at, the writers of that one's sources, and so on" },
    { .name = "at", .type = CLI_UINT, .arg = "N", .min = 1, .help = "number of the instruction where --follow begins" },
    { .name = "depth", .type = CLI_UINT, .arg = "N", .default_text = "3", .min = 1, .max = DEPTH_MAX,
      .help = "how far --follow goes" },
    { .name = "json", .help = "the lines that --trace-instructions FILE.jsonl writes" },
};

static const cli_positional positionals[] = {
    { .name = "FILE", .complete = CLI_COMPLETE_FILE, .help = "a packed instruction trace (.lsit)" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep trace view fir.lsit --wave 0 --find global_store -n 4", "the first stores of wave 0" },
    { "lockstep trace view fir.lsit --follow v3 --at 90", "where the value of a register comes from" },
};

const cli_command cmd_trace_view = {
    .name = "view",
    .summary = "look into an instruction trace of an AMD program",
    .about =
        "Reads the packed file that `lockstep emulate --trace-instructions FILE.lsit` writes, and shows each executed "
        "instruction with its number, work-group and wave, pc, the registers that it wrote and the memory that it used. A "
        "vector register is shown as the value of its first active lane, with .. if others differ; --json has all lanes.",
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
