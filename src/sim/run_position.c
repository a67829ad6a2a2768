/* run_position.c: positions of work for several GPUs (run_devices.h): after how many commands of each device it goes on.
 * The commands that had ended at one time are a consistent cut: a wait ends after the signals that it waits for. */
#include "sim/run_devices.h"

#include "model/gpu/gpu.h"

#include <inttypes.h>

static const device_command *command_at(const run_devices *r, uint32_t device, uint64_t index)
{
    return &r->list->at[device].commands.at[index];
}

static uint64_t command_count(const run_devices *r, uint32_t device)
{
    return r->list->at[device].commands.count;
}

/* ---------------------------------------------------------------------------------------------- restoring */

/* The command of the traces that comes after the first commands of a device. */
static uint64_t kernels_before(const run_devices *r, uint32_t device, uint64_t commands)
{
    while (commands > 0)
        if (command_at(r, device, --commands)->kind == DEVICE_KERNELS)
            return command_at(r, device, commands)->end;
    return 0;
}

static ls_status check_device(const run_devices *r, uint32_t device, const position_device *p, ls_error *err)
{
    if (p->command > command_count(r, device))
        return ls_fail(err, LS_ERR_INPUT,
                       "the position is after %" PRIu64 " commands of device %u, but it has only %" PRIu64,
                       p->command, device, command_count(r, device));
    uint64_t least = kernels_before(r, device, p->command), most = least;
    const device_command *next =
        p->command < command_count(r, device) ? command_at(r, device, p->command) : NULL;
    if (next != NULL && next->kind == DEVICE_KERNELS)
        most = next->end;
    if (p->kernel >= least && p->kernel <= most)
        return LS_OK;
    return ls_fail(err, LS_ERR_INPUT,
                   "the position is at command %" PRIu64 " of the traces of device %u, which are at %" PRIu64
                   " to %" PRIu64 " there",
                   p->kernel, device, least, most);
}

/* Signals that devices have sent before the position have come: no time passes there. */
static ls_status count_signals(run_devices *r, const source_position *from, uint32_t device, ls_error *err)
{
    uint32_t *received = arena_array(&r->arena, r->list->signals.count + 1, sizeof *received);
    if (received == NULL)
        return devices_no_memory(err);
    for (uint32_t d = 0; d < r->count; d++)
        for (uint64_t i = 0; i < from->devices[d].command; i++) {
            const device_command *c = command_at(r, d, i);
            if (c->kind == DEVICE_SIGNAL && c->to == device)
                received[c->number]++;
        }
    for (uint64_t i = 0; i < from->devices[device].command; i++) {
        const device_command *c = command_at(r, device, i);
        if (c->kind == DEVICE_WAIT && received[c->number] < c->count)
            return ls_fail(err, LS_ERR_INPUT,
                           "the position is after a wait of device %u for signal '%s', but before the command "
                           "that sends it",
                           device, r->list->signals.at[c->number]);
    }
    r->programs[device].received = received;
    return LS_OK;
}

static ls_status find_begin(run_devices *r, ls_error *err)
{
    hash128 identity;
    ls_status status = devices_identity(r->list, &identity, err);
    if (status == LS_OK)
        r->begin = position_begin_list(identity, r->count);
    return status;
}

ls_status run_devices_go_to(run_devices *r, const source_position *from, ls_error *err)
{
    ls_status status = find_begin(r, err);
    if (status == LS_OK)
        status = position_check_source(from, &r->begin, r->list->path, err);
    if (status == LS_OK)
        status = position_check_start(from, err);
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++)
        status = check_device(r, i, &from->devices[i], err);
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++) {
        status = count_signals(r, from, i, err);
        r->programs[i].first = (uint32_t)from->devices[i].command;
        r->programs[i].kernel = from->devices[i].kernel;
    }
    r->list->collective = (devices_collective){ 0 }; /* the rest of one has no bandwidth */
    return status;
}

/* ------------------------------------------------------------------------------------------------- saving */

/* Whether a kernel of a device's traces had ended. Kernels end nearly in their order: *hint is where the last one was. */
static bool had_ended(const run_trace *t, uint64_t command, ls_time time, uint64_t *hint)
{
    uint64_t count = replay_kernel_count(t->replay);
    for (uint64_t n = 0; n < count; n++, *hint = *hint + 1 < count ? *hint + 1 : 0) {
        const replay_kernel *k = replay_kernel_at(t->replay, *hint);
        if (k->command == command)
            return ls_clock_time(t->clock, k->end) <= time;
    }
    return false;
}

/* The first kernel of the device's present command that had not ended. */
static uint64_t next_kernel(const run_devices *r, uint32_t device, const device_command *c, ls_time time)
{
    const run_trace *t = &r->at[device];
    uint64_t next = r->programs[device].kernel > c->first ? r->programs[device].kernel : c->first, hint = 0;
    while (next < c->end &&
           (trace_command_at(t->trace, next)->kind != LS_COMMAND_KERNEL || had_ended(t, next, time, &hint)))
        next++;
    return next;
}

static position_device device_position(const run_devices *r, uint32_t device, ls_time time)
{
    position_device p = { 0 };
    if (!run_devices_has(r, device))
        return p;
    const ls_block *queue = gpu_at(r->engine, device)->queue;
    for (; p.command < command_count(r, device); p.command++) {
        ls_cycle end = device_queue_end(queue, (uint32_t)p.command);
        if (p.command >= r->programs[device].first &&
            (end == LS_CYCLE_MAX || ls_clock_time(r->at[device].clock, end) > time))
            break;
    }
    p.kernel = kernels_before(r, device, p.command);
    if (p.command < command_count(r, device) && command_at(r, device, p.command)->kind == DEVICE_KERNELS)
        p.kernel = next_kernel(r, device, command_at(r, device, p.command), time);
    return p;
}

ls_status run_devices_position(run_devices *r, ls_time time, source_position *out, ls_error *err)
{
    ls_status status = r->begin.kind == 0 ? find_begin(r, err) : LS_OK;
    *out = r->begin;
    for (uint32_t i = 0; i < r->count && status == LS_OK; i++) {
        out->devices[i] = device_position(r, i, time);
        out->command += out->devices[i].command;
    }
    return status;
}

ls_status run_devices_position_before(run_devices *r, uint32_t device, uint64_t kernel, source_position *out,
                                      ls_error *err)
{
    const replay_kernel *k = replay_kernel_at(r->at[device].replay, kernel);
    ls_status status = run_devices_position(r, ls_clock_time(r->at[device].clock, k->begin), out, err);
    if (status == LS_OK)
        out->devices[device].kernel =
            k->command; /* as in a trace of one GPU: those before it in the list are over */
    return status;
}
