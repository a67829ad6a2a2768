/* module.c: code objects in the memory of a GPU, and information about their kernels. */
#include "runtime/driver/drv.h"

#include "base/file.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* ------------------------------------------------------------------------------------------- descriptions */

static ls_gpu_arg_kind kind_of(hsa_arg_kind kind)
{
    switch (kind) {
    case HSA_ARG_BY_VALUE:
        return LS_GPU_ARG_VALUE;
    case HSA_ARG_GLOBAL_BUFFER:
        return LS_GPU_ARG_BUFFER;
    case HSA_ARG_LOCAL:
        return LS_GPU_ARG_LOCAL;
    case HSA_ARG_IMAGE:
        return LS_GPU_ARG_IMAGE;
    case HSA_ARG_SAMPLER:
        return LS_GPU_ARG_SAMPLER;
    default:
        return LS_GPU_ARG_OTHER;
    }
}

static bool describe(ls_gpu_module *module, ls_gpu_kernel *kernel, const hsa_kernel *hsa)
{
    const ls_gpu_model *model = ls_gpu_system_gpu(module->context->system, module->gpu);
    ls_gpu_arg_info *args = arena_array(&module->object->arena, hsa->explicit_count + 1, sizeof *args);
    if (!args)
        return false;
    for (size_t i = 0; i < hsa->explicit_count; i++)
        args[i] = (ls_gpu_arg_info){ .name = hsa->args[i].name,
                                     .type_name = hsa->args[i].type_name,
                                     .kind = kind_of(hsa->args[i].kind),
                                     .offset = hsa->args[i].offset,
                                     .bytes = hsa->args[i].bytes,
                                     .access = hsa->args[i].access,
                                     .space = hsa->args[i].address_space,
                                     .is_const = hsa->args[i].is_const,
                                     .is_restrict = hsa->args[i].is_restrict,
                                     .is_volatile = hsa->args[i].is_volatile,
                                     .is_pipe = hsa->args[i].is_pipe };
    kernel->module = module;
    kernel->hsa = hsa;
    kernel->info = (ls_gpu_kernel_info){
        .name = hsa->name,
        .arg_count = hsa->explicit_count,
        .args = args,
        .packed_bytes = hsa->explicit_bytes,
        .wave_size = hsa->wave_size,
        .sgprs = hsa->sgprs,
        .vgprs = hsa->vgprs,
        .lds_bytes = hsa->lds_bytes,
        .scratch_bytes = hsa->scratch_bytes,
        .group_size_max = hsa->group_size_max && hsa->group_size_max < model->group_size_max
                              ? hsa->group_size_max
                              : model->group_size_max,
    };
    memcpy(kernel->info.required_group, hsa->required_group, sizeof kernel->info.required_group);
    memcpy(kernel->info.hinted_group, hsa->hinted_group, sizeof kernel->info.hinted_group);
    kernel->info.vector_hint = hsa->vector_hint ? hsa->vector_hint : "";
    return true;
}

/* ------------------------------------------------------------------------------------------------ loading */

/* The pages of a segment that no writable one shares. */
static ls_status protect(ls_gpu_module *module, const hsa_segment *segment, ls_error *err)
{
    ls_gpu_system *system = module->context->system;
    const hsa_object *o = module->object;
    uint64_t from = segment->address & ~(uint64_t)(PAGE - 1);
    uint64_t to = (segment->address + segment->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    for (size_t i = 0; i < o->segment_count; i++) {
        const hsa_segment *other = &o->segments[i];
        if (!other->writable || other->address >= to || other->address + other->bytes <= from)
            continue;
        if (other->address > segment->address)
            to = other->address & ~(uint64_t)(PAGE - 1);
        else
            from = (other->address + other->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    }
    if (from >= to)
        return LS_OK;
    ls_status status = system->backend->protect(system->machine, module->base + from, to - from, err);
    uint64_t end = to < o->image_bytes ? to : o->image_bytes;
    if (status == LS_OK && module->gpu == system->unified && system->backend->replicate)
        status = system->backend->replicate(system->machine, module->base + from, to - from, o->image + from,
                                            end - from, err);
    return status;
}

static ls_status place(ls_gpu_module *module, ls_error *err)
{
    ls_gpu_context *context = module->context;
    ls_gpu_system *system = context->system;
    const hsa_object *o = module->object;
    ls_status status = drv_take(context, module->gpu, o->image_bytes, true, &module->base, err);
    if (status != LS_OK)
        return status;
    hsa_object_relocate(o, module->base, o->image);
    status = system->backend->load(system->machine, module->gpu, module->base, o->image, o->image_bytes, err);
    for (size_t i = 0; i < o->segment_count && status == LS_OK; i++)
        if (!o->segments[i].writable)
            status = protect(module, &o->segments[i], err);
    return status;
}

static ls_status read_object(ls_gpu_module *module, const void *data, size_t bytes, ls_error *err)
{
    const ls_gpu_model *model = ls_gpu_system_gpu(module->context->system, module->gpu);
    const void *plain, *elf;
    size_t plain_bytes, elf_bytes;
    mem_arena arena = { 0 };
    ls_status status = hsa_bundle_unpack(&arena, data, bytes, &plain, &plain_bytes, err);
    if (status == LS_OK)
        status = hsa_bundle_pick(plain, plain_bytes, model->target, &elf, &elf_bytes, err);
    if (status == LS_OK)
        status = hsa_object_read(elf, elf_bytes, &module->object, err);
    arena_fini(&arena);
    if (status == LS_OK && !hsa_target_runs(module->object->target_name, model->target))
        status = ls_fail(err, LS_ERR_INPUT, "the code object is for %s, but the selected GPU is %s",
                         module->object->target_name, model->name);
    return status;
}

static ls_status load(ls_gpu_module *module, const void *data, size_t bytes, ls_error *err)
{
    ls_status status = read_object(module, data, bytes, err);
    const hsa_object *o = module->object;
    if (status != LS_OK)
        return status;
    module->kernels = calloc(o->kernel_count + 1, sizeof *module->kernels);
    if (!module->kernels)
        return no_memory(err);
    for (size_t i = 0; i < o->kernel_count; i++)
        if (!describe(module, &module->kernels[i], &o->kernels[i]))
            return no_memory(err);
    return place(module, err);
}

ls_status ls_gpu_module_load(ls_gpu_context *context, const void *data, size_t bytes, ls_gpu_module **out,
                             ls_error *err)
{
    ls_gpu_module *module = calloc(1, sizeof *module);
    ls_status status;
    *out = NULL;
    if (!module)
        return no_memory(err);
    module->context = context;
    module->gpu = ls_gpu_selected(context);
    pthread_mutex_init(&module->lock, NULL);
    status = load(module, data, bytes, err);
    if (status != LS_OK) {
        drv_module_destroy(module);
        return status;
    }
    pthread_mutex_lock(&context->system->lock);
    module->next = context->modules;
    context->modules = module;
    pthread_mutex_unlock(&context->system->lock);
    *out = module;
    return LS_OK;
}

ls_status ls_gpu_module_load_file(ls_gpu_context *context, const char *path, ls_gpu_module **out,
                                  ls_error *err)
{
    mem_arena arena = { 0 };
    char *data;
    size_t bytes;
    ls_status status = file_read(&arena, path, HSA_FILE_LIMIT, &data, &bytes, err);
    *out = NULL;
    if (status == LS_OK) {
        status = ls_gpu_module_load(context, data, bytes, out, err);
        if (status != LS_OK)
            ls_error_at(err, path, 0, 0);
    }
    arena_fini(&arena);
    return status;
}

void drv_module_destroy(ls_gpu_module *module)
{
    ls_gpu_system *system = module->context->system;
    for (size_t i = 0; module->kernels && i < module->object->kernel_count; i++)
        if (module->kernels[i].program)
            system->backend->release(system->machine, module->kernels[i].program);
    if (module->base)
        drv_give_back(module->context, module->base, true, NULL);
    hsa_object_destroy(module->object);
    pthread_mutex_destroy(&module->lock);
    free(module->kernels);
    free(module);
}

void ls_gpu_module_unload(ls_gpu_module *module)
{
    ls_gpu_module **link;
    if (!module)
        return;
    drv_drain(module->context);
    pthread_mutex_lock(&module->context->system->lock);
    link = &module->context->modules;
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    pthread_mutex_unlock(&module->context->system->lock);
    drv_module_destroy(module);
}

/* ------------------------------------------------------------------------------------------------ looking */

size_t ls_gpu_module_kernel_count(const ls_gpu_module *module)
{
    return module->object->kernel_count;
}

ls_gpu_kernel *ls_gpu_module_kernel(ls_gpu_module *module, size_t index)
{
    return index < module->object->kernel_count ? &module->kernels[index] : NULL;
}

ls_status ls_gpu_module_find(ls_gpu_module *module, const char *kernel, ls_gpu_kernel **out, ls_error *err)
{
    const hsa_kernel *found = hsa_object_find(module->object, kernel);
    *out = NULL;
    if (found) {
        *out = &module->kernels[found - module->object->kernels];
        return LS_OK;
    }
    ls_fail(err, LS_ERR_USAGE, "the code object has no kernel '%s'", kernel);
    return ls_error_nearest(err, hsa_object_nearest(module->object, kernel));
}

static const char *variable_name_at(const void *self, size_t i)
{
    return ((const hsa_object *)self)->variables[i].name;
}

ls_status ls_gpu_module_variable(ls_gpu_module *module, const char *name, ls_gpu_address *address,
                                 uint64_t *bytes, ls_error *err)
{
    const hsa_object *o = module->object;
    for (size_t i = 0; i < o->variable_count; i++)
        if (strcmp(o->variables[i].name, name) == 0) {
            *address = module->base + o->variables[i].address;
            *bytes = o->variables[i].bytes;
            return LS_OK;
        }
    *address = *bytes = 0;
    ls_fail(err, LS_ERR_USAGE, "the code object has no variable '%s'", name);
    return ls_error_nearest(err, nearest_name(name, o->variable_count, variable_name_at, o));
}

uint64_t ls_gpu_module_variable_bytes(const ls_gpu_module *module)
{
    const hsa_object *o = module->object;
    uint64_t bytes = 0;
    for (size_t i = 0; i < o->variable_count; i++)
        bytes += o->variables[i].writable ? o->variables[i].bytes : 0;
    return bytes;
}

const ls_gpu_kernel_info *ls_gpu_kernel_get_info(const ls_gpu_kernel *kernel)
{
    return &kernel->info;
}

ls_gpu_address ls_gpu_kernel_address(const ls_gpu_kernel *kernel)
{
    return kernel->module->base + kernel->hsa->descriptor;
}

uint32_t ls_gpu_kernel_complete_bytes(const ls_gpu_kernel *kernel)
{
    return kernel->hsa->kernarg_bytes;
}
