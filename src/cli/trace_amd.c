/* trace_amd.c: see trace_amd.h. Reads recordings; writes to the terminal or one file of text. */
#include "cli/trace_amd.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cmd_trace.h"
#include "isa/amd/exec/tape.h"

#include <inttypes.h>
#include <string.h>

static const char *const space_names[] = {
    [AMD_SPACE_GLOBAL] = "global", [AMD_SPACE_LDS] = "lds",   [AMD_SPACE_SCRATCH] = "scratch",
    [AMD_SPACE_SCALAR] = "scalar", [AMD_SPACE_FLAT] = "flat",
};
static const char *const kind_names[] = {
    [AMD_ACCESS_NONE] = "none",     [AMD_ACCESS_LOAD] = "load",         [AMD_ACCESS_STORE] = "store",
    [AMD_ACCESS_ATOMIC] = "atomic", [AMD_ACCESS_EXCHANGE] = "exchange",
};
enum { SPACES = LS_COUNT_OF(space_names) };

/* Totals of launches. */
typedef struct amd_mix {
    uint64_t launches, groups, waves, instructions, lanes, static_insts;
    uint32_t vgprs, sgprs; /* of a lane, of a wave; of one launch */
    uint64_t classes[AMD_CLASS_COUNT];
    struct {
        uint64_t insts, lanes, bytes;
    } spaces[SPACES];
} amd_mix;

typedef struct amd_run {
    cli_context *ctx;
    amd_file *file;
    memory_space *address_space;
    cli_style style;
    json_writer json;
    bool as_json, each;
    kernel_selection selection; /* of launches */
} amd_run;

static ls_status open_run(amd_run *run, cli_context *ctx, const char *path, ls_error *err)
{
    *run = (amd_run){ .ctx = ctx, .style = cli_style_of(ctx->color_out) };
    ls_status status = amd_file_open(path, &run->file, err);
    return status == LS_OK ? amd_file_window(run->file, &run->address_space, err) : status;
}

static void close_run(amd_run *run)
{
    selection_fini(&run->selection);
    address_space_destroy(run->address_space);
    amd_file_close(run->file);
}

/* --------------------------------------------------------------------------------------------------- info */

static bool count_step(void *self, const amd_walk_step *step)
{
    amd_mix *mix = self;
    mix->instructions++;
    mix->waves += step->number == 0;
    mix->classes[step->inst->class_]++;
    if (step->inst->format > AMD_SMEM)
        mix->lanes += (uint64_t)__builtin_popcountll(step->exec);
    if (step->access && amd_tape_moves(step->access->kind)) {
        uint64_t lanes = (uint64_t)__builtin_popcountll(step->access->lanes);
        mix->spaces[step->access->space].insts++;
        mix->spaces[step->access->space].lanes += lanes;
        mix->spaces[step->access->space].bytes += lanes * step->access->pieces * step->access->piece_bytes;
    }
    return true;
}

static ls_status count_launch(amd_run *run, size_t index, amd_mix *mix, ls_error *err)
{
    const amd_file_launch *l = amd_file_launch_at(run->file, index);
    uint64_t limit = cli_uint(run->ctx, "ctas");
    amd_program *program = NULL;
    *mix = (amd_mix){ .launches = 1, .groups = limit && limit < l->groups ? limit : l->groups };
    ls_status status = amd_file_program(run->file, index, run->address_space, &program, err);
    if (status == LS_OK) {
        mix->static_insts = program->op_count;
        mix->vgprs = program->vgprs;
        /* Granules of 8; on gfx10 every wave has all of them. */
        mix->sgprs = amd_target_is_gfx10(l->kernel.target) ? 106 : ((l->kernel.rsrc1 >> 6 & 15) + 1) * 8;
        status = amd_walk_launch(run->file, index, program, 0, mix->groups, count_step, mix, err);
    }
    amd_program_destroy(program);
    return status;
}

static void add_mix(amd_mix *to, const amd_mix *from)
{
    to->launches += from->launches;
    to->groups += from->groups;
    to->waves += from->waves;
    to->instructions += from->instructions;
    to->lanes += from->lanes;
    to->static_insts += from->static_insts;
    for (size_t i = 0; i < AMD_CLASS_COUNT; i++)
        to->classes[i] += from->classes[i];
    for (size_t i = 0; i < SPACES; i++) {
        to->spaces[i].insts += from->spaces[i].insts;
        to->spaces[i].lanes += from->spaces[i].lanes;
        to->spaces[i].bytes += from->spaces[i].bytes;
    }
}

static void json_mix(json_writer *j, const amd_mix *mix)
{
    json_put_u64(j, "work_groups", mix->groups);
    json_put_u64(j, "waves", mix->waves);
    json_put_u64(j, "static_instructions", mix->static_insts);
    json_put_u64(j, "wave_instructions", mix->instructions);
    json_put_u64(j, "active_lanes", mix->lanes);
    json_key(j, "classes");
    json_begin_object(j);
    for (size_t i = 0; i < AMD_CLASS_COUNT; i++)
        if (mix->classes[i])
            json_put_u64(j, amd_class_name((amd_class)i), mix->classes[i]);
    json_end(j);
    json_key(j, "memory");
    json_begin_object(j);
    for (size_t i = 0; i < SPACES; i++) {
        if (!mix->spaces[i].insts)
            continue;
        cmd_trace_json_space(j, space_names[i], "wave_instructions",
                             (const uint64_t[]){ mix->spaces[i].insts, mix->spaces[i].lanes,
                                                 mix->spaces[i].bytes });
    }
    json_end(j);
}

static void json_launch(json_writer *j, size_t index, const amd_file_launch *l, const amd_mix *mix)
{
    json_begin_object(j);
    json_put_u64(j, "number", index + 1);
    json_put_text(j, "name", l->kernel.name);
    json_put_text(j, "target", amd_target_name(l->kernel.target));
    json_put_u64(j, "wave_size", l->lanes);
    json_put_sizes(j, "grid", l->grid);
    json_put_sizes(j, "work_group", l->group);
    json_put_u64(j, "vgprs", mix->vgprs);
    json_put_u64(j, "sgprs", mix->sgprs);
    json_put_u64(j, "lds_bytes", l->lds_bytes);
    json_put_u64(j, "scratch_bytes", l->kernel.scratch_bytes);
    json_mix(j, mix);
    json_end(j);
}

static void print_mix(const amd_run *run, const amd_mix *mix, const char *indent)
{
    FILE *out = run->ctx->out;
    char a[LS_FORMAT_BYTES], b[LS_FORMAT_BYTES];
    double all = mix->instructions ? (double)mix->instructions : 1;
    for (size_t i = 0; i < AMD_CLASS_COUNT; i++)
        if (mix->classes[i])
            fprintf(out, "%s%-14s %15s  %5.1f %%\n", indent, amd_class_name((amd_class)i),
                    format_count(mix->classes[i], a, sizeof a), 100 * (double)mix->classes[i] / all);
    for (size_t i = 0; i < SPACES; i++)
        if (mix->spaces[i].insts)
            fprintf(out, "%s%-14s %15s  %5.1f lanes  %s\n", indent, space_names[i],
                    format_count(mix->spaces[i].insts, a, sizeof a),
                    (double)mix->spaces[i].lanes / (double)mix->spaces[i].insts,
                    format_si((double)mix->spaces[i].bytes, "B", b, sizeof b));
}

static void print_launch(const amd_run *run, size_t index, const amd_file_launch *l, const amd_mix *mix)
{
    char grid[48], group[48], waves[LS_FORMAT_BYTES], insts[LS_FORMAT_BYTES], name[64];
    snprintf(grid, sizeof grid, "%u,%u,%u", l->grid[0], l->grid[1], l->grid[2]);
    snprintf(group, sizeof group, "%u,%u,%u", l->group[0], l->group[1], l->group[2]);
    fprintf(run->ctx->out, "%4zu  %s%-24s%s  %-7s %4u  %14s %10s %5u %5u %6u %10s %13s\n", index + 1,
            run->style.name, quote_text(l->kernel.name, strlen(l->kernel.name), name, 25), run->style.off,
            amd_target_name(l->kernel.target), l->lanes, grid, group, mix->vgprs, mix->sgprs, l->lds_bytes,
            format_count(mix->waves, waves, sizeof waves),
            format_count(mix->instructions, insts, sizeof insts));
    if (run->each)
        print_mix(run, mix, "      ");
}

static void count_copies(const amd_file *file, uint64_t counts[AMD_FILE_KIND_COUNT],
                         uint64_t bytes[AMD_FILE_KIND_COUNT])
{
    for (size_t i = 0; i < amd_file_command_count(file); i++) {
        const amd_file_command *c = amd_file_command_at(file, i);
        counts[c->kind]++;
        bytes[c->kind] += c->bytes;
    }
}

static void print_total(const amd_run *run, const amd_mix *mix)
{
    FILE *out = run->ctx->out;
    char a[LS_FORMAT_BYTES], b[LS_FORMAT_BYTES], hash[LS_HASH_TEXT_BYTES];
    uint64_t size = amd_file_bytes(run->file), counts[AMD_FILE_KIND_COUNT] = { 0 },
             bytes[AMD_FILE_KIND_COUNT] = { 0 };
    count_copies(run->file, counts, bytes);
    fprintf(out, "\n%sTotal%s\n", run->style.title, run->style.off);
    fprintf(out, "  %-14s %15s\n", "recorded by", amd_file_producer(run->file));
    fprintf(out, "  %-14s %15s\n", "launches", format_count(mix->launches, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "work-groups", format_count(mix->groups, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "waves", format_count(mix->waves, a, sizeof a));
    fprintf(out, "  %-14s %15s\n", "instructions", format_count(mix->instructions, a, sizeof a));
    for (int i = AMD_FILE_COPY_IN; i < AMD_FILE_KIND_COUNT; i++)
        if (counts[i])
            fprintf(out, "  %-14s %15s  %s\n", amd_file_kind_names[i], format_count(counts[i], a, sizeof a),
                    format_si((double)bytes[i], "B", b, sizeof b));
    fprintf(out, "  %-14s %15s  %.3f bytes per instruction\n", "file",
            format_si((double)size, "B", a, sizeof a),
            mix->instructions ? (double)size / (double)mix->instructions : 0.0);
    fprintf(out, "  %-14s %s\n", "content", hash128_text(amd_file_content(run->file), hash));
    fprintf(out, "\n%sInstructions by class, accesses by space%s\n", run->style.title, run->style.off);
    print_mix(run, mix, "  ");
}

static ls_status finish_json(amd_run *run, const amd_mix *total, ls_error *err)
{
    json_writer *j = &run->json;
    char hash[LS_HASH_TEXT_BYTES];
    uint64_t counts[AMD_FILE_KIND_COUNT] = { 0 }, bytes[AMD_FILE_KIND_COUNT] = { 0 };
    count_copies(run->file, counts, bytes);
    json_end(j);
    json_key(j, "total");
    json_begin_object(j);
    json_put_text(j, "recorded_by", amd_file_producer(run->file));
    json_put_u64(j, "launches", total->launches);
    json_put_u64(j, "file_bytes", amd_file_bytes(run->file));
    json_put_text(j, "content", hash128_text(amd_file_content(run->file), hash));
    json_put_u64(j, "bytes_copied_in", bytes[AMD_FILE_COPY_IN]);
    json_put_u64(j, "bytes_copied_out", bytes[AMD_FILE_COPY_OUT]);
    json_mix(j, total);
    json_end(j);
    json_end(j);
    return json_finish(j, err);
}

static ls_status show(amd_run *run, ls_error *err)
{
    amd_mix total = { 0 };
    ls_status status = LS_OK;
    if (run->as_json) {
        json_to_file(&run->json, run->ctx->out, 2);
        json_begin_object(&run->json);
        json_key(&run->json, "kernels");
        json_array(&run->json);
    } else {
        fprintf(run->ctx->out, "%s%4s  %-24s  %-7s %4s  %14s %10s %5s %5s %6s %10s %13s%s\n", run->style.title,
                "", "KERNEL", "TARGET", "WAVE", "GRID", "GROUP", "VGPRS", "SGPRS", "LDS", "WAVES",
                "INSTRUCTIONS", run->style.off);
    }
    for (size_t n = 0; n < run->selection.count && status == LS_OK; n++) {
        size_t i = (size_t)run->selection.at[n].command;
        amd_mix mix;
        status = count_launch(run, i, &mix, err);
        if (status != LS_OK)
            return status;
        if (run->as_json)
            json_launch(&run->json, i, amd_file_launch_at(run->file, i), &mix);
        else
            print_launch(run, i, amd_file_launch_at(run->file, i), &mix);
        add_mix(&total, &mix);
    }
    if (run->as_json)
        return finish_json(run, &total, err);
    print_total(run, &total);
    return LS_OK;
}

ls_status trace_amd_info(cli_context *ctx, const char *path, ls_error *err)
{
    amd_run run;
    ls_status status = open_run(&run, ctx, path, err);
    run.as_json = cli_flag(ctx, "json");
    run.each = cli_flag(ctx, "each");
    if (status == LS_OK)
        status = amd_file_select(run.file, cli_text(ctx, "kernels"), &run.selection, err);
    if (status == LS_OK)
        status = show(&run, err);
    close_run(&run);
    return status;
}

/* -------------------------------------------------------------------------------------------------- check */

ls_status trace_amd_check(cli_context *ctx, const char *path, ls_error *err)
{
    amd_run run;
    uint64_t insts = 0;
    ls_status status = amd_file_verify(path, err);
    if (status != LS_OK)
        return status;
    status = open_run(&run, ctx, path, err);
    for (size_t i = 0; status == LS_OK && i < amd_file_launch_count(run.file); i++)
        insts += amd_file_launch_at(run.file, i)->instructions;
    if (status == LS_OK)
        fprintf(ctx->out, "%zu launches, %" PRIu64 " wavefront instructions: no errors\n",
                amd_file_launch_count(run.file), insts);
    close_run(&run);
    return status;
}

/* ------------------------------------------------------------------------------------------------- unpack */

typedef struct amd_text {
    FILE *out;
    const amd_file_launch *launch;
    uint64_t group;
    uint32_t wave;
    bool any;
} amd_text;

static void print_lanes(FILE *out, const uint64_t *address, uint64_t lanes)
{
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t a = address[__builtin_ctzll(rest)];
        fprintf(out, a & AMD_TAPE_PRIVATE ? " private+0x%" PRIx64 : " 0x%" PRIx64, a & ~AMD_TAPE_PRIVATE);
    }
}

static void print_access(FILE *out, const amd_access *a)
{
    fprintf(out, "  ; %s %s %u x %u bytes", space_names[a->space], kind_names[a->kind], a->pieces,
            a->piece_bytes);
    if (!amd_tape_moves(a->kind))
        return;
    fprintf(out, " lanes %" PRIx64, a->lanes);
    if (a->zero)
        fprintf(out, " outside %" PRIx64, a->zero);
    if (a->in_lds)
        fprintf(out, " in lds %" PRIx64, a->in_lds);
    for (unsigned p = 0; p < a->pieces; p++) {
        fputs(p == 0 ? " at" : " and", out);
        print_lanes(out, a->address[p], a->lanes & ~a->absent[p]);
    }
}

static bool print_step(void *self, const amd_walk_step *step)
{
    amd_text *t = self;
    char text[160];
    if (!t->any || step->group != t->group || step->number == 0) {
        uint32_t id[3];
        amd_file_group_id(t->launch, step->group, id);
        if (!t->any || step->group != t->group)
            fprintf(t->out, "work-group %u,%u,%u\n", id[0], id[1], id[2]);
        fprintf(t->out, "wave %u\n", step->wave);
        t->group = step->group;
        t->any = true;
    }
    amd_print(t->launch->kernel.target, t->launch->lanes, step->inst, text, sizeof text);
    fprintf(t->out, "%" PRIx64 " %" PRIx64 " %s", step->pc, step->exec, text);
    if (step->access)
        print_access(t->out, step->access);
    fputc('\n', t->out);
    return !ferror(t->out);
}

static ls_status write_launch(amd_run *run, FILE *out, size_t index, ls_error *err)
{
    const amd_file_launch *l = amd_file_launch_at(run->file, index);
    const amd_kernel *k = &l->kernel;
    amd_text text = { .out = out, .launch = l };
    amd_program *program = NULL;
    fprintf(out, "launch %zu %s target %s wave %u grid %u,%u,%u work-group %u,%u,%u lds %u scratch %u",
            index + 1, k->name, amd_target_name(k->target), l->lanes, l->grid[0], l->grid[1], l->grid[2],
            l->group[0], l->group[1], l->group[2], l->lds_bytes, k->scratch_bytes);
    fprintf(out, " code 0x%" PRIx64 " bytes %" PRIu64 " entry 0x%" PRIx64 " rsrc 0x%x 0x%x 0x%x\n", k->code,
            k->code_bytes, k->entry, k->rsrc1, k->rsrc2, k->rsrc3);
    for (size_t i = 0; i < l->extent_count; i++)
        fprintf(out, "mapped 0x%" PRIx64 "-0x%" PRIx64 " %s\n", l->extents[i].start, l->extents[i].end,
                l->extents[i].state & LS_PAGE_WRITE ? "rw" : "r");
    ls_status status = amd_file_program(run->file, index, run->address_space, &program, err);
    if (status == LS_OK)
        status = amd_walk_launch(run->file, index, program, 0, UINT64_MAX, print_step, &text, err);
    amd_program_destroy(program);
    return status;
}

static ls_status write_text(amd_run *run, FILE *out, ls_error *err)
{
    ls_status status = LS_OK;
    size_t next = 0;
    fprintf(out, "recording of %s, version %u\n", amd_file_producer(run->file), amd_file_version(run->file));
    for (size_t i = 0; i < amd_file_command_count(run->file) && status == LS_OK; i++) {
        const amd_file_command *c = amd_file_command_at(run->file, i);
        bool chosen = next < run->selection.count && run->selection.at[next].command == c->launch;
        if (c->kind == AMD_FILE_LAUNCH && chosen) {
            status = write_launch(run, out, c->launch, err);
            next++;
        } else if (c->kind != AMD_FILE_LAUNCH)
            fprintf(out, "%s gpu %u to 0x%" PRIx64 " from 0x%" PRIx64 " bytes %" PRIu64 "\n",
                    amd_file_kind_names[c->kind], c->gpu, c->to, c->from, c->bytes);
    }
    return status;
}

ls_status trace_amd_unpack(cli_context *ctx, const char *path, ls_error *err)
{
    amd_run run;
    file_writer writer;
    ls_status status = open_run(&run, ctx, path, err);
    if (status == LS_OK)
        status = amd_file_select(run.file, cli_text(ctx, "kernels"), &run.selection, err);
    if (status == LS_OK)
        status = file_writer_open(&writer, cli_text(ctx, "output"), err);
    if (status == LS_OK) {
        status = write_text(&run, writer.stream, err);
        if (status == LS_OK)
            status = file_writer_commit(&writer, err);
        else
            file_writer_abort(&writer);
    }
    close_run(&run);
    return status;
}
