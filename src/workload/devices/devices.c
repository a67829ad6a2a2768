/* devices.c: the parts that lists of devices and collectives share: commands, signals, and the checks of both. */
#include "workload/devices/devices.h"

#include "workload/identity.h"

#include "workload/synth/synth.h"

#include <stdlib.h>
#include <string.h>

ls_status devices_no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

ls_status devices_add(devices_list *list, uint32_t device, const device_command *command, uint64_t line,
                      ls_error *err)
{
    devices_device *d = &list->at[device];
    d->is_given = true;
    return vec_push(&d->commands, *command) && vec_push(&d->lines, line) ? LS_OK : devices_no_memory(err);
}

ls_status devices_add_trace(devices_list *list, uint32_t device, const char *path, bool continues,
                            uint64_t line, const trace_options *options, ls_error *err)
{
    devices_device *d = &list->at[device];
    sass_trace *trace;
    uint64_t first = 0;
    const char *name = arena_strdup(&list->arena, path);
    if (name == NULL || !vec_push(&d->paths, name))
        return devices_no_memory(err);
    ls_status status = trace_open(path, options, &trace, err);
    if (status != LS_OK)
        return status;
    for (size_t i = 0; i < d->traces.count; i++)
        first += d->traces.at[i]->command_count;
    if (!vec_push(&d->traces, trace)) {
        trace_close(trace);
        return devices_no_memory(err);
    }
    return devices_add(list, device,
                       &(device_command){ .kind = DEVICE_KERNELS,
                                          .continues = continues,
                                          .first = first,
                                          .end = first + trace->command_count },
                       line, err);
}

ls_status devices_signal(devices_list *list, const char *name, uint32_t *out, ls_error *err)
{
    uint32_t i = 0;
    while (i < list->signals.count && strcmp(list->signals.at[i], name) != 0)
        i++;
    *out = i;
    if (i < list->signals.count)
        return LS_OK;
    const char *copy = arena_strdup(&list->arena, name);
    return copy != NULL && vec_push(&list->signals, copy) ? LS_OK : devices_no_memory(err);
}

/* ------------------------------------------------------------------------------------------ signals and waits */

/* Counts of one signal: sent by a device, waited for by a device. */
typedef struct signal_use {
    uint32_t sent[DEVICES_MAX], waits[DEVICES_MAX];
    uint64_t first_line[DEVICES_MAX]; /* of a wait */
} signal_use;

static void count_use(const devices_list *list, uint32_t number, signal_use *use)
{
    memset(use, 0, sizeof *use);
    for (uint32_t d = 0; d < list->count; d++)
        for (size_t i = 0; i < list->at[d].commands.count; i++) {
            const device_command *c = &list->at[d].commands.at[i];
            if (c->number != number)
                continue;
            use->sent[d] += c->kind == DEVICE_SIGNAL;
            if (c->kind == DEVICE_WAIT && use->waits[d]++ == 0)
                use->first_line[d] = list->at[d].lines.at[i];
        }
}

static const char *signal_at(const void *self, size_t i)
{
    return ((const devices_list *)self)->signals.at[i];
}

/* A device that waits for more signals than others send would wait for ever. */
static ls_status check_use(const devices_list *list, uint32_t number, const signal_use *use, ls_error *err)
{
    uint32_t sent = 0;
    char quoted[80];
    for (uint32_t d = 0; d < list->count; d++)
        sent += use->sent[d];
    for (uint32_t d = 0; d < list->count; d++) {
        uint32_t others = sent - use->sent[d];
        if (use->waits[d] <= others)
            continue;
        const char *name = list->signals.at[number];
        ls_fail(err, LS_ERR_INPUT,
                "device %u waits %u times for signal '%s', which other devices send %u times", d,
                use->waits[d], quote_text(name, strlen(name), quoted, sizeof quoted), others);
        (void)ls_error_at(err, list->path, (uint32_t)use->first_line[d], 0);
        const char *near = NULL;
        if (sent == 0)
            near = nearest_name(name, list->signals.count, signal_at, list);
        return near != NULL && strcmp(near, name) != 0 ? ls_error_nearest(err, near) : LS_ERR_INPUT;
    }
    return LS_OK;
}

/* A signal becomes one command for each device that waits for it; the k-th wait needs k of them. */
static ls_status expand(devices_list *list, const signal_use *uses, uint32_t device, ls_error *err)
{
    devices_device *d = &list->at[device];
    LS_VEC(device_command) commands = { 0 };
    LS_VEC(uint64_t) lines = { 0 };
    uint32_t *waited = calloc(list->signals.count + 1, sizeof *waited);
    bool good = waited != NULL;
    for (size_t i = 0; i < d->commands.count && good; i++) {
        device_command c = d->commands.at[i];
        const signal_use *use = &uses[c.number];
        if (c.kind == DEVICE_SIGNAL) {
            for (uint32_t to = 0; to < list->count && good; to++)
                if (to != device && use->waits[to] > 0) {
                    c.to = (uint16_t)to;
                    good = vec_push(&commands, c) && vec_push(&lines, d->lines.at[i]);
                }
            continue;
        }
        if (c.kind == DEVICE_WAIT) {
            c.count = ++waited[c.number];
            for (uint32_t from = list->count; from-- > 0;)
                if (from != device && use->sent[from] > 0)
                    c.to = (uint16_t)from;
        }
        good = vec_push(&commands, c) && vec_push(&lines, d->lines.at[i]);
    }
    free(waited);
    if (!good) {
        vec_fini(&commands);
        vec_fini(&lines);
        return devices_no_memory(err);
    }
    vec_fini(&d->commands);
    vec_fini(&d->lines);
    memcpy(&d->commands, &commands, sizeof commands);
    memcpy(&d->lines, &lines, sizeof lines);
    return LS_OK;
}

static ls_status match_signals(devices_list *list, ls_error *err)
{
    size_t count = list->signals.count;
    signal_use *uses = calloc(count + 1, sizeof *uses);
    ls_status status = uses != NULL ? LS_OK : devices_no_memory(err);
    for (uint32_t i = 0; i < count && status == LS_OK; i++) {
        count_use(list, i, &uses[i]);
        status = check_use(list, i, &uses[i], err);
    }
    for (uint32_t d = 0; d < list->count && status == LS_OK; d++)
        status = expand(list, uses, d, err);
    free(uses);
    return status;
}

static ls_status name_signals(devices_list *list, ls_error *err)
{
    uint32_t *offsets = arena_array(&list->arena, list->signals.count + 1, sizeof *offsets);
    if (offsets == NULL)
        return devices_no_memory(err);
    for (size_t i = 0; i < list->signals.count; i++) {
        offsets[i] = (uint32_t)list->names.count;
        text_addn(&list->names, list->signals.at[i], strlen(list->signals.at[i]) + 1);
    }
    for (uint32_t d = 0; d < list->count; d++)
        for (size_t i = 0; i < list->at[d].commands.count; i++) {
            device_command *c = &list->at[d].commands.at[i];
            if (c->kind == DEVICE_SIGNAL || c->kind == DEVICE_WAIT)
                c->text = offsets[c->number];
        }
    return list->names.failed ? devices_no_memory(err) : LS_OK;
}

ls_status devices_finish(devices_list *list, ls_error *err)
{
    ls_status status = match_signals(list, err);
    if (status == LS_OK)
        status = name_signals(list, err);
    for (uint32_t d = 0; d < list->count && status == LS_OK; d++)
        status = join_traces(list->at[d].traces.at, list->at[d].traces.count, NULL, &list->at[d].trace, err);
    return status;
}

void devices_close(devices_list *list)
{
    if (list == NULL)
        return;
    for (uint32_t d = 0; d < DEVICES_MAX; d++) {
        trace_close(list->at[d].trace);
        for (size_t i = 0; i < list->at[d].traces.count; i++)
            trace_close(list->at[d].traces.at[i]);
        vec_fini(&list->at[d].traces);
        vec_fini(&list->at[d].paths);
        vec_fini(&list->at[d].commands);
        vec_fini(&list->at[d].lines);
    }
    vec_fini(&list->signals);
    vec_fini(&list->ranges);
    text_fini(&list->names);
    arena_fini(&list->arena);
    free(list);
}

/* ------------------------------------------------------------------------------------------------ identity */

static ls_status add_identity(hash_stream *hasher, const char *path, ls_error *err)
{
    hash128 found;
    ls_status status = trace_identity(path, &found, err);
    const uint64_t halves[2] = { found.low, found.high };
    if (status == LS_OK)
        hasher_add(hasher, halves, sizeof halves);
    return status;
}

ls_status devices_identity(const devices_list *list, hash128 *out, ls_error *err)
{
    hash_stream *hasher;
    ls_status status = hasher_create(&hasher, err);
    if (status != LS_OK)
        return status;
    const uint64_t head[] = { list->count, (uint64_t)list->owners, list->page_bytes };
    hasher_add(hasher, head, sizeof head);
    status = add_identity(hasher, list->path, err);
    for (uint32_t d = 0; d < list->count; d++)
        for (size_t i = 0; i < list->at[d].paths.count && status == LS_OK; i++)
            status = add_identity(hasher, list->at[d].paths.at[i], err);
    for (size_t i = 0; i < list->ranges.count; i++) {
        const devices_range *r = &list->ranges.at[i];
        const uint64_t range[] = { r->begin, r->end, r->device };
        hasher_add(hasher, range, sizeof range);
    }
    *out = hasher_get(hasher);
    hasher_destroy(hasher);
    return status;
}
