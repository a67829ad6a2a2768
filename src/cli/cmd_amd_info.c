/* cmd_amd_info.c: `lockstep amd info`: the contents of a code object, as text and as JSON. */
#include "cli/cmd_amd.h"

#include "base/file.h"
#include "base/json.h"
#include "workload/hsa/hsa.h"

#include <inttypes.h>
#include <string.h>

typedef struct info_run {
    const cli_context *ctx;
    const char *path;
    const hsa_bundle_entry *entries; /* of a bundle */
    size_t entry_count;
    const hsa_object *object;
    const char *only; /* one kernel; NULL: all */
    bool hidden;
    cli_style style;
} info_run;

static bool is_shown(const info_run *run, const hsa_kernel *kernel)
{
    return !run->only || strcmp(run->only, kernel->name) == 0;
}

/* --------------------------------------------------------------------------------------------------- JSON */

static void json_flag(json_writer *j, const char *key, bool value)
{
    if (!value)
        return;
    json_key(j, key);
    json_bool(j, true);
}

static void json_arg(json_writer *j, const hsa_arg *arg)
{
    json_flat(j);
    json_begin_object(j);
    json_put_u64(j, "offset", arg->offset);
    json_put_u64(j, "bytes", arg->bytes);
    json_put_text(j, "kind", arg->kind_name);
    if (*arg->name)
        json_put_text(j, "name", arg->name);
    if (*arg->type_name)
        json_put_text(j, "type", arg->type_name);
    if (*arg->address_space)
        json_put_text(j, "address_space", arg->address_space);
    if (*arg->access)
        json_put_text(j, "access", arg->access);
    if (*arg->actual_access)
        json_put_text(j, "actual_access", arg->actual_access);
    if (arg->pointee_align)
        json_put_u64(j, "pointee_align", arg->pointee_align);
    json_flag(j, "const", arg->is_const);
    json_flag(j, "restrict", arg->is_restrict);
    json_flag(j, "volatile", arg->is_volatile);
    json_flag(j, "pipe", arg->is_pipe);
    json_flag(j, "hidden", hsa_arg_is_hidden(arg->kind));
    json_end(j);
}

static void json_hex(json_writer *j, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    json_put_text(j, key, text);
}

static void json_kernel(json_writer *j, const hsa_kernel *k)
{
    json_begin_object(j);
    json_put_text(j, "name", k->name);
    json_put_text(j, "symbol", k->symbol);
    json_hex(j, "descriptor", k->descriptor);
    json_hex(j, "entry", k->entry);
    json_put_u64(j, "code_bytes", k->code_bytes);
    json_put_u64(j, "wave_size", k->wave_size);
    json_put_u64(j, "sgprs", k->sgprs);
    json_put_u64(j, "vgprs", k->vgprs);
    json_put_u64(j, "sgpr_spills", k->sgpr_spills);
    json_put_u64(j, "vgpr_spills", k->vgpr_spills);
    json_put_u64(j, "lds_bytes", k->lds_bytes);
    json_put_u64(j, "scratch_bytes", k->scratch_bytes);
    json_put_u64(j, "kernarg_bytes", k->kernarg_bytes);
    json_put_u64(j, "kernarg_align", k->kernarg_align);
    json_put_u64(j, "group_size_max", k->group_size_max);
    json_key(j, "required_group");
    json_flat(j);
    json_array(j);
    for (int i = 0; i < 3; i++)
        json_u64(j, k->required_group[i]);
    json_end(j);
    json_hex(j, "rsrc1", k->rsrc1);
    json_hex(j, "rsrc2", k->rsrc2);
    json_hex(j, "rsrc3", k->rsrc3);
    json_hex(j, "properties", k->properties);
    json_key(j, "arguments");
    json_array(j);
    for (size_t i = 0; i < k->arg_count; i++)
        json_arg(j, &k->args[i]);
    json_end(j);
    json_end(j);
}

static void json_bundle(json_writer *j, const info_run *run)
{
    json_key(j, "bundle");
    json_array(j);
    for (size_t i = 0; i < run->entry_count; i++) {
        json_flat(j);
        json_begin_object(j);
        json_put_text(j, "id", run->entries[i].id);
        json_put_text(j, "target", run->entries[i].target);
        json_put_u64(j, "offset", run->entries[i].offset);
        json_put_u64(j, "bytes", run->entries[i].bytes);
        json_end(j);
    }
    json_end(j);
}

static void json_object(json_writer *j, const info_run *run)
{
    const hsa_object *o = run->object;
    json_put_text(j, "target", o->target_name);
    json_put_text(j, "isa", o->isa_name);
    json_key(j, "supported");
    json_bool(j, o->has_target);
    json_put_u64(j, "version", o->version);
    json_put_text(j, "xnack", o->xnack);
    json_put_text(j, "sramecc", o->sramecc);
    json_put_u64(j, "image_bytes", o->image_bytes);
    json_put_u64(j, "relocations", o->reloc_count);
    json_key(j, "kernels");
    json_array(j);
    for (size_t i = 0; i < o->kernel_count; i++)
        if (is_shown(run, &o->kernels[i]))
            json_kernel(j, &o->kernels[i]);
    json_end(j);
    json_key(j, "variables");
    json_array(j);
    for (size_t i = 0; i < o->variable_count; i++) {
        json_flat(j);
        json_begin_object(j);
        json_put_text(j, "name", o->variables[i].name);
        json_hex(j, "address", o->variables[i].address);
        json_put_u64(j, "bytes", o->variables[i].bytes);
        json_key(j, "writable");
        json_bool(j, o->variables[i].writable);
        json_end(j);
    }
    json_end(j);
    json_key(j, "printf");
    json_array(j);
    for (size_t i = 0; i < o->printf_count; i++)
        json_string(j, o->printfs[i]);
    json_end(j);
}

static ls_status print_json(const info_run *run, ls_error *err)
{
    json_writer j;
    json_to_file(&j, run->ctx->out, 2);
    json_begin_object(&j);
    json_put_text(&j, "file", run->path);
    if (run->entry_count)
        json_bundle(&j, run);
    if (run->object)
        json_object(&j, run);
    json_end(&j);
    return json_finish(&j, err);
}

/* --------------------------------------------------------------------------------------------------- text */

static void print_bundle(const info_run *run)
{
    FILE *out = run->ctx->out;
    char a[LS_FORMAT_BYTES];
    fprintf(out, "%sOffload bundle%s\n", run->style.title, run->style.off);
    for (size_t i = 0; i < run->entry_count; i++) {
        char id[128];
        quote_text(run->entries[i].id, strlen(run->entries[i].id), id, sizeof id);
        fprintf(out, "  %-52s %12s bytes\n", id, format_count(run->entries[i].bytes, a, sizeof a));
    }
}

static void print_head(const info_run *run)
{
    const hsa_object *o = run->object;
    FILE *out = run->ctx->out;
    char a[LS_FORMAT_BYTES];
    fprintf(out, "%s%s%s  code object version %u%s\n", run->style.title, o->target_name, run->style.off,
            o->version, o->has_target ? "" : "  (this instruction set cannot be run here)");
    fprintf(out, "  %-12s %s\n", "ISA", o->isa_name);
    if (*o->xnack || *o->sramecc)
        fprintf(out, "  %-12s xnack %s, sramecc %s\n", "settings", *o->xnack ? o->xnack : "not there",
                *o->sramecc ? o->sramecc : "not there");
    fprintf(out, "  %-12s %s bytes, %zu relocation%s\n", "image", format_count(o->image_bytes, a, sizeof a),
            o->reloc_count, o->reloc_count == 1 ? "" : "s");
}

static const char *group_text(const hsa_kernel *k, char *out, size_t out_bytes)
{
    if (k->required_group[0])
        snprintf(out, out_bytes, "=%" PRIu32 "x%" PRIu32 "x%" PRIu32, k->required_group[0],
                 k->required_group[1], k->required_group[2]);
    else if (k->group_size_max)
        snprintf(out, out_bytes, "<=%" PRIu32, k->group_size_max);
    else
        snprintf(out, out_bytes, "any");
    return out;
}

static void print_kernels(const info_run *run)
{
    const hsa_object *o = run->object;
    FILE *out = run->ctx->out;
    fprintf(out, "\n%s  %-28s %5s %6s %6s %8s %8s %5s %12s %8s%s\n", run->style.title, "KERNEL", "WAVE",
            "SGPRS", "VGPRS", "LDS", "SCRATCH", "ARGS", "WORK-GROUP", "CODE", run->style.off);
    for (size_t i = 0; i < o->kernel_count; i++) {
        const hsa_kernel *k = &o->kernels[i];
        char name[64], group[48];
        if (!is_shown(run, k))
            continue;
        quote_text(k->name, strlen(k->name), name, sizeof name);
        fprintf(out,
                "  %s%-28s%s %5" PRIu32 " %6" PRIu32 " %6" PRIu32 " %8" PRIu32 " %8" PRIu32
                " %5zu %12s %8" PRIu64 "\n",
                run->style.name, name, run->style.off, k->wave_size, k->sgprs, k->vgprs, k->lds_bytes,
                k->scratch_bytes, k->explicit_count, group_text(k, group, sizeof group), k->code_bytes);
    }
}

static void print_args(const info_run *run, const hsa_kernel *k)
{
    FILE *out = run->ctx->out;
    size_t count = run->hidden ? k->arg_count : k->explicit_count;
    fprintf(out, "\n%sArguments of %s%s: %" PRIu32 " bytes", run->style.title, k->name, run->style.off,
            k->kernarg_bytes);
    if (!run->hidden && k->arg_count > count)
        fprintf(out, ", with %zu hidden ones (--hidden)", k->arg_count - count);
    fprintf(out, "%s\n", k->has_args ? "" : "; the file does not describe them");
    for (size_t i = 0; i < count; i++) {
        const hsa_arg *arg = &k->args[i];
        char type[64], name[64];
        quote_text(arg->type_name, strlen(arg->type_name), type, sizeof type);
        quote_text(arg->name, strlen(arg->name), name, sizeof name);
        fprintf(out, "  %5" PRIu32 " %5" PRIu32 "  %-24s %-10s %s%s%s%s%s%s%s%s\n", arg->offset, arg->bytes,
                arg->kind_name, arg->address_space, arg->is_const ? "const " : "", type,
                *type && *name ? " " : "", name, arg->is_restrict ? " restrict" : "",
                arg->is_volatile ? " volatile" : "",
                strcmp(arg->access, "default") != 0 && *arg->access ? " " : "",
                strcmp(arg->access, "default") != 0 ? arg->access : "");
    }
}

static void print_variables(const info_run *run)
{
    const hsa_object *o = run->object;
    if (o->variable_count == 0)
        return;
    fprintf(run->ctx->out, "\n%sVariables%s\n", run->style.title, run->style.off);
    for (size_t i = 0; i < o->variable_count; i++)
        fprintf(run->ctx->out, "  0x%08" PRIx64 " %10" PRIu64 "  %-9s %s\n", o->variables[i].address,
                o->variables[i].bytes, o->variables[i].writable ? "global" : "constant", o->variables[i].name);
}

static void print_text(const info_run *run)
{
    const hsa_object *o = run->object;
    if (run->entry_count)
        print_bundle(run);
    if (!o)
        return;
    if (run->entry_count)
        fputc('\n', run->ctx->out);
    print_head(run);
    print_kernels(run);
    for (size_t i = 0; i < o->kernel_count; i++)
        if (is_shown(run, &o->kernels[i]))
            print_args(run, &o->kernels[i]);
    if (!run->only)
        print_variables(run);
    for (size_t i = 0; i < o->printf_count && !run->only; i++)
        fprintf(run->ctx->out, "%s  %s\n", i ? "" : "\nFormats of printf\n", o->printfs[i]);
}

/* ------------------------------------------------------------------------------------------------ command */

/* A bundle with several targets is listed unless one is chosen. */
static ls_status find_object(info_run *run, const char *file, size_t file_bytes, hsa_object **object,
                             ls_error *err)
{
    const char *target = cli_text(run->ctx, "target");
    const void *data, *elf;
    size_t bytes, elf_bytes, gpus = 0;
    ls_status status = hsa_bundle_unpack(run->ctx->arena, file, file_bytes, &data, &bytes, err);
    if (status == LS_OK && hsa_is_bundle(data, bytes))
        status = hsa_bundle_list(run->ctx->arena, data, bytes, &run->entries, &run->entry_count, err);
    for (size_t i = 0; status == LS_OK && i < run->entry_count; i++)
        gpus += *run->entries[i].target != '\0';
    if (status != LS_OK || (run->entry_count > 0 && !target && gpus != 1))
        return status;
    status = hsa_bundle_pick(data, bytes, target, &elf, &elf_bytes, err);
    if (status == LS_OK)
        status = hsa_object_read(elf, elf_bytes, object, err);
    if (status == LS_OK && target && !hsa_target_runs((*object)->target_name, target)) {
        status = ls_fail(err, LS_ERR_INPUT, "the code object is for %s, not for %s", (*object)->target_name,
                         target);
        hsa_object_destroy(*object);
        *object = NULL;
    }
    return status;
}

static ls_status run(cli_context *ctx, ls_error *err)
{
    info_run info = { .ctx = ctx,
                      .path = ctx->positionals[0],
                      .only = cli_text(ctx, "kernel"),
                      .hidden = cli_flag(ctx, "hidden"),
                      .style = cli_style_of(ctx->color_out) };
    hsa_object *object = NULL;
    char *data;
    size_t bytes;
    ls_status status = file_read(ctx->arena, info.path, HSA_FILE_LIMIT, &data, &bytes, err);
    if (status != LS_OK)
        return status;
    status = find_object(&info, data, bytes, &object, err);
    if (status != LS_OK)
        return ls_error_at(err, info.path, 0, 0);
    info.object = object;
    if (info.only && object && !hsa_object_find(object, info.only)) {
        ls_fail(err, LS_ERR_USAGE, "the code object has no kernel '%s'", info.only);
        ls_error_nearest(err, hsa_object_nearest(object, info.only));
        status = ls_error_at(err, info.path, 0, 0);
    } else if (cli_flag(ctx, "json")) {
        status = print_json(&info, err);
    } else {
        print_text(&info);
    }
    hsa_object_destroy(object);
    return status;
}

/* clang-format off */
static const cli_option options[] = {
    { .name = "kernel", .letter = 'k', .type = CLI_TEXT, .arg = "NAME", .help = "show only this kernel" },
    { .name = "target", .type = CLI_TEXT, .arg = "GFX", .help = "which code object of an offload bundle" },
    { .name = "hidden", .help = "list the hidden arguments too" },
    { .name = "json", .help = "print JSON, with everything that the file says" },
};

static const cli_positional positionals[] = {
    { .name = "FILE", .complete = CLI_COMPLETE_FILE, .help = "a code object or an offload bundle" },
};
/* clang-format on */

static const cli_example examples[] = {
    { "lockstep amd info fir.co", "target, version, kernels with their registers, arguments" },
    { "lockstep amd info app.hipfb --target gfx1030 --json",
      "one code object of a bundle, for other programs" },
};

const cli_command cmd_amd_info = {
    .name = "info",
    .summary = "print target, kernels, registers and arguments of a code object",
    .about =
        "Reads code objects (ELF) of versions 2 to 6, linked or not, for any AMD GPU, and clang's offload bundles around "
        "them. SGPRS and VGPRS are per wave and per lane, LDS per work-group, SCRATCH per work-item, CODE in "
        "bytes. WORK-GROUP is the largest size (<=) or the required one (=).",
    .order = 1,
    CLI_OPTIONS(options),
    CLI_POSITIONALS(positionals),
    CLI_EXAMPLES(examples),
    .run = run,
};
