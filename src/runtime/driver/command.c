/* command.c: the commands that do not launch: copies, fills, calls of the host, marks and waits; blocking
 * and queued. */
#include "runtime/driver/drv.h"

#include <string.h>

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

static const drv_backend *backend(const drv_command *command, void **machine)
{
    ls_gpu_system *system = command->queue->context->system;
    *machine = system->machine;
    return system->backend;
}

/* ------------------------------------------------------------------------------------------------- bodies */

static ls_status run_copy_in(drv_command *c, ls_gpu_counts *counts, ls_error *err)
{
    void *machine;
    const drv_backend *b = backend(c, &machine);
    (void)counts;
    return b->write(machine, c->queue->gpu, c->copy.to, c->copy.host_from, c->copy.bytes, err);
}

static ls_status run_copy_out(drv_command *c, ls_gpu_counts *counts, ls_error *err)
{
    void *machine;
    const drv_backend *b = backend(c, &machine);
    (void)counts;
    return b->read(machine, c->queue->gpu, c->copy.host_to, c->copy.from, c->copy.bytes, err);
}

static ls_status run_copy(drv_command *c, ls_gpu_counts *counts, ls_error *err)
{
    void *machine;
    const drv_backend *b = backend(c, &machine);
    (void)counts;
    return b->copy(machine, c->queue->gpu, c->copy.to, c->copy.from, c->copy.bytes, err);
}

static ls_status run_fill(drv_command *c, ls_gpu_counts *counts, ls_error *err)
{
    void *machine;
    const drv_backend *b = backend(c, &machine);
    (void)counts;
    return b->fill(machine, c->queue->gpu, c->copy.to, c->copy.pattern, c->copy.pattern_bytes, c->copy.bytes,
                   err);
}

static ls_status run_call(drv_command *c, ls_gpu_counts *counts, ls_error *err)
{
    ls_status status;
    (void)counts;
    ls_error_clear(err);
    status = c->host.call(c->host.self, err);
    if (status != LS_OK && err->status != status)
        return ls_fail(err, status, "a function of the host failed");
    return status;
}

bool drv_command_work(const drv_command *c, drv_work *out)
{
    static const struct {
        drv_run_fn run;
        drv_work_kind kind;
    } kinds[] = { { run_copy_in, DRV_WORK_IN },
                  { run_copy_out, DRV_WORK_OUT },
                  { run_copy, DRV_WORK_COPY },
                  { run_fill, DRV_WORK_FILL } };
    *out = (drv_work){ .gpu = c->queue->gpu };
    for (size_t i = 0; i < LS_COUNT_OF(kinds); i++)
        if (c->run == kinds[i].run) {
            out->kind = kinds[i].kind;
            out->to = c->copy.to;
            out->from = c->copy.from;
            out->bytes = c->copy.bytes;
            out->host_from = c->copy.host_from;
            out->host_to = c->copy.host_to;
            out->pattern = c->copy.pattern;
            out->pattern_bytes = c->copy.pattern_bytes;
            return true;
        }
    if (c->run != drv_run_launch)
        return false;
    out->kind = DRV_WORK_LAUNCH;
    out->program = c->launch.program;
    out->dispatch = &c->launch.dispatch;
    return true;
}

/* ------------------------------------------------------------------------------------------------- copies */

typedef struct transfer {
    drv_run_fn run; /* NULL if there is nothing to do */
    uint64_t to, from;
    const void *host_from;
    void *host_to;
    size_t bytes;
    const void *pattern;
    size_t pattern_bytes;
} transfer;

/* Checks it and makes a command; queue NULL: of the default queue of the GPU that it concerns. */
static ls_status make(ls_gpu_context *context, ls_gpu_queue *queue, const transfer *t, drv_command **out,
                      ls_error *err)
{
    size_t gpu = queue ? queue->gpu : ls_gpu_selected(context);
    ls_status status = LS_OK;
    if (t->bytes > 0 && (t->run == run_copy_in ? !t->host_from : t->run == run_copy_out && !t->host_to))
        return ls_fail(err, LS_ERR_USAGE, "the host's address of a copy of %zu bytes is NULL", t->bytes);
    if (t->run != run_copy_in && t->run != run_fill)
        status = drv_check_range(context, t->from, t->bytes, "read", &gpu, err);
    if (status == LS_OK && t->run != run_copy_out)
        status = drv_check_range(context, t->to, t->bytes, "write", &gpu, err);
    if (status != LS_OK)
        return status;
    if (t->run != run_copy_out && t->bytes > 0)
        drv_mark_written(context, t->to);
    *out = drv_command_create(queue ? queue : &context->defaults[gpu], t->bytes > 0 ? t->run : NULL, 0);
    if (!*out)
        return no_memory(err);
    (*out)->copy.to = t->to;
    (*out)->copy.from = t->from;
    (*out)->copy.bytes = t->bytes;
    (*out)->copy.host_from = t->host_from;
    (*out)->copy.host_to = t->host_to;
    (*out)->copy.pattern_bytes = t->pattern_bytes;
    if (t->pattern_bytes > 0)
        memcpy((*out)->copy.pattern, t->pattern, t->pattern_bytes);
    return LS_OK;
}

static ls_status transfer_now(ls_gpu_context *context, const transfer *t, ls_error *err)
{
    drv_command *command;
    ls_status status = make(context, NULL, t, &command, err);
    return status == LS_OK ? drv_submit_wait(command, err) : status;
}

static ls_status transfer_queued(ls_gpu_queue *queue, const transfer *t, ls_gpu_event **event, ls_error *err)
{
    drv_command *command;
    ls_status status = make(queue->context, queue, t, &command, err);
    if (event)
        *event = NULL;
    if (status == LS_OK)
        drv_submit(command, event);
    return status;
}

static ls_status check_fill(const void *pattern, size_t pattern_bytes, size_t bytes, ls_error *err)
{
    if (!pattern || pattern_bytes == 0 || pattern_bytes > sizeof((drv_command *)0)->copy.pattern)
        return ls_fail(err, LS_ERR_USAGE, "a fill pattern has 1 to 128 bytes, not %zu",
                       pattern ? pattern_bytes : 0);
    if (bytes % pattern_bytes != 0)
        return ls_fail(err, LS_ERR_USAGE, "%zu bytes cannot be filled with a pattern of %zu", bytes,
                       pattern_bytes);
    return LS_OK;
}

ls_status ls_gpu_copy_in(ls_gpu_context *context, ls_gpu_address to, const void *from, size_t bytes,
                         ls_error *err)
{
    return transfer_now(context,
                        &(transfer){ .run = run_copy_in, .to = to, .host_from = from, .bytes = bytes }, err);
}

ls_status ls_gpu_copy_out(ls_gpu_context *context, void *to, ls_gpu_address from, size_t bytes, ls_error *err)
{
    return transfer_now(context,
                        &(transfer){ .run = run_copy_out, .from = from, .host_to = to, .bytes = bytes }, err);
}

ls_status ls_gpu_copy(ls_gpu_context *context, ls_gpu_address to, ls_gpu_address from, size_t bytes,
                      ls_error *err)
{
    return transfer_now(context, &(transfer){ .run = run_copy, .to = to, .from = from, .bytes = bytes }, err);
}

ls_status ls_gpu_fill(ls_gpu_context *context, ls_gpu_address to, const void *pattern, size_t pattern_bytes,
                      size_t bytes, ls_error *err)
{
    ls_status status = check_fill(pattern, pattern_bytes, bytes, err);
    const transfer t = {
        .run = run_fill, .to = to, .bytes = bytes, .pattern = pattern, .pattern_bytes = pattern_bytes
    };
    return status == LS_OK ? transfer_now(context, &t, err) : status;
}

ls_status ls_gpu_queue_copy_in(ls_gpu_queue *queue, ls_gpu_address to, const void *from, size_t bytes,
                               ls_gpu_event **event, ls_error *err)
{
    const transfer t = { .run = run_copy_in, .to = to, .host_from = from, .bytes = bytes };
    return transfer_queued(queue, &t, event, err);
}

ls_status ls_gpu_queue_copy_out(ls_gpu_queue *queue, void *to, ls_gpu_address from, size_t bytes,
                                ls_gpu_event **event, ls_error *err)
{
    const transfer t = { .run = run_copy_out, .from = from, .host_to = to, .bytes = bytes };
    return transfer_queued(queue, &t, event, err);
}

ls_status ls_gpu_queue_copy(ls_gpu_queue *queue, ls_gpu_address to, ls_gpu_address from, size_t bytes,
                            ls_gpu_event **event, ls_error *err)
{
    const transfer t = { .run = run_copy, .to = to, .from = from, .bytes = bytes };
    return transfer_queued(queue, &t, event, err);
}

ls_status ls_gpu_queue_fill(ls_gpu_queue *queue, ls_gpu_address to, const void *pattern, size_t pattern_bytes,
                            size_t bytes, ls_gpu_event **event, ls_error *err)
{
    ls_status status = check_fill(pattern, pattern_bytes, bytes, err);
    const transfer t = {
        .run = run_fill, .to = to, .bytes = bytes, .pattern = pattern, .pattern_bytes = pattern_bytes
    };
    if (event)
        *event = NULL;
    return status == LS_OK ? transfer_queued(queue, &t, event, err) : status;
}

/* ------------------------------------------------------------------------------------ calls, marks, waits */

ls_status ls_gpu_queue_call(ls_gpu_queue *queue, ls_status (*call)(void *self, ls_error *err), void *self,
                            ls_gpu_event **event, ls_error *err)
{
    drv_command *command = drv_command_create(queue, run_call, 0);
    if (event)
        *event = NULL;
    if (!command)
        return no_memory(err);
    command->host.call = call;
    command->host.self = self;
    drv_submit(command, event);
    return LS_OK;
}

/* Marks and waits are about the order of a queue. */
static ls_status check_order(const ls_gpu_queue *queue, ls_error *err)
{
    if (!queue->is_unordered)
        return LS_OK;
    return ls_fail(err, LS_ERR_USAGE, "commands of an unordered queue do not wait: it has no marks and waits");
}

ls_status ls_gpu_queue_mark(ls_gpu_queue *queue, ls_gpu_event **event, ls_error *err)
{
    drv_command *command;
    ls_status status = check_order(queue, err);
    if (event)
        *event = NULL;
    if (status != LS_OK)
        return status;
    command = drv_command_create(queue, NULL, 0);
    if (!command)
        return no_memory(err);
    drv_submit(command, event);
    return LS_OK;
}

ls_status ls_gpu_queue_wait(ls_gpu_queue *queue, ls_gpu_event *event, ls_error *err)
{
    drv_command *command;
    ls_status status = check_order(queue, err);
    if (status != LS_OK)
        return status;
    if (event->system != queue->context->system)
        return ls_fail(err, LS_ERR_USAGE, "the event belongs to another system");
    command = drv_command_create(queue, NULL, 0);
    if (!command)
        return no_memory(err);
    ls_gpu_event_retain(event);
    command->waits = event;
    drv_submit(command, NULL);
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------------ at once */

ls_status ls_gpu_peek(ls_gpu_context *context, void *to, ls_gpu_address from, size_t bytes, ls_error *err)
{
    ls_gpu_system *system = context->system;
    size_t gpu = 0;
    ls_status status = drv_check_range(context, from, bytes, "read", &gpu, err);
    if (status != LS_OK || bytes == 0)
        return status;
    return system->backend->read(system->machine, gpu, to, from, bytes, err);
}

ls_status ls_gpu_poke(ls_gpu_context *context, ls_gpu_address to, const void *from, size_t bytes,
                      ls_error *err)
{
    ls_gpu_system *system = context->system;
    size_t gpu = 0;
    ls_status status = drv_check_range(context, to, bytes, "write", &gpu, err);
    if (status != LS_OK || bytes == 0)
        return status;
    drv_mark_written(context, to);
    return system->backend->write(system->machine, gpu, to, from, bytes, err);
}

ls_status ls_gpu_look(ls_gpu_context *context, void *to, ls_gpu_address from, size_t bytes, ls_error *err)
{
    ls_gpu_system *system = context->system;
    if (!system->backend->look)
        return ls_gpu_peek(context, to, from, bytes, err);
    return bytes > 0 ? system->backend->look(system->machine, to, from, bytes, err) : LS_OK;
}

ls_status ls_gpu_patch(ls_gpu_context *context, ls_gpu_address to, const void *from, size_t bytes,
                       ls_error *err)
{
    ls_gpu_system *system = context->system;
    if (!system->backend->patch)
        return ls_gpu_poke(context, to, from, bytes, err);
    return bytes > 0 ? system->backend->patch(system->machine, to, from, bytes, err) : LS_OK;
}
