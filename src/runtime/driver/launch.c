/* launch.c: from a launch as the user describes it to a command that the back end can run. Everything that
 * can be wrong with it is found here, before it is queued. */
#include "runtime/driver/drv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROPERTY_GROUP_COUNTS 0x380u /* of version 2: the grid in user SGPRs; no compiler sets it */

ls_status drv_run_launch(drv_command *c, ls_gpu_counts *counts, ls_error *err)
{
    ls_gpu_system *system = c->queue->context->system;
    return system->backend->run(system->machine, c->queue->gpu, c->launch.program, &c->launch.dispatch, counts,
                                err);
}

/* ------------------------------------------------------------------------------------------------- checks */

static ls_status check_group(const ls_gpu_kernel *kernel, const drv_dispatch *d, ls_error *err)
{
    const ls_gpu_kernel_info *info = &kernel->info;
    const uint32_t *required = info->required_group;
    uint64_t size = (uint64_t)d->group[0] * d->group[1];
    if (size <= UINT32_MAX)
        size *= d->group[2];
    if (size > info->group_size_max)
        return ls_fail(err, LS_ERR_USAGE,
                       "a work-group of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " is larger than the %" PRIu32
                       " work-items that kernel '%s' allows",
                       d->group[0], d->group[1], d->group[2], info->group_size_max, info->name);
    if (required[0] &&
        (d->group[0] != required[0] || d->group[1] != required[1] || d->group[2] != required[2]))
        return ls_fail(err, LS_ERR_USAGE,
                       "kernel '%s' requires work-groups of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                       ", not %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                       info->name, required[0], required[1], required[2], d->group[0], d->group[1],
                       d->group[2]);
    return LS_OK;
}

static ls_status check_lds(const ls_gpu_kernel *kernel, const ls_gpu_model *model, uint64_t dynamic,
                           ls_error *err)
{
    uint64_t all = dynamic + kernel->info.lds_bytes;
    if (all > model->lds_bytes)
        return ls_fail(err, LS_ERR_USAGE,
                       "kernel '%s' would need %" PRIu64 " bytes of local memory; %s has %" PRIu32,
                       kernel->info.name, all, model->name, model->lds_bytes);
    return LS_OK;
}

/* Dimensions after the last given one have one work-item; no other size may be 0. */
static ls_status set_sizes(const ls_gpu_kernel *kernel, drv_dispatch *d, const ls_gpu_launch *launch,
                           ls_error *err)
{
    static const struct {
        const char *name;
        bool is_grid;
    } sizes[] = { { "grid", true }, { "work-group", false } };
    d->dims = launch->dims;
    for (uint32_t i = 0; i < 3; i++) {
        d->grid[i] = launch->grid[i] ? launch->grid[i] : 1;
        d->group[i] = launch->group[i] ? launch->group[i] : 1;
        if (launch->dims == 0 && (i == 0 || d->grid[i] > 1 || d->group[i] > 1))
            d->dims = i + 1;
    }
    if (launch->dims > 3)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s': a grid has at most 3 dimensions, not %" PRIu32,
                       kernel->info.name, launch->dims);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        const uint32_t *given = sizes[k].is_grid ? launch->grid : launch->group;
        uint32_t last = launch->dims ? launch->dims : 1;
        for (uint32_t i = last; i < 3; i++)
            last = given[i] ? i + 1 : last;
        for (uint32_t i = 0; i < last; i++)
            if (given[i] == 0)
                return ls_fail(err, LS_ERR_USAGE,
                               "kernel '%s': dimension %" PRIu32 " of the %s is 0; it is at least 1",
                               kernel->info.name, i + 1, sizes[k].name);
    }
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- programs */

/* Decoded once, at its first launch. */
static ls_status prepare(ls_gpu_kernel *kernel, void **program, ls_error *err)
{
    ls_gpu_module *module = kernel->module;
    ls_gpu_system *system = module->context->system;
    const hsa_kernel *hsa = kernel->hsa;
    ls_status status = LS_OK;
    if (module->object->version == 2 && (hsa->properties & PROPERTY_GROUP_COUNTS) != 0)
        return ls_fail(err, LS_ERR_UNSUPPORTED, "kernel '%s' wants the grid's size in registers", hsa->name);
    pthread_mutex_lock(&module->lock);
    if (!kernel->program) {
        drv_code code = { .name = hsa->name,
                          .target = module->object->target,
                          .entry = module->base + hsa->entry,
                          .rsrc1 = hsa->rsrc1,
                          .rsrc2 = hsa->rsrc2,
                          .rsrc3 = hsa->rsrc3,
                          .properties = hsa->properties,
                          .lds_bytes = hsa->lds_bytes,
                          .scratch_bytes = hsa->scratch_bytes,
                          .kernarg_bytes = hsa->kernarg_bytes };
        for (size_t i = 0; i < module->object->segment_count; i++) {
            const hsa_segment *s = &module->object->segments[i];
            if (hsa->entry - s->address < s->bytes) {
                code.code = module->base + s->address;
                code.code_bytes = s->bytes;
            }
        }
        status = system->backend->prepare(system->machine, module->gpu, &code, &kernel->program, err);
    }
    *program = kernel->program;
    pthread_mutex_unlock(&module->lock);
    return status;
}

/* ----------------------------------------------------------------------------------------------- launches */

/* Arguments as the client laid them out. */
static ls_status place_complete(const ls_gpu_kernel *kernel, const ls_gpu_launch *launch, uint8_t *out,
                                ls_error *err)
{
    uint32_t wanted = kernel->hsa->kernarg_bytes;
    if (launch->args || launch->packed)
        return ls_fail(err, LS_ERR_USAGE,
                       "a launch of '%s' has arguments twice: complete and single or packed",
                       kernel->info.name);
    if (launch->complete_bytes < wanted)
        return ls_fail(err, LS_ERR_USAGE,
                       "kernel '%s' has %" PRIu32 " bytes of arguments, hidden ones included, not %zu",
                       kernel->info.name, wanted, launch->complete_bytes);
    memcpy(out, launch->complete, wanted);
    return LS_OK;
}

static ls_status fill_command(drv_command *command, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                              ls_error *err)
{
    ls_gpu_system *system = kernel->module->context->system;
    const ls_gpu_model *model = system->gpus[kernel->module->gpu].model;
    drv_dispatch *d = &command->launch.dispatch;
    uint8_t *kernarg = (uint8_t *)command->tail;
    uint32_t local = 0;
    drv_facts facts;
    ls_status status;
    *d = (drv_dispatch){ .kernarg = kernarg,
                         .kernarg_bytes = kernel->hsa->kernarg_bytes,
                         .kernarg_align = kernel->hsa->kernarg_align,
                         .kernel = kernel->info.name,
                         .target = kernel->module->object->target,
                         .origin = kernel };
    memset(kernarg, 0, kernel->hsa->kernarg_bytes);
    status = set_sizes(kernel, d, launch, err);
    if (status == LS_OK)
        status = check_group(kernel, d, err);
    if (status == LS_OK)
        status = launch->complete ? place_complete(kernel, launch, kernarg, err)
                                  : drv_args_place(kernel->hsa, launch, kernarg, &local, err);
    if (status == LS_OK)
        status = check_lds(kernel, model, (uint64_t)local + launch->lds_bytes, err);
    if (status == LS_OK)
        status = prepare(kernel, &command->launch.program, err);
    if (status != LS_OK)
        return status;
    d->dynamic_lds_bytes = local + launch->lds_bytes;
    d->first_unit = launch->first_unit;
    d->unit_count = launch->unit_count;
    if ((uint64_t)d->first_unit + d->unit_count > model->compute_units)
        return ls_fail(err, LS_ERR_USAGE,
                       "kernel %s: compute units %u to %llu, but the GPU has %u: the last is number %u",
                       d->kernel, d->first_unit, (unsigned long long)d->first_unit + d->unit_count - 1,
                       model->compute_units, model->compute_units - 1);
    if (launch->complete)
        return LS_OK;
    system->backend->facts(system->machine, kernel->module->gpu, &facts);
    drv_args_hidden(kernel->hsa, d, launch, &facts, kernarg);
    return LS_OK;
}

/* The work-groups that run. A list is copied. */
static ls_status choose_groups(drv_dispatch *d, const ls_gpu_kernel *kernel, const ls_groups *given,
                               uint32_t *list, ls_error *err)
{
    uint64_t total = 1, last = 0;
    for (uint32_t i = 0; i < 3; i++)
        total *= (d->grid[i] + (uint64_t)d->group[i] - 1) / d->group[i];
    d->which = *given;
    if (given->count == 0 && (given->first != 0 || given->stride != 0 || given->list))
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s': a launch of 0 work-groups", kernel->info.name);
    if (given->count == 0)
        return LS_OK;
    for (uint64_t i = 0; given->list && i < given->count; i++) {
        list[i] = (uint32_t)ls_groups_at(given, i);
        last = list[i] > last ? list[i] : last;
    }
    if (given->list)
        d->which = (ls_groups){ .count = given->count, .list = list };
    else
        last = ls_groups_at(given, given->count - 1);
    if (last < total && given->count <= total)
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE,
                   "kernel '%s': there is no work-group %" PRIu64 ": the grid has %" PRIu64 ", counted from 0",
                   kernel->info.name, last, total);
}

static ls_status make(ls_gpu_queue *queue, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                      drv_command **out, ls_error *err)
{
    ls_gpu_system *system = queue->context->system;
    size_t list = launch->groups.list ? (size_t)launch->groups.count : 0, align = sizeof(uint64_t);
    size_t kernarg = (kernel->hsa->kernarg_bytes + align - 1) / align * align;
    ls_status status;
    *out = drv_command_create(queue, drv_run_launch, kernarg + list * sizeof(uint32_t));
    if (!*out)
        return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
    status = fill_command(*out, kernel, launch, err);
    if (status == LS_OK)
        status = choose_groups(&(*out)->launch.dispatch, kernel, &launch->groups,
                               (uint32_t *)(void *)((uint8_t *)(*out)->tail + kernarg), err);
    pthread_mutex_lock(&system->lock);
    queue->context->launches++;
    pthread_mutex_unlock(&system->lock);
    if (status != LS_OK) {
        ls_gpu_event_release((*out)->event);
        free(*out);
    }
    return status;
}

ls_status ls_gpu_run(ls_gpu_context *context, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                     ls_error *err)
{
    drv_command *command;
    ls_status status;
    if (kernel->module->context != context)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' belongs to another context", kernel->info.name);
    status = make(&context->defaults[kernel->module->gpu], kernel, launch, &command, err);
    return status == LS_OK ? drv_submit_wait(command, err) : status;
}

ls_status ls_gpu_run_counted(ls_gpu_context *context, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                             ls_gpu_counts *counts, ls_error *err)
{
    drv_command *command;
    ls_gpu_event *event;
    ls_status status;
    *counts = (ls_gpu_counts){ 0 };
    if (kernel->module->context != context)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' belongs to another context", kernel->info.name);
    status = make(&context->defaults[kernel->module->gpu], kernel, launch, &command, err);
    if (status != LS_OK)
        return status;
    event = command->event;
    ls_gpu_event_retain(event);
    status = drv_submit_wait(command, err);
    *counts = event->counts; /* it is over: no thread writes the counts now */
    ls_gpu_event_release(event);
    return status;
}

ls_status ls_gpu_queue_launch(ls_gpu_queue *queue, ls_gpu_kernel *kernel, const ls_gpu_launch *launch,
                              ls_gpu_event **event, ls_error *err)
{
    drv_command *command;
    ls_status status;
    if (event)
        *event = NULL;
    if (kernel->module->context != queue->context)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' belongs to another context", kernel->info.name);
    if (kernel->module->gpu != queue->gpu && kernel->module->gpu != queue->context->system->unified)
        return ls_fail(err, LS_ERR_USAGE, "kernel '%s' is loaded on GPU %zu, but the queue is of GPU %zu",
                       kernel->info.name, kernel->module->gpu, queue->gpu);
    status = make(queue, kernel, launch, &command, err);
    if (status == LS_OK)
        drv_submit(command, event);
    return status;
}
