/* emulate_object.c: one launch of any code object: buffers are made as their texts describe them,
 * and afterwards printed, dumped or summed up. */
#include "sim/emulate_object.h"

#include "base/file.h"
#include "base/hash.h"
#include "sim/emulate_args.h"
#include "sim/emulate_output.h"
#include "workload/hsa/hsa.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PRINT_COUNT 16u /* elements of a buffer, if no number is given */

typedef struct object_run {
    mem_arena *arena;
    const emulate_object_launch *from;
    const emulate_object_printer *printer;
    ls_gpu_context *context;
    ls_gpu_module *module;
    ls_gpu_kernel *kernel;
    const ls_gpu_kernel_info *info;
    emulate_arg *args;
    size_t arg_count;
    ls_gpu_launch launch;
} object_run;

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* -------------------------------------------------------------------------------------------- before it */

bool emulate_object_is(const char *path)
{
    unsigned char head[64];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    FILE *file = fopen(path, "rbe");
    size_t bytes = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    return (bytes >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) || hsa_is_bundle(head, bytes) ||
           hsa_is_packed_bundle(head, bytes);
}

ls_status emulate_object_target(mem_arena *arena, const char *path, const char **target, ls_error *err)
{
    char *data;
    size_t bytes, plain_bytes, elf_bytes;
    const void *plain, *elf;
    hsa_object *object;
    ls_status status = file_read(arena, path, HSA_FILE_LIMIT, &data, &bytes, err);
    *target = NULL;
    if (status != LS_OK)
        return status;
    status = hsa_bundle_unpack(arena, data, bytes, &plain, &plain_bytes, err);
    if (status == LS_OK)
        status = hsa_bundle_pick(plain, plain_bytes, NULL, &elf, &elf_bytes, err);
    if (status == LS_OK)
        status = hsa_object_read(elf, elf_bytes, &object, err);
    if (status != LS_OK)
        return ls_error_at(err, path, 0, 0);
    *target = arena_strdup(arena, object->has_target ? amd_target_name(object->target) : object->target_name);
    hsa_object_destroy(object);
    return *target ? LS_OK : no_memory(err);
}

static ls_status find_kernel(object_run *r, ls_error *err)
{
    const char *name = r->from->kernel;
    ls_status status;
    if (!name) {
        if (ls_gpu_module_kernel_count(r->module) != 1) {
            ls_fail(err, LS_ERR_USAGE, "the code object has %zu kernels: choose one with --kernel",
                    ls_gpu_module_kernel_count(r->module));
            return ls_error_at(err, r->from->path, 0, 0);
        }
        name = ls_gpu_kernel_get_info(ls_gpu_module_kernel(r->module, 0))->name;
    }
    status = ls_gpu_module_find(r->module, name, &r->kernel, err);
    if (status == LS_OK)
        r->info = ls_gpu_kernel_get_info(r->kernel);
    return status;
}

static ls_status make_args(object_run *r, ls_error *err)
{
    mem_arena *arena = r->arena;
    ls_gpu_arg *list;
    r->arg_count = r->from->arg_count;
    r->args = arena_array(arena, r->arg_count + 1, sizeof *r->args);
    list = arena_array(arena, r->arg_count + 1, sizeof *list);
    if (!r->args || !list)
        return no_memory(err);
    for (size_t i = 0; i < r->arg_count; i++) {
        emulate_arg *arg = &r->args[i];
        ls_status status = emulate_arg_parse(arena, r->from->args[i], arg, err);
        if (status == LS_OK && arg->kind == EMULATE_BUFFER)
            status = ls_gpu_alloc(r->context, arg->bytes, &arg->address, err);
        if (status == LS_OK && arg->kind == EMULATE_BUFFER)
            status = ls_gpu_copy_in(r->context, arg->address, arg->content, arg->bytes, err);
        if (status != LS_OK)
            return ls_error_prefix(err, "--arg %s", r->from->args[i]);
        list[i] = arg->kind == EMULATE_BUFFER  ? LS_GPU_ARG(arg->address)
                  : arg->kind == EMULATE_LOCAL ? LS_GPU_LOCAL(arg->bytes)
                                               : (ls_gpu_arg){ arg->value, arg->bytes };
    }
    r->launch.args = list;
    r->launch.arg_count = r->arg_count;
    return LS_OK;
}

static ls_status make_sizes(object_run *r, ls_error *err)
{
    uint32_t offset[3] = { 0 };
    ls_status status = emulate_size_parse(r->from->grid, "grid", true, r->launch.grid, err);
    if (status == LS_OK && r->from->group)
        status = emulate_size_parse(r->from->group, "group", true, r->launch.group, err);
    else if (r->info->required_group[0])
        memcpy(r->launch.group, r->info->required_group, sizeof r->launch.group);
    else
        r->launch.group[0] = r->info->group_size_max < 64 ? r->info->group_size_max : 64;
    if (status == LS_OK && r->from->offset)
        status = emulate_size_parse(r->from->offset, "offset", false, offset, err);
    for (size_t i = 0; i < 3; i++)
        r->launch.offset[i] = offset[i];
    return status;
}

/* -------------------------------------------------------------------------------------------- after it */

static ls_status read_back(object_run *r, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < r->arg_count && status == LS_OK; i++)
        if (r->args[i].kind == EMULATE_BUFFER)
            status =
                ls_gpu_copy_out(r->context, r->args[i].content, r->args[i].address, r->args[i].bytes, err);
    return status;
}

/* The buffer that "2" or "out" names. */
static ls_status find_buffer(const object_run *r, const char *option, const char *name, size_t bytes,
                             size_t *out, ls_error *err)
{
    uint64_t index = UINT64_MAX;
    if (parse_u64(name, bytes, &index, NULL) != LS_OK)
        for (size_t i = 0; i < r->info->arg_count; i++)
            if (strlen(r->info->args[i].name) == bytes && memcmp(r->info->args[i].name, name, bytes) == 0)
                index = i;
    if (index >= r->arg_count || r->args[index].kind != EMULATE_BUFFER)
        return ls_fail(err, LS_ERR_USAGE,
                       "--%s: '%.*s' is neither the number (from 0) nor the name of a buffer argument", option,
                       (int)bytes, name);
    *out = (size_t)index;
    return LS_OK;
}

/* "2:f32:8" */
static ls_status print_buffer(const object_run *r, const char *text, ls_error *err)
{
    FILE *out = r->printer->to;
    size_t name_bytes = strcspn(text, ":"), index = 0, element = 0;
    const char *type = text[name_bytes] ? text + name_bytes + 1 : "u32", *count_text;
    size_t type_bytes = strcspn(type, ":");
    uint64_t count = PRINT_COUNT;
    ls_status status = find_buffer(r, "print", text, name_bytes, &index, err);
    if (status != LS_OK)
        return status;
    status = emulate_type_bytes(type, type_bytes, &element, err);
    count_text = type[type_bytes] ? type + type_bytes + 1 : NULL;
    if (status == LS_OK && count_text)
        status = parse_u64(count_text, strlen(count_text), &count, err);
    if (status != LS_OK)
        return ls_error_prefix(err, "--print %s", text);
    if (count > r->args[index].bytes / element)
        count = r->args[index].bytes / element;
    fprintf(out, "%.*s:", (int)name_bytes, text);
    for (uint64_t i = 0; i < count; i++) {
        char number[LS_FORMAT_BYTES];
        fprintf(out, " %s",
                emulate_format(type, type_bytes, r->args[index].content + i * element, number, sizeof number));
    }
    fputc('\n', out);
    return LS_OK;
}

static ls_status write_dumps(const object_run *r, ls_error *err)
{
    ls_status status = LS_OK;
    for (size_t i = 0; i < r->from->dump_count && status == LS_OK; i++) {
        const char *text = r->from->dumps[i];
        size_t name_bytes = strcspn(text, "="), index = 0;
        status = find_buffer(r, "dump", text, name_bytes, &index, err);
        if (status == LS_OK)
            status = file_write(text + name_bytes + 1, r->args[index].content, r->args[index].bytes, err);
    }
    return status;
}

static const char *arg_name(const object_run *r, size_t i)
{
    return i < r->info->arg_count ? r->info->args[i].name : "";
}

static ls_status print_result(const object_run *r, ls_error *err)
{
    emulate_object_output output = r->printer->output;
    FILE *out = r->printer->to;
    char hash[LS_HASH_TEXT_BYTES];
    ls_gpu_counts counts;
    ls_status status = LS_OK;
    if (output == EMULATE_OBJECT_QUIET)
        return LS_OK;
    ls_gpu_context_counts(r->context, &counts);
    if (output == EMULATE_OBJECT_JSON) {
        json_writer j;
        json_to_file(&j, out, 2);
        json_begin_object(&j);
        json_put_text(&j, "kernel", r->info->name);
        emulate_json_counts(&j, &counts);
        json_key(&j, "buffers");
        json_array(&j);
        for (size_t i = 0; i < r->arg_count; i++) {
            if (r->args[i].kind != EMULATE_BUFFER)
                continue;
            json_flat(&j);
            json_begin_object(&j);
            json_put_u64(&j, "argument", i);
            json_put_text(&j, "name", arg_name(r, i));
            json_put_u64(&j, "bytes", r->args[i].bytes);
            json_put_text(&j, "hash", hash128_text(hash128_of(r->args[i].content, r->args[i].bytes), hash));
            json_end(&j);
        }
        json_end(&j);
        json_end(&j);
        return json_finish(&j, err);
    }
    fprintf(out, "%s\n", r->info->name);
    if (output == EMULATE_OBJECT_TEXT)
        emulate_print_counts(out, r->printer->color, &counts);
    for (size_t i = 0; i < r->arg_count; i++)
        if (r->args[i].kind == EMULATE_BUFFER)
            fprintf(out, "  buffer %-2zu %-12s %12zu bytes  %s\n", i, arg_name(r, i), r->args[i].bytes,
                    hash128_text(hash128_of(r->args[i].content, r->args[i].bytes), hash));
    for (size_t i = 0; i < r->from->print_count && status == LS_OK; i++)
        status = print_buffer(r, r->from->prints[i], err);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- all */

ls_status emulate_object_run(mem_arena *arena, ls_gpu_system *system, const emulate_object_launch *launch,
                             const emulate_object_printer *printer, ls_gpu_counts *counts, ls_error *err)
{
    object_run r = { .arena = arena, .from = launch, .printer = printer };
    ls_status status = ls_gpu_context_create(system, &r.context, err);
    if (status != LS_OK)
        return status;
    status = ls_gpu_module_load_file(r.context, launch->path, &r.module, err);
    if (status == LS_OK)
        status = find_kernel(&r, err);
    if (status == LS_OK)
        status = make_sizes(&r, err);
    if (status == LS_OK)
        status = make_args(&r, err);
    if (status == LS_OK)
        status = ls_gpu_run(r.context, r.kernel, &r.launch, err);
    if (status == LS_OK)
        status = read_back(&r, err);
    if (status == LS_OK)
        status = write_dumps(&r, err);
    if (status == LS_OK)
        status = print_result(&r, err);
    if (counts)
        ls_gpu_context_counts(r.context, counts);
    ls_gpu_context_destroy(r.context);
    return status;
}
